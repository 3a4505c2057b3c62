//! [`Action`]: an action of a list in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copy::CopyConfig;
use crate::error::ConfigError;
use crate::packet::{Color, Dscp, IpPrecedence, LinkMark};

/// An action. The actions of a list are applied in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The packet leaves the conditioners. Later conditioners do not process it.
    Transmit,
    /// The packet is dropped.
    Drop,
    /// The packet goes to the next conditioner.
    Continue,
    /// Sets the DSCP. An AF codepoint also sets the color to its drop precedence.
    Mark(Dscp),
    /// Sets this node's own label, 0 to 255. A later `match` can read the label, but the packet leaves the
    /// node without it.
    Label(u8),
    /// Sets the IP precedence by setting the DSCP to the class selector codepoint of that precedence.
    MarkPrecedence(IpPrecedence),
    /// Sets the class of service, 0 to 7, in the VLAN tag of the packet when the packet leaves the node.
    MarkCos(LinkMark),
    /// Sets the traffic class (EXP), 0 to 7, in the MPLS labels of the packet when the packet leaves the
    /// node.
    MarkExp(LinkMark),
    /// Sets the color (discard class). A later `match`, conditioner or drop precedence can read the color,
    /// but the packet leaves the node without it.
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
    /// Returns the outcome after this action. Returns `None` if the list continues.
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

/// Checks that each of `actions` can take effect.
///
/// # Errors
/// An action follows another one that ends the list, or an action copies a value or a mark that does not
/// exist. The path of the error is the index of the action.
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
                .help("write transmit, drop or continue last, and only one of them")
                .within(end + 1))
        }
        _ => Ok(()),
    }
}
