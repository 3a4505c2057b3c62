//! Exponentially weighted averages of queue lengths, and the clock that lets them decay while
//! nothing waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::packet::Color;
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// How much one sample of the queue moves an average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AveragingConfig {
    /// The weight of one sample, above 0 and at most 1: average ← average + weight · (queue − average).
    Weight(f64),
    /// The weight of one sample as n in 2⁻ⁿ, 0 to 30, the way routers write it: a larger n is a longer memory.
    Exponent(u32),
}

impl Default for AveragingConfig {
    /// 0.002, the weight of Floyd & Jacobson's simulations; the nearest exponent is 9.
    fn default() -> AveragingConfig {
        AveragingConfig::Weight(0.002)
    }
}

impl AveragingConfig {
    /// The weight of one sample.
    ///
    /// # Errors
    /// Where the weight is not above 0 and at most 1, or the exponent is above 30.
    pub fn weight(self) -> Result<f64, ConfigError> {
        match self {
            AveragingConfig::Weight(weight) if weight > 0.0 && weight <= 1.0 => Ok(weight),
            AveragingConfig::Weight(weight) => {
                Err(ConfigError::new("weight", format!("a weight of {weight} is not above 0 and at most 1"))
                    .help("0.002 remembers about 500 samples"))
            }
            AveragingConfig::Exponent(n @ 0..=30) => Ok(1.0 / f64::from(1u32 << n)),
            AveragingConfig::Exponent(n) => {
                Err(ConfigError::new("exponent", format!("an exponent of {n} is above 30"))
                    .help("9 remembers 512 samples"))
            }
        }
    }
}

/// What an average does while the packets it counts are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleConfig {
    /// It decays as if packets of the mean size had gone by at the port's rate, each finding the queue empty.
    #[default]
    Decay,
    /// It decays as before, and the arrival that ends the silence is also a sample of an empty queue:
    /// one packet more than `decay`, as in ns-2.
    DecayAndSample,
    /// As `decay-and-sample`, but only whole packets count as gone by (ns-2).
    DecayWholeAndSample,
    /// Nothing: the next arrival samples an empty queue once.
    None,
}

/// When an average takes a sample of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateConfig {
    /// At each arrival, before the packet joins.
    #[default]
    Arrivals,
    /// At each arrival, before the packet joins, and at each departure, after the packet has left.
    ArrivalsAndDepartures,
}

/// How averages move: the part that all averages of a buffer manager share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    weight: f64,
    idle: IdleConfig,
    /// Mean packets that go by in an idle picosecond.
    idle_packets: f64,
    update: UpdateConfig,
}

impl Motion {
    /// # Errors
    /// Where the weight is out of range.
    pub(super) fn build(
        averaging: AveragingConfig,
        idle: IdleConfig,
        update: UpdateConfig,
        mean_packet: ByteSize,
        drain: Rate,
    ) -> Result<Motion, ConfigError> {
        let packet_bits = 8.0 * mean_packet.as_bytes() as f64;
        let packets_per_second = drain.as_bits_per_second() as f64 / packet_bits;
        let idle_packets = packets_per_second / PICOSECONDS_PER_SECOND as f64;
        let weight = averaging.weight().map_err(|error| error.within("averaging"))?;
        Ok(Motion { weight, idle, idle_packets, update })
    }
}

/// Averages side by side, one for each set of packets that is counted.
#[derive(Clone, Debug)]
#[repr(C)] // what every packet reads comes first
pub(super) struct QueueAverages {
    motion: Motion,
    values: [f64; Color::COUNT],
    /// Since when the average's packets are absent, and up to when it has decayed for it.
    idle_since: [Time; Color::COUNT],
}

impl QueueAverages {
    pub(super) fn new(motion: Motion) -> QueueAverages {
        QueueAverages { motion, values: [0.0; Color::COUNT], idle_since: [Time::ZERO; Color::COUNT] }
    }
    pub(super) fn values(&self) -> &[f64; Color::COUNT] {
        &self.values
    }

    /// Whether a departure that leaves something of what an average counts moves that average.
    #[inline]
    pub(super) fn samples_departures(&self) -> bool {
        self.motion.update == UpdateConfig::ArrivalsAndDepartures
    }

    /// A packet arrives and finds `held` of what average `index` counts.
    #[inline]
    pub(super) fn arrival(&mut self, index: usize, now: Time, held: u64) {
        if held == 0 {
            self.arrival_when_idle(index, now);
        } else {
            self.sample(index, held);
        }
    }

    /// A packet has left and leaves `held` of what average `index` counts.
    #[inline]
    pub(super) fn departure(&mut self, index: usize, now: Time, held: u64) {
        if self.samples_departures() {
            self.sample(index, held);
        }
        if held == 0 {
            self.idle_since[index] = now;
        }
    }

    /// Floyd & Jacobson 1993, equation (1): avg ← (1 − w) avg + w q.
    #[inline]
    pub(super) fn sample(&mut self, index: usize, held: u64) -> f64 {
        let average = &mut self.values[index];
        // One instruction converts a signed integer, several an unsigned one; the number is the same.
        *average += self.motion.weight * (held.cast_signed() as f64 - *average);
        *average
    }

    /// Floyd & Jacobson 1993, Figure 2: `m ← (time − q_time) / s`, `avg ← (1 − w)^m avg`, and no sample;
    /// ns-2 `queue/red.cc`, `estimator`: `(1 − w)^(m + 1)`, the sample of an empty queue included.
    ///
    /// The clock restarts, so that a packet that is dropped here does not make the next one
    /// decay for the same time again.
    #[cold]
    #[inline(never)]
    fn arrival_when_idle(&mut self, index: usize, now: Time) {
        let Motion { weight, idle, idle_packets, .. } = self.motion;
        let silence = now.saturating_sub(self.idle_since[index]);
        self.idle_since[index] = now;
        if self.values[index] > 0.0 {
            let gone_by = silence.as_picoseconds() as f64 * idle_packets;
            let samples = match idle {
                IdleConfig::Decay => gone_by,
                IdleConfig::DecayAndSample => gone_by + 1.0,
                // ns-2: `m = int(ptc * (now - idletime))`.
                IdleConfig::DecayWholeAndSample => libm::floor(gone_by) + 1.0,
                IdleConfig::None => 1.0,
            };
            self.values[index] *= libm::pow(1.0 - weight, samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn averages(averaging: AveragingConfig, update: UpdateConfig) -> QueueAverages {
        // 1000 bytes at 8 Mb/s: one packet each millisecond.
        let (size, rate) = (ByteSize::from_bytes(1000), Rate::from_bits_per_second(8_000_000));
        QueueAverages::new(Motion::build(averaging, IdleConfig::Decay, update, size, rate).unwrap())
    }

    #[test]
    fn a_step_approaches_the_queue_geometrically() {
        for averaging in [AveragingConfig::Weight(0.002), AveragingConfig::Exponent(9)] {
            let (mut averages, weight) =
                (averages(averaging, UpdateConfig::Arrivals), averaging.weight().unwrap());
            for n in 1..=2_000 {
                averages.arrival(0, Time::ZERO, 40);
                let expected = 40.0 * (1.0 - libm::pow(1.0 - weight, f64::from(n)));
                assert!((averages.values()[0] - expected).abs() < 1e-10, "{averaging:?} after {n} samples");
            }
        }
    }

    #[test]
    fn idle_time_counts_in_packets() {
        let mut averages = averages(AveragingConfig::Weight(0.25), UpdateConfig::Arrivals);
        averages.arrival(0, Time::ZERO, 64);
        assert_eq!(averages.values()[0], 16.0);
        averages.departure(0, Time::from_milliseconds(10), 0);
        assert_eq!(averages.values()[0], 16.0);
        // Two packet times: 16 · 0.75². The arrival itself is no sample.
        averages.arrival(0, Time::from_milliseconds(12), 0);
        assert!((averages.values()[0] - 9.0).abs() < 1e-12);
        // That packet was dropped: one more packet time, counted from its arrival.
        averages.arrival(0, Time::from_milliseconds(13), 0);
        assert!((averages.values()[0] - 6.75).abs() < 1e-12);
    }

    #[test]
    fn the_arrival_that_ends_a_silence_may_be_a_sample() {
        let (size, rate) = (ByteSize::from_bytes(1000), Rate::from_bits_per_second(8_000_000));
        let average_after_silence = |idle| {
            let averaging = AveragingConfig::Weight(0.25);
            let motion = Motion::build(averaging, idle, UpdateConfig::Arrivals, size, rate).unwrap();
            let mut averages = QueueAverages::new(motion);
            averages.arrival(0, Time::ZERO, 64);
            averages.departure(0, Time::from_milliseconds(10), 0);
            averages.arrival(0, Time::from_milliseconds(12), 0);
            averages.values()[0]
        };
        // Two packet times after an average of 16.
        assert!((average_after_silence(IdleConfig::Decay) - 16.0 * 0.75 * 0.75).abs() < 1e-12);
        assert!(
            (average_after_silence(IdleConfig::DecayAndSample) - 16.0 * 0.75 * 0.75 * 0.75).abs() < 1e-12
        );
        assert!((average_after_silence(IdleConfig::None) - 16.0 * 0.75).abs() < 1e-12);
    }

    #[test]
    fn departures_count_where_asked() {
        let mut averages = averages(AveragingConfig::Weight(0.5), UpdateConfig::ArrivalsAndDepartures);
        averages.arrival(0, Time::ZERO, 8);
        averages.departure(0, Time::ZERO, 6);
        assert_eq!(averages.values()[0], 5.0);
        averages.departure(0, Time::ZERO, 0);
        assert_eq!(averages.values()[0], 2.5);
    }

    #[test]
    fn weights_out_of_range_are_refused() {
        for averaging in [
            AveragingConfig::Weight(0.0),
            AveragingConfig::Weight(1.5),
            AveragingConfig::Weight(f64::NAN),
            AveragingConfig::Exponent(31),
        ] {
            assert!(averaging.weight().is_err(), "{averaging:?}");
        }
        assert_eq!(AveragingConfig::Exponent(9).weight(), Ok(1.0 / 512.0));
    }
}
