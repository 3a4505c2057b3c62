//! Packets one by one.

use perhop_qos::units::Time;

/// The delivered packets of some flows, as columns.
#[derive(Clone, Debug, Default)]
pub struct PacketLog {
    /// Whether a flow's packets are kept, by its index.
    pub kept: Vec<bool>,
    /// Flow.
    pub flow: Vec<u32>,
    /// Number of the packet in its flow, from 0; gaps are packets that did not arrive.
    pub number: Vec<u32>,
    /// When it was sent.
    pub sent: Vec<Time>,
    /// IP bytes.
    pub bytes: Vec<u32>,
    /// One-way delay.
    pub delay: Vec<Time>,
}

impl PacketLog {
    /// Packet `number` of `flow`, of `bytes` IP bytes, sent at `sent`, took `delay`.
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
