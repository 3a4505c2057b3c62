//! [`Observer`]: how probes, logs and captures see what a port does without the port knowing them.

use crate::packet::TcpHeader;
use crate::port::Departure;
use crate::queue::QueueId;
use crate::{Color, DropCause, Packet, Time};

/// Where in a port something happened: which queue, and as which drop precedence it counts the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The queue.
    pub queue: QueueId,
    /// The packet's drop precedence there.
    pub precedence: Color,
}

/// Sees every decision of a [`Port`](crate::Port). Every method does nothing by default, and the
/// port is compiled for each observer, so what is not watched costs nothing.
pub trait Observer {
    /// The TCP header of `packet`, if it has one and whoever watches knows it: nobody else sees more of a
    /// packet than its descriptor.
    fn tcp_header(&self, packet: &Packet) -> Option<TcpHeader> {
        let _ = packet;
        None
    }
    /// `packet` arrived at a queue, whatever becomes of it.
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// `packet` was let into a queue.
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// `packet` was dropped; `place` is where it would have waited, if that was known.
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        let _ = (now, place, packet, cause);
    }
    /// `packet` was given the congestion-experienced codepoint.
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        let _ = (now, place, packet);
    }
    /// A queue gave its head to the transmit ring.
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        let _ = (now, place, packet, departure);
    }
    /// `packet` arrived at an idle port and went straight on to the transmit ring: it was counted as arrived,
    /// enqueued and dequeued at once.
    fn cut_through(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(now, place, packet, departure);
    }
    /// `packet` arrived at a queue, which gives it to the transmit ring when its departure starts: arrived,
    /// enqueued and dequeued in one, of which the last may lie ahead. A packet that is marked is told of step
    /// by step.
    fn departure_precomputed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.arrived(now, place, packet);
        self.enqueued(now, place, packet);
        self.dequeued(departure.starts, place, packet, departure);
    }
}

/// The observer that sees nothing.
impl Observer for () {}

/// Whoever sees for somebody else.
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

/// Sees what happens at the ports of a whole network, however these are driven: gives each its observer.
///
/// The default sees nothing, and costs nothing.
pub trait PortObservers {
    /// Whether its observers must hear of the events of a port in the order of time. Where an engine computes
    /// departures on arrival, an observer that need not hears of each packet's events at once.
    const TIME_ORDERED: bool = true;

    /// The observer of one port.
    type Observer<'w>: Observer
    where
        Self: 'w;

    /// The observer of port number `port`.
    fn of_port(&mut self, port: usize) -> Self::Observer<'_>;
    /// `packet` comes to port number `port`, before that interface's output conditioners.
    fn arriving(&mut self, now: Time, port: usize, packet: &Packet) {
        let _ = (now, port, packet);
    }
    /// `packet` was dropped between ports: by a conditioner, or on the wire that port number `port` feeds.
    fn dropped_between(&mut self, now: Time, port: usize, packet: &Packet, cause: DropCause) {
        let _ = (now, port, packet, cause);
    }
}

/// The one that sees nothing.
impl PortObservers for () {
    const TIME_ORDERED: bool = false;
    type Observer<'w> = ();
    fn of_port(&mut self, _: usize) {}
}
