//! [`Numbering`]: the numbers of a part's elements in the whole network.

use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use crate::setup::Crossing;

/// The elements of a part, by their numbers in the whole network, and the borders of the part.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    pub(super) flows: Vec<usize>,
    pub(super) sessions: Vec<usize>,
    pub(super) links: Vec<(LinkId, Crossing)>,
    pub(super) queue_probes: Vec<usize>,
    pub(super) connection_probes: Vec<usize>,
    pub(super) players: Vec<usize>,
    pub(super) browsers: Vec<usize>,
    pub(super) speed_tests: Vec<usize>,
    /// By flow: the number of the flow in the next part of its path, or 0 if its path ends in this part.
    pub(super) onward: Vec<u32>,
    /// The links to other parts, in the order of these parts.
    pub(super) borders: Vec<Border>,
}

/// A link to another part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// The number of the link in this part.
    pub(super) link: LinkId,
    /// The other part.
    pub(super) part: usize,
    /// The number of the mailbox for packets from this part to the other part.
    /// [`Mailboxes::new`](super::part::Mailboxes::new) sets it.
    pub(super) mailbox: usize,
    /// The number of the link in the other part.
    pub(super) far_link: LinkId,
    /// The propagation delay of the link.
    pub(super) delay: Time,
}
