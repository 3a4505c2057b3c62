//! Class of service of Junos at ports: the only port without queues, and units that do not exist.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// Interfaces for management, loopbacks, tunnels and VLANs, whose packets other ports queue.
const WITHOUT_QUEUES: [&str; 9] = ["lo", "fxp", "em", "me", "vme", "irb", "vlan", "st", "gr"];
/// The statements that give a port queues.
const QUEUES: [&str; 3] = ["scheduler-map", "output-traffic-control-profile", "shared-scheduler"];
/// The minimum number of other ports with queues.
const LEAST_OTHERS: usize = 2;

/// Reports the only port to another device that has no queues of its own, and units in the block of class of
/// service that no interface has.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let (Some(interfaces), Some(service)) =
            (block(nodes, &["interfaces"]), block(nodes, &["class-of-service", "interfaces"]))
        else {
            continue;
        };
        let name = &snapshot.devices[device].name;
        let linked: BTreeSet<&str> = snapshot
            .inside_ports()
            .filter(|(id, _)| id.device == device)
            .map(|(id, _)| snapshot.port(id).interface.as_str())
            .collect();
        if let Some((port, line, others)) = without_queues(interfaces, service, &linked) {
            let message =
                format!("{port} of {name} has no scheduler map, but its {others} other ports have one");
            let effect = "packets of all classes share the default queues of this port".to_owned();
            let rule = &rules::NETWORK_POLICY_MISSING;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
        for (port, line) in strange_units(interfaces, service) {
            let message = format!("{name} has no unit {port}, which `class-of-service` configures");
            let effect = "the classifiers and queues of this block apply to no packet".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}

/// Returns the only port to another device without queues, its line, and the number of the others.
fn without_queues<'t>(
    interfaces: &Node<'t>,
    service: &Node<'t>,
    linked: &BTreeSet<&str>,
) -> Option<(&'t str, usize, usize)> {
    let has_queues = |name: &str| {
        let own =
            service.inner.iter().filter(|node| words(node).first().is_some_and(|own| covers(own, name)));
        own.into_iter().any(|node| QUEUES.iter().any(|statement| !inside(node, statement).is_empty()))
    };
    let ports: Vec<(&str, usize, bool)> = interfaces
        .inner
        .iter()
        .filter(|node| !inside(node, "address").is_empty() && inside(node, "disable").is_empty())
        .filter_map(|node| match *words(node).as_slice() {
            [name] if !is_without_queues(name) && linked.contains(name) => {
                Some((name, node.line.0, has_queues(name)))
            }
            _ => None,
        })
        .collect();
    let mut bare = ports.iter().filter(|(.., has)| !has);
    let (Some((name, line, _)), None) = (bare.next(), bare.next()) else { return None };
    let others = ports.len() - 1;
    let of_port = service.inner.iter().find(|node| words(node) == [*name]);
    (others >= LEAST_OTHERS).then_some((*name, of_port.map_or(*line, |node| node.line.0), others))
}

fn is_without_queues(name: &str) -> bool {
    let letters = name.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
    WITHOUT_QUEUES.contains(&letters)
}

/// Whether a name in the block of class of service, which may end in `*`, is the name of a port.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, _)) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Returns the units that an existing interface lacks, with their lines.
fn strange_units(interfaces: &Node, service: &Node) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for node in &service.inner {
        let [name] = *words(node).as_slice() else { continue };
        let Some(own) = interfaces.inner.iter().find(|own| words(own) == [name]) else { continue };
        let units: BTreeSet<&str> =
            inside(own, "unit").into_iter().filter_map(|unit| words(unit).get(1).copied()).collect();
        for unit in inside(node, "unit") {
            let Some(number) = words(unit).get(1).copied() else { continue };
            if number != "*" && !units.is_empty() && !units.contains(number) {
                found.push((format!("{name}.{number}"), unit.line.0));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{covers, strange_units, without_queues};

    fn interfaces() -> String {
        let port = |name: &str| {
            format!(
                "    {name} {{\n        unit 0 {{\n            family inet {{\n                address 10.0.0.1/24;\n            \
                     }}\n        }}\n    }}\n"
            )
        };
        format!(
            "interfaces {{\n{}{}{}{}}}",
            port("ge-0/0/0"),
            port("ge-0/0/1"),
            port("ge-0/0/2"),
            port("lo0")
        )
    }

    #[test]
    fn the_only_port_without_queues_is_an_exception() {
        let text = interfaces();
        let ports = read(&text);
        let name = |service: &str| {
            let nodes = read(service);
            let linked = ["ge-0/0/0", "ge-0/0/1", "ge-0/0/2", "lo0"].into_iter().collect();
            without_queues(&ports[0], &nodes[0], &linked).map(|(name, ..)| name.to_owned())
        };
        let two = "interfaces {\n    ge-0/0/0 {\n        scheduler-map M;\n    }\n    ge-0/0/1 {\n        scheduler-map \
                   M;\n    }\n}";
        assert_eq!(name(two).as_deref(), Some("ge-0/0/2"));
        assert_eq!(name("interfaces {\n    ge-0/0/0 {\n        scheduler-map M;\n    }\n}"), None);
        assert_eq!(name("interfaces {\n    ge-* {\n        scheduler-map M;\n    }\n}"), None);
        assert!(covers("ge-0/0/*", "ge-0/0/7") && !covers("ge-0/0/1", "ge-0/0/11"));
    }

    #[test]
    fn units_exist() {
        let text = interfaces();
        let ports = read(&text);
        let service = "interfaces {\n    ge-0/0/0 {\n        unit 0 {\n            forwarding-class A;\n        }\n        unit 3 \
                       {\n            forwarding-class A;\n        }\n    }\n}";
        assert_eq!(strange_units(&ports[0], &read(service)[0]), [("ge-0/0/0.3".to_owned(), 6)]);
    }
}
