//! [`Remark`]: differences between a policy and its lowered form.

/// A difference between the treatment of packets by the lowered policy and by the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// No packet reaches the queue of a class.
    Unreached {
        /// The line of the class.
        line: usize,
        /// The name of the class.
        class: String,
        /// The class that matches every packet.
        by: String,
    },
    /// The queue of a class selects packets by the mark that the nested policy has written.
    TakenByNewMark {
        /// The line of the class.
        line: usize,
        /// The name of the class.
        class: String,
    },
    /// A class writes a field by which the following queues select packets.
    QueuedByNewMark {
        /// The line of the class.
        line: usize,
        /// The name of the class.
        class: String,
    },
    /// Several limiters before a policy pass packets to each other.
    LimitersBeforePolicy,
}
