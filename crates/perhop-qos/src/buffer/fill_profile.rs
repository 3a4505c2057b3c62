//! Fill profiles: a drop probability for each fill level of the queue, in steps, by drop precedence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::BufferManager;
use super::fill_tables::{self, FillStep, FillTables};
use super::mred::options::EcnConfig;
use super::tail_drop::TailDrop;
use crate::queue::Occupancy;
use crate::random::Streams;
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};

/// The configuration of fill profiles in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FillProfileConfig {
    /// The limit of the queue. Fill levels are percentages of it. A full queue drops all packets.
    pub limit: QueueSize,
    /// The steps of each drop precedence, beginning with precedence 0, in ascending order of the fill level.
    /// Precedences above the last listed one use its steps.
    pub precedences: Vec<Vec<FillStep>>,
    /// The treatment of ECN-capable packets that the profile selects. Default: they are dropped like other
    /// packets.
    #[serde(default, skip_serializing_if = "fill_tables::ignores_ecn")]
    pub ecn: EcnConfig,
}

impl FillProfileConfig {
    /// Builds the buffer manager.
    ///
    /// # Errors
    /// The limit is 0, there is no profile, there are too many profiles, or their steps are out of range or
    /// not in ascending order.
    pub fn build(&self, streams: &Streams) -> Result<FillProfile, ConfigError> {
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 64 packets"));
        }
        let tables = FillTables::new(&self.precedences, self.ecn, streams)?;
        Ok(FillProfile { limit: self.limit, tables })
    }
}

/// The buffer manager of a queue with fill profiles.
///
/// Junos CoS User Guide, "RED Drop Profiles": the fill level and the loss priority of a packet determine its
/// drop probability. The fill level does not include the arriving packet.
#[derive(Clone, Debug)]
pub struct FillProfile {
    limit: QueueSize,
    tables: FillTables,
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
        self.tables.judge(packet, precedence, self.fill(queue))
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn ignores_an_empty_queue(&self) -> bool {
        // A limit in bytes can be less than one packet, so that an empty queue drops a packet.
        matches!(self.limit, QueueSize::Packets(_)) && self.tables.spare_an_empty_queue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(u8, u8)]) -> Vec<FillStep> {
        steps.iter().map(|(fill, drop)| FillStep { fill: *fill, drop: *drop }).collect()
    }

    fn build(precedences: Vec<Vec<FillStep>>) -> Result<FillProfile, ConfigError> {
        let ecn = EcnConfig::Ignore;
        FillProfileConfig { limit: QueueSize::Packets(10), precedences, ecn }.build(&Streams::new(1, 0))
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
