//! [`PortClassifier`]: the assignment of packets to the queues of a port.

use std::sync::{Arc, LazyLock};

use crate::classifier::DscpSet;
use crate::classifier::Match;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::queue::{PrecedenceSource, QueueId};
use crate::{ConfigError, Dscp, Packet};

/// Assigns packets to the queues of a port.
#[derive(Clone, Debug)]
pub struct PortClassifier(Compiled);

#[derive(Clone, Debug)]
enum Compiled {
    /// The queue of each codepoint, or [`NONE`]. This variant requires that all conditions read only the DS
    /// field.
    ByDscp(Arc<[QueueId; 64]>),
    /// The classes in order. The first class that matches decides. If it has inner classes, the first inner
    /// class that matches decides, and so on.
    InOrder(Box<[Class]>),
}

/// The number that means no queue. It is above the number of every queue.
const NONE: QueueId = QueueId(u16::MAX);

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
    /// Creates the classifier of a port with one queue for all packets.
    pub fn single() -> PortClassifier {
        // Most ports have one queue and share this table.
        static SINGLE: LazyLock<Arc<[QueueId; 64]>> = LazyLock::new(|| Arc::new([QueueId(0); 64]));
        PortClassifier(Compiled::ByDscp(Arc::clone(&SINGLE)))
    }
    /// Creates the classifier of `config`. The queues are its leaf classes, numbered depth first.
    /// `interfaces` are the names of the node's interfaces, listed in the order of their numbers.
    ///
    /// # Errors
    /// A condition cannot be built, a name is used twice on one level, a class with inner classes has a key
    /// that applies only to queues, no packet reaches a class, or there is no class.
    pub fn build(config: &QueueingConfig, interfaces: &[String]) -> Result<PortClassifier, ConfigError> {
        let classes = Builder { interfaces, queues: 0 }.classes(config)?;
        if let Ok(Some((_, cake))) = config.cake() {
            return Ok(PortClassifier::by_dscp(std::array::from_fn(|value| {
                QueueId(Dscp::new(value as u8).map_or(0, |dscp| cake.tins.tin_of(dscp)) as u16)
            })));
        }
        if !classes.iter().all(Class::is_by_dscp) {
            return Ok(PortClassifier(Compiled::InOrder(classes.into_boxed_slice())));
        }
        let table = std::array::from_fn(|value| {
            let dscp = Dscp::new(value as u8);
            dscp.and_then(|dscp| first(&classes, &Packet { dscp, ..Packet::default() })).unwrap_or(NONE)
        });
        Ok(PortClassifier::by_dscp(table))
    }
    fn by_dscp(table: [QueueId; 64]) -> PortClassifier {
        PortClassifier(Compiled::ByDscp(Arc::new(table)))
    }
    /// Whether all packets belong to the first queue.
    pub fn is_single(&self) -> bool {
        matches!(&self.0, Compiled::ByDscp(table) if **table == [QueueId(0); 64])
    }
    /// Whether the condition of a class reads a mark of the link layer.
    pub(super) fn reads_link_marks(&self) -> bool {
        match &self.0 {
            Compiled::ByDscp(_) => false,
            Compiled::InOrder(classes) => classes.iter().any(Class::reads_link_marks),
        }
    }
    /// Returns the queue of `packet`, or `None` if no class matches.
    pub fn classify(&self, packet: &Packet) -> Option<QueueId> {
        let queue = self.queue_of(packet);
        (queue != NONE).then_some(queue)
    }
    /// The queue of `packet`. If no class matches, the result is [`NONE`].
    #[inline]
    pub(super) fn queue_of(&self, packet: &Packet) -> QueueId {
        match &self.0 {
            Compiled::ByDscp(table) => table[usize::from(packet.dscp.value())],
            Compiled::InOrder(classes) => first(classes, packet).unwrap_or(NONE),
        }
    }
}

/// Returns the queue of the first class that matches. If the class has inner classes, the first inner class
/// that matches decides, and so on.
fn first(mut classes: &[Class], packet: &Packet) -> Option<QueueId> {
    loop {
        let class = classes.iter().find(|class| class.matches.as_ref().is_none_or(|m| m.matches(packet)))?;
        match &class.target {
            Target::Queue(id) => return Some(*id),
            Target::Classes(inner) => classes = inner,
        }
    }
}

impl Class {
    fn is_by_dscp(&self) -> bool {
        let inner = match &self.target {
            Target::Queue(_) => true,
            Target::Classes(classes) => classes.iter().all(Class::is_by_dscp),
        };
        inner && self.matches.as_ref().is_none_or(|matches| matches.dscps().is_some())
    }
    fn reads_link_marks(&self) -> bool {
        let inner = match &self.target {
            Target::Queue(_) => false,
            Target::Classes(classes) => classes.iter().any(Class::reads_link_marks),
        };
        inner || self.matches.as_ref().is_some_and(Match::reads_link_marks)
    }
    fn takes_everything(&self) -> bool {
        self.matches.as_ref().is_none_or(|matches| matches.dscps() == Some(DscpSet::ALL))
    }
}

struct Builder<'a> {
    interfaces: &'a [String],
    /// The number of queues that have been built.
    queues: u16,
}

impl Builder<'_> {
    fn classes(&mut self, config: &QueueingConfig) -> Result<Vec<Class>, ConfigError> {
        if config.classes.is_empty() {
            return Err(ConfigError::new("classes", "there is no class")
                .help("a class without `match` matches every packet"));
        }
        let mut classes: Vec<Class> = Vec::with_capacity(config.classes.len());
        for (index, class) in config.classes.iter().enumerate() {
            let earlier = &config.classes[..index];
            let built = unique_name(class, earlier)
                .and_then(|()| reachable(class, earlier, classes.last()))
                .and_then(|()| self.class(class))
                .map_err(|error| error.within(index).within("classes"))?;
            classes.push(built);
        }
        Ok(classes)
    }

    fn class(&mut self, config: &ClassConfig) -> Result<Class, ConfigError> {
        let matches = config.matches.as_ref().map(|matches| matches.build(self.interfaces));
        let matches = matches.transpose().map_err(|error| error.within("match"))?;
        let target = if let Some(inner) = &config.queueing {
            leaf_only("buffer", config.buffer.is_some(), config)?;
            leaf_only("fair-queueing", config.fair_queueing.is_some(), config)?;
            leaf_only("police", config.police.is_some(), config)?;
            leaf_only("pause", config.pause.is_some(), config)?;
            leaf_only("precedence", config.precedence != PrecedenceSource::default(), config)?;
            Target::Classes(self.classes(inner).map_err(|error| error.within("queueing"))?)
        } else {
            self.queues += 1;
            Target::Queue(QueueId(self.queues - 1))
        };
        Ok(Class { matches, target })
    }
}

fn unique_name(class: &ClassConfig, earlier: &[ClassConfig]) -> Result<(), ConfigError> {
    if earlier.iter().any(|other| other.name == class.name) {
        return Err(ConfigError::new("name", format!("there is already a class `{}` here", class.name))
            .help("give each class of a scheduler a different name"));
    }
    Ok(())
}

/// Checks that packets can reach `class`. `last` is the class that was built last. If a class before `last`
/// matched all packets, the error has already been reported.
fn reachable(class: &ClassConfig, earlier: &[ClassConfig], last: Option<&Class>) -> Result<(), ConfigError> {
    match (earlier.last(), last) {
        (Some(before), Some(last)) if last.takes_everything() => {
            Err(ConfigError::new("", format!("no packet reaches class `{}`", class.name)).help(format!(
                "the earlier class `{0}` matches every packet: give `{0}` a `match`, or put it last",
                before.name
            )))
        }
        _ => Ok(()),
    }
}

/// Rejects `key`, which applies only to queues, in a class with inner classes.
fn leaf_only(key: &str, is_set: bool, class: &ClassConfig) -> Result<(), ConfigError> {
    if is_set {
        return Err(ConfigError::new(
            key,
            format!(
                "class `{}` contains other classes, so it has no queue of its own to which this key applies",
                class.name
            ),
        )
        .help(format!("write `{key}` in the classes inside it, or leave out `queueing`")));
    }
    Ok(())
}
