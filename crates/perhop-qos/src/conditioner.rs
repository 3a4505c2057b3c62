//! [`TrafficConditioner`]: classifier → meter → actions, one after the other (RFC 3290 §8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Outcome, check, outcome, perform};
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
    name: String,
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
    /// Adds what `other` counted.
    pub fn merge(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl TrafficConditioner {
    /// The stages of `configs` in order, in a node whose interfaces are called `interfaces`, in the
    /// order of their numbers.
    ///
    /// # Errors
    /// The first stage that cannot be built, its index first in the error's path; a name that stands
    /// twice; a stage that no packet reaches.
    pub fn build(
        configs: &[ConditionerConfig],
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let mut stages: Vec<Stage> = Vec::with_capacity(configs.len());
        for (index, config) in configs.iter().enumerate() {
            let name = config.name.clone().unwrap_or_else(|| index.to_string());
            let stage = follows(&name, &stages)
                .and_then(|()| Stage::build(name, config, interfaces, streams))
                .map_err(|error| error.within(index))?;
            stages.push(stage);
        }
        Ok(TrafficConditioner { stages })
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
    /// Each stage by name, and what it has taken so far by the color it gave.
    pub fn counted(&self) -> impl Iterator<Item = (&str, &[Count; Color::COUNT])> {
        self.stages.iter().map(|stage| (stage.name.as_str(), &stage.counted))
    }
}

/// Whether a stage called `name` may come after `earlier`.
fn follows(name: &str, earlier: &[Stage]) -> Result<(), ConfigError> {
    if earlier.iter().any(|stage| stage.name == name) {
        return Err(ConfigError::new("name", format!("there is already a conditioner \"{name}\" here"))
            .help("conditioners of one interface have different names"));
    }
    match earlier.last() {
        Some(stage) if stage.is_last() => {
            Err(ConfigError::new("", "no packet reaches this conditioner").help(format!(
                "conditioner \"{}\" before it takes every packet and passes none on: add the action `continue` \
                 to it, or a `match`",
                stage.name
            )))
        }
        _ => Ok(()),
    }
}

impl Stage {
    fn build(
        name: String,
        config: &ConditionerConfig,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<Stage, ConfigError> {
        let matches = config.matches.as_ref().map(|matches| matches.build(interfaces));
        let matches = matches.transpose().map_err(|error| error.within("match"))?;
        let meter = config.meter.as_ref().map(|meter| meter.build(&streams.child(&name)));
        let meter = meter.transpose().map_err(|error| error.within("meter"))?;
        let of_color = [("green", &config.green), ("yellow", &config.yellow), ("red", &config.red)];
        for (key, actions) in of_color.into_iter().chain([("actions", &config.actions)]) {
            check(actions).map_err(|error| error.within(key))?;
        }
        let actions = std::array::from_fn(|index| {
            let (_, own) = of_color[index.min(of_color.len() - 1)];
            if own.is_empty() { config.actions.clone() } else { own.clone() }
        });
        Ok(Stage { name, matches, meter, actions, counted: Default::default() })
    }
    /// Whether no packet ever goes on from here to the next stage.
    fn is_last(&self) -> bool {
        self.matches.is_none() && self.actions.iter().all(|actions| outcome(actions) != Outcome::Continue)
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
