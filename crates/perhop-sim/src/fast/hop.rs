//! [`Hop`]: one link, with the parts of the world through which a packet passes the port and enters the wire.

use perhop_net::{Flight, Flights, PortCounters};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::port::{Departure, Port, Sent};
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::link::{Awaited, FarEnd, Link};
use super::world::World;
use crate::event::SimAgenda;
use crate::hosts::Hosts;

/// One link of a world, with the state that the steps of a packet at this link change.
pub(super) struct Hop<'w, W> {
    pub(super) link: &'w mut Link,
    id: LinkId,
    flights: &'w mut Flights,
    hosts: &'w mut Hosts,
    agenda: &'w mut SimAgenda,
    observers: &'w mut W,
}

impl<W> World<W> {
    /// Returns the hop of link `id`.
    #[allow(clippy::inline_always)] // executed for every packet on every hop
    #[inline(always)]
    pub(super) fn hop(&mut self, id: LinkId) -> Hop<'_, W> {
        let World { links, flights, hosts, agenda, observers, .. } = self;
        Hop { link: &mut links[id.index()], id, flights, hosts, agenda, observers }
    }
}

#[allow(clippy::inline_always)] // executed for every packet on every hop
impl<W: PortObservers> Hop<'_, W> {
    /// Returns the port and the observers of its events.
    #[inline(always)]
    fn port(&mut self) -> (&mut Port, PortCounters<'_, Hosts, W::Observer<'_>>) {
        let (counts_from, ends) = (self.hosts.measurements.warmup, self.hosts.measurements.duration);
        let counters = PortCounters {
            tally: &mut self.link.direction.tally,
            sink: self.hosts,
            link: self.id,
            counts_from,
            ends,
            observer: self.observers.of_port(self.id.index()),
        };
        (&mut self.link.direction.port, counters)
    }

    /// Records that `packet` arrived at the port, before its conditioners.
    #[inline(always)]
    pub(super) fn record_arrival(&mut self, now: Time, packet: &Packet) {
        self.observers.arriving(now, self.id.index(), packet);
    }
    /// Calls [`Port::cut_through`] with the observers of the port.
    #[inline(always)]
    pub(super) fn cut_through(&mut self, packet: &Packet, departure: Departure) {
        let (port, counters) = self.port();
        port.cut_through(packet, departure, counters);
    }
    /// Calls [`Port::precompute_departure`] with the observers of the port.
    #[inline(always)]
    pub(super) fn precompute_departure(&mut self, now: Time, packet: &mut Packet) -> Option<Departure> {
        let (port, counters) = self.port();
        let Departure { starts, ends } = port.precompute_departure(now, packet, counters)?;
        // On a slow wire, the computed departure can exceed `Time::MAX`.
        let latest = Time::MAX.saturating_sub(self.link.direction.delay);
        Some(Departure { starts, ends: ends.min(latest.saturating_sub(Time::from_picoseconds(1))) })
    }
    /// Calls [`Port::send`] with the observers of the port.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Time, packet: &mut Packet) -> Sent {
        let (port, counters) = self.port();
        port.send(now, packet, counters)
    }
    /// Calls [`Port::poll_transmit`] with the observers of the port.
    #[inline(always)]
    pub(super) fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> Option<Departure> {
        let (port, counters) = self.port();
        port.poll_transmit(now, packet, counters)
    }

    /// Puts `packet`, which leaves its queue at `leaves`, on the wire. The packet arrives when its last bit
    /// arrives; the last bit is sent at the end of `departure`. Returns the time of arrival if the packet is
    /// delivered inline now. Otherwise, the packet is in flight until an event.
    #[inline(always)]
    pub(super) fn launch(&mut self, leaves: Time, packet: &Packet, departure: Departure) -> Option<Time> {
        let measurements = &mut self.hosts.measurements;
        measurements.packet_hops += u64::from(leaves <= measurements.duration);
        let arrives = departure.ends + self.link.direction.delay;
        if self.link.direction.in_flight.is_empty() {
            if self.lookahead(packet).is_some_and(|until| arrives <= until) {
                return Some(arrives);
            }
            self.agenda.schedule(self.link.direction.arrival, arrives);
        }
        self.flights.push_back(&mut self.link.direction.in_flight, Flight { packet: *packet, arrives });
        None
    }

    /// Returns the lookahead of the link (Chandy and Misra 1979, "Distributed simulation"). Until this time,
    /// no other packet can reach the elements that `packet` enters at the far end. A packet that arrives
    /// until this time is received inline. Without a lookahead, an event receives the packet. Arrivals
    /// precede all other events of the agenda at the same time.
    #[inline(always)]
    pub(super) fn lookahead(&self, packet: &Packet) -> Option<Time> {
        match self.link.far_end {
            FarEnd::Event | FarEnd::PolledEvent => None,
            FarEnd::Inline(Awaited::Tcp) => self.hosts.transport.lookahead(packet),
            FarEnd::Inline(_) => Some(self.hosts.measurements.duration),
        }
    }
    /// Schedules the arrival of the first packet in flight for `arrives`.
    #[inline(always)]
    pub(super) fn await_arrival(&mut self, arrives: Time) {
        self.agenda.schedule(self.link.direction.arrival, arrives);
    }
}
