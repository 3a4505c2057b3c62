//! What is counted of one flow.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::DelayStatistics;

/// The fate of a flow's packets. Those sent during the warm-up are counted apart, so that
/// offered = delivered + dropped + in the network holds for what is left.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowTally {
    /// Handed to the sender's port.
    pub offered: Count,
    /// Arrived at the receiver.
    pub delivered: Count,
    /// Dropped on the way, by cause.
    pub dropped: [Count; DropCause::COUNT],
    /// Arrived at the receiver after the warm-up, whenever it was sent: what throughput is made of.
    pub received: Count,
    /// Delay of the delivered packets.
    pub delay: DelayStatistics,
    /// The next packet's number.
    pub next_sequence: u32,
}

impl FlowTally {
    /// `packet` was dropped because of `cause`.
    pub fn drop(&mut self, packet: &Packet, cause: DropCause, warmup: Time) {
        if packet.sent_at >= warmup {
            self.dropped[cause.index()].add(packet.length);
        }
    }
    /// Dropped for any cause.
    pub fn dropped_in_all(&self) -> Count {
        let mut sum = Count::default();
        self.dropped.iter().for_each(|count| sum.merge(*count));
        sum
    }
    /// Adds what another flow counted.
    pub fn merge(&mut self, other: &FlowTally) {
        self.offered.merge(other.offered);
        self.delivered.merge(other.delivered);
        self.received.merge(other.received);
        self.dropped.iter_mut().zip(&other.dropped).for_each(|(own, other)| own.merge(*other));
        self.delay.merge(&other.delay);
    }
}
