//! [`QueueAverage`]: the exponentially weighted moving average of a queue, sampled by packets and decaying
//! with time while nothing waits (Floyd & Jacobson 1993, section 5).

use super::fixed_point::{Average, Smoothing};
use super::mred_config::{IdleConfig, MredConfig, UpdateConfig};
use crate::error::ConfigError;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// How averages move: what all averages of a buffer manager share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averaging {
    pub(super) smoothing: Smoothing,
    /// Whether a departure that leaves something of what an average counts is a sample for that average.
    pub(super) samples_departures: bool,
    /// Packets of mean size that the port could send in an idle picosecond: samples of an empty queue.
    idle_packets: f64,
    /// Whether only whole packets count.
    whole_idle_packets: bool,
    /// How many samples of an empty queue the arrival counts as that ends an idle period.
    idle_samples: f64,
}

impl Averaging {
    /// The averaging of a queue that drains at `drain`, unless `config` names an idle rate.
    ///
    /// # Errors
    /// Where the weight is out of range.
    pub(super) fn build(config: &MredConfig, drain: Rate) -> Result<Averaging, ConfigError> {
        let packet_bits = 8.0 * config.mean_packet_size.as_bytes() as f64;
        let packets_per_second = config.idle_rate.unwrap_or(drain).as_bits_per_second() as f64 / packet_bits;
        let weight = config.averaging.weight().map_err(|error| error.within("averaging"))?;
        let per_picosecond = packets_per_second / PICOSECONDS_PER_SECOND as f64;
        Ok(Averaging {
            smoothing: Smoothing::new(weight),
            samples_departures: config.update == UpdateConfig::ArrivalsAndDepartures,
            idle_packets: if config.idle == IdleConfig::None { 0.0 } else { per_picosecond },
            whole_idle_packets: config.idle == IdleConfig::DecayWholeAndSample,
            idle_samples: if config.idle == IdleConfig::Decay { 0.0 } else { 1.0 },
        })
    }
    /// Samples of an empty queue that an idle period counts as.
    #[inline]
    fn samples_in(&self, idle: Time) -> f64 {
        let packets = idle.as_picoseconds() as f64 * self.idle_packets;
        // ns-2: `m = int(ptc * (now - idletime))`.
        let packets = if self.whole_idle_packets { libm::floor(packets) } else { packets };
        packets + self.idle_samples
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
    pub(super) fn arrival(&mut self, now: Time, held: u64, averaging: &Averaging) {
        if held == 0 {
            self.arrival_when_idle(now, averaging);
        } else {
            self.average.sample(held, &averaging.smoothing);
        }
    }

    /// A packet has left and leaves `held` of what the average counts.
    #[inline]
    pub(super) fn departure(&mut self, now: Time, held: u64, averaging: &Averaging) {
        if averaging.samples_departures {
            self.average.sample(held, &averaging.smoothing);
        }
        if held == 0 {
            self.idle_since = now;
        }
    }

    /// Floyd & Jacobson 1993, Figure 2: `m ← (time − q_time) / s`, `avg ← (1 − w)^m avg`, and no sample;
    /// ns-2 `queue/red.cc`, `estimator`: `(1 − w)^(m + 1)`, the sample of an empty queue included.
    ///
    /// The idle period restarts here: if this packet is dropped, the next one must not decay for it again.
    #[inline(never)]
    fn arrival_when_idle(&mut self, now: Time, averaging: &Averaging) {
        let idle = now.saturating_sub(self.idle_since);
        self.idle_since = now;
        self.average.decay(averaging.samples_in(idle), &averaging.smoothing);
    }
}

#[cfg(test)]
mod tests {
    use super::super::AveragingConfig;
    use super::*;
    use crate::units::ByteSize;

    /// An average and the parameters it moves by.
    struct Moving(Averaging, QueueAverage);

    impl Moving {
        fn new(averaging: AveragingConfig, idle: IdleConfig, update: UpdateConfig) -> Moving {
            // 1000 bytes at 8 Mb/s: one packet each millisecond.
            let mean_packet_size = ByteSize::from_bytes(1000);
            let config = MredConfig { averaging, update, idle, mean_packet_size, ..MredConfig::default() };
            let averaging = Averaging::build(&config, Rate::from_bits_per_second(8_000_000)).unwrap();
            Moving(averaging, QueueAverage::default())
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
            self.0.smoothing.value(self.1.average.level)
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
    fn the_arrival_that_ends_an_idle_period_may_be_a_sample() {
        let average_after_idle_period = |idle| {
            let mut average = Moving::new(AveragingConfig::Weight(0.25), idle, UpdateConfig::Arrivals);
            average.arrival(0, 64);
            average.departure(10, 0);
            average.arrival(12, 0)
        };
        // Two packet times after an average of 16.
        assert!((average_after_idle_period(IdleConfig::Decay) - 16.0 * 0.75 * 0.75).abs() < STEP);
        assert!(
            (average_after_idle_period(IdleConfig::DecayAndSample) - 16.0 * 0.75 * 0.75 * 0.75).abs() < STEP
        );
        assert!((average_after_idle_period(IdleConfig::None) - 16.0 * 0.75).abs() < STEP);
    }

    #[test]
    fn departures_count_where_asked() {
        let half = AveragingConfig::Weight(0.5);
        let mut average = Moving::new(half, IdleConfig::Decay, UpdateConfig::ArrivalsAndDepartures);
        average.arrival(0, 8);
        assert_eq!(average.departure(0, 6), 5.0);
        assert_eq!(average.departure(0, 0), 2.5);
    }
}
