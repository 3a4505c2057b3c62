//! Prefetch of the state that the next events need (Mowry, Lam and Gupta 1992, "Design and evaluation of a
//! compiler algorithm for prefetching").
//!
//! With many TCP flows, the state of the network exceeds the caches, and most accesses to a link, a segment
//! or an end wait for memory. The agenda contains the next events. Their state is a chain of references: from
//! the event to the link, to the packet, to the flow and the segment, and to the end of the session. Each
//! event is therefore prefetched in stages, during the events before it. A stage reads the state that the
//! previous stage has loaded, and starts to load the next state of the chain.

use perhop_measure::counters::FlowCounters;
use perhop_net::Event;
use perhop_net::prefetch::{lines_of, prefetch};
use perhop_qos::packet::Packet;
use perhop_scenario::routing::LinkId;

use super::link::Link;
use super::world::World;
use crate::event::HostEvent;
use crate::flow::flow_of;
use crate::session::End;

/// The number of TCP sessions from which the state exceeds the caches. With fewer sessions, prefetching costs
/// more time than it saves (`docs/scale.md`).
const MANY_SESSIONS: usize = 2000;
/// The number of cache lines of a link that an arrival reads, and of the counters of a flow.
const LINES_OF_ARRIVAL: usize = 2;
const LINES_OF_COUNTERS: usize = 2;

impl<W> World<W> {
    /// Whether the state of the network probably exceeds the caches.
    pub(super) fn exceeds_caches(&self) -> bool {
        self.hosts.transport.sessions.len() >= MANY_SESSIONS
    }

    /// Starts to load the state of the next events, one stage for each event.
    #[inline]
    pub(super) fn prefetch_upcoming(&self) {
        // The last stage of the next event is complete.
        let mut events = self.agenda.upcoming().skip(1);
        let mut next = || events.next().copied().and_then(arrival);
        if let Some(packet) = next().and_then(|link| self.first_packet(link)) {
            self.prefetch_answer(packet);
        }
        if let Some(packet) = next().and_then(|link| self.first_packet(link)) {
            self.prefetch_elements(packet);
        }
        if let Some(link) = next() {
            self.flights.prefetch_second(&self.links[link.index()].direction.in_flight);
            if let Some(packet) = self.first_packet(link) {
                self.prefetch_contents(packet);
            }
        }
        if let Some(link) = next() {
            self.flights.prefetch_front(&self.links[link.index()].direction.in_flight);
        }
        if let Some(link) = next() {
            prefetch(&self.links[link.index()], LINES_OF_ARRIVAL);
        }
        if let Some(event) = events.next() {
            prefetch(event, 1);
        }
    }

    /// Returns the first packet in flight on `link`.
    #[inline]
    fn first_packet(&self, link: LinkId) -> Option<&Packet> {
        self.flights.front(&self.links[link.index()].direction.in_flight).map(|flight| &flight.packet)
    }

    /// Starts to load the state to which `packet` refers: its segment, the counters of its flow, and its
    /// path.
    #[inline]
    fn prefetch_contents(&self, packet: &Packet) {
        let hosts = &self.hosts;
        if let Some(carried) = hosts.transport.segments.carried_by(packet) {
            prefetch(carried, 1);
        }
        if let Some(counters) = hosts.measurements.counters.get(flow_of(packet)) {
            prefetch(counters, LINES_OF_COUNTERS);
        }
        if let Some(start) = hosts.flow_paths.get(flow_of(packet)) {
            prefetch(&hosts.paths[*start as usize], 1);
        }
    }

    /// Starts to load the next two links of `packet` and the end that receives it.
    #[inline]
    fn prefetch_elements(&self, packet: &Packet) {
        for hops in 1..=2 {
            if let Some(link) = self.hosts.link_after(flow_of(packet), packet.hops.saturating_add(hops)) {
                prefetch(&self.links[link.index()], lines_of::<Link>());
            }
        }
        if let Some(end) = self.hosts.transport.receiver(packet) {
            prefetch(end, lines_of::<End>());
        }
    }

    /// Starts to load the state that the answer to `packet` needs: the session, and the counters, the
    /// header fields and the first link of the outgoing flow.
    #[inline]
    fn prefetch_answer(&self, packet: &Packet) {
        let hosts = &self.hosts;
        let Some(end) = hosts.transport.receiver(packet) else { return };
        let (flow, link) = end.outgoing();
        prefetch(&hosts.transport.sessions[end.session()], 1);
        prefetch::<FlowCounters>(&hosts.measurements.counters[flow], LINES_OF_COUNTERS);
        prefetch(&hosts.templates[flow], 1);
        prefetch(&self.links[link.index()], lines_of::<Link>());
    }
}

/// Returns the link of an arrival.
#[inline]
fn arrival(event: Event<HostEvent>) -> Option<LinkId> {
    if let Event::Arrival(link) = event { Some(link) } else { None }
}
