//! [`Observer`]: the interface by which probes, logs and captures follow the events of a port.

use crate::packet::TcpHeader;
use crate::port::Departure;
use crate::queue::QueueId;
use crate::{Color, DropCause, Packet, Time};

/// The queue of an event, and the packet's drop precedence in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The queue of the event.
    pub queue: QueueId,
    /// The packet's drop precedence in the queue.
    pub precedence: Color,
}

/// Observes every decision of a [`Port`](crate::Port). Every method does nothing by default, and the port is
/// compiled for each observer, so events that no observer uses cost nothing.
pub trait Observer {
    /// Returns the TCP header of `packet`, if it has one and the observer knows it. Other components read
    /// only the descriptor.
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        let _ = packet;
        None
    }
    /// Called when `packet` arrived at a queue, before any verdict.
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when `packet` was admitted to a queue.
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when `packet` was dropped. `place` is the place where it would have waited, if known.
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        let _ = (now, place, packet, cause);
    }
    /// Called when `packet` was marked with the congestion-experienced codepoint.
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// Called when a queue passed its head to the transmit ring.
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        let _ = (now, place, packet, departure);
    }
    /// Called when `packet` arrived at an idle port and entered the transmit ring at once. It counts as
    /// arrived, enqueued and dequeued.
    fn cut_through(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(now, place, packet, departure);
    }
    /// Called when `packet` arrived at a queue and its departure is already known. It counts as arrived and
    /// enqueued now, and as dequeued when the departure starts, which may be in the future. A packet that is
    /// marked is reported by separate calls instead.
    fn departure_precomputed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(departure.starts, place, packet, departure);
    }
}

/// The observer that ignores all events.
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

/// The observers of the ports of a network, for any engine.
///
/// The default ignores all events and costs nothing.
pub trait PortObservers {
    /// Whether the observers need the events of a port in the order of time. Otherwise an engine that
    /// computes departures on arrival reports all events of a packet at once.
    const TIME_ORDERED: bool = true;

    /// The observer of one port.
    type Observer<'w>: Observer
    where
        Self: 'w;

    /// The observer of port number `port`.
    fn of_port(&mut self, port: usize) -> Self::Observer<'_>;
    /// Called when `packet` arrives at port number `port`, before the output conditioners of that interface.
    fn arriving(&mut self, now: Time, port: usize, packet: &Packet) {
        let _ = (now, port, packet);
    }
    /// Called when `packet` was dropped between ports, by a conditioner or on the wire of port number `port`.
    fn dropped_between(&mut self, now: Time, port: usize, packet: &Packet, cause: DropCause) {
        let _ = (now, port, packet, cause);
    }
}

/// The observers that ignore all events.
impl PortObservers for () {
    const TIME_ORDERED: bool = false;
    type Observer<'w> = ();
    fn of_port(&mut self, _: usize) {}
}
