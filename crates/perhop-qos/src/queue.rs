//! [`Queue`]: the packets that wait, and [`Occupancy`], the only place that counts them.

mod dual;
mod fair_queueing;
mod flow_hash;
mod growing_ring;
mod order;
mod sparse;
mod stay;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use dual::{CoupledQueues, CoupledScheduler, DualQueue, LowLatencyConfig, LowLatencyEcn};
pub(crate) use dual::{Kind, LowLatency};
pub use fair_queueing::{FairQueueingConfig, FlowIdentity, FlowQueues, FlowWeights, Room};
pub use flow_hash::FlowHash;
pub use growing_ring::GrowingRing;
pub use sparse::SparseFlows;
pub(crate) use sparse::{Emptied, FlowChoice, SparseSettings};
pub use stay::Stay;

use crate::accounting::Accounting;
use crate::classifier::OneOrMany;
use crate::{Color, ConfigError, Dscp, Packet, Time};
pub(crate) use order::Entrance;
use order::Order;

/// A queue of a [`Port`](crate::Port), numbered in the order of the policy's leaf classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

impl QueueId {
    /// As an index into the port's queues.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How full a queue is: packets and IP bytes, in all and by drop precedence.
///
/// A packet on the wire or in the transmit ring is no longer counted.
// In this order, or the compiler adds the packet and its bytes in one, which takes three times as many
// instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Occupancy {
    /// Packets in all.
    pub packets: u64,
    /// Packets of each drop precedence.
    pub packets_of: [u64; Color::COUNT],
    /// IP bytes in all.
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

/// What tells a queue the drop precedence of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceSource {
    /// The color that this node's meters gave it, or that its AF codepoint carries.
    #[default]
    Color,
    /// The drop precedence of its AF codepoint, whatever the meters said (RFC 2597).
    Dscp,
    /// Its IP precedence, 0 to 7 (as WRED in routers).
    IpPrecedence,
    /// The class of service of its VLAN tag, 0 to 7; 0 where it has none.
    Cos,
    /// Its codepoint's place in a list, from 0: `[[ef, af11], af12, [af13, default]]`. A codepoint that
    /// stands nowhere counts as the last.
    ByDscp(Vec<OneOrMany<Dscp>>),
}

impl PrecedenceSource {
    /// Whether every codepoint has one drop precedence.
    ///
    /// # Errors
    /// Where a list has more places than there are drop precedences, an empty one, or a codepoint twice.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let PrecedenceSource::ByDscp(lists) = self else { return Ok(()) };
        if lists.is_empty() || lists.len() > Color::COUNT {
            return Err(ConfigError::new("by-dscp", format!("{} drop precedences", lists.len()))
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
    /// As the packet path reads it.
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
    /// Apart, or every port would carry it where it asks each packet for its precedence: 4 instructions.
    #[cold]
    fn by_cos(packet: &Packet) -> Color {
        Color::new(packet.cos().map_or(0, |cos| usize::from(cos.value())))
    }

    fn table(of: impl Fn(Dscp) -> usize) -> Precedences {
        let color = |value| Color::new(Dscp::new(value as u8).map_or(0, &of));
        Precedences::ByDscp(Box::new(std::array::from_fn(color)))
    }
    #[inline]
    fn of(&self, packet: &Packet) -> Color {
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

/// When packets joined, each at the place of its packet: a descriptor has no room for that.
#[derive(Clone, Debug, Default)]
struct Joined(Box<[Time]>);

impl Joined {
    /// A packet has joined at `place` of its ring, whose front was at `first` before.
    #[inline]
    fn note(&mut self, place: usize, now: Time, first: usize) {
        match self.0.get_mut(place) {
            Some(joined) => *joined = now,
            None => self.grow(place, now, first),
        }
    }
    /// The ring has grown for the packet at `place`.
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

/// Packets, and their count: in order of arrival, or flow by flow.
///
/// What finds the packets stands in the first cache line, their count behind it.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    /// In order of arrival; empty where there is another `order`.
    packets: GrowingRing<Slot>,
    /// Whatever knows more of its packets than their order of arrival: most queues do not.
    order: Option<Box<Order>>,
    /// When those in order of arrival joined, where the buffer manager [asks for
    /// it](crate::buffer::BufferManager::asks_for_stays).
    joined: Option<Box<Joined>>,
    precedences: Precedences,
    occupancy: Occupancy,
}

impl Queue {
    /// An empty queue, first in, first out, that counts by `precedence`.
    pub fn new(precedence: &PrecedenceSource) -> Queue {
        Queue { precedences: precedence.compiled(), ..Queue::default() }
    }
    /// An empty queue that serves `flows` fairly and counts by `precedence`.
    pub fn fair(precedence: &PrecedenceSource, flows: FlowQueues) -> Queue {
        Queue { order: Some(Box::new(Order::Fair(flows))), ..Queue::new(precedence) }
    }
    /// An empty queue, first in, first out, that notes when packets join and counts by `precedence`.
    pub fn timed(precedence: &PrecedenceSource) -> Queue {
        Queue { joined: Some(Box::default()), ..Queue::new(precedence) }
    }
    /// An empty queue that serves `flows` in turns and counts by `precedence`.
    pub fn sparse(precedence: &PrecedenceSource, flows: SparseFlows) -> Queue {
        Queue { order: Some(Box::new(Order::Sparse(flows))), ..Queue::new(precedence) }
    }
    /// A queue that counts by `precedence` the packets of a tin, which are kept elsewhere.
    pub(crate) fn of_tin(precedence: &PrecedenceSource) -> Queue {
        Queue { order: Some(Box::new(Order::Tin)), ..Queue::new(precedence) }
    }
    /// An empty queue that serves the `dual` one and counts by `precedence`.
    pub fn dual(precedence: &PrecedenceSource, dual: DualQueue) -> Queue {
        Queue { order: Some(Box::new(Order::Dual(dual))), ..Queue::new(precedence) }
    }
    /// Serves flows by what `accounting` counts from now on.
    pub(crate) fn count(&mut self, accounting: Accounting) {
        if let Some(order) = &mut self.order {
            order.count(accounting);
        }
    }
    /// How full it is.
    #[inline]
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }
    /// Whether it serves first in, first out: what joins stands behind its head.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        self.order.is_none()
    }
    /// Whether it serves first in, first out, and colors are its drop precedences.
    pub fn is_plain(&self) -> bool {
        self.is_fifo() && matches!(self.precedences, Precedences::Color)
    }
    /// The drop precedence under which it counts `packet`.
    #[inline]
    pub fn precedence_of(&self, packet: &Packet) -> Color {
        self.precedences.of(packet)
    }
    /// The packet that leaves next. Where flows are served fairly, a packet that joins may come before it.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        match &self.order {
            None => self.packets.front().map(|slot| &slot.0),
            Some(order) => order.head(),
        }
    }
    /// What it asks of a packet that is to join.
    #[inline]
    pub(crate) fn entrance(&self) -> Entrance {
        self.order.as_ref().map_or(Entrance::Open, |order| order.entrance())
    }
    /// Makes room for `packet`, which a [`push`](Queue::push) is to follow unless it is refused.
    #[inline]
    pub fn make_room(&mut self, packet: &Packet) -> Room {
        let Some(order) = &mut self.order else { return Room::Free };
        let room = order.make_room(packet);
        if let Room::GivenUp(other) = room {
            self.occupancy.remove(self.precedences.of(&other), other.length);
        }
        room
    }
    /// Adds `packet` at the tail, which joins at the start of the run.
    pub fn push(&mut self, packet: Packet) {
        self.push_as(Time::ZERO, self.precedences.of(&packet), &packet);
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
    /// Counts a packet that it does not hold, because its departure is
    /// [precomputed](crate::Port::precompute_departure).
    #[inline]
    pub(crate) fn count_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.add(precedence, length);
    }
    /// Counts such a packet no longer: it has left.
    #[inline]
    pub(crate) fn forget_pending(&mut self, precedence: Color, length: u32) {
        self.occupancy.remove(precedence, length);
    }
    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = *self.head()?;
        self.take_head(self.precedences.of(&packet), packet.length);
        Some(packet)
    }
    /// Forgets the packet at the head, whose drop precedence is `precedence` and whose length is `length`, of
    /// a queue that nobody asks how long it has stayed.
    #[inline]
    pub(crate) fn drop_head(&mut self, precedence: Color, length: u32) {
        debug_assert!(self.joined.is_none(), "take_head keeps the times in step");
        self.occupancy.remove(precedence, length);
        match &mut self.order {
            None => self.packets.drop_front(),
            Some(order) => drop(order.drop_head()),
        }
    }
    /// Forgets the packet at the head, whose drop precedence is `precedence` and whose length is `length`.
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
    /// The head of `flow`, a packet of `length` IP bytes that had left it, was dropped: it has cost it
    /// nothing.
    pub(crate) fn refund(&mut self, flow: u16, length: u32) {
        if let Some(order) = &mut self.order {
            order.refund(flow, length);
        }
    }
    /// Whether it must give up packets, because it holds too many.
    #[inline]
    pub(crate) fn holds_too_many(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.holds_too_many())
    }
    /// Another packet that it gives up because it holds too many, and the flow of that.
    #[inline(never)]
    pub(crate) fn shed(&mut self) -> Option<(Packet, u16)> {
        let (packet, flow) = self.order.as_mut()?.shed()?;
        self.occupancy.remove(self.precedences.of(&packet), packet.length);
        Some((packet, flow))
    }
    /// Whether a packet that finds it empty and leaves at once must have joined it all the same.
    pub(crate) fn keeps_turns(&self) -> bool {
        matches!(self.order.as_deref(), Some(Order::Sparse(_) | Order::Tin))
    }
    /// The queue of its own in which `packet`'s flow waits, where flows take turns.
    pub fn flow_of(&self, packet: &Packet) -> Option<u16> {
        match self.order.as_deref() {
            Some(Order::Sparse(flows)) => Some(flows.flow_of(packet)),
            _ => None,
        }
    }
    /// The packets from head to tail; where flows are served fairly, flow by flow. None of a tin, which only
    /// counts them.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|slot| &slot.0).chain(self.order.iter().flat_map(|order| order.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_precedences_by_codepoint() {
        let of = |source: &PrecedenceSource, name: &str| {
            let dscp = name.parse().unwrap();
            let packet = Packet { dscp, color: Color::new(5), ..Packet::default() };
            Queue::new(source).precedence_of(&packet).index()
        };
        let lists: PrecedenceSource =
            serde_json::from_str(r#"{"by-dscp": [["ef", "af11"], "af12", [14, "default"]]}"#).unwrap();
        lists.check().unwrap();
        let found = ["ef", "af11", "af12", "af13", "default", "cs6"].map(|name| of(&lists, name));
        assert_eq!(found, [0, 0, 1, 2, 2, 2]);
        assert_eq!(
            ["ef", "af13", "default"].map(|name| of(&PrecedenceSource::IpPrecedence, name)),
            [5, 1, 0]
        );
        assert_eq!(["ef", "af13", "af22"].map(|name| of(&PrecedenceSource::Dscp, name)), [0, 2, 1]);
        assert_eq!(of(&PrecedenceSource::Color, "af13"), 5);
        assert_eq!(of(&PrecedenceSource::Cos, "af13"), 0, "no tag");
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
