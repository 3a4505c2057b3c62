//! [`IdleTable`]: the decay of an average over idle time in Linux.

use crate::Time;
use crate::units::Rate;

/// Powers of two by idle time. The program tc of iproute2 computes them, and the kernel reads them.
///
/// Sources: iproute2 6.1 `tc/tc_red.c`, `tc_red_eval_idle_damping`; Linux 6.1 `include/net/red.h`,
/// `red_calc_qavg_from_idle_time`. The two programs disagree in two points, so an average decays more slowly
/// than by (1 − w)^m. First, tc counts idle time in ticks of 64 ns (`/proc/net/psched`), but the kernel since
/// 3.3 in microseconds. Second, the entries of tc are natural logarithms, but the kernel uses them as the
/// number of halvings.
#[derive(Clone, Debug)]
pub(super) struct IdleTable {
    shifts: [u8; 256],
    /// The binary logarithm of the duration of a cell in microseconds.
    cell_log: u32,
}

/// The number of tc's ticks in a microsecond. A tick has 64 ns.
const TICKS_PER_MICROSECOND: f64 = 15.625;
/// The upper limit of the entries.
const LARGEST_SHIFT: u8 = 31;

impl IdleTable {
    /// Creates the table for a weight of 2 to the power of −`exponent`, packets of `mean` bytes and a link of
    /// `bandwidth`.
    pub(super) fn new(exponent: u32, mean: u64, bandwidth: Rate) -> IdleTable {
        // Like tc, the computation rounds the bytes per second, the microseconds of a packet and the ticks of
        // a packet down to integers.
        let bytes_per_second = (bandwidth.as_bits_per_second() / 8).max(1);
        let microseconds = libm::floor(1e6 * (mean as f64 / bytes_per_second as f64));
        let ticks = libm::floor(microseconds * TICKS_PER_MICROSECOND).max(1.0);
        let per_tick = -libm::log(1.0 - 1.0 / (1_u64 << exponent) as f64) / ticks;
        let until = f64::from(LARGEST_SHIFT) / per_tick;
        let cell_log = (0..31).find(|log| until / f64::from(1_u32 << log) < 512.0).unwrap_or(31);
        let mut shifts = [0; 256];
        for (cell, shift) in (1_u32..).zip(&mut shifts[1..]) {
            let halvings = f64::from(cell) * (1_u64 << cell_log) as f64 * per_tick;
            *shift = halvings.min(f64::from(LARGEST_SHIFT)) as u8;
        }
        shifts[255] = LARGEST_SHIFT;
        IdleTable { shifts, cell_log }
    }
    /// Returns `level` after the idle time `idle`.
    pub(super) fn decayed(&self, level: u64, idle: Time) -> u64 {
        let idle = (idle.as_picoseconds() / Time::from_microseconds(1).as_picoseconds())
            .min(255_u64 << self.cell_log);
        let shift = self.shifts[(idle >> self.cell_log) as usize & 255];
        if shift > 0 {
            return level >> shift;
        }
        // While the entry is 0, the level falls in proportion to the idle time, but at most to a half.
        let less = (u128::from(level) * u128::from(idle)) >> self.cell_log;
        if less < u128::from(level >> 1) { level - less as u64 } else { level >> 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a table. `runs` has the number of entries for each shift, from shift 0 on. The last
    /// entry has the shift 31.
    fn entries(runs: &[usize]) -> Vec<u8> {
        let repeated = |(shift, run): (u8, &usize)| std::iter::repeat_n(shift, *run);
        (0..).zip(runs).flat_map(repeated).chain([31]).collect()
    }

    /// The netlink message of tc (iproute2 6.1.0, recorded by strace) for `red limit 153600 min 25600 max
    /// 51200 avpkt 1052 burst 60 probability 0.02 bandwidth B` contains `Wlog` 6, `Scell_log` 16 and 19, and
    /// the table.
    #[test]
    fn the_table_matches_tc() {
        let ten = IdleTable::new(6, 1052, Rate::from_bits_per_second(10_000_000));
        let runs = [13, 13, 13, 12, 13, 13, 13, 12, 13, 13, 13, 12, 13, 13, 12, 13, 13, 13, 12, 13];
        assert_eq!((ten.cell_log, ten.shifts.to_vec()), (16, entries(&runs)));
        let narrow = IdleTable::new(6, 1052, Rate::from_bits_per_second(1_700_000));
        let runs =
            [10, 9, 10, 9, 9, 10, 9, 9, 10, 9, 10, 9, 9, 10, 9, 9, 10, 9, 9, 10, 9, 10, 9, 9, 10, 9, 9, 2];
        assert_eq!((narrow.cell_log, narrow.shifts.to_vec()), (19, entries(&runs)));
    }

    #[test]
    fn an_average_decays_to_a_half_and_then_by_halves() {
        // The duration of a cell is 65.536 ms.
        let table = IdleTable::new(6, 1052, Rate::from_bits_per_second(10_000_000));
        let after = |microseconds| table.decayed(1 << 20, Time::from_microseconds(microseconds));
        assert_eq!(after(0), 1 << 20);
        assert_eq!(after(16_384), (1 << 20) - (1 << 18));
        assert_eq!((after(40_000), after(12 * 65_536)), (1 << 19, 1 << 19));
        assert_eq!((after(13 * 65_536), after(26 * 65_536)), (1 << 19, 1 << 18));
        assert_eq!(table.decayed(u64::from(u32::MAX), Time::from_seconds(1_000)), 1);
    }
}
