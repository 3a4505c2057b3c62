//! Codepoints of forwarding classes in rewrite rules, and classes of labels and frames in classifiers, if one
//! device differs from all others (Junos).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::Dscp;

use super::super::tree::{Node, Numbered};
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The minimum number of other devices with the same assignment.
const LEAST_OTHERS: usize = 2;
/// The kind of classifiers that another rule compares, together with filters.
const COMPARED: &str = "dscp";
/// The blocks with the compared statements.
const CLASSIFIERS: &str = "classifiers";
const REWRITES: &str = "rewrite-rules";
/// The kinds of codepoints with three bits, and their default aliases (Juniper, "Default Code-Point
/// Aliases").
const SHORT: [&str; 3] = ["exp", "ieee-802.1", "inet-precedence"];
const SHORT_ALIASES: [(&str, &str); 10] = [
    ("be", "000"),
    ("be1", "001"),
    ("ef", "010"),
    ("ef1", "011"),
    ("af11", "100"),
    ("af12", "101"),
    ("nc1", "110"),
    ("cs6", "110"),
    ("nc2", "111"),
    ("cs7", "111"),
];
/// The default aliases of DSCPs that are not names of PHBs.
const LONG_ALIASES: [(&str, &str); 3] = [("be", "000000"), ("nc1", "110000"), ("nc2", "111000")];

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
        for part in [CLASSIFIERS, REWRITES] {
            add(&mut all, device, nodes, part);
        }
    }
    for ((part, kind, what), statements) in &all {
        let Some(((device, line, own), usual)) = only_odd(statements) else { continue };
        // An alias without a known definition may be another name of the same bits.
        if *part == REWRITES && is_codepoint(kind, own) != is_codepoint(kind, usual) {
            continue;
        }
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
    let aliases = aliases(nodes);
    for rule in rules {
        let [kind, _] = *words(rule).as_slice() else { continue };
        if part == CLASSIFIERS && kind == COMPARED {
            continue;
        }
        for class in &rule.inner {
            let ["forwarding-class", name] = *words(class).as_slice() else { continue };
            for priority in &class.inner {
                let own = words(priority);
                let ["loss-priority", loss, _, values @ ..] = own.as_slice() else { continue };
                for value in values.iter().map(|value| codepoint(&aliases, kind, value)) {
                    let (what, to) = if part == CLASSIFIERS {
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

/// Returns the bits of the aliases that a device defines, by the kind of codepoints and the alias.
fn aliases<'t>(nodes: &[Node<'t>]) -> BTreeMap<(&'t str, &'t str), &'t str> {
    let mut found = BTreeMap::new();
    let kinds = block(nodes, &["class-of-service", "code-point-aliases"]).map_or(&[][..], |node| &node.inner);
    for kind in kinds {
        let [name] = *words(kind).as_slice() else { continue };
        for alias in &kind.inner {
            if let [alias, bits] = *words(alias).as_slice() {
                found.insert((name, alias), bits);
            }
        }
    }
    found
}

/// Returns the usual form of a codepoint: the name of a DSCP, and the bits of other kinds. An unknown alias
/// does not change.
fn codepoint(aliases: &BTreeMap<(&str, &str), &str>, kind: &str, word: &str) -> String {
    let is_short = SHORT.contains(&kind);
    let defaults = if is_short { &SHORT_ALIASES[..] } else { &LONG_ALIASES };
    let default = || defaults.iter().find(|(alias, _)| *alias == word).map(|(_, bits)| *bits);
    let word = aliases.get(&(kind, word)).copied().or_else(default).unwrap_or(word);
    let bits = (word.len() == 6).then(|| u8::from_str_radix(word, 2).ok()).flatten();
    let dscp = bits.filter(|_| !is_short).and_then(Dscp::new);
    dscp.map_or_else(|| word.to_owned(), |dscp| dscp.to_string())
}

/// Returns the lines of a device, with default aliases of codepoints in their usual form, so that the same
/// codepoint has the same text on all devices.
pub(in super::super) fn usual_lines<'t>(
    lines: impl Iterator<Item = Numbered<'t>>,
) -> Vec<(usize, Cow<'t, str>)> {
    let none = BTreeMap::new();
    let mut kind = "";
    lines
        .map(|(number, text)| {
            if text.ends_with('{')
                && let [own, _, _] = *text.split_whitespace().collect::<Vec<_>>().as_slice()
                && (SHORT.contains(&own) || own.starts_with(COMPARED))
            {
                kind = own;
            }
            let Some((before, after)) = text.split_once("code-point") else { return (number, text.into()) };
            let is_word = |letter: char| letter.is_ascii_alphanumeric();
            let usual = |part: &str| {
                let word: String = part.chars().filter(|letter| is_word(*letter)).collect();
                if word.is_empty() {
                    return part.to_owned();
                }
                part.replace(&word, &codepoint(&none, kind, &word))
            };
            let parts: Vec<String> = after.split(' ').map(usual).collect();
            (number, format!("{before}code-point{}", parts.join(" ")).into())
        })
        .collect()
}

/// Whether a word in its usual form is a codepoint of a kind, and not an unknown alias.
fn is_codepoint(kind: &str, word: &str) -> bool {
    if kind.starts_with(COMPARED) {
        word.parse::<Dscp>().is_ok()
    } else {
        word.bytes().all(|byte| matches!(byte, b'0' | b'1'))
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{aliases, codepoint, only_odd, usual_lines};

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
    fn lines_have_the_usual_codepoints_of_their_kind() {
        let lines = [
            (1, "    dscp A {"),
            (2, "        loss-priority low code-points [ nc1 ef ];"),
            (3, "    exp B {"),
            (4, "        loss-priority low code-point ef;"),
        ];
        let found = usual_lines(lines.into_iter());
        assert_eq!(found[1], (2, "        loss-priority low code-points [ cs6 ef ];".into()));
        assert_eq!(found[3], (4, "        loss-priority low code-point 010;".into()));
    }

    #[test]
    fn aliases_depend_on_the_kind_of_codepoints() {
        let nodes = read(
            "class-of-service {\n    code-point-aliases {\n        dscp {\n            voice \
             101110;\n        }\n    }\n}",
        );
        let own = aliases(&nodes);
        let usual = |kind, word| codepoint(&own, kind, word);
        assert_eq!(usual("dscp", "101110"), usual("dscp", "ef"));
        assert_eq!(usual("dscp", "voice"), "ef");
        assert_eq!(usual("dscp", "nc1"), usual("dscp", "cs6"));
        assert_eq!(usual("dscp", "be"), usual("dscp", "000000"));
        assert_eq!(usual("exp", "ef"), "010");
        assert_eq!(usual("exp", "nc1"), usual("exp", "110"));
        assert_eq!(usual("exp", "voice"), "voice", "the alias is one of DSCPs");
    }
}
