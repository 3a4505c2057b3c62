//! Actions: what a traffic conditioner does with a packet of a given color (RFC 3290 §6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Carries `actions` out on `packet`. A list that ends without saying where the packet goes transmits it.
pub fn perform(actions: &[Action], packet: &mut Packet) -> Outcome {
    for action in actions {
        match *action {
            Action::Transmit => return Outcome::Transmit,
            Action::Drop => return Outcome::Drop,
            Action::Continue => return Outcome::Continue,
            Action::Mark(dscp) => mark(packet, dscp),
            Action::MarkPrecedence(precedence) => packet.dscp = precedence.class_selector(),
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
