//! Actions of `police` and `rate-limit`, as the router writes them in one word.

use super::numbers::{dscp, precedence};
use crate::ast::{Action, Marking, Then};
use crate::words::{Finding, Reader};

const ACTIONS: &[&str] = &[
    "transmit",
    "drop",
    "continue",
    "set-prec-transmit",
    "set-prec-continue",
    "set-dscp-transmit",
    "set-dscp-continue",
    "set-qos-transmit",
    "set-qos-continue",
    "set-clp-transmit",
    "set-frde-transmit",
    "set-cos-transmit",
    "set-cos-inner-transmit",
    "set-discard-class-transmit",
    "set-mpls-exp-transmit",
    "set-mpls-exp-continue",
    "set-mpls-exp-imposition-transmit",
    "set-mpls-exp-imposition-continue",
    "set-mpls-exp-topmost-transmit",
    "set-mpls-experimental-imposition-transmit",
    "set-mpls-experimental-topmost-transmit",
];

/// The action that the next words name.
pub(super) fn action(reader: &mut Reader) -> Result<Action, Finding> {
    let word =
        reader.keyword(ACTIONS).ok_or_else(|| reader.unexpected("an action such as transmit or drop"))?;
    let then = if word.ends_with("continue") { Then::Continue } else { Then::Transmit };
    let marking = match word {
        "transmit" | "continue" => None,
        "drop" => return Ok(Action::DROP),
        _ if word.starts_with("set-prec-") => Some(Marking::Precedence(precedence(reader)?)),
        _ if word.starts_with("set-dscp-") => Some(Marking::Dscp(dscp(reader)?)),
        _ if word.starts_with("set-qos-") => {
            Some(Marking::QosGroup(reader.number("a group", 0..=99)? as u32))
        }
        _ => {
            reader.maybe_number();
            Some(Marking::NotModelled(word.to_owned()))
        }
    };
    Ok(Action { marking, then })
}

/// What to say of a line with `action`.
pub(super) fn unseen(action: &Action) -> Option<Finding> {
    match &action.marking {
        Some(Marking::NotModelled(word)) => Some(Finding::not_modelled(format!(
            "the packet is transmitted; perhop's packets have no field that `{word}` could set"
        ))),
        _ => None,
    }
}

/// Whether a word begins an action.
pub(super) fn is_action(word: &str) -> bool {
    ACTIONS.iter().any(|action| action.eq_ignore_ascii_case(word))
}
