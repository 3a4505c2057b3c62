//! Classifiers: which class a packet belongs to (RFC 3290 §4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::packet::Packet;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::queue::QueueId;

/// A condition on one packet, as written in a policy.
// HELPER A replaces this with the real thing; the shape of the contract stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MatchConfig {}

/// A compiled condition.
#[derive(Clone, Debug)]
pub struct Match;

impl MatchConfig {
    /// Compiles the condition.
    ///
    /// # Errors
    /// Where the condition cannot hold or names something out of range.
    pub fn build(&self) -> Result<Match, ConfigError> {
        Ok(Match)
    }
}

impl Match {
    /// Whether the condition holds for `packet`.
    pub fn matches(&self, packet: &Packet) -> bool {
        let _ = packet;
        true
    }
}

/// Which queue of a port a packet belongs to.
#[derive(Clone, Debug)]
pub struct PortClassifier {
    classes: Vec<Class>,
}

#[derive(Clone, Debug)]
struct Class {
    matches: Option<Match>,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    Queue(QueueId),
    Classes(Vec<Class>),
}

impl PortClassifier {
    /// One queue that takes everything.
    pub fn single() -> PortClassifier {
        PortClassifier { classes: vec![Class { matches: None, target: Target::Queue(QueueId(0)) }] }
    }
    /// The classes of `config`; queues are its leaf classes, depth first.
    ///
    /// # Errors
    /// The first condition that cannot be built, a name that stands twice, a class with both a
    /// buffer and classes of its own, no class at all.
    pub fn build(config: &QueueingConfig) -> Result<PortClassifier, ConfigError> {
        let mut next = 0;
        Ok(PortClassifier { classes: build_classes(config, &mut next)? })
    }
    /// The queue of `packet`; `None` where no class takes it.
    pub fn classify(&self, packet: &Packet) -> Option<QueueId> {
        let mut classes = &self.classes;
        loop {
            let class =
                classes.iter().find(|class| class.matches.as_ref().is_none_or(|m| m.matches(packet)))?;
            match &class.target {
                Target::Queue(id) => return Some(*id),
                Target::Classes(inner) => classes = inner,
            }
        }
    }
}

fn build_classes(config: &QueueingConfig, next: &mut u16) -> Result<Vec<Class>, ConfigError> {
    let build = |(index, class): (usize, &ClassConfig)| {
        build_class(class, next).map_err(|error| error.within(index).within("classes"))
    };
    config.classes.iter().enumerate().map(build).collect()
}

fn build_class(config: &ClassConfig, next: &mut u16) -> Result<Class, ConfigError> {
    let matches =
        config.matches.as_ref().map(MatchConfig::build).transpose().map_err(|e| e.within("match"))?;
    let target = if let Some(inner) = &config.queueing {
        Target::Classes(build_classes(inner, next).map_err(|e| e.within("queueing"))?)
    } else {
        *next += 1;
        Target::Queue(QueueId(*next - 1))
    };
    Ok(Class { matches, target })
}
