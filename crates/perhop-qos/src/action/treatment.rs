//! [`Treatment`]: the combined effect of a list of actions. [`Steps`]: the changes of a list that a
//! [`Treatment`] cannot express.

use super::copy::CopyTable;
use super::list::{Action, Outcome};
use crate::packet::{Color, Dscp, LinkMark, Packet};

/// The combined effect of a list of actions, compiled for the packet path.
#[derive(Clone, Debug)]
pub(crate) struct Treatment {
    dscp: Option<Dscp>,
    color: Option<Color>,
    label: Option<u8>,
    outcome: Outcome,
}

/// The changes of a list of actions in order. Only lists that a [`Treatment`] cannot express have steps.
#[derive(Clone, Debug)]
pub(crate) struct Steps(Vec<Step>);

/// A change of a packet.
#[derive(Clone, Debug)]
enum Step {
    Mark(Dscp),
    Precedence(Dscp),
    Label(u8),
    Cos(LinkMark),
    Exp(LinkMark),
    Color(Color),
    Copy(CopyTable),
}

impl Treatment {
    /// Combines all of `actions`, which have been [checked](super::check), in order. A list without an
    /// outcome transmits the packet. If the changes need [`Steps`], only the outcome is stored here.
    pub(crate) fn from_actions(actions: &[Action]) -> Treatment {
        let nothing = Treatment { dscp: None, color: None, label: None, outcome: Outcome::Transmit };
        if actions.iter().any(Steps::are_needed_for) {
            let outcome = actions.iter().find_map(Action::ends_with).unwrap_or(Outcome::Transmit);
            return Treatment { outcome, ..nothing };
        }
        actions.iter().fold(nothing, |before, action| match *action {
            // RFC 2597 §6: in an AF codepoint the drop precedence is the color. Other codepoints have no drop
            // precedence, and the color of a meter remains with the packet in this node.
            Action::Mark(dscp) if dscp.is_assured_forwarding() => {
                Treatment { dscp: Some(dscp), color: Some(dscp.color()), ..before }
            }
            Action::Mark(dscp) => Treatment { dscp: Some(dscp), ..before },
            Action::MarkPrecedence(precedence) => {
                Treatment { dscp: Some(precedence.class_selector()), ..before }
            }
            Action::Label(label) => Treatment { label: Some(label), ..before },
            Action::Color(color) => Treatment { color: Some(color), ..before },
            Action::Transmit => Treatment { outcome: Outcome::Transmit, ..before },
            Action::Drop => Treatment { outcome: Outcome::Drop, ..before },
            Action::Continue => Treatment { outcome: Outcome::Continue, ..before },
            Action::MarkCos(_) | Action::MarkExp(_) | Action::Copy(_) => before,
        })
    }
    /// The outcome for a packet.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }
    /// Applies the treatment to `packet` and returns the outcome.
    #[inline]
    pub(crate) fn apply(&self, packet: &mut Packet) -> Outcome {
        if let Some(dscp) = self.dscp {
            packet.dscp = dscp;
        }
        if let Some(color) = self.color {
            packet.color = color;
        }
        if let Some(label) = self.label {
            packet.label = label;
        }
        self.outcome
    }
}

impl Steps {
    /// Whether the fields of a [`Treatment`] cannot express `action`.
    pub(crate) fn are_needed_for(action: &Action) -> bool {
        matches!(action, Action::MarkCos(_) | Action::MarkExp(_) | Action::Copy(_))
    }
    /// Returns the changes of `actions`, which must be [checked](super::check). Returns `None` if a
    /// [`Treatment`] can express all of them.
    pub(crate) fn from_actions(actions: &[Action]) -> Option<Steps> {
        actions
            .iter()
            .any(Steps::are_needed_for)
            .then(|| Steps(actions.iter().filter_map(Step::from_action).collect()))
    }
    /// Whether one of the steps reads a mark of the link layer.
    pub(crate) fn read_link_marks(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Copy(table) if table.reads_link_marks()))
    }
    /// Applies the changes to `packet` in order.
    pub(crate) fn apply(&self, packet: &mut Packet) {
        self.0.iter().for_each(|step| step.apply(packet));
    }
}

impl Step {
    /// Returns the change of `action`. Returns `None` if the action only sets the outcome.
    fn from_action(action: &Action) -> Option<Step> {
        Some(match action {
            Action::Mark(dscp) => Step::Mark(*dscp),
            Action::MarkPrecedence(precedence) => Step::Precedence(precedence.class_selector()),
            Action::Label(label) => Step::Label(*label),
            Action::MarkCos(cos) => Step::Cos(*cos),
            Action::MarkExp(exp) => Step::Exp(*exp),
            Action::Color(color) => Step::Color(*color),
            Action::Copy(copy) => Step::Copy(copy.build().ok()?),
            Action::Transmit | Action::Drop | Action::Continue => return None,
        })
    }
    fn apply(&self, packet: &mut Packet) {
        match self {
            Step::Mark(dscp) => packet.mark(*dscp),
            Step::Precedence(dscp) => packet.dscp = *dscp,
            Step::Label(label) => packet.label = *label,
            Step::Cos(cos) => packet.set_cos(*cos),
            Step::Exp(exp) => packet.set_exp(*exp),
            Step::Color(color) => packet.color = *color,
            Step::Copy(table) => table.apply(packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::action::{CopyConfig, CopyDefault, CopyField, check};
    use std::collections::BTreeMap;

    /// Applies `actions` one by one, as a reference for [`Treatment`] and [`Steps`].
    fn perform(actions: &[Action], packet: &mut Packet) -> Outcome {
        for action in actions {
            match action {
                Action::Mark(dscp) => {
                    packet.dscp = *dscp;
                    if dscp.is_assured_forwarding() {
                        packet.color = dscp.color();
                    }
                }
                Action::MarkPrecedence(precedence) => packet.dscp = precedence.class_selector(),
                Action::Label(label) => packet.label = *label,
                Action::MarkCos(cos) => packet.set_cos(*cos),
                Action::MarkExp(exp) => packet.set_exp(*exp),
                Action::Color(color) => packet.color = *color,
                // The maps of this test are empty, so `default: copy` copies all values.
                Action::Copy(CopyConfig { to: CopyField::Cos, .. }) => {
                    packet.set_cos(LinkMark::new(packet.dscp.precedence().value()).unwrap());
                }
                Action::Copy(CopyConfig { to: CopyField::Color, .. }) => {
                    let levels = packet.cos().map(|cos| Color::new(usize::from(cos.value())));
                    packet.color = levels.unwrap_or(packet.color);
                }
                Action::Copy(other) => unreachable!("{other:?}"),
                Action::Transmit => return Outcome::Transmit,
                Action::Drop => return Outcome::Drop,
                Action::Continue => return Outcome::Continue,
            }
        }
        Outcome::Transmit
    }

    fn changes() -> impl Strategy<Value = Action> {
        let mark = || (0..8u8).prop_map(|value| LinkMark::new(value).unwrap());
        let copy = |from, to| {
            Action::Copy(CopyConfig { from, to, map: BTreeMap::new(), default: CopyDefault::Copy })
        };
        let dscp = || (0..64u8).prop_map(|value| Dscp::new(value).unwrap());
        prop_oneof![
            dscp().prop_map(Action::Mark),
            dscp().prop_map(|dscp| Action::MarkPrecedence(dscp.precedence())),
            any::<u8>().prop_map(Action::Label),
            mark().prop_map(Action::MarkCos),
            mark().prop_map(Action::MarkExp),
            (0..Color::COUNT).prop_map(|level| Action::Color(Color::new(level))),
            Just(copy(CopyField::Precedence, CopyField::Cos)),
            Just(copy(CopyField::Cos, CopyField::Color)),
        ]
    }

    proptest! {
        #[test]
        fn a_treatment_equals_its_actions_in_order(
            mut actions in prop::collection::vec(changes(), 0..5),
            end in prop::option::of(prop::sample::select(vec![Action::Transmit, Action::Drop, Action::Continue])),
            color in 0..Color::COUNT,
        ) {
            actions.extend(end);
            prop_assert!(check(&actions).is_ok());
            let mut plain = Packet { color: Color::new(color), label: 7, ..Packet::default() };
            let mut packet = plain;
            let outcome = perform(&actions, &mut plain);
            let treatment = Treatment::from_actions(&actions);
            prop_assert_eq!((treatment.outcome(), treatment.apply(&mut packet)), (outcome, outcome));
            if let Some(steps) = Steps::from_actions(&actions) {
                steps.apply(&mut packet);
            }
            prop_assert_eq!(packet, plain);
        }
    }
}
