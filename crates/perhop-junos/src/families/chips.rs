//! [`Chip`]: the packet memory of a switch chip.
//!
//! Juniper techpost, "QFX5K Series Switches Packet Buffer Architecture": cells, pools, and the dynamic
//! threshold α / (1 + αn) of the shared part.

/// The packet memory of a chip. Sizes are in kilobytes of 1024 bytes, which are whole numbers of cells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    /// The size of a cell, bytes.
    pub(crate) cell_bytes: u32,
    /// Metadata bytes in the first cell of a packet.
    pub(crate) metadata_bytes: u32,
    /// The shared part of the memory for departing packets.
    pub(crate) shared_kilobytes: u32,
    /// The parts for each port, of arriving and of departing packets.
    pub(crate) dedicated_kilobytes: [u32; 2],
    pub(crate) pools: Pools,
    /// The number of separate memories of the chip. A port uses one of them.
    pub(crate) memories: u32,
    /// The parts for queues that drop, for lossless queues, and for multicast, percent of the shared part.
    pub(crate) lossy_percent: u32,
    pub(crate) lossless_percent: u32,
    pub(crate) multicast_percent: u32,
}

/// The pools of arriving and of departing packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pools {
    /// Each direction has its own shared part.
    Separate,
    /// Both have the same shared part.
    Uniform,
}

impl Chip {
    /// The default index of the dynamic threshold. α is 1, and 8 for lossless queues.
    pub(crate) const LOSSY_INDEX: u8 = 7;
    pub(crate) const LOSSLESS_INDEX: u8 = 10;
    /// The largest index.
    pub(crate) const MOST_INDEX: u8 = 10;

    /// Returns α of the index of a dynamic threshold: the index 0 means 1/128, and 10 means 8.
    pub(crate) fn alpha(index: u8) -> f64 {
        f64::from(2u16).powi(i32::from(index) - 7)
    }

    /// Returns the shared part of departing packets, kilobytes. `dedicated` are the percentages that remain
    /// of the dedicated parts of arriving and of departing packets.
    ///
    /// According to the article, a smaller dedicated part makes the shared part larger. It prints 113 162 KB
    /// for a QFX5240 with 23 135 and 25 964 KB dedicated, which are 75 and 55 percent: both directions add to
    /// a uniform pool.
    pub(crate) fn shared_kilobytes(&self, dedicated: [u8; 2]) -> u32 {
        let freed = |direction: usize| {
            let whole = self.dedicated_kilobytes[direction];
            whole - whole * u32::from(dedicated[direction].min(100)) / 100
        };
        let arriving = if self.pools == Pools::Uniform { freed(0) } else { 0 };
        self.shared_kilobytes + arriving + freed(1)
    }

    /// Returns the cells of `percent` of a shared part.
    pub(crate) fn cells(&self, shared_kilobytes: u32, percent: u32) -> u32 {
        let bytes = u64::from(shared_kilobytes) * 1024 * u64::from(percent) / 100;
        (bytes / u64::from(self.memories) / u64::from(self.cell_bytes)) as u32
    }
}

const TRIDENT: Chip = Chip {
    cell_bytes: 208,
    metadata_bytes: 64,
    shared_kilobytes: 8736,
    dedicated_kilobytes: [2912, 3744],
    pools: Pools::Separate,
    memories: 1,
    lossy_percent: 31,
    lossless_percent: 50,
    multicast_percent: 19,
};

pub(super) const QFX5100: Chip = TRIDENT;
pub(super) const QFX5110: Chip =
    Chip { shared_kilobytes: 11_232, dedicated_kilobytes: [4860, 5408], ..TRIDENT };
pub(super) const QFX5120: Chip =
    Chip { cell_bytes: 256, shared_kilobytes: 27_396, dedicated_kilobytes: [3928, 4860], ..TRIDENT };
/// Four memories, one per cross-point. The packets between two pipes use one of them.
pub(super) const QFX5200: Chip = Chip { memories: 4, ..QFX5110 };
pub(super) const QFX5210: Chip =
    Chip { shared_kilobytes: 28_080, dedicated_kilobytes: [14_040, 15_184], ..QFX5200 };
/// Two memories, one per traffic manager. Packets use the memory of the pipe where they arrive. Multicast has
/// no part.
pub(super) const QFX5220: Chip = Chip {
    cell_bytes: 254,
    metadata_bytes: 40,
    shared_kilobytes: 44_420,
    dedicated_kilobytes: [7868, 12_739],
    pools: Pools::Uniform,
    memories: 2,
    lossy_percent: 70,
    lossless_percent: 20,
    multicast_percent: 0,
};
pub(super) const QFX5130: Chip = Chip { metadata_bytes: 64, shared_kilobytes: 111_263, ..QFX5220 };
pub(super) const QFX5230: Chip =
    Chip { shared_kilobytes: 74_743, dedicated_kilobytes: [15_488, 24_169], ..QFX5130 };
pub(super) const QFX5240: Chip =
    Chip { shared_kilobytes: 84_206, dedicated_kilobytes: [30_847, 47_208], ..QFX5130 };

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the article: index 7 means a factor of 1, 8 means 2, 9 means 4, 10 means 8. The lossy
    /// part has 2708 KB on QFX5100 and 8492 KB on QFX5120.
    #[test]
    fn thresholds_and_pools_are_those_of_the_article() {
        assert_eq!([0, 7, 8, 9, 10].map(Chip::alpha), [1.0 / 128.0, 1.0, 2.0, 4.0, 8.0]);
        let kilobytes = |chip: &Chip| {
            u64::from(chip.cells(chip.shared_kilobytes, 31)) * u64::from(chip.cell_bytes) / 1024
        };
        assert_eq!([kilobytes(&QFX5100), kilobytes(&QFX5120)], [2708, 8492]);
        let lossy = u64::from(QFX5230.cells(QFX5230.shared_kilobytes, 70)) * 254 / 1024;
        assert_eq!(lossy, 52_320 / 2);
    }

    /// The output of a QFX5240 in the article; a chip with separate pools adds only those of departing
    /// packets.
    #[test]
    fn a_smaller_dedicated_part_adds_to_the_shared_part() {
        assert_eq!(QFX5240.shared_kilobytes([75, 55]), 113_162);
        assert_eq!(QFX5240.shared_kilobytes([100, 100]), 84_206);
        assert_eq!(QFX5100.shared_kilobytes([50, 50]), 8736 + 1872);
    }
}
