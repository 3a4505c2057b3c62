//! Fair queueing of the flows of one class: the flow-based weighted fair queueing of routers.
//!
//! Other components access the flows as one [`Queue`](super::Queue). Its head is the packet of all flows with
//! the lowest serial number, so any scheduler can serve the queue together with other classes.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_hash::flow_hash;
use crate::accounting::Accounting;
use crate::packet::IpPrecedence;
use crate::{ConfigError, FlowKey, Packet, QueueSize};

/// The result of [`Queue::make_room`](super::Queue::make_room): whether the queue admits one more packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The queue has room for a packet.
    Free,
    /// The queue refuses the new packet.
    Refused,
    /// The queue has room, because it has discarded this other packet.
    Discarded(Packet),
}

/// Fair queueing of flows as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct FairQueueingConfig {
    /// The number of flow queues, 1 to 4096. If all queues are used, a new flow shares the queue that its
    /// hash selects.
    pub queues: u16,
    /// The assignment of packets to queues.
    pub flows: FlowIdentity,
    /// The weights of flows.
    pub weights: FlowWeights,
    /// The limit of the queue of each flow, packets: the congestive discard threshold.
    pub flow_limit: QueueSize,
    /// The limit of all flow queues together, packets. When it is reached, the packet with the largest serial
    /// number is discarded. This can be the new packet.
    pub limit: QueueSize,
}

/// The assignment of packets to flow queues. The packets of a flow have equal addresses, protocol, ports and
/// IP precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowIdentity {
    /// Each flow has its own queue. Two flows share a queue only if no queue is free.
    #[default]
    Exact,
    /// A hash selects the queue of a flow. Flows can share a queue although other queues are empty, as in
    /// routers.
    Hashed,
}

/// The weights of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowWeights {
    /// The IP precedence plus one. A flow of precedence 5 has six times the share of a flow of precedence 0.
    #[default]
    ByPrecedence,
    /// All flows have the same weight.
    Equal,
}

impl Default for FairQueueingConfig {
    fn default() -> FairQueueingConfig {
        FairQueueingConfig {
            queues: 256,
            flows: FlowIdentity::default(),
            weights: FlowWeights::default(),
            flow_limit: QueueSize::Packets(64),
            limit: QueueSize::Packets(1000),
        }
    }
}

impl FairQueueingConfig {
    /// The number of packets that no flow queue reaches. A limit of at least this number has no effect.
    pub const NO_LIMIT: u64 = 1_000_000;

    /// Builds the flow queues.
    ///
    /// # Errors
    /// There is no queue or more than 4096 queues, or a limit is 0 or in bytes.
    pub fn build(&self) -> Result<FlowQueues, ConfigError> {
        if !(1..=4096).contains(&self.queues) {
            return Err(ConfigError::new("queues", format!("{} queues are out of range", self.queues))
                .help("1 to 4096"));
        }
        let count = usize::from(self.queues);
        Ok(FlowQueues {
            flows: vec![Flow::default(); count],
            heads: Vec::with_capacity(count),
            first: 0,
            chains: vec![NONE; count],
            free: (0..self.queues).rev().collect(),
            identity: self.flows,
            weights: self.weights,
            flow_limit: packets("flow-limit", self.flow_limit)?,
            limit: packets("limit", self.limit)?,
            held: 0,
            arrivals: 0,
            served: 0,
            accounting: Accounting::IP,
        })
    }
}

/// Returns the number of packets of `limit`.
fn packets(key: &str, limit: QueueSize) -> Result<usize, ConfigError> {
    match limit {
        QueueSize::Packets(packets @ 1..=1_000_000) => Ok(packets as usize),
        QueueSize::Packets(packets) => {
            Err(ConfigError::new(key, format!("a limit of {packets} packets is out of range"))
                .help("1 to 1000000 packets"))
        }
        QueueSize::Bytes(_) => Err(ConfigError::new(key, "the limit of fair queueing is in packets")
            .help("for example 64 packets; write a limit in bytes in `buffer`")),
    }
}

/// A serial number: the virtual finish time of a packet, in bytes times [`FlowQueues::weight`].
type Serial = u128;

/// The index that means "no flow".
const NONE: u16 = u16::MAX;

/// The queues of the flows of one class. Their number is fixed. The memory of a queue grows with its length.
#[derive(Clone, Debug)]
pub struct FlowQueues {
    flows: Vec<Flow>,
    /// The first packet of each flow that has packets.
    heads: Vec<Head>,
    /// The index of the head with the lowest serial number.
    first: usize,
    /// The first flow with each hash. [`Flow::next`] links the other flows with this hash. Only for `exact`.
    chains: Vec<u16>,
    /// The flows without packets. Only for `exact`.
    free: Vec<u16>,
    identity: FlowIdentity,
    weights: FlowWeights,
    flow_limit: usize,
    limit: usize,
    /// The number of packets of all flows.
    held: usize,
    /// The number of arrivals.
    arrivals: u64,
    /// The serial number of the packet that was served last.
    served: Serial,
    accounting: Accounting,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    key: (FlowKey, IpPrecedence),
    packets: VecDeque<Waiting>,
    /// The index of the flow's head in [`FlowQueues::heads`], while the flow has packets.
    head: usize,
    /// The next flow with the same hash.
    next: u16,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    serial: Serial,
    /// The number of the packet in the order of arrival. Among packets with equal serial numbers, the
    /// earliest one is served first and dropped last.
    arrival: u64,
    packet: Packet,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    serial: Serial,
    arrival: u64,
    flow: u16,
}

impl Waiting {
    fn order(&self) -> (Serial, u64) {
        (self.serial, self.arrival)
    }
}

impl FlowQueues {
    /// Sets the accounting that serial numbers use.
    pub(super) fn count(&mut self, accounting: Accounting) {
        self.accounting = accounting;
    }

    /// The packet that leaves next. It has the lowest serial number.
    #[inline(never)]
    pub(super) fn head(&self) -> Option<&Packet> {
        let head = self.heads.get(self.first)?;
        self.flows[usize::from(head.flow)].packets.front().map(|waiting| &waiting.packet)
    }

    /// Determines whether `packet` may join. If necessary, discards another packet for it.
    #[inline(never)]
    pub(super) fn make_room(&mut self, packet: &Packet) -> Room {
        let flow = self.find(packet);
        // Cisco, congestive discard threshold: a flow whose queue has reached the threshold admits no more
        // packets.
        if flow.is_some_and(|flow| self.flows[flow].packets.len() >= self.flow_limit) {
            return Room::Refused;
        }
        if self.held < self.limit {
            return Room::Free;
        }
        // Cisco, hold queue: if it is full, the packet with the largest serial number is dropped. This can be
        // the new packet.
        let serial = self.serial(flow, packet);
        let last = self.heads.iter().filter_map(|head| {
            let flow = usize::from(head.flow);
            self.flows[flow].packets.back().map(|waiting| (waiting.order(), flow))
        });
        match last.max() {
            Some(((largest, _), flow)) if largest > serial => self.discard_last(flow),
            _ => Room::Refused,
        }
    }

    /// Adds `packet` at the tail of its flow's queue.
    #[inline(never)]
    pub(super) fn push(&mut self, packet: Packet) {
        let found = self.find(&packet);
        let serial = self.serial(found, &packet);
        let flow = found.unwrap_or_else(|| self.occupy(&packet));
        let waiting = Waiting { serial, arrival: self.arrivals, packet };
        self.arrivals += 1;
        self.held += 1;
        self.flows[flow].packets.push_back(waiting);
        if self.flows[flow].packets.len() == 1 {
            self.flows[flow].head = self.heads.len();
            self.heads.push(Head { serial, arrival: waiting.arrival, flow: flow as u16 });
            let first = self.heads[self.first];
            if waiting.order() < (first.serial, first.arrival) {
                self.first = self.flows[flow].head;
            }
        }
    }

    /// Removes the packet with the lowest serial number.
    #[inline(never)]
    pub(super) fn drop_head(&mut self) {
        let Some(head) = self.heads.get(self.first) else { return };
        let flow = usize::from(head.flow);
        let Some(waiting) = self.flows[flow].packets.pop_front() else { return };
        self.served = waiting.serial;
        self.held -= 1;
        self.refresh(flow);
    }

    /// The packets of all flows, flow by flow.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.flows.iter().flat_map(|flow| flow.packets.iter().map(|waiting| &waiting.packet))
    }

    /// The serial number of `packet` as the next packet of `flow`.
    ///
    /// Cisco (12.0(5)T and later): serial number = max(serial number of the flow's previous packet, serial
    /// number of the last dequeued packet) + weight × length. If the flow has no packets, the serial number
    /// of the last dequeued packet is the larger one.
    fn serial(&self, flow: Option<usize>, packet: &Packet) -> Serial {
        let before =
            flow.and_then(|flow| self.flows[flow].packets.back()).map_or(0, |waiting| waiting.serial);
        before.max(self.served) + self.weight(packet) * Serial::from(self.accounting.counted(packet.length))
    }
    /// Returns the factor of the packet length in serial numbers: 32384 / (IP precedence + 1), as an integer
    /// (the Cisco source of the serial number).
    fn weight(&self, packet: &Packet) -> Serial {
        match self.weights {
            FlowWeights::ByPrecedence => 32384 / (Serial::from(packet.dscp.precedence().value()) + 1),
            FlowWeights::Equal => 1,
        }
    }

    /// Returns the queue that `packet` must join, or `None` if its flow gets a free queue.
    fn find(&self, packet: &Packet) -> Option<usize> {
        let key = (packet.flow_key(), packet.dscp.precedence());
        let place = self.place(key);
        if self.identity == FlowIdentity::Hashed {
            return Some(place);
        }
        let mut flow = self.chains[place];
        while flow != NONE && self.flows[usize::from(flow)].key != key {
            flow = self.flows[usize::from(flow)].next;
        }
        match flow {
            NONE if self.free.is_empty() => Some(place),
            NONE => None,
            found => Some(usize::from(found)),
        }
    }
    /// Assigns a free queue to the flow of `packet`.
    fn occupy(&mut self, packet: &Packet) -> usize {
        let key = (packet.flow_key(), packet.dscp.precedence());
        let place = self.place(key);
        // `find` ensures that a queue is free.
        let flow = self.free.pop().unwrap_or_default();
        let next = std::mem::replace(&mut self.chains[place], flow);
        let entry = &mut self.flows[usize::from(flow)];
        (entry.key, entry.next) = (key, next);
        usize::from(flow)
    }
    /// Returns the index of the queue that the hash of the flow selects.
    fn place(&self, (key, precedence): (FlowKey, IpPrecedence)) -> usize {
        (flow_hash(&key, precedence.value().into()) % self.flows.len() as u64) as usize
    }

    /// Discards the newest packet of `flow`.
    fn discard_last(&mut self, flow: usize) -> Room {
        let Some(waiting) = self.flows[flow].packets.pop_back() else { return Room::Refused };
        self.held -= 1;
        if self.flows[flow].packets.is_empty() {
            self.refresh(flow);
        }
        Room::Discarded(waiting.packet)
    }
    /// Updates the head of `flow` after its first packet has left the queue.
    fn refresh(&mut self, flow: usize) {
        let place = self.flows[flow].head;
        if let Some(waiting) = self.flows[flow].packets.front() {
            let Waiting { serial, arrival, .. } = *waiting;
            self.heads[place] = Head { serial, arrival, flow: flow as u16 };
        } else {
            self.heads.swap_remove(place);
            if let Some(moved) = self.heads.get(place) {
                self.flows[usize::from(moved.flow)].head = place;
            }
            self.vacate(flow);
        }
        let heads = self.heads.iter().enumerate();
        let first = heads.min_by_key(|(_, head)| (head.serial, head.arrival));
        self.first = first.map_or(0, |(place, _)| place);
    }
    /// Frees the queue of `flow`, which has no more packets.
    fn vacate(&mut self, flow: usize) {
        if self.identity == FlowIdentity::Hashed {
            return;
        }
        let (place, next) = (self.place(self.flows[flow].key), self.flows[flow].next);
        let mut before = self.chains[place];
        if usize::from(before) == flow {
            self.chains[place] = next;
        } else {
            while usize::from(self.flows[usize::from(before)].next) != flow {
                before = self.flows[usize::from(before)].next;
            }
            self.flows[usize::from(before)].next = next;
        }
        self.free.push(flow as u16);
    }
}
