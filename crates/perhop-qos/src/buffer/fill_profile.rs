//! Fill profiles: a drop probability for each fill level of the queue, in steps, by drop precedence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::BufferManager;
use super::tail_drop::TailDrop;
use crate::queue::Occupancy;
use crate::random::{Stream, Streams};
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};

/// The configuration of fill profiles in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FillProfileConfig {
    /// The limit of the queue, of which fill levels are percentages. A full queue drops all packets.
    pub limit: QueueSize,
    /// The steps of each drop precedence, from 0, in ascending order of the fill level. Higher drop
    /// precedences than listed have the last profile.
    pub precedences: Vec<Vec<FillStep>>,
}

/// The drop probability from a fill level up to the fill level of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FillStep {
    /// The fill level, percent of the limit.
    pub fill: u8,
    /// The probability, percent.
    pub drop: u8,
}

impl FillProfileConfig {
    /// Builds the buffer manager.
    ///
    /// # Errors
    /// The limit is 0, there are no profiles or too many, or their steps are out of range or order.
    pub fn build(&self, streams: &Streams) -> Result<FillProfile, ConfigError> {
        let count = self.precedences.len();
        let Some(last) = self.precedences.last().filter(|_| count <= Color::COUNT) else {
            return Err(ConfigError::new("precedences", format!("{count} profiles are out of range"))
                .help(format!("1 to {}: one for each drop precedence", Color::COUNT)));
        };
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 64 packets"));
        }
        for (index, steps) in self.precedences.iter().enumerate() {
            let is_out = steps.iter().any(|step| step.fill > 100 || step.drop > 100);
            if is_out || steps.windows(2).any(|pair| pair[1].fill <= pair[0].fill) {
                let message = "fill levels and probabilities are percentages, and the levels ascend";
                return Err(ConfigError::new(&index.to_string(), message)
                    .within("precedences")
                    .help("for example [{fill: 50, drop: 10}, {fill: 80, drop: 100}]"));
            }
        }
        let percent_by_fill = |steps: &[FillStep]| {
            std::array::from_fn(|fill| {
                let reached = steps.iter().rev().find(|step| usize::from(step.fill) <= fill);
                reached.map_or(0, |step| step.drop)
            })
        };
        let tables =
            (0..Color::COUNT).map(|index| percent_by_fill(self.precedences.get(index).unwrap_or(last)));
        Ok(FillProfile { limit: self.limit, tables: tables.collect(), random: streams.stream() })
    }
}

/// Fill profiles.
///
/// Junos CoS User Guide, "RED Drop Profiles": the fill level and the loss priority of a packet give its drop
/// probability. The fill level does not include the packet.
#[derive(Clone, Debug)]
pub struct FillProfile {
    limit: QueueSize,
    /// The probability by fill level, percent, for each drop precedence.
    tables: Box<[[u8; 101]]>,
    random: Stream,
}

impl FillProfile {
    fn fill(&self, queue: &Occupancy) -> usize {
        let (used, limit) = match self.limit {
            QueueSize::Packets(packets) => (queue.packets, packets),
            QueueSize::Bytes(bytes) => (queue.bytes, bytes),
        };
        (u128::from(used) * 100 / u128::from(limit.max(1))).min(100) as usize
    }
}

impl BufferManager for FillProfile {
    fn admit(&mut self, _: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        if !TailDrop::fits(self.limit, packet, queue) {
            return Verdict::Drop(DropCause::QueueFull);
        }
        match self.tables[precedence.index()][self.fill(queue)] {
            0 => Verdict::Pass,
            100.. => Verdict::Drop(DropCause::EarlyForced),
            percent if self.random.uniform() * 100.0 < f64::from(percent) => {
                Verdict::Drop(DropCause::EarlyRandom)
            }
            _ => Verdict::Pass,
        }
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn ignores_an_empty_queue(&self) -> bool {
        // A limit in bytes can be less than one packet.
        matches!(self.limit, QueueSize::Packets(_)) && self.tables.iter().all(|table| table[0] == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(u8, u8)]) -> Vec<FillStep> {
        steps.iter().map(|(fill, drop)| FillStep { fill: *fill, drop: *drop }).collect()
    }

    fn build(precedences: Vec<Vec<FillStep>>) -> Result<FillProfile, ConfigError> {
        FillProfileConfig { limit: QueueSize::Packets(10), precedences }.build(&Streams::new(1, 0))
    }

    #[test]
    fn invalid_profiles_are_errors() {
        let found = [
            build(Vec::new()),
            build(vec![Vec::new(); Color::COUNT + 1]),
            build(vec![steps(&[(50, 10), (50, 20)])]),
            build(vec![steps(&[(0, 101)])]),
        ];
        assert!(found.into_iter().all(|found| found.unwrap_err().path[0] == "precedences"));
    }

    #[test]
    fn each_fill_level_has_the_probability_of_its_step() {
        let mut profile = build(vec![steps(&[(0, 5), (30, 40), (60, 100)])]).unwrap();
        let mut share = |packets: u64| {
            let queue = Occupancy { packets, ..Occupancy::default() };
            let packet = Packet { length: 100, ..Packet::default() };
            let drops = |profile: &mut FillProfile| {
                matches!(profile.admit(Time::ZERO, &packet, Color::GREEN, &queue), Verdict::Drop(_))
            };
            (0..20_000).filter(|_| drops(&mut profile)).count() as f64 / 20_000.0
        };
        for (packets, expected) in [(0, 0.05), (2, 0.05), (3, 0.4), (5, 0.4), (6, 1.0), (10, 1.0)] {
            assert!((share(packets) - expected).abs() < 0.02, "{packets} packets");
        }
    }
}
