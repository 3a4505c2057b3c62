//! [`Wires`]: the links of a network as links between two nodes of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::Port;
use perhop_qos::units::{Rate, Time};
use perhop_scenario::{
    HostConfig, InterfaceConfig, LinkConfig, LinkHeaders, PlatformConfig, RouterConfig, RouterConfiguration,
};

use super::planned::{Carries, Node, Plan, Routes, Wire};
use super::{LinkReason, NotRun, PortId, Site, Snapshot, Way};

/// The name of the policy of hosts and segments. Its queues never drop packets.
pub const AMPLE: &str = "ample";
/// The rate of a line whose rate is not configured, bit/s.
const UNKNOWN_RATE: u64 = 1_000_000_000;
/// The delay of a link between devices, ms. It corresponds to about 200 km.
const DELAY_MS: u64 = 1;

/// The wires on the paths of journeys, with their hosts.
pub(super) struct Wires<'s, 'a> {
    pub(super) snapshot: &'s Snapshot<'a>,
    /// The port to which each host is attached.
    hosts: BTreeMap<String, PortId>,
    hosts_at: BTreeMap<Wire, BTreeSet<String>>,
    /// The links on accepted paths, by the pair of devices that they connect.
    between: BTreeMap<[usize; 2], BTreeSet<usize>>,
    /// The ports of each wire on accepted paths, and their hosts.
    used: BTreeMap<Wire, BTreeSet<PortId>>,
    used_hosts: BTreeMap<String, Site>,
}

impl<'s, 'a> Wires<'s, 'a> {
    pub(super) fn new(snapshot: &'s Snapshot<'a>) -> Wires<'s, 'a> {
        Wires {
            snapshot,
            hosts: BTreeMap::new(),
            hosts_at: BTreeMap::new(),
            between: BTreeMap::new(),
            used: BTreeMap::new(),
            used_hosts: BTreeMap::new(),
        }
    }

    /// Attaches a host to the wire of a port.
    pub(super) fn attach(&mut self, site: &Site, port: PortId) -> Result<(), NotRun> {
        let wire = self.snapshot.wire_of(port);
        let first = *self.hosts.entry(site.name.clone()).or_insert(port);
        if self.snapshot.wire_of(first) != wire {
            let (device, interface) = self.snapshot.names_of(first);
            let name = &site.name;
            return Err(NotRun::because(format!(
                "{name} already sends over the wire of {device}:{interface}: a host has one wire"
            )));
        }
        self.hosts_at.entry(wire).or_default().insert(site.name.clone());
        Ok(())
    }

    /// Records that a path crosses the link between two devices.
    pub(super) fn cross(&mut self, leaves: PortId, arrives: PortId) {
        if let Wire::Link(link) = self.snapshot.wire_of(leaves) {
            let mut devices = [leaves.device, arrives.device];
            devices.sort_unstable();
            self.between.entry(devices).or_default().insert(link);
        }
    }

    /// Records the ports on an accepted path.
    pub(super) fn use_way(&mut self, way: &Way, from: &Site, to: &Site) {
        for port in way.iter().flat_map(|stop| [stop.arrives, stop.leaves]) {
            self.used.entry(self.snapshot.wire_of(port)).or_default().insert(port);
        }
        for site in [from, to] {
            self.used_hosts.entry(site.name.clone()).or_insert_with(|| site.clone());
        }
    }

    /// Returns the segment node of the wire at a port; `None` if the wire has only two ends.
    pub(super) fn segment_at(&self, port: PortId) -> Option<Node> {
        let wire = self.snapshot.wire_of(port);
        let hosts = self.hosts_at.get(&wire).map_or(0, BTreeSet::len);
        let is_segment = match wire {
            Wire::Lan(_) => hosts > 1,
            Wire::Link(link) => {
                let is_parallel = || {
                    self.between.values().any(|links| links.iter().skip(1).any(|further| *further == link))
                };
                self.snapshot.links[link].ends.len() > 2 || hosts > 0 || is_parallel()
            }
        };
        is_segment.then_some(Node::Segment(wire))
    }

    /// Returns the name of a node. The name of a segment is its subnet, otherwise its first port.
    pub(super) fn name(&self, node: &Node) -> String {
        match node {
            Node::Device(device) => self.snapshot.devices[*device].name.clone(),
            Node::Host(name) => name.clone(),
            Node::Segment(wire) => {
                let (first, subnet) = match wire {
                    Wire::Lan(port) => (*port, None),
                    Wire::Link(link) => {
                        let link = &self.snapshot.links[*link];
                        let subnet = match &link.because {
                            LinkReason::Subnet { subnet } => Some(subnet),
                            _ => None,
                        };
                        (link.ends[0].id, subnet)
                    }
                };
                let (device, interface) = self.snapshot.names_of(first);
                subnet.map_or_else(|| format!("{device}:{interface}"), |subnet| format!("{device}:{subnet}"))
            }
        }
    }

    /// Returns the scenario's nodes and links for the used wires.
    pub(super) fn plan(&self, routes: &Routes, carries: &Carries) -> Plan {
        let mut plan = Plan::default();
        let mut nodes: BTreeSet<Node> = BTreeSet::new();
        for (wire, ports) in &self.used {
            nodes.extend(ports.iter().map(|port| Node::Device(port.device)));
            let hosts: Vec<&Site> = self.hosts_of(*wire).collect();
            let first = *ports.first().unwrap_or(&PortId { device: 0, port: 0 });
            match (self.segment_at(first), ports.iter().collect::<Vec<_>>().as_slice()) {
                (Some(segment), ports) => {
                    let name = self.name(&segment);
                    for port in ports {
                        let rate = self.rate(&mut plan, &[**port]);
                        let ends = [self.end(**port, carries), (name.clone(), ample())];
                        plan.links.push(link(ends, rate, Time::ZERO));
                    }
                    let rate = plan.links.iter().rev().take(ports.len()).map(|link| link.rate).max();
                    for host in hosts {
                        let ends = [(host.name.clone(), ample()), (name.clone(), ample())];
                        plan.links.push(link(ends, rate.unwrap_or_default(), Time::ZERO));
                    }
                    nodes.insert(segment);
                }
                (None, [a, b]) => {
                    let rate = self.rate(&mut plan, &[**a, **b]);
                    let delay = Time::from_milliseconds(DELAY_MS);
                    plan.links.push(link([self.end(**a, carries), self.end(**b, carries)], rate, delay));
                }
                (None, ports) => {
                    for (port, host) in ports.iter().zip(hosts) {
                        let rate = self.rate(&mut plan, &[**port]);
                        let ends = [(host.name.clone(), ample()), self.end(**port, carries)];
                        plan.links.push(link(ends, rate, Time::ZERO));
                    }
                }
            }
        }
        for site in self.used_hosts.values() {
            plan.hosts.insert(site.name.clone(), HostConfig { address: Some(site.address) });
        }
        for node in nodes {
            plan.routers.insert(self.name(&node), self.router(&node));
        }
        for ((node, host), next) in routes {
            if let Some(router) = plan.routers.get_mut(&self.name(node)) {
                router.routes.insert(host.clone(), self.name(next));
            }
        }
        self.note_shared(&mut plan);
        self.note_unmodeled(&mut plan);
        plan.assumed.insert(format!("links between devices have a delay of {DELAY_MS} ms"));
        plan
    }

    fn hosts_of(&self, wire: Wire) -> impl Iterator<Item = &Site> {
        let names = self.hosts_at.get(&wire).into_iter().flatten();
        names.filter_map(|name| self.used_hosts.get(name))
    }

    fn end(&self, port: PortId, carries: &Carries) -> (String, InterfaceConfig) {
        let (device, interface) = self.snapshot.names_of(port);
        let carried = carries
            .get(&port)
            .into_iter()
            .flatten()
            .map(|(tunnel, to)| (self.snapshot.port(*tunnel).name.clone(), to.iter().copied().collect()));
        let is_unmodeled = self.snapshot.port(port).unmodeled_queues.is_some();
        let end = InterfaceConfig {
            name: Some(interface.to_owned()),
            output: is_unmodeled.then(|| AMPLE.to_owned()),
            carries: carried.collect(),
            ..InterfaceConfig::default()
        };
        (device.to_owned(), end)
    }

    /// Returns the rate of a wire, the maximum rate of its ends. Each end still sends at its own rate.
    fn rate(&self, plan: &mut Plan, ports: &[PortId]) -> Rate {
        let rates = ports.iter().filter_map(|port| line_rate(self.snapshot.port(*port)));
        rates.max().unwrap_or_else(|| {
            let names: Vec<String> = ports
                .iter()
                .map(|port| {
                    let (device, interface) = self.snapshot.names_of(*port);
                    format!("{device}:{interface}")
                })
                .collect();
            let rate = Rate::from_bits_per_second(UNKNOWN_RATE);
            plan.assumed
                .insert(format!("the line of {} has {rate}, which is not configured", names.join(" - ")));
            rate
        })
    }

    fn router(&self, node: &Node) -> RouterConfig {
        let Node::Device(device) = node else {
            return RouterConfig { description: Some("a segment".to_owned()), ..RouterConfig::default() };
        };
        let member = &self.snapshot.devices[*device];
        let options = member.device.configuration().map(|(_, options)| options.clone()).unwrap_or_default();
        let configuration = RouterConfiguration {
            file: Some(member.file.clone()),
            assume: options.assume,
            platform: PlatformConfig { profile: options.platform, ..PlatformConfig::default() },
            ..RouterConfiguration::default()
        };
        RouterConfig { configuration: Some(configuration), ..RouterConfig::default() }
    }

    /// Records ports whose queues perhop does not model. In the run, these queues drop no packets.
    fn note_unmodeled(&self, plan: &mut Plan) {
        for id in self.used.values().flatten() {
            let port = self.snapshot.port(*id);
            let Some(reason) = &port.unmodeled_queues else { continue };
            let (device, interface) = self.snapshot.names_of(*id);
            plan.not_modeled.insert(format!(
                "{device}: the queues of {interface}, which drop no packets in the run: {reason}"
            ));
        }
    }

    /// Records sub-interfaces that share a port, because each of them becomes a link with the full rate of
    /// the port.
    fn note_shared(&self, plan: &mut Plan) {
        let mut sharing: BTreeMap<(usize, &str), BTreeSet<&str>> = BTreeMap::new();
        for id in self.used.values().flatten() {
            let port = self.snapshot.port(*id);
            let physical = port.forwarding.parent.as_deref().unwrap_or(&port.interface);
            sharing.entry((id.device, physical)).or_default().insert(&port.name);
        }
        for ((device, physical), names) in sharing.into_iter().filter(|(_, names)| names.len() > 1) {
            let names: Vec<&str> = names.into_iter().collect();
            plan.not_modeled.insert(format!(
                "{}: {} share {physical}; in the run, each of them has the full rate",
                self.snapshot.devices[device].name,
                names.join(", ")
            ));
        }
    }
}

/// Returns the rate of the line behind a port, if it is known.
fn line_rate(port: &Port) -> Option<Rate> {
    let bandwidth = port.bandwidth.filter(|_| port.has_known_line);
    port.wire.rate.or(port.assumed_rate).or(bandwidth)
}

fn ample() -> InterfaceConfig {
    InterfaceConfig { output: Some(AMPLE.to_owned()), ..InterfaceConfig::default() }
}

fn link(ends: [(String, InterfaceConfig); 2], rate: Rate, delay: Time) -> LinkConfig {
    let between = [ends[0].0.clone(), ends[1].0.clone()];
    LinkConfig {
        between,
        rate,
        rate_changes: Vec::new(),
        delay,
        framing: None,
        headers: LinkHeaders::default(),
        mtu: None,
        loss: 0.0,
        cost: 1,
        interfaces: ends.into(),
    }
}
