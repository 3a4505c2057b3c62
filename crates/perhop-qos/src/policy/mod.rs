//! [`PolicyConfig`]: the vendor-neutral configuration of one interface, and the only way to build
//! conditioners and ports.
//!
//! perhop's own policy language is these types in YAML; the router front end produces them too.

mod build_port;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounting::Accounting;
use crate::buffer::BufferConfig;
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

/// What one interface does with the packets that enter or leave by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyConfig {
    /// Metering, marking and policing, in order; the first that does not say `continue` is the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditioners: Vec<ConditionerConfig>,
    /// The queues and their scheduler; only for an interface that sends. Without it, one FIFO with tail drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing: Option<QueueingConfig>,
    /// Bytes that meters, class policers, shapers and schedulers count for each packet beyond its IP bytes,
    /// -64 to 255: 14 for an Ethernet header, 18 with an 802.1Q tag. Results count IP bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overhead: i32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(overhead: &i32) -> bool {
    *overhead == 0
}

/// Classes and the scheduler that serves them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QueueingConfig {
    /// Who is served next.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// How it shares the wire, for an outermost `cbq`; without it, by the formal guideline and in weighted
    /// turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_sharing: Option<LinkSharingConfig>,
    /// For an outermost `htb`: a class without a quantum has what its rate sends in a second, divided by
    /// this; 10 without it. It is the `r2q` of Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_to_quantum: Option<u32>,
    /// What its queues hold at most together, those of inner classes included; a packet that finds them full
    /// is dropped. Without it, each queue has its own limit alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// A packet belongs to the first class that matches; a class without `match` takes all that is left.
    pub classes: Vec<ClassConfig>,
}

impl QueueingConfig {
    /// The one class, where CAKE is its buffer: all of the port is that then.
    ///
    /// # Errors
    /// Where CAKE stands among other classes or inside one, or something beside it would decide, too.
    pub fn cake(&self) -> Result<Option<(&ClassConfig, &CakeConfig)>, ConfigError> {
        let is_cake = |class: &ClassConfig| matches!(class.buffer, Some(BufferConfig::Cake(_)));
        match self.classes.as_slice() {
            [class @ ClassConfig { buffer: Some(BufferConfig::Cake(config)), .. }] => {
                self.check_alone(class)?;
                Ok(Some((class, config)))
            }
            classes => match classes.iter().position(|class| class.holds(is_cake)) {
                Some(index) => {
                    Err(ConfigError::new("buffer", "CAKE is queues, scheduler and shaper of a port")
                        .help("make its class the only one, and let `tins` tell packets apart")
                        .within(index)
                        .within("classes"))
                }
                None => Ok(None),
            },
        }
    }
    /// Whether nothing stands beside the CAKE of `class` that would decide, too.
    fn check_alone(&self, class: &ClassConfig) -> Result<(), ConfigError> {
        let fields = [
            ("match", class.matches.is_some()),
            ("shape", class.shape.is_some()),
            ("police", class.police.is_some()),
            ("fair-queueing", class.fair_queueing.is_some()),
            ("queueing", class.queueing.is_some()),
        ];
        let beside = |field: &str| {
            ConfigError::new(field, "CAKE decides about all packets of a port, and nothing beside it")
                .help("leave it out: `bandwidth` shapes, `tins` tells packets apart")
        };
        if let Some((field, _)) = fields.into_iter().find(|(_, is_set)| *is_set) {
            return Err(beside(field).within(0).within("classes"));
        }
        if self.limit.is_some() {
            return Err(beside("limit").help("leave it out: CAKE has a `memory-limit`"));
        }
        if self.scheduler != SchedulerConfig::default() {
            return Err(beside("scheduler").help("leave it out: tins and flows are CAKE's to schedule"));
        }
        Ok(())
    }
    /// The names of its queues in results: their classes' names from the outermost in, joined by `/`, and
    /// that of the tin where CAKE has several.
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

/// The names in results of the queues of a port with `queueing`: `fifo` where it has none.
pub fn queue_names(queueing: Option<&QueueingConfig>) -> Vec<String> {
    queueing.map_or_else(|| vec!["fifo".to_owned()], QueueingConfig::queue_names)
}

/// One class of a port: a queue, or a scheduler with classes of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassConfig {
    /// Name in results and in random streams.
    pub name: String,
    /// The packets it takes; without it, all that earlier classes left.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchConfig>,
    /// What it asks of the scheduler above it.
    #[serde(default)]
    pub share: ShareConfig,
    /// Holds its packets back to a rate, whether or not the wire is busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeConfig>,
    /// Drops what exceeds a rate before it joins the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub police: Option<PoliceConfig>,
    /// Who may join its queue; by default 64 packets with tail drop, or, with `fair-queueing`, whoever that
    /// takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferConfig>,
    /// Serves the flows of its queue fairly, in place of first come, first served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_queueing: Option<FairQueueingConfig>,
    /// What the queue's drop precedences are.
    #[serde(default)]
    pub precedence: PrecedenceSource,
    /// Classes inside this one, in place of a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing: Option<QueueingConfig>,
}

impl ClassConfig {
    /// The classes inside this one, where it stands under a scheduler `above` that looks at all of them
    /// itself: `cbq` inside `cbq` is one scheduler with a tree of allotments, `hfsc` inside `hfsc` one with a
    /// tree of service curves, `htb` inside `htb` one with a tree of rates.
    pub fn link_shared(&self, above: SchedulerConfig) -> Option<&QueueingConfig> {
        let shares = matches!(above, SchedulerConfig::Cbq | SchedulerConfig::Hfsc | SchedulerConfig::Htb);
        self.queueing.as_ref().filter(|inner| shares && inner.scheduler == above)
    }
    /// How many queues a port has for it.
    pub fn queues(&self) -> usize {
        match (&self.queueing, &self.buffer) {
            (Some(inner), _) => inner.classes.iter().map(ClassConfig::queues).sum(),
            (None, Some(BufferConfig::Cake(config))) => config.queue_names("").len(),
            (None, _) => 1,
        }
    }
    /// Whether `property` is one of it, or of a class inside it.
    pub(crate) fn holds(&self, property: fn(&ClassConfig) -> bool) -> bool {
        let mut inside = self.queueing.iter().flat_map(|queueing| &queueing.classes);
        property(self) || inside.any(|class| class.holds(property))
    }
}

/// The hardware under a port: what the wire and the ring before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireConfig {
    /// Bits per second, counted in wire bytes.
    pub rate: Rate,
    /// What surrounds an IP packet with its headers.
    pub framing: Framing,
    /// Headers between an IP packet and the framing.
    pub headers: HeaderStack,
    /// The FIFO between scheduler and wire.
    pub ring: RingConfig,
}

impl WireConfig {
    /// Wire bytes of a packet of `ip` IP bytes, or of its last fragment where the headers cut it.
    pub fn last_bytes(&self, ip: u32) -> u64 {
        let Some(fragmentation) = self.headers.fragmentation() else { return self.bytes(ip.into()) };
        self.framing.wire_bytes(fragmentation.fragment_bytes(fragmentation.last(ip)))
    }
    /// Wire bytes of a packet of `ip` IP bytes that is not cut.
    pub fn bytes(&self, ip: u64) -> u64 {
        self.framing.wire_bytes(self.headers.bytes(ip))
    }
}

impl PolicyConfig {
    /// The conditioners, for an interface's input or output side, in a node whose interfaces are
    /// called `interfaces`, in the order of their numbers.
    ///
    /// # Errors
    /// The first conditioner that cannot be built, or an overhead out of range.
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
    /// Which bytes it counts.
    fn accounting(&self) -> Result<Accounting, ConfigError> {
        Accounting::new(self.overhead).map_err(|error| error.within("overhead"))
    }
}
