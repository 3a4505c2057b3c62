//! The routing protocols of the main routing table, and the ports that take part in OSPF and IS-IS.
//!
//! `perhop-network` computes the routes of both protocols from the costs of the ports.

use std::collections::BTreeSet;

use perhop_device::intent::At;
use perhop_device::{AnnouncedSubnets, Port, PortRouting, RoutingProcess, RoutingProtocol};
use perhop_qos::Rate;

use crate::context::Context;
use crate::interfaces::{Interface, Unit};
use crate::tree::NodeId;
use crate::values::number;

/// The protocols whose routes enter a routing table, and their default preferences (Juniper, "Understanding
/// Route Preference Values"; the lowest value of each protocol). perhop does not compute the routes of
/// [`Other`](RoutingProtocol::Other).
const PROTOCOLS: [(&str, RoutingProtocol, u8); 6] = [
    ("ospf", RoutingProtocol::Ospf, 10),
    ("ospf3", RoutingProtocol::Other, 10),
    ("isis", RoutingProtocol::Isis, 15),
    ("rip", RoutingProtocol::Other, 100),
    ("ripng", RoutingProtocol::Other, 100),
    ("bgp", RoutingProtocol::Other, 170),
];
/// Statements of OSPF and IS-IS that change routes in a way that perhop does not compute. `overload` with a
/// timeout applies only after the start of the device.
const NOT_COMPUTED: [&[&str]; 18] = [
    &["export"],
    &["import"],
    &["overload"],
    &["rib-group"],
    &["sham-link"],
    &["traffic-engineering", "shortcuts"],
    &["area", "*", "area-range"],
    &["area", "*", "label-switched-path"],
    &["area", "*", "network-summary-export"],
    &["area", "*", "network-summary-import"],
    &["area", "*", "nssa"],
    &["area", "*", "stub"],
    &["area", "*", "virtual-link"],
    &["area", "*", "interface", "*", "bandwidth-based-metrics"],
    &["area", "*", "interface", "*", "secondary"],
    &["interface", "*", "bandwidth-based-metrics"],
    &["label-switched-path"],
    &["topologies", "ipv4-multicast"],
];
/// The default reference bandwidth of OSPF, bits per second (Junos OSPF User Guide, "reference-bandwidth").
const REFERENCE: u64 = 100_000_000;
/// The default metric of IS-IS (Junos IS-IS User Guide, "metric"), and the largest metric without
/// `wide-metrics-only`.
const METRIC: u64 = 10;
const LARGEST_NARROW_METRIC: u64 = 63;
/// The levels of IS-IS. The routes of level 2 connect areas, so its metrics have priority.
const LEVELS: [&str; 2] = ["2", "1"];

/// Returns the routing protocols of the main table.
pub(crate) fn processes(context: &Context) -> Vec<RoutingProcess> {
    let process = |(name, protocol, distance): (&str, RoutingProtocol, u8)| {
        let node = context.tree.at(NodeId::ROOT, &["protocols", name])?;
        let is_computed = protocol != RoutingProtocol::Other;
        Some(RoutingProcess {
            line: context.tree.line(node),
            protocol,
            vrf: None,
            distance: value(context, node, "preference")
                .map_or(distance, |preference| u8::try_from(preference.value).unwrap_or(u8::MAX)),
            identity: identity(context, protocol),
            redistributed: if is_computed { redistributed(context, node) } else { Vec::new() },
            default_route: None,
            not_computed: if is_computed { not_computed(context, name) } else { Vec::new() },
        })
    };
    PROTOCOLS.into_iter().filter_map(process).collect()
}

/// Returns the router ID of OSPF, or the first address of IS-IS.
fn identity(context: &Context, protocol: RoutingProtocol) -> Option<At<String>> {
    let node = match protocol {
        RoutingProtocol::Ospf => {
            let statement = context.tree.at(NodeId::ROOT, &["routing-options", "router-id"])?;
            context.tree.last_value(statement)?
        }
        RoutingProtocol::Isis => {
            let path = ["interfaces", "lo0", "unit", "*", "family", "iso", "address", "*"];
            context.at_pattern(&path).into_iter().next()?
        }
        RoutingProtocol::Eigrp | RoutingProtocol::Other => return None,
    };
    Some(At::new(context.tree.line(node), context.tree.word(node).to_owned()))
}

/// Returns the origins of the routes that the policies in `export` name: `static`, `connected`, or another
/// protocol.
fn redistributed(context: &Context, protocol: NodeId) -> Vec<At<String>> {
    let tree = &context.tree;
    let Some(export) = tree.child(protocol, "export") else { return Vec::new() };
    let mut found = Vec::new();
    for policy in tree.children(export) {
        let name = tree.word(policy);
        let mut origins = BTreeSet::new();
        for path in [
            &["policy-options", "policy-statement", name, "from", "protocol", "*"][..],
            &["policy-options", "policy-statement", name, "term", "*", "from", "protocol", "*"],
        ] {
            origins.extend(context.at_pattern(path).into_iter().map(|node| match tree.word(node) {
                "direct" => "connected",
                other => other,
            }));
        }
        found.extend(origins.into_iter().map(|origin| At::new(tree.line(policy), origin.to_owned())));
    }
    found
}

/// Returns the lines of [`NOT_COMPUTED`] statements of a protocol.
fn not_computed(context: &Context, protocol: &str) -> Vec<usize> {
    let nodes = NOT_COMPUTED.iter().flat_map(|path| {
        let path: Vec<&str> = ["protocols", protocol].iter().chain(*path).copied().collect();
        context.at_pattern(&path)
    });
    nodes
        .filter(|node| context.tree.child(*node, "timeout").is_none())
        .map(|node| context.tree.line(node))
        .collect()
}

/// Sets the protocols that run on each unit.
pub(crate) fn set_ports(
    context: &Context,
    processes: &[RoutingProcess],
    interfaces: &[Interface],
    ports: &mut [Port],
) {
    let of_instances: BTreeSet<&str> = context
        .at_pattern(&["routing-instances", "*", "interface", "*"])
        .into_iter()
        .map(|node| context.tree.word(node))
        .collect();
    for interface in interfaces {
        for unit in &interface.units {
            let name = format!("{}.{}", interface.name, unit.number);
            let Some(port) = ports.iter_mut().find(|port| port.name == name) else { continue };
            if of_instances.contains(name.as_str()) {
                continue;
            }
            let member =
                Member { context, interface, unit, name, rate: line_rate(context, interface, unit, port) };
            for (place, process) in processes.iter().enumerate() {
                let part = match process.protocol {
                    RoutingProtocol::Ospf => member.ospf(place, process),
                    RoutingProtocol::Isis => member.isis(place, process),
                    RoutingProtocol::Eigrp | RoutingProtocol::Other => None,
                };
                port.forwarding.routing.extend(part);
            }
        }
    }
}

/// Returns the rate from which protocols derive costs, bits per second: the `bandwidth` of the unit,
/// otherwise the rate of the line. A unit without a line has no such rate.
fn line_rate(context: &Context, interface: &Interface, unit: &Unit, port: &Port) -> Option<u64> {
    let path = ["interfaces", &interface.name, "unit", &unit.number];
    let own = context.tree.at(NodeId::ROOT, &path).and_then(|node| value(context, node, "bandwidth"));
    let line = || port.wire.rate.or(port.assumed_rate).map(Rate::as_bits_per_second);
    own.map(|at| at.value).or_else(line)
}

/// A unit that may take part in a protocol.
struct Member<'c> {
    context: &'c Context,
    interface: &'c Interface,
    unit: &'c Unit,
    /// The name in protocols: `ge-0/0/0.0`.
    name: String,
    rate: Option<u64>,
}

impl Member<'_> {
    /// Returns the statement by which the unit takes part in a protocol; `None` if the unit does not take
    /// part or is disabled in the protocol. A name without a unit means unit 0.
    fn statement(&self, parent: NodeId) -> Option<NodeId> {
        let tree = &self.context.tree;
        let interface = |name: &str| tree.at(parent, &["interface", name]);
        let whole = || interface(&self.interface.name).filter(|_| self.unit.number == "0");
        let node = interface(&self.name).or_else(whole).or_else(|| interface("all"))?;
        tree.child(node, "disable").is_none().then_some(node)
    }

    fn is_loopback(&self) -> bool {
        self.interface.name == "lo0"
    }

    fn ospf(&self, place: usize, process: &RoutingProcess) -> Option<PortRouting> {
        let tree = &self.context.tree;
        let protocol = tree.at(NodeId::ROOT, &["protocols", "ospf"])?;
        let areas = tree.children(tree.child(protocol, "area")?);
        let mut parts = areas.into_iter().filter_map(|area| Some((area, self.statement(area)?)));
        let (area, node) = parts.next().filter(|_| !self.unit.addresses.is_empty())?;
        let usual = || {
            let reference =
                value(self.context, protocol, "reference-bandwidth").map_or(REFERENCE, |at| at.value);
            // Juniper, "Understanding OSPF Interface Cost"; the metric of lo0 is 0.
            let cost = self.rate.map_or(1, |rate| (reference / rate.max(1)).max(1));
            At::new(process.line, if self.is_loopback() { 0 } else { cost })
        };
        Some(PortRouting {
            line: tree.line(node),
            process: place,
            area: Some(tree.word(area).to_owned()),
            cost: narrow(value(self.context, node, "metric").unwrap_or_else(usual)),
            passive: tree.child(node, "passive").map(|node| tree.line(node)),
            announced: AnnouncedSubnets::OfAddresses,
        })
    }

    fn isis(&self, place: usize, process: &RoutingProcess) -> Option<PortRouting> {
        let tree = &self.context.tree;
        let protocol = tree.at(NodeId::ROOT, &["protocols", "isis"])?;
        let path = ["interfaces", &self.interface.name, "unit", &self.unit.number, "family", "iso"];
        tree.at(NodeId::ROOT, &path)?;
        let node = self.statement(protocol)?;
        let is_off = |parent: NodeId, level: &str| tree.at(parent, &["level", level, "disable"]).is_some();
        let level = LEVELS.into_iter().find(|level| !is_off(protocol, level) && !is_off(node, level))?;
        let own = tree.at(node, &["level", level]);
        let passive = tree.child(node, "passive").or_else(|| tree.child(own?, "passive"));
        let metric = own.and_then(|own| value(self.context, own, "metric"));
        Some(PortRouting {
            line: tree.line(node),
            process: place,
            area: None,
            cost: narrow(metric.unwrap_or_else(|| At::new(process.line, self.isis_metric(protocol, level)))),
            passive: passive.map(|node| tree.line(node)),
            announced: AnnouncedSubnets::OfAddresses,
        })
    }

    /// Returns the metric of IS-IS without a `metric` statement. The metric of lo0 is 0 (Junos IS-IS User
    /// Guide, "metric", "reference-bandwidth").
    fn isis_metric(&self, protocol: NodeId, level: &str) -> u64 {
        if self.is_loopback() {
            return 0;
        }
        let reference = value(self.context, protocol, "reference-bandwidth").map(|at| at.value);
        let (Some(reference), Some(rate)) = (reference, self.rate) else { return METRIC };
        let metric = (reference / rate.max(1)).max(1);
        let is_wide = self.context.tree.at(protocol, &["level", level, "wide-metrics-only"]).is_some();
        if is_wide { metric } else { metric.min(LARGEST_NARROW_METRIC) }
    }
}

/// Returns the last value of the statement `key`, if it is a number.
fn value(context: &Context, parent: NodeId, key: &str) -> Option<At<u64>> {
    let node = context.tree.last_value(context.tree.child(parent, key)?)?;
    Some(At::new(context.tree.line(node), number(context.tree.word(node))?))
}

fn narrow(cost: At<u64>) -> At<u32> {
    At::new(cost.line, u32::try_from(cost.value).unwrap_or(u32::MAX))
}
