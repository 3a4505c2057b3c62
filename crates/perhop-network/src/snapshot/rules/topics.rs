//! [`Topic`]: the part of a line that a finding is about. [`Cause`]: a topic with the precision of a finding.

/// The part of a line that a finding disputes. Findings about different parts of a line have different
/// causes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// The policy that a line attaches to a port, or the direction of the attachment.
    Attachment,
    /// The classes of these codepoints.
    Classes(String),
    /// The mark that a line writes.
    Mark,
    /// The queues for classes, which a port or a shaper lacks.
    Queues,
    /// The rate that a line states.
    Rate,
    /// A setting of a port.
    Setting(&'static str),
    /// The tag of a sub-interface.
    Tag,
    /// A VLAN that a trunk lacks.
    Vlan(u16),
}

/// The precision with which a finding describes its cause, from the least precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    /// Another function does not work because of the cause.
    Effect,
    /// The line differs from other lines, or from the other end.
    Comparison,
    /// The finding states the missing part or the expected value, or follows from the meaning of the line.
    Exact,
}

/// A topic with the precision of the finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cause {
    pub(super) topic: Topic,
    pub(super) precision: Precision,
}
