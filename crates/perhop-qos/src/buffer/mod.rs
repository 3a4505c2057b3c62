//! Buffer managers. They decide whether a packet may join a queue, and whether it may stay (RFC 7806 §2).
//!
//! A buffer manager contains no packets and does not count them. It reads the numbers of the queue from
//! [`Occupancy`].

mod codel;
mod contract;
mod dualpi2;
mod fill_profile;
mod fill_tables;
mod fq_codel;
mod fq_pie;
mod mred;
mod pie;
mod scalable;
mod shared_memory;
mod tail_drop;
mod weighted_tail_drop;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use codel::Codel;
pub use codel::config::{CeThresholdConfig, CeThresholdOf, CodelConfig, CodelLaw, EcnMarking};
pub use contract::BufferManager;
pub use dualpi2::DualPi2;
pub use dualpi2::config::{DualPi2Config, DualPi2Law, NativeMarking, RampConfig};
pub use fill_profile::{FillProfile, FillProfileConfig};
pub use fill_tables::FillStep;
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use fq_pie::{FqPie, FqPieConfig};
pub use mred::Mred;
pub use mred::config::MredConfig;
pub use mred::law::Law;
pub use mred::options::{
    AfterForcedConfig, Averages, AveragingConfig, DropSpacing, EcnConfig, IdleConfig, LimitCounts,
    ProbabilityConfig, SparedConfig, UpdateConfig,
};
pub use mred::thresholds::{
    AboveMaxConfig, ModelConfig, OverlappedConfig, PartiallyOverlappedConfig, PrecedenceConfig,
    StaggeredConfig, ThresholdConfig,
};
pub use pie::Pie;
pub use pie::config::{PieConfig, PieDelay, PieLaw, PieSpacing};
pub use scalable::{DepthRampConfig, ScalableConfig, ScalableMarking};
pub use shared_memory::config::{
    FallConfig, FallSlope, MemoryConfig, MemoryProfilesConfig, SharedMemoryConfig,
};
pub use shared_memory::{MemoryPools, MemoryQueue, PoolKey, PortMemory, UnitSize};
pub use tail_drop::{TailDrop, TailDropConfig};
pub use weighted_tail_drop::{WeightedTailDrop, WeightedTailDropConfig};

use crate::cake::CakeConfig;
use crate::framing::Framing;
use crate::queue::{DualQueue, Occupancy, Stay};
use crate::random::Streams;
use crate::{Color, ConfigError, Packet, QueueSize, Rate, Time, Verdict};

/// A buffer manager as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BufferConfig {
    /// Drops packets that exceed the limit of the queue.
    TailDrop(TailDropConfig),
    /// Drops packets that exceed the limit of their drop precedence.
    WeightedTailDrop(WeightedTailDropConfig),
    /// Drops packets with a probability that depends on the fill level of the queue, in steps.
    FillProfile(FillProfileConfig),
    /// Shares the packet memory of the port, `queueing.memory`, with the other queues.
    SharedMemory(SharedMemoryConfig),
    /// Random early detection with one drop precedence.
    Red(MredConfig),
    /// Weighted RED: several drop precedences and one average of the whole queue.
    Wred(MredConfig),
    /// RED with in and out, coupled: the average of a drop precedence also counts packets of lower drop
    /// precedences. `averages` selects `coupled` (the default) or `coupled-sampled`.
    RioC(MredConfig),
    /// RED with in and out, decoupled: the average of a drop precedence counts its own packets only.
    RioDc(MredConfig),
    /// RED with any averages and any number of drop precedences.
    Mred(MredConfig),
    /// Controlled delay (RFC 8289): drops at the head by waiting time.
    Codel(CodelConfig),
    /// One queue for each flow, with controlled delay in each (RFC 8290). Queues of sparse flows are served
    /// first.
    FqCodel(FqCodelConfig),
    /// PIE: a drop probability that keeps the queueing delay at a target.
    Pie(PieConfig),
    /// One queue for each flow, with PIE in each, as in `fq_pie` of Linux. Queues of sparse flows are served
    /// first.
    FqPie(FqPieConfig),
    /// `DualPI2`: a low-latency queue and a classic queue, with coupled probabilities (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2Config),
    /// CAKE: a shaper, tins that codepoints select, one queue for each flow, and `CoDel` with BLUE in each
    /// queue. The class must be the only class of its port.
    Cake(CakeConfig),
}

/// A buffer manager of any kind. It is stored by value and dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum AnyBuffer {
    /// See [`TailDrop`].
    TailDrop(TailDrop),
    /// See [`WeightedTailDrop`].
    WeightedTailDrop(WeightedTailDrop),
    /// See [`FillProfile`].
    FillProfile(FillProfile),
    /// See [`MemoryQueue`].
    SharedMemory(MemoryQueue),
    /// See [`Mred`].
    Mred(Mred),
    /// See [`Codel`].
    Codel(Codel),
    /// See [`FqCodel`].
    FqCodel(FqCodel),
    /// See [`Pie`]. Boxed, so that the enum stays small.
    Pie(Box<Pie>),
    /// See [`FqPie`].
    FqPie(Box<FqPie>),
    /// See [`DualPi2`].
    DualPi2(Box<DualPi2>),
}

const _: () = assert!(size_of::<AnyBuffer>() == 128, "two cache lines, of which few read the second");

impl Default for BufferConfig {
    fn default() -> BufferConfig {
        BufferConfig::TailDrop(TailDropConfig::default())
    }
}

impl BufferConfig {
    /// Returns the configuration of the RED family. Returns `None` for other buffer managers.
    pub fn mred(&self) -> Option<&MredConfig> {
        match self {
            BufferConfig::TailDrop(_)
            | BufferConfig::WeightedTailDrop(_)
            | BufferConfig::FillProfile(_)
            | BufferConfig::SharedMemory(_)
            | BufferConfig::Codel(_)
            | BufferConfig::FqCodel(_)
            | BufferConfig::Pie(_)
            | BufferConfig::FqPie(_)
            | BufferConfig::DualPi2(_)
            | BufferConfig::Cake(_) => None,
            BufferConfig::Red(config)
            | BufferConfig::Wred(config)
            | BufferConfig::RioC(config)
            | BufferConfig::RioDc(config)
            | BufferConfig::Mred(config) => Some(config),
        }
    }
    /// Whether the buffer manager can drop packets at the head of the queue.
    pub fn drops_at_the_head(&self) -> bool {
        match self {
            BufferConfig::Codel(_)
            | BufferConfig::FqCodel(_)
            | BufferConfig::DualPi2(_)
            | BufferConfig::Cake(_) => true,
            BufferConfig::TailDrop(_)
            | BufferConfig::WeightedTailDrop(_)
            | BufferConfig::FillProfile(_)
            | BufferConfig::SharedMemory(_)
            | BufferConfig::Red(_)
            | BufferConfig::Wred(_)
            | BufferConfig::RioC(_)
            | BufferConfig::RioDc(_)
            | BufferConfig::Mred(_)
            | BufferConfig::Pie(_)
            | BufferConfig::FqPie(_) => false,
        }
    }
    /// Builds the two queues of `DualPI2` for a link of this `framing`. Returns `None` for other buffer
    /// managers.
    ///
    /// # Errors
    /// The scheduler of the queues has no valid share.
    pub(crate) fn dual_queue(&self, framing: Framing) -> Result<Option<DualQueue>, ConfigError> {
        let BufferConfig::DualPi2(config) = self else { return Ok(None) };
        config.build_queue(framing).map(Some).map_err(|error| error.within("dualpi2"))
    }
    /// Builds the buffer manager of a queue that drains at most at `drain`, the rate of the port. The idle
    /// clock of RED uses this rate to convert time to packets.
    ///
    /// # Errors
    /// A threshold or a probability is out of range, or fields contradict each other.
    pub fn build(&self, drain: Rate, streams: &Streams) -> Result<AnyBuffer, ConfigError> {
        self.build_on(drain, Framing::Raw, streams)
    }
    /// Builds the buffer manager like [`build`](BufferConfig::build), for a link of this `framing`. Some laws
    /// also count the link's header.
    ///
    /// # Errors
    /// The errors are those of [`build`](BufferConfig::build).
    pub fn build_on(
        &self,
        drain: Rate,
        framing: Framing,
        streams: &Streams,
    ) -> Result<AnyBuffer, ConfigError> {
        let (name, allowed, config): (_, &[Averages], _) = match self {
            BufferConfig::TailDrop(config) => {
                return Ok(AnyBuffer::TailDrop(config.build().map_err(|e| e.within("tail-drop"))?));
            }
            BufferConfig::WeightedTailDrop(config) => {
                let built = config.build().map_err(|e| e.within("weighted-tail-drop"))?;
                return Ok(AnyBuffer::WeightedTailDrop(built));
            }
            BufferConfig::FillProfile(config) => {
                let built = config.build(streams).map_err(|e| e.within("fill-profile"))?;
                return Ok(AnyBuffer::FillProfile(built));
            }
            BufferConfig::Codel(config) => {
                return Ok(AnyBuffer::Codel(config.build(framing).map_err(|e| e.within("codel"))?));
            }
            BufferConfig::FqCodel(config) => {
                return Ok(AnyBuffer::FqCodel(config.build(framing).map_err(|e| e.within("fq-codel"))?));
            }
            BufferConfig::DualPi2(config) => {
                let built = config.build(drain, framing, streams).map_err(|e| e.within("dualpi2"))?;
                return Ok(AnyBuffer::DualPi2(Box::new(built)));
            }
            BufferConfig::Pie(config) => {
                let built = config.build_on(framing, streams).map_err(|e| e.within("pie"))?;
                return Ok(AnyBuffer::Pie(Box::new(built)));
            }
            BufferConfig::FqPie(config) => {
                let built = config.build(framing, streams).map_err(|e| e.within("fq-pie"))?;
                return Ok(AnyBuffer::FqPie(Box::new(built)));
            }
            // This arm only checks the settings. The port adds the queue to its memory later.
            BufferConfig::SharedMemory(config) => {
                config.check().map_err(|e| e.within("shared-memory"))?;
                return Ok(AnyBuffer::TailDrop(
                    TailDropConfig { limit: QueueSize::Packets(u64::MAX) }.build()?,
                ));
            }
            // This arm only checks the configuration. CAKE decides in the port, so the queue itself admits
            // every packet.
            BufferConfig::Cake(config) => {
                config.build(framing, streams).map_err(|e| e.within("cake"))?;
                return Ok(AnyBuffer::TailDrop(
                    TailDropConfig { limit: QueueSize::Packets(u64::MAX) }.build()?,
                ));
            }
            BufferConfig::Red(config) => ("red", &[Averages::Single], config),
            BufferConfig::Wred(config) => ("wred", &[Averages::Single], config),
            BufferConfig::RioC(config) => ("rio-c", &[Averages::Coupled, Averages::CoupledSampled], config),
            BufferConfig::RioDc(config) => ("rio-dc", &[Averages::Decoupled], config),
            BufferConfig::Mred(config) => ("mred", &[], config),
        };
        let named = config.named(allowed).and_then(|named| match self {
            BufferConfig::Red(_) => named.with_one_precedence(),
            _ => Ok(named),
        });
        let built = named.and_then(|named| named.build_on(drain, framing, streams));
        Ok(AnyBuffer::Mred(built.map_err(|error| error.within(name))?))
    }
}

impl AnyBuffer {
    /// Returns the averages of the queue in the unit of the thresholds (see [`Mred::averages`]), or an empty
    /// list if the buffer manager has no averages.
    pub fn averages(&self) -> Vec<f64> {
        match self {
            AnyBuffer::TailDrop(_)
            | AnyBuffer::WeightedTailDrop(_)
            | AnyBuffer::FillProfile(_)
            | AnyBuffer::SharedMemory(_)
            | AnyBuffer::Codel(_)
            | AnyBuffer::FqCodel(_)
            | AnyBuffer::Pie(_)
            | AnyBuffer::FqPie(_)
            | AnyBuffer::DualPi2(_) => Vec::new(),
            AnyBuffer::Mred(buffer) => buffer.averages(),
        }
    }
    /// Returns the average that would decide about a packet of `precedence` that arrives at `queue` (see
    /// [`Mred::deciding_average`]). Returns `None` if no average decides.
    pub fn deciding_average(&self, precedence: Color, queue: &Occupancy) -> Option<f64> {
        match self {
            AnyBuffer::TailDrop(_)
            | AnyBuffer::WeightedTailDrop(_)
            | AnyBuffer::FillProfile(_)
            | AnyBuffer::SharedMemory(_)
            | AnyBuffer::Codel(_)
            | AnyBuffer::FqCodel(_)
            | AnyBuffer::Pie(_)
            | AnyBuffer::FqPie(_)
            | AnyBuffer::DualPi2(_) => None,
            AnyBuffer::Mred(buffer) => Some(buffer.deciding_average(precedence, queue)),
        }
    }
}

/// Calls a method of the contract on the contained buffer manager.
macro_rules! dispatch {
    ($self:ident, $buffer:ident => $call:expr) => {
        match $self {
            AnyBuffer::TailDrop($buffer) => $call,
            AnyBuffer::WeightedTailDrop($buffer) => $call,
            AnyBuffer::FillProfile($buffer) => $call,
            AnyBuffer::SharedMemory($buffer) => $call,
            AnyBuffer::Mred($buffer) => $call,
            AnyBuffer::Codel($buffer) => $call,
            AnyBuffer::FqCodel($buffer) => $call,
            AnyBuffer::Pie($buffer) => $call,
            AnyBuffer::FqPie($buffer) => $call,
            AnyBuffer::DualPi2($buffer) => $call,
        }
    };
}

impl BufferManager for AnyBuffer {
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        dispatch!(self, buffer => buffer.admit(now, packet, precedence, queue))
    }
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn release(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        stay: Stay,
        queue: &Occupancy,
    ) -> Verdict {
        dispatch!(self, buffer => buffer.release(now, packet, precedence, stay, queue))
    }
    #[inline]
    fn departed(&mut self, now: Time, precedence: Color, length: u32, queue: &Occupancy) {
        dispatch!(self, buffer => buffer.departed(now, precedence, length, queue));
    }
    fn discarded_from_flow(&mut self, flow: u16) {
        dispatch!(self, buffer => buffer.discarded_from_flow(flow));
    }
    fn needs_sojourn_times(&self) -> bool {
        dispatch!(self, buffer => buffer.needs_sojourn_times())
    }
    fn decides_on_arrival(&self) -> bool {
        dispatch!(self, buffer => buffer.decides_on_arrival())
    }
    fn ignores_an_empty_queue(&self) -> bool {
        dispatch!(self, buffer => buffer.ignores_an_empty_queue())
    }
}
