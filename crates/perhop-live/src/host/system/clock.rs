//! Clocks and sleep.

use crate::socket::system::nanoseconds;

/// Returns the reading of the monotonic clock, nanoseconds. All namespaces have the same monotonic clock.
pub(in crate::host) fn monotonic() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC)
}

/// Returns the offset of the clock of packet timestamps from [`monotonic`], nanoseconds. Measures several
/// times and returns the most accurate result.
pub(in crate::host) fn timestamps_ahead() -> u64 {
    let look = || {
        let before = monotonic();
        let real = nanoseconds(libc::CLOCK_REALTIME);
        let after = monotonic();
        (after - before, real - before.midpoint(after))
    };
    (0..16).map(|_| look()).min().map_or(0, |(_, ahead)| ahead)
}

/// Sleeps until [`monotonic`] reaches `deadline`, with the precision of the system's timers.
pub(in crate::host) fn sleep_until(deadline: u64) {
    let time = libc::timespec {
        tv_sec: (deadline / 1_000_000_000).cast_signed(),
        tv_nsec: (deadline % 1_000_000_000).cast_signed(),
    };
    // SAFETY: `time` is readable for the whole call, and no remainder is requested.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}
