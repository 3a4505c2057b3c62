//! [`Hop`]: one link, and all of the world that a packet asks on its way through that link's port and onto its wire.

use perhop_qos::observer::Watch;
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::port::{Departure, Port, Sent};
use perhop_qos::units::Time;

use perhop_measure::Measurements;

use super::{Event, World};
use crate::link::{Counters, Flight, Link};
use crate::session::Transport;
use perhop_measure::counters::FlowCounters;
use perhop_net::agenda::Agenda;
use perhop_scenario::routing::LinkId;

/// One link of a world, looked up once for all that is done there.
pub(super) struct Hop<'w, W> {
    pub(super) link: &'w mut Link,
    index: usize,
    flows: &'w mut [FlowCounters],
    transport: &'w mut Transport,
    agenda: &'w mut Agenda<Event>,
    /// As [`World::horizon`].
    horizon: Time,
    warmup: Time,
    duration: Time,
    watch: &'w mut W,
}

impl<W> World<W> {
    /// What a packet asks at `link`.
    #[allow(clippy::inline_always)] // a part of what every packet does on every hop
    #[inline(always)]
    pub(super) fn hop(&mut self, link: LinkId) -> Hop<'_, W> {
        let World { links, measurements, transport, agenda, horizon, watch, .. } = self;
        let Measurements { counters, warmup, duration, .. } = measurements;
        let (index, horizon, warmup, duration) = (link.index(), *horizon, *warmup, *duration);
        Hop {
            link: &mut links[index],
            index,
            flows: counters,
            transport,
            agenda,
            horizon,
            warmup,
            duration,
            watch,
        }
    }
}

#[allow(clippy::inline_always)] // parts of what every packet does on every hop
impl<W: Watch> Hop<'_, W> {
    /// The port, and who counts what happens there.
    #[inline(always)]
    fn port(&mut self) -> (&mut Port, Counters<'_, W::Observer<'_>>) {
        let counters = Counters {
            port: &mut self.link.tally,
            tap: &mut self.link.tap,
            flows: self.flows,
            segments: &mut self.transport.segments,
            warmup: self.warmup,
            duration: self.duration,
            observer: self.watch.at(self.index),
        };
        (&mut self.link.port, counters)
    }

    /// `packet` comes to the port, before its conditioners.
    #[inline(always)]
    pub(super) fn come(&mut self, now: Time, packet: &Packet) {
        self.watch.comes(now, self.index, packet);
    }
    /// [`Port::pass`].
    #[inline(always)]
    pub(super) fn pass(&mut self, packet: &Packet, departure: Departure) {
        let (port, counters) = self.port();
        port.pass(packet, departure, counters);
    }
    /// [`Port::book`].
    #[inline(always)]
    pub(super) fn book(&mut self, now: Time, packet: &mut Packet) -> Option<Departure> {
        let (port, counters) = self.port();
        let Departure { starts, ends } = port.book(now, packet, counters)?;
        // Before a slow wire a packet's turn may come after all times there are.
        let latest = Time::MAX.saturating_sub(self.link.delay).saturating_sub(Time::from_picoseconds(1));
        Some(Departure { starts, ends: ends.min(latest) })
    }
    /// [`Port::send`].
    #[inline(always)]
    pub(super) fn send(&mut self, now: Time, packet: &mut Packet) -> Sent {
        let (port, counters) = self.port();
        port.send(now, packet, counters)
    }
    /// [`Port::poll_transmit`].
    #[inline(always)]
    pub(super) fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> Option<Departure> {
        let (port, counters) = self.port();
        port.poll_transmit(now, packet, counters)
    }

    /// `packet`, which `leaves` its queue then, arrives when its last bit does, which goes out as its `departure` ends. The answer is
    /// when, if what becomes of it at the far end is known now; else the agenda will come to it.
    #[inline(always)]
    pub(super) fn launch(&mut self, leaves: Time, packet: &Packet, departure: Departure) -> Option<Time> {
        self.link.transmitted += u64::from(leaves <= self.duration);
        let arrives = departure.ends + self.link.delay;
        if self.link.in_flight.is_empty() {
            if self.link.settles && self.is_settled(packet, arrives) {
                return Some(arrives);
            }
            self.agenda.schedule(self.link.arrival, arrives);
        }
        self.link.in_flight.push_back(Flight { arrives, packet: *packet });
        None
    }

    /// Whether what becomes of `packet`, which arrives at `arrives`, is known now, on a link that settles.
    #[inline(always)]
    pub(super) fn is_settled(&self, packet: &Packet, arrives: Time) -> bool {
        arrives <= self.duration
            && (!self.link.answers
                || packet.protocol != Protocol::TCP
                || (arrives <= self.horizon && self.transport.may_answer(packet, arrives)))
    }
    /// The agenda will come to what is in flight here at `arrives`.
    #[inline(always)]
    pub(super) fn await_arrival(&mut self, arrives: Time) {
        self.agenda.schedule(self.link.arrival, arrives);
    }
}
