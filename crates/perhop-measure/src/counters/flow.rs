//! What is counted of one flow.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::{Arrivals, DelayStatistics};

/// What is counted of one flow while packets travel.
#[derive(Clone, Debug)]
#[repr(C, align(64))] // what departures add to and what arrivals add to in few cache lines each
pub struct FlowCounters {
    /// What arrived.
    pub arrivals: Arrivals,
    /// Its place in [`Measurements::delays`](crate::Measurements), which it may share with the flows of its class.
    pub distribution: usize,
    /// Handed to the sender's port.
    pub offered: Count,
    /// The next packet's number.
    pub next_sequence: u32,
    /// Dropped on the way, by cause.
    pub dropped: [Count; DropCause::COUNT],
}

impl FlowCounters {
    /// Nothing counted yet of a flow whose delays go into `distribution`.
    pub fn new(distribution: usize) -> FlowCounters {
        FlowCounters {
            arrivals: Arrivals::default(),
            distribution,
            offered: Count::default(),
            next_sequence: 0,
            dropped: Default::default(),
        }
    }
    /// `packet` was dropped because of `cause`.
    pub fn drop(&mut self, packet: &Packet, cause: DropCause, warmup: Time) {
        if packet.sent_at >= warmup {
            self.dropped[cause.index()].add(packet.length);
        }
    }
    /// What was counted.
    pub fn tally(&self) -> FlowTally {
        FlowTally {
            offered: self.offered,
            delivered: self.arrivals.delivered(),
            dropped: self.dropped,
            received: self.arrivals.received(),
            delay: self.arrivals.delay(),
        }
    }
}

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
}

impl FlowTally {
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
