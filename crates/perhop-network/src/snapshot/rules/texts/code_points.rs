//! Codepoints of forwarding classes in rewrite rules, and classes of labels and frames in classifiers, if one
//! device differs from all others (Junos).

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::Dscp;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The minimum number of other devices with the same assignment.
const LEAST_OTHERS: usize = 2;
/// The kind of classifiers that another rule compares, together with filters.
const COMPARED: &str = "dscp";

/// The subject of a statement: the block, the kind of codepoints, and the class with its loss priority or the
/// codepoint.
type Key<'t> = (&'t str, &'t str, String);
/// A statement: the device, the line, and the assigned value.
type Statement = (usize, usize, String);

/// Reports the only statement that assigns another codepoint or class than the statements of all other
/// devices.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut all: BTreeMap<Key, Vec<Statement>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for part in ["classifiers", "rewrite-rules"] {
            add(&mut all, device, nodes, part);
        }
    }
    for ((part, kind, what), statements) in &all {
        let Some(((device, line, own), usual)) = only_odd(statements) else { continue };
        let message = format!(
            "{}: {what} gets {own} in the {part} for {kind}, but {usual} on all other devices",
            snapshot.devices[*device].name
        );
        let effect = "packets that pass this device get the treatment of another class at the next one";
        let rule = &rules::NETWORK_MAP_DIFFERS;
        found.push(snapshot.finding(*device, rule, *line, (message, effect.to_owned())));
    }
}

/// Returns the only statement that differs, and the value of the others.
fn only_odd(statements: &[Statement]) -> Option<(&Statement, &str)> {
    let mut counts: BTreeMap<&str, Vec<&Statement>> = BTreeMap::new();
    for statement in statements {
        counts.entry(&statement.2).or_default().push(statement);
    }
    let [(first, ones), (second, others)] =
        <[_; 2]>::try_from(counts.into_iter().collect::<Vec<_>>()).ok()?;
    let (odd, usual, value) = match (ones.as_slice(), others.as_slice()) {
        ([odd], _) => (*odd, others, second),
        (_, [odd]) => (*odd, ones, first),
        _ => return None,
    };
    let devices: BTreeSet<usize> = usual.iter().map(|(device, ..)| *device).collect();
    (devices.len() >= LEAST_OTHERS && !devices.contains(&odd.0)).then_some((odd, value))
}

fn add<'t>(
    found: &mut BTreeMap<Key<'t>, Vec<Statement>>,
    device: usize,
    nodes: &[Node<'t>],
    part: &'static str,
) {
    let rules = block(nodes, &["class-of-service", part]).map_or(&[][..], |node| &node.inner);
    for rule in rules {
        let [kind, _] = *words(rule).as_slice() else { continue };
        if part == "classifiers" && kind == COMPARED {
            continue;
        }
        for class in &rule.inner {
            let ["forwarding-class", name] = *words(class).as_slice() else { continue };
            for priority in &class.inner {
                let own = words(priority);
                let ["loss-priority", loss, _, values @ ..] = own.as_slice() else { continue };
                for value in values.iter().map(|value| codepoint(value)) {
                    let (what, to) = if part == "classifiers" {
                        (value, name.to_owned())
                    } else {
                        (format!("{name} with loss priority {loss}"), value)
                    };
                    found.entry((part, kind, what)).or_default().push((device, priority.line.0, to));
                }
            }
        }
    }
}

/// Returns the usual form of a codepoint that is written as six bits.
fn codepoint(word: &str) -> String {
    let bits = (word.len() == 6).then(|| u8::from_str_radix(word, 2).ok()).flatten();
    bits.and_then(Dscp::new).map_or_else(|| word.to_owned(), |dscp| dscp.to_string())
}

#[cfg(test)]
mod tests {
    use super::{codepoint, only_odd};

    #[test]
    fn one_device_against_two_others_is_odd() {
        let of = |values: &[(usize, &str)]| -> Vec<(usize, usize, String)> {
            values.iter().map(|(device, value)| (*device, 7, (*value).to_owned())).collect()
        };
        let statements = of(&[(0, "ef"), (1, "ef"), (2, "af41")]);
        assert_eq!(only_odd(&statements).map(|((device, ..), usual)| (*device, usual)), Some((2, "ef")));
        assert!(only_odd(&of(&[(0, "ef"), (1, "af41")])).is_none(), "one other device is not a majority");
        assert!(only_odd(&of(&[(0, "ef"), (1, "ef"), (1, "af41")])).is_none(), "the device has both");
        assert!(only_odd(&of(&[(0, "ef"), (1, "ef"), (2, "af41"), (3, "cs5")])).is_none());
    }

    #[test]
    fn bits_have_names() {
        assert_eq!((codepoint("101110"), codepoint("101")), ("ef".to_owned(), "101".to_owned()));
    }
}
