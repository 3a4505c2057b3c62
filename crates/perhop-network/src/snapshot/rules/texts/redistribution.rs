//! Routes that only one device does not redistribute, and subnets that are not redistributed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other devices that redistribute connected and static routes. A device may also
/// announce these in another way.
const LEAST_OTHERS: usize = 2;
/// The keyword without which OSPF redistributes only classful networks (Cisco, "OSPF Command Reference").
const SUBNETS: &str = "subnets";

/// A process, or an address family of it, at a device.
struct Process<'t> {
    device: usize,
    line: usize,
    /// The protocols whose routes it redistributes, with the line and its words.
    passed: BTreeMap<&'t str, (usize, Vec<&'t str>)>,
}

/// Reports processes that lack a `redistribute` line which the same process has on all other devices with
/// such routes. Also reports the only `redistribute` line without `subnets`.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut by_kind: BTreeMap<String, Vec<Process>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("router ")) {
            let protocol = node.words().get(1).copied().unwrap_or_default().to_owned();
            by_kind.entry(protocol.clone()).or_default().push(process(device, node));
            for family in &node.inner {
                let words = family.words();
                if words.first() == Some(&"address-family") && words.contains(&"vrf") {
                    let kind = format!("{protocol} {}", words.join(" "));
                    by_kind.entry(kind).or_default().push(process(device, family));
                }
            }
        }
    }
    for (kind, processes) in &by_kind {
        let passed: BTreeSet<&str> =
            processes.iter().flat_map(|process| process.passed.keys().copied()).collect();
        for protocol in passed {
            check_missing(snapshot, trees, (kind, protocol), processes, found);
        }
        if kind == "ospf" {
            check_subnets(snapshot, processes, found);
        }
    }
}

fn process<'t>(device: usize, node: &Node<'t>) -> Process<'t> {
    let lines = node.inner.iter().filter_map(|inner| match inner.words().as_slice() {
        ["redistribute", protocol, ..] => Some((*protocol, (inner.line.0, inner.words()))),
        _ => None,
    });
    Process { device, line: node.line.0, passed: lines.collect() }
}

/// Reports the only process that does not redistribute the routes of a protocol, among the devices with such
/// routes.
fn check_missing(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    (kind, protocol): (&str, &str),
    processes: &[Process],
    found: &mut Vec<NetworkFinding>,
) {
    let is_vrf = kind.contains(' ');
    let is_local = ["connected", "static"].contains(&protocol) && !is_vrf;
    let concerned: Vec<&Process> = processes
        .iter()
        .filter(|process| {
            process.passed.contains_key(protocol) || has_routes(&trees[process.device], protocol)
        })
        .collect();
    let (have, lack): (Vec<&Process>, Vec<&Process>) =
        concerned.into_iter().partition(|process| process.passed.contains_key(protocol));
    let least = if is_local { LEAST_OTHERS } else { 1 };
    let ([process], true) = (lack.as_slice(), have.len() >= least) else { return };
    let message = format!(
        "`router {kind}` of {} lacks `redistribute {protocol}`, which this process has at all other devices with \
         such routes ({})",
        snapshot.devices[process.device].name,
        have.len()
    );
    let effect = "the neighbors do not learn these routes from this device, and cannot reply through it";
    let rule = &rules::NETWORK_ROUTE_MISSING;
    found.push(snapshot.finding(process.device, rule, process.line, (message, effect.to_owned())));
}

/// Whether a device has routes of a protocol: a process of its own, or static routes.
fn has_routes(nodes: &[Node], protocol: &str) -> bool {
    match protocol {
        "connected" => true,
        "static" => nodes.iter().any(|node| node.line.1.starts_with("ip route ")),
        _ => nodes.iter().any(|node| node.words().starts_with(&["router", protocol])),
    }
}

/// Reports the only OSPF line that redistributes no subnets.
fn check_subnets(snapshot: &Snapshot, processes: &[Process], found: &mut Vec<NetworkFinding>) {
    let lines = processes.iter().flat_map(|process| {
        process.passed.values().map(|(line, words)| (process.device, *line, words.contains(&SUBNETS)))
    });
    let (with, without): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(.., has_subnets)| *has_subnets);
    let ([(device, line, _)], false) = (without.as_slice(), with.is_empty()) else { return };
    let message = format!(
        "OSPF of {} passes on no subnets here: `{SUBNETS}` is missing, unlike in {} other lines",
        snapshot.devices[*device].name,
        with.len()
    );
    let effect = "on systems that do not imply `subnets`, only routes with a classful mask are announced";
    let rule = &rules::NETWORK_ROUTE_MISSING;
    found.push(snapshot.finding(*device, rule, *line, (message, effect.to_owned())));
}
