//! [`Emission`]: a packet of a source.

use perhop_qos::packet::Dscp;
use perhop_qos::units::Time;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Time of sending.
    pub at: Time,
    /// Length of the IP packet, bytes.
    pub length: u32,
    /// Codepoint, if the source sets it.
    pub dscp: Option<Dscp>,
}

impl Emission {
    /// The next packet of a source that has ended.
    pub const NEVER: Emission = Emission { at: Time::MAX, length: 0, dscp: None };
}
