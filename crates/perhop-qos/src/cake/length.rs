//! [`Lengths`]: the counted length of packets in CAKE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cells of a link, which determine its counted bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeCells {
    /// The link has no cells.
    #[default]
    None,
    /// Cells of 53 bytes with 48 bytes of payload (ADSL).
    Atm,
    /// One additional byte for each started block of 64 bytes (VDSL2).
    Ptm,
}

/// The counted length of a packet for the shaper, the tins and the turns of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// The bytes that are added to the IP bytes.
    pub(super) overhead: i32,
    /// The minimum counted length, bytes.
    pub(super) mpu: u32,
    pub(super) cells: CakeCells,
}

impl Lengths {
    /// The counted length of a packet of `ip` IP bytes. Linux, `cake_calc_overhead`.
    #[inline]
    pub(super) fn counted(&self, ip: u32) -> u32 {
        let length = ip.saturating_add_signed(self.overhead).max(self.mpu);
        match self.cells {
            CakeCells::None => length,
            CakeCells::Atm => length.div_ceil(48) * 53,
            CakeCells::Ptm => length + length.div_ceil(64),
        }
    }
}

/// The memory that Linux accounts for a frame of `bytes` bytes: the allocated buffer and 256 bytes for the
/// descriptor. The size of the buffer is a power of two. It has room for the frame, 64 bytes of headroom and
/// 320 bytes of bookkeeping. A frame of 1514 bytes uses 2304 bytes. Drivers of network cards can use other
/// sizes.
#[inline]
pub(super) fn memory(bytes: u32) -> u64 {
    u64::from(bytes + 64 + 320).next_power_of_two() + 256
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(overhead: i32, mpu: u32, cells: CakeCells, ip: u32) -> u32 {
        Lengths { overhead, mpu, cells }.counted(ip)
    }

    #[test]
    fn overheads_and_cells() {
        assert_eq!(counted(14, 0, CakeCells::None, 1500), 1514);
        assert_eq!(counted(-10, 0, CakeCells::None, 4), 0);
        // The minimum Ethernet frame with its framing: `ethernet` in tc is overhead 38 mpu 84.
        assert_eq!(counted(38, 84, CakeCells::None, 40), 84);
        // A packet of 1500 + 40 bytes needs 33 cells. 44 more bytes still fit into the 33rd cell, and 45 more
        // need another cell.
        assert_eq!(counted(40, 0, CakeCells::Atm, 1500), 33 * 53);
        assert_eq!(counted(84, 0, CakeCells::Atm, 1500), 33 * 53);
        assert_eq!(counted(85, 0, CakeCells::Atm, 1500), 34 * 53);
        assert_eq!(counted(30, 0, CakeCells::Ptm, 1506), 1536 + 24);
        assert_eq!(counted(31, 0, CakeCells::Ptm, 1506), 1537 + 25);
    }

    #[test]
    fn memory_of_frames() {
        assert_eq!([54, 214, 1514].map(memory), [768, 1280, 2304]);
    }
}
