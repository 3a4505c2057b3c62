//! [`World`]: the state of the fast engine.

use perhop_net::{Direction, Event, Flights};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::link::Link;
use super::lookahead::Lookahead;
use crate::engine::Engine;
use crate::event::SimAgenda;
use crate::host_events::HostEvents;
use crate::hosts::Hosts;

/// One replication of a scenario in the fast engine; `W` observes its ports.
#[derive(Debug)]
pub struct World<W = ()> {
    pub(super) agenda: SimAgenda,
    pub(super) links: Vec<Link>,
    pub(super) flights: Flights,
    /// The lookaheads by the index in [`Entry::Lookahead`](super::link::Entry).
    pub(super) lookaheads: Vec<Lookahead>,
    pub(super) hosts: Hosts,
    pub(super) observers: W,
}

impl<W> World<W> {
    /// Returns the observers of the ports.
    pub fn observers(&mut self) -> &mut W {
        &mut self.observers
    }
    /// Returns the time of the next event, [`Time::MAX`] if there is none.
    pub(crate) fn next_at(&mut self) -> Time {
        self.agenda.next_at().unwrap_or(Time::MAX)
    }
    /// Returns the number of events so far.
    pub(crate) fn events(&self) -> u64 {
        self.agenda.taken()
    }
}

impl<W: PortObservers> Engine for World<W> {
    fn hosts(&self) -> &Hosts {
        &self.hosts
    }
    fn hosts_mut(&mut self) -> &mut Hosts {
        &mut self.hosts
    }
    #[inline]
    fn split(&mut self) -> (&mut Hosts, &mut SimAgenda) {
        (&mut self.hosts, &mut self.agenda)
    }
    fn direction(&self, link: LinkId) -> &Direction {
        &self.links[link.index()].direction
    }
    fn direction_mut(&mut self, link: LinkId) -> &mut Direction {
        &mut self.links[link.index()].direction
    }
    fn flights(&self) -> &Flights {
        &self.flights
    }
    #[inline]
    fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        self.send(now, link, packet);
    }
    fn catch_up(&mut self, now: Time, link: LinkId) {
        self.run_port_to(now, link);
    }
    fn packet_hops(&self) -> u64 {
        self.hosts.measurements.packet_hops
    }
    fn run_until(&mut self, limit: Time) {
        let exceeds_caches = self.exceeds_caches();
        while let Some((now, event)) = self.agenda.pop_until(limit) {
            if exceeds_caches {
                self.prefetch_upcoming();
            }
            match event {
                Event::Arrival(link) => self.arrive(now, link),
                Event::Poll(link) => self.poll(now, link),
                Event::Edge(event) => self.handle_host_event(now, event),
                // Networks with pauses run in the plain engine.
                Event::Pause(_) => {}
            }
        }
    }
    fn into_parts(self) -> (Hosts, impl Iterator<Item = Direction>) {
        (self.hosts, self.links.into_iter().map(|link| link.direction))
    }
}
