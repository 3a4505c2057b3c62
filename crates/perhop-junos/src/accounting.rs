//! [`lines`]: the state of every line of the text.

use std::collections::BTreeSet;

use perhop_lint::{FileText, Line, LineState};

use crate::around::{Around, surroundings};
use crate::groups::is_definition;
use crate::read::Read;
use crate::tree::{NodeId, Problem, Tree, rank};

/// Hierarchies in which perhop determines the state of each statement.
const READ: [&str; 4] = ["class-of-service", "firewall", "interfaces", "policy-options"];
const GROUPS: &str = "groups";

/// The groups that have no effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleGroups<'g> {
    /// The names of groups that the text applies and does not define.
    pub(crate) undefined: &'g [String],
    /// The definitions of groups that no statement applies.
    pub(crate) unapplied: Option<&'g Unapplied>,
}

/// A configuration to which the definitions of unapplied groups are added.
#[derive(Debug)]
pub(crate) struct Unapplied {
    /// The statements; their marks are the states of their lines.
    pub(crate) tree: Tree,
    /// The lines with errors and warnings.
    pub(crate) faults: BTreeSet<usize>,
}

/// Returns the lines of `text`. `tree` is the result of `read`; its marks are the states of the lines.
pub(crate) fn lines(text: &str, read: &Read, tree: &Tree, groups: IdleGroups) -> Vec<Line> {
    let file = FileText::new(text);
    let line = |(index, text): (usize, &str)| Line {
        number: index + 1,
        state: LineState::Irrelevant,
        text: file.line(text),
        note: None,
        block: read.blocks.get(index).copied().flatten(),
    };
    let mut lines: Vec<Line> = file.as_str().lines().enumerate().map(line).collect();
    let mut is_set = vec![false; lines.len()];
    let around = surroundings(tree);
    let idle = groups.unapplied.map(|unapplied| (unapplied, surroundings(&unapplied.tree)));
    for statement in &tree.statements {
        let Some(index) = statement.line.checked_sub(1).filter(|index| *index < lines.len()) else {
            continue;
        };
        let (state, note) = match statement.problem {
            Some(problem) => problem_state(problem),
            None => match state_of(tree, &around, statement.node, groups.undefined) {
                State::Idle(note) => {
                    let idle = idle.as_ref().filter(|_| defines(tree, statement.node));
                    let unused = || (LineState::Irrelevant, note.clone());
                    idle.map_or_else(unused, |(unapplied, around)| {
                        let in_use = state_of(&unapplied.tree, around, statement.node, groups.undefined);
                        of_unused(in_use.with_faults(statement.line, &unapplied.faults), note.clone())
                    })
                }
                State::Of(state, note) => (state, note),
            },
        };
        let line = &mut lines[index];
        if !is_set[index] || rank(line.state) < rank(state) {
            (line.state, line.note) = (state, note);
            is_set[index] = true;
        }
    }
    if let Some(other) = &read.other_device {
        for number in &other.lines {
            if let Some(line) = lines.get_mut(number - 1).filter(|line| !line.text.trim().is_empty()) {
                line.state = LineState::NotModelled;
                line.note = Some(format!("configuration of another device, {}", other.name));
            }
        }
    }
    lines
}

fn problem_state(problem: Problem) -> (LineState, Option<String>) {
    let (state, note) = match problem {
        Problem::TooDeep => (LineState::NotRecognized, "the statement has more levels than perhop reads"),
        Problem::NothingToMove => (LineState::NotRecognized, "the statements to move do not exist"),
        Problem::OtherCommand => (LineState::NotModelled, "a command that changes other statements"),
        Problem::NothingToChange => (LineState::Irrelevant, "no such statement in this text"),
    };
    (state, Some(note.to_owned()))
}

/// The state of a statement, with a note.
enum State {
    Of(LineState, Option<String>),
    /// No part of the configuration inherits the statement, which is in a group.
    Idle(Option<String>),
}

impl State {
    /// Returns the state of the line: the state of a fault if the line has one, otherwise this state.
    fn with_faults(self, line: usize, faults: &BTreeSet<usize>) -> State {
        match self {
            State::Of(_, note) if faults.contains(&line) => State::Of(LineState::Suspicious, note),
            other => other,
        }
    }
}

/// Whether a statement of a group is a definition.
fn defines(tree: &Tree, node: NodeId) -> bool {
    is_definition(tree.path(node).get(2..).unwrap_or_default())
}

/// Returns the state of a definition in an unapplied group: the state that the definition would have if its
/// group was applied. Unused definitions outside of groups have their state in the same way. `note` names the
/// group.
fn of_unused(in_use: State, note: Option<String>) -> (LineState, Option<String>) {
    match in_use {
        State::Idle(_) => (LineState::Irrelevant, note),
        // The fault has no effect, so no finding reports it and the line must not be suspicious.
        State::Of(LineState::Suspicious, own) => (LineState::NotModelled, own.or(note)),
        State::Of(state, own) => (state, own.or(note)),
    }
}

/// Returns the state of a statement. It comes from the mark of its last node, or from a mark of an enclosing
/// statement that covers it.
fn state_of(tree: &Tree, surroundings: &[Around], node: NodeId, undefined: &[String]) -> State {
    let around = surroundings[node.index()];
    if let Some(line) = around.removed_by {
        return State::Of(LineState::Irrelevant, Some(format!("deleted by line {line}")));
    }
    if around.is_inactive {
        return State::Of(LineState::Irrelevant, Some("inactive".to_owned()));
    }
    let depth = tree.depth(node);
    if depth == 0 {
        return State::Of(LineState::Irrelevant, None);
    }
    let first = tree.word(around.top);
    if first == GROUPS && !is_inherited(tree, node) {
        return State::Idle((depth > 1).then(|| not_applied(tree, node, undefined)));
    }
    let is_apply = |id: NodeId| tree.word(id).starts_with("apply-groups");
    if is_apply(node) || depth > 1 && is_apply(tree.parent(node)) {
        let state = if first == GROUPS { LineState::Irrelevant } else { LineState::Modelled };
        let own = tree.mark_of(node).filter(|mark| mark.state == LineState::Suspicious);
        return State::Of(own.map_or(state, |mark| mark.state), None);
    }
    let own = tree.mark_of(node);
    let covering = around.cover.and_then(|id| tree.mark_of(id)).filter(|_| first != GROUPS || own.is_none());
    let found = match (own, covering) {
        (Some(own), Some(covering)) if rank(covering.state) > rank(own.state) => Some(covering),
        (own, covering) => own.or(covering),
    };
    match found {
        Some(mark) => State::Of(mark.state, mark.note.as_deref().map(str::to_owned)),
        None => State::Of(unmarked(&tree.path(node)), None),
    }
}

/// Returns the reason why a statement of a group has no effect.
fn not_applied(tree: &Tree, node: NodeId, undefined: &[String]) -> String {
    let name = tree.path(node).get(1).copied().unwrap_or_default().to_owned();
    match undefined.first() {
        Some(other) => {
            format!("nothing applies group {name}; the text applies {other}, which it does not define")
        }
        None => format!("nothing applies group {name} here"),
    }
}

/// Whether the configuration inherits a statement of a group, or a statement inside that statement.
fn is_inherited(tree: &Tree, node: NodeId) -> bool {
    tree.was_copied(node) || tree.mark_of(node).is_some()
}

/// Returns the state of a statement that no reader has marked.
fn unmarked(path: &[&str]) -> LineState {
    let path = if path[0] == GROUPS { path.get(2..).unwrap_or_default() } else { path };
    match path.first() {
        None => LineState::Irrelevant,
        Some(first) if READ.contains(first) => LineState::NotRecognized,
        Some(first) if crate::hierarchies::is_known(first) => LineState::Irrelevant,
        Some(_) => LineState::NotRecognized,
    }
}
