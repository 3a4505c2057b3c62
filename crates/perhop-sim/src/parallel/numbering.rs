//! [`Numbering`]: the elements of a part in the whole network.

use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use crate::setup::Crossing;

/// The numbers of a part's elements in the whole network, and its borders.
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
    /// By flow: its number in the part that its packets reach over a border, or 0.
    pub(super) onward: Vec<u32>,
    /// The links to other parts, in the order of these parts.
    pub(super) borders: Vec<Border>,
}

/// A link to another part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// Its number here.
    pub(super) link: LinkId,
    /// The other part.
    pub(super) part: usize,
    /// Its number there.
    pub(super) far_link: LinkId,
    /// Propagation delay.
    pub(super) delay: Time,
}
