//! Actions of `police` and `rate-limit`, such as `set-dscp-transmit`.

use super::marking;
use crate::ast::{Action, Field, Marking, Then};
use crate::words::{Finding, Reader};

/// The fields by the middle of the action name: `set-dscp-transmit` sets the DSCP.
const FIELDS: &[(&str, Field)] = &[
    ("prec", Field::Precedence),
    ("prec-tunnel", Field::TunnelPrecedence),
    ("dscp", Field::Dscp),
    ("dscp-tunnel", Field::TunnelDscp),
    ("qos", Field::QosGroup),
    ("qos-group", Field::QosGroup),
    ("cos", Field::Cos),
    ("cos-inner", Field::CosInner),
    ("discard-class", Field::DiscardClass),
    ("traffic-class", Field::TrafficClass),
    ("mpls-exp", Field::MplsImposition),
    ("mpls-exp-imposition", Field::MplsImposition),
    ("mpls-experimental", Field::MplsImposition),
    ("mpls-experimental-imposition", Field::MplsImposition),
    ("mpls-exp-topmost", Field::MplsTopmost),
    ("mpls-experimental-topmost", Field::MplsTopmost),
];

/// Actions that set no field, or a field outside the model.
const OTHERS: &[&str] = &[
    "transmit",
    "drop",
    "continue",
    "set-clp-transmit",
    "set-frde-transmit",
    "set-frde-continue",
    "policed-dscp-transmit",
    "policed-dscp",
];

/// Parses an action.
pub(super) fn action(reader: &mut Reader) -> Result<Action, Finding> {
    let unexpected = |reader: &Reader| reader.unexpected("an action such as transmit or drop");
    if let Some((field, then)) = reader.peek().and_then(setting) {
        reader.next();
        let marking = match marking::source(reader) {
            Some(from) => Marking::Copy { to: field, from, table: marking::table(reader)? },
            None => marking::value(field, reader)?,
        };
        return Ok(Action { marking: Some(marking), then });
    }
    let word = reader.keyword(OTHERS).ok_or_else(|| unexpected(reader))?;
    let then = if word.ends_with("continue") { Then::Continue } else { Then::Transmit };
    let marking = match word {
        "transmit" | "continue" => None,
        "drop" => return Ok(Action { marking: None, then: Then::Drop }),
        _ => {
            reader.maybe_number();
            Some(Marking::NotModelled(word.to_owned()))
        }
    };
    Ok(Action { marking, then })
}

/// Returns the field that the action `word` sets, and the packet's next step; `None` for other words.
fn setting(word: &str) -> Option<(Field, Then)> {
    let word = word.to_ascii_lowercase();
    let rest = word.strip_prefix("set-")?;
    let (middle, then) = match rest.strip_suffix("-transmit") {
        Some(middle) => (middle, Then::Transmit),
        None => (rest.strip_suffix("-continue")?, Then::Continue),
    };
    FIELDS.iter().find(|(name, _)| *name == middle).map(|(_, field)| (*field, then))
}

/// Returns the finding for a line whose `action` sets a field outside the model; `None` for other actions.
pub(super) fn unseen(action: &Action) -> Option<Finding> {
    let what = match action.marking.as_ref()? {
        Marking::NotModelled(word) => format!("perhop's packets have no field that `{word}` could set"),
        marking => marking::unseen(marking)?,
    };
    Some(Finding::not_modelled(format!("the packet is transmitted; {what}")))
}

/// Whether a word begins an action.
pub(super) fn is_action(word: &str) -> bool {
    setting(word).is_some() || OTHERS.iter().any(|action| action.eq_ignore_ascii_case(word))
}
