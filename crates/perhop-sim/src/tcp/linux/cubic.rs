//! CUBIC as Linux computes it (`net/ipv4/tcp_cubic.c`), in integers and clock ticks.
//!
//! Differences from RFC 9438: the target is one *minimum* round-trip time ahead. The window grows by at most
//! one segment per two acknowledged segments. Reno's window always grows by 8/15. A timeout resets `w_max`.
//! In this module, the cube root is exact; in Linux, it is within 0.2 %.

use crate::tcp::rtt::Clock;

/// Beta and C of RFC 9438 in 1024ths.
const BETA: u64 = 717;
const C: u64 = 410;
/// The time of the curve is in 1024ths of a second.
const SECOND_SHIFT: u32 = 10;
/// `beta_scale`: the acknowledged segments after which Reno's window grows by one segment, in eighths of the
/// window.
const RENO_SCALE: u64 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// The number of acknowledged segments per segment of growth while no maximum is known: 5 % growth per round
/// trip.
const FIRST_PER_INCREASE: u64 = 20;
/// The acknowledged segments per segment of growth when the window is at or above the curve, in windows.
const PLATEAU: u64 = 100;

/// State of CUBIC. Times are in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cubic {
    /// `W_max`: the window at the last congestion, reduced by fast convergence; 0 if unknown.
    w_max: u64,
    /// The number of acknowledged segments for which the window grows by one segment.
    per_increase: u64,
    /// The window at the last computation of `per_increase`.
    last_window: u64,
    /// The time of the last computation of `per_increase`.
    last_time: u64,
    /// The beginning of the current stage of congestion avoidance.
    epoch: Option<u64>,
    /// K: the time from the beginning of the epoch until the window is `origin`, 1024ths of a second.
    k: u64,
    /// The window at which the curve is flat: `w_max`, or the window at the beginning of the epoch if larger.
    origin: u64,
    /// The minimum round-trip time, microseconds; 0 if unknown.
    least_round_trip: u64,
    /// The number of acknowledged segments that count towards the next growth of `reno`.
    credit: u64,
    /// The window that Reno would have.
    reno: u64,
}

impl Cubic {
    /// Resets the state after a timeout (`bictcp_reset`).
    pub(super) fn reset(&mut self) {
        *self = Cubic::default();
    }
    pub(super) fn least_round_trip(&self) -> u64 {
        self.least_round_trip
    }
    /// Returns the threshold after a congestion event (`bictcp_recalc_ssthresh`): 717/1024 of `in_use`, the
    /// used segments of `window`.
    pub(super) fn on_congestion(&mut self, window: u32, in_use: u32) -> u32 {
        let window = u64::from(window);
        self.epoch = None;
        // RFC 9438 §4.7: fast convergence.
        self.w_max = if window < self.w_max { window * (1024 + BETA) / 2048 } else { window };
        (u64::from(in_use) * BETA / 1024) as u32
    }
    /// Processes the round-trip sample `round_trip`. Returns whether the sample is used. Samples in the first
    /// second of a stage are ignored (`cubictcp_acked`).
    pub(super) fn take_round_trip(&mut self, now: u64, clock: Clock, round_trip: u64) -> bool {
        if self.epoch.is_some_and(|epoch| now - epoch < ticks_per_second(clock)) {
            return false;
        }
        if self.least_round_trip == 0 || self.least_round_trip > round_trip {
            self.least_round_trip = round_trip;
        }
        true
    }
    /// Excludes the `idle` ticks before `now` from the time of the curve (`cubictcp_cwnd_event`).
    pub(super) fn skip(&mut self, now: u64, idle: u64) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + idle).min(now);
        }
    }

    /// Processes `acknowledged` segments in congestion avoidance. Returns the number of acknowledged segments
    /// for which the window grows by one segment (`bictcp_update`).
    pub(super) fn on_ack(&mut self, now: u64, clock: Clock, window: u32, acknowledged: u32) -> u32 {
        let window = u64::from(window);
        self.credit += u64::from(acknowledged);
        let is_stale = now - self.last_time > ticks_per_second(clock) / 32;
        if self.last_window != window || is_stale {
            // The curve is computed once per tick. Reno's part is computed for each acknowledgment.
            if self.epoch.is_none() || now != self.last_time {
                self.follow_curve(now, clock, window, u64::from(acknowledged));
            }
            self.follow_reno(window);
            self.per_increase = self.per_increase.max(2);
        }
        self.per_increase as u32
    }
    /// Sets `per_increase` so that the window reaches the curve one minimum round-trip time from now.
    fn follow_curve(&mut self, now: u64, clock: Clock, window: u64, acknowledged: u64) {
        (self.last_window, self.last_time) = (window, now);
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.credit, self.reno) = (acknowledged, window);
            self.k = cube_root((1 << (10 + 3 * SECOND_SHIFT)) / C * self.w_max.saturating_sub(window));
            self.origin = self.w_max.max(window);
            now
        });
        let ahead = self.least_round_trip.div_ceil((1_000_000 / ticks_per_second(clock)).max(1));
        let time = ((now - epoch + ahead) << SECOND_SHIFT) / ticks_per_second(clock);
        let offset = u128::from(time.abs_diff(self.k));
        let height = (u128::from(C) * offset * offset * offset) >> (10 + 3 * SECOND_SHIFT);
        let height = height.min(1 << 32) as u64;
        let target = if time < self.k { self.origin.saturating_sub(height) } else { self.origin + height };
        self.per_increase = if target > window { window / (target - window) } else { PLATEAU * window };
        if self.w_max == 0 {
            self.per_increase = self.per_increase.min(FIRST_PER_INCREASE);
        }
    }
    /// Limits `per_increase` so that the window grows at least like the window of Reno (RFC 9438 §4.3).
    fn follow_reno(&mut self, window: u64) {
        let step = (window * RENO_SCALE) >> 3;
        self.reno += self.credit.saturating_sub(1) / step.max(1);
        self.credit -= self.credit.saturating_sub(1) / step.max(1) * step;
        if self.reno > window {
            self.per_increase = self.per_increase.min(window / (self.reno - window));
        }
    }
}

fn ticks_per_second(clock: Clock) -> u64 {
    clock.ticks_in(perhop_qos::units::Time::from_seconds(1)).max(1)
}

/// The cube root, rounded down.
fn cube_root(value: u64) -> u64 {
    let mut root = libm::cbrt(value as f64) as u64;
    while root * root * root > value {
        root -= 1;
    }
    while (root + 1).pow(3) <= value {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_exact() {
        for root in [0, 1, 2, 10, 1023, 77_000, 2_000_000] {
            let cube = u64::pow(root, 3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), root + u64::from(root == 0));
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
    }
}
