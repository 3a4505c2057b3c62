//! [`Link`]: one direction of a link, from the output side of one interface to the input side of the next.

use std::mem::offset_of;

use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{InterfaceId, Packet};
use perhop_qos::port::{Departure, Port};
use perhop_qos::queue::GrowingRing;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::capture::{End, Fate, Tap};
use crate::session::Segments;
use perhop_measure::counters::{FlowCounters, PortTally, Tally};
use perhop_net::agenda::Slot;
use perhop_scenario::routing::LinkId;

/// A packet that has left the scheduler's hands and has not arrived yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) arrives: Time,
    pub(crate) packet: Packet,
}

/// One direction of a link.
///
/// In this order and from the start of a cache line, what a packet asks that passes straight lies in three lines (the first, the
/// port's, the tally's), and what its arrival asks if that is on the agenda, or if it goes on, in the second: a network has
/// many links.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // what every packet asks on every hop, each by itself
#[repr(C, align(64))]
pub(crate) struct Link {
    /// Nobody decides about a packet that finds its port idle: it has no output conditioners, and its port is
    /// [open](Port::is_open).
    pub(crate) straight: bool,
    /// The far end is a host: packets end there.
    pub(crate) leads_to_host: bool,
    /// What becomes of a packet at the far end is settled when it is on this wire: where it goes on, it meets no
    /// packet that did not come this way. Then its arrival needs no event.
    pub(crate) settles: bool,
    /// It settles, and TCP answers at the far end, which is a host: ahead of the agenda, where it may be.
    pub(crate) answers: bool,
    /// Nothing happens on this wire: it loses nothing, and nobody captures it.
    pub(crate) uneventful: bool,
    /// The far end is a host without input conditioners: nobody there asks what a node knows of its packets.
    pub(crate) ends_plainly: bool,
    /// Its port [books](Port::book) departures: what becomes of a packet there is known when it comes, and nobody is told in the order of time.
    pub(crate) books: bool,
    /// Propagation delay.
    pub(crate) delay: Time,
    /// Packets that went into the transmit ring since the start of the run, or have that booked for before its end.
    pub(crate) transmitted: u64,
    /// When the head of `in_flight` arrives, or what is announced.
    pub(crate) arrival: Slot,
    /// The far end's name for this interface.
    pub(crate) far_interface: InterfaceId,
    /// In order of arrival: a link never reorders, so one agenda entry serves them all.
    pub(crate) in_flight: GrowingRing<Flight>,
    /// The link by which all its packets go on.
    pub(crate) next: Option<LinkId>,
    /// The link away from a host from which all packets come to this one without the agenda's help.
    pub(crate) driven_by: Option<LinkId>,
    /// The feeder whose next packet is not sent yet, although its arrival is on the agenda: it will find the port idle,
    /// nothing is in flight before it, and nobody asks for the packet before it arrives.
    pub(crate) announced: Option<Feeder>,
    /// Its senders' packets are [announced](Link::announced) where they will find the port idle.
    pub(crate) announces: bool,
    /// It settles, and what becomes of a packet further along its way is on the agenda: its port may not be late.
    pub(crate) punctual: bool,
    /// The senders of the host that this link leads away from, where their packets are all that enters
    /// it: then they run ahead of the agenda. Else empty.
    pub(crate) feeders: Feeders,
    /// Conditioners of the far end's input policy.
    pub(crate) input: TrafficConditioner,
    /// Conditioners of the output policy.
    pub(crate) output: TrafficConditioner,
    /// When the port is to be polled again, where no packet in flight on this wire sees to it: at `poll_at`.
    pub(crate) poll: Slot,
    /// Where its senders run ahead: the first link on their way on which the agenda comes to their packets.
    pub(crate) halt: LinkId,
    pub(crate) port: Port,
    pub(crate) tally: PortTally,
    pub(crate) poll_at: Option<Time>,
    /// What the wire loses; `None` where it loses nothing.
    pub(crate) loss: Option<Loss>,
    /// Where it is captured: what came by.
    pub(crate) tap: Option<Box<Tap>>,
    /// TCP sends by it: what enters it depends on what arrives elsewhere.
    pub(crate) reacts: bool,
    /// Name of the port that feeds it, in results: `C1->E3`.
    pub(crate) name: String,
    /// Names of the nodes at its ends.
    pub(crate) ends: [String; 2],
    /// Names of the port's queues, in results.
    pub(crate) queue_names: Vec<String>,
}

/// Bytes of a cache line.
const LINE: usize = 64;
const _: () = assert!(
    offset_of!(Link, next) == LINE
        && offset_of!(Link, output) == 2 * LINE
        && offset_of!(Link, port) + Port::ASKED == 3 * LINE,
    "what packets ask of a link lies in lines of its own"
);

impl Link {
    /// Whether its port needs a wake-up of its own: where a shaper holds back all that waits, and where packets are
    /// settled that somebody else waits for; but not where sources run ahead, which poll it themselves.
    #[inline]
    pub(crate) fn awaits_poll(&self) -> bool {
        let waits = if self.settles {
            self.punctual && self.port.backlog() > 0
        } else {
            self.port.shaped_until().is_some()
        };
        waits && self.feeders.is_empty()
    }
}

/// One of a link's [`Feeders`], by its place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feeder(u8);

/// Senders of one host, so few that each packet can look for the first among them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feeders {
    senders: [u32; Feeders::MOST],
    count: u8,
}

impl Feeders {
    /// How many there can be.
    pub(crate) const MOST: usize = 4;

    /// `senders`, which are not more than there can be.
    pub(crate) fn new(senders: &[usize]) -> Feeders {
        let mut feeders = Feeders { count: senders.len() as u8, ..Feeders::default() };
        for (place, sender) in feeders.senders.iter_mut().zip(senders) {
            *place = *sender as u32;
        }
        feeders
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// As an index into the world's senders.
    #[inline]
    pub(crate) fn sender(&self, Feeder(place): Feeder) -> usize {
        self.senders[usize::from(place) % Feeders::MOST] as usize
    }
    /// The one that comes first by `due`, of several the first in order.
    #[inline]
    pub(crate) fn first_by(&self, due: impl Fn(usize) -> Time) -> Feeder {
        let mut first = Feeder::default();
        for place in 1..self.count {
            let other = Feeder(place);
            if due(self.sender(other)) < due(self.sender(first)) {
                first = other;
            }
        }
        first
    }
}

/// A wire that loses packets, each with the same probability.
#[derive(Debug)]
pub(crate) struct Loss {
    pub(crate) probability: f64,
    pub(crate) stream: Stream,
}

impl Loss {
    /// Whether the next packet is lost.
    pub(crate) fn strikes(&mut self) -> bool {
        self.stream.uniform() < self.probability
    }
}

/// Counts what happens at one port, and the drops of the flows that cross it.
pub(crate) struct Counters<'a, O> {
    pub(crate) port: &'a mut PortTally,
    /// Who captures here.
    pub(crate) tap: &'a mut Option<Box<Tap>>,
    pub(crate) flows: &'a mut [FlowCounters],
    pub(crate) segments: &'a mut Segments,
    pub(crate) warmup: Time,
    /// End of the run: what is to leave later does not.
    pub(crate) duration: Time,
    /// Who else watches the port.
    pub(crate) observer: O,
}

impl<O> Counters<'_, O> {
    fn tally(&mut self, now: Time, place: Place) -> Option<&mut Tally> {
        (now >= self.warmup).then(|| self.port.of(place.queue.index(), place.precedence.index()))
    }
}

impl<O> Counters<'_, O> {
    /// Shows a dropped packet to whoever captures here.
    #[cold]
    fn record(&mut self, now: Time, packet: &Packet, fate: Fate) {
        if let Some(tap) = self.tap {
            tap.dropped(now, packet, self.segments.of(packet), fate);
        }
    }
}

impl<O: Observer> Observer for Counters<'_, O> {
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
        self.flows[flow_of(packet)].drop(packet, cause, self.warmup);
        if self.tap.is_some() {
            self.record(now, packet, Fate { cause, end: End::Port(place) });
        }
        self.segments.release(packet);
        match place {
            Some(place) => {
                if let Some(tally) = self.tally(now, place) {
                    tally.dropped[cause.index()].add(packet.length);
                }
            }
            None if now >= self.warmup => self.port.unqueued[cause.index()].add(packet.length),
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
        if now <= self.duration
            && let Some(tally) = self.tally(now, place)
        {
            tally.sent.add(packet.length);
        }
        self.observer.dequeued(now, place, packet, departure);
    }
    fn passed(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        if now >= self.warmup {
            self.port.passed[place.precedence.index()].add(packet.length);
        }
        self.observer.passed(now, place, packet, departure);
    }
    fn booked(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        // Of nearly all packets arrival and departure are counted, or neither is.
        if now >= self.warmup && departure.starts <= self.duration {
            self.port.passed[place.precedence.index()].add(packet.length);
            self.observer.booked(now, place, packet, departure);
        } else {
            self.arrived(now, place, packet);
            self.enqueued(now, place, packet);
            self.dequeued(departure.starts, place, packet, departure);
        }
    }
}

/// The flow that a packet belongs to: the high half of its payload word.
pub(crate) fn flow_of(packet: &Packet) -> usize {
    (packet.payload >> 32) as usize
}

/// The number of a datagram in its flow: the low half of its payload word.
pub(crate) fn sequence_of(packet: &Packet) -> u32 {
    packet.payload as u32
}

/// The payload word of packet `sequence` of `flow`.
pub(crate) fn payload(flow: usize, sequence: u32) -> u64 {
    (flow as u64) << 32 | u64::from(sequence)
}
