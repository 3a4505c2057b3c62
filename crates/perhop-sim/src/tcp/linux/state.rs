//! State of loss recovery, with Linux's names.

/// The state of the sender. The states are in order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No loss or reordering is suspected.
    Open,
    /// Segments were delivered out of order, but no segment is declared lost yet.
    Disorder,
    /// The window is being reduced because of ECN marks.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Loss recovery after a timeout.
    Loss,
}

/// The state of loss recovery, as in Linux's `TCP_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRecovery {
    /// The state of the sender.
    pub state: State,
    /// The number of segments that are declared lost.
    pub lost: u32,
    /// The number of SACKed segments. Without SACK, the number of duplicate acknowledgments.
    pub sacked: u32,
    /// The maximum reordering of deliveries that does not indicate a loss, segments.
    pub reordering: u32,
}
