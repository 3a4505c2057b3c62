//! Writing of conditioner actions as `set` and as policer actions.

use perhop_device::Missing;
use perhop_qos::Color;
use perhop_qos::action::{Action, CopyConfig, CopyDefault, CopyField, Outcome};
use perhop_qos::conditioner::ConditionerConfig;

use super::table_map::{TableMaps, default};
use super::words::codepoint;

const HIGHEST_GROUP: u8 = 99;
/// Fields of `set` and the actions of a policer that set them, the longest first.
const ACTIONS: [(&str, &str); 7] = [
    ("mpls experimental imposition", "set-mpls-exp-imposition-transmit"),
    ("mpls experimental topmost", "set-mpls-exp-topmost-transmit"),
    ("discard-class", "set-discard-class-transmit"),
    ("precedence", "set-prec-transmit"),
    ("qos-group", "set-qos-transmit"),
    ("dscp", "set-dscp-transmit"),
    ("cos", "set-cos-transmit"),
];

/// Returns the outcome of some actions. By default the router transmits the packet.
pub(super) fn ending(actions: &[Action]) -> Outcome {
    actions.last().and_then(Action::ends_with).unwrap_or(Outcome::Transmit)
}

/// Returns the router's word for an outcome.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Transmit => "transmit",
        Outcome::Continue => "continue",
        Outcome::Drop => "drop",
    }
}

/// Returns the actions without the final outcome.
pub(super) fn steps(actions: &[Action]) -> &[Action] {
    match actions.split_last() {
        Some((last, steps)) if last.ends_with().is_some() => steps,
        _ => actions,
    }
}

/// Returns the actions of a stage for a color.
pub(super) fn of_color(stage: &ConditionerConfig, color: Color) -> &[Action] {
    let own = match color.index() {
        0 => &stage.green,
        1 => &stage.yellow,
        _ => &stage.red,
    };
    if own.is_empty() { &stage.actions } else { own }
}

/// Returns the words after `set` for one action.
///
/// # Errors
/// The router cannot set the field to this value.
pub(super) fn setting(action: &Action, tables: &mut TableMaps) -> Result<String, Missing> {
    Ok(match action {
        Action::Mark(dscp) => format!("dscp {}", codepoint(*dscp)),
        Action::MarkPrecedence(precedence) => format!("precedence {precedence}"),
        Action::MarkCos(mark) => format!("cos {mark}"),
        Action::MarkExp(mark) => format!("mpls experimental imposition {mark}"),
        Action::Label(label) if *label > HIGHEST_GROUP => {
            let missing =
                Missing::new(format!("label {label}"), format!("the highest qos-group is {HIGHEST_GROUP}"));
            return Err(missing.instead("write a lower label"));
        }
        Action::Label(label) => format!("qos-group {label}"),
        Action::Color(color) => format!("discard-class {}", color.index()),
        Action::Copy(copy) => copying(copy, tables),
        Action::Transmit | Action::Drop | Action::Continue => {
            let word = action.ends_with().map_or("", outcome);
            return Err(Missing::new(format!("action {word}"), "only at the end of a list"));
        }
    })
}

fn copying(copy: &CopyConfig, tables: &mut TableMaps) -> String {
    let (target, source) = (copied(copy.to), copied(copy.from));
    let is_fixed = copy.map.is_empty() && matches!(copy.default, CopyDefault::Value(_));
    if copy.to == CopyField::MplsExp && copy.from == CopyField::MplsExp && is_fixed {
        return format!("{target} {}", default(copy));
    }
    if copy.map.is_empty() && copy.default == CopyDefault::Copy {
        return format!("{target} {source}");
    }
    format!("{target} {source} table {}", tables.name(copy))
}

fn copied(field: CopyField) -> &'static str {
    match field {
        CopyField::Dscp => "dscp",
        CopyField::Precedence => "precedence",
        CopyField::Cos => "cos",
        CopyField::MplsExp => "mpls experimental topmost",
        CopyField::Label => "qos-group",
        CopyField::Color => "discard-class",
    }
}

/// Returns the policer action that sets a field and transmits the packet.
///
/// # Errors
/// The errors of [`setting`].
pub(super) fn acting(action: &Action, tables: &mut TableMaps) -> Result<String, Missing> {
    of_policer(&setting(action, tables)?)
}

/// Returns the policer action that is equivalent to `set` with these words.
///
/// # Errors
/// No policer action sets the field.
pub(super) fn of_policer(words: &str) -> Result<String, Missing> {
    let found = ACTIONS.iter().find_map(|(field, name)| Some((name, words.strip_prefix(field)?)));
    let (name, rest) = found.ok_or_else(|| Missing::new(format!("action {words}"), "no policer sets it"))?;
    Ok(format!("{name}{rest}"))
}
