//! [`Queue`]: a queue of packets. [`Occupancy`]: the number of its packets and bytes, the only place where
//! they are counted.

mod dual;
mod fair_queueing;
mod flow_hash;
mod growing_ring;
mod longest;
mod order;
mod sparse;
mod stay;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use dual::{CoupledQueues, CoupledScheduler, DualQueue, LowLatencyConfig, LowLatencyEcn};
pub(crate) use dual::{Kind, LowLatency};
pub use fair_queueing::{FairQueueingConfig, FlowIdentity, FlowQueues, FlowWeights, Room};
pub use flow_hash::FlowHash;
pub(crate) use flow_hash::FlowHasher;
pub use growing_ring::GrowingRing;
pub use sparse::SparseFlows;
pub(crate) use sparse::{Emptied, FlowChoice, SparseSettings};
pub use stay::{FlowStay, Stay};

use crate::accounting::Accounting;
use crate::classifier::OneOrMany;
use crate::{Color, ConfigError, Dscp, Packet, Time};
pub(crate) use order::Entrance;
use order::Order;

/// The number of a queue of a [`Port`](crate::Port). Queues are numbered in the order of the policy's leaf
/// classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

impl QueueId {
    /// The index into the port's queues.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The occupancy of a queue: packets and IP bytes, in total and for each drop precedence.
///
/// A packet on the wire or in the transmit ring is not included.
// The order of the fields matters. In another order, the compiler would add the packet and its bytes in one
// vector operation, which needs three times as many instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Occupancy {
    /// The number of packets.
    pub packets: u64,
    /// The number of packets of each drop precedence.
    pub packets_of: [u64; Color::COUNT],
    /// The number of IP bytes.
    pub bytes: u64,
    /// The number of IP bytes of each drop precedence.
    pub bytes_of: [u64; Color::COUNT],
}

impl Occupancy {
    #[inline]
    fn add(&mut self, precedence: Color, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
        self.packets_of[precedence.index()] += 1;
        self.bytes_of[precedence.index()] += u64::from(length);
    }
    #[inline]
    fn remove(&mut self, precedence: Color, length: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(length);
        self.packets_of[precedence.index()] -= 1;
        self.bytes_of[precedence.index()] -= u64::from(length);
    }
}

/// The source of a packet's drop precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceSource {
    /// The color from this node's meters, or the color of the packet's AF codepoint.
    #[default]
    Color,
    /// The drop precedence of the packet's AF codepoint, regardless of meters (RFC 2597).
    Dscp,
    /// The IP precedence, 0 to 7 (WRED in routers).
    IpPrecedence,
    /// The class of service of the packet's VLAN tag, 0 to 7. It is 0 for a packet without a tag.
    Cos,
    /// The position of the packet's codepoint in a list, beginning with 0: `[[ef, af11], af12, [af13,
    /// default]]`. A codepoint that is not in the list has the last position.
    ByDscp(Vec<OneOrMany<Dscp>>),
}

impl PrecedenceSource {
    /// Checks that each codepoint has only one drop precedence.
    ///
    /// # Errors
    /// The list is empty or longer than the number of drop precedences, has an empty position, or contains a
    /// codepoint twice.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let PrecedenceSource::ByDscp(lists) = self else { return Ok(()) };
        if lists.is_empty() || lists.len() > Color::COUNT {
            return Err(ConfigError::new(
                "by-dscp",
                format!("{} drop precedences are out of range", lists.len()),
            )
            .help(format!("1 to {}", Color::COUNT)));
        }
        let mut seen: Vec<Dscp> = Vec::new();
        for (index, OneOrMany(codepoints)) in lists.iter().enumerate() {
            if codepoints.is_empty() {
                return Err(ConfigError::new("by-dscp", format!("no codepoint of drop precedence {index}"))
                    .help("name at least one, or leave out the empty list"));
            }
            if let Some(dscp) = codepoints.iter().find(|dscp| seen.contains(dscp)) {
                return Err(ConfigError::new("by-dscp", format!("{dscp} appears twice"))
                    .help("write each codepoint in the list of only one drop precedence"));
            }
            seen.extend(codepoints);
        }
        Ok(())
    }
    /// Compiles the drop precedences for the packet path.
    fn compiled(&self) -> Precedences {
        match self {
            PrecedenceSource::Color => Precedences::Color,
            PrecedenceSource::Cos => Precedences::Cos,
            PrecedenceSource::Dscp => Precedences::table(|dscp| dscp.color().index()),
            PrecedenceSource::IpPrecedence => Precedences::table(|dscp| dscp.precedence().value().into()),
            PrecedenceSource::ByDscp(lists) => Precedences::table(|dscp| {
                let place = lists.iter().position(|OneOrMany(codepoints)| codepoints.contains(&dscp));
                place.unwrap_or(lists.len().saturating_sub(1))
            }),
        }
    }
}

/// A [`PrecedenceSource`], compiled for the packet path.
#[derive(Clone, Debug, Default)]
enum Precedences {
    #[default]
    Color,
    Cos,
    ByDscp(Box<[Color; 64]>),
}

impl Precedences {
    /// Returns the class of service as a drop precedence. The function is not inlined, because inlining would
    /// cost 4 instructions for each packet at every port.
    #[cold]
    fn by_cos(packet: &Packet) -> Color {
        Color::new(packet.cos().map_or(0, |cos| usize::from(cos.value())))
    }

    fn table(precedence_of: impl Fn(Dscp) -> usize) -> Precedences {
        let color = |value| Color::new(Dscp::new(value as u8).map_or(0, &precedence_of));
        Precedences::ByDscp(Box::new(std::array::from_fn(color)))
    }
    #[inline]
    fn precedence_of(&self, packet: &Packet) -> Color {
        match self {
            Precedences::Color => packet.color,
            Precedences::Cos => Precedences::by_cos(packet),
            Precedences::ByDscp(table) => table[usize::from(packet.dscp.value())],
        }
    }
}

/// A packet that is aligned to a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Slot(Packet);

/// The times at which packets have joined. Each time has the same index as its packet in the ring. The
/// descriptor of a packet has no room for this time.
#[derive(Clone, Debug, Default)]
struct Joined(Box<[Time]>);

impl Joined {
    /// Records that a packet has joined the ring at index `place`. `first` was the index of the front before
    /// the packet joined.
    #[inline]
    fn note(&mut self, place: usize, now: Time, first: usize) {
        match self.0.get_mut(place) {
            Some(joined) => *joined = now,
            None => self.grow(place, now, first),
        }
    }
    /// Grows together with the ring, and records the time of the packet at index `place`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, place: usize, now: Time, first: usize) {
        self.0.rotate_left(first);
        let mut times = std::mem::take(&mut self.0).into_vec();
        times.resize(GrowingRing::<Slot>::grown(times.len()), Time::ZERO);
        times[place] = now;
        self.0 = times.into_boxed_slice();
    }
}

/// The queued packets, in order of arrival or by flow, and their occupancy.
///
/// The first cache line has the fields that locate packets. The occupancy follows.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    /// The packets in order of arrival. Empty if there is an `order`.
    packets: GrowingRing<Slot>,
    /// An order other than the order of arrival. Most queues have none.
    order: Option<Box<Order>>,
    /// The times at which packets have joined, if the buffer manager [reads sojourn
    /// times](crate::buffer::BufferManager::needs_sojourn_times).
    joined: Option<Box<Joined>>,
    precedences: Precedences,
    occupancy: Occupancy,
}

impl Queue {
    /// Returns an empty FIFO queue whose drop precedences come from `precedence`.
    pub fn new(precedence: &PrecedenceSource) -> Queue {
        Queue { precedences: precedence.compiled(), ..Queue::default() }
    }
    /// Returns an empty queue with fair queueing of `flows`, whose drop precedences come from `precedence`.
    pub fn fair(precedence: &PrecedenceSource, flows: FlowQueues) -> Queue {
        Queue { order: Some(Box::new(Order::Fair(flows))), ..Queue::new(precedence) }
    }
    /// Returns an empty FIFO queue that records when packets join, and whose drop precedences come from
    /// `precedence`.
    pub fn timed(precedence: &PrecedenceSource) -> Queue {
        Queue { joined: Some(Box::default()), ..Queue::new(precedence) }
    }
    /// Returns an empty queue that serves `flows` in turns, and whose drop precedences come from
    /// `precedence`.
    pub fn sparse(precedence: &PrecedenceSource, flows: SparseFlows) -> Queue {
        Queue { order: Some(Box::new(Order::Sparse(flows))), ..Queue::new(precedence) }
    }
    /// Returns a queue that only counts the packets of a tin. The drop precedences come from `precedence`,
    /// and CAKE stores the packets.
    pub(crate) fn tin(precedence: &PrecedenceSource) -> Queue {
        Queue { order: Some(Box::new(Order::Tin)), ..Queue::new(precedence) }
    }
    /// Returns an empty queue that serves the two queues of `dual`, and whose drop precedences come from
    /// `precedence`.
    pub fn dual(precedence: &PrecedenceSource, dual: DualQueue) -> Queue {
        Queue { order: Some(Box::new(Order::Dual(dual))), ..Queue::new(precedence) }
    }
    /// Sets the accounting that fair queueing uses.
    pub(crate) fn count(&mut self, accounting: Accounting) {
        if let Some(order) = &mut self.order {
            order.count(accounting);
        }
    }
    /// The occupancy of the queue.
    #[inline]
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }
    /// Whether the queue is a FIFO, so that no packet joins before the head.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        self.order.is_none()
    }
    /// Whether the queue is a FIFO whose drop precedences are the colors.
    pub fn is_plain(&self) -> bool {
        self.is_fifo() && matches!(self.precedences, Precedences::Color)
    }
    /// The drop precedence of `packet` in this queue.
    #[inline]
    pub fn precedence_of(&self, packet: &Packet) -> Color {
        self.precedences.precedence_of(packet)
    }
    /// The packet that leaves next. With fair queueing, a packet that joins later can precede it.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        match &self.order {
            None => self.packets.front().map(|slot| &slot.0),
            Some(order) => order.head(),
        }
    }
    /// The step that the queue needs before or after a packet joins.
    #[inline]
    pub(crate) fn entrance(&self) -> Entrance {
        self.order.as_ref().map_or(Entrance::Open, |order| order.entrance())
    }
    /// Makes room for `packet`. If the packet is not refused, the caller must then call
    /// [`push`](Queue::push).
    #[inline]
    pub fn make_room(&mut self, packet: &Packet) -> Room {
        let Some(order) = &mut self.order else { return Room::Free };
        let room = order.make_room(packet);
        if let Room::Discarded(other) = room {
            self.occupancy.remove(self.precedences.precedence_of(&other), other.length);
        }
        room
    }
    /// Adds `packet` at the tail, with the start of the run as its time of arrival.
    pub fn push(&mut self, packet: Packet) {
        self.push_as(Time::ZERO, self.precedences.precedence_of(&packet), &packet);
    }
    /// Adds `packet`, which has drop precedence `precedence`, at the tail at `now`.
    #[inline]
    pub(crate) fn push_as(&mut self, now: Time, precedence: Color, packet: &Packet) {
        self.occupancy.add(precedence, packet.length);
        match &mut self.order {
            None => {
                let first = self.packets.first();
                let place = self.packets.push_back(Slot(*packet));
                if let Some(joined) = &mut self.joined {
                    joined.note(place, now, first);
                }
            }
            Some(order) => order.push(now, packet),
        }
    }
    /// Adds a packet to the occupancy without storing it, because its departure is
    /// [precomputed](crate::Port::precompute_departure).
    #[inline]
    pub(crate) fn count_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.add(precedence, length);
    }
    /// Removes a packet that [`count_pending`](Queue::count_pending) added to the occupancy.
    #[inline]
    pub(crate) fn forget_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.remove(precedence, length);
    }
    /// Removes and returns the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = *self.head()?;
        self.take_head(self.precedences.precedence_of(&packet), packet.length);
        Some(packet)
    }
    /// Removes the packet at the head, which has drop precedence `precedence` and `length` IP bytes. The time
    /// at which it joined is not returned.
    #[inline]
    pub(crate) fn drop_head(&mut self, precedence: Color, length: u32) {
        debug_assert!(self.joined.is_none(), "take_head keeps the times in step");
        self.occupancy.remove(precedence, length);
        match &mut self.order {
            None => self.packets.drop_front(),
            Some(order) => drop(order.drop_head()),
        }
    }
    /// Removes the packet at the head, which has drop precedence `precedence` and `length` IP bytes. Returns
    /// its stay.
    #[inline]
    pub(crate) fn take_head(&mut self, precedence: Color, length: u32) -> Stay {
        self.occupancy.remove(precedence, length);
        match &mut self.order {
            None => {
                let since = self.joined.as_ref().map_or(Time::ZERO, |joined| joined.0[self.packets.first()]);
                self.packets.drop_front();
                Stay { since, ..Stay::default() }
            }
            Some(order) => order.drop_head(),
        }
    }
    /// Refunds `flow` the cost of a packet of `length` IP bytes that was dropped after it had left the head
    /// of the flow.
    pub(crate) fn refund(&mut self, flow: u16, length: u32) {
        if let Some(order) = &mut self.order {
            order.refund(flow, length);
        }
    }
    /// Whether the queue exceeds its limit, so that packets must be discarded.
    #[inline]
    pub(crate) fn exceeds_limit(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.exceeds_limit())
    }
    /// Removes and returns the next packet to discard, with its flow, or `None` if the queue need not discard
    /// a packet.
    #[inline(never)]
    pub(crate) fn discard_excess(&mut self) -> Option<(Packet, u16)> {
        let (packet, flow) = self.order.as_mut()?.discard_excess()?;
        self.occupancy.remove(self.precedences.precedence_of(&packet), packet.length);
        Some((packet, flow))
    }
    /// Whether every packet must join the queue, even a packet that finds the queue empty and leaves at once.
    pub(crate) fn keeps_turns(&self) -> bool {
        matches!(self.order.as_deref(), Some(Order::Sparse(_) | Order::Tin))
    }
    /// Returns the index of the flow queue that `packet` joins, or `None` if flows do not take turns.
    pub fn flow_of(&self, packet: &Packet) -> Option<u16> {
        match self.order.as_deref() {
            Some(Order::Sparse(flows)) => Some(flows.flow_of(packet)),
            _ => None,
        }
    }
    /// The packets from head to tail, or flow by flow if flows have queues. A tin only counts packets, so it
    /// returns none.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|slot| &slot.0).chain(self.order.iter().flat_map(|order| order.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_precedences_by_codepoint() {
        let precedence = |source: &PrecedenceSource, name: &str| {
            let dscp = name.parse().unwrap();
            let packet = Packet { dscp, color: Color::new(5), ..Packet::default() };
            Queue::new(source).precedence_of(&packet).index()
        };
        let lists: PrecedenceSource =
            serde_json::from_str(r#"{"by-dscp": [["ef", "af11"], "af12", [14, "default"]]}"#).unwrap();
        lists.check().unwrap();
        let found = ["ef", "af11", "af12", "af13", "default", "cs6"].map(|name| precedence(&lists, name));
        assert_eq!(found, [0, 0, 1, 2, 2, 2]);
        assert_eq!(
            ["ef", "af13", "default"].map(|name| precedence(&PrecedenceSource::IpPrecedence, name)),
            [5, 1, 0]
        );
        assert_eq!(["ef", "af13", "af22"].map(|name| precedence(&PrecedenceSource::Dscp, name)), [0, 2, 1]);
        assert_eq!(precedence(&PrecedenceSource::Color, "af13"), 5);
        assert_eq!(precedence(&PrecedenceSource::Cos, "af13"), 0, "no tag");
        let mut tagged = Packet::default();
        tagged.set_cos("6".parse().unwrap());
        assert_eq!(Queue::new(&PrecedenceSource::Cos).precedence_of(&tagged).index(), 6);
    }

    #[test]
    fn a_codepoint_has_one_place() {
        for (lists, found) in [
            (r#"{"by-dscp": []}"#, "0 drop precedences"),
            (r#"{"by-dscp": ["ef", ["af11", 46]]}"#, "ef appears twice"),
            (r#"{"by-dscp": ["ef", []]}"#, "no codepoint of drop precedence 1"),
            (r#"{"by-dscp": [0, 1, 2, 3, 4, 5, 6, 7, 8]}"#, "9 drop precedences"),
        ] {
            let source: PrecedenceSource = serde_json::from_str(lists).unwrap();
            let error = source.check().unwrap_err();
            assert!(error.message.contains(found) && error.help.is_some(), "{error}");
        }
    }
}
