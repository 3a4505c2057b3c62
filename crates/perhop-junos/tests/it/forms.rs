//! Tests that generated statements give the same router in braces and as `set` lines.

use std::collections::BTreeSet;
use std::fmt::Write;

use perhop_device::DeviceModel;
use proptest::prelude::*;

use crate::read::parse;

/// A statement: its words, and the statements in its braces.
#[derive(Clone, Debug)]
struct Node {
    words: String,
    inside: Vec<Node>,
}

impl Node {
    fn leaf(words: impl Into<String>) -> Node {
        Node { words: words.into(), inside: Vec::new() }
    }

    fn block(words: impl Into<String>, inside: Vec<Node>) -> Node {
        Node { words: words.into(), inside }
    }

    fn print_braces(&self, depth: usize, text: &mut String) {
        let Node { words, inside } = self;
        let indent = "    ".repeat(depth);
        if inside.is_empty() {
            return writeln!(text, "{indent}{words};").unwrap();
        }
        writeln!(text, "{indent}{words} {{").unwrap();
        for node in inside {
            node.print_braces(depth + 1, text);
        }
        writeln!(text, "{indent}}}").unwrap();
    }

    fn print_set(&self, around: &str, text: &mut String) {
        let path = format!("{around} {}", self.words);
        if self.inside.is_empty() {
            writeln!(text, "set{path}").unwrap();
        }
        for node in &self.inside {
            node.print_set(&path, text);
        }
    }
}

/// Returns the statements that `set` lines contain, one for each word: the inverse of `print_set`.
fn parsed(set: &str) -> Vec<Node> {
    fn add(nodes: &mut Vec<Node>, words: &[&str]) {
        let Some((first, rest)) = words.split_first() else { return };
        let place = nodes.iter().position(|node| node.words == *first).unwrap_or_else(|| {
            nodes.push(Node::leaf(*first));
            nodes.len() - 1
        });
        add(&mut nodes[place].inside, rest);
    }
    let mut found = Vec::new();
    for line in set.lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        add(&mut found, &words);
    }
    found
}

const CLASSES: [&str; 4] = ["best-effort", "expedited-forwarding", "assured-forwarding", "network-control"];

fn scheduler() -> impl Strategy<Value = Vec<Node>> {
    let transmit = prop_oneof![
        (1u32..25).prop_map(|percent| format!("transmit-rate percent {percent}")),
        (1u32..200).prop_map(|rate| format!("transmit-rate {rate}m")),
        Just("transmit-rate remainder".to_owned()),
    ];
    let limit = prop_oneof![Just(""), Just(" exact"), Just(" rate-limit")];
    let buffer = prop_oneof![
        (1u32..25).prop_map(|percent| format!("buffer-size percent {percent}")),
        (1u32..90).prop_map(|time| format!("buffer-size temporal {time}k")),
        Just("buffer-size remainder".to_owned()),
    ];
    let priority = prop_oneof![Just("low"), Just("medium-high"), Just("high"), Just("strict-high")];
    let drop = proptest::option::of(prop_oneof![Just("any"), Just("high"), Just("low")]);
    (transmit, limit, buffer, priority, drop).prop_map(|(transmit, limit, buffer, priority, drop)| {
        let limit = if transmit.ends_with("remainder") { "" } else { limit };
        let mut found = vec![
            Node::leaf(format!("{transmit}{limit}")),
            Node::leaf(buffer),
            Node::leaf(format!("priority {priority}")),
        ];
        let map = |loss| format!("drop-profile-map loss-priority {loss} protocol any drop-profile early");
        found.extend(drop.map(|loss| Node::leaf(map(loss))));
        found
    })
}

fn terms() -> impl Strategy<Value = Vec<Node>> {
    let from = prop_oneof![
        Just(vec!["dscp ef"]),
        Just(vec!["protocol udp", "destination-port 5060"]),
        Just(vec!["source-address 10.0.0.0/8"]),
        Just(vec!["protocol tcp"]),
    ];
    let then = prop_oneof![
        Just(vec!["forwarding-class expedited-forwarding", "accept"]),
        Just(vec!["loss-priority high", "count c", "next term"]),
        Just(vec!["policer p", "accept"]),
        Just(vec!["discard"]),
    ];
    proptest::collection::vec((from, then), 1..4).prop_map(|terms| {
        let leaves = |words: Vec<&str>| words.into_iter().map(Node::leaf).collect();
        let term = |(number, (from, then)): (usize, (Vec<&str>, Vec<&str>))| {
            let parts = vec![Node::block("from", leaves(from)), Node::block("then", leaves(then))];
            Node::block(format!("term t{number}"), parts)
        };
        terms.into_iter().enumerate().map(term).collect()
    })
}

/// Generates a router with queues, a classifier and a filter.
fn router() -> impl Strategy<Value = Vec<Node>> {
    let schedulers = proptest::collection::vec(scheduler(), 4);
    let fills = proptest::collection::btree_set(1u32..99, 2..4);
    let shaper = proptest::option::of(1u32..900);
    (schedulers, terms(), fills, shaper).prop_map(|(schedulers, terms, fills, shaper)| {
        let names: Vec<String> = CLASSES.iter().map(|class| format!("s-{class}")).collect();
        let blocks = names.iter().zip(schedulers).map(|(name, inside)| Node::block(name.as_str(), inside));
        let maps = CLASSES.iter().zip(&names);
        let maps = maps.map(|(class, name)| Node::leaf(format!("forwarding-class {class} scheduler {name}")));
        let steps = fills.iter().enumerate();
        let steps = steps
            .map(|(place, fill)| Node::leaf(format!("fill-level {fill} drop-probability {}", 9 * place)));
        let mut port = vec![Node::leaf("scheduler-map m")];
        port.extend(shaper.map(|rate| Node::leaf(format!("shaping-rate {rate}m"))));
        port.push(Node::block("unit 0", vec![Node::leaf("classifiers dscp default")]));
        let limits = vec![Node::leaf("bandwidth-limit 5m"), Node::leaf("burst-size-limit 50k")];
        let policer = vec![Node::block("if-exceeding", limits), Node::leaf("then discard")];
        let inet = vec![Node::leaf("address 10.0.0.1/24"), Node::leaf("filter input f")];
        vec![
            Node::block(
                "interfaces",
                vec![Node::block(
                    "ge-0/0/0",
                    vec![Node::block("unit 0", vec![Node::block("family inet", inet)])],
                )],
            ),
            Node::block(
                "class-of-service",
                vec![
                    Node::block("drop-profiles", vec![Node::block("early", steps.collect())]),
                    Node::block("schedulers", blocks.collect()),
                    Node::block("scheduler-maps", vec![Node::block("m", maps.collect())]),
                    Node::block("interfaces", vec![Node::block("ge-0/0/0", port)]),
                ],
            ),
            Node::block(
                "firewall",
                vec![
                    Node::block("policer p", policer),
                    Node::block("family inet", vec![Node::block("filter f", terms)]),
                ],
            ),
        ]
    })
}

fn braces(nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        node.print_braces(0, &mut text);
    }
    text
}

fn set_lines(nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        node.print_set("", &mut text);
    }
    text
}

/// Returns all of a model that does not depend on lines.
fn described(model: &DeviceModel) -> String {
    let ports = &model.router.ports;
    let port = |port: &perhop_device::Port| {
        let perhop_device::Port { name, input, output, bandwidth, wire, addresses, .. } = port;
        let addresses: Vec<_> = addresses.iter().map(|own| (own.address, own.prefix_length)).collect();
        format!("{name} {input:?} {output:?} {bandwidth:?} {wire:?} {addresses:?}")
    };
    let messages: BTreeSet<&str> =
        model.diagnostics.iter().map(|one| one.diagnostic.message.as_str()).collect();
    format!("{:?} {messages:?}", ports.iter().map(port).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn statements_in_braces_and_in_set_lines_are_the_same_router(nodes in router()) {
        let [one, other] = [braces(&nodes), set_lines(&nodes)].map(|text| parse(&text, Some("junos-mx")));
        prop_assert!(one.router.ports[0].output.queueing.is_some());
        prop_assert!(!one.lines.iter().any(|line| line.state == perhop_lint::LineState::NotRecognized));
        prop_assert_eq!(described(&one), described(&other));
    }

    /// Statements from `set` lines, printed in braces with one word each and read again, are unchanged.
    #[test]
    fn parsing_printing_and_parsing_is_the_identity(nodes in router()) {
        let set = set_lines(&nodes);
        let again = parsed(&set);
        prop_assert_eq!(&set_lines(&again), &set);
        let [one, other] = [set, braces(&again)].map(|text| parse(&text, Some("junos-mx")));
        prop_assert_eq!(described(&one), described(&other));
    }
}
