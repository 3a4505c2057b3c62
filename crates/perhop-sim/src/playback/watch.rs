//! [`PortWatch`]: records the packets at one port.

use std::collections::BTreeMap;

use perhop_qos::observer::{Observer, Place, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::memory::MemoryWatch;
use super::record::PacketRecord;
use crate::flow::flow_of;

/// The payload word and the time of sending, which are unique among the packets of a port. The payload word
/// alone is not unique, because the place of a segment is reused after the segment has arrived.
type Identity = (u64, Time);

/// Records the packets at one port, and the packets that the input policies of the port's node drop.
#[derive(Debug)]
pub(super) struct PortWatch {
    port: usize,
    /// By port: whether the link from it ends at the node of the watched port.
    leads_here: Vec<bool>,
    /// The class of each flow.
    classes: Vec<u32>,
    next: u32,
    /// Packets that are at the port.
    waiting: BTreeMap<Identity, PacketRecord>,
    /// Packets that have left the port or were dropped, in the order in which their end became known.
    ended: Vec<(Identity, PacketRecord)>,
    /// Packets that ended before this time are discarded.
    pub(super) from: Time,
    /// The packet memory of the port, if it is watched.
    pub(super) memory: Option<MemoryWatch>,
}

impl PortWatch {
    pub(super) fn new(port: usize, leads_here: Vec<bool>, classes: Vec<u32>) -> PortWatch {
        let (waiting, ended) = (BTreeMap::new(), Vec::new());
        PortWatch { port, leads_here, classes, next: 0, waiting, ended, from: Time::ZERO, memory: None }
    }
    /// The number of recorded packets.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.ended.len()
    }
    /// Discards packets that ended before `from`.
    pub(super) fn forget_before(&mut self, from: Time) {
        self.from = from;
        self.ended.retain(|(_, record)| record.ends().is_none_or(|ends| ends >= from));
    }
    /// Returns all recorded packets, in the order of arrival.
    pub(super) fn records(&self) -> Vec<PacketRecord> {
        let ended = self.ended.iter().map(|(_, record)| *record);
        let mut records: Vec<PacketRecord> = self.waiting.values().copied().chain(ended).collect();
        records.sort_by_key(|record| record.number);
        records
    }

    /// Creates the record of `packet`, which arrives at `now`.
    fn new_record(&mut self, now: Time, packet: &Packet) -> PacketRecord {
        let flow = flow_of(packet);
        let number = self.next;
        self.next += 1;
        PacketRecord {
            number,
            flow: flow as u32,
            class: self.classes.get(flow).copied(),
            length: packet.length,
            dscp: packet.dscp,
            arrived: now,
            queue: None,
            precedence: 0,
            marked: false,
            left: None,
            dropped: None,
        }
    }
    /// Adds the record of a packet that has left the port or was dropped, unless that was before `from`.
    fn add_ended(&mut self, identity: Identity, record: PacketRecord) {
        if record.ends().is_some_and(|ends| ends >= self.from) {
            self.ended.push((identity, record));
        }
    }
    /// Records the drop of `packet`, which is at the port or has left it.
    fn record_drop(&mut self, now: Time, packet: &Packet, cause: DropCause) {
        let identity = identity(packet);
        if let Some(record) = self.waiting.remove(&identity) {
            self.add_ended(identity, PacketRecord { dropped: Some((now, cause)), ..record });
        } else if let Some((_, record)) = self.ended.iter_mut().rfind(|(known, _)| *known == identity) {
            // The packet was dropped on the wire, or by the conditioners at the far end.
            record.dropped = Some((now, cause));
        }
    }
}

fn identity(packet: &Packet) -> Identity {
    (packet.payload, packet.sent_at)
}

impl Observer for PortWatch {
    fn arrived(&mut self, _: Time, place: Place, packet: &Packet) {
        if let Some(record) = self.waiting.get_mut(&identity(packet)) {
            record.queue = Some(place.queue.index() as u32);
            record.precedence = place.precedence.index() as u32;
            record.dscp = packet.dscp;
        }
    }
    fn dropped(&mut self, now: Time, _: Option<Place>, packet: &Packet, cause: DropCause) {
        self.record_drop(now, packet, cause);
    }
    fn marked(&mut self, _: Time, _: Place, packet: &Packet) {
        if let Some(record) = self.waiting.get_mut(&identity(packet)) {
            record.marked = true;
        }
    }
    fn dequeued(&mut self, now: Time, _: Place, packet: &Packet, departure: Departure) {
        let identity = identity(packet);
        if let Some(record) = self.waiting.remove(&identity) {
            self.add_ended(identity, PacketRecord { left: Some((now, departure)), ..record });
        }
    }
}

/// The observer of a port. Only the observer of the watched port records packets.
pub(super) struct AtPort<'w> {
    watch: &'w mut PortWatch,
    is_watched: bool,
    /// The index of the port among the ports of the watched memory; `None` if it is not one of them.
    place: Option<usize>,
}

impl AtPort<'_> {
    fn watched(&mut self) -> Option<&mut PortWatch> {
        self.is_watched.then_some(&mut *self.watch)
    }
    fn memory(&mut self) -> Option<(usize, &mut MemoryWatch)> {
        self.place.zip(self.watch.memory.as_mut())
    }
}

impl Observer for AtPort<'_> {
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Some(watch) = self.watched() {
            watch.arrived(now, place, packet);
        }
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Some((port, memory)) = self.memory() {
            memory.enqueued(now, port, place, packet);
        }
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        if let Some((port, memory)) = self.memory() {
            memory.dropped(port, place, cause);
        }
        if let Some(watch) = self.watched() {
            watch.dropped(now, place, packet, cause);
        }
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Some(watch) = self.watched() {
            watch.marked(now, place, packet);
        }
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        if let Some((port, memory)) = self.memory() {
            memory.dequeued(now, port, place, packet);
        }
        if let Some(watch) = self.watched() {
            watch.dequeued(now, place, packet, departure);
        }
    }
}

impl PortObservers for PortWatch {
    type Observer<'w> = AtPort<'w>;

    fn of_port(&mut self, port: usize) -> AtPort<'_> {
        let place = self.memory.as_ref().and_then(|memory| memory.place_of(port));
        AtPort { is_watched: port == self.port, place, watch: self }
    }
    fn arriving(&mut self, now: Time, port: usize, packet: &Packet) {
        if port == self.port {
            let record = self.new_record(now, packet);
            self.waiting.insert(identity(packet), record);
        }
    }
    fn dropped_between(&mut self, now: Time, port: usize, packet: &Packet, cause: DropCause) {
        if port == self.port {
            self.record_drop(now, packet, cause);
        } else if self.leads_here[port] && cause != DropCause::Lost {
            let record = self.new_record(now, packet);
            self.add_ended(identity(packet), PacketRecord { dropped: Some((now, cause)), ..record });
        }
    }
}
