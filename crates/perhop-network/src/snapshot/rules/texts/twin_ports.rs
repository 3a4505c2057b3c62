//! Ports of a device with the same purpose, of which one lacks a line about marks and queues.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The beginnings of commands about marks and queues.
const OF_SERVICE: &[&str] = &[
    "auto qos ",
    "mls qos cos ",
    "mls qos trust ",
    "mls qos vlan-based",
    "priority-queue out",
    "qos trust ",
    "queue-set ",
    "service-policy ",
    "srr-queue ",
    "trust ",
];
/// The beginnings of commands that do not depend on the purpose of a port.
const WITHOUT_TASK: &[&str] =
    &["cdp", "description", "duplex", "lldp", "load-interval", "negotiation", "speed"];
/// The minimum number of common lines of two ports with the same purpose.
const LEAST_COMMON: usize = 4;
/// The maximum number of lines that a port lacks.
const MOST_MISSING: usize = 2;
/// The minimum number of similar ports whose descriptions have only the first word in common.
const LEAST_SIMILAR: usize = 2;

/// A port of a device.
struct Port<'t> {
    name: &'t str,
    line: usize,
    /// The letters of the port's description, without digits.
    description: String,
    /// The first word of the description of the port.
    task: &'t str,
    lines: BTreeSet<&'t str>,
    /// The lines about marks and queues, and the letters of all other lines.
    forms: BTreeSet<String>,
}

/// Reports ports that differ from other ports of their device only by missing lines about marks and queues.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let ports: Vec<Port> = nodes.iter().filter_map(port).collect();
        for (place, own) in ports.iter().enumerate() {
            let like = |other: &&Port| other.description == own.description;
            let others =
                || ports.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, other)| other);
            // perhop assumes that a difference is intended if another port with the same description has
            // exactly the same lines.
            if others().filter(like).any(|other| other.lines == own.lines) {
                continue;
            }
            let mut twins: Vec<(&Port, Vec<&str>)> =
                others().filter(like).filter_map(|other| Some((other, missing(own, other)?))).collect();
            if twins.is_empty() {
                twins = similar(own, &ports);
            }
            let Some((twin, missing)) = twins.first() else { continue };
            let lines: Vec<String> = missing.iter().map(|line| format!("`{line}`")).collect();
            let message = format!(
                "{} of {} lacks {}, but has all other lines of {} and of {} more ports",
                own.name,
                snapshot.devices[device].name,
                lines.join(" and "),
                twin.name,
                twins.len() - 1
            );
            let effect =
                "its packets lose their marks, or wait in other queues than packets of the similar port";
            let rule = &rules::NETWORK_PEERS_DISAGREE;
            found.push(snapshot.finding(device, rule, own.line, (message, effect.to_owned())));
        }
    }
}

/// Returns the ports whose description begins with the same word as the description of `own`, if `own` lacks
/// the same lines of each of them, and no other port with this word lacks these lines. Other values, such as
/// addresses, do not count.
fn similar<'p, 't>(own: &Port<'t>, ports: &'p [Port<'t>]) -> Vec<(&'p Port<'t>, Vec<&'t str>)> {
    let others = || ports.iter().filter(|other| other.name != own.name && other.task == own.task);
    let is_of_service = |line: &&str| OF_SERVICE.iter().any(|start| line.starts_with(start));
    let found: Vec<_> = others()
        .filter_map(|other| {
            let missing: Vec<&str> =
                other.lines.difference(&own.lines).copied().filter(is_of_service).collect();
            let fits = own.forms.is_subset(&other.forms)
                && own.forms.len() >= LEAST_COMMON
                && (1..=MOST_MISSING).contains(&missing.len())
                && other.forms.len() == own.forms.len() + missing.len();
            fits.then_some((other, missing))
        })
        .collect();
    let Some((_, missing)) = found.first() else { return found };
    let is_same = found.iter().all(|(_, other)| other == missing)
        && others().all(|other| missing.iter().all(|line| other.lines.contains(line)));
    if is_same && found.len() >= LEAST_SIMILAR { found } else { Vec::new() }
}

/// Returns the lines about marks and queues that a port lacks, if it differs from another port only by these
/// lines.
fn missing<'t>(own: &Port<'t>, other: &Port<'t>) -> Option<Vec<&'t str>> {
    let missing: Vec<&str> = other.lines.difference(&own.lines).copied().collect();
    let is_of_service = |line: &&str| OF_SERVICE.iter().any(|start| line.starts_with(start));
    let fits = own.lines.is_subset(&other.lines)
        && own.lines.len() >= LEAST_COMMON
        && (1..=MOST_MISSING).contains(&missing.len())
        && missing.iter().all(is_of_service);
    fits.then_some(missing)
}

/// Reads a hardware port that is not shut down and has a description; `None` for other blocks.
fn port<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let ["interface", name] = *node.words().as_slice() else { return None };
    let lines: Vec<&str> = node.inner.iter().map(|inner| inner.line.1.trim()).collect();
    if !name.contains('/') || name.contains('.') || lines.contains(&"shutdown") {
        return None;
    }
    let text = lines.iter().find_map(|line| line.strip_prefix("description "))?;
    let description = text.chars().filter(|letter| letter.is_alphabetic()).collect();
    let is_of_task = |line: &&str| {
        let first = line.split(' ').next().unwrap_or_default();
        !WITHOUT_TASK.contains(&first)
    };
    let task = text.split_whitespace().next().unwrap_or_default();
    let lines: BTreeSet<&str> = lines.into_iter().filter(is_of_task).collect();
    let forms = lines.iter().map(|line| form(line)).collect();
    Some(Port { name, line: node.line.0, description, task, lines, forms })
}
/// Returns a line about marks and queues unchanged, and only the letters of another line.
fn form(line: &str) -> String {
    let is_of_service = OF_SERVICE.iter().any(|start| line.starts_with(start));
    line.chars().filter(|letter| is_of_service || letter.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Port, port, similar};

    #[test]
    fn ports_with_one_task_differ_in_addresses() {
        let lines = " no switchport\n ip ospf cost 10\n ip mtu 1500\n";
        let whole = format!("{lines} service-policy output LAN\n");
        let ports = [
            (1, "to a", whole.as_str()),
            (2, "to b", lines),
            (3, "to c", whole.as_str()),
            (4, "server", lines),
        ]
        .into_iter()
        .map(|(number, task, lines)| {
            format!(
                "interface Gi0/{number}\n description {task}\n ip address 10.0.{number}.1 255.0.0.0\n{lines}"
            )
        })
        .collect::<Vec<_>>();
        let text = ports.concat();
        let nodes = read(&text);
        let ports: Vec<Port> = nodes.iter().filter_map(port).collect();
        let missing =
            |place: usize| similar(&ports[place], &ports).first().map(|(_, missing)| missing.clone());
        assert_eq!(missing(1), Some(vec!["service-policy output LAN"]));
        assert_eq!((missing(0), missing(3)), (None, None));
    }
}
