//! [`Command`]: a row in the tables of commands.

use crate::words::{Finding, Reader, Reading};

/// A command: its first words, and how its lines are read.
pub(super) struct Command<T: 'static> {
    pub(super) words: &'static str,
    pub(super) does: Does<T>,
}

/// The way in which the lines of a command are read.
pub(super) enum Does<T: 'static> {
    /// The line is modeled; the function reads it.
    Read(fn(&mut T, &mut Reader) -> Reading),
    /// The line is not modeled, but the function records it in the syntax tree. The text is the effect on
    /// packets.
    Recorded(fn(&mut T, &mut Reader) -> Result<(), Finding>, &'static str),
    /// The line has no effect on packets, but perhop uses it to interpret other lines.
    Note(fn(&mut T, &mut Reader)),
    /// The line has no effect on packets.
    Irrelevant,
    /// The line has no effect on packets and opens a block of such lines.
    IrrelevantBlock,
    /// The line is not modeled. The text is the effect on packets.
    NotModelled(&'static str),
    /// The line is not modeled and opens a block of such lines. The text is the effect on packets.
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
