//! [`Clock`]: the monotonic clock, which all processes of the machine share.

use perhop_qos::units::Time;

use super::system;

/// Nanoseconds on the machine's monotonic clock since the clock was created.
///
/// The kernel's timestamps of frames are readings of the real-time clock, which may be set to another time.
/// The offset between the two clocks is therefore measured each time timestamps are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Reading of the monotonic clock at [`Time::ZERO`].
    pub(super) origin_ns: u64,
    /// Reading of the real-time clock at [`Time::ZERO`].
    wall_origin_ns: u64,
}

impl Clock {
    /// A clock that starts now.
    pub(super) fn start() -> Clock {
        let origin_ns = system::nanoseconds(libc::CLOCK_MONOTONIC);
        let mut clock = Clock { origin_ns, wall_origin_ns: 0 };
        clock.measure_wall_offset();
        clock
    }
    /// Nanoseconds since the start.
    #[inline]
    pub(super) fn now_ns(&self) -> u64 {
        system::nanoseconds(libc::CLOCK_MONOTONIC).saturating_sub(self.origin_ns)
    }
    /// Measures the offset of the real-time clock; returns the current time.
    pub(super) fn measure_wall_offset(&mut self) -> u64 {
        let before = self.now_ns();
        let wall = system::nanoseconds(libc::CLOCK_REALTIME);
        let after = self.now_ns();
        self.wall_origin_ns = wall.saturating_sub(before.midpoint(after));
        after
    }
    /// Time since the start at the reading `wall_ns` of the real-time clock, nanoseconds; 0 for earlier
    /// readings.
    #[inline]
    pub(super) fn at_wall_clock(&self, wall_ns: u64) -> u64 {
        wall_ns.saturating_sub(self.wall_origin_ns)
    }
}

/// A [`Time`] in nanoseconds since the start, rounded up.
#[inline]
pub(super) fn nanoseconds(time: Time) -> u64 {
    time.as_picoseconds().div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_stamps_convert_between_surrounding_readings() {
        let mut clock = Clock::start();
        for _ in 0..100 {
            clock.measure_wall_offset();
            let before = clock.now_ns();
            let stamp = clock.at_wall_clock(system::nanoseconds(libc::CLOCK_REALTIME));
            let after = clock.now_ns();
            // A preemption between two readings shifts the offset by half its length. Therefore the attempt
            // with the shortest time between its readings is used.
            if before <= stamp + 1_000 && stamp <= after + 1_000 {
                return;
            }
        }
        panic!("no stamp was within a microsecond of the readings around it");
    }
    #[test]
    fn a_deadline_is_rounded_up() {
        assert_eq!(nanoseconds(Time::from_picoseconds(1_001)), 2);
        assert_eq!(nanoseconds(Time::from_nanoseconds(7)), 7);
    }
}
