//! [`Draft`]: one part during the division of a network.

use std::collections::BTreeMap;
use std::sync::Arc;

use perhop_measure::Measurements;
use perhop_measure::counters::PortTally;
use perhop_net::agenda::Slot;
use perhop_net::{Direction, InFlight};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::WireConfig;
use perhop_qos::port::Port;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::Rate;
use perhop_scenario::routing::LinkId;

use crate::event::SimAgenda;
use crate::flow::Template;
use crate::fragments::Fragments;
use crate::hosts::{FarNode, FlowSource, Hosts, QueueProbe};
use crate::link_ends::LinkEnds;
use crate::parallel::numbering::Numbering;
use crate::session::Transport;
use crate::setup::{Crossing, Entering, Setup};

/// A part of a network, to which its elements are added in the order of the whole network.
pub(super) struct Draft {
    pub(super) agenda: SimAgenda,
    pub(super) directions: Vec<Direction>,
    pub(super) sources: Vec<FlowSource>,
    pub(super) queue_probes: Vec<QueueProbe>,
    pub(super) transport: Transport,
    /// By flow of a session that leaves this part and returns: the number of the returning flow.
    pub(super) returning: BTreeMap<usize, usize>,
    pub(super) numbering: Numbering,
    entering: Vec<Entering>,
    far_nodes: Vec<FarNode>,
    flow_paths: Vec<u32>,
    templates: Vec<Template>,
    paths: Vec<LinkId>,
}

impl Draft {
    /// Creates a part without elements. `measurements` has the warm-up and the duration of the run.
    pub(super) fn new(measurements: &Measurements) -> Draft {
        Draft {
            agenda: SimAgenda::new(),
            directions: Vec::new(),
            sources: Vec::new(),
            queue_probes: Vec::new(),
            transport: Transport::new(measurements.warmup, measurements.duration),
            returning: BTreeMap::new(),
            numbering: Numbering::default(),
            entering: Vec::new(),
            far_nodes: Vec::new(),
            flow_paths: Vec::new(),
            templates: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// Adds a side of `link` and returns its number in this part. Directions are added later in the same
    /// order.
    pub(super) fn add_link(
        &mut self,
        link: LinkId,
        crossing: Crossing,
        far_node: FarNode,
        entering: Entering,
    ) -> usize {
        self.numbering.links.push((link, crossing));
        self.far_nodes.push(far_node);
        self.entering.push(entering);
        self.far_nodes.len() - 1
    }

    /// Adds a path of `links`, which have the numbers of this part, and returns its start.
    pub(super) fn add_path(&mut self, links: &[LinkId]) -> u32 {
        let start = self.paths.len() as u32;
        self.paths.extend(links);
        start
    }

    /// Adds `flow` with the path at `start`, and returns its number in this part.
    pub(super) fn add_flow(&mut self, flow: usize, start: u32, template: Template) -> usize {
        self.numbering.flows.push(flow);
        self.numbering.onward.push(0);
        self.flow_paths.push(start);
        self.templates.push(template);
        self.flow_paths.len() - 1
    }

    /// Completes the part. `whole` has the measurements of the whole network.
    pub(super) fn finish(self, whole: &Measurements) -> (Setup, Numbering) {
        let Draft { agenda, directions, sources, queue_probes, mut transport, numbering, .. } = self;
        transport.reserve_connections();
        let mut fragments = Fragments::default();
        fragments.number_from(self.flow_paths.len());
        let hosts = Hosts {
            flow_paths: self.flow_paths,
            templates: self.templates,
            paths: self.paths,
            sources,
            replays: Vec::new(),
            transport,
            fragments,
            queue_probes,
            taps: directions.iter().map(|_| None).collect(),
            // Only the whole network has names.
            link_ends: LinkEnds::default(),
            far_nodes: self.far_nodes,
            measurements: whole.part(&numbering.flows, &numbering.sessions),
        };
        let crossings = numbering.links.iter().map(|(_, crossing)| *crossing).collect();
        let (entering, returning) = (self.entering, self.returning);
        let mut numbering = numbering;
        numbering.borders.sort_by_key(|border| border.part);
        (Setup { agenda, directions, hosts, entering, crossings, returning, pauses: None }, numbering)
    }
}

/// Removes the far side from `near`, a direction over a border, and returns the far side. It has the losses
/// of the wire and the input conditioners. No packet enters its port.
pub(super) fn far_side(near: &mut Direction, arrival: Slot) -> Direction {
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(1_000_000_000),
        framing: Framing::Raw,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    let port = Port::build(None, &wire, &[], &Streams::new(0, 0));
    Direction {
        delay: near.delay,
        in_flight: InFlight::default(),
        arrival,
        ingress: near.ingress,
        mtu: Direction::UNLIMITED,
        input: std::mem::take(&mut near.input),
        output: None,
        loss: near.loss.take(),
        tally: PortTally::new(1),
        port: port.unwrap_or_else(|error| unreachable!("a plain port: {error}")),
        poll: arrival,
        poll_at: None,
        sharing: None,
        queue_names: Arc::default(),
    }
}
