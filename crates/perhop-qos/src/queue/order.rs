//! [`Order`]: the packets of a queue that knows more of them than their order of arrival.

use super::timed::TimedPackets;
use super::{FlowQueues, Room, Stay};
use crate::accounting::Accounting;
use crate::{Packet, Time};

/// Packets that are kept in another way than a plain queue does.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// In order of arrival, with the times at which they joined.
    Timed(TimedPackets),
    /// Fair queueing of flows.
    Fair(FlowQueues),
}

impl Order {
    /// Counts as `accounting` says from now on, where it shares out bytes.
    pub(super) fn count(&mut self, accounting: Accounting) {
        match self {
            Order::Timed(_) => {}
            Order::Fair(flows) => flows.count(accounting),
        }
    }
    /// Whether what joins stands behind the head.
    pub(super) fn is_fifo(&self) -> bool {
        match self {
            Order::Timed(_) => true,
            Order::Fair(_) => false,
        }
    }
    #[inline]
    pub(super) fn head(&self) -> Option<&Packet> {
        match self {
            Order::Timed(packets) => packets.head(),
            Order::Fair(flows) => flows.head(),
        }
    }
    pub(super) fn make_room(&mut self, packet: &Packet) -> Room {
        match self {
            Order::Timed(_) => Room::Free,
            Order::Fair(flows) => flows.make_room(packet),
        }
    }
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        match self {
            Order::Timed(packets) => packets.push(now, packet),
            Order::Fair(flows) => flows.push(*packet),
        }
    }
    /// Forgets the head, which there must be.
    #[inline]
    pub(super) fn drop_head(&mut self) -> Stay {
        match self {
            Order::Timed(packets) => packets.drop_head(),
            Order::Fair(flows) => {
                flows.drop_head();
                Stay::default()
            }
        }
    }
    /// The packets; where flows are served fairly, flow by flow.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        match self {
            Order::Timed(packets) => Box::new(packets.iter()),
            Order::Fair(flows) => Box::new(flows.iter()),
        }
    }
}
