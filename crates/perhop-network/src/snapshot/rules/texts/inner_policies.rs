//! Shapers and policers of whole ports that lack the inner policy of similar shapers and policers.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::parts::{ClassPart, Parts};
use crate::rules;

/// The minimum number of similar policies with the inner policy, at least one of them on the same device.
const LEAST_OTHERS: usize = 2;

/// A policy whose only class is `class-default` with a rate.
struct Outer<'t> {
    device: usize,
    name: &'t str,
    line: usize,
    /// The line of `class-default`.
    class_line: usize,
    /// `shape` or `police`.
    command: &'t str,
    inner: Option<&'t str>,
    /// The kinds of places where the policy is attached.
    places: BTreeSet<String>,
}

/// Reports the only outer policy of a device without an inner policy, if the device defines the inner policy
/// that outer policies at places of the same kind have. Places of another kind do not count: a shaper for a
/// whole access line often has no queues, because the shapers of the tunnels over the line have queues.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let outer: Vec<Outer> = devices
        .iter()
        .zip(trees)
        .enumerate()
        .flat_map(|(device, (parts, nodes))| outer_policies(device, parts, nodes))
        .collect();
    for (device, parts) in devices.iter().enumerate() {
        for command in ["shape", "police"] {
            let own = || outer.iter().filter(|outer| outer.device == device && outer.command == command);
            let mut bare = own().filter(|outer| outer.inner.is_none());
            let (Some(bare), None) = (bare.next(), bare.next()) else { continue };
            let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
            let alike = outer.iter().filter(|outer| outer.command == command && outer.places == bare.places);
            for inner in alike.filter_map(|outer| outer.inner) {
                *uses.entry(inner).or_default() += 1;
            }
            let has_namesake =
                |name: &str| outer.iter().any(|outer| outer.name == bare.name && outer.inner == Some(name));
            let is_expected = |(name, count): &(&str, usize)| {
                let is_local = own().any(|outer| outer.inner == Some(*name));
                let is_unused = !parts.used.contains(*name);
                parts.policies.contains_key(*name)
                    && (is_unused || is_local && (*count >= LEAST_OTHERS || has_namesake(name)))
            };
            let mut expected = uses.into_iter().filter(is_expected);
            let (Some((inner, _)), None) = (expected.next(), expected.next()) else { continue };
            let message = format!(
                "policy-map {} of {} has no inner policy, but similar policies with {command} have {inner}",
                bare.name, snapshot.devices[device].name
            );
            let effect = "all packets of the policy share one queue or mark".to_owned();
            let rule = &rules::NETWORK_POLICY_MISSING;
            // Compared with a policy of the same name, the class lacks a line.
            let line = if has_namesake(inner) { bare.class_line } else { bare.line };
            let finding = snapshot.finding(device, rule, line, (message, effect));
            found.push(finding.about(Topic::Queues, Precision::Exact));
        }
    }
}

/// Returns the policies of a device that are in use and whose only class is `class-default` with a rate.
fn outer_policies<'t>(device: usize, parts: &Parts<'t>, nodes: &[Node<'t>]) -> Vec<Outer<'t>> {
    let places = places(nodes);
    let used = parts.policies.keys().filter(|name| parts.used.contains(*name));
    let outer = used.filter_map(|name| {
        let mut classes = parts.classes_of(name);
        let (Some(class), None) = (classes.next(), classes.next()) else { return None };
        let (line, command) = rate(class)?;
        let inner = class.lines.iter().find_map(|(_, words)| match words.as_slice() {
            ["service-policy", inner] => Some(*inner),
            _ => None,
        });
        let places = places.get(name).cloned().unwrap_or_default();
        Some(Outer { device, name, line, class_line: class.line, command, inner, places })
    });
    outer.collect()
}

/// Returns the line and the command that limit the rate of `class-default`.
fn rate<'t>(class: &ClassPart<'t>) -> Option<(usize, &'t str)> {
    let is_default = class.name == "class-default";
    class.lines.iter().filter(|_| is_default).find_map(|(line, words)| match words.first() {
        Some(command @ (&"shape" | &"police")) => Some((*line, *command)),
        _ => None,
    })
}

/// Returns, for each policy, the kinds of places where it is attached. A kind consists of the letters of the
/// interface's name, whether it is a sub-interface, and the command that attaches the policy.
fn places<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, BTreeSet<String>> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for node in nodes {
        let Some(interface) = node.line.1.strip_prefix("interface ") else { continue };
        let kind =
            interface.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let is_part = interface.contains('.');
        for inner in node.inner.iter().filter(|inner| inner.line.1.contains("service-policy ")) {
            let words = inner.words();
            let (Some(policy), Some(first)) = (words.last(), words.first()) else { continue };
            let direction = if words.contains(&"input") { "input" } else { "output" };
            found.entry(policy).or_default().insert(format!("{kind} {is_part} {first} {direction}"));
        }
    }
    found
}
