//! The payload word of a simulated packet: which flow it belongs to, and its number there or its segment's
//! place.

use perhop_qos::packet::Packet;

/// The flow that a packet belongs to: the high half of its payload word.
pub(crate) fn flow_of(packet: &Packet) -> usize {
    (packet.payload >> 32) as usize
}

/// The number of a datagram in its flow: the low half of its payload word.
pub(crate) fn sequence_of(packet: &Packet) -> u32 {
    packet.payload as u32
}

/// The payload word of packet `sequence` of `flow`.
pub(crate) fn payload(flow: usize, sequence: u32) -> u64 {
    (flow as u64) << 32 | u64::from(sequence)
}
