//! [`Action`]: an action of a list in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copy::CopyConfig;
use crate::error::ConfigError;
use crate::packet::{Color, Dscp, IpPrecedence, LinkMark};

/// An action; the actions of a list apply in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The packet leaves the conditioners. Later conditioners do not see it.
    Transmit,
    /// The packet is dropped.
    Drop,
    /// The packet goes on to the next conditioner.
    Continue,
    /// Sets the DSCP; an AF codepoint also sets the color to its drop precedence.
    Mark(Dscp),
    /// Sets this node's own label, 0 to 255, which a later `match` reads; it does not leave the node.
    Label(u8),
    /// Sets the IP precedence: the class selector codepoint with that precedence.
    MarkPrecedence(IpPrecedence),
    /// Sets the class of service, 0 to 7, of the VLAN tag with which the packet leaves.
    MarkCos(LinkMark),
    /// Sets the traffic class (EXP), 0 to 7, of the MPLS labels with which the packet leaves.
    MarkExp(LinkMark),
    /// Sets the color (discard class), which a later `match`, conditioner or drop precedence reads; it does
    /// not leave the node.
    Color(Color),
    /// Copies one mark into another, value by value.
    Copy(CopyConfig),
}

/// The outcome of the actions of one conditioner for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet leaves the conditioners and goes to the route or the port.
    Transmit,
    /// The packet goes to the next conditioner.
    Continue,
    /// The packet is dropped.
    Drop,
}

impl Action {
    /// The outcome after this action; `None` if the list continues.
    pub fn ends_with(&self) -> Option<Outcome> {
        match self {
            Action::Transmit => Some(Outcome::Transmit),
            Action::Drop => Some(Outcome::Drop),
            Action::Continue => Some(Outcome::Continue),
            Action::Mark(_)
            | Action::MarkPrecedence(_)
            | Action::Label(_)
            | Action::MarkCos(_)
            | Action::MarkExp(_)
            | Action::Color(_)
            | Action::Copy(_) => None,
        }
    }
}

/// Checks that every one of `actions` can take effect.
///
/// # Errors
/// If an action follows one that ends the list, or copies a field that does not exist; its index is
/// the path.
pub(crate) fn check(actions: &[Action]) -> Result<(), ConfigError> {
    for (index, action) in actions.iter().enumerate() {
        if let Action::Copy(copy) = action {
            copy.build().map_err(|error| error.within("copy").within(index))?;
        }
    }
    let ends = actions.iter().position(|action| action.ends_with().is_some());
    match ends {
        Some(end) if end + 1 < actions.len() => {
            Err(ConfigError::new("", "this action never runs, because the action before it ends the list")
                .help("transmit, drop and continue come last, and only one of them")
                .within(end + 1))
        }
        _ => Ok(()),
    }
}
