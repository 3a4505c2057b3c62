//! [`Leaves`]: the components that a port has for each queue.

use std::sync::Arc;

use super::gate::{Gate, SharedLimit};
use crate::buffer::{
    AnyBuffer, BufferConfig, BufferManager, MemoryPools, MemoryQueue, PortMemory, TailDropConfig,
};
use crate::cake::{Cake, CakeConfig};
use crate::policer::PoliceConfig;
use crate::policy::{ClassConfig, QueueingConfig, WireConfig};
use crate::queue::{FairQueueingConfig, Queue, SparseFlows};
use crate::random::Streams;
use crate::ring::RingConfig;
use crate::{ConfigError, QueueSize};

/// A tail drop that admits every packet, for queues that CAKE or fair queueing limits.
const UNLIMITED: TailDropConfig = TailDropConfig { limit: QueueSize::Packets(u64::MAX) };

/// The leaf classes of a policy, depth first. Queues are numbered in this order.
#[derive(Default)]
pub(super) struct Leaves {
    pub(super) queues: Vec<Queue>,
    pub(super) buffers: Vec<AnyBuffer>,
    /// The gate of each queue, up to the last queue that has one.
    pub(super) gates: Vec<Gate>,
    /// CAKE, if the port has it. It stores the packets of all queues.
    pub(super) cake: Option<Box<Cake>>,
    /// The memory of the port.
    memory: Option<Arc<PortMemory>>,
}

impl Leaves {
    /// Adds the tins of CAKE. `cake` is the class whose buffer manager is CAKE, with the configuration of
    /// CAKE. `None` adds no tins.
    pub(super) fn add_cake(
        &mut self,
        cake: Option<(&ClassConfig, &CakeConfig)>,
        wire: &WireConfig,
        streams: &Streams,
    ) -> Result<(), ConfigError> {
        let Some((class, config)) = cake else { return Ok(()) };
        let within = |error: ConfigError| error.within("cake").within("buffer").within(0).within("classes");
        if wire.headers.fragmentation().is_some() || !matches!(wire.ring, RingConfig::Packets(_)) {
            let message = "CAKE sends only whole packets, one at a time";
            return Err(within(
                ConfigError::new("", message)
                    .help("leave out the ring's `particles` and the fragments of the link"),
            ));
        }
        class.precedence.check().map_err(|error| error.within("precedence").within(0).within("classes"))?;
        let built =
            config.build(wire.framing, &streams.child(&class.name).child("buffer")).map_err(within)?;
        for _ in config.tins.names() {
            self.queues.push(Queue::tin(&class.precedence));
            self.buffers.push(AnyBuffer::TailDrop(UNLIMITED.build()?));
        }
        self.cake = Some(Box::new(built));
        Ok(())
    }

    /// Adds the leaves of the outermost scheduler `config` on `wire`. `pools` provides the memory of the
    /// port.
    pub(super) fn collect_all(
        &mut self,
        config: &QueueingConfig,
        wire: &WireConfig,
        streams: &Streams,
        pools: &mut MemoryPools,
    ) -> Result<(), ConfigError> {
        if let Some(config) = &config.memory {
            self.memory = Some(pools.port(config).map_err(|error| error.within("memory"))?);
        }
        self.collect(config, wire, streams)?;
        let draws = |buffer: &AnyBuffer| matches!(buffer, AnyBuffer::SharedMemory(_));
        if self.memory.is_some() && !self.buffers.iter().any(draws) {
            let message = "no class uses the memory of the port";
            return Err(ConfigError::new("memory", message)
                .help("give a class `buffer: {shared-memory: {}}`, or leave `memory` out"));
        }
        Ok(())
    }

    /// Adds the leaves of `config` on `wire`. The leaves of CAKE are [its tins](Leaves::add_cake).
    fn collect(
        &mut self,
        config: &QueueingConfig,
        wire: &WireConfig,
        streams: &Streams,
    ) -> Result<(), ConfigError> {
        if self.cake.is_some() {
            return Ok(());
        }
        let first = self.queues.len();
        config.check_pauses()?;
        for (index, class) in config.classes.iter().enumerate() {
            let streams = streams.child(&class.name);
            let built = if let Some(inner) = &class.queueing {
                inner_memory(inner)
                    .and_then(|()| self.collect(inner, wire, &streams))
                    .map_err(|error| error.within("queueing"))
            } else {
                self.add(class, wire, &streams)
            };
            built.map_err(|error| error.within(index).within("classes"))?;
        }
        if let Some(limit) = config.limit {
            let queues = (first, self.queues.len());
            let limit = SharedLimit::new(limit, queues)?;
            self.gates.resize_with(queues.1, Gate::default);
            self.gates[first..].iter_mut().for_each(|gate| gate.limits.push(limit));
        }
        Ok(())
    }
    /// Returns the memory of the next queue if `buffer` uses the memory of the port.
    fn part_of_memory(
        &self,
        buffer: &BufferConfig,
        streams: &Streams,
    ) -> Result<Option<MemoryQueue>, ConfigError> {
        let BufferConfig::SharedMemory(config) = buffer else { return Ok(None) };
        let Some(memory) = &self.memory else {
            let message = "the port has no memory for its queues";
            return Err(ConfigError::new("shared-memory", message)
                .help("add `memory: {unit-bytes: 256, shared: 3000}` to the outermost `queueing`"));
        };
        memory.queue(config, streams).map(Some).map_err(|error| error.within("shared-memory"))
    }
    /// Adds the leaf class `class`.
    pub(super) fn add(
        &mut self,
        class: &ClassConfig,
        wire: &WireConfig,
        streams: &Streams,
    ) -> Result<(), ConfigError> {
        if let Some(pause) = class.pause {
            pause.check(class)?;
            if wire.headers.fragmentation().is_some() {
                let message = "a link that fragments packets cannot pause them";
                return Err(
                    ConfigError::new("pause", message).help("leave out `pause` or the fragments of the link")
                );
            }
        }
        let buffer = match (&class.buffer, &class.fair_queueing) {
            (Some(buffer), _) => buffer.clone(),
            (None, None) => BufferConfig::default(),
            // Fair queueing has its own limits. It can drop another packet, whereas tail drop can only drop
            // the arriving packet.
            (None, Some(_)) => BufferConfig::TailDrop(UNLIMITED),
        };
        let part_of_memory = self.part_of_memory(&buffer, &streams.child("buffer"));
        let part_of_memory = part_of_memory.map_err(|error| error.within("buffer"))?;
        let sparse = sparse_flows(&buffer, wire, streams)?;
        let dual = buffer.dual_queue(wire.framing).map_err(|error| error.within("buffer"))?;
        let buffer = buffer
            .build_on(wire.rate, wire.framing, &streams.child("buffer"))
            .map_err(|error| error.within("buffer"))?;
        class.precedence.check().map_err(|error| error.within("precedence"))?;
        let flows = class.fair_queueing.as_ref().map(FairQueueingConfig::build).transpose();
        let queue = match flows.map_err(|error| error.within("fair-queueing"))? {
            Some(_) if needs_departure_order(&buffer) => {
                return Err(with_fair_queueing(
                    class,
                    "has a buffer that needs waiting times, which fair-queueing does not record",
                ));
            }
            Some(_) if part_of_memory.is_some() => {
                return Err(with_fair_queueing(
                    class,
                    "has a buffer in shared memory, and fair-queueing does not return memory to it",
                ));
            }
            Some(flows) => Queue::fair(&class.precedence, flows),
            None => match (sparse, dual) {
                (Some(flows), _) => Queue::sparse(&class.precedence, flows),
                (None, Some(dual)) => Queue::dual(&class.precedence, dual),
                (None, None) if buffer.needs_sojourn_times() => Queue::timed(&class.precedence),
                (None, None) => Queue::new(&class.precedence),
            },
        };
        let policer = class.police.as_ref().map(PoliceConfig::build).transpose();
        let policer = policer.map_err(|error| error.within("police"))?;
        if policer.is_some() {
            self.gates.resize_with(self.queues.len(), Gate::default);
            self.gates.push(Gate { policer, limits: Vec::new() });
        }
        self.buffers.push(part_of_memory.map_or(buffer, AnyBuffer::SharedMemory));
        self.queues.push(queue);
        Ok(())
    }
}

/// Rejects the key `memory` in an inner scheduler.
fn inner_memory(inner: &QueueingConfig) -> Result<(), ConfigError> {
    if inner.memory.is_none() {
        return Ok(());
    }
    Err(ConfigError::new("memory", "only the outermost scheduler of a port has a memory")
        .help("move `memory` to the outermost `queueing`"))
}

/// Returns the queues of the flows if `buffer` is FQ-CoDel or FQ-PIE.
fn sparse_flows(
    buffer: &BufferConfig,
    wire: &WireConfig,
    streams: &Streams,
) -> Result<Option<SparseFlows>, ConfigError> {
    let streams = streams.child("buffer");
    let (name, settings) = match buffer {
        BufferConfig::FqCodel(config) => ("fq-codel", config.queues(wire.framing, &streams)),
        BufferConfig::FqPie(config) => ("fq-pie", config.queues(wire.framing, &streams)),
        _ => return Ok(None),
    };
    let settings = settings.map_err(|error| error.within(name).within("buffer"))?;
    Ok(Some(SparseFlows::new(settings)))
}

/// Whether the buffer manager must know the order in which packets leave.
fn needs_departure_order(buffer: &AnyBuffer) -> bool {
    buffer.needs_sojourn_times() || matches!(buffer, AnyBuffer::Pie(_) | AnyBuffer::DualPi2(_))
}

/// Returns the error for a buffer manager of `class` that cannot be combined with fair queueing because of
/// `reason`.
fn with_fair_queueing(class: &ClassConfig, reason: &str) -> ConfigError {
    ConfigError::new("fair-queueing", format!("class `{}` {reason}", class.name))
        .help("leave out `fair-queueing`, or use tail-drop or red as `buffer`")
}
