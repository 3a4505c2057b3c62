//! Ports that lack one statement of all ports with the same purpose, in configurations with braces.
//!
//! In such configurations, the parts of a port are in several blocks: its families are in `interfaces`, its
//! classifiers in `class-of-service`, its protocols in `protocols`. If only one of these blocks lacks a port,
//! the port was probably forgotten.

use std::collections::{BTreeMap, BTreeSet};

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other ports with a part. With fewer, the rule reports no port without the part.
const LEAST_OTHERS: usize = 2;
/// The minimum number of parts that ports with the same purpose have in common.
const LEAST_COMMON: usize = 2;
/// Protocols whose blocks list ports.
const PROTOCOLS: &[&str] = &["isis", "ldp", "mpls", "ospf", "ospf3", "rsvp"];
/// The names of interfaces without neighbors: loopbacks and management interfaces.
const APART: &[&str] = &["em", "fxp", "lo", "me", "vme"];

/// A port with its parts, and the lines for findings about missing parts.
struct Unit {
    device: usize,
    name: String,
    /// The line of the port in `interfaces`.
    line: usize,
    /// The line of the port in `class-of-service`.
    service_line: Option<usize>,
    /// The line of the port's interface in `class-of-service`.
    interface_line: Option<usize>,
    parts: BTreeSet<String>,
    /// The names of the classifiers, rewrite rules, scheduler maps and filters of the port, by part, with
    /// their lines.
    values: BTreeMap<String, (String, usize)>,
}

/// Reports ports that differ from similar ports in one part, and blocks that name ports that do not exist.
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
    check_values(snapshot, &units, found);
    check_replaced(snapshot, &units, found);
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
            let (mut parts, mut values) = (BTreeSet::new(), BTreeMap::new());
            for family in &unit.inner {
                if let ["family", name] = *words(family).as_slice() {
                    parts.insert(format!("family {name}"));
                    let filters = block(&family.inner, &["filter"]).map_or(&[][..], |filter| &filter.inner);
                    for filter in filters {
                        if let [direction, filter_name, ..] = *words(filter).as_slice() {
                            let part = format!("filter {direction} of family {name}");
                            values.insert(part.clone(), (filter_name.to_owned(), filter.line.0));
                            parts.insert(part);
                        }
                    }
                }
            }
            let name = format!("{name}.{number}");
            let line = unit.line.0;
            found.push(Unit { device, name, line, service_line: None, interface_line: None, parts, values });
        }
    }
    found
}

fn is_disabled(node: &Node) -> bool {
    node.inner.iter().any(|inner| words(inner) == ["disable"])
}

/// Adds to each port the protocols and routing instances whose blocks list the port.
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
            let unit_name = unit.name.clone();
            let Some((own, number)) = unit_name.rsplit_once('.') else { continue };
            if !fits(name, own) {
                continue;
            }
            unit.service_line.get_or_insert(interface.line.0);
            unit.interface_line.get_or_insert(interface.line.0);
            for inner in &interface.inner {
                match words(inner).as_slice() {
                    ["unit", pattern] if fits(pattern, number) => {
                        unit.service_line = Some(inner.line.0);
                        inner.inner.iter().for_each(|part| unit.add_service_part(part));
                    }
                    ["unit", ..] => {}
                    _ => unit.add_service_part(inner),
                }
            }
        }
    }
}

impl Unit {
    /// Adds the parts of a statement of `class-of-service interfaces`. `classifiers` and `rewrite-rules` have
    /// one part for each kind inside, any other command with a value is one part. Also stores the names of
    /// classifiers, rewrite rules and the scheduler map.
    fn add_service_part(&mut self, node: &Node) {
        match words(node).as_slice() {
            ["classifiers" | "rewrite-rules"] => {
                for inner in &node.inner {
                    let own = words(inner);
                    let Some(kind) = own.first() else { continue };
                    let part = format!("{} {kind}", words(node)[0]);
                    if let Some(name) = own.get(1) {
                        self.values.insert(part.clone(), ((*name).to_owned(), inner.line.0));
                    }
                    self.parts.insert(part);
                }
            }
            [command, name, ..] => {
                if *command == "scheduler-map" {
                    self.values.insert((*command).to_owned(), ((*name).to_owned(), node.line.0));
                }
                self.parts.insert((*command).to_owned());
            }
            _ => {}
        }
    }
}

/// Whether a pattern, which may end with `*`, matches the name of a port.
fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// Reports a port that lacks one part, if other ports have exactly the same parts and this part.
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

/// A port, the name of the classifier, filter or other object in a part of the port, and the line.
type Named<'u> = (&'u Unit, &'u str, usize);

/// Reports the only port whose classifier, rewrite rule, scheduler map or filter differs from all other ports
/// with the same parts, on any device.
fn check_values(snapshot: &Snapshot, units: &[Unit], found: &mut Vec<NetworkFinding>) {
    let mut by_part: BTreeMap<(&BTreeSet<String>, &str), Vec<Named>> = BTreeMap::new();
    for unit in units {
        for (part, (name, line)) in &unit.values {
            by_part.entry((&unit.parts, part)).or_default().push((unit, name, *line));
        }
    }
    for ((_, part), own) in by_part {
        let peers: Peers<&str> = own.iter().map(|(_, name, _)| *name).collect();
        let Some(usual) = peers.usual().copied() else { continue };
        for (unit, name, line) in own.iter().filter(|(_, name, _)| peers.is_exception(name)) {
            // A device can use a name of its own at all its ports.
            if !defines(snapshot, unit.device, usual) {
                continue;
            }
            let message = format!(
                "{}:{} has `{part}` {name}, but {} other ports with the same parts have {usual}",
                snapshot.devices[unit.device].name,
                unit.name,
                own.len() - 1
            );
            let effect = effect(part).to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(unit.device, rule, *line, (message, effect)));
        }
    }
}

/// Whether a line of a device defines a name.
fn defines(snapshot: &Snapshot, device: usize, name: &str) -> bool {
    let mut lines = snapshot.devices[device].device.numbered_lines();
    lines.any(|(_, text)| {
        text.trim().strip_suffix('{').is_some_and(|head| head.split_whitespace().last() == Some(name))
    })
}

/// Reports the only port that has one part in place of another part, such as a filter in the opposite
/// direction.
fn check_replaced(snapshot: &Snapshot, units: &[Unit], found: &mut Vec<NetworkFinding>) {
    let mut forms: BTreeMap<&BTreeSet<String>, Vec<&Unit>> = BTreeMap::new();
    for unit in units {
        forms.entry(&unit.parts).or_default().push(unit);
    }
    for (parts, own) in forms.iter().filter(|(parts, _)| parts.len() > LEAST_COMMON) {
        let [unit] = own.as_slice() else { continue };
        let mut replaced = forms.iter().filter_map(|(others, ports)| {
            let more: Vec<&String> = parts.difference(others).collect();
            let missing: Vec<&String> = others.difference(parts).collect();
            let ([more], [missing]) = (more.as_slice(), missing.as_slice()) else { return None };
            let is_same_kind = more.split(' ').next() == missing.split(' ').next();
            (is_same_kind && ports.len() >= LEAST_OTHERS).then_some((*more, *missing, ports.len()))
        });
        let Some((more, missing, count)) = replaced.next() else { continue };
        let message = format!(
            "{}:{} has `{more}` and lacks `{missing}`, which {count} otherwise equal ports have",
            snapshot.devices[unit.device].name, unit.name
        );
        let line = unit.values.get(more).map_or(unit.line, |(_, line)| *line);
        let effect = effect(missing).to_owned();
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
        ["classifiers" | "rewrite-rules", ..] => unit.service_line.unwrap_or(unit.line),
        _ => unit.interface_line.unwrap_or(unit.line),
    }
}

fn effect(part: &str) -> &'static str {
    match part.split(' ').next() {
        Some("classifiers") => {
            "the default classifier of the device selects the classes of this port's packets: EF and AF packets \
             get best-effort"
        }
        Some("rewrite-rules") => "packets leave the port with the marks with which they arrived",
        Some("filter") => "the port does not police or mark its packets as the other ports do",
        Some("protocols" | "family" | "routing-instances") => {
            "the port has no neighbor or no labels: packets take another path, or have no path"
        }
        _ => "packets of the port get other queues and rates than at the other ports",
    }
}

/// Reports ports that a block names but `interfaces` lacks, if `interfaces` contains another port of the
/// block.
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
            // This is the closing brace of a block.
            [] => continue,
            // Interface ranges and applied groups define ports that this rule does not read, so it ends here.
            _ => return,
        };
        for unit in &interface.inner {
            if let ["unit", number] = *words(unit).as_slice() {
                known.insert(format!("{name}.{number}"));
            }
        }
    }
    check_service_names(snapshot, device, nodes, &known, found);
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
            let effect = "the intended port has no neighbor, or is in another routing table".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}

/// Reports ports that `class-of-service` names but `interfaces` lacks, if `interfaces` contains another port
/// of `class-of-service`. Also reports ports whose block in `class-of-service` is inactive.
fn check_service_names(
    snapshot: &Snapshot,
    device: usize,
    nodes: &[Node],
    known: &BTreeSet<String>,
    found: &mut Vec<NetworkFinding>,
) {
    let ports: BTreeSet<&str> =
        known.iter().filter_map(|unit| unit.rsplit_once('.')).map(|(port, _)| port).collect();
    let service = block(nodes, &["class-of-service", "interfaces"]).map_or(&[][..], |node| &node.inner);
    let named: Vec<(usize, bool, &str)> = service
        .iter()
        .filter_map(|node| match *words(node).as_slice() {
            ["inactive:", name] => Some((node.line.0, true, name)),
            [name] => Some((node.line.0, false, name)),
            _ => None,
        })
        .filter(|(.., name)| !name.contains('*'))
        .collect();
    if !named.iter().any(|(_, is_inactive, name)| !is_inactive && ports.contains(*name)) {
        return;
    }
    for (line, is_inactive, name) in named {
        if !is_inactive && ports.contains(name) || is_inactive && !ports.contains(name) {
            continue;
        }
        let message = if is_inactive {
            format!(
                "the class of service of {name} is inactive, but the class of service of other ports is \
                 active"
            )
        } else {
            format!("`class-of-service` names {name}, which `interfaces` does not have")
        };
        let effect = "the port has the default queues and does not change marks".to_owned();
        let rule = &rules::NETWORK_PORT_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line, (message, effect)));
    }
}
