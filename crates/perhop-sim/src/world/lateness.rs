//! Ports that nobody wakes when their wire is free, and hosts that run ahead: when each is brought to what time.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;

use perhop_measure::Measurements;

use super::World;
use crate::link::{Feeder, Flight, Link};
use perhop_net::source::Emission;
use perhop_scenario::routing::LinkId;

impl<W: Watch> World<W> {
    /// Lets every port send what has become due by `now`, wherever nothing on the agenda has asked for it yet.
    pub(crate) fn catch_up_everywhere(&mut self, now: Time) {
        // Along the paths: what catches up may be all that feeds the link behind it.
        for place in 0..self.paths.len() {
            self.catch_up(now, self.paths[place]);
        }
    }

    /// Announces the next packet of the sources that run ahead by `link`, or lets them send what is due by `now`.
    ///
    /// A packet that will find the port idle needs nothing but its arrival on the agenda until then: nobody asks for it,
    /// and nothing enters this link but what its own sources send after it.
    #[allow(clippy::inline_always)] // a part of the arrival before
    #[inline(always)]
    pub(crate) fn go_ahead(&mut self, now: Time, link: LinkId) {
        let World { links, senders, agenda, measurements: Measurements { duration, .. }, .. } = self;
        let hop = &mut links[link.index()];
        if hop.announces && hop.in_flight.is_empty() {
            let first = hop.feeders.first_by(|sender| senders[sender].due.at);
            let Emission { at, length, .. } = senders[hop.feeders.sender(first)].due;
            if at <= *duration
                && let Some(departure) = hop.port.foresee(at, length)
            {
                hop.announced = Some(first);
                agenda.schedule(hop.arrival, departure.ends + hop.delay);
                return;
            }
        }
        self.run_ahead(now, link);
    }

    /// Sends the packet that `sender` announced, and which arrives at the far end of `link` at `arrives`. `packet` is its
    /// template.
    #[allow(clippy::inline_always)] // a part of its arrival, seldom of anything else
    #[inline(always)]
    pub(super) fn send_announced(&mut self, arrives: Time, link: LinkId, sender: usize, packet: &mut Packet) {
        self.take_packet(sender, packet);
        let mut hop = self.hop(link);
        hop.come(packet.sent_at, packet);
        hop.link.announced = None;
        hop.link.transmitted += 1;
        let departure = Departure { starts: packet.sent_at, ends: arrives - hop.link.delay };
        hop.pass(packet, departure);
    }

    /// Sends what is announced on `link` if it is due by `now`. The answer is whether anything is announced still.
    #[cold]
    fn send_if_due(&mut self, now: Time, link: LinkId, feeder: Feeder) -> bool {
        let sender = self.links[link.index()].feeders.sender(feeder);
        let Emission { at, length, .. } = self.senders[sender].due;
        if at > now {
            return true;
        }
        let hop = &self.links[link.index()];
        let Some(departure) = hop.port.foresee(at, length) else {
            unreachable!("nothing has entered the port since it was foreseen")
        };
        let arrives = departure.ends + hop.delay;
        let mut packet = self.senders[sender].template;
        self.send_announced(arrives, link, sender, &mut packet);
        self.links[link.index()].in_flight.push_back(Flight { arrives, packet });
        false
    }

    /// Lets happen at `link`'s port what has become due by `now`, each at its own instant.
    ///
    /// Nobody needs to be woken when a ring has room again: a packet's times are known when it enters
    /// the ring, so while a port is busy something is in flight on its wire, and its arrival comes by
    /// here before the packet after the next could be late. Where packets are settled once they are on
    /// the wire nothing can be late, or the port asks to be polled ([`World::await_poll`]).
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, link: LinkId) {
        let Link { feeders, port, .. } = &self.links[link.index()];
        if !feeders.is_empty() {
            self.run_ahead(now, link);
        } else if port.backlog() > 0 {
            self.let_out(now, link);
        }
    }

    /// Lets `link`'s port send what is due by `now`.
    #[inline(never)]
    pub(super) fn let_out(&mut self, now: Time, link: LinkId) {
        while let Some(due) = self.links[link.index()].port.poll_timeout().filter(|due| *due <= now) {
            self.let_out_at(due, link);
        }
        self.await_poll(link);
    }

    /// Lets the sources that run ahead by `link`, if there are any, send what is due by `now`, before anything leaves a port
    /// further on at that time.
    #[inline(never)]
    pub(super) fn drive(&mut self, now: Time, link: LinkId) {
        if !self.links[link.index()].feeders.is_empty() {
            self.run_ahead(now, link);
        }
    }

    /// Lets a host's sources send what is due by `now`, and on until a packet is in flight on the link where the agenda
    /// comes to them.
    ///
    /// Nothing that happens elsewhere changes what these sources send or what becomes of it up to there, so that
    /// packet's arrival is the only event that the agenda needs.
    #[inline(never)]
    fn run_ahead(&mut self, now: Time, link: LinkId) {
        if let Some(feeder) = self.links[link.index()].announced
            && self.send_if_due(now, link, feeder)
        {
            return;
        }
        loop {
            let Link { feeders, port, halt, .. } = &self.links[link.index()];
            let sender = feeders.sender(feeders.first_by(|sender| self.senders[sender].due.at));
            let emission = self.senders[sender].due.at;
            let timeout = port.poll_timeout().unwrap_or(Time::MAX);
            let next = emission.min(timeout);
            if next > now
                && (next > self.measurements.duration || !self.links[halt.index()].in_flight.is_empty())
            {
                return;
            }
            if timeout <= emission {
                self.transmit(timeout, link);
            } else {
                let mut packet = self.senders[sender].template;
                self.take_packet(sender, &mut packet);
                self.forward(emission, link, &mut packet);
            }
        }
    }

    /// Asks for a wake-up of `link`'s port where no packet in flight brings one.
    #[inline]
    pub(crate) fn await_poll(&mut self, link: LinkId) {
        if self.links[link.index()].awaits_poll() {
            self.ask_for_poll(link);
        }
    }

    /// Asks for a wake-up of `link`'s port.
    #[inline(never)]
    pub(super) fn ask_for_poll(&mut self, link: LinkId) {
        let link = &mut self.links[link.index()];
        let Some(timeout) = link.port.poll_timeout() else { return };
        // The next packet cannot reach the far end earlier, and before that nobody knows that it is late.
        let time = if link.settles { timeout.saturating_add(link.delay) } else { timeout };
        // A wake-up that comes too early costs a look and is asked for again; one too late would be wrong.
        if link.poll_at.is_none_or(|pending| time < pending) {
            self.agenda.schedule(link.poll, time);
            link.poll_at = Some(time);
        }
    }

    /// `link`'s port asked to be polled at `now`, unless an earlier wake-up has taken this one's place.
    pub(super) fn poll(&mut self, now: Time, link: LinkId) {
        let pending = &mut self.links[link.index()].poll_at;
        if *pending == Some(now) {
            *pending = None;
            if let Some(first) = self.links[link.index()].driven_by {
                self.drive(now, first);
            }
            self.catch_up(now, link);
        }
    }
}
