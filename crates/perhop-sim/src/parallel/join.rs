//! The measurements of a network, joined from its parts.

use perhop_measure::applications::{PageTally, SpeedTally, VideoTally};
use perhop_measure::tcp::{ConnectionSeries, TcpMeasurements};
use perhop_measure::{Measurements, QueueSeries};
use perhop_net::Direction;
use perhop_qos::Port;
use perhop_qos::packet::Protocol;
use perhop_scenario::routing::LinkId;

use super::numbering::Numbering;
use super::part::Part;
use crate::engine::{Engine, add_ports};
use crate::fast::World;
use crate::flow::flow_of;
use crate::hosts::Hosts;
use crate::link_ends::LinkEnds;
use crate::setup::Crossing;

/// The results of a network. The parts can be added in any order.
pub(super) struct Joint {
    measurements: Measurements,
    link_ends: LinkEnds,
    near: Vec<Option<Direction>>,
    far: Vec<Option<Direction>>,
    queues: Places<QueueSeries>,
    series: Places<ConnectionSeries>,
    videos: Places<VideoTally>,
    pages: Places<PageTally>,
    speed_tests: Places<SpeedTally>,
}

/// Elements of all parts, each with its number in the whole network.
struct Places<T>(Vec<(usize, T)>);

impl<T> Places<T> {
    fn add(&mut self, numbers: &[usize], elements: impl IntoIterator<Item = T>) {
        self.0.extend(numbers.iter().copied().zip(elements));
    }
    fn in_order(mut self) -> Vec<T> {
        self.0.sort_by_key(|(number, _)| *number);
        self.0.into_iter().map(|(_, element)| element).collect()
    }
}

impl Joint {
    /// Creates the results of a network before any part is added. `measurements` are empty.
    pub(super) fn new(mut measurements: Measurements, link_ends: LinkEnds) -> Joint {
        measurements.in_network = vec![0; measurements.flows.len()];
        let nothing = || link_ends.iter().map(|_| None).collect();
        Joint {
            measurements,
            near: nothing(),
            far: nothing(),
            link_ends,
            queues: Places(Vec::new()),
            series: Places(Vec::new()),
            videos: Places(Vec::new()),
            pages: Places(Vec::new()),
            speed_tests: Places(Vec::new()),
        }
    }

    /// Adds the counts of `part`, whose run has ended.
    pub(super) fn add(&mut self, part: Part) {
        let Part { world, numbering, .. } = part;
        self.count_in_network(&world, &numbering);
        let (hosts, directions) = world.into_parts();
        let Hosts { measurements: mut counted, mut transport, queue_probes, .. } = hosts;
        transport.measure(&mut counted.tcp);
        self.add_tcp(&mut counted.tcp, &numbering);
        self.measurements.add_part(counted, &numbering.flows, &numbering.sessions);
        self.queues.add(
            &numbering.queue_probes,
            queue_probes.into_iter().map(|probe| QueueSeries {
                port: numbering.links[probe.link.index()].0.index(),
                samples: probe.samples,
            }),
        );
        for (mut direction, (link, crossing)) in directions.zip(&numbering.links) {
            for sharer in direction.sharers_mut() {
                *sharer = numbering.links[sharer.index()].0;
            }
            let sides = if *crossing == Crossing::Enters { &mut self.far } else { &mut self.near };
            sides[link.index()] = Some(direction);
        }
    }

    /// Counts the packets in queues and on wires of `world`.
    fn count_in_network(&mut self, world: &World, numbering: &Numbering) {
        let (links, warmup) = (0..numbering.links.len() as u32, self.measurements.warmup);
        let mut carrying = 0;
        let directions = links.clone().map(|link| world.direction(LinkId(link)));
        for packet in directions.flat_map(|direction| direction.packets(world.flights())) {
            let flow = numbering.flows[flow_of(packet)];
            self.measurements.in_network[flow] += u64::from(packet.sent_at >= warmup);
            carrying += usize::from(packet.protocol == Protocol::TCP);
        }
        let ports = links.map(|link| &world.direction(LinkId(link)).port);
        debug_assert!(
            Port::is_memory_conserved(ports),
            "used memory differs from the units of queued packets"
        );
        debug_assert_eq!(
            carrying,
            world.hosts().transport.segments.len(),
            "packets of TCP and segments in the network"
        );
    }

    fn add_tcp(&mut self, counted: &mut TcpMeasurements, numbering: &Numbering) {
        let renumber = |mut series: ConnectionSeries| {
            for sample in &mut series.samples {
                sample.session = numbering.sessions[sample.session];
            }
            series
        };
        self.series.add(&numbering.connection_probes, counted.series.drain(..).map(renumber));
        self.videos.add(&numbering.players, counted.videos.drain(..));
        self.pages.add(&numbering.browsers, counted.pages.drain(..));
        self.speed_tests.add(&numbering.speed_tests, counted.speed_tests.drain(..));
    }

    /// Returns the measurements of the whole network. All parts must have been added.
    ///
    /// # Panics
    /// In debug builds, if a packet disappeared or was duplicated, which is a bug of the engine.
    pub(super) fn measurements(self) -> Measurements {
        let Joint { mut measurements, link_ends, near, far, .. } = self;
        measurements.queues = self.queues.in_order();
        measurements.tcp.series = self.series.in_order();
        measurements.tcp.videos = self.videos.in_order();
        measurements.tcp.pages = self.pages.in_order();
        measurements.tcp.speed_tests = self.speed_tests.in_order();
        if cfg!(debug_assertions) {
            measurements.assert_conservation();
        }
        let directions = near.into_iter().zip(far).filter_map(|(near, far)| {
            let mut direction = near?;
            if let Some(far) = far {
                direction.input = far.input;
                direction.tally.beyond = far.tally.beyond;
            }
            Some(direction)
        });
        add_ports(&mut measurements, directions, &link_ends);
        measurements
    }
}
