//! [`SparseFlows`]: a queue for each flow, served in turns, those that send little first.

use super::flow_hash::FlowHash;
use super::stay::Stay;
use crate::{Packet, Time};

/// The queues of flows under deficit round robin with two lists, as RFC 8290 §4 has it (DRR++).
///
/// A flow whose queue was empty joins the new ones, which are served before the old ones; who has used up its
/// quantum gets another and goes behind all old ones.
#[derive(Clone, Debug)]
pub struct SparseFlows {
    flows: Box<[Flow]>,
    /// The packets of all flows. There is memory for as many as there can be.
    slots: Vec<Slot>,
    /// The first slot without a packet; the others follow by [`Slot::next`].
    free: u32,
    new: List,
    old: List,
    settings: SparseSettings,
    held: usize,
    /// What is being given up at once.
    batch: Option<Batch>,
}

/// How [`SparseFlows`] are served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseSettings {
    /// How many flows have a queue of their own, unless they share one by their hash.
    pub(crate) flows: u16,
    /// What a flow may send in a turn, in counted bytes.
    pub(crate) quantum: u32,
    /// What is counted of a packet beyond its IP bytes.
    pub(crate) header: u32,
    /// Packets in all.
    pub(crate) limit: u32,
    /// Packets that are given up at once at most, where there are more.
    pub(crate) drop_batch: u32,
    pub(crate) emptied: Emptied,
    /// What the hash of flows begins with.
    pub(crate) key: u64,
    pub(crate) flow_hash: FlowHash,
}

impl SparseSettings {
    /// Which flow a packet belongs to.
    pub(crate) fn choice(&self) -> FlowChoice {
        FlowChoice { flows: self.flows, key: self.key, flow_hash: self.flow_hash }
    }
}

/// Which of the queues of flows a packet joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowChoice {
    flows: u16,
    key: u64,
    flow_hash: FlowHash,
}

impl FlowChoice {
    /// The queue of `packet`'s flow.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> u16 {
        let hash = self.flow_hash.of(packet, self.key);
        (((hash >> 32) * u64::from(self.flows)) >> 32) as u16
    }
}

/// What becomes of a new flow that is found empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    /// It goes behind the old flows, whatever there are (RFC 8290 §4.2).
    GoesBehind,
    /// It does where there are old flows; else it is forgotten at once, as in Linux.
    GoesBehindOthers,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    first: u32,
    last: u32,
    /// Counted bytes of its packets.
    bytes: u64,
    /// What it may still send in this turn.
    deficit: i32,
    /// The flow behind it in its list.
    next: u16,
    place: Place,
    /// It was found empty since its last packet.
    was_idle: bool,
    /// Its last packet was dropped at the head: that it is empty is known.
    is_drained: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    New,
    Old,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    since: Time,
    next: u32,
}

/// Flows in order, linked by [`Flow::next`].
#[derive(Clone, Copy, Debug)]
struct List {
    first: u16,
    last: u16,
}

/// Packets of one flow that are given up one by one.
#[derive(Clone, Copy, Debug)]
struct Batch {
    flow: u16,
    packets: u32,
    bytes: u64,
}

/// No flow, and no slot.
const NO_FLOW: u16 = u16::MAX;
const NO_SLOT: u32 = u32::MAX;

impl SparseFlows {
    pub(crate) fn new(settings: SparseSettings) -> SparseFlows {
        let flow = Flow {
            first: NO_SLOT,
            last: NO_SLOT,
            bytes: 0,
            deficit: 0,
            next: NO_FLOW,
            place: Place::Nowhere,
            was_idle: false,
            is_drained: false,
        };
        let empty = List { first: NO_FLOW, last: NO_FLOW };
        SparseFlows {
            flows: vec![flow; settings.flows.into()].into(),
            // One more than stay: it joins before another is given up.
            slots: Vec::with_capacity(settings.limit as usize + 1),
            free: NO_SLOT,
            new: empty,
            old: empty,
            settings,
            held: 0,
            batch: None,
        }
    }

    /// The queue of `packet`'s flow.
    #[inline]
    pub(super) fn flow_of(&self, packet: &Packet) -> u16 {
        self.settings.choice().of(packet)
    }

    /// `packet` joins the queue of its flow.
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        let index = self.flow_of(packet);
        let slot = self.occupy(Slot { packet: *packet, since: now, next: NO_SLOT });
        let bytes = self.counted(packet.length);
        self.held += 1;
        let flow = &mut self.flows[usize::from(index)];
        flow.bytes += u64::from(bytes);
        match std::mem::replace(&mut flow.last, slot) {
            NO_SLOT => flow.first = slot,
            before => self.slots[before as usize].next = slot,
        }
        if flow.place == Place::Nowhere {
            // RFC 8290 §4.1: a queue that is not active joins the new ones, with a full quantum.
            flow.deficit = self.settings.quantum.cast_signed();
            self.append(index, Place::New);
        }
    }

    /// The packet that leaves next.
    pub(super) fn head(&self) -> Option<&Packet> {
        let flow = self.foreseen()?;
        Some(&self.slots[self.flows[usize::from(flow)].first as usize].packet)
    }

    /// Forgets the head, which there must be.
    pub(super) fn drop_head(&mut self) -> Stay {
        let Some(index) = self.turn() else { return Stay::default() };
        let Slot { packet: Packet { length, .. }, since, .. } = *self.take(index);
        let bytes = self.counted(length);
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit -= bytes.cast_signed();
        Stay {
            since,
            left: u32::try_from(flow.bytes).unwrap_or(u32::MAX),
            flow: index,
            was_idle: std::mem::take(&mut flow.was_idle),
        }
    }

    /// The head of `flow`, a packet of `length` IP bytes which was dropped, has cost it nothing.
    pub(super) fn refund(&mut self, flow: u16, length: u32) {
        let bytes = self.counted(length);
        let flow = &mut self.flows[usize::from(flow)];
        flow.deficit += bytes.cast_signed();
        flow.is_drained = flow.first == NO_SLOT;
    }

    /// Whether more packets are held than may be.
    #[inline]
    pub(super) fn holds_too_many(&self) -> bool {
        self.held > self.settings.limit as usize
    }
    /// While more packets are held than may be, the first of the flow with most bytes, and that flow: of
    /// this, half the bytes are given up at once, or a batch of packets.
    ///
    /// Linux, `fq_codel_drop`, as RFC 8290 §4.1 describes it.
    pub(super) fn shed(&mut self) -> Option<(Packet, u16)> {
        let mut batch = match self.batch.take() {
            Some(batch) => batch,
            None if !self.holds_too_many() => return None,
            None => self.fattest(),
        };
        let packet = self.take(batch.flow).packet;
        batch.packets -= 1;
        batch.bytes = batch.bytes.saturating_sub(self.counted(packet.length).into());
        if batch.packets > 0 && batch.bytes > 0 {
            self.batch = Some(batch);
        }
        Some((packet, batch.flow))
    }

    /// The packets, flow by flow.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.flows.iter().flat_map(|flow| {
            let slot = |index: u32| self.slots.get(index as usize);
            std::iter::successors(slot(flow.first), move |before| slot(before.next)).map(|slot| &slot.packet)
        })
    }

    /// What a packet of `length` IP bytes counts.
    fn counted(&self, length: u32) -> u32 {
        length + self.settings.header
    }

    /// The batch that is given up next.
    fn fattest(&self) -> Batch {
        let mut most = (0, 0);
        for (flow, one) in (0..).zip(&*self.flows) {
            if one.bytes > most.0 {
                most = (one.bytes, flow);
            }
        }
        Batch { flow: most.1, packets: self.settings.drop_batch, bytes: (most.0 / 2).max(1) }
    }

    /// The flow whose turn it will be, without giving anybody a turn.
    fn foreseen(&self) -> Option<u16> {
        let may_send = |flow: &Flow| flow.first != NO_SLOT && flow.deficit > 0;
        let found = self.members(self.new).find(|(_, flow)| may_send(flow));
        let found = found.or_else(|| self.members(self.old).find(|(_, flow)| may_send(flow)));
        if let Some((index, _)) = found {
            return Some(index);
        }
        // New flows that have used up their quantum go behind the old ones, with another; then all get one
        // after the other, in turn, until somebody may send.
        let turns = |deficit: i32| (-deficit).div_euclid(self.settings.quantum.cast_signed()) + 1;
        let waiting = |(_, flow): &(u16, &Flow)| flow.first != NO_SLOT;
        let old = self.members(self.old).filter(waiting).map(|(index, flow)| (turns(flow.deficit), index));
        let new =
            self.members(self.new).filter(waiting).map(|(index, flow)| (turns(flow.deficit) - 1, index));
        old.chain(new).min_by_key(|(turns, _)| *turns).map(|(_, index)| index)
    }

    /// Gives turns until a flow may send: which stands first in its list then. RFC 8290 §4.2.
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

    /// Takes the first packet of flow `index`, which there must be.
    fn take(&mut self, index: u16) -> &Slot {
        let flow = &mut self.flows[usize::from(index)];
        let place = flow.first;
        let slot = &mut self.slots[place as usize];
        flow.first = std::mem::replace(&mut slot.next, self.free);
        self.free = place;
        if flow.first == NO_SLOT {
            flow.last = NO_SLOT;
        }
        flow.bytes -= u64::from(slot.packet.length + self.settings.header);
        self.held -= 1;
        slot
    }

    /// A place for `slot`.
    fn occupy(&mut self, slot: Slot) -> u32 {
        let place = self.free;
        if let Some(free) = self.slots.get_mut(place as usize) {
            self.free = std::mem::replace(free, slot).next;
            return place;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    fn list(&mut self, place: Place) -> &mut List {
        if place == Place::New { &mut self.new } else { &mut self.old }
    }
    /// Flow `index` comes last in the list of `place`.
    fn append(&mut self, index: u16, place: Place) {
        self.flows[usize::from(index)].place = place;
        self.flows[usize::from(index)].next = NO_FLOW;
        match std::mem::replace(&mut self.list(place).last, index) {
            NO_FLOW => self.list(place).first = index,
            before => self.flows[usize::from(before)].next = index,
        }
    }
    fn remove_first(&mut self, place: Place) {
        let first = usize::from(self.list(place).first);
        self.flows[first].place = Place::Nowhere;
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
