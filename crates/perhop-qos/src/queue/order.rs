//! [`Order`]: the packets of a queue that is not a simple FIFO.

use super::dual::DualQueue;
use super::fair_queueing::{FlowQueues, Room};
use super::sparse::SparseFlows;
use super::stay::Stay;
use crate::accounting::Accounting;
use crate::{Packet, Time};

/// A queue order other than the order of arrival.
///
/// The functions are not inlined into the path of all queues, because they would slow down plain queues.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Flows in fair queueing.
    Fair(FlowQueues),
    /// Flows that take turns. Sparse flows are served first.
    Sparse(SparseFlows),
    /// A low-latency queue and a classic queue.
    Dual(DualQueue),
    /// A tin, whose packets are stored in [`Cake`](crate::cake::Cake).
    Tin,
}

/// The step that a queue needs before or after a packet joins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The packet joins without a further step.
    Open,
    /// The caller must [make room](super::Queue::make_room) before the packet joins.
    MakesRoom,
    /// The caller must drop packets after the packet has joined, while the queue [exceeds its
    /// limit](super::Queue::exceeds_limit).
    DropsAfterwards,
    /// The caller must store the packet in [`Cake`](crate::cake::Cake).
    Tin,
}

impl Order {
    /// Sets the accounting that fair queueing uses.
    pub(super) fn count(&mut self, accounting: Accounting) {
        match self {
            Order::Sparse(_) | Order::Dual(_) | Order::Tin => {}
            Order::Fair(flows) => flows.count(accounting),
        }
    }
    #[inline(never)]
    pub(super) fn head(&self) -> Option<&Packet> {
        match self {
            Order::Fair(flows) => flows.head(),
            Order::Sparse(flows) => flows.head(),
            Order::Dual(queues) => queues.head(),
            Order::Tin => None,
        }
    }
    #[inline]
    pub(super) fn entrance(&self) -> Entrance {
        match self {
            Order::Fair(_) => Entrance::MakesRoom,
            Order::Sparse(_) => Entrance::DropsAfterwards,
            Order::Dual(_) => Entrance::Open,
            Order::Tin => Entrance::Tin,
        }
    }
    #[inline(never)]
    pub(super) fn make_room(&mut self, packet: &Packet) -> Room {
        match self {
            Order::Sparse(_) | Order::Dual(_) | Order::Tin => Room::Free,
            Order::Fair(flows) => flows.make_room(packet),
        }
    }
    #[inline(never)]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        match self {
            Order::Fair(flows) => flows.push(*packet),
            Order::Sparse(flows) => flows.push(now, packet),
            Order::Dual(queues) => queues.push(now, packet),
            Order::Tin => {}
        }
    }
    /// Removes the head, which must exist.
    #[inline(never)]
    pub(super) fn drop_head(&mut self) -> Stay {
        match self {
            Order::Fair(flows) => {
                flows.drop_head();
                Stay::default()
            }
            Order::Sparse(flows) => flows.drop_head(),
            Order::Dual(queues) => queues.drop_head(),
            Order::Tin => Stay::default(),
        }
    }
    /// Records that the packet of `length` IP bytes that left the head of `flow` was dropped and not sent.
    pub(super) fn refund(&mut self, flow: u16, length: u32) {
        match self {
            Order::Fair(_) | Order::Tin => {}
            Order::Sparse(flows) => flows.refund(flow, length),
            Order::Dual(queues) => queues.head_dropped(),
        }
    }
    /// Whether the limit is exceeded.
    #[inline]
    pub(super) fn exceeds_limit(&self) -> bool {
        match self {
            Order::Sparse(flows) => flows.exceeds_limit(),
            Order::Fair(_) | Order::Dual(_) | Order::Tin => false,
        }
    }
    /// Removes and returns the next packet to discard, with its flow, or `None` if the queue need not discard
    /// a packet.
    pub(super) fn discard_excess(&mut self) -> Option<(Packet, u16)> {
        match self {
            Order::Fair(_) | Order::Dual(_) | Order::Tin => None,
            Order::Sparse(flows) => flows.discard_excess(),
        }
    }
    /// The packets. With fair queueing, they are listed flow by flow.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        let (mut fair, mut sparse, mut dual) = (None, None, None);
        match self {
            Order::Fair(flows) => fair = Some(flows.iter()),
            Order::Sparse(flows) => sparse = Some(flows.iter()),
            Order::Dual(queues) => dual = Some(queues.iter()),
            Order::Tin => {}
        }
        let flows = fair.into_iter().flatten().chain(sparse.into_iter().flatten());
        flows.chain(dual.into_iter().flatten())
    }
}
