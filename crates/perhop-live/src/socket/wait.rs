//! [`Waiter`]: waits for deadlines by sleeping, with a short busy wait at the end.

#![allow(clippy::disallowed_methods)] // it measures the accuracy of sleeps

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

/// Share of sleeps that may end after their deadline, percent.
const LATE_PERCENT: u64 = 1;
/// Decrease of the margin after every sleep that ended in time, nanoseconds.
const STEP_NS: u64 = 100;
/// The initial margin, nanoseconds: on an idle machine, a sleep ends about 50 µs late.
const FIRST_MARGIN_NS: u64 = 60_000;
/// While other programs use the processor, sleeps end milliseconds late. No margin can compensate for
/// milliseconds, and a large margin would reduce the processor time of these programs. Therefore lateness
/// above this range does not change the margin.
const MARGIN_RANGE_NS: std::ops::RangeInclusive<u64> = 10_000..=150_000;

/// Waits for a deadline: sleeps until a margin before it, then busy waits.
///
/// The margin adapts to the lateness of sleeps. If a sleep ended later than the margin permits, the margin
/// increases; after every other sleep, it decreases slightly. The ratio of the two changes is chosen so that
/// one sleep in a hundred ends too late. Sleeps whose lateness exceeds every permitted margin are ignored.
#[derive(Debug)]
pub(super) struct Waiter {
    margin_ns: u64,
    asleep: Duration,
    looking: Duration,
    sleeps: u64,
    looks: u64,
    /// The lateness of sleeps that ended by the clock, nanoseconds.
    oversleep: Histogram<u64>,
    started: Instant,
}

/// Statistics of waiting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WaitReport {
    /// Number of sleeps.
    pub sleeps: u64,
    /// Share of the time asleep.
    pub asleep_share: f64,
    /// Share of the time in busy waiting before deadlines, which uses processor time to improve accuracy.
    pub busy_share: f64,
    /// The margin at the end of the run, microseconds.
    pub margin_us: f64,
    /// Median lateness of sleeps, microseconds; `None` if no sleep ended by the clock.
    pub wake_lateness_p50_us: Option<f64>,
    /// 99th percentile of the lateness, microseconds.
    pub wake_lateness_p99_us: Option<f64>,
    /// Maximum lateness, microseconds.
    pub wake_lateness_max_us: Option<f64>,
}

impl Waiter {
    /// A waiter without statistics.
    pub(super) fn new() -> Waiter {
        let oversleep =
            Histogram::new_with_bounds(1, 10_000_000_000, 2).expect("valid bounds of a histogram");
        Waiter {
            margin_ns: FIRST_MARGIN_NS,
            asleep: Duration::ZERO,
            looking: Duration::ZERO,
            sleeps: 0,
            looks: 0,
            oversleep,
            started: Instant::now(),
        }
    }
    /// Duration of a sleep if `left_ns` remain until the deadline; `None` if the deadline is too near.
    pub(super) fn sleep_for(&self, left_ns: u64) -> Option<Duration> {
        left_ns.checked_sub(self.margin_ns).filter(|sleep| *sleep > 0).map(Duration::from_nanos)
    }
    /// Records a sleep that took `slept` and was planned to take `meant`; `woken` is the reason for its end.
    pub(super) fn slept(&mut self, meant: Duration, slept: Duration, woken: Woken) {
        self.sleeps += 1;
        self.asleep += slept;
        if woken == Woken::ByDeadline {
            let late_ns = slept.saturating_sub(meant).as_nanos() as u64;
            self.oversleep.saturating_record(late_ns.max(1));
            if late_ns > *MARGIN_RANGE_NS.end() {
                return;
            }
            let margin_ns = if late_ns > self.margin_ns {
                self.margin_ns + STEP_NS * (100 - LATE_PERCENT) / LATE_PERCENT
            } else {
                self.margin_ns.saturating_sub(STEP_NS)
            };
            self.margin_ns = margin_ns.clamp(*MARGIN_RANGE_NS.start(), *MARGIN_RANGE_NS.end());
        }
    }
    /// Records `time` of busy waiting.
    pub(super) fn looked(&mut self, time: Duration) {
        self.looks += 1;
        self.looking += time;
    }
    /// The statistics so far.
    pub(super) fn report(&self) -> WaitReport {
        let whole = self.started.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        let some = !self.oversleep.is_empty();
        let oversleep = |quantile| some.then(|| self.oversleep.value_at_quantile(quantile) as f64 / 1e3);
        WaitReport {
            sleeps: self.sleeps,
            asleep_share: self.asleep.as_secs_f64() / whole,
            busy_share: self.looking.as_secs_f64() / whole,
            margin_us: self.margin_ns as f64 / 1e3,
            wake_lateness_p50_us: oversleep(0.5),
            wake_lateness_p99_us: oversleep(0.99),
            wake_lateness_max_us: oversleep(1.0),
        }
    }
}

/// The reason for the end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// The deadline was reached.
    ByDeadline,
    /// An event happened before the deadline.
    ByEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEANT: Duration = Duration::from_millis(1);

    #[test]
    fn the_margin_settles_where_one_sleep_in_a_hundred_ends_too_late() {
        let mut waiter = Waiter::new();
        let mut too_late = 0;
        // The lateness is spread evenly over 0..100 µs without a simple pattern, because 37 and 10,000 have
        // no common divisor.
        for turn in 0..100_000_u64 {
            let late = Duration::from_nanos((turn * 3_737) % 10_000 * 10);
            too_late += u64::from(late.as_nanos() as u64 > waiter.margin_ns);
            waiter.slept(MEANT, MEANT + late, Woken::ByDeadline);
        }
        assert!((94_000..=100_000).contains(&waiter.margin_ns), "{} ns", waiter.margin_ns);
        assert!((800..=1_600).contains(&too_late), "{too_late} of 100,000");
    }
    #[test]
    fn delays_beyond_any_margin_do_not_lengthen_it() {
        let mut waiter = Waiter::new();
        for _ in 0..1_000 {
            waiter.slept(MEANT, MEANT * 5, Woken::ByDeadline);
        }
        assert_eq!(waiter.margin_ns, FIRST_MARGIN_NS);
    }
    #[test]
    fn the_margin_has_a_maximum() {
        let mut waiter = Waiter::new();
        for _ in 0..1_000 {
            waiter.slept(MEANT, MEANT + Duration::from_nanos(*MARGIN_RANGE_NS.end()), Woken::ByDeadline);
        }
        assert_eq!(waiter.margin_ns, *MARGIN_RANGE_NS.end());
        assert_eq!(waiter.sleep_for(*MARGIN_RANGE_NS.end()), None);
        assert_eq!(waiter.sleep_for(MARGIN_RANGE_NS.end() + 7), Some(Duration::from_nanos(7)));
    }
    #[test]
    fn early_wake_ups_do_not_count_as_oversleep() {
        let mut waiter = Waiter::new();
        waiter.slept(MEANT, MEANT / 2, Woken::ByEvent);
        let report = waiter.report();
        assert_eq!((report.sleeps, report.wake_lateness_max_us), (1, None));
        assert_eq!(waiter.margin_ns, FIRST_MARGIN_NS);
    }
}
