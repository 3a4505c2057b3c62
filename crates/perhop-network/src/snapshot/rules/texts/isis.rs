//! Addresses and levels of IS-IS, in configurations with indentation and with braces.

use std::collections::BTreeMap;

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The number of groups between dots in the system identifier (ISO 10589 §7.1.1).
const SYSTEM: usize = 3;

/// The minimum number of other links with equal metrics. With fewer, the rule reports no link with different
/// metrics.
const LEAST_LINKS: usize = 3;

/// Whether a device or a port uses level 1, and whether it uses level 2.
type Levels = [bool; 2];

/// The IS-IS settings of a device.
struct Process<'t> {
    /// The system identifier, and the line of the address that contains it.
    system: Option<(String, usize)>,
    levels: Levels,
    /// The line that sets the levels, otherwise the first line of the process.
    line: usize,
    /// Whether the device announces wide metrics (RFC 5305); `None` if another rule compares the lines about
    /// metrics.
    is_wide: Option<bool>,
    /// The settings of the ports that the block of the protocol lists, if the block lists ports.
    ports: Option<BTreeMap<&'t str, PortOf<'t>>>,
}

/// The settings of a port in the block of the protocol.
struct PortOf<'t> {
    line: usize,
    levels: Levels,
    is_point_to_point: bool,
    /// The metrics of the port's levels, and the line of the last metric.
    metrics: Vec<&'t str>,
    metric_line: usize,
}

/// Reports devices with the same system identifier, and neighbors without a common level.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Option<Process>> = trees.iter().map(|nodes| process(nodes)).collect();
    let mut systems: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (device, own) in processes.iter().enumerate() {
        if let Some((system, line)) = own.as_ref().and_then(|own| own.system.as_ref()) {
            systems.entry(system).or_default().push((device, *line));
        }
    }
    for (system, devices) in systems.iter().filter(|(_, devices)| devices.len() > 1) {
        for (device, line) in devices {
            let message = format!(
                "{} has the system identifier {system}, which another of the {} devices with IS-IS also has",
                snapshot.devices[*device].name,
                processes.iter().flatten().count()
            );
            let effect = "other routers confuse the devices, so the routes to them appear and disappear";
            let rule = &rules::NETWORK_ROUTER_ID_DUPLICATE;
            found.push(snapshot.finding(*device, rule, *line, (message, effect.to_owned())));
        }
    }
    check_levels(snapshot, &processes, found);
    check_ports(snapshot, &processes, found);
    check_wide(snapshot, &processes, found);
}

/// Returns the IS-IS settings at both ends of a link, if the configurations of both devices have braces.
fn both<'p, 't>(
    snapshot: &Snapshot,
    processes: &'p [Option<Process<'t>>],
    ends: [super::super::PortId; 2],
) -> Option<[&'p PortOf<'t>; 2]> {
    let [own, other] =
        ends.map(|id| processes[id.device].as_ref()?.ports.as_ref()?.get(snapshot.port(id).name.as_str()));
    Some([own?, other?])
}

/// Reports links of which only one end has `point-to-point`, and the link with different metrics at its ends
/// if it is the only such link.
fn check_ports(snapshot: &Snapshot, processes: &[Option<Process>], found: &mut Vec<NetworkFinding>) {
    let ends: Vec<_> =
        snapshot.wires().filter_map(|ends| Some((ends, both(snapshot, processes, ends)?))).collect();
    // Each link counts in both directions.
    let differ = |(_, [near, far]): &&(_, [&PortOf; 2])| near.metrics != far.metrics;
    let is_only = ends.iter().filter(differ).count() == 2 && ends.len() > 2 * LEAST_LINKS;
    for ([own, other], [near, far]) in &ends {
        if near.is_point_to_point != far.is_point_to_point {
            let message = format!(
                "only one of {} and {} has `point-to-point` for IS-IS",
                snapshot.port_name(*own),
                snapshot.port_name(*other)
            );
            let effect =
                "the two routers do not become neighbors: packets take another path, or have no path";
            let rule = &rules::NETWORK_SETTING_DIFFERS;
            found.push(snapshot.finding(own.device, rule, near.line, (message, effect.to_owned())));
        }
        if is_only && near.metrics != far.metrics {
            let message = format!(
                "{} and {} have different metrics of IS-IS, but both ends of all other links have equal metrics",
                snapshot.port_name(*own),
                snapshot.port_name(*other)
            );
            let effect = "packets return over a different path with different queues".to_owned();
            let rule = &rules::NETWORK_COST_UNUSUAL;
            found.push(snapshot.finding(own.device, rule, near.metric_line, (message, effect)));
        }
    }
}

/// Reports the only device, among configurations with braces, that does not announce wide metrics.
fn check_wide(snapshot: &Snapshot, processes: &[Option<Process>], found: &mut Vec<NetworkFinding>) {
    let known: Vec<(usize, &Process, bool)> = processes
        .iter()
        .enumerate()
        .filter_map(|(device, own)| own.as_ref().and_then(|own| Some((device, own, own.is_wide?))))
        .collect();
    let peers: Peers<bool> = known.iter().map(|(.., is_wide)| *is_wide).collect();
    for (device, own, _) in known.iter().filter(|(.., is_wide)| !is_wide && peers.is_exception(is_wide)) {
        let message = format!(
            "{} announces narrow metrics of IS-IS, but most of {} devices announce wide metrics",
            snapshot.devices[*device].name,
            known.len()
        );
        let effect = "the devices see different costs, or do not see each other's links".to_owned();
        found.push(snapshot.finding(*device, &rules::NETWORK_SETTING_DIFFERS, own.line, (message, effect)));
    }
}

/// Reports the ends of a link without a common level, if at least one of their configurations has braces.
/// Another rule compares the levels of the other links.
fn check_levels(snapshot: &Snapshot, processes: &[Option<Process>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let process = |id: super::super::PortId| processes[id.device].as_ref();
        let (Some(near), Some(far)) = (process(own), process(other)) else { continue };
        let levels = |process: &Process, id| match &process.ports {
            Some(ports) => ports.get(snapshot.port(id).name.as_str()).map(|port| port.levels),
            None => Some(process.levels),
        };
        let is_mixed = near.ports.is_some() || far.ports.is_some();
        let (Some(here), Some(there)) = (levels(near, own), levels(far, other)) else { continue };
        let is_common = (0..2).any(|level| here[level] && there[level]);
        if !is_mixed || is_common || here == [false; 2] || there == [false; 2] {
            continue;
        }
        let message = format!(
            "{} speaks IS-IS in level {}, but the other end of the link, {}, in level {}",
            snapshot.port_name(own),
            1 + usize::from(here[1]),
            snapshot.port_name(other),
            1 + usize::from(there[1])
        );
        let effect = "the two routers do not become neighbors: packets take another path, or have no path";
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        let of_port = near.ports.as_ref().and_then(|ports| ports.get(snapshot.port(own).name.as_str()));
        let line = of_port.filter(|port| port.levels != near.levels).map_or(near.line, |port| port.line);
        found.push(snapshot.finding(own.device, rule, line, (message, effect.to_owned())));
    }
}

fn process<'t>(nodes: &[Node<'t>]) -> Option<Process<'t>> {
    let lines = nodes.iter().find(|node| node.line.1.starts_with("router isis"));
    lines.map(of_lines).or_else(|| block(nodes, &["protocols", "isis"]).map(|node| of_braces(nodes, node)))
}

fn of_lines<'t>(node: &Node<'t>) -> Process<'t> {
    let mut found =
        Process { system: None, levels: [true; 2], line: node.line.0, is_wide: None, ports: None };
    for inner in &node.inner {
        match *inner.words().as_slice() {
            ["net", address] => found.system = system(address).map(|system| (system, inner.line.0)),
            ["is-type", levels] => {
                found.line = inner.line.0;
                found.levels = [levels != "level-2-only", levels != "level-1"];
            }
            _ => {}
        }
    }
    found
}

fn of_braces<'t>(nodes: &[Node<'t>], node: &Node<'t>) -> Process<'t> {
    let levels = without_disabled(node, [true; 2]);
    let mut ports = BTreeMap::new();
    for inner in &node.inner {
        if let ["interface", name] = *words(inner).as_slice() {
            ports.insert(name, port_of(inner, levels));
        }
    }
    let mut open: Vec<&Node> = block(nodes, &["interfaces", "lo0"]).into_iter().collect();
    let mut address = None;
    while let Some(node) = open.pop() {
        if let ["address", text] = *words(node).as_slice() {
            address = address.or_else(|| Some((system(text)?, node.line.0)));
        }
        open.extend(&node.inner);
    }
    let is_wide = node.inner.iter().any(|inner| words(inner).last() == Some(&"wide-metrics-only"));
    Process { system: address, levels, line: node.line.0, is_wide: Some(is_wide), ports: Some(ports) }
}

/// Returns the settings of a port in a configuration with braces.
fn port_of<'t>(node: &Node<'t>, levels: Levels) -> PortOf<'t> {
    let is_point_to_point = node.inner.iter().any(|inner| words(inner) == ["point-to-point"]);
    let mut found = PortOf {
        line: node.line.0,
        levels: without_disabled(node, levels),
        is_point_to_point,
        metrics: Vec::new(),
        metric_line: node.line.0,
    };
    for inner in &node.inner {
        if let ["level", level, "metric", metric] = *words(inner).as_slice() {
            found.metrics.extend([level, metric]);
            found.metric_line = inner.line.0;
        }
    }
    found
}

/// Returns the levels that a block does not disable.
fn without_disabled(node: &Node, mut levels: Levels) -> Levels {
    for inner in &node.inner {
        let own = words(inner);
        let is_off =
            own.last() == Some(&"disable") || inner.inner.iter().any(|inner| words(inner) == ["disable"]);
        match own.as_slice() {
            ["level", "1", ..] if is_off => levels[0] = false,
            ["level", "2", ..] if is_off => levels[1] = false,
            _ => {}
        }
    }
    levels
}

/// Returns the system identifier of an OSI address: `0000.0000.0001` for `49.0001.0000.0000.0001.00`.
fn system(address: &str) -> Option<String> {
    let parts: Vec<&str> = address.split('.').collect();
    let (selector, rest) = parts.split_last()?;
    let place = rest.len().checked_sub(SYSTEM)?;
    let is_long = rest[place..].iter().all(|part| part.len() == 4);
    (place > 0 && selector.len() == 2 && is_long).then(|| rest[place..].join("."))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{process, system};

    #[test]
    fn an_address_has_a_system_behind_its_area() {
        assert_eq!(system("49.0001.1921.6800.1001.00").as_deref(), Some("1921.6800.1001"));
        assert_eq!((system("10.0.0.1"), system("192.0.2.1/32")), (None, None));
    }

    #[test]
    fn levels_are_disabled_or_named() {
        let lines = read("router isis\n net 49.0001.0000.0000.0001.00\n is-type level-1");
        assert_eq!(process(&lines).unwrap().levels, [true, false]);
        let text = "interfaces {\n    lo0 {\n        unit 0 {\n            family iso {\n                address \
                    49.0001.0000.0000.0002.00;\n            }\n        }\n    }\n}\nprotocols {\n    isis {\n        \
                    level 1 disable;\n        interface ge-0/0/0.0 {\n            level 2 disable;\n        }\n        \
                    interface ge-0/0/1.0;\n    }\n}";
        let braces = read(text);
        let found = process(&braces).unwrap();
        assert_eq!(found.system, Some(("0000.0000.0002".to_owned(), 5)));
        let ports = found.ports.unwrap();
        assert_eq!((ports["ge-0/0/0.0"].levels, ports["ge-0/0/1.0"].levels), ([false; 2], [false, true]));
    }
}
