//! [`Command`]: a row in the tables of commands.

use crate::words::{Finding, Reader, Reading};

/// A command: its first words, and how its lines are read.
pub(super) struct Command<T: 'static> {
    pub(super) words: &'static str,
    pub(super) does: Does<T>,
}

/// The way in which the lines of a command are read.
pub(super) enum Does<T: 'static> {
    /// Part of the model.
    Read(fn(&mut T, &mut Reader) -> Reading),
    /// Outside the model, with its effect on packets; recorded in the syntax tree.
    Recorded(fn(&mut T, &mut Reader) -> Result<(), Finding>, &'static str),
    /// Without effect on packets, but used to interpret other lines.
    Note(fn(&mut T, &mut Reader)),
    /// Without effect on packets.
    Irrelevant,
    /// Without effect on packets; opens a block of such lines.
    IrrelevantBlock,
    /// Outside the model, with its effect on packets.
    NotModelled(&'static str),
    /// Outside the model, with its effect on packets; opens a block of such lines.
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
