//! The payload word of a simulated packet: the number of its flow (24 bits), the number of hash changes of
//! its sender (8), and the packet's number in the flow or the place of its segment (32).

use perhop_qos::packet::Packet;

/// The maximum number of flows.
pub(crate) const FLOWS: usize = 1 << 24;

/// The header fields that all packets of a flow share, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Template(pub(crate) Packet);

/// Returns the number of the flow of a packet.
pub(crate) fn flow_of(packet: &Packet) -> usize {
    flow_in(packet.payload)
}

/// Returns the number of the flow in the payload word of a packet.
pub(crate) fn flow_in(payload: u64) -> usize {
    (payload >> 40) as usize
}

/// The number of a datagram in its flow: the lower half of its payload word.
pub(crate) fn sequence_of(packet: &Packet) -> u32 {
    packet.payload as u32
}

/// Returns `payload` with the flow number `flow`.
pub(crate) fn with_flow(payload: u64, flow: usize) -> u64 {
    (flow as u64) << 40 | payload & ((1 << 40) - 1)
}

/// Returns `payload` after a further [change of the flow hash](Packet::rehash) by the sender's socket.
pub(crate) fn rehashed(payload: u64) -> u64 {
    let mut packet = Packet { payload, ..Packet::default() };
    packet.rehash();
    packet.payload
}

/// The payload word of packet `sequence` of `flow`.
pub(crate) fn payload(flow: usize, sequence: u32) -> u64 {
    (flow as u64) << 40 | u64::from(sequence)
}
