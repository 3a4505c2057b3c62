//! [`QueueAverage`]: the exponentially weighted moving average of a queue. Each packet causes a sample, and
//! the average decays with time while the queue is empty (Floyd & Jacobson 1993, section 5).

use super::fixed_point::{Average, Smoothing};
use super::idle_table::IdleTable;
use super::options::{AveragingConfig, UpdateConfig};
use super::rules::{Arithmetic, IdleBegins, IdleDecay, IdleEnds, IdleRule, Rules};
use crate::error::ConfigError;
use crate::framing::Framing;
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// The parameters that all averages of a buffer manager share.
#[derive(Clone, Debug)]
pub(super) struct Averaging {
    pub(super) smoothing: Smoothing,
    /// Whether averages also take a sample at each departure.
    pub(super) samples_departures: bool,
    pub(super) idle: IdleRule,
    /// The number of packets of mean size that the port can send in an idle picosecond. Each counts as a
    /// sample of an empty queue.
    idle_packets: f64,
    /// The number of additional samples of an empty queue at the arrival that ends an idle period.
    idle_samples: f64,
    /// The decay table, if the law decays averages by a table.
    table: Option<Box<IdleTable>>,
    /// The rate of the link.
    drain: Rate,
    framing: Framing,
}

impl Averaging {
    /// Builds the averaging of a queue that drains at `drain` on a link of this `framing`, with packets of
    /// `mean` bytes.
    ///
    /// # Errors
    /// The weight is out of range.
    pub(super) fn build(
        rules: &Rules,
        mean: ByteSize,
        drain: Rate,
        framing: Framing,
    ) -> Result<Averaging, ConfigError> {
        let packet_bits = 8.0 * mean.as_bytes() as f64;
        let idle_rate = rules.idle_rate.unwrap_or(drain);
        let packets_per_second = idle_rate.as_bits_per_second() as f64 / packet_bits;
        let weight = rules.averaging.weight().map_err(|error| error.within("averaging"))?;
        let per_picosecond = packets_per_second / PICOSECONDS_PER_SECOND as f64;
        let (smoothing, table) = match (rules.arithmetic, rules.averaging) {
            (Arithmetic::Linux, AveragingConfig::Exponent(exponent)) => {
                let table = IdleTable::new(exponent, mean.as_bytes(), idle_rate);
                (Smoothing::of_linux(exponent), Some(Box::new(table)))
            }
            _ => (Smoothing::new(weight), None),
        };
        Ok(Averaging {
            smoothing,
            samples_departures: rules.update == UpdateConfig::ArrivalsAndDepartures,
            idle: rules.idle,
            idle_packets: if rules.idle.decay == IdleDecay::Never { 0.0 } else { per_picosecond },
            idle_samples: if rules.idle.samples { 1.0 } else { 0.0 },
            table: table.filter(|_| rules.idle.decay == IdleDecay::Table),
            drain,
            framing,
        })
    }
    /// The number of samples of an empty queue during an idle period.
    #[inline]
    fn samples_in(&self, idle: Time) -> f64 {
        let packets = idle.as_picoseconds() as f64 * self.idle_packets;
        // ns-2: `m = int(ptc * (now - idletime))`.
        if self.idle.decay == IdleDecay::WholePackets { libm::floor(packets) } else { packets }
    }
    /// Returns the time at which an average becomes idle. The last packet that the average counts has
    /// `length` bytes and leaves the queue at `now`.
    pub(super) fn idle_from(&self, now: Time, length: u32) -> Time {
        if matches!(self.idle.begins, IdleBegins::LinkFree | IdleBegins::AllSent) {
            now + self.drain.transmission_time(self.framing.wire_bytes(length.into()))
        } else {
            now
        }
    }
    /// Creates an average of an empty queue.
    pub(super) fn average(&self) -> QueueAverage {
        // In Linux, `qidlestart` is 0 at first, so a new average is not idle. In ns-2 and in the paper, a new
        // average is idle.
        let idle_since = if self.idle.ends == IdleEnds::FirstArrival && self.table.is_some() {
            QueueAverage::NOT_IDLE
        } else {
            Time::ZERO
        };
        QueueAverage { average: Average::default(), idle_since }
    }
}

/// The average of some packets of a queue, and the start of its idle time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueAverage {
    pub(super) average: Average,
    /// The start of the idle time, or the time up to which the average has decayed. It can be in the future
    /// while the last packet is being sent. The value is [`QueueAverage::NOT_IDLE`] if the law has declared
    /// the average not idle.
    pub(super) idle_since: Time,
}

impl QueueAverage {
    pub(super) const NOT_IDLE: Time = Time::from_picoseconds(u64::MAX);

    /// Updates the average for an arrival that finds `held` packets or bytes that the average counts.
    #[inline]
    pub(super) fn arrival(&mut self, now: Time, held: u64, averaging: &Averaging) {
        if held == 0 {
            self.arrival_when_idle(now, averaging);
        } else {
            self.average.sample(held, &averaging.smoothing);
        }
    }

    /// Updates the average for a departure after which `held` packets or bytes remain that the average
    /// counts.
    #[inline]
    pub(super) fn departure(&mut self, now: Time, held: u64, averaging: &Averaging) {
        if averaging.samples_departures {
            self.average.sample(held, &averaging.smoothing);
        }
        if held == 0 {
            self.idle_since = now;
        }
    }

    /// Updates the average for an arrival, like [`QueueAverage::arrival`], with the idle rules of a law.
    pub(super) fn arrival_by_law(&mut self, now: Time, held: u64, averaging: &Averaging) {
        let may_idle =
            held == 0 || matches!(averaging.idle.begins, IdleBegins::PrecedenceGone | IdleBegins::AllSent);
        if may_idle && self.idle_since <= now {
            self.idles_by_law(now, held, averaging);
        } else {
            self.average.sample(held, &averaging.smoothing);
        }
    }

    /// Updates the average for a departure, like [`QueueAverage::departure`], with the idle rules of a law.
    /// If the average becomes idle, its idle time starts at `idle_from`.
    pub(super) fn departure_by_law(&mut self, idle_from: Time, held: u64, averaging: &Averaging) {
        if held == 0 || averaging.idle.begins == IdleBegins::PrecedenceGone {
            self.idle_since = idle_from;
        }
    }

    /// Whether the law has declared the average not idle, even if the queue contains no packet that the
    /// average counts.
    pub(super) fn is_not_idle(&self) -> bool {
        self.idle_since == QueueAverage::NOT_IDLE
    }

    /// Applies the idle time of the paper, Floyd & Jacobson 1993, Figure 2, without a sample: `m ← (time −
    /// q_time) / s`, `avg ← (1 − w)^m avg`. In ns-2 `queue/red.cc`, `estimator`, the decay is `(1 − w)^(m +
    /// 1)`, which includes a sample of the empty queue.
    ///
    /// The idle time restarts at this arrival. If this packet is dropped, the next packet must not apply the
    /// same decay again.
    #[inline(never)]
    fn arrival_when_idle(&mut self, now: Time, averaging: &Averaging) {
        let idle = now.saturating_sub(self.idle_since);
        self.idle_since = now;
        self.average.decay(averaging.samples_in(idle) + averaging.idle_samples, &averaging.smoothing);
    }

    /// Applies the idle time, like [`QueueAverage::arrival_when_idle`], with the idle rules of a law.
    fn idles_by_law(&mut self, now: Time, held: u64, averaging: &Averaging) {
        let idle = now.saturating_sub(self.idle_since);
        match averaging.idle.ends {
            IdleEnds::EachArrival => self.idle_since = now,
            IdleEnds::FirstArrival => self.idle_since = QueueAverage::NOT_IDLE,
            IdleEnds::Accepted => {}
        }
        let smoothing = &averaging.smoothing;
        if let Some(table) = &averaging.table {
            self.average.level = table.decayed(self.average.level, idle);
        } else if held == 0 {
            self.average.decay(averaging.samples_in(idle) + averaging.idle_samples, smoothing);
        } else {
            self.average.decay(averaging.samples_in(idle), smoothing);
            self.average.sample(held, smoothing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::{IdleConfig, MredConfig};

    /// An average and its parameters.
    struct Moving(Averaging, QueueAverage);

    impl Moving {
        fn new(averaging: AveragingConfig, idle: IdleConfig, update: UpdateConfig) -> Moving {
            // With 1000 bytes at 8 Mb/s, the port sends one packet each millisecond.
            let mean_packet_size = ByteSize::from_bytes(1000);
            let config = MredConfig {
                averaging: Some(averaging),
                update: Some(update),
                idle: Some(idle),
                ..MredConfig::default()
            };
            let rules = config.rules().unwrap();
            let drain = Rate::from_bits_per_second(8_000_000);
            let averaging = Averaging::build(&rules, mean_packet_size, drain, Framing::Raw).unwrap();
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

    /// The tolerance: the step of an average and the precision of idle time.
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
        // After two packet times the average is 16 · 0.75². The arrival itself is not a sample.
        assert!((average.arrival(12, 0) - 9.0).abs() < STEP);
        // The packet that arrived at 12 was dropped. The next arrival decays the average by one more packet
        // time.
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
        // The average is 16, and the idle period lasts two packet times.
        assert!((average_after_idle_period(IdleConfig::Decay) - 16.0 * 0.75 * 0.75).abs() < STEP);
        assert!(
            (average_after_idle_period(IdleConfig::DecayAndSample) - 16.0 * 0.75 * 0.75 * 0.75).abs() < STEP
        );
        assert!((average_after_idle_period(IdleConfig::None) - 16.0 * 0.75).abs() < STEP);
    }

    #[test]
    fn departures_count_if_configured() {
        let half = AveragingConfig::Weight(0.5);
        let mut average = Moving::new(half, IdleConfig::Decay, UpdateConfig::ArrivalsAndDepartures);
        average.arrival(0, 8);
        assert_eq!(average.departure(0, 6), 5.0);
        assert_eq!(average.departure(0, 0), 2.5);
    }
}
