//! [`LabelSwitching`]: the labels of a packet in a device, and the effect of policies on packets with labels.

use std::borrow::Cow;

use perhop_device::intent::{VisibleHeader, behind_labels};
use perhop_qos::Packet;
use perhop_qos::packet::{Encapsulation, LinkMark};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use super::answer::Stage;

/// The labels of a packet in a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelSwitching {
    /// Whether the packet arrives with labels.
    pub(crate) arrives_labeled: bool,
    /// The routing table of the destination address.
    pub(crate) table: TableChoice,
    /// The stages before the forwarding decision. If the caller chooses the output port, they replace the
    /// decision.
    pub(crate) before: Vec<Stage>,
    /// The stages after the forwarding decision.
    pub(crate) after: Vec<Stage>,
    /// The labels with which the packet leaves.
    pub(crate) leaves: LeavingLabels,
}

/// The choice of the routing table for the destination address of a packet.
#[derive(Clone, Debug, Default)]
pub(crate) enum TableChoice {
    /// The table of the port on which the packet arrives.
    #[default]
    OfPort,
    /// The table that a label selects: a VRF, or the global table (`None`).
    OfLabel(Option<String>),
}

impl TableChoice {
    /// Returns the name of the table. `vrf` is the table of the port on which the packet arrives.
    pub(crate) fn vrf<'t>(&'t self, vrf: Option<&'t str>) -> Option<&'t str> {
        match self {
            TableChoice::OfPort => vrf,
            TableChoice::OfLabel(vrf) => vrf.as_deref(),
        }
    }
}

/// The labels with which a packet leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LeavingLabels {
    /// No labels.
    #[default]
    None,
    /// New labels. Their EXP is the EXP that the device has set, otherwise the EXP of the received top label,
    /// otherwise the precedence (RFC 3270 §2.6.3).
    New,
    /// The label below a removed label, with its own EXP. The EXP of the removed label is lost (RFC 3270
    /// §2.6.2: the pipe models).
    Exposed(LinkMark),
}

impl LeavingLabels {
    /// Returns the header by which the output policy classifies the packet.
    pub(super) fn visible(self) -> VisibleHeader {
        if self == LeavingLabels::None { VisibleHeader::Ip } else { VisibleHeader::Labels }
    }

    /// Updates the marks of a packet that leaves through a port. `encapsulation` states the headers of its
    /// link.
    pub(super) fn depart(self, packet: &mut Packet, encapsulation: Encapsulation) {
        if let LeavingLabels::Exposed(exp) = self {
            packet.set_exp(exp);
        }
        packet.depart(Encapsulation { labels: self != LeavingLabels::None, ..encapsulation });
    }
}

/// Returns the policy for a packet of which the device can read only the header `visible`. Conditions on
/// hidden fields never match.
pub(super) fn seen(config: &PolicyConfig, visible: VisibleHeader) -> Cow<'_, PolicyConfig> {
    if visible == VisibleHeader::Ip {
        return Cow::Borrowed(config);
    }
    let mut config = config.clone();
    for conditioner in &mut config.conditioners {
        conditioner.matches = conditioner.matches.as_ref().map(behind_labels);
    }
    if let Some(queueing) = &mut config.queueing {
        hide(queueing);
    }
    Cow::Owned(config)
}

fn hide(queueing: &mut QueueingConfig) {
    for class in &mut queueing.classes {
        class.matches = class.matches.as_ref().map(behind_labels);
        if let Some(inner) = &mut class.queueing {
            hide(inner);
        }
    }
}
