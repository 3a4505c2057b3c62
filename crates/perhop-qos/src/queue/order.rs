//! [`Order`]: the packets of a queue that knows more of them than their order of arrival.

use super::dual::DualQueue;
use super::fair_queueing::{FlowQueues, Room};
use super::sparse::SparseFlows;
use super::stay::Stay;
use super::timed::TimedPackets;
use crate::accounting::Accounting;
use crate::{Packet, Time};

/// Packets that are kept in another way than a plain queue does.
///
/// What it does is called, not built into every queue's way: plain queues would pay for it.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// In order of arrival, with the times at which they joined.
    Timed(TimedPackets),
    /// Fair queueing of flows.
    Fair(FlowQueues),
    /// Flows in turns, those that send little first.
    Sparse(SparseFlows),
    /// Those with low latency beside the others.
    Dual(DualQueue),
    /// [`Cake`](crate::cake::Cake) keeps them.
    Tin,
}

impl Order {
    /// Counts as `accounting` says from now on, where it shares out bytes.
    pub(super) fn count(&mut self, accounting: Accounting) {
        match self {
            Order::Timed(_) | Order::Sparse(_) | Order::Dual(_) | Order::Tin => {}
            Order::Fair(flows) => flows.count(accounting),
        }
    }
    /// Whether what joins stands behind the head.
    #[inline]
    pub(super) fn is_fifo(&self) -> bool {
        match self {
            Order::Timed(_) => true,
            Order::Fair(_) | Order::Sparse(_) | Order::Dual(_) | Order::Tin => false,
        }
    }
    #[inline(never)]
    pub(super) fn head(&self) -> Option<&Packet> {
        match self {
            Order::Timed(packets) => packets.head(),
            Order::Fair(flows) => flows.head(),
            Order::Sparse(flows) => flows.head(),
            Order::Dual(queues) => queues.head(),
            Order::Tin => None,
        }
    }
    #[inline(never)]
    pub(super) fn make_room(&mut self, packet: &Packet) -> Room {
        match self {
            Order::Timed(_) | Order::Sparse(_) | Order::Dual(_) | Order::Tin => Room::Free,
            Order::Fair(flows) => flows.make_room(packet),
        }
    }
    #[inline(never)]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        match self {
            Order::Timed(packets) => packets.push(now, packet),
            Order::Fair(flows) => flows.push(*packet),
            Order::Sparse(flows) => flows.push(now, packet),
            Order::Dual(queues) => queues.push(now, packet),
            Order::Tin => {}
        }
    }
    /// Forgets the head, which there must be.
    #[inline(never)]
    pub(super) fn drop_head(&mut self) -> Stay {
        match self {
            Order::Timed(packets) => packets.drop_head(),
            Order::Fair(flows) => {
                flows.drop_head();
                Stay::default()
            }
            Order::Sparse(flows) => flows.drop_head(),
            Order::Dual(queues) => queues.drop_head(),
            Order::Tin => Stay::default(),
        }
    }
    /// The head of `flow`, a packet of `length` IP bytes that had left it, was dropped, not sent.
    pub(super) fn refund(&mut self, flow: u16, length: u32) {
        match self {
            Order::Timed(_) | Order::Fair(_) | Order::Tin => {}
            Order::Sparse(flows) => flows.refund(flow, length),
            Order::Dual(queues) => queues.head_dropped(),
        }
    }
    /// Another packet that it gives up because it holds too many, and the flow of that.
    pub(super) fn shed(&mut self) -> Option<(Packet, u16)> {
        match self {
            Order::Timed(_) | Order::Fair(_) | Order::Dual(_) | Order::Tin => None,
            Order::Sparse(flows) => flows.shed(),
        }
    }
    /// The packets; where flows are served fairly, flow by flow.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        let (mut timed, mut fair, mut sparse, mut dual) = (None, None, None, None);
        match self {
            Order::Timed(packets) => timed = Some(packets.iter()),
            Order::Fair(flows) => fair = Some(flows.iter()),
            Order::Sparse(flows) => sparse = Some(flows.iter()),
            Order::Dual(queues) => dual = Some(queues.iter()),
            Order::Tin => {}
        }
        let plain = timed.into_iter().flatten().chain(fair.into_iter().flatten());
        plain.chain(sparse.into_iter().flatten()).chain(dual.into_iter().flatten())
    }
}
