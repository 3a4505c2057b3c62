//! Counters of one flow.

use std::mem::offset_of;

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::{Arrivals, DelayStatistics, Drops};

/// The counters of one flow during a run.
///
/// The departure of a packet changes the first cache line. The arrival of a packet changes the first two.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct FlowCounters {
    /// Packets offered to the sender's port.
    pub offered: Count,
    /// The number of the next packet.
    pub next_sequence: u32,
    /// The index of the flow's distribution in [`Measurements::delays`](crate::Measurements). All flows of a
    /// class may use the same distribution.
    pub distribution: u32,
    /// Packets dropped in the network.
    pub dropped: Drops,
    /// Counters of arrived packets.
    pub arrivals: Arrivals,
}

const _: () = assert!(offset_of!(FlowCounters, arrivals) + Arrivals::HOT == 128, "two cache lines");

impl FlowCounters {
    /// Creates the counters of a flow, whose delays are recorded in the distribution with index
    /// `distribution`.
    pub fn new(distribution: usize) -> FlowCounters {
        FlowCounters {
            arrivals: Arrivals::default(),
            distribution: distribution as u32,
            offered: Count::default(),
            next_sequence: 0,
            dropped: Drops::default(),
        }
    }
    /// Counts `packet`, which was dropped for `cause`.
    pub fn drop(&mut self, packet: &Packet, cause: DropCause, warmup: Time) {
        if packet.sent_at >= warmup {
            self.dropped.add(cause, packet.length);
        }
    }
    /// Adds the counters of the same flow in another part of the network. Only one part contains the sender,
    /// and only one part contains the receiver.
    pub fn add_part(&mut self, part: FlowCounters) {
        self.offered.merge(part.offered);
        self.next_sequence = self.next_sequence.wrapping_add(part.next_sequence);
        for (cause, count) in DropCause::ALL.into_iter().zip(part.dropped.by_cause()) {
            if count.packets > 0 {
                self.dropped.merge(cause, count);
            }
        }
        if part.arrivals.received().packets > 0 {
            debug_assert_eq!(self.arrivals.received().packets, 0, "a flow has one receiver");
            self.arrivals = part.arrivals;
        }
    }
    /// Returns the results of the flow.
    pub fn tally(&self) -> FlowTally {
        FlowTally {
            offered: self.offered,
            delivered: self.arrivals.delivered(),
            dropped: self.dropped.by_cause(),
            received: self.arrivals.received(),
            delay: self.arrivals.delay(),
        }
    }
}

/// Results of one flow. Packets that were sent during the warm-up are counted only in `received`. For all
/// other packets, offered = delivered + dropped + in the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowTally {
    /// Packets offered to the sender's port.
    pub offered: Count,
    /// Packets that arrived at the receiver and were sent after the warm-up.
    pub delivered: Count,
    /// Packets dropped in the network, by cause.
    pub dropped: [Count; DropCause::COUNT],
    /// Packets that arrived after the warm-up, including packets that were sent during the warm-up. They
    /// determine the throughput.
    pub received: Count,
    /// The delays of the delivered packets.
    pub delay: DelayStatistics,
}

impl FlowTally {
    /// Returns the packets that were dropped for any cause.
    pub fn dropped_in_all(&self) -> Count {
        let mut sum = Count::default();
        self.dropped.iter().for_each(|count| sum.merge(*count));
        sum
    }
    /// Adds the counters of another flow.
    pub fn merge(&mut self, other: &FlowTally) {
        self.offered.merge(other.offered);
        self.delivered.merge(other.delivered);
        self.received.merge(other.received);
        self.dropped.iter_mut().zip(&other.dropped).for_each(|(own, other)| own.merge(*other));
        self.delay.merge(&other.delay);
    }
}
