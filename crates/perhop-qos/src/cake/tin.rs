//! [`Tin`]: the flows of some codepoints. They take turns, and sparse flows are served first.

use super::cobalt::{Cobalt, CobaltSettings};
use super::hosts::{Hosts, SET_WAYS};
use super::isolation::{CakeIsolation, destination_tag, source_tag};
use super::pace::TinClock;
use crate::queue::{FlowHash, FlowHasher};
use crate::random::Stream;
use crate::{Packet, Time};

/// The number of queues in a tin. Linux, `CAKE_QUEUES`.
pub(super) const FLOWS: usize = 1024;
/// The index that means "no flow".
pub(super) const NO_FLOW: u16 = u16::MAX;
/// The index that means "no slot".
pub(super) const NO_SLOT: u32 = u32::MAX;

/// A tin: the flows of some codepoints, which divide the tin's share of the bandwidth.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) flows: Box<[Flow]>,
    /// The hash of the flow that uses each queue, or that used it last.
    tags: Box<[u32]>,
    sources: Hosts,
    destinations: Hosts,
    /// Sparse flows. They are served first.
    fresh: List,
    /// Bulk flows, and flows without packets that count as sparse until their next packet.
    old: List,
    /// Flows without packets whose COBALT still has state.
    decaying: List,
    /// The number of sparse flows, including those that count as sparse until their next packet.
    pub(super) sparse: u32,
    /// The number of bulk flows.
    pub(super) bulk: u32,
    pub(super) settings: TinSettings,
    hasher: FlowHasher,
    pub(super) clock: TinClock,
    /// The bytes of the packets in the tin.
    pub(super) backlog: u64,
    /// The counted bytes that the tin may still send in this turn. Only for CAKE without a bandwidth.
    pub(super) deficit: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TinSettings {
    pub(super) cobalt: CobaltSettings,
    /// The counted bytes that a flow may send in one turn.
    pub(super) quantum: u32,
    /// The counted bytes that the tin may send in one turn. Only for CAKE without a bandwidth.
    pub(super) weight: i64,
    pub(super) isolation: CakeIsolation,
    /// The key of the hash functions.
    pub(super) key: u64,
    pub(super) flow_hash: FlowHash,
}

/// The queue of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) deficit: i32,
    /// The next flow in its list.
    next: u16,
    /// The previous flow in its list.
    before: u16,
    pub(super) set: Set,
    /// The place of the flow's source in [`Tin::sources`].
    source: u16,
    /// The place of the flow's destination in [`Tin::destinations`].
    destination: u16,
    pub(super) cobalt: Cobalt,
}

/// The state of a flow, which selects its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// The flow is in no list, because it has no packets and no state.
    None,
    Sparse,
    /// The flow has used up its quantum and has no packets. It counts as sparse, but it is in the list of
    /// bulk flows.
    SparseWaiting,
    Bulk,
    /// The flow has no packets, but its COBALT still has state.
    Decaying,
}

/// An ordered list of flows, linked by [`Flow::next`] and [`Flow::before`].
#[derive(Clone, Copy, Debug)]
struct List {
    first: u16,
    last: u16,
}

const EMPTY: List = List { first: NO_FLOW, last: NO_FLOW };

impl Tin {
    pub(super) fn new(settings: TinSettings, clock: TinClock) -> Tin {
        let flow = Flow {
            first: NO_SLOT,
            last: NO_SLOT,
            deficit: 0,
            next: NO_FLOW,
            before: NO_FLOW,
            set: Set::None,
            source: 0,
            destination: 0,
            cobalt: Cobalt::default(),
        };
        Tin {
            flows: vec![flow; FLOWS].into(),
            tags: vec![0; FLOWS].into(),
            sources: Hosts::new(FLOWS),
            destinations: Hosts::new(FLOWS),
            fresh: EMPTY,
            old: EMPTY,
            decaying: EMPTY,
            sparse: 0,
            bulk: 0,
            hasher: FlowHasher::new(settings.flow_hash, settings.key),
            settings,
            clock,
            backlog: 0,
            deficit: 0,
        }
    }

    /// Whether a flow of the tin waits for a turn.
    #[inline]
    pub(super) fn has_turns(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Returns the queue of the packet's flow. A hash selects a set of eight queues. If none of them belongs
    /// to the flow, the flow gets an unused queue of the set. Linux, `cake_hash`.
    #[inline]
    pub(super) fn flow_of(&mut self, packet: &Packet) -> u16 {
        let isolation = self.settings.isolation;
        if isolation == CakeIsolation::Flowblind {
            return 0;
        }
        let tag = isolation.tag(packet, self.settings.key, &mut self.hasher);
        let direct = tag as usize % FLOWS;
        if self.tags[direct] == tag && self.flows[direct].set != Set::None {
            return direct as u16;
        }
        self.search(packet, tag, direct)
    }
    /// Returns the queue of a flow. Its hash `tag` selects queue number `direct`, but that queue belongs to
    /// another flow or is unused.
    #[inline(never)]
    fn search(&mut self, packet: &Packet, tag: u32, direct: usize) -> u16 {
        let (inner, outer) = (direct % SET_WAYS, direct - direct % SET_WAYS);
        let places = || (0..SET_WAYS).map(|step| outer + (inner + step) % SET_WAYS);
        let found = places().find(|place| self.tags[*place] == tag);
        if let Some(place) = found
            && self.flows[place].set != Set::None
        {
            return place as u16;
        }
        let found = found.or_else(|| places().find(|place| self.flows[*place].set == Set::None));
        let place = found.unwrap_or(direct);
        if found.is_none() && self.flows[place].set == Set::Bulk {
            // Two flows now share this queue. From now on, the queue counts as a bulk flow of the hosts of
            // the second flow.
            self.leaves_bulk(place as u16);
        }
        self.tags[place] = tag;
        let (isolation, key) = (self.settings.isolation, self.settings.key);
        if isolation.counts_sources() {
            self.flows[place].source = self.sources.place_of(source_tag(packet, key));
        }
        if isolation.counts_destinations() {
            self.flows[place].destination = self.destinations.place_of(destination_tag(packet, key));
        }
        if found.is_none() && self.flows[place].set == Set::Bulk {
            self.joins_bulk(place as u16);
        }
        place as u16
    }

    /// Records that a packet has joined the queue of flow `index`. The flow now takes turns.
    #[inline]
    pub(super) fn joined(&mut self, index: u16, random: &mut Stream) {
        match self.flows[usize::from(index)].set {
            Set::Sparse | Set::Bulk => {}
            Set::None | Set::Decaying => {
                if self.flows[usize::from(index)].set == Set::Decaying {
                    self.unlink(index, Place::Decaying);
                }
                self.append(index, Place::Fresh);
                self.sparse += 1;
                let quantum = self.quantum(index, random);
                let flow = &mut self.flows[usize::from(index)];
                flow.set = Set::Sparse;
                flow.deficit = quantum;
            }
            Set::SparseWaiting => {
                self.sparse -= 1;
                self.becomes_bulk(index);
            }
        }
    }

    /// Returns the quantum of a turn of flow `index`: the quantum of the tin, divided by the number of bulk
    /// flows of the flow's source or destination, whichever number is larger.
    ///
    /// Linux, `cake_get_flow_quantum`: a random fraction is added before the quotient is rounded down, so
    /// that the mean quantum is exact.
    #[inline]
    fn quantum(&self, index: u16, random: &mut Stream) -> i32 {
        let flow = &self.flows[usize::from(index)];
        // If hosts are not counted, the flow has place 0, and place 0 has no bulk flows.
        let load = self.sources.load(flow.source).max(self.destinations.load(flow.destination)).max(1);
        let part = u32::from(u16::MAX / load);
        let dither = (random.bits() >> 48) as u32;
        ((self.settings.quantum * part + dither) >> 16).cast_signed()
    }

    /// Returns the flow whose turn it is, and its list. `looks_at_decaying` determines whether a decaying
    /// flow comes first.
    #[inline]
    pub(super) fn first(&self, looks_at_decaying: LooksAtDecaying) -> Option<(u16, Place)> {
        let first_flow = |place: Place| {
            let first = self.list(place).first;
            (first != NO_FLOW).then_some((first, place))
        };
        let decaying_first = match looks_at_decaying {
            LooksAtDecaying::First => first_flow(Place::Decaying),
            LooksAtDecaying::Last => None,
        };
        decaying_first
            .or_else(|| first_flow(Place::Fresh))
            .or_else(|| first_flow(Place::Old))
            .or_else(|| first_flow(Place::Decaying))
    }

    /// Moves flow `index`, the first flow of the list `place`, to the end of the old flows, and adds a new
    /// quantum. The flow has used up its last quantum.
    pub(super) fn turn_over(&mut self, index: u16, place: Place, random: &mut Stream) {
        let flow = &mut self.flows[usize::from(index)];
        if flow.set == Set::Sparse {
            if flow.first == NO_SLOT {
                flow.set = Set::SparseWaiting;
            } else {
                self.sparse -= 1;
                self.becomes_bulk(index);
            }
        }
        let quantum = self.quantum(index, random);
        self.flows[usize::from(index)].deficit += quantum;
        self.unlink(index, place);
        self.append(index, Place::Old);
    }

    /// Records that flow `index`, the first flow of the list `place`, has no packets. The flow moves to the
    /// decaying flows if its COBALT still has state. Otherwise it leaves all lists.
    pub(super) fn found_empty(&mut self, index: u16, place: Place, now: Time) {
        let flow = &mut self.flows[usize::from(index)];
        flow.cobalt.found_empty(&self.settings.cobalt, now);
        let (set, remembers) = (flow.set, flow.cobalt.remembers(now));
        flow.set = if remembers { Set::Decaying } else { Set::None };
        self.unlink(index, place);
        if remembers {
            self.append(index, Place::Decaying);
        }
        match set {
            Set::Sparse | Set::SparseWaiting => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.leaves_bulk(index);
            }
            Set::Decaying | Set::None => {}
        }
    }

    /// Marks flow `index` as bulk, and adds it to the bulk flows of its hosts.
    fn becomes_bulk(&mut self, index: u16) {
        self.flows[usize::from(index)].set = Set::Bulk;
        self.bulk += 1;
        self.joins_bulk(index);
    }
    /// Adds flow `index` to the bulk flows of its hosts.
    fn joins_bulk(&mut self, index: u16) {
        let (flow, isolation) = (&self.flows[usize::from(index)], self.settings.isolation);
        if isolation.counts_sources() {
            self.sources.count(flow.source);
        }
        if isolation.counts_destinations() {
            self.destinations.count(flow.destination);
        }
    }
    /// Removes flow `index` from the bulk flows of its hosts.
    fn leaves_bulk(&mut self, index: u16) {
        let (flow, isolation) = (&self.flows[usize::from(index)], self.settings.isolation);
        if isolation.counts_sources() {
            self.sources.discount(flow.source);
        }
        if isolation.counts_destinations() {
            self.destinations.discount(flow.destination);
        }
    }

    fn list(&self, place: Place) -> &List {
        match place {
            Place::Fresh => &self.fresh,
            Place::Old => &self.old,
            Place::Decaying => &self.decaying,
        }
    }
    fn list_mut(&mut self, place: Place) -> &mut List {
        match place {
            Place::Fresh => &mut self.fresh,
            Place::Old => &mut self.old,
            Place::Decaying => &mut self.decaying,
        }
    }
    /// Appends flow `index` to the list of `place`.
    fn append(&mut self, index: u16, place: Place) {
        let before = std::mem::replace(&mut self.list_mut(place).last, index);
        let flow = &mut self.flows[usize::from(index)];
        (flow.next, flow.before) = (NO_FLOW, before);
        match before {
            NO_FLOW => self.list_mut(place).first = index,
            before => self.flows[usize::from(before)].next = index,
        }
    }
    /// Removes flow `index` from the list of `place`.
    fn unlink(&mut self, index: u16, place: Place) {
        let Flow { next, before, .. } = self.flows[usize::from(index)];
        match before {
            NO_FLOW => self.list_mut(place).first = next,
            before => self.flows[usize::from(before)].next = next,
        }
        match next {
            NO_FLOW => self.list_mut(place).last = before,
            next => self.flows[usize::from(next)].before = before,
        }
    }
}

/// The lists of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Fresh,
    Old,
    Decaying,
}

/// The position of decaying flows in the search for the next flow. Each pull examines one decaying flow
/// first, so that the state of decaying flows is updated although other flows have packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LooksAtDecaying {
    First,
    Last,
}
