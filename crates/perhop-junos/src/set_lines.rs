//! Commands of the configuration mode: `set`, `delete`, `deactivate` and others.

use std::sync::Arc;

use crate::set_blocks::Level;
use crate::tokens::{Comment, Token, tokens};
use crate::tree::{NodeId, Place, Problem, Statement, Tree};

const COMMANDS: [&str; 20] = [
    "set",
    "delete",
    "deactivate",
    "activate",
    "protect",
    "unprotect",
    "annotate",
    "insert",
    "edit",
    "top",
    "up",
    "exit",
    "commit",
    "rollback",
    "run",
    "show",
    "quit",
    "copy",
    "rename",
    "wildcard",
];

/// Whether a line begins with a command of the configuration mode.
pub(crate) fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    // `top {` and `set {` are statements in the notation with braces.
    COMMANDS.contains(&first) && !text.ends_with('{') && !text.ends_with(';')
}

/// The statements, and the statement that encloses the following lines (`edit`).
pub(crate) struct Session<'s> {
    pub(crate) tree: &'s mut Tree,
    pub(crate) base: &'s mut NodeId,
}

/// Reads a command on line `number`.
pub(crate) fn read(session: &mut Session, number: usize, text: &str) {
    let (found, _) = tokens(text, Comment::None);
    let mut words = found.into_iter();
    let Some(Token::Word(command)) = words.next() else { return };
    let rest: Vec<Token> = words.collect();
    match command {
        "set" => set(session, number, &rest),
        "edit" => {
            let path: Vec<&str> = plain(&rest);
            *session.base = session.tree.enter(*session.base, &path, number);
        }
        "top" | "exit" => *session.base = NodeId::ROOT,
        "up" => *session.base = session.tree.parent(*session.base),
        "delete" | "deactivate" | "activate" => change(session, number, command, &plain(&rest)),
        "insert" => insert(session, number, &plain(&rest)),
        "copy" | "rename" | "rollback" | "wildcard" => {
            let problem = Some(Problem::OtherCommand);
            session.tree.statements.push(Statement { line: number, node: NodeId::ROOT, problem });
        }
        _ => {}
    }
}

fn plain<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let word = |token: &Token<'t>| match token {
        Token::Word(word) => Some(*word),
        _ => None,
    };
    tokens.iter().filter_map(word).collect()
}

fn set(session: &mut Session, number: usize, rest: &[Token]) {
    let tree = &mut *session.tree;
    tree.begin_statement();
    let base = *session.base;
    let base_words: Vec<Arc<str>> = tree.kept_path(base);
    // The words of the current path, with their nodes.
    let mut words: Vec<&str> = Vec::with_capacity(base_words.len() + rest.len());
    words.extend(base_words.iter().map(|word| &**word));
    let mut nodes: Vec<NodeId> = Vec::with_capacity(words.capacity());
    nodes.resize(words.len(), base);
    let (mut list, mut problem, mut level) = (None, None, Level::default());
    let last = |nodes: &[NodeId]| nodes.last().copied().unwrap_or(base);
    for token in rest {
        match token {
            Token::Word(word) => {
                if list.is_none()
                    && let Some(length) = level.next(&words, word)
                {
                    tree.statements.push(Statement { line: number, node: last(&nodes), problem: None });
                    tree.begin_statement();
                    words.truncate(length);
                    nodes.truncate(length);
                }
                match tree.add(list.unwrap_or_else(|| last(&nodes)), word, number) {
                    Some(node) => {
                        words.push(word);
                        nodes.push(node);
                        if list.is_some() {
                            tree.statements.push(Statement { line: number, node, problem: None });
                        }
                    }
                    None => problem = Some(Problem::TooDeep),
                }
            }
            Token::ListOpen => list = Some(last(&nodes)),
            Token::ListClose => {
                list = None;
                level.close_list();
            }
            Token::Open | Token::Close | Token::End => {}
        }
    }
    tree.statements.push(Statement { line: number, node: last(&nodes), problem });
}

fn find(session: &Session, path: &[&str]) -> Option<NodeId> {
    path.iter().try_fold(*session.base, |node, word| session.tree.any_child(node, word))
}

fn change(session: &mut Session, number: usize, command: &str, path: &[&str]) {
    let found = find(session, path);
    let tree = &mut *session.tree;
    let Some(node) = found else {
        let problem = Some(Problem::NothingToChange);
        tree.statements.push(Statement { line: number, node: NodeId::ROOT, problem });
        return;
    };
    match command {
        "delete" => tree.remove(node, number),
        "deactivate" => tree.set_inactive(node, true),
        _ => tree.set_inactive(node, false),
    }
}

/// Reads `insert PATH WORD before OTHER` or `… after OTHER`.
fn insert(session: &mut Session, number: usize, words: &[&str]) {
    let place = words.iter().position(|word| matches!(*word, "before" | "after"));
    let moved = place.and_then(|place| {
        let (path, other) = (&words[..place], words.get(place + 1..)?.last()?);
        let node = find(session, path)?;
        let other = session.tree.any_child(session.tree.parent(node), other)?;
        Some((node, other, if words[place] == "before" { Place::Before } else { Place::After }))
    });
    let tree = &mut *session.tree;
    if !moved.is_some_and(|(node, other, place)| tree.move_to(node, other, place)) {
        let problem = Some(Problem::NothingToMove);
        tree.statements.push(Statement { line: number, node: NodeId::ROOT, problem });
    }
}
