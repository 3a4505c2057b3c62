//! [`Counting`]: an observer of a port that counts its packets at their levels.

use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{Packet, TcpHeader};
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use super::Pauses;

/// The reason for the current call of the port. It determines whether a dropped packet must be removed from
/// its level: a packet that is dropped during a departure was counted when it joined its queue, a packet that
/// is dropped during an arrival was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// A packet arrives.
    Arrival,
    /// Packets leave.
    Departure,
}

/// Counts the packets of the port of `link` at their levels, and forwards the events of the port to `next`.
pub(super) struct Counting<'a, O> {
    pub(super) pauses: &'a mut Pauses,
    pub(super) link: LinkId,
    pub(super) call: Call,
    pub(super) next: O,
}

impl<O: Observer> Observer for Counting<'_, O> {
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        self.next.tcp_header(packet)
    }
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        self.next.arrived(now, place, packet);
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.pauses.joined(self.link, place.queue, packet);
        self.next.enqueued(now, place, packet);
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        if let (Call::Departure, Some(place)) = (self.call, place) {
            self.pauses.left(self.link, place.queue, packet);
        }
        self.next.dropped(now, place, packet, cause);
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        self.next.marked(now, place, packet);
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.pauses.left(self.link, place.queue, packet);
        self.next.dequeued(now, place, packet, departure);
    }
}
