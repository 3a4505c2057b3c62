//! The plain engine with simulated hosts: [`Hosts`] at the edge of a [`Network`].

use perhop_measure::PauseMeasurements;
use perhop_net::{Direction, DropPoint, Edge, Flights, FlowControl, Network};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::engine::Engine;
use crate::event::{HostEvent, SimAgenda};
use crate::flow::flow_of;
use crate::host_events::HostEvents;
use crate::hosts::{FarNode, Hosts};

impl Edge for Hosts {
    type Event = HostEvent;

    fn handle_event<W: PortObservers, P: FlowControl>(
        network: &mut Network<Hosts, W, P>,
        now: Time,
        event: HostEvent,
    ) {
        HostEvents::handle_host_event(network, now, event);
    }

    fn receive<W: PortObservers, P: FlowControl>(
        network: &mut Network<Hosts, W, P>,
        now: Time,
        link: LinkId,
        packet: &mut Packet,
    ) {
        let next = match network.edge.far_nodes[link.index()] {
            FarNode::Host => network.deliver(now, packet),
            FarNode::Router => Some(network.edge.link_of(flow_of(packet), packet.hops)),
        };
        if let Some(next) = next {
            network.forward(now, next, packet);
        }
    }

    fn exceed_mtu<W: PortObservers, P: FlowControl>(
        network: &mut Network<Hosts, W, P>,
        now: Time,
        link: LinkId,
        packet: &mut Packet,
    ) {
        let mtu = network.directions[link.index()].mtu;
        let Some(mut pieces) = network.edge.fragments.split(packet, mtu) else {
            return network.drop(now, link, packet, DropCause::TooBig, DropPoint::Output);
        };
        while let Some(mut piece) = pieces.next(&mut network.edge.fragments) {
            network.forward(now, link, &mut piece);
        }
    }
}

impl<W: PortObservers, P: FlowControl> Engine for Network<Hosts, W, P> {
    fn hosts(&self) -> &Hosts {
        &self.edge
    }
    fn hosts_mut(&mut self) -> &mut Hosts {
        &mut self.edge
    }
    fn split(&mut self) -> (&mut Hosts, &mut SimAgenda) {
        (&mut self.edge, &mut self.agenda)
    }
    fn direction(&self, link: LinkId) -> &Direction {
        &self.directions[link.index()]
    }
    fn direction_mut(&mut self, link: LinkId) -> &mut Direction {
        &mut self.directions[link.index()]
    }
    fn flights(&self) -> &Flights {
        &self.flights
    }
    fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        Network::forward(self, now, link, packet);
    }
    fn catch_up(&mut self, now: Time, link: LinkId) {
        Network::catch_up(self, now, link);
    }
    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }
    fn run_until(&mut self, limit: Time) {
        Network::run_until(self, limit);
    }
    fn pauses(&mut self) -> Vec<PauseMeasurements> {
        let ends = self.edge.measurements.duration;
        let Network { pauses, directions, .. } = self;
        let Some(pauses) = pauses.state() else { return Vec::new() };
        debug_assert!(pauses.is_conserved(directions), "levels differ from the bytes of queued packets");
        pauses.measure(directions, ends)
    }
    fn into_parts(self) -> (Hosts, impl Iterator<Item = Direction>) {
        (self.edge, self.directions.into_iter())
    }
}
