//! [`Command`]: a row of the tables of commands.

use crate::words::{Finding, Reader, Reading};

/// One command: its first words, and what is done about a line that begins with them.
pub(super) struct Command<T: 'static> {
    pub(super) words: &'static str,
    pub(super) does: Does<T>,
}

/// What is done about a command.
pub(super) enum Does<T: 'static> {
    /// It is part of the model.
    Read(fn(&mut T, &mut Reader) -> Reading),
    /// It would change what packets experience: how. The tree has it, but nothing is made of it yet.
    Recorded(fn(&mut T, &mut Reader) -> Result<(), Finding>, &'static str),
    /// It has no influence on packets, but on what else the configuration may say.
    Note(fn(&mut T, &mut Reader)),
    /// It has no influence on packets.
    Irrelevant,
    /// It has none, and opens a block of lines that have none.
    IrrelevantBlock,
    /// It would change what packets experience: how.
    NotModelled(&'static str),
    /// It would, and it opens a block of lines that would.
    NotModelledBlock(&'static str),
}

pub(super) const fn modelled<T>(words: &'static str, read: fn(&mut T, &mut Reader) -> Reading) -> Command<T> {
    Command { words, does: Does::Read(read) }
}
pub(super) const fn recorded<T>(
    words: &'static str,
    effect: &'static str,
    read: fn(&mut T, &mut Reader) -> Result<(), Finding>,
) -> Command<T> {
    Command { words, does: Does::Recorded(read, effect) }
}
pub(super) const fn noted<T>(words: &'static str, note: fn(&mut T, &mut Reader)) -> Command<T> {
    Command { words, does: Does::Note(note) }
}
pub(super) const fn irrelevant<T>(words: &'static str) -> Command<T> {
    Command { words, does: Does::Irrelevant }
}
pub(super) const fn irrelevant_block<T>(words: &'static str) -> Command<T> {
    Command { words, does: Does::IrrelevantBlock }
}
pub(super) const fn not_modelled<T>(words: &'static str, effect: &'static str) -> Command<T> {
    Command { words, does: Does::NotModelled(effect) }
}
pub(super) const fn not_modelled_block<T>(words: &'static str, effect: &'static str) -> Command<T> {
    Command { words, does: Does::NotModelledBlock(effect) }
}
