//! [`Direction`]: one direction of a link, from the output side of one interface to the input side of the next.

use std::mem::offset_of;

use perhop_measure::counters::PortTally;
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::framing::Fragmentation;
use perhop_qos::packet::{Ingress, Packet};
use perhop_qos::port::Port;
use perhop_qos::queue::GrowingRing;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::agenda::Slot;
use crate::counters::DropPoint;

/// A packet that has left its port's queues and has not arrived yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// When its last bit reaches the far end.
    pub arrives: Time,
    /// The packet.
    pub packet: Packet,
}

/// A wire that loses packets, each with the same probability, or each of their fragments where it cuts them.
#[derive(Debug)]
pub struct Loss {
    /// Of each packet.
    pub probability: f64,
    /// Where the draws come from.
    pub stream: Stream,
    /// How the wire's headers cut packets, if they do.
    pub fragmentation: Option<Fragmentation>,
}

impl Loss {
    /// Whether the next packet, of `length` IP bytes, is lost: a draw for each of its fragments.
    pub fn strikes(&mut self, length: u32) -> bool {
        let fragments = self.fragmentation.as_ref().map_or(1, |fragmentation| fragmentation.count(length));
        (0..fragments).any(|_| self.stream.uniform() < self.probability)
    }
}

/// One direction of a link.
///
/// In this order: what most packets ask lies in few cache lines, of many directions in turn.
#[derive(Debug)]
#[repr(C)]
pub struct Direction {
    /// Propagation delay.
    pub delay: Time,
    /// In order of arrival: a wire never reorders, so one wake-up serves them all.
    pub in_flight: GrowingRing<Flight>,
    /// Packets whose first bit went onto the wire since the start of the run.
    pub transmitted: u64,
    /// When the head of `in_flight` arrives.
    pub arrival: Slot,
    /// How packets come into the far end: by which interface, with which marks.
    pub ingress: Ingress,
    /// The longest IP packet that the interface sends; [`UNLIMITED`](Direction::UNLIMITED) where any is.
    pub mtu: u16,
    /// Conditioners of the far end's input policy.
    pub input: TrafficConditioner,
    /// Conditioners of the output policy.
    pub output: TrafficConditioner,
    /// The instant for which a poll is asked; `None` where none is.
    pub poll_at: Option<Time>,
    /// Name of the port in results: `C1->E3`.
    pub name: String,
    /// Queues, scheduler, transmit ring and pace.
    pub port: Port,
    /// What is counted at the port.
    pub tally: PortTally,
    /// When the port is polled next, at `poll_at`.
    pub poll: Slot,
    /// What the wire loses; `None` where it loses nothing.
    pub loss: Option<Box<Loss>>,
    /// Names of the port's queues in results.
    pub queue_names: Vec<String>,
}

impl Direction {
    /// Where in it the port stands, bytes: for whoever lays out what contains it.
    pub const PORT: usize = offset_of!(Direction, port);
    /// The MTU of an interface that sends packets of any length.
    pub const UNLIMITED: u16 = u16::MAX;

    /// Whether the interface does not send a packet of `length` IP bytes as a whole.
    #[inline]
    pub fn exceeds_mtu(&self, length: u32) -> bool {
        length > u32::from(self.mtu) && self.mtu != Direction::UNLIMITED
    }

    /// Counts `packet`, which was dropped outside the queues of the port, at `point`.
    pub fn count_drop(&mut self, packet: &Packet, cause: DropCause, point: DropPoint) {
        let PortTally { beyond, unqueued, .. } = &mut self.tally;
        let counters = if point.is_beyond_port() { beyond } else { unqueued };
        counters[cause.index()].add(packet.length);
    }
    /// Packets that are queued here or in flight.
    pub fn held(&self) -> u64 {
        self.port.backlog() + self.in_flight.len() as u64
    }
    /// All packets that are queued here or in flight.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.port.waiting();
        self.in_flight.iter().map(|flight| &flight.packet).chain(queued).chain(self.port.in_fragments())
    }
}
