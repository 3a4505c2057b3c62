//! IS-IS of devices that list their ports in the block of the process (IOS XR): ports that are not listed,
//! incomplete, or different from the other end of their link.

use std::collections::BTreeMap;

use perhop_device::RoutingProtocol;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use super::dependencies::label_families::may_inherit;
use crate::rules;

const NO_NEIGHBORS: &str = "the two routers do not become neighbors: packets take another path, or have none";

/// The settings of a port in IS-IS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PortOf {
    line: usize,
    is_point_to_point: bool,
    is_passive: bool,
    has_family: bool,
}

/// The IS-IS processes of a device that list ports, combined.
struct Process<'t> {
    line: usize,
    /// Whether a group of statements can complete the settings of ports.
    can_inherit: bool,
    ports: BTreeMap<&'t str, PortOf>,
}

/// Reports incomplete processes, and ports that do not fit the other end of their link.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Option<Process>> = trees.iter().map(|nodes| listed(nodes)).collect();
    for (device, nodes) in trees.iter().enumerate() {
        let can_inherit = can_inherit(nodes, "isis");
        let mut incomplete: Vec<(usize, String)> = Vec::new();
        if !can_inherit {
            incomplete.extend(nodes.iter().filter_map(without_address));
            incomplete.extend(without_title(nodes));
        }
        if let Some(process) = processes[device].as_ref().filter(|_| !can_inherit) {
            let is_usual = process.ports.values().any(|port| port.has_family);
            let bare = process.ports.iter().filter(|(_, port)| is_usual && !port.has_family);
            incomplete.extend(bare.map(|(name, port)| {
                (port.line, format!("{name} has no `address-family` in the block of IS-IS"))
            }));
        }
        for (line, what) in incomplete {
            let message = format!("{}: {what}", snapshot.devices[device].name);
            let effect = "IS-IS does not run there: packets take another path, or have none".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_BLOCK_INCOMPLETE, line, (message, effect)));
        }
    }
    for [own, other] in snapshot.wires() {
        let Some(near) = &processes[own.device] else { continue };
        let Some(far) = end(snapshot, trees, &processes, other).filter(|far| !far.is_passive) else {
            continue;
        };
        let can_inherit = near.can_inherit || can_inherit(&trees[other.device], "isis");
        match near.ports.get(snapshot.port(own).name.as_str()) {
            None if is_compared(snapshot, own.device) => {}
            None => report_unlisted(snapshot, (own, near.line), (other, far.line), found),
            Some(port) if port.is_passive || can_inherit => {}
            Some(port) if port.is_point_to_point != far.is_point_to_point => {
                report_type(snapshot, (own, port), (other, &far), found);
            }
            Some(_) => {}
        }
    }
}

/// Whether the rule about links compares the ports of a device. It does not if groups of lines can change
/// them.
fn is_compared(snapshot: &Snapshot, device: usize) -> bool {
    let mut processes = snapshot.router(device).forwarding.processes.iter();
    processes.any(|process| process.protocol == RoutingProtocol::Isis)
}

fn report_unlisted(
    snapshot: &Snapshot,
    (own, line): (PortId, usize),
    (other, far): (PortId, usize),
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "the block of IS-IS does not list {}, but {} at the other end of the link runs IS-IS ({})",
        snapshot.port_name(own),
        snapshot.port_name(other),
        snapshot.place(other.device, far)
    );
    let rule = &rules::NETWORK_NEIGHBORS_MISSING;
    found.push(snapshot.finding(own.device, rule, line, (message, NO_NEIGHBORS.to_owned())));
}

fn report_type(
    snapshot: &Snapshot,
    (own, port): (PortId, &PortOf),
    (other, far): (PortId, &PortOf),
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "only one of {} and {} ({}) is a point-to-point port of IS-IS",
        snapshot.port_name(own),
        snapshot.port_name(other),
        snapshot.place(other.device, far.line)
    );
    let rule = &rules::NETWORK_SETTING_DIFFERS;
    found.push(snapshot.finding(own.device, rule, port.line, (message, NO_NEIGHBORS.to_owned())));
}

/// Returns the settings of a port on which its device runs IS-IS.
fn end<'t>(
    snapshot: &Snapshot,
    trees: &[Vec<Node<'t>>],
    processes: &[Option<Process<'t>>],
    id: PortId,
) -> Option<PortOf> {
    let port = snapshot.port(id);
    if let Some(process) = &processes[id.device] {
        return process.ports.get(port.name.as_str()).copied();
    }
    if let Some(isis) = block(&trees[id.device], &["protocols", "isis"]) {
        let node = isis.inner.iter().find(|inner| words(inner) == ["interface", port.name.as_str()])?;
        return Some(with_braces(node));
    }
    let known = &snapshot.router(id.device).forwarding.processes;
    let mut parts = port.forwarding.routing.iter();
    let part = parts.find(|part| known[part.process].protocol == RoutingProtocol::Isis)?;
    let member = &snapshot.devices[id.device].device;
    Some(PortOf {
        line: part.line,
        is_point_to_point: member.line_in_block(port.line, "isis network point-to-point").is_some(),
        is_passive: part.passive.is_some(),
        has_family: true,
    })
}

fn with_braces(node: &Node) -> PortOf {
    let has = |word: &str| node.inner.iter().any(|inner| words(inner) == [word]);
    PortOf {
        line: node.line.0,
        is_point_to_point: has("point-to-point"),
        is_passive: has("passive") || has("disable"),
        has_family: true,
    }
}

/// Returns the processes of a device that list its ports. A port of several processes has the settings of the
/// first one in which it is not passive.
fn listed<'t>(nodes: &[Node<'t>]) -> Option<Process<'t>> {
    let mut processes = nodes.iter().filter(|node| node.begins_with("router isis")).peekable();
    let line = processes.peek()?.line.0;
    let mut ports: BTreeMap<&str, PortOf> = BTreeMap::new();
    for inner in processes.flat_map(|node| &node.inner) {
        if let ["interface", name] = *inner.words().as_slice() {
            let own = port(inner);
            let is_first = ports.get(name).is_none_or(|known| known.is_passive);
            if is_first {
                ports.insert(name, own);
            }
        }
    }
    (!ports.is_empty()).then_some(Process { line, can_inherit: can_inherit(nodes, "isis"), ports })
}

fn port(node: &Node) -> PortOf {
    let mut found =
        PortOf { line: node.line.0, is_point_to_point: false, is_passive: false, has_family: false };
    for inner in &node.inner {
        match *inner.words().as_slice() {
            ["point-to-point"] => found.is_point_to_point = true,
            ["passive" | "shutdown" | "suppressed"] => found.is_passive = true,
            ["address-family", ..] => {
                found.has_family = true;
            }
            _ => {}
        }
    }
    found
}

/// Returns the line of a process without a network entity title, or of a title whose selector is not zero.
fn without_address(node: &Node) -> Option<(usize, String)> {
    if !node.begins_with("router isis") || node.inner.is_empty() {
        return None;
    }
    // The title of a VRF is in the block of the VRF (NX-OS).
    let blocks = node.inner.iter().flat_map(|inner| std::iter::once(inner).chain(&inner.inner));
    let titles: Vec<_> = blocks.filter(|inner| inner.begins_with("net ")).collect();
    // ISO 10589 §7.1.1: the selector of the title of a router is 0.
    let wrong = titles.iter().find(|title| !title.line.1.trim_end().ends_with(".00"));
    match wrong {
        Some(title) => Some((title.line.0, "the last part of `net` is not 00".to_owned())),
        None if titles.is_empty() => Some((node.line.0, "`router isis` has no `net`".to_owned())),
        None => None,
    }
}

/// Returns the line of the block of IS-IS if no interface of a device with braces has an address for it.
fn without_title(nodes: &[Node]) -> Option<(usize, String)> {
    let isis = block(nodes, &["protocols", "isis"])?;
    let is_off = isis.inner.iter().any(|inner| words(inner) == ["disable"]);
    if is_off || may_inherit(nodes) {
        return None;
    }
    let families = block(nodes, &["interfaces"]).map_or_else(Vec::new, |node| inside(node, "family"));
    let mut iso = families.into_iter().filter(|family| words(family).get(1) == Some(&"iso")).peekable();
    // A configuration without this family is probably only a part.
    iso.peek()?;
    let has_title = iso.any(|family| words(family).len() > 2 || !inside(family, "address").is_empty());
    (!has_title).then(|| (isis.line.0, "no interface has an address of `family iso`".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{listed, without_address, without_title};

    const TEXT: &str = "router isis A\n net 49.0001.0000.0000.0001.00\n interface Loopback0\n  passive\n  address-family ipv4 \
                        unicast\n interface Te0/0\n  point-to-point\n  address-family ipv4 unicast\n   metric 20\n interface \
                        Te0/1\n  bfd fast-detect ipv4\n";

    #[test]
    fn ports_have_their_settings() {
        let nodes = read(TEXT);
        let process = listed(&nodes).unwrap();
        let port = |name: &str| process.ports[name];
        assert_eq!((port("Te0/0").is_point_to_point, port("Te0/0").line), (true, 6));
        assert_eq!((port("Te0/1").has_family, port("Te0/1").line), (false, 10));
        assert!(port("Loopback0").is_passive);
        let second = format!(
            "{TEXT}router isis B\n interface Loopback0\n  address-family ipv4 unicast\n interface Te0/2\n"
        );
        let nodes = read(&second);
        let process = listed(&nodes).unwrap();
        assert!(!process.ports["Loopback0"].is_passive && process.ports.contains_key("Te0/2"));
        assert!(listed(&read("router isis\n net 49.0001.0000.0000.0001.00\n")).is_none());
    }

    #[test]
    fn a_process_needs_a_title() {
        let line = |text: &str| without_address(&read(text)[0]).map(|(line, _)| line);
        assert_eq!(line(TEXT), None);
        assert_eq!(line(&TEXT.replace("0001.00\n", "0001.01\n")), Some(2));
        assert_eq!(line(&TEXT.replace(" net 49.0001.0000.0000.0001.00\n", "")), Some(1));
    }

    #[test]
    fn a_process_with_braces_needs_a_title() {
        let text = "interfaces {\n    lo0 {\n        unit 0 {\n            family iso {\n                address \
                    49.0001.0000.0000.0001.00;\n            }\n        }\n    }\n}\nprotocols {\n    isis {\n        interface \
                    lo0.0;\n    }\n}";
        assert_eq!(without_title(&read(text)), None);
        let bare = text.replace("                address 49.0001.0000.0000.0001.00;\n", "");
        assert_eq!(without_title(&read(&bare)).map(|(line, _)| line), Some(10));
        let group = "groups {\n    RE {\n        interfaces {\n            lo0 {\n                unit \
                     0;\n            }\n        }\n    }\n}\n";
        assert_eq!(without_title(&read(&format!("{group}{bare}"))), None, "the group can have the address");
        assert_eq!(without_title(&read("protocols {\n    isis {\n        level 1 disable;\n    }\n}")), None);
    }
}
