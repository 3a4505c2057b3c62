//! Ports that lack one statement that all ports with the same task have, in configurations with braces.
//!
//! There, the parts of a port are in several blocks: its families in `interfaces`, its classifiers in
//! `class-of-service`, its protocols in `protocols`. A port that is missing in only one block was probably
//! forgotten there.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other ports with a part. With fewer, a port without the part is not an exception.
const LEAST_OTHERS: usize = 2;
/// The minimum number of parts that ports with the same task have in common.
const LEAST_COMMON: usize = 2;
/// Protocols whose blocks list their ports.
const PROTOCOLS: &[&str] = &["isis", "ldp", "mpls", "ospf", "ospf3", "rsvp"];
/// Ports without neighbors: loopbacks and management ports.
const APART: &[&str] = &["em", "fxp", "lo", "me", "vme"];

/// A port with its parts, and the lines for findings about missing parts.
struct Unit {
    device: usize,
    name: String,
    /// Its line in `interfaces`.
    line: usize,
    /// Its line in `class-of-service`.
    service_line: Option<usize>,
    parts: BTreeSet<String>,
}

/// Reports ports that lack one part, and blocks that name ports that do not exist.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut units = Vec::new();
    for (device, nodes) in trees.iter().enumerate() {
        let Some(interfaces) = block(nodes, &["interfaces"]) else { continue };
        let mut own = of_device(device, interfaces);
        add_protocols(&mut own, nodes);
        add_service(&mut own, nodes);
        check_names(snapshot, device, nodes, interfaces, found);
        units.extend(own);
    }
    check_parts(snapshot, trees, &units, found);
}

/// Returns the units of the interfaces of a device, with their families.
fn of_device(device: usize, interfaces: &Node) -> Vec<Unit> {
    let mut found = Vec::new();
    for interface in &interfaces.inner {
        let [name] = *words(interface).as_slice() else { continue };
        let kind = name.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
        if APART.contains(&kind) || is_disabled(interface) {
            continue;
        }
        for unit in interface.inner.iter().filter(|unit| !is_disabled(unit)) {
            let ["unit", number] = *words(unit).as_slice() else { continue };
            let mut parts = BTreeSet::new();
            for family in &unit.inner {
                if let ["family", name] = *words(family).as_slice() {
                    parts.insert(format!("family {name}"));
                    let filters = block(&family.inner, &["filter"]).map_or(&[][..], |filter| &filter.inner);
                    let directions = filters.iter().filter_map(|filter| words(filter).first().copied());
                    parts.extend(directions.map(|direction| format!("filter {direction} of family {name}")));
                }
            }
            let name = format!("{name}.{number}");
            found.push(Unit { device, name, line: unit.line.0, service_line: None, parts });
        }
    }
    found
}

fn is_disabled(node: &Node) -> bool {
    node.inner.iter().any(|inner| words(inner) == ["disable"])
}

/// Adds the protocols and the routing instances whose blocks name a port.
fn add_protocols(units: &mut [Unit], nodes: &[Node]) {
    let mut add = |node: &Node, part: &str| {
        let named: BTreeSet<&str> =
            inside(node, "interface").iter().filter_map(|inner| words(inner).get(1).copied()).collect();
        let is_all = named.contains("all");
        for unit in units.iter_mut().filter(|unit| is_all || named.contains(unit.name.as_str())) {
            unit.parts.insert(part.to_owned());
        }
    };
    for protocol in PROTOCOLS {
        if let Some(node) = block(nodes, &["protocols", protocol]) {
            add(node, &format!("protocols {protocol}"));
        }
    }
    for node in block(nodes, &["routing-instances"]).map_or(&[][..], |node| &node.inner) {
        add(node, "routing-instances");
    }
}

/// Adds the classifiers, rewrite rules and schedulers of each port.
fn add_service(units: &mut [Unit], nodes: &[Node]) {
    let Some(service) = block(nodes, &["class-of-service", "interfaces"]) else { return };
    for interface in &service.inner {
        let [name] = *words(interface).as_slice() else { continue };
        for unit in units.iter_mut() {
            let Some((own, number)) = unit.name.rsplit_once('.') else { continue };
            if !fits(name, own) {
                continue;
            }
            unit.service_line.get_or_insert(interface.line.0);
            for inner in &interface.inner {
                match words(inner).as_slice() {
                    ["unit", pattern] if fits(pattern, number) => {
                        unit.service_line = Some(inner.line.0);
                        unit.parts.extend(inner.inner.iter().flat_map(service_parts));
                    }
                    ["unit", ..] => {}
                    _ => unit.parts.extend(service_parts(inner)),
                }
            }
        }
    }
}

/// Returns the parts that a statement adds: one for each kind of classifier and rewrite rule.
fn service_parts(node: &Node) -> Vec<String> {
    match words(node).as_slice() {
        ["classifiers" | "rewrite-rules"] => {
            let kinds = node.inner.iter().filter_map(|inner| words(inner).first().copied());
            kinds.map(|kind| format!("{} {kind}", words(node)[0])).collect()
        }
        [command, _, ..] => vec![(*command).to_owned()],
        _ => Vec::new(),
    }
}

/// Whether a name, which may end with `*`, names a port.
fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// Reports the one port that lacks one part of other ports and has all their other parts.
fn check_parts(snapshot: &Snapshot, trees: &[Vec<Node>], units: &[Unit], found: &mut Vec<NetworkFinding>) {
    let mut forms: BTreeMap<&BTreeSet<String>, Vec<&Unit>> = BTreeMap::new();
    for unit in units {
        forms.entry(&unit.parts).or_default().push(unit);
    }
    let all: BTreeSet<&String> = units.iter().flat_map(|unit| &unit.parts).collect();
    for (parts, own) in forms.iter().filter(|(parts, _)| parts.len() >= LEAST_COMMON) {
        let [unit] = own.as_slice() else { continue };
        let peers = all.iter().filter(|part| !parts.contains(**part)).filter_map(|part| {
            let more: BTreeSet<String> = parts.iter().cloned().chain([(*part).clone()]).collect();
            Some((*part, forms.get(&more)?.len()))
        });
        let Some((part, count)) = peers.max_by_key(|(_, count)| *count) else { continue };
        if count < LEAST_OTHERS {
            continue;
        }
        let message = format!(
            "{}:{} lacks `{part}`, which all {count} other ports with the same parts have",
            snapshot.devices[unit.device].name, unit.name
        );
        let effect = effect(part).to_owned();
        let line = line_of(&trees[unit.device], unit, part);
        let rule = &rules::NETWORK_PORT_INCOMPLETE;
        found.push(snapshot.finding(unit.device, rule, line, (message, effect)));
    }
}

/// Returns the line of the block in which a part of a port is missing.
fn line_of(nodes: &[Node], unit: &Unit, part: &str) -> usize {
    match part.split(' ').collect::<Vec<_>>().as_slice() {
        ["protocols", protocol] => {
            block(nodes, &["protocols", protocol]).map_or(unit.line, |node| node.line.0)
        }
        ["family" | "filter", ..] | ["routing-instances"] => unit.line,
        _ => unit.service_line.unwrap_or(unit.line),
    }
}

fn effect(part: &str) -> &'static str {
    match part.split(' ').next() {
        Some("classifiers") => "all its packets get the class of unmarked packets",
        Some("rewrite-rules") => "its packets leave with the marks with which they arrived",
        Some("filter") => "the port does not police or mark its packets as the other ports do",
        Some("protocols" | "family" | "routing-instances") => {
            "the port has no neighbor or no labels: packets take another path, or have none"
        }
        _ => "its packets get other queues and rates than at the other ports",
    }
}

/// Reports ports that a block names and `interfaces` lacks, if `interfaces` has another port of the block.
fn check_names(
    snapshot: &Snapshot,
    device: usize,
    nodes: &[Node],
    interfaces: &Node,
    found: &mut Vec<NetworkFinding>,
) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for interface in &interfaces.inner {
        let name = match *words(interface).as_slice() {
            [name] => name,
            // The end of a block.
            [] => continue,
            // Ranges and applied groups define ports that this rule does not read.
            _ => return,
        };
        for unit in &interface.inner {
            if let ["unit", number] = *words(unit).as_slice() {
                known.insert(format!("{name}.{number}"));
            }
        }
    }
    let protocols = PROTOCOLS.iter().filter_map(|protocol| block(nodes, &["protocols", protocol]));
    let instances = block(nodes, &["routing-instances"]).into_iter().flat_map(|node| &node.inner);
    for node in protocols.chain(instances) {
        let named: Vec<(usize, &str)> = inside(node, "interface")
            .into_iter()
            .filter_map(|inner| Some((inner.line.0, *words(inner).get(1)?)))
            .filter(|(_, name)| name.contains('.') && !name.contains('*'))
            .collect();
        if !named.iter().any(|(_, name)| known.contains(*name)) {
            continue;
        }
        for (line, name) in named.into_iter().filter(|(_, name)| !known.contains(*name)) {
            let message =
                format!("`{}` names {name}, which `interfaces` does not have", words(node).join(" "));
            let effect = "the port that was meant has no neighbor, or is in another routing table".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}
