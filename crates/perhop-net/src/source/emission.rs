//! [`Emission`]: a packet of a source.

use perhop_qos::packet::Dscp;
use perhop_qos::units::Time;

/// A packet that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// The time of sending.
    pub at: Time,
    /// The length of the IP packet, bytes.
    pub length: u32,
    /// The codepoint; `None` if the codepoint of the flow applies.
    pub dscp: Option<Dscp>,
}

impl Emission {
    /// The next packet of a source that has ended.
    pub const NEVER: Emission = Emission { at: Time::MAX, length: 0, dscp: None };
}
