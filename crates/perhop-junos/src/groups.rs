//! Inheritance: `apply-groups` and interface ranges.
//!
//! A group's statements are copied to the places that apply the group. Statements of the configuration
//! override statements of groups, and groups that are named first override later groups (Junos CLI User
//! Guide, "Configuration Groups").

use std::collections::BTreeSet;

use crate::tree::{NodeId, Tree};
use crate::wildcard::{expanded, fits, group_pattern, is_pattern};

const GROUPS: &str = "groups";
const APPLY: &str = "apply-groups";
const EXCEPT: &str = "apply-groups-except";
const RANGE: &str = "interface-range";

/// Limit on the nodes that inheritance adds. A larger result is cut, and a finding reports it.
const MOST_COPIES: usize = 2_000_000;
/// Limit on the comparisons of names with wildcards.
const MOST_COMPARISONS: usize = 10_000_000;
/// The maximum number of interfaces of one range.
const MOST_MEMBERS: usize = 4096;

/// The problems that inheritance finds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    /// Names of groups that do not exist, with the statements that apply them.
    pub(crate) undefined: Vec<(NodeId, String)>,
    /// The groups with definitions that no statement applies.
    pub(crate) unapplied: BTreeSet<NodeId>,
    /// Whether the result has more than [`MOST_COPIES`] copies.
    pub(crate) is_cut: bool,
}

/// The hierarchies with definitions of classes, queues, policers and filters.
const DEFINING: [&str; 2] = ["class-of-service", "firewall"];
/// The statement of class of service that attaches definitions, and defines none.
const ATTACHING: [&str; 2] = ["class-of-service", "interfaces"];
/// The hierarchy of the prefix lists of filters.
const LISTS: &str = "policy-options";

/// Whether the path of a statement inside a group is that of a definition.
pub(crate) fn is_definition(path: &[&str]) -> bool {
    path.first().is_some_and(|first| DEFINING.contains(first)) && !path.starts_with(&ATTACHING)
}

/// A part of a group that applies to a node.
#[derive(Clone, Copy, Debug)]
struct Source {
    group: NodeId,
    node: NodeId,
}

/// Copies the statements of applied groups and of interface ranges.
pub(crate) fn inherit(tree: &mut Tree) -> Inherited {
    let mut inherited = Inherited { unapplied: with_definitions(tree), ..Inherited::default() };
    let most = tree.len() + MOST_COPIES;
    if tree.has_word(APPLY) {
        let mut walk = Walk { tree, most, comparisons: 0, inherited: &mut inherited };
        walk.node(NodeId::ROOT, &[], &mut Vec::new());
    }
    ranges(tree, most, &mut inherited);
    inherited
}

/// Returns the groups that have definitions.
fn with_definitions(tree: &Tree) -> BTreeSet<NodeId> {
    let groups = tree.child(NodeId::ROOT, GROUPS).map(|groups| tree.children(groups)).unwrap_or_default();
    let is_defining = |group: &NodeId| DEFINING.iter().any(|word| tree.child(*group, word).is_some());
    groups.into_iter().filter(is_defining).collect()
}

/// Returns the configuration as if its outermost level applied the unapplied groups with definitions; `None`
/// if there are no such groups. Statements below wildcards are excluded, because they define nothing by
/// themselves.
pub(crate) fn with_unapplied(tree: &Tree, inherited: &Inherited) -> Option<Tree> {
    if inherited.unapplied.is_empty() {
        return None;
    }
    let mut tree = tree.clone();
    let most = tree.len() + MOST_COPIES;
    for group in &inherited.unapplied {
        let defining = DEFINING.iter().chain([&LISTS]).filter_map(|word| tree.child(*group, word));
        let mut open: Vec<(NodeId, NodeId)> = defining.map(|node| (NodeId::ROOT, node)).collect();
        while let Some((to, from)) = open.pop() {
            if tree.len() >= most {
                return Some(tree);
            }
            let Some(copied) = tree.copy(to, from) else { continue };
            let is_attaching = tree.path(copied) == ATTACHING;
            let below = tree.children(from).into_iter().rev().filter(|_| !is_attaching);
            let fixed = below.filter(|child| group_pattern(tree.word(*child)).is_none());
            open.extend(fixed.map(|child| (copied, child)));
        }
    }
    Some(tree)
}

struct Walk<'t> {
    tree: &'t mut Tree,
    most: usize,
    comparisons: usize,
    inherited: &'t mut Inherited,
}

impl Walk<'_> {
    /// Copies `sources` to `node` and to the nodes below it. The depth of the tree limits the recursion.
    fn node(&mut self, node: NodeId, sources: &[Source], path: &mut Vec<NodeId>) {
        let mut sources = sources.to_vec();
        if let Some(except) = self.tree.child(node, EXCEPT) {
            for name in self.tree.children(except) {
                let name = self.tree.word(name).to_owned();
                sources.retain(|source| self.tree.word(source.group) != name);
            }
        }
        if let Some(apply) = self.tree.child(node, APPLY) {
            // TechLibrary "Establishing Regional Configurations": groups of an inner level override groups of
            // outer levels.
            let outer = std::mem::take(&mut sources);
            for name in self.tree.children(apply) {
                self.apply(name, path, &mut sources);
            }
            sources.extend(outer);
        }
        for source in &sources {
            self.copy_new(node, *source);
        }
        for child in self.tree.children(node) {
            let word = self.tree.kept_word(child);
            if matches!(&*word, APPLY | EXCEPT) || (node == NodeId::ROOT && &*word == GROUPS) {
                continue;
            }
            let below = self.below(&sources, &word);
            path.push(child);
            self.node(child, &below, path);
            path.pop();
        }
    }

    /// Adds the parts of the group `name` at `path`.
    fn apply(&mut self, name: NodeId, path: &[NodeId], sources: &mut Vec<Source>) {
        let word = self.tree.word(name).to_owned();
        // Groups that a copied statement applies take effect at the place of the original.
        if word == APPLY {
            return;
        }
        let group = self.tree.child(NodeId::ROOT, GROUPS).and_then(|groups| self.tree.child(groups, &word));
        let Some(group) = group else {
            self.inherited.undefined.push((name, word));
            return;
        };
        self.inherited.unapplied.remove(&group);
        let mut found = vec![Source { group, node: group }];
        for step in path {
            let word = self.tree.word(*step).to_owned();
            found = self.below(&found, &word);
        }
        sources.extend(found);
    }

    /// Returns the parts of `sources` for a child with `word`.
    fn below(&mut self, sources: &[Source], word: &str) -> Vec<Source> {
        let mut found = Vec::new();
        for source in sources {
            if self.comparisons > MOST_COMPARISONS {
                self.inherited.is_cut = true;
                return found;
            }
            if let Some(node) = self.tree.child(source.node, word) {
                found.push(Source { node, ..*source });
            }
            let children = self.tree.children(source.node);
            self.comparisons += children.len();
            for node in children {
                let pattern = group_pattern(self.tree.word(node));
                if pattern.is_some_and(|pattern| fits(pattern, word)) {
                    found.push(Source { node, ..*source });
                }
            }
        }
        found
    }

    /// Adds the statements of a source that `node` lacks. A wildcard adds no statement.
    fn copy_new(&mut self, node: NodeId, source: Source) {
        for child in self.tree.children(source.node) {
            if group_pattern(self.tree.word(child)).is_some() {
                continue;
            }
            if self.tree.len() >= self.most {
                self.inherited.is_cut = true;
                return;
            }
            self.tree.copy(node, child);
        }
    }
}

/// Copies the statements of interface ranges to their members.
fn ranges(tree: &mut Tree, most: usize, inherited: &mut Inherited) {
    let Some(interfaces) = tree.child(NodeId::ROOT, "interfaces") else { return };
    let Some(all) = tree.child(interfaces, RANGE) else { return };
    for range in tree.children(all) {
        for member in members(tree, interfaces, range) {
            let line = tree.line(range);
            let Some(interface) = tree.add(interfaces, &member, line) else { continue };
            let mut open = vec![(interface, range)];
            while let Some((to, from)) = open.pop() {
                for child in tree.children(from) {
                    if from == range && matches!(tree.word(child), "member" | "member-range") {
                        continue;
                    }
                    if tree.len() >= most {
                        inherited.is_cut = true;
                        return;
                    }
                    if let Some(copied) = tree.copy(to, child) {
                        open.push((copied, child));
                    }
                }
            }
        }
    }
}

/// Returns the names of the interfaces of a range.
fn members(tree: &Tree, interfaces: NodeId, range: NodeId) -> Vec<String> {
    let below = |word: &str| tree.child(range, word).map(|node| tree.children(node)).unwrap_or_default();
    let mut names = Vec::new();
    for member in below("member") {
        let pattern = tree.word(member);
        match expanded(pattern, MOST_MEMBERS) {
            Some(expanded) => names.extend(expanded),
            None if is_pattern(pattern) => {
                let existing = tree.children(interfaces);
                let existing = existing.iter().map(|node| tree.word(*node));
                names.extend(existing.filter(|name| fits(pattern, name)).map(str::to_owned));
            }
            None => names.push(pattern.to_owned()),
        }
    }
    for first in below("member-range") {
        let last = tree.child(first, "to").and_then(|to| tree.last_value(to));
        if let Some(last) = last {
            names.extend(between(tree.word(first), tree.word(last)));
        }
    }
    names.retain(|name| name != RANGE);
    names
}

/// Returns the names from `ge-0/0/1` to `ge-0/0/7`; none if the two names differ in more than the last
/// number.
fn between(first: &str, last: &str) -> Vec<String> {
    let split = |name: &str| {
        let digits = name.len() - name.chars().rev().take_while(char::is_ascii_digit).count();
        let number: Option<usize> = name[digits..].parse().ok();
        number.map(|number| (name[..digits].to_owned(), number))
    };
    let (Some((head, from)), Some((other, to))) = (split(first), split(last)) else { return Vec::new() };
    if head != other || to < from || to - from >= MOST_MEMBERS {
        return Vec::new();
    }
    (from..=to).map(|number| format!("{head}{number}")).collect()
}
