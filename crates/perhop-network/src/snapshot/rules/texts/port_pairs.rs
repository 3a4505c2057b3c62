//! Ports with a policy in only one direction, if all similar ports have policies in both directions. Similar
//! ports have similar names and descriptions.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other ports with policies in both directions.
const LEAST_OTHERS: usize = 2;

/// A port with its policies.
struct Port<'t> {
    name: &'t str,
    line: usize,
    /// The first words of the description of the port.
    description: String,
    input: Option<&'t str>,
    output: Option<&'t str>,
}

/// Reports a port of a device if it is the only port of its kind with a policy in only one direction. All
/// other ports of the kind with policies must have an input and an output policy, and one of them must use
/// the policy of the reported port.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let all: Vec<Port> = nodes.iter().filter_map(port).collect();
        let mut kinds: BTreeMap<(&str, bool, &str), Vec<&Port>> = BTreeMap::new();
        for port in &all {
            let letters = port.name.trim_end_matches(|letter: char| !letter.is_alphabetic());
            let kind = (letters, port.name.contains('.'), port.description.as_str());
            kinds.entry(kind).or_default().push(port);
        }
        for own in kinds.values() {
            let Some((port, twin)) = exception(own) else { continue };
            let [direction, other] =
                if port.input.is_none() { ["input", "output"] } else { ["output", "input"] };
            let message = format!(
                "{} of {} has no {direction} policy, but all {} similar ports with policies have both an input and an \
                 output policy; {} uses the same {other} policy",
                port.name,
                snapshot.devices[device].name,
                own.len() - 1,
                twin.name
            );
            let effect = "packets in this direction get neither marks nor queues nor limits".to_owned();
            let rule = &rules::NETWORK_POLICY_MISSING;
            found.push(snapshot.finding(device, rule, port.line, (message, effect)));
        }
    }
}

/// If exactly one port has a policy in only one direction, returns this port and another port with the same
/// policy.
fn exception<'p, 't>(ports: &[&'p Port<'t>]) -> Option<(&'p Port<'t>, &'p Port<'t>)> {
    let is_whole = |port: &&&Port| port.input.is_some() && port.output.is_some();
    let mut halves = ports.iter().filter(|port| !is_whole(port));
    let (Some(port), None) = (halves.next(), halves.next()) else { return None };
    let mut twins = ports.iter().filter(is_whole).filter(|twin| match (port.input, port.output) {
        (Some(input), _) => twin.input == Some(input),
        (_, output) => twin.output == output,
    });
    let twin = twins.next()?;
    (ports.len() > LEAST_OTHERS).then_some((*port, *twin))
}

/// Returns a routed port that is up and has a policy.
fn port<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let ["interface", name, ..] = *node.words().as_slice() else { return None };
    // The ports of a switch have policies for their hosts.
    if node.is_shut() || node.inner.iter().any(|inner| inner.begins_with("switchport")) {
        return None;
    }
    let policy = |direction: &str| {
        node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["service-policy", own, name] if own == direction => Some(name),
            _ => None,
        })
    };
    let (input, output) = (policy("input"), policy("output"));
    let port = Port { name, line: node.line.0, description: description_kind(node), input, output };
    (input.is_some() || output.is_some()).then_some(port)
}

/// Returns the kind of the other end of a port, from its description; empty without a description.
pub(super) fn description_kind(node: &Node) -> String {
    let text = node.inner.iter().find_map(|inner| inner.line.1.trim().strip_prefix("description "));
    text.map_or_else(String::new, kind_of)
}

/// Returns the word of a description that names the kind of the other end, such as `customer`.
fn kind_of(description: &str) -> String {
    let words = description.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
    let mut words = words.map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    // The next word names the other end.
    if ["to", "link", "connection", "uplink"].contains(&first.as_str()) {
        return [first, words.next().unwrap_or_default()].join(" ");
    }
    first
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Port, exception, kind_of, port};

    fn name(lines: [&str; 3]) -> Option<String> {
        let ports = (1..).zip(lines).map(|(number, lines)| format!("interface Gi0/{number}\n{lines}"));
        let text = ports.collect::<Vec<_>>().concat();
        let nodes = read(&text);
        let all: Vec<Port> = nodes.iter().filter_map(port).collect();
        exception(&all.iter().collect::<Vec<_>>()).map(|(port, _)| port.name.to_owned())
    }

    #[test]
    fn descriptions_have_a_kind() {
        assert_eq!(kind_of("Customer alpha, 20 Mb/s"), kind_of("CUSTOMER-beta"));
        assert_ne!(kind_of("to provider"), kind_of("to customer 7"));
        assert_eq!(kind_of("*** 17 ***"), "");
    }

    #[test]
    fn the_only_half_is_an_exception() {
        let (slow, fast) = (
            " service-policy input I2\n service-policy output O2\n",
            " service-policy input \
                            I5\n service-policy output O5\n",
        );
        assert_eq!(name([slow, fast, " service-policy output O2\n"]).as_deref(), Some("Gi0/3"));
        assert_eq!(name([slow, fast, " service-policy output O9\n"]), None, "no port has the same policy");
        assert_eq!(name([slow, " service-policy input I5\n", " service-policy output O2\n"]), None);
        assert_eq!(name([slow, slow, " ip address 10.0.0.1 255.0.0.0\n"]), None);
    }
}
