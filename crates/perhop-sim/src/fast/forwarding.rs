//! The path of a packet from node to node: through a port, over a wire, into the next node.

use perhop_net::{DropPoint, DropSink, Flight, record_pool_drop};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::port::Sent;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};
use perhop_scenario::routing::LinkId;

use super::link::{Departures, Entry, FarEnd, Link, Onward, PortMode, Wire};
use super::lookahead::Prescheduled;
use super::world::World;
use crate::flow::flow_of;
use crate::host_events::HostEvents;

#[allow(clippy::inline_always)] // executed for every packet on every hop
impl<W: PortObservers> World<W> {
    /// Sends `packet` from a node over `link`, and forwards it until its next step is not known yet.
    #[inline]
    pub(super) fn send(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        if let Some(arrives) = self.pass(now, link, packet) {
            self.receive_and_forward(arrives, link, packet);
        }
    }

    /// Receives `packet` at the far end of `link`, and forwards it until its next step is not known yet.
    #[inline(always)]
    fn receive_and_forward(&mut self, mut now: Time, mut link: LinkId, packet: &mut Packet) {
        while let Some(next) = self.receive_from_wire(now, link, packet) {
            let Some(arrives) = self.pass(now, next, packet) else { return };
            (now, link) = (arrives, next);
        }
    }

    /// Passes `packet` through `link`'s output conditioners and its port, after all events at this link up to
    /// `now`. Returns the time of arrival at the far end if the packet is delivered inline.
    #[inline(always)]
    fn pass(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        if hop.link.mode.cuts_through()
            && let Some(departure) = hop.link.direction.port.cut_through_departure(now, packet.length)
        {
            hop.record_arrival(now, packet);
            hop.cut_through(packet, departure);
            return hop.launch(now, packet, departure);
        }
        self.pass_by_queue(now, link, packet)
    }

    /// Does the same as [`World::pass`] for a port that is busy or that can delay or drop `packet`.
    #[inline(never)]
    fn pass_by_queue(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        if let PortMode::Limited(_) = hop.link.mode
            && hop.link.direction.exceeds_mtu(packet.length)
        {
            self.exceed_mtu(now, link, packet);
            return None;
        }
        // On a link with lookahead, all packets are from the host's own sources, and `send_ahead` has already
        // run the steps of the port that are due by `now`.
        if hop.link.direction.port.backlog() > 0 && !matches!(hop.link.entry, Entry::Lookahead(_)) {
            self.send_due_packets(now, link);
            hop = self.hop(link);
        }
        hop.record_arrival(now, packet);
        if let Some(output) = &mut hop.link.direction.output
            && let Verdict::Drop(cause) = output.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, DropPoint::Output);
            return None;
        }
        if hop.link.mode.departures() == Departures::Polled {
            return self.pass_by_scheduler(now, link, packet);
        }
        let departure = hop.precompute_departure(now, packet)?;
        hop.launch(departure.starts, packet, departure)
    }

    /// Fragments `packet`, which is longer than the MTU of the interface to `link`, or drops it.
    #[cold]
    fn exceed_mtu(&mut self, now: Time, link: LinkId, packet: &Packet) {
        let mtu = self.links[link.index()].direction.mtu;
        let Some(mut pieces) = self.hosts.fragments.split(packet, mtu) else {
            return self.drop_unqueued(now, link, packet, DropCause::TooBig, DropPoint::Output);
        };
        while let Some(mut piece) = pieces.next(&mut self.hosts.fragments) {
            self.send(now, link, &mut piece);
        }
    }

    /// Passes `packet` through a port whose departures are known only when a packet leaves its queue.
    /// `packet` has already passed the output conditioners.
    #[inline(never)]
    fn pass_by_scheduler(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<Time> {
        let mut hop = self.hop(link);
        if hop.link.direction.sharing.is_some() {
            self.run_sharers_to(now, link);
            hop = self.hop(link);
        }
        let sent = hop.send(now, packet);
        if sent == Sent::Dropped(DropCause::SharedMemory) {
            self.record_pool_drop(now, link);
            hop = self.hop(link);
        }
        match sent {
            Sent::Transmitted(departure) => hop.launch(now, packet, departure),
            // A port is polled after a drop too: while a shaper delays one head, another may have become
            // eligible.
            Sent::Queued | Sent::Dropped(_) => {
                // Usually, the transmit ring has no room, and the queued packets wait.
                if hop.link.direction.port.ring().has_room() {
                    self.transmit(now, link);
                } else if hop.link.awaits_poll() {
                    self.schedule_poll(link);
                }
                None
            }
        }
    }

    /// Records which ports use the memory pool of `link`'s port. The pool had no room for a packet at `now`.
    #[cold]
    fn record_pool_drop(&mut self, now: Time, link: LinkId) {
        if now >= self.hosts.measurements.warmup
            && let Some(mut drops) = self.links[link.index()].direction.take_pool_drops()
        {
            record_pool_drop(&mut drops, now, link, |link| &self.links[link.index()].direction);
            self.links[link.index()].direction.put_pool_drops(drops);
        }
    }

    /// Moves all packets that `link`'s port transmits at `now` to its wire.
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Time, link: LinkId) {
        self.transmit_unpolled(now, link);
        self.await_poll(link);
    }

    /// Does the same as [`World::transmit`] without scheduling a poll.
    #[inline(always)]
    pub(super) fn transmit_unpolled(&mut self, now: Time, link: LinkId) {
        let mut packet = Packet::default();
        loop {
            let mut hop = self.hop(link);
            let Some(departure) = hop.poll_transmit(now, &mut packet) else { return };
            if let Some(arrives) = hop.launch(now, &packet, departure) {
                self.receive_and_forward(arrives, link, &mut packet);
            }
        }
    }

    /// Receives the first packet in flight on `link` at the far end.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, link: LinkId) {
        let Link { entry, far_end, direction, .. } = &mut self.links[link.index()];
        // This is the only copy of the packet. The following code changes the copy in place.
        let mut packet;
        if let Entry::Lookahead(lookahead) = *entry
            && let Prescheduled::Next(feeder) = self.lookaheads[lookahead as usize].prescheduled
        {
            let source = self.lookaheads[lookahead as usize].feeders.source(feeder);
            packet = self.hosts.sources[source].template;
            self.send_prescheduled(now, link, lookahead, source, &mut packet);
        } else if matches!(far_end, FarEnd::Inline(_)) {
            return self.deliver_in_flight(now, link);
        } else {
            let (flights, in_flight) = (&mut self.flights, &mut direction.in_flight);
            let Some(flight) = flights.front(in_flight) else { return };
            packet = flight.packet;
            flights.drop_front(in_flight);
            if let Some(next) = flights.front(in_flight) {
                self.agenda.schedule(direction.arrival, next.arrives);
            }
        }
        self.run_due_steps(now, link);
        self.receive_and_forward(now, link, &mut packet);
    }

    /// Receives `flight`, which another part of the network put on the wire of `link` behind earlier packets.
    /// The arrival time is known, so the steps are those of [`Hop::launch`](super::hop::Hop::launch).
    pub(crate) fn admit(&mut self, link: LinkId, flight: Flight) {
        let Flight { mut packet, arrives } = flight;
        let mut hop = self.hop(link);
        if hop.link.direction.in_flight.is_empty() {
            if hop.lookahead(&packet).is_some_and(|until| arrives <= until) {
                return self.receive_and_forward(arrives, link, &mut packet);
            }
            hop.await_arrival(arrives);
        }
        self.flights.push_back(&mut self.links[link.index()].direction.in_flight, flight);
    }

    /// Returns the first packet in flight on `link`, a link to another part of the network.
    #[inline]
    pub(crate) fn first_crossing(&self, link: LinkId) -> Option<&Flight> {
        self.flights.front(&self.links[link.index()].direction.in_flight)
    }

    /// Removes the first packet in flight on `link`, which must exist.
    #[inline]
    pub(crate) fn drop_crossing(&mut self, link: LinkId) {
        self.flights.drop_front(&mut self.links[link.index()].direction.in_flight);
    }

    /// Runs the steps of the sources and ports of `link` that are due by `now`, before a packet is received
    /// at the far end.
    #[inline(always)]
    fn run_due_steps(&mut self, now: Time, link: LinkId) {
        let Link { entry, direction, .. } = &self.links[link.index()];
        match *entry {
            Entry::Lookahead(lookahead) => self.look_ahead(now, link, lookahead),
            Entry::Upstream(first) => {
                self.send_due_upstream(now, first);
                self.run_port_to(now, link);
            }
            Entry::Agenda if direction.port.backlog() > 0 => self.send_due_packets(now, link),
            Entry::Agenda => {}
        }
    }

    /// Receives the first packet in flight on `link`, which could not be delivered inline at its launch. Then
    /// delivers the packets behind it inline, up to the first one that needs an event.
    #[inline(never)]
    fn deliver_in_flight(&mut self, now: Time, link: LinkId) {
        loop {
            let in_flight = &self.links[link.index()].direction.in_flight;
            let Some(&Flight { mut packet, arrives }) = self.flights.front(in_flight) else { break };
            let mut hop = self.hop(link);
            if arrives > now && hop.lookahead(&packet).is_none_or(|until| arrives > until) {
                hop.await_arrival(arrives);
                break;
            }
            // The packet remains in flight until it has arrived, so that no other packet is delivered first.
            self.receive_and_forward(arrives, link, &mut packet);
            self.flights.drop_front(&mut self.links[link.index()].direction.in_flight);
        }
        self.run_port_to(now, link);
    }

    /// Receives `packet` at the far end of `link`. Returns the link over which the packet, or a host's answer
    /// to it, leaves the node; `None` if no packet leaves.
    #[inline(always)]
    fn receive_from_wire(&mut self, now: Time, link: LinkId, packet: &mut Packet) -> Option<LinkId> {
        let mut hop = &mut self.links[link.index()];
        if hop.wire == Wire::Inspected {
            if !self.survives_the_wire(now, link, packet) {
                return None;
            }
            hop = &mut self.links[link.index()];
        }
        packet.arrive(hop.direction.ingress);
        if let Some(input) = &mut hop.direction.input
            && let Verdict::Drop(cause) = input.condition(now, packet)
        {
            self.drop_unqueued(now, link, packet, cause, DropPoint::Input);
            return None;
        }
        packet.hops += 1;
        match hop.onward {
            Onward::Host => self.deliver(now, packet),
            Onward::Link(next) => Some(next),
            Onward::Routed => Some(self.hosts.link_of(flow_of(packet), packet.hops)),
        }
    }

    /// Whether `packet` reaches the far end of `link`, which loses packets or is captured.
    #[inline(never)]
    fn survives_the_wire(&mut self, now: Time, link: LinkId, packet: &Packet) -> bool {
        self.hosts.crossed(now, link, packet);
        let loss = &mut self.links[link.index()].direction.loss;
        let lost = loss.as_mut().is_some_and(|loss| loss.loses_packet(packet.length));
        if lost {
            self.drop_unqueued(now, link, packet, DropCause::Lost, DropPoint::Wire);
        }
        !lost
    }

    /// Drops `packet` at `link` outside the queues of its port, at `point`.
    #[cold]
    fn drop_unqueued(
        &mut self,
        now: Time,
        link: LinkId,
        packet: &Packet,
        cause: DropCause,
        point: DropPoint,
    ) {
        self.observers.dropped_between(now, link.index(), packet, cause);
        self.hosts.dropped(now, link, packet, cause, point);
        if now >= self.hosts.measurements.warmup {
            self.links[link.index()].direction.count_drop(packet, cause, point);
        }
    }
}
