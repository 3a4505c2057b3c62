//! [`Parts`]: the classes, policies and access lists in the text of a configuration.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::Dscp;

use super::super::tree::Node;

/// The number of a line, and its words.
pub(super) type Words<'t> = (usize, Vec<&'t str>);

/// A class and its criteria.
pub(super) struct ClassMapPart<'t> {
    pub(super) line: usize,
    /// The word before the name, such as `match-any`.
    pub(super) kind: &'t str,
    pub(super) lines: Vec<Words<'t>>,
}

/// A class of a policy.
pub(super) struct ClassPart<'t> {
    pub(super) line: usize,
    pub(super) policy: &'t str,
    pub(super) name: &'t str,
    pub(super) lines: Vec<Words<'t>>,
}

/// The classes, policies and access lists of a configuration.
#[derive(Default)]
pub(super) struct Parts<'t> {
    pub(super) class_maps: BTreeMap<&'t str, ClassMapPart<'t>>,
    /// The classes of all policies, in the order of the text.
    pub(super) classes: Vec<ClassPart<'t>>,
    /// The entries of the access lists that classes name.
    pub(super) lists: BTreeMap<&'t str, Vec<Words<'t>>>,
    /// The first line of each policy.
    pub(super) policies: BTreeMap<&'t str, usize>,
    /// The policies that an interface, the control plane or another policy uses.
    pub(super) used: BTreeSet<&'t str>,
    /// The indexes in `classes` of the classes of each policy.
    by_policy: BTreeMap<&'t str, Vec<usize>>,
}

impl<'t> Parts<'t> {
    pub(super) fn read(nodes: &[Node<'t>]) -> Parts<'t> {
        let mut found = Parts { used: used(nodes), ..Parts::default() };
        for node in nodes {
            match node.line.1.split(' ').next() {
                Some("class-map") => found.add_class_map(node),
                Some("policy-map") => found.add_policy(node),
                _ => {}
            }
        }
        let criteria = found.class_maps.values().flat_map(|class| &class.lines);
        let wanted: BTreeSet<&str> = criteria.filter_map(|(_, words)| list_of(words)).collect();
        // Only lists that classes name are read, because other lists can have thousands of entries.
        for node in nodes {
            let mut words = node.line.1.split_whitespace();
            match (words.next(), words.next()) {
                (Some("ip"), Some("access-list")) => found.add_list(node, &wanted),
                (Some("access-list"), Some(name)) if wanted.contains(name) => {
                    found.lists.entry(name).or_default().push((node.line.0, words.collect()));
                }
                _ => {}
            }
        }
        found
    }

    fn add_class_map(&mut self, node: &Node<'t>) {
        if let ["class-map", before @ .., name] = node.words().as_slice() {
            let kind = before.last().copied().unwrap_or_default();
            let lines = inner(node).filter(|(_, words)| words.first() == Some(&"match")).collect();
            self.class_maps.insert(name, ClassMapPart { line: node.line.0, kind, lines });
        }
    }

    fn add_policy(&mut self, node: &Node<'t>) {
        let words = node.words();
        let [_, .., policy] = words.as_slice() else { return };
        self.policies.insert(policy, node.line.0);
        for class in &node.inner {
            if let ["class", name, ..] = class.words().as_slice() {
                let lines = inner(class).collect();
                self.by_policy.entry(policy).or_default().push(self.classes.len());
                self.classes.push(ClassPart { line: class.line.0, policy, name, lines });
            }
        }
    }

    fn add_list(&mut self, node: &Node<'t>, wanted: &BTreeSet<&str>) {
        if let ["ip", "access-list", _, name] = node.words().as_slice()
            && wanted.contains(name)
        {
            self.lists.entry(name).or_default().extend(inner(node).map(without_number));
        }
    }

    /// Generates the classes of a policy.
    pub(super) fn classes_of(&self, policy: &str) -> impl Iterator<Item = &ClassPart<'t>> {
        self.by_policy.get(policy).into_iter().flatten().map(|place| &self.classes[*place])
    }

    /// Returns the codepoints that a class matches; `None` if the class has other criteria than codepoints.
    pub(super) fn codepoints(&self, class: &str) -> Option<Vec<u8>> {
        let lines = &self.class_maps.get(class)?.lines;
        let mut found = Vec::new();
        for (_, words) in lines {
            let (["match", "dscp", values @ ..] | ["match", "ip", "dscp", values @ ..]) = words.as_slice()
            else {
                return None;
            };
            for value in values {
                found.push(value.parse::<Dscp>().ok()?.value());
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found).filter(|found| !found.is_empty())
    }
}

/// Returns the policies that lines inside blocks attach or nest.
fn used<'t>(nodes: &[Node<'t>]) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Node> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        let text = node.line.1.trim_start();
        if text.contains("service-policy ") && !text.starts_with("no ") {
            found.extend(text.split_whitespace().last());
        }
        open.extend(&node.inner);
    }
    found
}

fn inner<'n, 't>(node: &'n Node<'t>) -> impl Iterator<Item = Words<'t>> + use<'n, 't> {
    node.inner.iter().map(|node| (node.line.0, node.words()))
}

fn without_number((line, mut words): Words) -> Words {
    if words.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        words.remove(0);
    }
    (line, words)
}

/// Returns the access list that a criterion names.
pub(super) fn list_of<'t>(words: &[&'t str]) -> Option<&'t str> {
    match words {
        ["match", "access-group", "name", list] | ["match", "access-group", list] => Some(list),
        _ => None,
    }
}
