//! [`before`]: which packets come to conditioners, given those that are to leave them.

use perhop_qos::action::{Action, CopyConfig, CopyField, Outcome};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::packet::Encapsulation;
use perhop_qos::{Color, Dscp};

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;

/// The packets that may leave `conditioners` as one of `target`, whatever their meters have seen before.
///
/// Backwards, stage by stage: a packet that a stage marks is in a set afterwards exactly if it is in the set
/// that no longer asks for that mark before. A meter may give any color that it has.
///
/// # Errors
/// Where they are too complex.
pub fn before(
    space: &mut PacketSpace,
    conditioners: &[ConditionerConfig],
    target: Set,
) -> Result<Set, TooComplex> {
    let mut arriving = target;
    for stage in conditioners.iter().rev() {
        arriving = before_stage(space, stage, target, arriving)?;
    }
    Ok(arriving)
}

/// `target` is where packets that are transmitted are to be, `next` where those that go on are.
fn before_stage(
    space: &mut PacketSpace,
    stage: &ConditionerConfig,
    target: Set,
    next: Set,
) -> Result<Set, TooComplex> {
    let matched = match &stage.matches {
        Some(condition) => space.taken_by(condition)?,
        None => Set::ALL,
    };
    let passed_by = space.minus(next, matched)?;
    let given = given_by(stage.meter.as_ref());
    let mut treated = Vec::new();
    for color in given.clone().unwrap_or_else(|| (0..Color::COUNT).map(Color::new).collect()) {
        let actions = stage.actions_of(color);
        let after = match actions.iter().find_map(Action::ends_with).unwrap_or(Outcome::Transmit) {
            Outcome::Transmit => target,
            Outcome::Continue => next,
            Outcome::Drop => Set::NONE,
        };
        let mut set = after;
        for action in actions.iter().rev() {
            set = before_action(space, action, set)?;
        }
        let value = color.index() as u128;
        treated.push(if given.is_some() {
            space.given(set, &[(Field::Color, value)])?
        } else {
            let of_color = space.equals(Field::Color, value)?;
            space.and(set, of_color)?
        });
    }
    let treated = space.any(treated)?;
    let treated = space.and(treated, matched)?;
    space.or(passed_by, treated)
}

/// The colors that a meter may give; none where there is no meter, and packets keep theirs.
pub(crate) fn given_by(meter: Option<&MeterConfig>) -> Option<Vec<Color>> {
    meter.map(|meter| match meter {
        MeterConfig::TokenBucket(bucket) => vec![Color::GREEN, bucket.excess],
        MeterConfig::PacketRate(bucket) => vec![Color::GREEN, bucket.excess],
        MeterConfig::TokenBucketWithDebt(_) => vec![Color::GREEN, Color::RED],
        _ => vec![Color::GREEN, Color::YELLOW, Color::RED],
    })
}

/// The packets that `action` makes one of `after`.
fn before_action(space: &mut PacketSpace, action: &Action, after: Set) -> Result<Set, TooComplex> {
    let fields: &[(Field, u128)] = match action {
        Action::Transmit | Action::Drop | Action::Continue => return Ok(after),
        Action::Copy(copy) => return before_copy(space, copy, after),
        Action::Mark(dscp) => return space.given(after, &marked(*dscp)),
        Action::MarkPrecedence(precedence) => &[(Field::Dscp, precedence.class_selector().value().into())],
        Action::Label(label) => &[(Field::Label, (*label).into())],
        Action::Color(color) => &[(Field::Color, color.index() as u128)],
        Action::MarkCos(cos) => &[(Field::HasCos, 1), (Field::Cos, cos.value().into())],
        Action::MarkExp(exp) => &[(Field::HasExp, 1), (Field::Exp, exp.value().into())],
    };
    space.given(after, fields)
}

/// RFC 2597 §6: an AF codepoint is a color as well.
fn marked(dscp: Dscp) -> Vec<(Field, u128)> {
    let color = dscp.is_assured_forwarding().then(|| (Field::Color, dscp.color().index() as u128));
    std::iter::once((Field::Dscp, dscp.value().into())).chain(color).collect()
}

/// Value by value of what is read. A configuration that cannot be built copies nothing.
fn before_copy(space: &mut PacketSpace, copy: &CopyConfig, after: Set) -> Result<Set, TooComplex> {
    let Ok(values) = copy.values() else { return Ok(after) };
    let mut sets = Vec::new();
    let mut rest = Set::ALL;
    for (read, set) in values.iter().enumerate() {
        let Some(set) = set else { continue };
        let Some(reads) = reads(space, copy.from, read as u128)? else { continue };
        let becomes = match copy.to {
            CopyField::Dscp => Dscp::new(*set).map(marked).unwrap_or_default(),
            // RFC 2474 §4.2.2.2: the class selector.
            CopyField::Precedence => vec![(Field::Dscp, u128::from(*set) << 3)],
            CopyField::Cos => vec![(Field::HasCos, 1), (Field::Cos, u128::from(*set))],
            CopyField::MplsExp => vec![(Field::HasExp, 1), (Field::Exp, u128::from(*set))],
            CopyField::Label => vec![(Field::Label, u128::from(*set))],
            CopyField::Color => vec![(Field::Color, u128::from(*set))],
        };
        let copied = space.given(after, &becomes)?;
        sets.push(space.and(reads, copied)?);
        rest = space.minus(rest, reads)?;
    }
    sets.push(space.and(rest, after)?);
    space.any(sets)
}

/// The packets whose mark is `value`; `None` where it has no such value.
fn reads(space: &mut PacketSpace, field: CopyField, value: u128) -> Result<Option<Set>, TooComplex> {
    let (field, has, bits) = match field {
        CopyField::Dscp => (Field::Dscp, None, 6),
        CopyField::Precedence => {
            let set = if value < 8 { Some(space.begins(Field::Dscp, value << 3, 3)?) } else { None };
            return Ok(set);
        }
        CopyField::Cos => (Field::Cos, Some(Field::HasCos), 3),
        CopyField::MplsExp => (Field::Exp, Some(Field::HasExp), 3),
        CopyField::Label => (Field::Label, None, 8),
        CopyField::Color => (Field::Color, None, 3),
    };
    if value >> bits > 0 {
        return Ok(None);
    }
    let set = space.equals(field, value)?;
    match has {
        Some(has) => {
            let has = space.equals(has, 1)?;
            space.and(set, has).map(Some)
        }
        None => Ok(Some(set)),
    }
}

/// The packets that leave by a link with this `encapsulation` as one of `after`.
///
/// A new tag has class of service 0, a new label the precedence as its traffic class, and marks that the link
/// does not carry are no more (RFC 3270 §2.6.3; RFC 5462).
///
/// # Errors
/// Where they are too complex.
pub fn departing(
    space: &mut PacketSpace,
    encapsulation: Encapsulation,
    after: Set,
) -> Result<Set, TooComplex> {
    let after = departing_tagged(space, encapsulation.tag, after)?;
    departing_labelled(space, encapsulation.labels, after)
}

fn departing_tagged(space: &mut PacketSpace, tag: bool, after: Set) -> Result<Set, TooComplex> {
    let after = space.given(after, &[(Field::HasCos, tag.into())])?;
    if !space.asks(after, Field::Cos) {
        return Ok(after);
    }
    let had_tag = space.equals(Field::HasCos, 1)?;
    let new_tag = space.given(after, &[(Field::Cos, 0)])?;
    either(space, had_tag, after, new_tag)
}

fn departing_labelled(space: &mut PacketSpace, labels: bool, after: Set) -> Result<Set, TooComplex> {
    let after = space.given(after, &[(Field::HasExp, labels.into())])?;
    if !space.asks(after, Field::Exp) {
        return Ok(after);
    }
    let had_labels = space.equals(Field::HasExp, 1)?;
    let mut new_labels = Vec::new();
    for precedence in 0..8 {
        let of_precedence = space.begins(Field::Dscp, precedence << 3, 3)?;
        let labelled = space.given(after, &[(Field::Exp, precedence)])?;
        new_labels.push(space.and(of_precedence, labelled)?);
    }
    let new_labels = space.any(new_labels)?;
    either(space, had_labels, after, new_labels)
}

/// `then` where `condition` holds, `otherwise` where it does not.
fn either(space: &mut PacketSpace, condition: Set, then: Set, otherwise: Set) -> Result<Set, TooComplex> {
    let then = space.and(condition, then)?;
    let otherwise = space.minus(otherwise, condition)?;
    space.or(then, otherwise)
}

/// The packets as they arrive by the interface of number `input`, before anything is done with them: they
/// have no label, and the color of their codepoint.
///
/// # Errors
/// Where they are too complex.
pub fn arriving(space: &mut PacketSpace, input: Option<usize>) -> Result<Set, TooComplex> {
    let mut colored = Vec::new();
    for color in [Color::GREEN, Color::YELLOW, Color::RED] {
        let codepoints = (0..64).filter_map(Dscp::new).filter(|dscp| dscp.color() == color);
        let codepoints = space.is_one_of(Field::Dscp, codepoints.map(|dscp| dscp.value().into()))?;
        let of_color = space.equals(Field::Color, color.index() as u128)?;
        colored.push(space.and(codepoints, of_color)?);
    }
    let colored = space.any(colored)?;
    let unlabelled = space.equals(Field::Label, 0)?;
    let by = match input {
        Some(number) => space.equals(Field::Input, number as u128)?,
        None => Set::ALL,
    };
    space.all(vec![colored, unlabelled, by])
}
