//! Policies that are attached in the opposite direction to their name.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{begins_with, words};
use crate::rules;

/// The words for arriving and for departing packets in names.
const INPUT: &[&str] = &["IN", "INPUT", "INGRESS", "INBOUND"];
const OUTPUT: &[&str] = &["OUT", "OUTPUT", "EGRESS", "OUTBOUND"];
/// The beginnings of lines that attach policies, filters and lists.
const COMMANDS: [&str; 5] = ["service-policy", "filter", "ip", "input", "output"];
/// The minimum number of policies that are attached in the direction that their name states.
const LEAST: usize = 3;

/// An attachment of a policy, filter or list.
struct Attachment<'t> {
    device: usize,
    line: usize,
    name: &'t str,
    is_output: bool,
}

/// Reports a policy that is attached in the opposite direction to its name, if it is the only one and at
/// least [`LEAST`] other policies are attached in the direction that their name states.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut all = Vec::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            add(&mut all, device, node, false);
        }
    }
    let named: Vec<(&Attachment, bool)> =
        all.iter().filter_map(|own| Some((own, stated_output(own.name)?))).collect();
    let odd: Vec<&Attachment> =
        named.iter().filter(|(own, stated)| own.is_output != *stated).map(|(own, _)| *own).collect();
    let [odd] = odd.as_slice() else { return };
    if named.len() <= LEAST {
        return;
    }
    let [here, there] = if odd.is_output { ["output", "input"] } else { ["input", "output"] };
    let message = format!(
        "{} is attached to {here}, but its name states {there}, and {} other policies are attached as their names \
         state",
        odd.name,
        named.len() - 1
    );
    let effect = "the policy applies to packets of the wrong direction".to_owned();
    let rule = &rules::NETWORK_ATTACHMENT_UNUSUAL;
    found.push(snapshot.finding(odd.device, rule, odd.line, (message, effect)));
}

/// Returns whether a name states the output direction; `None` if the name states no direction, or both.
fn stated_output(name: &str) -> Option<bool> {
    let upper = name.to_ascii_uppercase();
    let parts: Vec<&str> = upper.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    match (has(INPUT), has(OUTPUT)) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

/// Adds the attachments of a block. `is_filter` states whether the block contains filters.
fn add<'t>(found: &mut Vec<Attachment<'t>>, device: usize, node: &Node<'t>, is_filter: bool) {
    let line = node.line.0;
    let words =
        if COMMANDS.iter().any(|command| begins_with(node, command)) { words(node) } else { Vec::new() };
    let attached = match *words.as_slice() {
        ["service-policy" | "filter", direction @ ("input" | "output"), name] => {
            Some((direction == "output", name))
        }
        ["ip" | "ipv6", "access-group" | "traffic-filter", name, direction @ ("in" | "out")] => {
            Some((direction == "out", name))
        }
        [direction @ ("input" | "output"), name] if is_filter => Some((direction == "output", name)),
        _ => None,
    };
    found.extend(attached.map(|(is_output, name)| Attachment { device, line, name, is_output }));
    let is_filter = words == ["filter"];
    for inner in &node.inner {
        add(found, device, inner, is_filter);
    }
}

#[cfg(test)]
mod tests {
    use super::stated_output;

    #[test]
    fn words_of_a_name_state_the_direction() {
        for (name, expected) in [
            ("CE-IN-50M", Some(false)),
            ("wan_out", Some(true)),
            ("MAIN", None),
            ("IN-OUT", None),
            ("egress.queues", Some(true)),
        ] {
            assert_eq!(stated_output(name), expected, "{name}");
        }
    }
}
