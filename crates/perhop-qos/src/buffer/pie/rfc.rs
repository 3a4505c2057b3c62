//! PIE of RFC 8033: the pseudocode of its appendix A, with the enhancements that a policy selects.

use super::config::{PieConfig, PieDelay, PieSpacing};
use crate::Time;
use crate::random::Stream;

/// RFC 8033 §5.2: `DQ_THRESHOLD`, 2^14 bytes, and the weight of one measurement, 2^14 / 2^16.
const DQ_THRESHOLD: f64 = 16384.0;
const WEIGHT: f64 = DQ_THRESHOLD / 65536.0;

/// RFC 8033 §4.2: pairs of a drop probability and the divisor of a step below that probability.
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// The state and the parameters. Delays are in seconds, and gains are per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::buffer) struct RfcPie {
    target: f64,
    update_interval: Time,
    alpha: f64,
    beta: f64,
    max_burst: Time,
    floor: u64,
    delay: PieDelay,
    spacing: PieSpacing,
    /// The drop probability (`drop_prob_` of the RFC).
    probability: f64,
    /// The current delay, in seconds (`current_qdelay`).
    current: f64,
    /// The delay at the last update, in seconds (`qdelay_old_`).
    old: f64,
    /// The remaining time in which no packet is dropped early (`burst_allowance_`).
    burst: Time,
    /// The sum of the probabilities since the last drop (`accu_prob_`).
    accumulated: f64,
    /// The average time for the departure of `DQ_THRESHOLD` bytes, in seconds (`avg_dq_time_`). It is 0
    /// before the first measurement.
    departure_time: f64,
    /// The start of the current measurement, and the bytes that have left since then.
    measurement: Option<(Time, u64)>,
}

impl RfcPie {
    pub(super) fn new(config: &PieConfig) -> RfcPie {
        RfcPie {
            target: config.target.as_seconds(),
            update_interval: config.update_interval,
            alpha: config.alpha,
            beta: config.beta,
            max_burst: config.burst,
            floor: config.floor.as_bytes(),
            delay: config.delay(),
            spacing: config.drop_spacing(),
            probability: 0.0,
            current: 0.0,
            old: 0.0,
            // §4.4: `burst_allowance_` "is initialized to MAX_BURST".
            burst: config.burst,
            accumulated: 0.0,
            departure_time: 0.0,
            measurement: None,
        }
    }

    pub(in crate::buffer) fn probability(&self) -> f64 {
        self.probability
    }

    /// Updates the drop probability once, for a queue of `backlog` bytes.
    pub(super) fn update(&mut self, backlog: u64) {
        if self.delay == PieDelay::DepartureRate {
            // §5.2: `current_qdelay = queue_.byte_length() * avg_dq_time_ / DQ_THRESHOLD`.
            self.current = backlog as f64 * self.departure_time / DQ_THRESHOLD;
        }
        // §4.2: `p = alpha*(current_qdelay-QDELAY_REF) + beta*(current_qdelay-qdelay_old_)`.
        let mut step = self.alpha * (self.current - self.target) + self.beta * (self.current - self.old);
        if let Some((_, divisor)) = SCALES.iter().find(|(below, _)| self.probability < *below) {
            step /= divisor;
        }
        // §5.5 limits the step of the probability ("cap drop adjustment").
        if self.probability >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        self.probability += step;
        // §4.2: the probability decays exponentially if the delay is 0 now and was 0 at the last update.
        if self.current == 0.0 && self.old == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old = self.current;
        // §4.4: "decremented by the update period".
        self.burst = self.burst.saturating_sub(self.update_interval);
    }

    /// Whether an early drop selects a packet that finds `backlog` bytes in the queue.
    pub(super) fn selects(&mut self, backlog: u64, random: &mut Stream) -> bool {
        let is_calm = self.current < self.target / 2.0 && self.old < self.target / 2.0;
        // §4.4: the allowance is restored when congestion ends.
        if self.probability == 0.0 && is_calm {
            self.burst = self.max_burst;
        }
        self.burst == Time::ZERO && self.drops_early(backlog, random)
    }

    fn drops_early(&mut self, backlog: u64, random: &mut Stream) -> bool {
        // §4.1: early drops are bypassed if the delay was low and p is low, or if "the queue has less than a
        // couple of packets".
        if (self.old < self.target / 2.0 && self.probability < 0.2) || backlog <= self.floor {
            return false;
        }
        match self.spacing {
            PieSpacing::Random => random.uniform() < self.probability,
            PieSpacing::Derandomized => self.drops_derandomized(random),
        }
    }

    /// Whether a packet is dropped early, with derandomization (§5.4).
    fn drops_derandomized(&mut self, random: &mut Stream) -> bool {
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < 0.85 {
            return false;
        }
        let drops = self.accumulated >= 8.5 || random.uniform() < self.probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// Records that a packet was dropped because the queue is full.
    pub(super) fn overflowed(&mut self) {
        self.accumulated = 0.0;
    }

    /// Records that a packet of `length` bytes has left the queue, which it had joined at `arrived`.
    /// `backlog` bytes remain.
    pub(super) fn departed(&mut self, now: Time, arrived: Time, length: u32, backlog: u64) {
        match self.delay {
            PieDelay::Sojourn => self.current = now.saturating_sub(arrived).as_seconds(),
            PieDelay::DepartureRate => self.measure(now, length, backlog),
        }
    }

    /// Estimates the departure rate (§5.2).
    fn measure(&mut self, now: Time, length: u32, backlog: u64) {
        if let Some((since, counted)) = &mut self.measurement {
            *counted += u64::from(length);
            if *counted as f64 >= DQ_THRESHOLD {
                let took = now.saturating_sub(*since).as_seconds();
                self.departure_time = if self.departure_time == 0.0 {
                    took
                } else {
                    took * WEIGHT + self.departure_time * (1.0 - WEIGHT)
                };
                self.measurement = None;
            }
        }
        if self.measurement.is_none() && backlog as f64 >= DQ_THRESHOLD {
            self.measurement = Some((now, 0));
        }
    }
}
