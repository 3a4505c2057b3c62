//! [`Observer`]: the interface through which probes, logs and captures receive the events of a port.

use crate::packet::TcpHeader;
use crate::port::Departure;
use crate::queue::QueueId;
use crate::{Color, DropCause, Packet, Time};

/// The queue of an event, and the drop precedence of the packet in this queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The queue of the event.
    pub queue: QueueId,
    /// The drop precedence of the packet in the queue.
    pub precedence: Color,
}

/// Observes all decisions of a [`Port`](crate::Port). Each method does nothing by default. The port is
/// compiled for each type of observer, so events that the observer ignores cost nothing.
pub trait Observer {
    /// Returns the TCP header of `packet`, if the packet has one and the observer can read it. Other
    /// components can read only the descriptor of the packet.
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        let _ = packet;
        None
    }
    /// Called when `packet` has arrived at a queue, before any verdict.
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when `packet` has joined a queue.
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when `packet` has been dropped. `place` is the place where it would have waited, if known.
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        let _ = (now, place, packet, cause);
    }
    /// Called when `packet` has been marked with the congestion-experienced codepoint.
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when the head of a queue has moved to the transmit ring.
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        let _ = (now, place, packet, departure);
    }
    /// Called when `packet` has arrived at an idle port and has entered the transmit ring at once. The
    /// default method calls `arrived`, `enqueued` and `dequeued`.
    fn cut_through(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(now, place, packet, departure);
    }
    /// Called when `packet` has joined a queue and its departure is already known. The default method calls
    /// `arrived` and `enqueued` with the current time, and `dequeued` with the start of the departure, which
    /// can be in the future. For a packet that is marked, the port uses the separate calls instead.
    fn departure_precomputed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(departure.starts, place, packet, departure);
    }
}

/// An observer that ignores all events.
impl Observer for () {}

/// An observer that forwards each event to another observer.
impl<O: Observer> Observer for &mut O {
    #[inline]
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        (**self).tcp_header(packet)
    }
    #[inline]
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        (**self).arrived(now, place, packet);
    }
    #[inline]
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        (**self).enqueued(now, place, packet);
    }
    #[inline]
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        (**self).dropped(now, place, packet, cause);
    }
    #[inline]
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        (**self).marked(now, place, packet);
    }
    #[inline]
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        (**self).dequeued(now, place, packet, departure);
    }
    #[inline]
    fn cut_through(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        (**self).cut_through(now, place, packet, departure);
    }
    #[inline]
    fn departure_precomputed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        (**self).departure_precomputed(now, place, packet, departure);
    }
}

/// The observers of all ports of a network, for any engine.
///
/// The default ignores all events and costs nothing.
pub trait PortObservers {
    /// Whether the observers need the events of a port in the order of time. If not, an engine that computes
    /// departures on arrival reports all events of a packet at once.
    const TIME_ORDERED: bool = true;

    /// The type of the observer of one port.
    type Observer<'w>: Observer
    where
        Self: 'w;

    /// Returns the observer of port number `port`.
    fn of_port(&mut self, port: usize) -> Self::Observer<'_>;
    /// Called when `packet` has arrived at port number `port`, before the output conditioners of that
    /// interface.
    fn arriving(&mut self, now: Time, port: usize, packet: &Packet) {
        let _ = (now, port, packet);
    }
    /// Called when `packet` has been dropped between two ports, by a conditioner or on the wire of port
    /// number `port`.
    fn dropped_between(&mut self, now: Time, port: usize, packet: &Packet, cause: DropCause) {
        let _ = (now, port, packet, cause);
    }
}

/// A set of observers that ignore all events.
impl PortObservers for () {
    const TIME_ORDERED: bool = false;
    type Observer<'w> = ();
    fn of_port(&mut self, _: usize) {}
}
