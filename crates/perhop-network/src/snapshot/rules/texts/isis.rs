//! Addresses and levels of IS-IS, in configurations with indentation and with braces.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The number of dotted groups of the system identifier (ISO 10589 §7.1.1).
const SYSTEM: usize = 3;

/// Whether level 1 and level 2 are enabled on a device or port.
type Levels = [bool; 2];

/// The settings of IS-IS of a device.
struct Process<'t> {
    /// The system identifier, and the line of the address that contains it.
    system: Option<(String, usize)>,
    levels: Levels,
    /// The line that sets the levels, otherwise the first line.
    line: usize,
    /// The ports with their levels, if the block of the protocol names them; `None` if the ports name the
    /// protocol.
    ports: Option<BTreeMap<&'t str, Levels>>,
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
                "{} has the system identifier {system}, as another of the {} devices with IS-IS",
                snapshot.devices[*device].name,
                processes.iter().flatten().count()
            );
            let effect = "other routers confuse the two, so the routes to them appear and disappear";
            let rule = &rules::NETWORK_ROUTER_ID_DUPLICATE;
            found.push(snapshot.finding(*device, rule, *line, (message, effect.to_owned())));
        }
    }
    check_levels(snapshot, &processes, found);
}

/// Reports the ends of a link without a common level, if at least one is a configuration with braces. Another
/// rule compares all other ends.
fn check_levels(snapshot: &Snapshot, processes: &[Option<Process>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let process = |id: super::super::PortId| processes[id.device].as_ref();
        let (Some(near), Some(far)) = (process(own), process(other)) else { continue };
        let levels = |process: &Process, id| match &process.ports {
            Some(ports) => ports.get(snapshot.port(id).name.as_str()).copied(),
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
        let effect = "the two routers do not become neighbors: packets take another path, or have none";
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.device, rule, near.line, (message, effect.to_owned())));
    }
}

fn process<'t>(nodes: &[Node<'t>]) -> Option<Process<'t>> {
    let lines = nodes.iter().find(|node| node.line.1.starts_with("router isis"));
    lines.map(of_lines).or_else(|| block(nodes, &["protocols", "isis"]).map(|node| of_braces(nodes, node)))
}

fn of_lines<'t>(node: &Node<'t>) -> Process<'t> {
    let mut found = Process { system: None, levels: [true; 2], line: node.line.0, ports: None };
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
            ports.insert(name, without_disabled(inner, levels));
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
    Process { system: address, levels, line: node.line.0, ports: Some(ports) }
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
        assert_eq!((ports["ge-0/0/0.0"], ports["ge-0/0/1.0"]), ([false; 2], [false, true]));
    }
}
