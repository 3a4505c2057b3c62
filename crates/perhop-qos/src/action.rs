//! Actions: what a traffic conditioner does with a packet of a given color (RFC 3290 §6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::packet::{Color, Dscp, IpPrecedence, Packet};

/// One action; a list of them is carried out in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The packet leaves the conditioners and goes on; later ones do not see it.
    Transmit,
    /// The packet ends here.
    Drop,
    /// The packet goes on to the next conditioner.
    Continue,
    /// Sets the DSCP; an AF codepoint also sets the color to its drop precedence.
    Mark(Dscp),
    /// Sets this node's own label, 0 to 255, which a later `match` reads; it does not leave the node.
    Label(u8),
    /// Sets the IP precedence: the class selector codepoint with that precedence.
    MarkPrecedence(IpPrecedence),
}

/// Where a packet goes after the actions of one conditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Out of the conditioners, on to the route or the port.
    Transmit,
    /// On to the next conditioner.
    Continue,
    /// Nowhere.
    Drop,
}

impl Action {
    /// Where the packet goes after it; `None` where the list goes on.
    fn ends_with(self) -> Option<Outcome> {
        match self {
            Action::Transmit => Some(Outcome::Transmit),
            Action::Drop => Some(Outcome::Drop),
            Action::Continue => Some(Outcome::Continue),
            Action::Mark(_) | Action::MarkPrecedence(_) | Action::Label(_) => None,
        }
    }
}

/// Whether `actions` are all carried out.
///
/// # Errors
/// Where an action stands after one that sends the packet away; its index is the path.
pub(crate) fn check(actions: &[Action]) -> Result<(), ConfigError> {
    let ends = actions.iter().position(|action| action.ends_with().is_some());
    match ends {
        Some(end) if end + 1 < actions.len() => {
            Err(ConfigError::new("", "this action is never carried out: the one before it ends the list")
                .help("transmit, drop and continue come last, and only one of them")
                .within(end + 1))
        }
        _ => Ok(()),
    }
}

/// What a list of actions amounts to, as the packet path carries it out.
#[derive(Clone, Debug)]
pub(crate) struct Treatment {
    dscp: Option<Dscp>,
    color: Option<Color>,
    label: Option<u8>,
    outcome: Outcome,
}

impl Treatment {
    /// All of `actions`, one after the other. A list that does not say where the packet goes transmits it.
    pub(crate) fn of(actions: &[Action]) -> Treatment {
        let nothing = Treatment { dscp: None, color: None, label: None, outcome: Outcome::Transmit };
        actions.iter().fold(nothing, |before, action| match *action {
            // RFC 2597 §6: in an AF codepoint the drop precedence is the color. Other codepoints carry none,
            // and the color that a meter gave stays with the packet inside this node.
            Action::Mark(dscp) if dscp.is_assured_forwarding() => {
                Treatment { dscp: Some(dscp), color: Some(dscp.color()), ..before }
            }
            Action::Mark(dscp) => Treatment { dscp: Some(dscp), ..before },
            Action::MarkPrecedence(precedence) => {
                Treatment { dscp: Some(precedence.class_selector()), ..before }
            }
            Action::Label(label) => Treatment { label: Some(label), ..before },
            Action::Transmit => Treatment { outcome: Outcome::Transmit, ..before },
            Action::Drop => Treatment { outcome: Outcome::Drop, ..before },
            Action::Continue => Treatment { outcome: Outcome::Continue, ..before },
        })
    }
    /// Where a packet goes.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }
    /// Does it to `packet`, and says where it goes.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Carries `actions` out one by one.
    fn perform(actions: &[Action], packet: &mut Packet) -> Outcome {
        for action in actions {
            match *action {
                Action::Mark(dscp) => {
                    packet.dscp = dscp;
                    if dscp.is_assured_forwarding() {
                        packet.color = dscp.color();
                    }
                }
                Action::MarkPrecedence(precedence) => packet.dscp = precedence.class_selector(),
                Action::Label(label) => packet.label = label,
                Action::Transmit => return Outcome::Transmit,
                Action::Drop => return Outcome::Drop,
                Action::Continue => return Outcome::Continue,
            }
        }
        Outcome::Transmit
    }

    fn changes() -> impl Strategy<Value = Action> {
        let dscp = || (0..64u8).prop_map(|value| Dscp::new(value).unwrap());
        prop_oneof![
            dscp().prop_map(Action::Mark),
            dscp().prop_map(|dscp| Action::MarkPrecedence(dscp.precedence())),
            any::<u8>().prop_map(Action::Label),
        ]
    }

    proptest! {
        #[test]
        fn a_treatment_is_its_actions_one_by_one(
            mut actions in prop::collection::vec(changes(), 0..5),
            end in prop::option::of(prop::sample::select(vec![Action::Transmit, Action::Drop, Action::Continue])),
            color in 0..Color::COUNT,
        ) {
            actions.extend(end);
            prop_assert!(check(&actions).is_ok());
            let mut plain = Packet { color: Color::new(color), label: 7, ..Packet::default() };
            let mut packet = plain;
            let outcome = perform(&actions, &mut plain);
            let treatment = Treatment::of(&actions);
            prop_assert_eq!((treatment.outcome(), treatment.apply(&mut packet)), (outcome, outcome));
            prop_assert_eq!(packet, plain);
        }
    }
}
