//! [`Context`]: the tree with marks and diagnostics while parts of it are read.

use std::collections::BTreeSet;

use perhop_device::intent::At;
use perhop_lint::{Diagnostic, LineState, Rule, nearest};

use crate::tree::{NodeId, Tree};

/// Maximum number of undefined names that get a correction. The limits on corrections bound the time for a
/// text with many undefined names.
const MOST_CORRECTIONS: usize = 100;
const MOST_NAMES: usize = 1000;

/// The paths of definitions by kind. `*` is any word.
const DEFINITIONS: [(&str, &[&str]); 15] = [
    ("classifier", &["class-of-service", "classifiers", "*"]),
    ("drop profile", &["class-of-service", "drop-profiles"]),
    ("filter", &["firewall", "filter"]),
    ("filter", &["firewall", "family", "*", "filter"]),
    ("forwarding class", &["class-of-service", "forwarding-classes", "class"]),
    ("forwarding class", &["class-of-service", "forwarding-classes", "queue", "*"]),
    ("group", &["groups"]),
    ("hierarchical policer", &["firewall", "hierarchical-policer"]),
    ("policer", &["firewall", "policer"]),
    ("prefix list", &["policy-options", "prefix-list"]),
    ("rewrite rule", &["class-of-service", "rewrite-rules", "*"]),
    ("scheduler", &["class-of-service", "schedulers"]),
    ("scheduler map", &["class-of-service", "scheduler-maps"]),
    ("three-color policer", &["firewall", "three-color-policer"]),
    ("traffic-control profile", &["class-of-service", "traffic-control-profiles"]),
];

/// The statements, and the findings so far.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) tree: Tree,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The rules, lines and messages of the diagnostics.
    known: BTreeSet<(&'static str, usize, String)>,
    /// The undefined names so far.
    undefined_names: usize,
}

/// A word of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) node: NodeId,
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// The valid values of statements, by the last word of the statement.
const VALUES: [(&str, &str); 13] = [
    ("address", "an address and a prefix length, such as 10.0.0.1/24"),
    ("bandwidth-limit", "a rate in bits per second, such as 10m"),
    ("bandwidth-percent", "a number from 1 to 100"),
    ("burst-size-limit", "a number of bytes, such as 15k"),
    ("drop-probability", "a number from 0 to 100"),
    ("fill-level", "a number from 0 to 100"),
    ("loss-priority", "low, medium-low, medium-high or high"),
    ("percent", "a number up to 100"),
    ("priority", "low, medium-low, medium-high, high or strict-high"),
    ("queue", "the number of a queue, such as 0"),
    ("queue-num", "the number of a queue, such as 0"),
    ("speed", "a rate, such as 1g or auto"),
    ("vlan-id", "a number from 1 to 4094"),
];

impl Context {
    pub(crate) fn new(tree: Tree) -> Context {
        Context { tree, diagnostics: Vec::new(), known: BTreeSet::new(), undefined_names: 0 }
    }

    fn word(&self, node: NodeId) -> Word {
        Word { node, line: self.tree.line(node), text: self.tree.word(node).to_owned() }
    }

    /// Marks a statement as modeled.
    pub(crate) fn modeled(&mut self, node: NodeId) {
        self.tree.mark(node, LineState::Modelled);
    }

    /// Marks a statement and all statements inside it as not modeled.
    pub(crate) fn not_modeled(&mut self, node: NodeId, note: &str) {
        self.tree.mark_deep(node, LineState::NotModelled, note);
    }

    /// Marks a statement and all statements inside it as irrelevant.
    pub(crate) fn irrelevant(&mut self, node: NodeId, note: &str) {
        self.tree.mark_deep(node, LineState::Irrelevant, note);
    }

    /// Returns the named items below `key`, and marks them as modeled.
    pub(crate) fn items(&mut self, parent: NodeId, key: &str) -> Vec<Word> {
        let Some(statement) = self.tree.child(parent, key) else { return Vec::new() };
        self.modeled(statement);
        self.names(statement)
    }

    /// Returns the children of a statement, and marks them as modeled. `apply-groups` and similar statements
    /// are not names.
    pub(crate) fn names(&mut self, statement: NodeId) -> Vec<Word> {
        let children = self.tree.children(statement);
        let mut words: Vec<Word> = children.into_iter().map(|node| self.word(node)).collect();
        words.retain(|word| !word.text.starts_with("apply-groups"));
        for word in &words {
            self.modeled(word.node);
        }
        words
    }

    /// Returns the children of a statement that are keywords, without marking them.
    pub(crate) fn keywords(&self, statement: NodeId) -> Vec<Word> {
        self.tree.children(statement).into_iter().map(|node| self.word(node)).collect()
    }

    /// Returns the last value of the statement `key`. Marks the statement and this value as modeled, and
    /// overridden values as irrelevant.
    pub(crate) fn value(&mut self, parent: NodeId, key: &str) -> Option<Word> {
        let statement = self.tree.child(parent, key)?;
        self.modeled(statement);
        let last = self.tree.last_value(statement)?;
        for other in self.tree.children(statement) {
            if other != last {
                let line = self.tree.line(last);
                self.irrelevant(other, &format!("line {line} sets another value"));
            }
        }
        self.modeled(last);
        Some(self.word(last))
    }

    /// Returns a parsed value. Reports a value that cannot be parsed.
    pub(crate) fn parsed<T>(
        &mut self,
        parent: NodeId,
        key: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<At<T>> {
        let word = self.value(parent, key)?;
        let value = parse(&word.text);
        if value.is_none() {
            self.invalid(&word, key);
        }
        value.map(|value| At::new(word.line, value))
    }

    /// Reports a word that is not a value of `key`.
    pub(crate) fn invalid(&mut self, word: &Word, key: &str) {
        let message = format!("`{}` is not a value of `{key}`", word.text);
        let last = key.rsplit(' ').next();
        let form = VALUES.iter().find(|(name, _)| Some(*name) == last);
        let effect = match form {
            Some((_, form)) => format!("the commit fails: write {form}"),
            None => "the commit fails".to_owned(),
        };
        self.found(&crate::rules::JUNOS_VALUE_INVALID, word.node, message, effect);
    }

    /// Reports a name that the configuration uses but does not define. The message suggests a similar name.
    pub(crate) fn undefined(&mut self, node: NodeId, kind: &str, name: &str) {
        self.undefined_names += 1;
        let known = if self.undefined_names > MOST_CORRECTIONS { Vec::new() } else { self.defined(kind) };
        let near = nearest(name, known.iter().map(String::as_str));
        let message = format!("there is no {kind} `{name}`");
        let rule = &crate::rules::JUNOS_UNDEFINED;
        let effect = match near {
            Some(near) => format!("the commit fails; did you mean `{near}`?"),
            None => "the commit fails".to_owned(),
        };
        self.found(rule, node, message, effect);
    }

    /// Returns the statements at a path; `*` is any word.
    pub(crate) fn at_pattern(&self, path: &[&str]) -> Vec<NodeId> {
        let mut nodes = vec![NodeId::ROOT];
        for word in path {
            let below = |node: &NodeId| match *word {
                "*" => self.tree.children(*node),
                word => self.tree.child(*node, word).into_iter().collect(),
            };
            nodes = nodes.iter().flat_map(below).collect();
        }
        nodes
    }

    /// Returns the names of a kind that the configuration defines.
    fn defined(&self, kind: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (_, path) in DEFINITIONS.iter().filter(|(own, _)| *own == kind) {
            let names = self.at_pattern(path).into_iter().flat_map(|node| self.tree.children(node));
            found.extend(names.take(MOST_NAMES).map(|node| self.tree.word(node).to_owned()));
        }
        found
    }

    /// Reports an undefined name whose block contains statements. These statements have no effect.
    pub(crate) fn undefined_block(&mut self, node: NodeId, kind: &str, name: &str) {
        for word in self.all_below(node) {
            self.not_modeled(word.node, "statements of an undefined name");
        }
        self.undefined(node, kind, name);
    }

    /// Returns the words below a statement with values, in the order of their last mention in the text.
    pub(crate) fn flat(&self, statement: NodeId) -> Vec<Word> {
        self.below(statement, Tree::own_children)
    }

    /// Returns all words below a statement, including the words of all groups.
    pub(crate) fn all_below(&self, statement: NodeId) -> Vec<Word> {
        self.below(statement, Tree::children)
    }

    fn below(&self, statement: NodeId, children: impl Fn(&Tree, NodeId) -> Vec<NodeId>) -> Vec<Word> {
        let mut found = Vec::new();
        let below = |node| children(&self.tree, node).into_iter().rev();
        let mut open: Vec<NodeId> = below(statement).collect();
        while let Some(node) = open.pop() {
            found.push(self.word(node));
            open.extend(below(node));
        }
        found
    }

    /// Adds a diagnostic about a statement.
    pub(crate) fn found(
        &mut self,
        rule: &'static Rule,
        node: NodeId,
        message: impl Into<String>,
        router: impl Into<String>,
    ) {
        self.found_fixed((rule, node), message, router, None);
    }

    /// Adds a diagnostic about a statement, with a correction: a word of its line and its replacement.
    pub(crate) fn found_fixed(
        &mut self,
        (rule, node): (&'static Rule, NodeId),
        message: impl Into<String>,
        router: impl Into<String>,
        fix: Option<(&str, &str)>,
    ) {
        let line = self.tree.line(node);
        if rule.severity != perhop_lint::Severity::Note {
            self.tree.mark(node, LineState::Suspicious);
        }
        let message = message.into();
        if !self.known.insert((rule.id, line, message.clone())) {
            return;
        }
        // In the notation with braces, a semicolon follows the last word.
        let words = fix.into_iter().flat_map(|(from, to)| {
            [(from.to_owned(), to.to_owned()), (format!("{from};"), format!("{to};"))]
        });
        self.diagnostics.push(Diagnostic::new(rule, line, message, router).mended_by(words));
    }
}
