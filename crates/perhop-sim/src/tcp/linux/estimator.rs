//! Round-trip times in microseconds: the estimate for the timeout, and the recent minimum.

use perhop_qos::units::Time;

use super::windowed::Windowed;

/// Linux's estimator (`net/ipv4/tcp_input.c`, `tcp_rtt_estimator`). Unlike RFC 6298, it uses the largest
/// deviation in each round trip, and the variation decreases only once per round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreciseEstimator {
    /// 8 times the smoothed round-trip time, microseconds; 0 before the first sample.
    smoothed: i64,
    /// `mdev_us`: 4 times the mean deviation.
    deviation: i64,
    /// `mdev_max_us`: the maximum of `deviation` since the round trip began.
    largest_deviation: i64,
    /// `rttvar_us`: the variation that the timeout includes.
    variation: i64,
    /// The minimum variation.
    floor: i64,
    /// The offset whose acknowledgment ends the round trip.
    round_ends: u64,
}

impl PreciseEstimator {
    pub(super) fn new(floor: Time) -> PreciseEstimator {
        let floor = super::microseconds(floor).cast_signed();
        PreciseEstimator {
            smoothed: 0,
            deviation: 0,
            largest_deviation: floor,
            variation: 0,
            floor,
            round_ends: 0,
        }
    }
    /// Takes a round-trip sample of `measured` microseconds at the given SND.UNA and SND.NXT.
    pub(super) fn sample(&mut self, measured: u64, unacknowledged: u64, next: u64) {
        let measured = measured.cast_signed();
        if self.smoothed == 0 {
            self.smoothed = (measured << 3).max(1);
            self.deviation = measured << 1;
            self.variation = self.deviation.max(self.floor);
            self.largest_deviation = self.variation;
            self.round_ends = next;
            return;
        }
        let error = measured - (self.smoothed >> 3);
        self.smoothed = (self.smoothed + error).max(1);
        let mut change = error.abs() - (self.deviation >> 2);
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.deviation += change;
        if self.deviation > self.largest_deviation {
            self.largest_deviation = self.deviation;
            self.variation = self.variation.max(self.largest_deviation);
        }
        if unacknowledged > self.round_ends {
            self.variation -= (self.variation - self.largest_deviation).max(0) >> 2;
            self.round_ends = next;
            self.largest_deviation = self.floor;
        }
    }
    /// 8 times the smoothed round-trip time, microseconds; 0 before the first sample.
    pub(super) fn scaled(&self) -> u64 {
        self.smoothed.unsigned_abs()
    }
    pub(super) fn smoothed(&self) -> Option<Time> {
        // The factor is 10^6 picoseconds per microsecond, divided by eight.
        (self.smoothed > 0).then(|| Time::from_picoseconds(self.scaled() * 125_000))
    }
    /// The timeout before rounding to ticks, microseconds.
    pub(super) fn timeout(&self) -> u64 {
        ((self.smoothed >> 3) + self.variation).unsigned_abs()
    }
}

/// The lifetime of a minimum round-trip time, microseconds (`tcp_min_rtt_wlen` of Linux).
const LEAST_COUNTS_FOR: u64 = 300_000_000;

/// The minimum round-trip time of the last five minutes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeastRoundTrip(Windowed);

impl LeastRoundTrip {
    /// The minimum, microseconds; `u64::MAX` before the first sample.
    pub(super) fn get(&self) -> u64 {
        self.0.get().unwrap_or(u64::MAX)
    }
    /// Takes a sample of `value` microseconds at `now`.
    pub(super) fn add(&mut self, now: u64, value: u64) {
        self.0.add(LEAST_COUNTS_FOR, now, value, |new, old| new <= old);
    }
}
