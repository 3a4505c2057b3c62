//! [`Waits`]: how long packets waited at every queue at most, how long the queues were, and, of chosen queues,
//! when each packet came and left.

use std::collections::VecDeque;

use perhop_qos::observer::{Observer, Place, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

/// A packet's stay at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it came to its queue.
    pub arrived: Time,
    /// When its last bit left.
    pub left: Time,
    /// IP bytes.
    pub length: u32,
}

/// What was seen of one queue.
#[derive(Clone, Debug, Default)]
pub struct Wait {
    /// The packets that wait: what tells them apart, and when they came.
    waiting: VecDeque<(u64, Time)>,
    bytes: u64,
    /// The longest time from a packet's arrival to its last bit on the wire.
    pub longest: Time,
    /// The most IP bytes that waited.
    pub most_bytes: u64,
    /// The most packets that waited.
    pub most_packets: usize,
    /// Every packet that left, where that was asked for.
    pub passages: Vec<Passage>,
}

impl Wait {
    fn came(&mut self, now: Time, packet: &Packet) {
        self.waiting.push_back((packet.payload, now));
        self.bytes += u64::from(packet.length);
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.most_packets = self.most_packets.max(self.waiting.len());
    }
    /// When `packet` came, which waits no longer. Most often it is the first.
    fn gone(&mut self, packet: &Packet) -> Option<Time> {
        let place = self.waiting.iter().position(|(payload, _)| *payload == packet.payload)?;
        self.bytes -= u64::from(packet.length);
        self.waiting.remove(place).map(|(_, came)| came)
    }
}

/// What was seen of one port.
#[derive(Clone, Debug, Default)]
pub struct PortWaits {
    /// By queue, as far as one had packets.
    pub queues: Vec<Wait>,
    /// The queue whose packets are noted one by one.
    noted: Option<usize>,
}

impl PortWaits {
    fn at(&mut self, place: Place) -> &mut Wait {
        let index = place.queue.index();
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, Wait::default);
        }
        &mut self.queues[index]
    }
}

impl Observer for PortWaits {
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.at(place).came(now, packet);
    }
    fn dropped(&mut self, _: Time, place: Option<Place>, packet: &Packet, _: DropCause) {
        // Most are dropped before they join a queue, and then nobody knows them there.
        if let Some(place) = place {
            self.at(place).gone(packet);
        }
    }
    fn dequeued(&mut self, _: Time, place: Place, packet: &Packet, departure: Departure) {
        let is_noted = self.noted == Some(place.queue.index());
        let wait = self.at(place);
        let Some(arrived) = wait.gone(packet) else { return };
        wait.longest = wait.longest.max(departure.ends.saturating_sub(arrived));
        if is_noted {
            wait.passages.push(Passage { arrived, left: departure.ends, length: packet.length });
        }
    }
}

/// What was seen of all ports of a network, by their numbers: `PortObservers` of the plain engine.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By port, as far as one had packets.
    pub ports: Vec<PortWaits>,
}

impl Waits {
    /// Notes every packet of `queue` of `port`.
    pub fn note(&mut self, port: usize, queue: usize) {
        self.of_port(port).noted = Some(queue);
    }
    /// What was seen of `queue` of `port`; `None` where nothing came.
    pub fn of(&self, port: usize, queue: usize) -> Option<&Wait> {
        self.ports.get(port)?.queues.get(queue)
    }
}

impl PortObservers for Waits {
    type Observer<'w> = &'w mut PortWaits;
    fn of_port(&mut self, port: usize) -> &mut PortWaits {
        if port >= self.ports.len() {
            self.ports.resize_with(port + 1, PortWaits::default);
        }
        &mut self.ports[port]
    }
}
