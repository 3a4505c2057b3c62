//! [`Remark`]: differences between a policy and its lowered form.

/// A place at which the lowered policy treats packets otherwise than the device, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// No packet reaches the queue of a class.
    Unreached {
        /// The line of the class.
        line: usize,
        /// Its name.
        class: String,
        /// The class that takes every packet.
        by: String,
    },
    /// A class takes its packets by the mark that the policy inside it has written.
    TakenByNewMark {
        /// The line of the class.
        line: usize,
        /// Its name.
        class: String,
    },
    /// A class writes a field by which the queues behind it select packets.
    QueuedByNewMark {
        /// The line of the class.
        line: usize,
        /// Its name.
        class: String,
    },
    /// Several limiters before a policy pass packets to each other.
    LimitersBeforePolicy,
}
