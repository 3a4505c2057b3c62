//! [`Body`]: the part of a filter after the kind, and the options common to all kinds.

use super::action::actions;
use super::police::police;
use crate::kernel::Kernel;
use crate::model::{Action, Bits, Condition};
use crate::units;
use crate::words::{Words, abbreviates};

/// The part of a filter after the kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) condition: Condition,
    pub(crate) class: Option<u32>,
    pub(crate) actions: Vec<Action>,
    /// Whether the command only creates a u32 table.
    pub(crate) is_table: bool,
    /// The header bits that packets must have. Further lines of `show` add bits.
    pub(crate) bits: Bits,
}

/// Reads a common option. Returns `false` if `word` is not a common option.
pub(crate) fn common(
    kernel: &mut Kernel,
    number: usize,
    word: &str,
    words: &mut Words,
    body: &mut Body,
) -> bool {
    match word {
        "skip_hw" | "skip_sw" | "not_in_hw" | "in_hw" | "in_hw_count" => {
            if word == "in_hw_count" {
                words.next();
            }
            if word == "skip_sw" {
                kernel
                    .log
                    .note(number, "`skip_sw`: perhop applies the filter as the hardware of the device would");
            }
        }
        "flowid" => class_of(kernel, number, words, body),
        _ if word.len() > 1 && abbreviates(word, "classid") => class_of(kernel, number, words, body),
        _ if word.len() > 1 && abbreviates(word, "action") => {
            body.actions.extend(actions(kernel, number, words));
        }
        _ if word.len() > 1 && abbreviates(word, "police") => {
            body.actions.extend(police(kernel, number, words));
        }
        "chain" if words.is_shown() => {
            words.next();
        }
        _ => return false,
    }
    true
}

fn class_of(kernel: &mut Kernel, number: usize, words: &mut Words, body: &mut Body) {
    // tc prints `terminal flowid` if a filter has no class.
    let has_none = |next: &str| units::class_id(next.trim_end_matches(',')).is_none() && next != "???";
    if words.is_shown() && words.peek().is_none_or(has_none) {
        return;
    }
    let text = words.next().unwrap_or_default();
    body.class = units::class_id(text.trim_end_matches(','));
    // Some versions of tc print `flowid ???` if a filter has no class.
    if body.class.is_none() && text != "???" {
        kernel.refuse(number, format!("`{text}` is not a class: write a number such as 1:10"));
    }
}

/// Returns the labels with `value` under `mask`.
pub(crate) fn labels(value: u64, mask: u64) -> Option<Vec<u8>> {
    let found: Vec<u8> = (0..=u8::MAX).filter(|label| u64::from(*label) & mask == value & mask).collect();
    (!found.is_empty() && value <= 0xff).then_some(found)
}
