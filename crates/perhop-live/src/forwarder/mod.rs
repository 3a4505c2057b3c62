//! [`Forwarder`]: frames in, ports, frames out.
//!
//! One round of it: what has arrived is received, what is due happens, what left is sent; then it sleeps until
//! there is more to do. What happens in between, in `network.rs`, happens at its own instant.

mod build;
mod counters;
mod direction;
mod flows;
mod network;
mod routes;
mod slots;

use hdrhistogram::Histogram;
use perhop_qos::observer::Watch;
use perhop_qos::units::Time;

pub use counters::Totals;
pub(crate) use direction::{Direction, Input};
use network::Leaving;
pub(crate) use network::Network;

use crate::config::MacAddress;
use crate::report::Report;
use crate::wire::{Wire, WireError};

/// What can happen by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The packet at the head of a direction's flight reaches the far end.
    Arrival(u32),
    /// A shaper's tokens suffice.
    ShaperReady(u32),
}

/// One process's ports between the devices of a [`Wire`], seen by a [`Watch`].
#[derive(Debug)]
pub struct Forwarder<W, O = ()> {
    wire: W,
    network: Network<O>,
    node: String,
    /// By device: destination of the frames that leave there.
    neighbors: Vec<Option<MacAddress>>,
    /// How late frames were sent, nanoseconds.
    lateness: Histogram<u64>,
}

/// What a round has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Frames were received or sent.
    Busy,
    /// Nothing: it has slept.
    Idle,
}

impl<W: Wire, O: Watch> Forwarder<W, O> {
    /// Leaves what happens before `time`, on the wire's clock, out of the counters of ports and flows.
    pub fn count_from(&mut self, time: Time) {
        self.network.books.counts_from = time;
        for direction in &mut self.network.directions {
            direction.output.count_from(time);
            if let Some(input) = &mut direction.input {
                input.count_from(time);
            }
        }
        self.network.inputs.iter_mut().for_each(|input| input.conditioner.count_from(time));
    }

    /// One round: what has arrived, then what is due; where that is nothing, sleeps until there is more to do,
    /// but not for long.
    ///
    /// # Errors
    /// Where a device works no more, or none. What it was to send is lost and counted; the next round goes on
    /// with the others.
    pub fn step(&mut self) -> Result<Round, WireError> {
        let Forwarder { wire, network, .. } = self;
        let received = wire.receive(&mut |device, arrived, frame| network.receive(device, arrived, frame));
        network.run_until(wire.now());
        let sent = self.send();
        if received? + sent? > 0 {
            return Ok(Round::Busy);
        }
        let deadline = self.network.agenda.next_at();
        self.wire.wait(deadline)?;
        Ok(Round::Idle)
    }

    /// Sends what left the network; how many frames that were.
    fn send(&mut self) -> Result<usize, WireError> {
        let leaving = self.network.outbox.len();
        if leaving == 0 {
            return Ok(0);
        }
        let now = self.wire.now();
        let mut failed = None;
        for place in 0..leaving {
            let Leaving { device, due, slot, marks } = self.network.outbox[place];
            let (frame, layout) = self.network.books.slots.frame(slot);
            if let Some((dscp, ecn)) = marks {
                layout.mark(frame, dscp, ecn);
                if let Some(MacAddress(address)) = self.neighbors[device.index()] {
                    frame[..address.len()].copy_from_slice(&address);
                }
                self.lateness.saturating_record(now.saturating_sub(due).as_picoseconds() / 1000);
            }
            let totals = &mut self.network.books.totals;
            match self.wire.send(device, frame) {
                Ok(()) => {
                    totals.sent += 1;
                    totals.sent_bytes += frame.len() as u64;
                    totals.passed += u64::from(marks.is_none());
                }
                Err(error) => {
                    totals.unsent += 1;
                    failed = Some(error);
                }
            }
            self.network.books.slots.give_back(slot);
        }
        self.network.outbox.clear();
        self.wire.flush()?;
        failed.map_or(Ok(leaving), Err)
    }

    /// When something happens here by itself; `None` while nothing is under way.
    pub fn next_at(&mut self) -> Option<Time> {
        self.network.agenda.next_at()
    }
    /// The wire.
    pub fn wire(&mut self) -> &mut W {
        &mut self.wire
    }
    /// Who watches.
    pub fn watch(&mut self) -> &mut O {
        &mut self.network.books.watch
    }
    /// What became of all frames so far.
    pub fn totals(&self) -> &Totals {
        &self.network.books.totals
    }
    /// Frames that are here: queued, in flight or about to be sent.
    pub fn held(&self) -> u64 {
        self.network.held()
    }
    /// Everything that was counted up to now.
    pub fn report(&mut self) -> Report {
        let now = self.wire.now();
        self.network.settle(now);
        Report::of(&self.node, now, &self.network, &self.lateness)
    }
}
