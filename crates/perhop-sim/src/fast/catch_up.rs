//! Catch-up of lagging objects: ports that are not polled when their wire becomes free, and sources that send
//! ahead of the agenda. This module decides which ports and sources must advance, when, and up to which time.

use perhop_net::Flight;
use perhop_net::source::Emission;
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::link::{Entry, FarEnd};
use super::lookahead::{Feeder, Lookahead, Prescheduled};
use super::world::World;

impl<W: PortObservers> World<W> {
    /// Advances the sources of `lookahead` past `now`. Schedules only the arrival of the next packet if the
    /// port will be idle when the packet is sent. Otherwise sends the packets ahead of the agenda.
    ///
    /// A packet that will find the port idle needs only its arrival on the agenda. No other code reads the
    /// packet before it arrives, and only later packets of the same sources enter this link.
    #[allow(clippy::inline_always)] // part of the handler of the preceding arrival
    #[inline(always)]
    pub(super) fn look_ahead(&mut self, now: Time, link: LinkId, lookahead: u32) {
        let World { links, lookaheads, hosts, agenda, .. } = self;
        let (direction, ahead) = (&mut links[link.index()].direction, &mut lookaheads[lookahead as usize]);
        if ahead.prescheduled == Prescheduled::Nothing && direction.in_flight.is_empty() {
            let first = ahead.feeders.first_by(|source| hosts.sources[source].due.at);
            let Emission { at, length, .. } = hosts.sources[ahead.feeders.source(first)].due;
            if at <= hosts.measurements.duration
                && let Some(departure) = direction.port.cut_through_departure(at, length)
            {
                ahead.prescheduled = Prescheduled::Next(first);
                agenda.schedule(direction.arrival, departure.ends + direction.delay);
                return;
            }
        }
        self.send_ahead(now, link, lookahead);
    }

    /// Sends the prescheduled packet of `source`, one of the sources of `lookahead`. The arrival at the far
    /// end of `link` is already scheduled for `arrives`. `packet` is a copy of the template of the source.
    #[allow(clippy::inline_always)] // part of the handler of the packet's arrival, rarely called elsewhere
    #[inline(always)]
    pub(super) fn send_prescheduled(
        &mut self,
        arrives: Time,
        link: LinkId,
        lookahead: u32,
        source: usize,
        packet: &mut Packet,
    ) {
        self.hosts.take_packet(source, packet);
        self.hosts.measurements.packet_hops += 1;
        self.lookaheads[lookahead as usize].prescheduled = Prescheduled::Nothing;
        let mut hop = self.hop(link);
        hop.record_arrival(packet.sent_at, packet);
        let departure = Departure { starts: packet.sent_at, ends: arrives - hop.link.direction.delay };
        hop.cut_through(packet, departure);
    }

    /// Sends the prescheduled packet of `feeder` if it is due by `now`. Returns whether the packet still has
    /// to be sent.
    #[cold]
    fn send_if_due(&mut self, now: Time, link: LinkId, lookahead: u32, feeder: Feeder) -> bool {
        let source = self.lookaheads[lookahead as usize].feeders.source(feeder);
        let Emission { at, length, .. } = self.hosts.sources[source].due;
        if at > now {
            return true;
        }
        let direction = &self.links[link.index()].direction;
        let Some(departure) = direction.port.cut_through_departure(at, length) else {
            unreachable!("nothing has entered the port since its departure was computed")
        };
        let arrives = departure.ends + direction.delay;
        let mut packet = self.hosts.sources[source].template;
        self.send_prescheduled(arrives, link, lookahead, source, &mut packet);
        let in_flight = &mut self.links[link.index()].direction.in_flight;
        self.flights.push_back(in_flight, Flight { packet, arrives });
        false
    }

    /// Runs all steps of `link`'s port that are due by `now`, each at the time at which it is due.
    ///
    /// The agenda needs no poll at the instant at which the transmit ring has room again. A packet is in
    /// flight from the instant at which it enters the ring, because its departure is then known. A busy port
    /// therefore always has a packet in flight. The arrival of that packet calls this function before the
    /// next packets are late. With inline delivery, either no packet can be late or the port schedules a poll
    /// ([`World::await_poll`]).
    #[inline]
    pub(super) fn run_port_to(&mut self, now: Time, link: LinkId) {
        if let Entry::Lookahead(lookahead) = self.links[link.index()].entry {
            self.send_ahead(now, link, lookahead);
        } else if self.links[link.index()].direction.port.backlog() > 0 {
            self.send_due_packets(now, link);
        }
    }

    /// Runs all steps that are due by `now` at the ports that share memory with `link`'s port. Packets that
    /// have left these ports then no longer occupy the memory.
    #[inline(never)]
    pub(super) fn run_sharers_to(&mut self, now: Time, link: LinkId) {
        for place in 0..self.links[link.index()].direction.sharers().len() {
            let sharer = self.links[link.index()].direction.sharers()[place];
            self.run_port_to(now, sharer);
        }
    }

    /// Sends the packets of `link`'s port that are due by `now`.
    #[inline(never)]
    pub(super) fn send_due_packets(&mut self, now: Time, link: LinkId) {
        let due = |world: &Self| world.links[link.index()].direction.port.poll_timeout();
        while let Some(due) = due(self).filter(|due| *due <= now) {
            self.transmit_unpolled(due, link);
        }
        self.await_poll(link);
    }

    /// Sends the packets that are due by `now` from the sources that look ahead over `link`. This must happen
    /// before a packet leaves a later port at the same time.
    #[inline(never)]
    pub(super) fn send_due_upstream(&mut self, now: Time, link: LinkId) {
        if let Entry::Lookahead(lookahead) = self.links[link.index()].entry {
            self.send_ahead(now, link, lookahead);
        }
    }

    /// Sends the packets that are due by `now` from a host's sources, and continues until a packet is in
    /// flight at their barrier.
    ///
    /// The rest of the network changes neither the packets of these sources nor the way of the packets up to
    /// the barrier. The agenda therefore needs only one event: the arrival of the packet at the barrier.
    #[inline(never)]
    fn send_ahead(&mut self, now: Time, link: LinkId, lookahead: u32) {
        let Lookahead { prescheduled, feeders, barrier } = self.lookaheads[lookahead as usize];
        if let Prescheduled::Next(feeder) = prescheduled
            && self.send_if_due(now, link, lookahead, feeder)
        {
            return;
        }
        loop {
            let source = feeders.source(feeders.first_by(|source| self.hosts.sources[source].due.at));
            let emission = self.hosts.sources[source].due.at;
            let timeout = self.links[link.index()].direction.port.poll_timeout().unwrap_or(Time::MAX);
            let next = emission.min(timeout);
            if next > now
                && (next > self.hosts.measurements.duration
                    || !self.links[barrier.index()].direction.in_flight.is_empty())
            {
                return;
            }
            if timeout <= emission {
                self.transmit(timeout, link);
            } else {
                let mut packet = self.hosts.sources[source].template;
                self.hosts.take_packet(source, &mut packet);
                self.send(emission, link, &mut packet);
            }
        }
    }

    /// Schedules a poll of `link`'s port, unless the arrival of a packet in flight causes one.
    #[inline]
    pub(super) fn await_poll(&mut self, link: LinkId) {
        if self.links[link.index()].awaits_poll() {
            self.schedule_poll(link);
        }
    }

    /// Schedules a poll of `link`'s port.
    #[inline(never)]
    pub(super) fn schedule_poll(&mut self, link: LinkId) {
        let link = &mut self.links[link.index()];
        let direction = &mut link.direction;
        let Some(timeout) = direction.port.poll_timeout() else { return };
        // The port sends the next packet at `timeout`. With inline delivery, no element can observe that the
        // port is late before that packet could reach the far end.
        let time = match link.far_end {
            FarEnd::Inline(_) => timeout.saturating_add(direction.delay),
            FarEnd::Event | FarEnd::PolledEvent => timeout,
        };
        // A poll that is too early only costs time, because the port schedules another poll. A poll that is
        // too late causes wrong results.
        if direction.poll_at.is_none_or(|pending| time < pending) {
            self.agenda.schedule(direction.poll, time);
            direction.poll_at = Some(time);
        }
    }

    /// Polls `link`'s port at `now`, unless an earlier poll replaced this one.
    pub(super) fn poll(&mut self, now: Time, link: LinkId) {
        let pending = &mut self.links[link.index()].direction.poll_at;
        if *pending == Some(now) {
            *pending = None;
            if let Entry::Upstream(first) = self.links[link.index()].entry {
                self.send_due_upstream(now, first);
            }
            self.run_port_to(now, link);
        }
    }
}
