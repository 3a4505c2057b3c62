//! [`PortCounters`]: counts the events at the port of one direction, and forwards drops to a [`DropSink`].

use perhop_measure::counters::{PortTally, Tally};
use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{Packet, TcpHeader};
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

/// The place at a link where a packet is dropped, in the order of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropPoint {
    /// At the output conditioners.
    Output,
    /// At the port. `Some` is the selected queue; `None` means that no queue was selected.
    Port(Option<Place>),
    /// On the wire.
    Wire,
    /// At the input conditioners of the far end.
    Input,
}

impl DropPoint {
    /// Whether the packet had been on the wire.
    pub fn is_beyond_port(self) -> bool {
        matches!(self, DropPoint::Wire | DropPoint::Input)
    }
}

/// A recipient of the drops in a network.
pub trait DropSink {
    /// Handles the drop of `packet` at `point` of `link`.
    fn dropped(&mut self, now: Time, link: LinkId, packet: &Packet, cause: DropCause, point: DropPoint);
    /// Returns the TCP header of `packet`, if it has one. A recipient of drops also has the contents of
    /// packets.
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        let _ = packet;
        None
    }
}

/// Counts the events at one port after the warm-up, and forwards drops.
pub struct PortCounters<'a, S, O> {
    /// The port's counters.
    pub tally: &'a mut PortTally,
    /// The recipient of drops.
    pub sink: &'a mut S,
    /// The direction on which the port sends.
    pub link: LinkId,
    /// The time from which the port is counted.
    pub counts_from: Time,
    /// The end of the run. A packet that departs later does not count as sent.
    pub ends: Time,
    /// A further observer of the port, to which all events are forwarded.
    pub observer: O,
}

impl<S, O> PortCounters<'_, S, O> {
    #[inline]
    fn tally(&mut self, now: Time, place: Place) -> Option<&mut Tally> {
        (now >= self.counts_from).then(|| self.tally.tally_mut(place.queue.index(), place.precedence.index()))
    }
}

impl<S: DropSink, O: Observer> Observer for PortCounters<'_, S, O> {
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        self.sink.tcp_header(packet)
    }
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Some(tally) = self.tally(now, place) {
            tally.arrived.add(packet.length);
        }
        self.observer.arrived(now, place, packet);
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.observer.enqueued(now, place, packet);
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        self.sink.dropped(now, self.link, packet, cause, DropPoint::Port(place));
        match place {
            Some(place) => {
                if let Some(tally) = self.tally(now, place) {
                    tally.dropped.add(cause, packet.length);
                }
            }
            None if now >= self.counts_from => self.tally.unqueued.add(cause, packet.length),
            None => {}
        }
        self.observer.dropped(now, place, packet, cause);
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Some(tally) = self.tally(now, place) {
            tally.marked.add(packet.length);
        }
        self.observer.marked(now, place, packet);
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        if now <= self.ends
            && let Some(tally) = self.tally(now, place)
        {
            tally.sent.add(packet.length);
        }
        self.observer.dequeued(now, place, packet, departure);
    }
    fn cut_through(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        if now >= self.counts_from {
            self.tally.pass(place.precedence, packet.length);
        }
        self.observer.cut_through(now, place, packet, departure);
    }
    fn departure_precomputed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        // For nearly all packets, arrival and departure are both within the counted time, so one update
        // counts both events.
        if now >= self.counts_from && departure.starts <= self.ends {
            self.tally.pass(place.precedence, packet.length);
            self.observer.departure_precomputed(now, place, packet, departure);
        } else {
            self.arrived(now, place, packet);
            self.enqueued(now, place, packet);
            self.dequeued(departure.starts, place, packet, departure);
        }
    }
}
