//! [`SparseFlows`]: one queue for each flow. The flows take turns, and sparse flows are served first.

use super::flow_hash::{FlowHash, FlowHasher};
use super::longest::LongestFlow;
use super::stay::{FlowStay, Stay};
use crate::{Packet, Time};

/// The queues of flows, served by deficit round robin with two lists, as in RFC 8290 §4 (DRR++).
///
/// A flow whose queue was empty joins the new flows, which are served before the old flows. A flow that has
/// used up its quantum gets a new quantum and moves to the end of the old flows.
#[derive(Clone, Debug)]
pub struct SparseFlows {
    flows: Box<[Flow]>,
    longest: LongestFlow,
    choice: FlowChoice,
    /// The packets of all flows. Memory for the largest number of packets is allocated at the start.
    slots: Vec<Slot>,
    /// The first free slot. [`Slot::next`] links all free slots.
    free: u32,
    new: List,
    old: List,
    settings: SparseSettings,
    /// The number of packets of all flows.
    held: usize,
    /// The packets that are being discarded as one batch.
    batch: Option<Batch>,
}

/// The settings of [`SparseFlows`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseSettings {
    /// The number of queues. Flows whose hash selects the same queue share it.
    pub(crate) flows: u16,
    /// The counted bytes that a flow may send in one turn.
    pub(crate) quantum: u32,
    /// The bytes that are counted for a packet in addition to its IP bytes.
    pub(crate) header: u32,
    /// The limit of all queues together, packets.
    pub(crate) limit: u32,
    /// The largest number of packets that are discarded when the limit is exceeded.
    pub(crate) drop_batch: u32,
    /// The list to which a new flow moves when its queue is found empty.
    pub(crate) emptied: Emptied,
    /// The key of the flow hash.
    pub(crate) key: u64,
    pub(crate) flow_hash: FlowHash,
}

impl SparseSettings {
    /// Creates the function that selects the queue of a packet.
    pub(crate) fn choice(&self) -> FlowChoice {
        FlowChoice { flows: self.flows, hasher: FlowHasher::new(self.flow_hash, self.key) }
    }
}

/// Selects the queue that a packet joins.
#[derive(Clone, Debug)]
pub(crate) struct FlowChoice {
    flows: u16,
    hasher: FlowHasher,
}

impl FlowChoice {
    /// The queue of the packet's flow.
    #[inline]
    pub(crate) fn queue_index(&mut self, packet: &Packet) -> u16 {
        scaled(self.hasher.hash_packet(packet), self.flows)
    }
}

/// Returns the queue, from 0 to `flows` - 1, that `hash` selects.
fn scaled(hash: u64, flows: u16) -> u16 {
    (((hash >> 32) * u64::from(flows)) >> 32) as u16
}

/// The list to which a new flow moves when its queue is found empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    /// The flow moves to the end of the old flows (RFC 8290 §4.2).
    GoesBehind,
    /// The flow moves to the end of the old flows if there are any. Otherwise it is removed at once, as in
    /// Linux.
    GoesBehindOthers,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    first: u32,
    last: u32,
    /// The counted bytes of the packets in the queue.
    bytes: u64,
    /// The bytes that the flow may still send in this turn.
    deficit: i32,
    /// The next flow in its list.
    next: u16,
    /// The list that contains the flow.
    place: Place,
    /// Whether the queue was found empty after its last packet had left.
    was_idle: bool,
    /// Whether the last packet of the flow was dropped at the head. In this case, the flow does not count as
    /// idle.
    is_drained: bool,
}

impl Flow {
    #[inline]
    fn may_send(&self) -> bool {
        self.first != NO_SLOT && self.deficit > 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    NoList,
    New,
    Old,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    since: Time,
    next: u32,
}

/// An ordered list of flows, linked by [`Flow::next`].
#[derive(Clone, Copy, Debug)]
struct List {
    first: u16,
    last: u16,
}

/// A batch of packets of one flow that are discarded one after the other.
#[derive(Clone, Copy, Debug)]
struct Batch {
    flow: u16,
    packets: u32,
    bytes: u64,
}

/// The index that means no flow.
const NO_FLOW: u16 = u16::MAX;
/// The index that means "no slot".
const NO_SLOT: u32 = u32::MAX;

impl SparseFlows {
    pub(crate) fn new(settings: SparseSettings) -> SparseFlows {
        let flow = Flow {
            first: NO_SLOT,
            last: NO_SLOT,
            bytes: 0,
            deficit: 0,
            next: NO_FLOW,
            place: Place::NoList,
            was_idle: false,
            is_drained: false,
        };
        let empty = List { first: NO_FLOW, last: NO_FLOW };
        SparseFlows {
            flows: vec![flow; settings.flows.into()].into(),
            longest: LongestFlow::new(settings.flows),
            choice: settings.choice(),
            // The queues can exceed the limit by one packet, because a packet joins before another one is
            // discarded.
            slots: Vec::with_capacity(settings.limit as usize + 1),
            free: NO_SLOT,
            new: empty,
            old: empty,
            settings,
            held: 0,
            batch: None,
        }
    }

    /// The queue of the packet's flow.
    #[inline]
    pub(super) fn flow_of(&self, packet: &Packet) -> u16 {
        let SparseSettings { flow_hash, key, flows, .. } = self.settings;
        scaled(flow_hash.hash_packet(packet, key), flows)
    }

    /// Adds `packet` to the queue of its flow.
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        let index = self.choice.queue_index(packet);
        let slot = self.occupy(now, packet);
        let bytes = self.counted(packet.length);
        self.held += 1;
        let flow = &mut self.flows[usize::from(index)];
        flow.bytes += u64::from(bytes);
        self.longest.grew(index, flow.bytes);
        match std::mem::replace(&mut flow.last, slot) {
            NO_SLOT => flow.first = slot,
            before => self.slots[before as usize].next = slot,
        }
        if flow.place == Place::NoList {
            // RFC 8290 §4.1: a queue that is not active joins the new flows with a full quantum.
            flow.deficit = self.settings.quantum.cast_signed();
            self.append(index, Place::New);
        }
    }

    /// The packet that leaves next.
    pub(super) fn head(&self) -> Option<&Packet> {
        let flow = self.next_flow()?;
        Some(&self.slots[self.flows[usize::from(flow)].first as usize].packet)
    }

    /// Removes the head, which must exist.
    pub(super) fn drop_head(&mut self) -> Stay {
        let Some(index) = self.turn() else { return Stay::default() };
        let Slot { packet: Packet { length, .. }, since, .. } = *self.take(index);
        let bytes = self.counted(length);
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit -= bytes.cast_signed();
        let left = u32::try_from(flow.bytes).unwrap_or(u32::MAX);
        Stay { since, flow: FlowStay::new(index, left, std::mem::take(&mut flow.was_idle)) }
    }

    /// Refunds `flow` the cost of a packet of `length` IP bytes that was dropped at its head.
    pub(super) fn refund(&mut self, flow: u16, length: u32) {
        let bytes = self.counted(length);
        let flow = &mut self.flows[usize::from(flow)];
        flow.deficit += bytes.cast_signed();
        flow.is_drained = flow.first == NO_SLOT;
    }

    /// Whether the limit is exceeded.
    #[inline]
    pub(super) fn exceeds_limit(&self) -> bool {
        self.held > self.settings.limit as usize
    }
    /// Removes the first packet of the flow with the most bytes, if the limit is exceeded. Returns the packet
    /// and its flow. Later calls use the same flow until half of its bytes, or a batch of packets, has been
    /// removed.
    ///
    /// Linux, `fq_codel_drop`, as RFC 8290 §4.1 describes it.
    pub(super) fn discard_excess(&mut self) -> Option<(Packet, u16)> {
        let mut batch = match self.batch.take() {
            Some(batch) => batch,
            None if !self.exceeds_limit() => return None,
            None => self.longest_flow(),
        };
        let packet = self.take(batch.flow).packet;
        batch.packets -= 1;
        batch.bytes = batch.bytes.saturating_sub(self.counted(packet.length).into());
        if batch.packets > 0 && batch.bytes > 0 {
            self.batch = Some(batch);
        }
        Some((packet, batch.flow))
    }

    /// The packets of all flows, flow by flow.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.flows.iter().flat_map(|flow| {
            let slot = |index: u32| self.slots.get(index as usize);
            std::iter::successors(slot(flow.first), move |before| slot(before.next)).map(|slot| &slot.packet)
        })
    }

    /// The counted length of a packet of `length` IP bytes.
    fn counted(&self, length: u32) -> u32 {
        length + self.settings.header
    }

    /// Returns the batch to discard next: packets of the flow with the most bytes. If several flows have
    /// equally many bytes, it is the first one.
    fn longest_flow(&mut self) -> Batch {
        let (flow, bytes) = self.longest.find(|flow| self.flows[usize::from(flow)].bytes);
        Batch { flow, packets: self.settings.drop_batch, bytes: (bytes / 2).max(1) }
    }

    /// Returns the flow that is served next, without changing the turns.
    #[inline]
    fn next_flow(&self) -> Option<u16> {
        let first = if self.new.first == NO_FLOW { self.old.first } else { self.new.first };
        let may_send = self.flows.get(usize::from(first)).is_some_and(Flow::may_send);
        if may_send { Some(first) } else { self.find_next_flow() }
    }
    /// Finds the flow that is served next, like [`next_flow`](SparseFlows::next_flow), if the first flow may
    /// not send.
    #[inline(never)]
    fn find_next_flow(&self) -> Option<u16> {
        let found = self.members(self.new).find(|(_, flow)| flow.may_send());
        let found = found.or_else(|| self.members(self.old).find(|(_, flow)| flow.may_send()));
        if let Some((index, _)) = found {
            return Some(index);
        }
        // No flow may send. New flows get a quantum and move behind the old flows. Then all flows get a
        // quantum in this order until one of them may send.
        let turns = |deficit: i32| (-deficit).div_euclid(self.settings.quantum.cast_signed()) + 1;
        let waiting = |(_, flow): &(u16, &Flow)| flow.first != NO_SLOT;
        let old = self.members(self.old).filter(waiting).map(|(index, flow)| (turns(flow.deficit), index));
        let new =
            self.members(self.new).filter(waiting).map(|(index, flow)| (turns(flow.deficit) - 1, index));
        old.chain(new).min_by_key(|(turns, _)| *turns).map(|(_, index)| index)
    }

    /// Advances the turns until a flow may send. That flow is then the first of its list. RFC 8290 §4.2.
    fn turn(&mut self) -> Option<u16> {
        loop {
            let place = if self.new.first == NO_FLOW { Place::Old } else { Place::New };
            let index = self.list(place).first;
            if index == NO_FLOW {
                return None;
            }
            let flow = &mut self.flows[usize::from(index)];
            if flow.deficit <= 0 {
                flow.deficit += self.settings.quantum.cast_signed();
                self.remove_first(place);
                self.append(index, Place::Old);
            } else if flow.first != NO_SLOT {
                return Some(index);
            } else {
                flow.was_idle |= !std::mem::take(&mut flow.is_drained);
                self.remove_first(place);
                let goes_behind = place == Place::New
                    && (self.settings.emptied == Emptied::GoesBehind || self.old.first != NO_FLOW);
                if goes_behind {
                    self.append(index, Place::Old);
                }
            }
        }
    }

    /// Removes the first packet of flow `index`, which must exist.
    #[inline]
    fn take(&mut self, index: u16) -> &Slot {
        let flow = &mut self.flows[usize::from(index)];
        let place = flow.first;
        let slot = &mut self.slots[place as usize];
        flow.first = std::mem::replace(&mut slot.next, self.free);
        self.free = place;
        let is_empty = flow.first == NO_SLOT;
        if is_empty {
            flow.last = NO_SLOT;
        }
        self.longest.shrank(index, is_empty);
        flow.bytes -= u64::from(slot.packet.length + self.settings.header);
        self.held -= 1;
        slot
    }

    /// Stores `packet` in a free slot and returns the index of the slot.
    // The fields are written separately. If a temporary slot were copied, the processor could not forward the
    // stores of its fields to the loads of the copy.
    #[inline]
    fn occupy(&mut self, now: Time, packet: &Packet) -> u32 {
        let place = self.free;
        if let Some(slot) = self.slots.get_mut(place as usize) {
            self.free = std::mem::replace(&mut slot.next, NO_SLOT);
            (slot.packet, slot.since) = (*packet, now);
            return place;
        }
        self.slots.push(Slot { packet: *packet, since: now, next: NO_SLOT });
        (self.slots.len() - 1) as u32
    }

    fn list(&mut self, place: Place) -> &mut List {
        if place == Place::New { &mut self.new } else { &mut self.old }
    }
    /// Appends flow `index` to the list of `place`.
    fn append(&mut self, index: u16, place: Place) {
        self.flows[usize::from(index)].place = place;
        self.flows[usize::from(index)].next = NO_FLOW;
        match std::mem::replace(&mut self.list(place).last, index) {
            NO_FLOW => self.list(place).first = index,
            before => self.flows[usize::from(before)].next = index,
        }
    }
    /// Removes the first flow from the list of `place`.
    fn remove_first(&mut self, place: Place) {
        let first = usize::from(self.list(place).first);
        self.flows[first].place = Place::NoList;
        let next = self.flows[first].next;
        let list = self.list(place);
        list.first = next;
        if next == NO_FLOW {
            list.last = NO_FLOW;
        }
    }
    /// The flows of `list` in order.
    fn members(&self, list: List) -> impl Iterator<Item = (u16, &Flow)> {
        let flow = |index: u16| self.flows.get(usize::from(index)).map(|flow| (index, flow));
        std::iter::successors(flow(list.first), move |(_, before)| flow(before.next))
    }
}
