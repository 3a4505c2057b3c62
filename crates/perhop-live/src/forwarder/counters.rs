//! What is counted: [`Totals`] of all frames since the start, and what happens at one port.

use perhop_measure::counters::{PortTally, Tally};
use perhop_qos::observer::{Observer, Place, Watch};
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::flows::FlowDrops;
use super::slots::{SlotId, Slots};
use crate::frame::Refusal;

/// The fate of every frame since the start: received = [`ended`](Totals::ended) + held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames that arrived, by whatever device.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that hold no packet that could be forwarded, by [`Refusal::index`].
    pub refused: [u64; Refusal::COUNT],
    /// Came by a device on which nothing is received.
    pub unexpected: u64,
    /// IP packets that no router forwards: for groups, or for the link they came by.
    pub local: u64,
    /// Longer than a slot: segments that an interface was to cut, or jumbo frames.
    pub oversized: u64,
    /// Found every slot taken.
    pub no_slot: u64,
    /// Packets dropped, by [`DropCause::index`].
    pub dropped: [u64; DropCause::COUNT],
    /// Frames handed to the wire.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Of these, frames without an IP packet that went past the ports.
    pub passed: u64,
    /// Frames that a device refused to send.
    pub unsent: u64,
}

impl Totals {
    /// Frames that have ended here, one way or the other.
    pub fn ended(&self) -> u64 {
        let refused: u64 = self.refused.iter().sum();
        let dropped: u64 = self.dropped.iter().sum();
        refused
            + self.unexpected
            + self.local
            + self.oversized
            + self.no_slot
            + dropped
            + self.sent
            + self.unsent
    }
}

/// What directions have in common: where frames wait, what is counted of them, and who watches.
#[derive(Debug)]
pub(crate) struct Books<W> {
    pub(crate) slots: Slots,
    pub(crate) totals: Totals,
    pub(crate) flows: FlowDrops,
    pub(crate) counts_from: Time,
    pub(crate) watch: W,
}

impl<W: Watch> Books<W> {
    /// Counts what happens at port number `port`, of which `tally` is.
    #[inline]
    pub(crate) fn at<'b>(
        &'b mut self,
        port: usize,
        tally: &'b mut PortTally,
    ) -> Counters<'b, W::Observer<'b>> {
        Counters {
            port: tally,
            totals: &mut self.totals,
            flows: &mut self.flows,
            slots: &mut self.slots,
            counts_from: self.counts_from,
            observer: self.watch.at(port),
        }
    }
    /// `packet` ends outside a port.
    pub(crate) fn end(&mut self, now: Time, packet: &Packet, cause: DropCause) {
        self.slots.give_back(SlotId(packet.payload as u32));
        self.totals.dropped[cause.index()] += 1;
        if now >= self.counts_from {
            self.flows.add(&packet.flow_key(), cause, packet.length);
        }
    }
}

/// All that is told of the packets that end at one port, and of what else happens there.
pub(crate) struct Counters<'a, O> {
    port: &'a mut PortTally,
    totals: &'a mut Totals,
    flows: &'a mut FlowDrops,
    slots: &'a mut Slots,
    counts_from: Time,
    observer: O,
}

impl<O> Counters<'_, O> {
    #[inline]
    fn tally(&mut self, now: Time, place: Place) -> Option<&mut Tally> {
        (now >= self.counts_from).then(|| self.port.of(place.queue.index(), place.precedence.index()))
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
        self.slots.give_back(SlotId(packet.payload as u32));
        self.totals.dropped[cause.index()] += 1;
        if now >= self.counts_from {
            self.flows.add(&packet.flow_key(), cause, packet.length);
            let counters = match place {
                Some(place) => &mut self.port.of(place.queue.index(), place.precedence.index()).dropped,
                None => &mut self.port.unqueued,
            };
            counters[cause.index()].add(packet.length);
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
        if let Some(tally) = self.tally(now, place) {
            tally.sent.add(packet.length);
        }
        self.observer.dequeued(now, place, packet, departure);
    }
}
