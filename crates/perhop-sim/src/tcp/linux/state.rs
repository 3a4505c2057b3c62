//! State of loss recovery, as Linux names it.

/// State of the sender, in the order of how much is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing is known to be wrong.
    Open,
    /// Segments were delivered out of order; none is held to be lost yet.
    Disorder,
    /// The window is being reduced because of ECN marks.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// What is known of losses, as Linux' `TCP_INFO` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRecovery {
    /// What the sender is doing about losses.
    pub state: State,
    /// Segments that are held to be lost.
    pub lost: u32,
    /// Segments that were selectively acknowledged; without SACK, duplicate acknowledgments.
    pub sacked: u32,
    /// Segments by which deliveries are found out of order at most, before that means loss.
    pub reordering: u32,
}
