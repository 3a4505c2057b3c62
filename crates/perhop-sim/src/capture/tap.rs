//! [`Tap`]: what comes by at one direction of a link.

use std::collections::VecDeque;

use perhop_qos::framing::Framing;
use perhop_qos::observer::Place;
use perhop_qos::packet::Packet;
use perhop_qos::units::{Rate, Time};
use perhop_qos::verdict::DropCause;

use crate::session::Carried;

/// A packet that came by.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// When its first bit went onto the wire; of a packet that did not come so far, when it was dropped.
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    pub(crate) carried: Option<Carried>,
    /// How it ended, if it ended here.
    pub(crate) fate: Option<Fate>,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) cause: DropCause,
    pub(crate) end: End,
}

/// Where at a link a packet ends, in the order in which it comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At the output conditioners.
    Output,
    /// At the port: in which queue, if that is known.
    Port(Option<Place>),
    /// On the wire.
    Wire,
    /// At the far end's input conditioners.
    Input,
}

impl End {
    /// Whether the packet was on the wire before.
    pub(crate) fn is_beyond_port(self) -> bool {
        matches!(self, End::Wire | End::Input)
    }
}

/// What came by at one direction of a link and is not written yet. Either queue is in order of time, whichever
/// way the simulator took: packets keep their order on a wire, and a port hears of arrivals in theirs.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    rate: Rate,
    framing: Framing,
    delay: Time,
    crossed: VecDeque<Record>,
    dropped: VecDeque<Record>,
}

impl Tap {
    /// A tap on a wire of this `rate`, `framing` and propagation `delay`.
    pub(crate) fn new(rate: Rate, framing: Framing, delay: Time) -> Tap {
        Tap { rate, framing, delay, crossed: VecDeque::new(), dropped: VecDeque::new() }
    }
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }
    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }
    /// When the first bit of `packet` went onto the wire, the last one having arrived at `arrived`.
    pub(crate) fn began(&self, arrived: Time, packet: &Packet) -> Time {
        let bytes = self.framing.wire_bytes(u64::from(packet.length));
        arrived.saturating_sub(self.delay + self.rate.transmission_time(bytes))
    }

    /// `packet` arrived at the far end, before anything is done to it there.
    pub(crate) fn crossed(&mut self, arrived: Time, packet: &Packet, carried: Option<&Carried>) {
        let time = self.began(arrived, packet);
        self.crossed.push_back(Record { time, packet: *packet, carried: carried.copied(), fate: None });
    }
    /// `packet` was dropped; one that had been on the wire is the last that arrived.
    pub(crate) fn dropped(&mut self, now: Time, packet: &Packet, carried: Option<&Carried>, fate: Fate) {
        if fate.end.is_beyond_port() {
            if let Some(last) = self.crossed.back_mut() {
                last.fate = Some(fate);
            }
        } else {
            let record = Record { time: now, packet: *packet, carried: carried.copied(), fate: Some(fate) };
            self.dropped.push_back(record);
        }
    }

    /// When the next record is from. Where both queues have one from the same instant, the wire's comes first.
    pub(crate) fn next(&self) -> Option<Time> {
        let fronts = [self.crossed.front(), self.dropped.front()];
        fronts.into_iter().flatten().map(|record| record.time).min()
    }
    /// The next record.
    pub(crate) fn take(&mut self) -> Option<Record> {
        match (self.crossed.front(), self.dropped.front()) {
            (Some(crossed), Some(dropped)) if dropped.time < crossed.time => self.dropped.pop_front(),
            (Some(_), _) => self.crossed.pop_front(),
            (None, _) => self.dropped.pop_front(),
        }
    }
}
