//! [`Entrance`]: the treatment of the frames that arrive on a device; [`Input`]: an interface's input side.

use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::packet::Ingress;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::config::OtherFrames;

/// The treatment of the frames that arrive on a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrance {
    /// Index of the [`Input`] whose conditioners the packets of the frames pass first.
    pub(super) input: Option<usize>,
    /// The direction that the packets of the frames enter. With `None`, the packets are routed.
    pub(super) direction: Option<LinkId>,
    /// The treatment of frames without an IP packet.
    pub(super) others: OtherFrames,
}

impl Entrance {
    /// The direction to which frames without an IP packet are passed; `None` if they are not passed.
    pub(super) fn passes_others_to(self) -> Option<LinkId> {
        self.direction.filter(|_| self.others == OtherFrames::Pass)
    }
}

/// The input side of an interface whose far end is in another process.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) conditioner: TrafficConditioner,
    pub(super) ingress: Ingress,
    /// Packets dropped by the conditioners of the input, by cause.
    pub(crate) dropped: [Count; DropCause::COUNT],
}
