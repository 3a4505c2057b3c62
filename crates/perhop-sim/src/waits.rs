//! [`Waits`]: the longest delay and the peak length of every queue and, for selected queues, the arrival and
//! departure of each packet.

use std::collections::VecDeque;

use perhop_qos::observer::{Observer, Place, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

/// A packet's stay at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The time of arrival at the queue.
    pub arrived: Time,
    /// The time at which the last bit of the packet was sent.
    pub left: Time,
    /// The length of the packet, IP bytes.
    pub length: u32,
}

/// The observations at one queue.
#[derive(Clone, Debug, Default)]
pub struct Wait {
    /// The waiting packets: payload word and arrival time.
    waiting: VecDeque<(u64, Time)>,
    bytes: u64,
    /// The longest time from a packet's arrival to the end of its transmission.
    pub longest: Time,
    /// The maximum number of waiting IP bytes.
    pub most_bytes: u64,
    /// The maximum number of waiting packets.
    pub most_packets: usize,
    /// Every packet that left, if packets are recorded.
    pub passages: Vec<Passage>,
}

impl Wait {
    fn add(&mut self, now: Time, packet: &Packet) {
        self.waiting.push_back((packet.payload, now));
        self.bytes += u64::from(packet.length);
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.most_packets = self.most_packets.max(self.waiting.len());
    }
    /// Removes `packet` from the list and returns its arrival time. Usually, `packet` is the oldest packet of
    /// the list.
    fn remove(&mut self, packet: &Packet) -> Option<Time> {
        let place = self.waiting.iter().position(|(payload, _)| *payload == packet.payload)?;
        self.bytes -= u64::from(packet.length);
        self.waiting.remove(place).map(|(_, arrived)| arrived)
    }
}

/// The observations at one port.
#[derive(Clone, Debug, Default)]
pub struct PortWaits {
    /// By queue, up to the last queue that had packets.
    pub queues: Vec<Wait>,
    /// The queue whose packets are recorded.
    recorded: Option<usize>,
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
        self.at(place).add(now, packet);
    }
    fn dropped(&mut self, _: Time, place: Option<Place>, packet: &Packet, _: DropCause) {
        // A packet that is dropped before it joins a queue is not in the list.
        if let Some(place) = place {
            self.at(place).remove(packet);
        }
    }
    fn dequeued(&mut self, _: Time, place: Place, packet: &Packet, departure: Departure) {
        let is_recorded = self.recorded == Some(place.queue.index());
        let wait = self.at(place);
        let Some(arrived) = wait.remove(packet) else { return };
        wait.longest = wait.longest.max(departure.ends.saturating_sub(arrived));
        if is_recorded {
            wait.passages.push(Passage { arrived, left: departure.ends, length: packet.length });
        }
    }
}

/// The observations at all ports of a network, by port number. `Waits` observes the ports of the plain
/// engine.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By port, up to the last port that had packets.
    pub ports: Vec<PortWaits>,
}

impl Waits {
    /// Enables the recording of every packet of `queue` of `port`.
    pub fn note(&mut self, port: usize, queue: usize) {
        self.of_port(port).recorded = Some(queue);
    }
    /// Returns the observations at `queue` of `port`; `None` if no packet arrived at it or at a later queue.
    pub fn wait_at(&self, port: usize, queue: usize) -> Option<&Wait> {
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
