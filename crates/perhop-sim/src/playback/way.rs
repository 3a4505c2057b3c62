//! [`Way`]: what became of one packet at a port.

use perhop_qos::packet::Dscp;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

/// What became of one packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its number in the order of arrival at the port, from 0.
    pub number: u32,
    /// Index of its flow; those of fragments are behind those of all flows.
    pub flow: u32,
    /// Index of its class in results; `None` for a fragment.
    pub class: Option<u32>,
    /// IP bytes.
    pub length: u32,
    /// Codepoint behind the conditioners.
    pub dscp: Dscp,
    /// When it came to the port, before its conditioners.
    pub arrived: Time,
    /// The queue for which it was classified.
    pub queue: Option<u32>,
    /// Its drop precedence there.
    pub precedence: u32,
    /// Whether it was given the congestion-experienced codepoint.
    pub marked: bool,
    /// When its queue gave it to the transmit ring, and when it was on the wire.
    pub left: Option<(Time, Departure)>,
    /// When and why it ended, if it did.
    pub dropped: Option<(Time, DropCause)>,
}

impl Way {
    /// When nothing more happens to it here; `None` while it waits.
    pub fn ends(&self) -> Option<Time> {
        let dropped = self.dropped.map(|(at, _)| at);
        dropped.or(self.left.map(|(_, departure)| departure.ends))
    }
}
