//! [`Tap`]: records the packets on one direction of a link.

use std::collections::VecDeque;

use perhop_capture::FragmentFields;
use perhop_net::DropPoint;
use perhop_qos::packet::Packet;
use perhop_qos::policy::WireConfig;
use perhop_qos::port::{RateChange, RateChanges};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::session::Carried;

/// A recorded packet.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The time at which the first bit of the packet was sent on the wire. For a packet that was dropped
    /// before, the time of the drop.
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    pub(crate) contents: Contents,
    /// The cause and place of the drop, if the packet was dropped at this link.
    pub(crate) dropped: Option<(DropCause, DropPoint)>,
}

/// The contents of a recorded packet.
#[derive(Clone, Debug)]
pub(crate) enum Contents {
    /// A datagram that no interface fragments.
    Datagram,
    /// A fragment, or a datagram that may be fragmented.
    Fragment(FragmentFields),
    /// A TCP segment.
    Segment(Carried),
}

/// The records of one direction of a link that are not written yet. `crossed` and `dropped` are in the order
/// of time in both engines, because packets keep their order on a wire and arrive at a port in the order of
/// time.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    pub(crate) wire: WireConfig,
    /// The rate changes of the link.
    changes: Option<Box<RateChanges>>,
    delay: Time,
    crossed: VecDeque<Record>,
    dropped: VecDeque<Record>,
}

impl Tap {
    /// Creates a tap on a `wire` with a propagation `delay`. `changes` are the rate changes of the wire.
    pub(crate) fn new(wire: WireConfig, changes: &[RateChange], delay: Time) -> Tap {
        let changes = if changes.is_empty() { None } else { RateChanges::new(wire.rate, changes).ok() };
        Tap {
            wire,
            changes: changes.map(Box::new),
            delay,
            crossed: VecDeque::new(),
            dropped: VecDeque::new(),
        }
    }
    /// Returns the time at which the first bit of `packet` was sent, if the last bit arrived at `arrived`. On
    /// a link that fragments packets, returns the time of the first bit of the last fragment.
    pub(crate) fn began(&self, arrived: Time, packet: &Packet) -> Time {
        let bytes = self.wire.last_bytes(packet.length);
        if let Some(changes) = &self.changes {
            return changes.began(arrived.saturating_sub(self.delay), bytes);
        }
        let takes = self.wire.rate.transmission_time(bytes);
        arrived.saturating_sub(self.delay + takes)
    }

    /// Records that `packet` arrived at the far end, before the far node processes it.
    pub(crate) fn crossed(&mut self, arrived: Time, packet: &Packet, contents: Contents) {
        let time = self.began(arrived, packet);
        self.crossed.push_back(Record { time, packet: *packet, contents, dropped: None });
    }
    /// Records that `packet` was dropped at `point`. If the point is after the wire, `packet` is the last
    /// packet that [`crossed`](Tap::crossed).
    pub(crate) fn dropped(
        &mut self,
        now: Time,
        packet: &Packet,
        contents: Contents,
        cause: DropCause,
        point: DropPoint,
    ) {
        let dropped = Some((cause, point));
        if point.is_beyond_port() {
            if let Some(last) = self.crossed.back_mut() {
                last.dropped = dropped;
            }
        } else {
            self.dropped.push_back(Record { time: now, packet: *packet, contents, dropped });
        }
    }

    /// Returns the time of the next record.
    pub(crate) fn next(&self) -> Option<Time> {
        let fronts = [self.crossed.front(), self.dropped.front()];
        fronts.into_iter().flatten().map(|record| record.time).min()
    }
    /// Removes and returns the next record. If two records have equal times, the record of the packet on the
    /// wire comes first.
    pub(crate) fn take(&mut self) -> Option<Record> {
        match (self.crossed.front(), self.dropped.front()) {
            (Some(crossed), Some(dropped)) if dropped.time < crossed.time => self.dropped.pop_front(),
            (Some(_), _) => self.crossed.pop_front(),
            (None, _) => self.dropped.pop_front(),
        }
    }
}
