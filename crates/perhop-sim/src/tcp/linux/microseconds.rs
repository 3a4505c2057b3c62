//! Microseconds, the unit of the sender's measurements.

use perhop_qos::units::Time;

/// Returns a time in whole microseconds.
pub(super) fn microseconds(time: Time) -> u64 {
    time.as_picoseconds() / 1_000_000
}
