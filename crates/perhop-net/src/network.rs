//! [`Network`]: the plain engine. This file contains the whole path of a packet from edge to edge.

use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};
use perhop_scenario::routing::LinkId;

use crate::agenda::Agenda;
use crate::counters::{DropPoint, DropSink, PortCounters};
use crate::direction::{Direction, record_pool_drop};
use crate::flights::{Flight, Flights};
use crate::pauses::FlowControl;

/// An event. `X` is the type of the events of the edge.
#[derive(Clone, Copy, Debug)]
pub enum Event<X> {
    /// The first packet in flight in a direction reaches the far end.
    Arrival(LinkId),
    /// The port of a direction may have a packet to send.
    Poll(LinkId),
    /// A pause frame takes effect at the port of a direction, in a network with [flow control](FlowControl).
    Pause(LinkId),
    /// An event of the edge.
    Edge(X),
}

/// The senders and receivers of a network: simulated hosts, or devices of the operating system. The network
/// reports every dropped packet to the edge ([`DropSink`]).
pub trait Edge: DropSink + Sized {
    /// The type of the edge's scheduled events.
    type Event: Copy;

    /// Handles `event`.
    fn handle_event<W: PortObservers, P: FlowControl>(
        network: &mut Network<Self, W, P>,
        now: Time,
        event: Self::Event,
    );

    /// Receives `packet`, which has passed the input conditioners at the far end of `link`. Delivers it to
    /// the node at the far end, or forwards it ([`Network::forward`]).
    fn receive<W: PortObservers, P: FlowControl>(
        network: &mut Network<Self, W, P>,
        now: Time,
        link: LinkId,
        packet: &mut Packet,
    );

    /// Handles `packet`, which exceeds the MTU of the interface to `link`. The default drops it.
    #[cold]
    fn exceed_mtu<W: PortObservers, P: FlowControl>(
        network: &mut Network<Self, W, P>,
        now: Time,
        link: LinkId,
        packet: &mut Packet,
    ) {
        network.drop(now, link, packet, DropCause::TooBig, DropPoint::Output);
    }
}

/// The directions of links of a network, and the edge that sends and receives packets. `W` observes the
/// ports, and `P` is the flow control.
#[derive(Debug)]
pub struct Network<E: Edge, W = (), P = ()> {
    /// The pending events.
    pub agenda: Agenda<Event<E::Event>>,
    /// The directions of links, by [`LinkId`].
    pub directions: Vec<Direction>,
    /// The packets in flight.
    pub flights: Flights,
    /// The senders and receivers.
    pub edge: E,
    /// The observers of the ports. The number of a port is the number of its direction.
    pub observers: W,
    /// The pauses of the ports, if the network has flow control.
    pub pauses: P,
    /// The time from which ports are counted.
    pub counts_from: Time,
    /// The number of times that packets entered a wire.
    pub packet_hops: u64,
}

impl<E: Edge, W: PortObservers, P: FlowControl> Network<E, W, P> {
    /// Runs all events up to `limit`. Returns the time of the last event, if there was one.
    pub fn run_until(&mut self, limit: Time) -> Option<Time> {
        let mut last = None;
        while let Some((now, event)) = self.agenda.pop_until(limit) {
            last = Some(now);
            match event {
                Event::Arrival(link) => self.arrive(now, link),
                Event::Poll(link) => self.poll(now, link),
                Event::Pause(link) => self.apply_pause_frames(now, link),
                Event::Edge(event) => E::handle_event(self, now, event),
            }
        }
        last
    }

    /// Sends `packet` from a node over `link`. The packet passes the output conditioners and joins a queue of
    /// the port, or is dropped.
    pub fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        if self.directions[link.index()].exceeds_mtu(packet.length) {
            return E::exceed_mtu(self, now, link, packet);
        }
        self.catch_up(now, link);
        self.observers.arriving(now, link.index(), packet);
        let Direction { output, .. } = &mut self.directions[link.index()];
        if let Some(output) = output
            && let Verdict::Drop(cause) = output.condition(now, packet)
        {
            return self.drop(now, link, packet, cause, DropPoint::Output);
        }
        // Packets that are due now at ports with the same memory leave first, so that this packet can use
        // their memory.
        for place in 0..self.directions[link.index()].sharers().len() {
            self.catch_up(now, self.directions[link.index()].sharers()[place]);
        }
        if self.pauses.state().is_some() {
            self.enqueue_counted(now, link, packet);
        } else {
            let (port, counters) = self.port(link);
            if port.enqueue(now, packet, counters) == Verdict::Drop(DropCause::SharedMemory) {
                self.record_pool_drop(now, link);
            }
        }
        self.transmit(now, link);
    }

    /// Records which ports use the memory pool of `link`'s port. The pool had no room for a packet at `now`.
    #[cold]
    pub(crate) fn record_pool_drop(&mut self, now: Time, link: LinkId) {
        if now >= self.counts_from
            && let Some(mut drops) = self.directions[link.index()].take_pool_drops()
        {
            record_pool_drop(&mut drops, now, link, |link| &self.directions[link.index()]);
            self.directions[link.index()].put_pool_drops(drops);
        }
    }

    /// Transmits the packets of `link`'s port that are due at `now`. They leave before other packets arrive
    /// at this port at the same time.
    pub fn catch_up(&mut self, now: Time, link: LinkId) {
        let timeout = self.directions[link.index()].port.poll_timeout();
        if timeout.is_some_and(|due| due <= now) {
            self.transmit(now, link);
        }
    }

    /// Moves all packets that the port of `link` transmits at `now` to the wire, and schedules the next poll.
    ///
    /// A port is polled only when a packet arrives and at the times that the port requests. An additional
    /// poll could change the results: while a shaper delays the packet that an inner scheduler selected, a
    /// scheduler whose choice depends on time could select another packet.
    pub(crate) fn transmit(&mut self, now: Time, link: LinkId) {
        if self.pauses.state().is_some() {
            self.transmit_counted(now, link);
            return self.await_poll(link);
        }
        let mut packet = Packet::default();
        loop {
            let (port, counters) = self.port(link);
            let Some(departure) = port.poll_transmit(now, &mut packet, counters) else { break };
            self.launch(link, &packet, departure);
        }
        self.await_poll(link);
    }

    /// Schedules the next poll of the port of `link`.
    fn await_poll(&mut self, link: LinkId) {
        let Direction { port, poll, poll_at, .. } = &mut self.directions[link.index()];
        let Some(timeout) = port.poll_timeout() else { return };
        // A wake-up cannot be cancelled. A wake-up that is too early only costs time, because the port then
        // schedules another one.
        if poll_at.is_none_or(|pending| timeout < pending) {
            self.agenda.schedule(*poll, timeout);
            *poll_at = Some(timeout);
        }
    }

    /// Polls the port of `link` at `now`, unless an earlier poll replaced this one.
    fn poll(&mut self, now: Time, link: LinkId) {
        let pending = &mut self.directions[link.index()].poll_at;
        if *pending == Some(now) {
            *pending = None;
            self.catch_up(now, link);
            self.await_poll(link);
        }
    }

    /// Puts `packet` on the wire of `link`. The packet arrives when its last bit arrives; the last bit is
    /// sent at the end of `departure`.
    pub(crate) fn launch(&mut self, link: LinkId, packet: &Packet, departure: Departure) {
        self.packet_hops += 1;
        let Direction { delay, in_flight, arrival, .. } = &mut self.directions[link.index()];
        let arrives = departure.ends.saturating_add(*delay);
        if in_flight.is_empty() {
            self.agenda.schedule(*arrival, arrives);
        }
        self.flights.push_back(in_flight, Flight { packet: *packet, arrives });
    }

    /// Handles the end of the first flight on `link`. The packet was lost on the wire, is dropped by the
    /// input conditioners of the far end, or is received.
    fn arrive(&mut self, now: Time, link: LinkId) {
        let Direction { in_flight, arrival, loss, input, ingress, .. } = &mut self.directions[link.index()];
        let Some(&Flight { mut packet, .. }) = self.flights.front(in_flight) else { return };
        self.flights.drop_front(in_flight);
        if let Some(next) = self.flights.front(in_flight) {
            self.agenda.schedule(*arrival, next.arrives);
        }
        if loss.as_mut().is_some_and(|loss| loss.loses_packet(packet.length)) {
            return self.drop(now, link, &packet, DropCause::Lost, DropPoint::Wire);
        }
        packet.arrive(*ingress);
        if let Some(input) = input
            && let Verdict::Drop(cause) = input.condition(now, &mut packet)
        {
            return self.drop(now, link, &packet, cause, DropPoint::Input);
        }
        packet.hops += 1;
        E::receive(self, now, link, &mut packet);
    }

    /// Drops `packet` at `link` outside the queues of its port, at `point`.
    #[cold]
    pub fn drop(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint) {
        self.observers.dropped_between(now, link.index(), packet, cause);
        self.edge.dropped(now, link, packet, cause, point);
        if now >= self.counts_from {
            self.directions[link.index()].count_drop(packet, cause, point);
        }
    }

    /// Returns the port of `link` and the observers of its events.
    fn port(&mut self, link: LinkId) -> (&mut perhop_qos::Port, PortCounters<'_, E, W::Observer<'_>>) {
        let Direction { port, tally, .. } = &mut self.directions[link.index()];
        let counters = PortCounters {
            tally,
            sink: &mut self.edge,
            link,
            counts_from: self.counts_from,
            ends: Time::MAX,
            observer: self.observers.of_port(link.index()),
        };
        (port, counters)
    }
}
