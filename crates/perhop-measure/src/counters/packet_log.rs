//! Log of individual packets.

use perhop_qos::units::Time;

/// The delivered packets of some flows, as columns.
#[derive(Clone, Debug, Default)]
pub struct PacketLog {
    /// Whether packets are logged, by index of the flow.
    pub kept: Vec<bool>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Number of the packet in its flow, from 0; numbers of packets that did not arrive are missing.
    pub number: Vec<u32>,
    /// Time of sending.
    pub sent: Vec<Time>,
    /// Length of the IP packet, bytes.
    pub bytes: Vec<u32>,
    /// One-way delay.
    pub delay: Vec<Time>,
}

impl PacketLog {
    /// Logs packet `number` of `flow`, of `bytes` IP bytes, sent at `sent`, with `delay`.
    pub fn record(&mut self, flow: usize, number: u32, bytes: u32, sent: Time, delay: Time) {
        if self.kept.get(flow).is_some_and(|kept| *kept) {
            self.flow.push(flow as u32);
            self.number.push(number);
            self.sent.push(sent);
            self.bytes.push(bytes);
            self.delay.push(delay);
        }
    }
}
