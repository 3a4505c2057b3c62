//! Clocks and sleep.

/// Reading of the monotonic clock, nanoseconds; namespaces share it.
pub(in crate::host) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable for the whole call; these clocks exist on every Linux, so it is filled.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Offset of the clock of packet timestamps from [`monotonic`], nanoseconds: the tightest of several
/// measurements.
pub(in crate::host) fn timestamps_ahead() -> u64 {
    let look = || {
        let before = monotonic();
        let real = clock(libc::CLOCK_REALTIME);
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
    // SAFETY: `time` is readable for the whole call, and no remainder is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

/// Disables the timer slack of this thread, by which sleeps may end up to 50 µs late.
pub(in crate::host) fn wake_precisely() {
    // SAFETY: this option takes one number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
}
