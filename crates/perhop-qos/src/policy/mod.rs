//! [`PolicyConfig`]: the vendor-neutral configuration of one interface. Conditioners and ports are built only
//! from it.
//!
//! These types in YAML are the policy language of perhop. The front ends for routers and Linux also produce
//! them.

mod build_port;
mod pause;
mod pause_checks;

pub use pause::{PauseBuffer, PauseConfig, PauseMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounting::Accounting;
use crate::buffer::{BufferConfig, MemoryConfig};
use crate::cake::CakeConfig;
use crate::classifier::MatchConfig;
use crate::conditioner::{ConditionerConfig, TrafficConditioner};
use crate::framing::{Framing, HeaderStack};
use crate::policer::PoliceConfig;
use crate::queue::{FairQueueingConfig, PrecedenceSource};
use crate::random::Streams;
use crate::ring::RingConfig;
use crate::scheduler::{LinkSharingConfig, SchedulerConfig, ShapeConfig, ShareConfig};
use crate::{ConfigError, QueueSize, Rate};

/// The treatment of packets that arrive or leave on one interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyConfig {
    /// The conditioners for metering, marking and policing, in order. A packet that matches a conditioner
    /// without `continue` does not reach later conditioners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditioners: Vec<ConditionerConfig>,
    /// The queues and their scheduler, for an interface that sends. Default: one FIFO with tail drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing: Option<QueueingConfig>,
    /// The bytes that meters, class policers, shapers and schedulers count for each packet in addition to its
    /// IP bytes, -64 to 255: 14 for an Ethernet header, 18 with an 802.1Q tag. Results always count IP bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overhead: i32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_zero(overhead: &i32) -> bool {
    *overhead == 0
}

/// Classes and the scheduler that serves them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QueueingConfig {
    /// The scheduler.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// The link-sharing options of an outermost `cbq`. Default: the formal guideline and weighted round
    /// robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_sharing: Option<LinkSharingConfig>,
    /// The divisor for default quanta of an outermost `htb`: the quantum of a class is its rate in bytes per
    /// second divided by this number. Default: 10. This is `r2q` of Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_to_quantum: Option<u32>,
    /// The common limit of all queues, including those of inner classes. A packet that exceeds it is dropped.
    /// Default: each queue has only its own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// The packet memory that the `shared-memory` queues of an outermost scheduler use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryConfig>,
    /// The classes. A packet belongs to the first class that matches it. A class without `match` matches all
    /// packets that no earlier class matches.
    pub classes: Vec<ClassConfig>,
}

impl QueueingConfig {
    /// Returns the only class if its buffer is CAKE. In that case, CAKE handles the whole port.
    ///
    /// # Errors
    /// CAKE is one of several classes or inside a class, or another element also decides about packets.
    pub fn cake(&self) -> Result<Option<(&ClassConfig, &CakeConfig)>, ConfigError> {
        let is_cake = |class: &ClassConfig| matches!(class.buffer, Some(BufferConfig::Cake(_)));
        match self.classes.as_slice() {
            [class @ ClassConfig { buffer: Some(BufferConfig::Cake(config)), .. }] => {
                self.check_alone(class)?;
                Ok(Some((class, config)))
            }
            classes => match classes.iter().position(|class| class.has_property(is_cake)) {
                Some(index) => Err(ConfigError::new(
                    "buffer",
                    "CAKE replaces the queues, scheduler and shaper of a port",
                )
                .help("make its class the only one, and classify by `tins`")
                .within(index)
                .within("classes")),
                None => Ok(None),
            },
        }
    }
    /// Checks that no element except the CAKE of `class` decides about packets.
    fn check_alone(&self, class: &ClassConfig) -> Result<(), ConfigError> {
        let fields = [
            ("match", class.matches.is_some()),
            ("shape", class.shape.is_some()),
            ("police", class.police.is_some()),
            ("fair-queueing", class.fair_queueing.is_some()),
            ("pause", class.pause.is_some()),
            ("queueing", class.queueing.is_some()),
        ];
        let excluded = |field: &str| {
            ConfigError::new(field, "CAKE must be alone at a port")
                .help("leave it out: `bandwidth` shapes and `tins` classifies")
        };
        if let Some((field, _)) = fields.into_iter().find(|(_, is_set)| *is_set) {
            return Err(excluded(field).within(0).within("classes"));
        }
        if self.limit.is_some() {
            return Err(excluded("limit").help("leave it out: CAKE has a `memory-limit`"));
        }
        if self.memory.is_some() {
            return Err(excluded("memory").help("leave it out: CAKE has a `memory-limit`"));
        }
        if self.scheduler != SchedulerConfig::default() {
            return Err(excluded("scheduler").help("leave it out: CAKE schedules its tins and flows"));
        }
        Ok(())
    }
    /// The names of the queues in results. A name consists of the names of the classes from the outermost one
    /// inward, and of the tin if CAKE has several tins, joined by `/`.
    pub fn queue_names(&self) -> Vec<String> {
        let name_of = |class: &ClassConfig| match &class.queueing {
            Some(inner) => {
                inner.queue_names().into_iter().map(|name| format!("{}/{name}", class.name)).collect()
            }
            None => match &class.buffer {
                Some(BufferConfig::Cake(config)) => config.queue_names(&class.name),
                _ => vec![class.name.clone()],
            },
        };
        self.classes.iter().flat_map(name_of).collect()
    }
}

/// Returns the names of a port's queues in results. Without `queueing`, the only name is `fifo`.
pub fn queue_names(queueing: Option<&QueueingConfig>) -> Vec<String> {
    queueing.map_or_else(|| vec!["fifo".to_owned()], QueueingConfig::queue_names)
}

/// One class of a port: it has a queue, or a scheduler with inner classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassConfig {
    /// The name in results and in random streams.
    pub name: String,
    /// The packets of the class. Default: all packets that no earlier class matches.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// The share of the class in the scheduler above it.
    #[serde(default)]
    pub share: ShareConfig,
    /// The rate that the class must not exceed. Excess packets are delayed, even if the wire is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeConfig>,
    /// The rate that the class must not exceed. Excess packets are dropped before they join the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub police: Option<PoliceConfig>,
    /// The buffer manager. Default: tail drop at 64 packets, or, with `fair-queueing`, only the limits of
    /// fair queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferConfig>,
    /// Fair queueing of the flows of the queue, instead of the order of arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_queueing: Option<FairQueueingConfig>,
    /// The source of the drop precedences in the queue.
    #[serde(default)]
    pub precedence: PrecedenceSource,
    /// Priority flow control. A class with `pause` must have a `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseConfig>,
    /// The inner classes and their scheduler. Such a class has no queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing: Option<QueueingConfig>,
}

impl ClassConfig {
    /// The inner classes, if the scheduler `above` handles them itself: `cbq` inside `cbq` is one scheduler
    /// with a tree of allotments, `hfsc` inside `hfsc` one with a tree of service curves, and `htb` inside
    /// `htb` one with a tree of rates. `guarantee-excess` inside itself is one scheduler, too.
    pub fn link_shared(&self, above: SchedulerConfig) -> Option<&QueueingConfig> {
        let shares = matches!(
            above,
            SchedulerConfig::Cbq
                | SchedulerConfig::Hfsc
                | SchedulerConfig::Htb
                | SchedulerConfig::GuaranteeExcess
        );
        self.queueing.as_ref().filter(|inner| shares && inner.scheduler == above)
    }
    /// The number of queues of the class in a port.
    pub fn queues(&self) -> usize {
        match (&self.queueing, &self.buffer) {
            (Some(inner), _) => inner.classes.iter().map(ClassConfig::queues).sum(),
            (None, Some(BufferConfig::Cake(config))) => config.queue_names("").len(),
            (None, _) => 1,
        }
    }
    /// Whether the class or an inner class has `property`.
    pub(crate) fn has_property(&self, property: fn(&ClassConfig) -> bool) -> bool {
        let mut inside = self.queueing.iter().flat_map(|queueing| &queueing.classes);
        property(self) || inside.any(|class| class.has_property(property))
    }
}

/// The hardware of a port: the wire and the transmit ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireConfig {
    /// The rate, bits per second of wire bytes.
    pub rate: Rate,
    /// The framing, which determines the bytes that the wire adds.
    pub framing: Framing,
    /// The headers between an IP packet and the framing.
    pub headers: HeaderStack,
    /// The FIFO between the scheduler and the wire.
    pub ring: RingConfig,
}

impl WireConfig {
    /// The wire bytes of a packet of `ip` IP bytes, or of its last fragment if the headers fragment the
    /// packet.
    pub fn last_bytes(&self, ip: u32) -> u64 {
        let Some(fragmentation) = self.headers.fragmentation() else { return self.bytes(ip.into()) };
        self.framing.wire_bytes(fragmentation.fragment_bytes(fragmentation.last(ip)))
    }
    /// The wire bytes of a packet of `ip` IP bytes that is not fragmented.
    pub fn bytes(&self, ip: u64) -> u64 {
        self.framing.wire_bytes(self.headers.bytes(ip))
    }
}

impl PolicyConfig {
    /// Builds the conditioners of an interface's input or output, for a node with the interfaces
    /// `interfaces`, listed in the order of their numbers.
    ///
    /// # Errors
    /// A conditioner cannot be built, or the overhead is out of range. If several conditioners cannot be
    /// built, the error is that of the first one.
    pub fn build_conditioner(
        &self,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let accounting = self.accounting()?;
        TrafficConditioner::build(&self.conditioners, interfaces, &streams.child("conditioners"))
            .map(|conditioner| conditioner.counting(accounting))
            .map_err(|e| e.within("conditioners"))
    }
    /// The accounting of this policy.
    fn accounting(&self) -> Result<Accounting, ConfigError> {
        Accounting::new(self.overhead).map_err(|error| error.within("overhead"))
    }
}
