//! Exponentially weighted averages of queue lengths, and the clock that lets them decay while
//! nothing waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::moving_average::{Average, LEAST_WEIGHT, Smoothing};
use crate::error::ConfigError;
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// How much one sample of the queue moves an average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AveragingConfig {
    /// The weight of one sample, from 2⁻³⁰ to 1: average ← average + weight · (queue − average).
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
    /// Where the weight is not from 2⁻³⁰ to 1, or the exponent is above 30: averages have no more digits.
    pub fn weight(self) -> Result<f64, ConfigError> {
        match self {
            AveragingConfig::Weight(weight) if (LEAST_WEIGHT..=1.0).contains(&weight) => Ok(weight),
            AveragingConfig::Weight(weight) => {
                Err(ConfigError::new("weight", format!("a weight of {weight} is not from 2⁻³⁰ to 1"))
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
    pub(super) smoothing: Smoothing,
    /// Whether a departure that leaves something of what an average counts moves that average.
    pub(super) samples_departures: bool,
    /// Mean packets that go by in an idle picosecond, as samples of an empty queue.
    idle_packets: f64,
    /// Whether only whole ones of them count.
    whole_idle_packets: bool,
    /// Samples of an empty queue that the arrival is which ends the silence.
    idle_samples: f64,
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
        let weight = averaging.weight().map_err(|error| error.within("averaging"))?;
        let per_picosecond = packets_per_second / PICOSECONDS_PER_SECOND as f64;
        Ok(Motion {
            smoothing: Smoothing::new(weight),
            samples_departures: update == UpdateConfig::ArrivalsAndDepartures,
            idle_packets: if idle == IdleConfig::None { 0.0 } else { per_picosecond },
            whole_idle_packets: idle == IdleConfig::DecayWholeAndSample,
            idle_samples: if idle == IdleConfig::Decay { 0.0 } else { 1.0 },
        })
    }
    /// Samples of an empty queue that `silence` is worth.
    #[inline]
    fn samples_in(&self, silence: Time) -> f64 {
        let gone_by = silence.as_picoseconds() as f64 * self.idle_packets;
        // ns-2: `m = int(ptc * (now - idletime))`.
        let gone_by = if self.whole_idle_packets { libm::floor(gone_by) } else { gone_by };
        gone_by + self.idle_samples
    }
}

/// The average of a set of packets, and since when there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueAverage {
    pub(super) average: Average,
    /// Since when its packets are absent, and up to when it has decayed for it.
    pub(super) idle_since: Time,
}

impl QueueAverage {
    /// A packet arrives and finds `held` of what the average counts.
    #[inline]
    pub(super) fn arrival(&mut self, now: Time, held: u64, motion: &Motion) {
        if held == 0 {
            self.arrival_when_idle(now, motion);
        } else {
            self.average.sample(held, &motion.smoothing);
        }
    }

    /// A packet has left and leaves `held` of what the average counts.
    #[inline]
    pub(super) fn departure(&mut self, now: Time, held: u64, motion: &Motion) {
        if motion.samples_departures {
            self.average.sample(held, &motion.smoothing);
        }
        if held == 0 {
            self.idle_since = now;
        }
    }

    /// Floyd & Jacobson 1993, Figure 2: `m ← (time − q_time) / s`, `avg ← (1 − w)^m avg`, and no sample;
    /// ns-2 `queue/red.cc`, `estimator`: `(1 − w)^(m + 1)`, the sample of an empty queue included.
    ///
    /// The clock restarts, so that a packet that is dropped here does not make the next one
    /// decay for the same time again.
    #[inline]
    fn arrival_when_idle(&mut self, now: Time, motion: &Motion) {
        let silence = now.saturating_sub(self.idle_since);
        self.idle_since = now;
        self.average.decay(motion.samples_in(silence), &motion.smoothing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An average that moves in its own way.
    struct Moving(Motion, QueueAverage);

    impl Moving {
        fn new(averaging: AveragingConfig, idle: IdleConfig, update: UpdateConfig) -> Moving {
            // 1000 bytes at 8 Mb/s: one packet each millisecond.
            let (size, rate) = (ByteSize::from_bytes(1000), Rate::from_bits_per_second(8_000_000));
            let motion = Motion::build(averaging, idle, update, size, rate).unwrap();
            Moving(motion, QueueAverage::default())
        }
        fn arrival(&mut self, milliseconds: u64, held: u64) -> f64 {
            self.1.arrival(Time::from_milliseconds(milliseconds), held, &self.0);
            self.value()
        }
        fn departure(&mut self, milliseconds: u64, held: u64) -> f64 {
            self.1.departure(Time::from_milliseconds(milliseconds), held, &self.0);
            self.value()
        }
        fn value(&self) -> f64 {
            self.0.smoothing.value(self.1.average.level())
        }
    }

    /// A step of an average, and what idle time is rounded to.
    const STEP: f64 = 2e-9;

    #[test]
    fn a_step_approaches_the_queue_geometrically() {
        for averaging in [AveragingConfig::Weight(0.002), AveragingConfig::Exponent(9)] {
            let mut average = Moving::new(averaging, IdleConfig::Decay, UpdateConfig::Arrivals);
            let weight = averaging.weight().unwrap();
            for n in 1..=2_000 {
                let expected = 40.0 * (1.0 - libm::pow(1.0 - weight, f64::from(n)));
                assert!((average.arrival(0, 40) - expected).abs() < STEP, "{averaging:?} after {n} samples");
            }
        }
    }

    #[test]
    fn idle_time_counts_in_packets() {
        let quarter = AveragingConfig::Weight(0.25);
        let mut average = Moving::new(quarter, IdleConfig::Decay, UpdateConfig::Arrivals);
        assert_eq!(average.arrival(0, 64), 16.0);
        assert_eq!(average.departure(10, 0), 16.0);
        // Two packet times: 16 · 0.75². The arrival itself is no sample.
        assert!((average.arrival(12, 0) - 9.0).abs() < STEP);
        // That packet was dropped: one more packet time, counted from its arrival.
        assert!((average.arrival(13, 0) - 6.75).abs() < STEP);
    }

    #[test]
    fn the_arrival_that_ends_a_silence_may_be_a_sample() {
        let average_after_silence = |idle| {
            let mut average = Moving::new(AveragingConfig::Weight(0.25), idle, UpdateConfig::Arrivals);
            average.arrival(0, 64);
            average.departure(10, 0);
            average.arrival(12, 0)
        };
        // Two packet times after an average of 16.
        assert!((average_after_silence(IdleConfig::Decay) - 16.0 * 0.75 * 0.75).abs() < STEP);
        assert!((average_after_silence(IdleConfig::DecayAndSample) - 16.0 * 0.75 * 0.75 * 0.75).abs() < STEP);
        assert!((average_after_silence(IdleConfig::None) - 16.0 * 0.75).abs() < STEP);
    }

    #[test]
    fn departures_count_where_asked() {
        let half = AveragingConfig::Weight(0.5);
        let mut average = Moving::new(half, IdleConfig::Decay, UpdateConfig::ArrivalsAndDepartures);
        average.arrival(0, 8);
        assert_eq!(average.departure(0, 6), 5.0);
        assert_eq!(average.departure(0, 0), 2.5);
    }

    #[test]
    fn weights_out_of_range_are_refused() {
        for averaging in [
            AveragingConfig::Weight(0.0),
            AveragingConfig::Weight(1.5),
            AveragingConfig::Weight(f64::NAN),
            AveragingConfig::Weight(9e-10),
            AveragingConfig::Exponent(31),
        ] {
            assert!(averaging.weight().is_err(), "{averaging:?}");
        }
        assert_eq!(AveragingConfig::Exponent(9).weight(), Ok(1.0 / 512.0));
        let least = AveragingConfig::Exponent(30).weight();
        assert_eq!(
            (AveragingConfig::Weight(LEAST_WEIGHT).weight(), least),
            (Ok(LEAST_WEIGHT), Ok(LEAST_WEIGHT))
        );
    }
}
