//! [`run`]: finds the command of a line in the tables of its block, and reads it.

use perhop_lint::LineState;
use serde::Serialize;

use super::command::{Command, Does};
use crate::mode::Mode;
use crate::words::{Finding, Form, Reader, Reading, abbreviates};

/// The required spelling of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Unabbreviated.
    Full,
    /// Unabbreviated, or an abbreviation that is unique.
    Abbreviated,
}

/// A row of the tables of commands, for documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandReference {
    /// The block of the command.
    pub block: &'static str,
    /// The first words of the command.
    pub words: &'static str,
    /// The state of a well-formed line.
    pub state: LineState,
    /// The effect on packets, if perhop does not model the command.
    pub effect: Option<&'static str>,
}

/// Reads a line as a command of one of `tables`; `None` if no table has the command.
pub(super) fn run<T>(
    tables: &[&'static [Command<T>]],
    target: &mut T,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    reader.comparisons += tables.iter().map(|table| table.len() as u64).sum::<u64>();
    let command = find(tables, reader.rest(), spelling)?;
    Some(match command.does {
        Does::Read(read) => {
            reader.skip(command.words.split(' ').count());
            read(target, reader)
        }
        // The negated command restores the default, which perhop models.
        Does::Recorded(record, effect) => {
            reader.skip(command.words.split(' ').count());
            let state = if reader.negated() { Finding::IRRELEVANT } else { Finding::not_modelled(effect) };
            record(target, reader).map(|()| state)
        }
        Does::Note(note) => {
            reader.skip(command.words.split(' ').count());
            note(target, reader);
            Ok(Finding::IRRELEVANT)
        }
        Does::Irrelevant => Ok(Finding::IRRELEVANT),
        Does::IrrelevantBlock => {
            reader.opens = (reader.form == Form::Plain).then_some(Mode::Irrelevant);
            Ok(Finding::IRRELEVANT)
        }
        Does::NotModelled(_) | Does::NotModelledBlock(_) if reader.negated() => Ok(Finding::IRRELEVANT),
        Does::NotModelled(effect) => Ok(Finding::not_modelled(effect)),
        Does::NotModelledBlock(effect) => {
            reader.opens = Some(Mode::NotModelled(effect));
            Ok(Finding::not_modelled(effect))
        }
    })
}

/// Returns the longest command with which `line` begins. If an abbreviation is ambiguous, a modeled command
/// takes precedence, because the router may lack the other commands. Returns `None` if several commands
/// remain.
fn find<T>(
    tables: &[&'static [Command<T>]],
    line: &[&str],
    spelling: Spelling,
) -> Option<&'static Command<T>> {
    let first = line.first()?;
    let mut best: Option<(&Command<T>, (usize, bool))> = None;
    let mut rivals = false;
    for command in tables.iter().copied().flatten() {
        if !could_begin(first, command.words, spelling) || !begins(line, command.words, spelling) {
            continue;
        }
        let rank =
            (command.words.split(' ').count(), matches!(command.does, Does::Read(_) | Does::Recorded(..)));
        match best {
            Some((_, highest)) if highest > rank => {}
            Some((_, highest)) if highest == rank => rivals = true,
            _ => (best, rivals) = (Some((command, rank)), false),
        }
    }
    best.filter(|_| !rivals).map(|(command, _)| command)
}

/// Returns the words of the longest command of `tables` that `line` begins with, unabbreviated.
pub(super) fn longest<T>(tables: &[&'static [Command<T>]], line: &[&str]) -> Option<&'static str> {
    find(tables, line, Spelling::Full).map(|command| command.words)
}

/// Whether a line with the word `first` can begin with `command`. Compares only the first byte, which
/// excludes most commands quickly.
fn could_begin(first: &str, command: &str, spelling: Spelling) -> bool {
    let bytes = (first.as_bytes().first(), command.as_bytes().first());
    let same = matches!(bytes, (Some(word), Some(keyword)) if word.eq_ignore_ascii_case(keyword));
    match spelling {
        Spelling::Full => same && command.len() >= first.len(),
        // `class` is the command of a policy-map, not an abbreviated class-map.
        Spelling::Abbreviated => same && !first.eq_ignore_ascii_case("class"),
    }
}

/// Whether `line` begins with the words of `command`.
fn begins(line: &[&str], command: &str, spelling: Spelling) -> bool {
    let mut words = line.iter();
    command.split(' ').all(|keyword| {
        words.next().is_some_and(|word| {
            word.eq_ignore_ascii_case(keyword)
                || spelling == Spelling::Abbreviated && abbreviates(word, keyword)
        })
    })
}

/// Adds the rows of `table` to `all`.
pub(super) fn list<T>(block: &'static str, table: &'static [Command<T>], all: &mut Vec<CommandReference>) {
    all.extend(table.iter().map(|command| {
        let (state, effect) = match command.does {
            Does::Read(_) => (LineState::Modelled, None),
            Does::Note(_) | Does::Irrelevant | Does::IrrelevantBlock => (LineState::Irrelevant, None),
            Does::Recorded(_, effect) | Does::NotModelled(effect) | Does::NotModelledBlock(effect) => {
                (LineState::NotModelled, Some(effect))
            }
        };
        CommandReference { block, words: command.words, state, effect }
    }));
}
