//! [`PacketRecord`]: the record of one packet at a port.

use perhop_qos::packet::Dscp;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

/// The record of one packet at a port: its arrival and its departure or drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// The number of the packet in the order of arrival at the port, from 0.
    pub number: u32,
    /// The number of the flow. Fragments have numbers above those of all flows.
    pub flow: u32,
    /// The index of the class in results; `None` for a fragment.
    pub class: Option<u32>,
    /// The length of the packet, IP bytes.
    pub length: u32,
    /// The codepoint after the conditioners.
    pub dscp: Dscp,
    /// The time of arrival at the port, before the conditioners.
    pub arrived: Time,
    /// The queue that the classifier selected; `None` if the packet was dropped before the classifier.
    pub queue: Option<u32>,
    /// The drop precedence of the packet in the queue.
    pub precedence: u32,
    /// Whether the packet has an ECN mark.
    pub marked: bool,
    /// The time at which the packet left its queue for the transmit ring, and the transmission on the wire.
    pub left: Option<(Time, Departure)>,
    /// The time and cause of the drop, if the packet was dropped.
    pub dropped: Option<(Time, DropCause)>,
}

impl PacketRecord {
    /// The time of the packet's last event at this port; `None` while it waits.
    pub fn ends(&self) -> Option<Time> {
        let dropped = self.dropped.map(|(at, _)| at);
        dropped.or(self.left.map(|(_, departure)| departure.ends))
    }
}
