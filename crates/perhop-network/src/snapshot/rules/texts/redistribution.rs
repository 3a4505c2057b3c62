//! Routes that only one device does not redistribute, and `redistribute` lines without `subnets`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_device::Port;
use perhop_qos::classifier::Prefix;

use super::super::bgp::families;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum number of other devices that redistribute the routes. With fewer, the device may announce the
/// routes in another way, or another device may announce them.
const LEAST_OTHERS: usize = 2;
/// The keyword without which OSPF redistributes only classful networks (Cisco, "OSPF Command Reference").
const SUBNETS: &str = "subnets";
/// The version of IOS before which no system implies the keyword (Cisco, "OSPF Command Reference").
const IMPLIES_SUBNETS: u32 = 15;
/// The longest prefix length of a subnet of hosts.
const OF_HOSTS: u8 = 29;

/// A routing process in a routing table of a device.
struct Process<'t> {
    device: usize,
    line: usize,
    vrf: Option<&'t str>,
    /// The protocols whose routes the process redistributes. For each, the line and its words.
    passed: BTreeMap<&'t str, (usize, Vec<&'t str>)>,
    /// Whether the lines of the process are in blocks inside its block (NX-OS, IOS XR, the named form of
    /// EIGRP).
    is_nested: bool,
}

/// The processes by protocol and routing table.
type Processes<'t> = BTreeMap<(&'t str, Option<&'t str>), Vec<Process<'t>>>;

/// Reports processes that lack a `redistribute` line that all other devices with such routes have in the same
/// process. Also reports an OSPF line without `subnets` if it is the only such line.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut all = Processes::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("router ")) {
            add_process(&mut all, device, node);
        }
    }
    for ((protocol, vrf), processes) in &all {
        let passed: BTreeSet<&str> =
            processes.iter().flat_map(|process| process.passed.keys().copied()).collect();
        // The rule `routes` compares the static routes of the global table.
        for origin in passed.into_iter().filter(|origin| *origin != "static" || vrf.is_some()) {
            check_missing(snapshot, trees, (protocol, origin), processes, found);
        }
        if *protocol == "ospf" {
            check_subnets(snapshot, trees, processes, found);
        }
    }
}

/// Adds a process, and its address families in other routing tables.
fn add_process<'t>(all: &mut Processes<'t>, device: usize, node: &Node<'t>) {
    let words = node.words();
    let protocol = words.get(1).copied().unwrap_or_default();
    let mut own = Process::new(device, node, vrf(&words));
    for inner in &node.inner {
        let words = inner.words();
        match (words.first(), vrf(&words)) {
            (Some(&("address-family" | "vrf")), Some(vrf)) => {
                let mut family = Process::new(device, inner, Some(vrf));
                family.add_nested(inner);
                all.entry((protocol, Some(vrf))).or_default().push(family);
            }
            _ => own.add_nested(inner),
        }
    }
    all.entry((protocol, own.vrf)).or_default().push(own);
}

/// Returns the name after the word `vrf`.
fn vrf<'t>(words: &[&'t str]) -> Option<&'t str> {
    words.iter().skip_while(|word| **word != "vrf").nth(1).copied()
}

impl<'t> Process<'t> {
    fn new(device: usize, node: &Node<'t>, vrf: Option<&'t str>) -> Process<'t> {
        let mut found = Process { device, line: node.line.0, vrf, passed: BTreeMap::new(), is_nested: false };
        found.add(node);
        found
    }

    fn add(&mut self, node: &Node<'t>) {
        for inner in &node.inner {
            if let ["redistribute", protocol, ..] = *inner.words().as_slice() {
                self.passed.insert(protocol, (inner.line.0, inner.words()));
            }
        }
    }

    /// Adds the lines of a block and of the blocks inside it, at any depth.
    fn add_nested(&mut self, node: &Node<'t>) {
        self.is_nested |= !node.inner.is_empty();
        self.add(node);
        node.inner.iter().for_each(|inner| self.add_nested(inner));
    }
}

/// Reports the only device that has routes of an origin and does not redistribute them.
fn check_missing(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    (protocol, origin): (&str, &str),
    processes: &[Process],
    found: &mut Vec<NetworkFinding>,
) {
    let passes: BTreeSet<usize> = processes
        .iter()
        .filter(|process| process.passed.contains_key(origin))
        .map(|process| process.device)
        .collect();
    let mut lacking: BTreeMap<usize, &Process> = BTreeMap::new();
    for process in processes.iter().filter(|process| !passes.contains(&process.device)) {
        if has_routes(snapshot, &trees[process.device], process, (protocol, origin)) {
            lacking.entry(process.device).or_insert(process);
        }
    }
    let least = if origin == "bgp" { 1 } else { LEAST_OTHERS };
    let (Some((device, process)), 1) = (lacking.iter().next(), lacking.len()) else { return };
    if passes.len() < least {
        return;
    }
    let table = process.vrf.map_or_else(String::new, |vrf| format!(" in the VRF {vrf}"));
    let message = format!(
        "`router {protocol}` of {} lacks `redistribute {origin}`{table}, which all other devices with such \
         routes have ({})",
        snapshot.devices[*device].name,
        passes.len()
    );
    let effect =
        "the neighbors do not learn these routes from this device, and cannot send replies through it";
    let rule = &rules::NETWORK_ROUTE_MISSING;
    found.push(snapshot.finding(*device, rule, process.line, (message, effect.to_owned())));
}

/// Whether a device has routes of an origin that a process does not already announce by other lines.
fn has_routes(
    snapshot: &Snapshot,
    nodes: &[Node],
    process: &Process,
    (protocol, origin): (&str, &str),
) -> bool {
    match origin {
        "connected" => {
            (protocol == "bgp" || !process.is_nested) && has_silent_subnet(snapshot, process, protocol)
        }
        "static" => process.vrf.is_some_and(|vrf| {
            let start = format!("ip route vrf {vrf} ");
            nodes.iter().any(|node| node.line.1.starts_with(&start))
        }),
        // Routes from internal neighbors do not count, because the device that learned them from outside
        // usually redistributes them.
        "bgp" => nodes.iter().any(|node| match *node.words().as_slice() {
            ["router", "bgp", number] => process.vrf.is_some() || has_external_neighbor(node, number),
            _ => false,
        }),
        _ => nodes.iter().any(|node| node.words().starts_with(&["router", origin])),
    }
}

/// Whether a device has a host subnet that is in the routing table of a process and that the process does not
/// announce.
fn has_silent_subnet(snapshot: &Snapshot, process: &Process, protocol: &str) -> bool {
    let router = snapshot.router(process.device);
    let named: Vec<Prefix> = match protocol {
        "bgp" => families(snapshot.devices[process.device].device.numbered_lines())
            .into_iter()
            .flat_map(|family| family.networks)
            .map(|(_, subnet)| subnet)
            .collect(),
        _ => Vec::new(),
    };
    let is_silent = |port: &Port| {
        let mut subnets = addresses(port)
            .filter(|own| own.address.is_ipv4() && own.prefix_length <= OF_HOSTS)
            .filter_map(|own| own.subnet());
        port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str()) == process.vrf
            && subnets.any(|subnet| match protocol {
                "bgp" => !named.contains(&subnet),
                _ => port.forwarding.routing.is_empty(),
            })
    };
    router.ports.iter().any(|port| carries_packets(router, port) && is_silent(port))
}

/// Whether a BGP process has a neighbor in another autonomous system, in the global routing table.
fn has_external_neighbor(process: &Node, own: &str) -> bool {
    let families = process.inner.iter().filter(|inner| vrf(&inner.words()).is_none());
    let lines = process.inner.iter().chain(families.flat_map(|inner| &inner.inner));
    lines.into_iter().any(
        |line| matches!(*line.words().as_slice(), ["neighbor", _, "remote-as", number, ..] if number != own),
    )
}

/// Reports `redistribute` lines of OSPF without `subnets`: the only such line, and lines of old systems with
/// routes of subnets.
fn check_subnets(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    processes: &[Process],
    found: &mut Vec<NetworkFinding>,
) {
    // NX-OS and IOS XR do not have this keyword.
    let is_nx_os = |device: usize| trees[device].iter().any(|node| node.line.1.starts_with("feature "));
    let with_keyword = processes.iter().filter(|process| !process.is_nested && !is_nx_os(process.device));
    let lines = with_keyword.flat_map(|process| {
        process
            .passed
            .iter()
            .map(|(origin, (line, words))| (process.device, (*line, *origin), words.contains(&SUBNETS)))
    });
    let (with, without): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(.., has_subnets)| *has_subnets);
    let is_alone = without.len() == 1 && !with.is_empty();
    for (device, (line, origin), _) in without {
        let omitted = subnet(snapshot, &trees[device], device, origin).filter(|_| is_old(&trees[device]));
        let reason = match omitted {
            Some((place, subnet)) => format!("the routes include the subnet {subnet} (line {place})"),
            None if is_alone => format!("{} other lines have it", with.len()),
            None => continue,
        };
        let message = format!(
            "OSPF of {} redistributes no subnets here: `{SUBNETS}` is missing, but {reason}",
            snapshot.devices[device].name
        );
        let effect = "on systems that do not imply `subnets`, only routes with a classful mask are announced";
        let rule = &rules::NETWORK_ROUTE_MISSING;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Whether a system is older than all systems that imply `subnets`.
fn is_old(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match *node.words().as_slice() {
        ["version", version] => version
            .split('.')
            .next()
            .and_then(|number| number.parse::<u32>().ok())
            .is_some_and(|own| own < IMPLIES_SUBNETS),
        _ => false,
    })
}

/// Returns a subnet with a mask that is not classful, which a device knows from an origin, and its line.
fn subnet(snapshot: &Snapshot, nodes: &[Node], device: usize, origin: &str) -> Option<(usize, Prefix)> {
    if origin == "static" {
        return nodes.iter().find_map(|node| match *node.words().as_slice() {
            ["ip", "route", network, mask, ..] => {
                let mask = mask.parse::<Ipv4Addr>().ok()?.to_bits();
                let length = u8::try_from(mask.leading_ones()).ok()?;
                let prefix = Prefix::new(network.parse().ok()?, length).ok()?;
                is_subnet(&prefix).then_some((node.line.0, prefix))
            }
            _ => None,
        });
    }
    let router = snapshot.router(device);
    let has_origin = |port: &Port| {
        let routing = &port.forwarding.routing;
        if origin == "connected" {
            return routing.is_empty();
        }
        routing.iter().any(|part| {
            let line = router.forwarding.processes[part.process].line;
            nodes.iter().any(|node| node.line.0 == line && node.words().get(1) == Some(&origin))
        })
    };
    router.ports.iter().filter(|port| port.forwarding.vrf.is_none() && has_origin(port)).find_map(|port| {
        let mut subnets = addresses(port).filter(|own| own.address.is_ipv4()).filter_map(|own| own.subnet());
        Some((port.line, subnets.find(is_subnet)?))
    })
}

/// Whether a prefix is longer than the classful mask of its network (RFC 791 §3.2).
fn is_subnet(prefix: &Prefix) -> bool {
    let IpAddr::V4(network) = prefix.address() else { return false };
    let classful = match network.octets()[0] {
        0..128 => 8,
        128..192 => 16,
        _ => 24,
    };
    prefix.length() > classful
}
