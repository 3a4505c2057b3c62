//! [`TrafficConditioner`]: classifier → meter → actions, one after the other (RFC 3290 §8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Outcome, perform};
use crate::classifier::{Match, MatchConfig};
use crate::error::ConfigError;
use crate::meter::{AnyMeter, Meter, MeterConfig};
use crate::packet::{Color, Packet};
use crate::random::Streams;
use crate::units::Time;
use crate::verdict::{DropCause, Verdict};

/// One stage of conditioning: the packets it takes, how they are metered, what is done per color.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConditionerConfig {
    /// Name in results and in random streams; by default its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The packets it takes; without it, all of them. The others go on to the next conditioner.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// Gives each packet its color; without it the packet keeps the one it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<MeterConfig>,
    /// Actions for packets that are green after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub green: Vec<Action>,
    /// Actions for packets that are yellow after metering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yellow: Vec<Action>,
    /// Actions for packets that are red after metering, and for every color beyond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<Action>,
    /// Actions for every color that has none of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
}

/// Everything that happens to a packet at one interface before it is routed or queued.
#[derive(Clone, Debug, Default)]
pub struct TrafficConditioner {
    stages: Vec<Stage>,
}

#[derive(Clone, Debug)]
struct Stage {
    matches: Option<Match>,
    meter: Option<AnyMeter>,
    actions: [Vec<Action>; Color::COUNT],
    /// Packets and IP bytes it took, by the color it gave them.
    counted: [Count; Color::COUNT],
}

/// Packets and IP bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// IP bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet of `length` IP bytes.
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
}

impl TrafficConditioner {
    /// The stages of `configs` in order.
    ///
    /// # Errors
    /// The first stage that cannot be built, its index first in the error's path.
    pub fn build(
        configs: &[ConditionerConfig],
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let build = |(index, config): (usize, &ConditionerConfig)| {
            let name = config.name.clone().unwrap_or_else(|| index.to_string());
            Stage::build(config, &streams.child(name)).map_err(|error| error.within(index))
        };
        Ok(TrafficConditioner { stages: configs.iter().enumerate().map(build).collect::<Result<_, _>>()? })
    }
    /// Whether it does anything at all.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }
    /// Meters and marks `packet`, which arrives at `now`.
    pub fn condition(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        for stage in &mut self.stages {
            match stage.condition(now, packet) {
                Outcome::Continue => {}
                Outcome::Transmit => return Verdict::Pass,
                Outcome::Drop => return Verdict::Drop(DropCause::Policed),
            }
        }
        Verdict::Pass
    }
    /// What each stage has taken so far, by the color it gave.
    pub fn counted(&self) -> impl Iterator<Item = &[Count; Color::COUNT]> {
        self.stages.iter().map(|stage| &stage.counted)
    }
}

impl Stage {
    fn build(config: &ConditionerConfig, streams: &Streams) -> Result<Stage, ConfigError> {
        let matches =
            config.matches.as_ref().map(MatchConfig::build).transpose().map_err(|e| e.within("match"))?;
        let meter = config
            .meter
            .as_ref()
            .map(|meter| meter.build(streams))
            .transpose()
            .map_err(|e| e.within("meter"))?;
        let actions = std::array::from_fn(|index| {
            let own = match index {
                0 => &config.green,
                1 => &config.yellow,
                _ => &config.red,
            };
            if own.is_empty() { config.actions.clone() } else { own.clone() }
        });
        Ok(Stage { matches, meter, actions, counted: Default::default() })
    }
    fn condition(&mut self, now: Time, packet: &mut Packet) -> Outcome {
        if self.matches.as_ref().is_some_and(|matches| !matches.matches(packet)) {
            return Outcome::Continue;
        }
        if let Some(meter) = &mut self.meter {
            packet.color = meter.measure(now, packet);
        }
        let color = packet.color.index();
        self.counted[color].add(packet.length);
        perform(&self.actions[color], packet)
    }
}
