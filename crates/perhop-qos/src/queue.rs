//! [`Queue`]: the waiting packets, and [`Occupancy`], the only place that counts them.

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

/// A queue of a [`Port`](crate::Port), numbered in the order of the policy's leaf classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

impl QueueId {
    /// The index into the port's queues.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The occupancy of a queue: packets and IP bytes, in total and by drop precedence.
///
/// A packet on the wire or in the transmit ring is not included.
// The order of the fields matters. With another order, the compiler adds the packet and its bytes in one
// vector operation, which takes three times as many instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Occupancy {
    /// Packets in total.
    pub packets: u64,
    /// Packets of each drop precedence.
    pub packets_of: [u64; Color::COUNT],
    /// IP bytes in total.
    pub bytes: u64,
    /// IP bytes of each drop precedence.
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
    /// The class of service of the packet's VLAN tag, 0 to 7; 0 without a tag.
    Cos,
    /// The position of the packet's codepoint in a list, from 0: `[[ef, af11], af12, [af13, default]]`. A
    /// codepoint that is not in the list counts as the last position.
    ByDscp(Vec<OneOrMany<Dscp>>),
}

impl PrecedenceSource {
    /// Checks that every codepoint has one drop precedence.
    ///
    /// # Errors
    /// A list is longer than the number of drop precedences, has an empty position, or has a codepoint twice.
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
                    .help("a codepoint has one drop precedence"));
            }
            seen.extend(codepoints);
        }
        Ok(())
    }
    /// The lookup table for the packet path.
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

/// A [`PrecedenceSource`] looked up in a table.
#[derive(Clone, Debug, Default)]
enum Precedences {
    #[default]
    Color,
    Cos,
    ByDscp(Box<[Color; 64]>),
}

impl Precedences {
    /// Returns the class of service as a drop precedence. The function is not inlined, because this would
    /// cost every port 4 instructions per packet.
    #[cold]
    fn by_cos(packet: &Packet) -> Color {
        Color::new(packet.cos().map_or(0, |cos| usize::from(cos.value())))
    }

    fn table(of: impl Fn(Dscp) -> usize) -> Precedences {
        let color = |value| Color::new(Dscp::new(value as u8).map_or(0, &of));
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

/// A packet in a cache line of its own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Slot(Packet);

/// The times at which packets joined, each at the place of its packet. The packet descriptor has no room for
/// this time.
#[derive(Clone, Debug, Default)]
struct Joined(Box<[Time]>);

impl Joined {
    /// Records that a packet has joined at `place` of its ring, whose front was at `first` before.
    #[inline]
    fn note(&mut self, place: usize, now: Time, first: usize) {
        match self.0.get_mut(place) {
            Some(joined) => *joined = now,
            None => self.grow(place, now, first),
        }
    }
    /// Grows together with the ring, for the packet at `place`.
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

/// The waiting packets, in order of arrival or by flow, and their count.
///
/// The first cache line has the fields that locate the packets. The counts follow.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    /// The packets in order of arrival; empty if there is an `order`.
    packets: GrowingRing<Slot>,
    /// An order other than the order of arrival. Most queues have none.
    order: Option<Box<Order>>,
    /// The times at which packets joined, if the buffer manager [reads sojourn
    /// times](crate::buffer::BufferManager::needs_sojourn_times).
    joined: Option<Box<Joined>>,
    precedences: Precedences,
    occupancy: Occupancy,
}

impl Queue {
    /// An empty FIFO queue with drop precedences by `precedence`.
    pub fn new(precedence: &PrecedenceSource) -> Queue {
        Queue { precedences: precedence.compiled(), ..Queue::default() }
    }
    /// An empty queue that serves `flows` fairly, with drop precedences by `precedence`.
    pub fn fair(precedence: &PrecedenceSource, flows: FlowQueues) -> Queue {
        Queue { order: Some(Box::new(Order::Fair(flows))), ..Queue::new(precedence) }
    }
    /// An empty FIFO queue that records when packets join, with drop precedences by `precedence`.
    pub fn timed(precedence: &PrecedenceSource) -> Queue {
        Queue { joined: Some(Box::default()), ..Queue::new(precedence) }
    }
    /// An empty queue that serves `flows` in turns, with drop precedences by `precedence`.
    pub fn sparse(precedence: &PrecedenceSource, flows: SparseFlows) -> Queue {
        Queue { order: Some(Box::new(Order::Sparse(flows))), ..Queue::new(precedence) }
    }
    /// A queue that counts the packets of a tin by `precedence`. The packets are stored elsewhere.
    pub(crate) fn tin(precedence: &PrecedenceSource) -> Queue {
        Queue { order: Some(Box::new(Order::Tin)), ..Queue::new(precedence) }
    }
    /// An empty queue that serves the two queues of `dual`, with drop precedences by `precedence`.
    pub fn dual(precedence: &PrecedenceSource, dual: DualQueue) -> Queue {
        Queue { order: Some(Box::new(Order::Dual(dual))), ..Queue::new(precedence) }
    }
    /// Sets the accounting of fair queueing.
    pub(crate) fn count(&mut self, accounting: Accounting) {
        if let Some(order) = &mut self.order {
            order.count(accounting);
        }
    }
    /// The occupancy.
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
    /// The packet that leaves next. With fair queueing, a packet that joins may precede it.
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
    /// Makes room for `packet`. A [`push`](Queue::push) must follow unless the packet is refused.
    #[inline]
    pub fn make_room(&mut self, packet: &Packet) -> Room {
        let Some(order) = &mut self.order else { return Room::Free };
        let room = order.make_room(packet);
        if let Room::Discarded(other) = room {
            self.occupancy.remove(self.precedences.precedence_of(&other), other.length);
        }
        room
    }
    /// Adds `packet` at the tail, as if it had arrived at the start of the run.
    pub fn push(&mut self, packet: Packet) {
        self.push_as(Time::ZERO, self.precedences.precedence_of(&packet), &packet);
    }
    /// Adds `packet`, whose drop precedence is `precedence`, at the tail.
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
    /// Counts a packet that is not stored, because its departure is
    /// [precomputed](crate::Port::precompute_departure).
    #[inline]
    pub(crate) fn count_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.add(precedence, length);
    }
    /// Removes a packet that [`count_pending`](Queue::count_pending) counted, because it has left.
    #[inline]
    pub(crate) fn forget_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.remove(precedence, length);
    }
    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = *self.head()?;
        self.take_head(self.precedences.precedence_of(&packet), packet.length);
        Some(packet)
    }
    /// Removes the packet at the head, which has drop precedence `precedence` and `length` IP bytes, without
    /// its sojourn time.
    #[inline]
    pub(crate) fn drop_head(&mut self, precedence: Color, length: u32) {
        debug_assert!(self.joined.is_none(), "take_head keeps the times in step");
        self.occupancy.remove(precedence, length);
        match &mut self.order {
            None => self.packets.drop_front(),
            Some(order) => drop(order.drop_head()),
        }
    }
    /// Removes the packet at the head, which has drop precedence `precedence` and `length` IP bytes.
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
    /// Refunds `flow` the cost of its head, a packet of `length` IP bytes that was dropped after it left the
    /// queue.
    pub(crate) fn refund(&mut self, flow: u16, length: u32) {
        if let Some(order) = &mut self.order {
            order.refund(flow, length);
        }
    }
    /// Whether the queue exceeds its limit and must discard packets.
    #[inline]
    pub(crate) fn exceeds_limit(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.exceeds_limit())
    }
    /// While the limit is exceeded, removes the next packet to discard. Returns it with its flow.
    #[inline(never)]
    pub(crate) fn discard_excess(&mut self) -> Option<(Packet, u16)> {
        let (packet, flow) = self.order.as_mut()?.discard_excess()?;
        self.occupancy.remove(self.precedences.precedence_of(&packet), packet.length);
        Some((packet, flow))
    }
    /// Whether a packet must join the queue even if it finds the queue empty and leaves at once.
    pub(crate) fn keeps_turns(&self) -> bool {
        matches!(self.order.as_deref(), Some(Order::Sparse(_) | Order::Tin))
    }
    /// The index of the flow queue in which `packet` waits, if flows take turns.
    pub fn flow_of(&self, packet: &Packet) -> Option<u16> {
        match self.order.as_deref() {
            Some(Order::Sparse(flows)) => Some(flows.flow_of(packet)),
            _ => None,
        }
    }
    /// The packets from head to tail; with fair queueing, by flow. Empty for a tin, which only counts them.
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
