//! [`Engine`]: the interface through which hosts and runs use the two engines. The plain engine is a
//! [`Network`](perhop_net::Network) with [`Hosts`] at its edge. The fast engine is
//! [`World`](crate::fast::World).

use perhop_measure::{Conditioned, Measurements, PauseMeasurements, PortMeasurements, QueueSeries};
use perhop_net::{Direction, Flights, Sharing};
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::port::Port;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use crate::event::SimAgenda;
use crate::flow::flow_of;
use crate::hosts::{Hosts, QueueProbe};
use crate::link_ends::{LinkEnds, port_name};

/// One replication of a scenario, ready to run, running or finished.
pub trait Engine: Sized {
    /// Returns the hosts.
    fn hosts(&self) -> &Hosts;
    /// Returns the hosts, to change them.
    fn hosts_mut(&mut self) -> &mut Hosts;
    /// Returns the hosts and the agenda, to change both at the same time.
    fn split(&mut self) -> (&mut Hosts, &mut SimAgenda);
    /// Returns the direction of a link.
    fn direction(&self, link: LinkId) -> &Direction;
    /// Returns the direction of a link, to change it.
    fn direction_mut(&mut self, link: LinkId) -> &mut Direction;
    /// The packets in flight on all links.
    fn flights(&self) -> &Flights;
    /// Sends `packet` from a node over `link`.
    fn forward(&mut self, now: Time, link: LinkId, packet: &mut Packet);
    /// Advances the port of `link` to `now`. Call it before you read the state of the port.
    fn catch_up(&mut self, now: Time, link: LinkId);
    /// Runs all events up to `limit`.
    fn run_until(&mut self, limit: Time);
    /// Returns the counts of pauses by priority flow control at the end of the run.
    fn pauses(&mut self) -> Vec<PauseMeasurements> {
        Vec::new()
    }
    /// Returns the hosts and the directions of links, in the order of the links, at the end of the run.
    fn into_parts(self) -> (Hosts, impl Iterator<Item = Direction>);

    /// Runs all events up to the end of the run and advances every port to that time.
    fn finish(&mut self) {
        let duration = self.hosts().measurements.duration;
        self.run_until(duration);
        self.catch_up_everywhere(duration);
    }
    /// Advances every port to `now`, in the order of the paths, because a port that catches up may send
    /// packets to the next port of a path.
    fn catch_up_everywhere(&mut self, now: Time) {
        for place in 0..self.hosts().paths.len() {
            let link = self.hosts().paths[place];
            self.catch_up(now, link);
        }
    }
    /// The number of times that packets entered a wire, since the start of the run.
    fn packet_hops(&self) -> u64;
    /// The name of port number `port` in results. Port numbers follow the order of the scenario's links; each
    /// link has two ports, one for each direction.
    fn port_name(&self, port: usize) -> Option<String> {
        let ends = &self.hosts().link_ends;
        (port < ends.len()).then(|| port_name(ends.names(LinkId(port as u32))))
    }

    /// Returns all counts of a completed run.
    ///
    /// # Panics
    /// In debug builds, if a packet disappeared or was duplicated, which is a bug of the engine.
    fn measure(mut self) -> Measurements {
        let hosts = self.hosts_mut();
        hosts.measurements.in_network = vec![0; hosts.measurements.flows.len()];
        hosts.settle_fragments();
        let mut in_network = std::mem::take(&mut hosts.measurements.in_network);
        let (links, warmup) = (0..hosts.link_ends.len() as u32, hosts.measurements.warmup);
        let mut carrying = 0;
        for packet in links.clone().flat_map(|link| self.direction(LinkId(link)).packets(self.flights())) {
            // The flow number of a fragment is not the index of a flow. `settle_fragments` counts its
            // datagram.
            if let Some(under_way) = in_network.get_mut(flow_of(packet)) {
                *under_way += u64::from(packet.sent_at >= warmup);
            }
            carrying += usize::from(packet.protocol == Protocol::TCP);
        }
        let ports = links.map(|link| &self.direction(LinkId(link)).port);
        debug_assert!(
            Port::is_memory_conserved(ports),
            "used memory differs from the units of queued packets"
        );
        let packet_hops = self.packet_hops();
        let pauses = self.pauses();
        let (hosts, directions) = self.into_parts();
        let Hosts { mut measurements, mut transport, queue_probes, link_ends, .. } = hosts;
        measurements.in_network = in_network;
        measurements.packet_hops = packet_hops;
        measurements.pauses = pauses;
        let series = |probe: QueueProbe| QueueSeries { port: probe.link.index(), samples: probe.samples };
        measurements.queues = queue_probes.into_iter().map(series).collect();
        transport.measure(&mut measurements.tcp);
        if cfg!(debug_assertions) {
            measurements.assert_conservation();
            assert_eq!(carrying, transport.segments.len(), "packets of TCP and segments in the network");
        }
        // Frees the memory of the connections before the results of the ports are allocated.
        drop(transport);
        add_ports(&mut measurements, directions, &link_ends);
        measurements
    }
}

/// Adds the counts of ports and conditioners to `measurements`. `directions` are in the order of `link_ends`.
pub(crate) fn add_ports(
    measurements: &mut Measurements,
    directions: impl Iterator<Item = Direction>,
    link_ends: &LinkEnds,
) {
    measurements.ports.reserve_exact(link_ends.len());
    for (direction, [from, to]) in directions.zip(link_ends.iter()) {
        let Direction { queue_names, tally, output, input, sharing, .. } = direction;
        for (conditioner, nodes, side) in [(output, [from, to], "output"), (input, [to, from], "input")] {
            let counted =
                conditioner.iter().flat_map(|conditioner| Conditioned::by(conditioner, nodes, side));
            measurements.conditioners.extend(counted);
        }
        let sharing = sharing.map(|sharing| *sharing);
        let (sharers, pool_drops) = sharing.map_or_else(Default::default, |Sharing { sharers, drops }| {
            (sharers.iter().map(|link| link.index()).collect(), drops)
        });
        let name = port_name([from, to]);
        measurements.ports.push(PortMeasurements { name, queue_names, tally, sharers, pool_drops });
    }
}
