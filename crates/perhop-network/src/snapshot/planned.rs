//! [`Plan`]: the parts of a scenario that a network determines, and their nodes.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::classifier::Prefix;
use perhop_scenario::{HostConfig, LinkConfig, RouterConfig};
use serde::Serialize;

use super::{NotRun, PortId, Site, Way};

/// Packets from one site to another, with their paths.
#[derive(Clone, Debug)]
pub struct Journey<'a> {
    /// The site that sends.
    pub from: &'a Site,
    /// The site that receives.
    pub to: &'a Site,
    /// The paths of the packets.
    pub there: Vec<Way>,
    /// The paths of replies; empty without replies.
    pub back: Vec<Way>,
}

/// A port on the path of packets, with its names in the network and in the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedStop {
    /// The name of the device.
    pub device: String,
    /// The interface through which the packets leave the device.
    pub interface: String,
    /// The name of the port in the results.
    pub port: String,
    /// The name of the queue in the results; `None` for a single queue without a name.
    pub queue: Option<String>,
}

/// The parts of a scenario that a network determines.
#[derive(Debug, Default)]
pub struct Plan {
    /// The hosts: the sites.
    pub hosts: BTreeMap<String, HostConfig>,
    /// The devices, and segments of several ports.
    pub routers: BTreeMap<String, RouterConfig>,
    /// The links.
    pub links: Vec<LinkConfig>,
    /// The paths of each journey, or the reason why the journey cannot run together with the others.
    pub journeys: Vec<Result<Vec<Vec<PlannedStop>>, NotRun>>,
    /// The assumptions of the scenario.
    pub assumed: BTreeSet<String>,
    /// Parts of the network that are not in the scenario.
    pub not_modeled: BTreeSet<String>,
}

/// A wire: a link between devices, or the LAN of a port without a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wire {
    Link(usize),
    Lan(PortId),
}

/// A node of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    Device(usize),
    /// A wire with more than two ends.
    Segment(Wire),
    Host(String),
}

/// The next node of packets, by the current node and the name of the host that receives the packets.
pub(super) type Routes = BTreeMap<(Node, String), Node>;

/// The destinations of packets in tunnels, by the output port and the tunnel.
pub(super) type Carries = BTreeMap<PortId, BTreeMap<PortId, BTreeSet<Prefix>>>;
