//! Multi-level RED in floating point, as in Floyd and Jacobson 1993. At each event, the model checks again
//! which averages count the packet.

use perhop_qos::buffer::{AboveMaxConfig, Averages, DropSpacing, IdleConfig, MredConfig, UpdateConfig};
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Stream;
use perhop_qos::units::PICOSECONDS_PER_SECOND;
use perhop_qos::{Color, Packet, QueueSize, Rate, Time};

/// The averages of multi-level RED in floating point.
pub(crate) struct PlainAverages<'a> {
    config: &'a MredConfig,
    averages: Averages,
    drain: Rate,
    pub(crate) values: Vec<f64>,
    idle_since: Vec<Time>,
}

impl PlainAverages<'_> {
    /// Creates the averages of a queue that drains at `drain`.
    pub(crate) fn new(config: &MredConfig, averages: Averages, drain: Rate) -> PlainAverages<'_> {
        let count = if averages == Averages::Single { 1 } else { config.precedences.len() };
        let (values, idle_since) = (vec![0.0; count], vec![Time::ZERO; count]);
        PlainAverages { config, averages, drain, values, idle_since }
    }
    /// The index of the precedence whose thresholds apply to a packet of `color`.
    fn precedence(&self, color: Color) -> usize {
        color.index().min(self.config.precedences.len() - 1)
    }
    /// Whether average `index` counts packets of `color`.
    fn counts(&self, index: usize, color: Color) -> bool {
        let precedence = self.precedence(color);
        match self.averages {
            Averages::Single => true,
            Averages::Coupled => precedence <= index,
            Averages::CoupledSampled | Averages::Decoupled => precedence == index,
        }
    }
    /// Returns the indices of the averages that count `packet`.
    fn counting(&self, packet: &Packet) -> Vec<usize> {
        (0..self.values.len()).filter(|index| self.counts(*index, packet.color)).collect()
    }
    /// The packets or bytes in `queue` that average `index` counts.
    fn held(&self, index: usize, queue: &Occupancy) -> f64 {
        let by_precedence = match self.config.precedences[0].min {
            QueueSize::Packets(_) => queue.packets_of,
            QueueSize::Bytes(_) => queue.bytes_of,
        };
        let counted = (0..Color::COUNT).filter(|color| self.counts(index, Color::new(*color)));
        counted.map(|precedence| by_precedence[precedence]).sum::<u64>() as f64
    }
    /// The average that decides about a packet of `color` that finds `queue`.
    fn deciding(&self, color: Color, queue: &Occupancy) -> f64 {
        let own = self.precedence(color);
        match self.averages {
            Averages::Single => self.values[0],
            Averages::Coupled | Averages::Decoupled => self.values[own],
            // Linux sch_gred: the averages of lower precedences that are not idle are added.
            Averages::CoupledSampled => {
                let lower = (0..own).filter(|lower| self.held(*lower, queue) > 0.0);
                self.values[own] + lower.map(|lower| self.values[lower]).sum::<f64>()
            }
        }
    }
    fn sample(&mut self, index: usize, held: f64) {
        self.values[index] += self.config.weight().unwrap() * (held - self.values[index]);
    }
    pub(crate) fn arrival(&mut self, now: Time, packet: &Packet, queue: &Occupancy) {
        for index in self.counting(packet) {
            let held = self.held(index, queue);
            if held > 0.0 {
                self.sample(index, held);
                continue;
            }
            let silence = now.saturating_sub(self.idle_since[index]).as_picoseconds() as f64;
            // The order of operations matters, because whole numbers of packets must be equal in both
            // implementations.
            let mean = self.config.mean_packet_size.as_bytes() as f64;
            let packets_per_second = self.drain.as_bits_per_second() as f64 / (8.0 * mean);
            let gone_by = silence * (packets_per_second / PICOSECONDS_PER_SECOND as f64);
            let samples = match self.config.idle.unwrap_or_default() {
                IdleConfig::Decay => gone_by,
                IdleConfig::DecayAndSample => gone_by + 1.0,
                IdleConfig::DecayWholeAndSample => gone_by.floor() + 1.0,
                IdleConfig::None => 1.0,
            };
            self.values[index] *= (1.0 - self.config.weight().unwrap()).powf(samples);
            self.idle_since[index] = now;
        }
    }
    pub(crate) fn departure(&mut self, now: Time, packet: &Packet, queue: &Occupancy) {
        for index in self.counting(packet) {
            let held = self.held(index, queue);
            if self.config.update == Some(UpdateConfig::ArrivalsAndDepartures) {
                self.sample(index, held);
            }
            if held == 0.0 {
                self.idle_since[index] = now;
            }
        }
    }
}

/// The averages and decisions of multi-level RED, without sparing, marks, lengths and limits.
pub(crate) struct PlainRed<'a> {
    pub(crate) averages: PlainAverages<'a>,
    /// For each precedence, the packets kept since the last drop, or since the average rose above `min`.
    kept: Vec<f64>,
    /// For each precedence, 1 if a packet has been dropped since the average rose above `min`.
    dropped: Vec<f64>,
    /// For each precedence, the number R of [`DropSpacing::UniformPerDrop`], if it has been drawn.
    number: Vec<Option<f64>>,
    random: Stream,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Drawn,
    Forced,
}

/// The tolerance for equal averages. The averages of the crate have 31 binary digits, and those of this file
/// 53.
const AVERAGES: f64 = 1e-6;
const PROBABILITIES: f64 = 1e-5;
/// The smallest probability that is compared. The crate uses fractions of integers, so a smaller probability
/// can be 0 there, and no random number is drawn.
const LEAST_PART: f64 = 1e-8;

impl PlainRed<'_> {
    /// Creates the model. It draws random numbers from a copy of the stream of the buffer manager under test.
    pub(crate) fn new(config: &MredConfig, averages: Averages, drain: Rate, random: Stream) -> PlainRed<'_> {
        let count = config.precedences.len();
        let averages = PlainAverages::new(config, averages, drain);
        PlainRed {
            averages,
            kept: vec![0.0; count],
            dropped: vec![0.0; count],
            number: vec![None; count],
            random,
        }
    }

    /// The average that decides about `packet`, which finds `queue`.
    pub(crate) fn deciding(&self, packet: &Packet, queue: &Occupancy) -> f64 {
        self.averages.deciding(packet.color, queue)
    }

    /// Returns the fate of `packet`, which finds `queue`, or `None` if it depends on the last digits of an
    /// average. After a `None`, the two implementations cannot be compared.
    pub(crate) fn arrival(&mut self, now: Time, packet: &Packet, queue: &Occupancy) -> Option<Fate> {
        self.averages.arrival(now, packet, queue);
        let (index, average) =
            (self.averages.precedence(packet.color), self.averages.deciding(packet.color, queue));
        let config = self.averages.config;
        let thresholds = &config.precedences[index];
        let [min, max] = [thresholds.min, thresholds.max].map(|size| size.count() as f64);
        let near = |threshold: f64| (average - threshold).abs() < AVERAGES * threshold.max(1.0);
        if near(min) || near(max) || near(2.0 * max) {
            return None;
        }
        if average < min {
            (self.kept[index], self.number[index], self.dropped[index]) = (0.0, None, 0.0);
            return Some(Fate::Kept);
        }
        // Floyd and Jacobson 1993, figure 2. Above `max`, Floyd's "gentle" recommendation of 2000.
        let probability = if average < max {
            thresholds.max_probability * (average - min) / (max - min)
        } else if config.above_max == Some(AboveMaxConfig::Gentle) && average < 2.0 * max {
            thresholds.max_probability + (1.0 - thresholds.max_probability) * (average - max) / max
        } else {
            (self.kept[index], self.number[index], self.dropped[index]) = (0.0, None, 1.0);
            return Some(Fate::Forced);
        };
        if probability < LEAST_PART {
            return None;
        }
        let drops = self.draws(index, probability)?;
        self.kept[index] = if drops { 0.0 } else { self.kept[index] + 1.0 };
        if drops {
            self.dropped[index] = 1.0;
        }
        Some(if drops { Fate::Drawn } else { Fate::Kept })
    }

    /// Whether a packet is drawn at this probability with the configured drop spacing, or `None` if this
    /// depends on the last digits of the probability.
    fn draws(&mut self, index: usize, probability: f64) -> Option<bool> {
        let kept = self.kept[index];
        let random = &mut self.random;
        let mut uniform = || random.bits() as f64 / 2f64.powi(64);
        // The probability is a fraction. A packet is drawn if the denominator times a random number from 0 to
        // 1 is below the numerator.
        let denominator = match self.averages.config.spacing().unwrap() {
            // Section 7: p / (1 − n p), where n packets were not marked.
            DropSpacing::Uniform => 1.0 - kept * probability,
            // Figure 2, where count is incremented first: an earlier drop counts as a kept packet.
            DropSpacing::CountedFirst => 1.0 - (kept + self.dropped[index]) * probability,
            // Like `Uniform`, but dsRED of ns-2 has no guard.
            DropSpacing::Unguarded => {
                let denominator = 1.0 - (kept + self.dropped[index]) * probability;
                if denominator.abs() < PROBABILITIES {
                    return None;
                }
                if denominator < 0.0 {
                    return Some(false);
                }
                denominator
            }
            DropSpacing::Geometric => 1.0,
            // ns-2: 0 while (n + 1) p < 1, then p / (2 − (n + 1) p).
            DropSpacing::Wait => {
                let expected = (kept + 1.0) * probability;
                if (expected - 1.0).abs() < PROBABILITIES {
                    return None;
                }
                if expected < 1.0 {
                    return Some(false);
                }
                2.0 - expected
            }
            // Linux, red_action: (n + 1) p is compared with R, which is drawn when counting begins and at
            // each drop.
            DropSpacing::UniformPerDrop => {
                let number = *self.number[index].get_or_insert_with(&mut uniform);
                let expected = (kept + 1.0) * probability;
                if (expected - number).abs() < PROBABILITIES {
                    return None;
                }
                let drops = expected > number;
                if drops {
                    self.number[index] = Some(uniform());
                }
                return Some(drops);
            }
        };
        if (probability - denominator).abs() < PROBABILITIES {
            return None;
        }
        if probability > denominator {
            return Some(true);
        }
        let number = uniform() * denominator;
        ((number - probability).abs() >= PROBABILITIES).then_some(number < probability)
    }
}
