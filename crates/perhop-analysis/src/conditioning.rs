//! [`before`]: the packets that arrive at conditioners, computed from the packets that leave them.

use perhop_qos::action::{Action, CopyConfig, CopyField, Outcome};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::packet::Encapsulation;
use perhop_qos::{Color, Dscp};

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;

/// Returns the packets that can leave `conditioners` as a packet of `target`, in at least one state of the
/// meters.
///
/// The function processes the stages backwards. If a stage marks a packet, membership in the set after the
/// stage does not depend on the old value of the marked field. A meter can assign any of its colors.
///
/// # Errors
/// The sets are too complex.
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

/// Returns the packets before `stage` that become a packet of `target` if the stage transmits them, or a
/// packet of `next` if they continue.
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

/// Returns the colors that a meter can assign; `None` without a meter, because packets then keep their color.
pub fn given_by(meter: Option<&MeterConfig>) -> Option<Vec<Color>> {
    meter.map(|meter| match meter {
        MeterConfig::TokenBucket(bucket) => vec![Color::GREEN, bucket.excess],
        MeterConfig::PacketRate(bucket) => vec![Color::GREEN, bucket.excess],
        MeterConfig::TokenBucketWithDebt(_) => vec![Color::GREEN, Color::RED],
        _ => vec![Color::GREEN, Color::YELLOW, Color::RED],
    })
}

/// Returns the packets that become a packet of `after` by `action`.
fn before_action(space: &mut PacketSpace, action: &Action, after: Set) -> Result<Set, TooComplex> {
    let effects = effects(space, action)?;
    before_effects(space, &effects, after)
}

/// Returns the packets that become a packet of `after` when the effects set their fields.
fn before_effects(space: &mut PacketSpace, effects: &[Effect], after: Set) -> Result<Set, TooComplex> {
    let mut sets = Vec::new();
    for Effect { packets, fields } in effects {
        let set = space.given(after, fields)?;
        sets.push(space.and(*packets, set)?);
    }
    space.any(sets)
}

/// A set of packets, and the new values of their fields.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The packets before the action.
    pub packets: Set,
    /// The fields with their values after the action.
    pub fields: Vec<(Field, u128)>,
}

impl Effect {
    fn on_all(fields: Vec<(Field, u128)>) -> Vec<Effect> {
        vec![Effect { packets: Set::ALL, fields }]
    }
}

/// Returns the effects of `action`. Every packet is in exactly one of them.
///
/// # Errors
/// The sets are too complex.
pub fn effects(space: &mut PacketSpace, action: &Action) -> Result<Vec<Effect>, TooComplex> {
    let fields = match action {
        Action::Transmit | Action::Drop | Action::Continue => Vec::new(),
        Action::Copy(copy) => return effects_of_copy(space, copy),
        Action::Mark(dscp) => marked(*dscp),
        Action::MarkPrecedence(precedence) => {
            vec![(Field::Dscp, precedence.class_selector().value().into())]
        }
        Action::Label(label) => vec![(Field::Label, (*label).into())],
        Action::Color(color) => vec![(Field::Color, color.index() as u128)],
        Action::MarkCos(cos) => vec![(Field::HasCos, 1), (Field::Cos, cos.value().into())],
        Action::MarkExp(exp) => vec![(Field::HasExp, 1), (Field::Exp, exp.value().into())],
    };
    Ok(Effect::on_all(fields))
}

/// Returns the fields that a mark sets. RFC 2597 §6: an AF codepoint also sets the color.
fn marked(dscp: Dscp) -> Vec<(Field, u128)> {
    let color = dscp.is_assured_forwarding().then(|| (Field::Color, dscp.color().index() as u128));
    std::iter::once((Field::Dscp, dscp.value().into())).chain(color).collect()
}

/// Returns one effect for each value of the source mark. An invalid configuration has no effect.
fn effects_of_copy(space: &mut PacketSpace, copy: &CopyConfig) -> Result<Vec<Effect>, TooComplex> {
    let Ok(values) = copy.values() else { return Ok(Effect::on_all(Vec::new())) };
    let mut found = Vec::new();
    let mut rest = Set::ALL;
    for (read, set) in values.iter().enumerate() {
        let Some(set) = set else { continue };
        let Some(packets) = packets_with_mark(space, copy.from, read as u128)? else { continue };
        let fields = match copy.to {
            CopyField::Dscp => Dscp::new(*set).map(marked).unwrap_or_default(),
            // RFC 2474 §4.2.2.2: the class selector.
            CopyField::Precedence => vec![(Field::Dscp, u128::from(*set) << 3)],
            CopyField::Cos => vec![(Field::HasCos, 1), (Field::Cos, u128::from(*set))],
            CopyField::MplsExp => vec![(Field::HasExp, 1), (Field::Exp, u128::from(*set))],
            CopyField::Label => vec![(Field::Label, u128::from(*set))],
            CopyField::Color => vec![(Field::Color, u128::from(*set))],
        };
        found.push(Effect { packets, fields });
        rest = space.minus(rest, packets)?;
    }
    found.push(Effect { packets: rest, fields: Vec::new() });
    Ok(found)
}

/// Returns the packets whose mark is `value`; `None` if the mark cannot have this value.
fn packets_with_mark(
    space: &mut PacketSpace,
    field: CopyField,
    value: u128,
) -> Result<Option<Set>, TooComplex> {
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

/// Returns the packets that are in `after` when they leave via a link with this `encapsulation`.
///
/// # Errors
/// The sets are too complex.
pub fn departing(
    space: &mut PacketSpace,
    encapsulation: Encapsulation,
    after: Set,
) -> Result<Set, TooComplex> {
    let mut set = after;
    for effects in departures(space, encapsulation)?.iter().rev() {
        set = before_effects(space, effects, set)?;
    }
    Ok(set)
}

/// Returns the fields that a link with this `encapsulation` sets in departing packets, in order.
///
/// A new tag has class of service 0, a new label has the precedence as its traffic class. Packets lose marks
/// that the link does not transmit (RFC 3270 §2.6.3; RFC 5462).
///
/// # Errors
/// The sets are too complex.
pub fn departures(
    space: &mut PacketSpace,
    encapsulation: Encapsulation,
) -> Result<[Vec<Effect>; 2], TooComplex> {
    let tag = if encapsulation.tag {
        let new = space.equals(Field::HasCos, 0)?;
        vec![
            unchanged_packets(space, new)?,
            Effect { packets: new, fields: vec![(Field::HasCos, 1), (Field::Cos, 0)] },
        ]
    } else {
        Effect::on_all(vec![(Field::HasCos, 0)])
    };
    if !encapsulation.labels {
        return Ok([tag, Effect::on_all(vec![(Field::HasExp, 0)])]);
    }
    let new = space.equals(Field::HasExp, 0)?;
    let mut labels = vec![unchanged_packets(space, new)?];
    for precedence in 0..8 {
        let of_precedence = space.begins(Field::Dscp, precedence << 3, 3)?;
        let packets = space.and(new, of_precedence)?;
        labels.push(Effect { packets, fields: vec![(Field::HasExp, 1), (Field::Exp, precedence)] });
    }
    Ok([tag, labels])
}

/// Returns the effect on packets that are not in `changed`: these packets do not change.
fn unchanged_packets(space: &mut PacketSpace, changed: Set) -> Result<Effect, TooComplex> {
    Ok(Effect { packets: space.minus(Set::ALL, changed)?, fields: Vec::new() })
}

/// Returns the packets that arrive on interface number `input`, before any processing. They have no label,
/// and the color of their codepoint.
///
/// # Errors
/// The sets are too complex.
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
