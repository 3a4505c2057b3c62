//! Actions: what a traffic conditioner does with a packet of a given color (RFC 3290 §6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::packet::{Dscp, IpPrecedence, Packet};

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

/// Where a packet goes after `actions`. A list that does not say transmits it.
pub(crate) fn outcome(actions: &[Action]) -> Outcome {
    actions.iter().find_map(|action| action.ends_with()).unwrap_or(Outcome::Transmit)
}

/// Carries `actions` out on `packet`, and says where it goes.
pub(crate) fn perform(actions: &[Action], packet: &mut Packet) -> Outcome {
    for action in actions {
        match *action {
            Action::Mark(dscp) => mark(packet, dscp),
            // The color stays: a class selector carries none.
            Action::MarkPrecedence(precedence) => packet.dscp = precedence.class_selector(),
            Action::Label(label) => packet.label = label,
            Action::Transmit => return Outcome::Transmit,
            Action::Drop => return Outcome::Drop,
            Action::Continue => return Outcome::Continue,
        }
    }
    Outcome::Transmit
}

fn mark(packet: &mut Packet, dscp: Dscp) {
    packet.dscp = dscp;
    // RFC 2597 §6: in an AF codepoint the drop precedence is the color. Other codepoints carry none,
    // and the color that a meter gave stays with the packet inside this node.
    if dscp.is_assured_forwarding() {
        packet.color = dscp.color();
    }
}
