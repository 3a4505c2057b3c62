//! [`Forwarder`]: frames in, ports, frames out.
//!
//! One round of it: what has arrived is received, what is due happens, what left is sent; then it sleeps
//! until there is more to do. Ports and wires are a [`Network`] whose edge is the `Devices`: everything
//! there happens at its own instant, however late the process gets to it. What a port lets out at 5 ms is on
//! the wire from 5 ms on: neither pacing nor the order of events depends on how fast the machine is.

mod build;
mod devices;
mod entrance;
mod exit;
mod flows;
mod passed;
mod routes;
mod slots;
mod totals;

use hdrhistogram::Histogram;
use perhop_net::{Direction, Network};
use perhop_qos::observer::PortObservers;
use perhop_qos::units::Time;

pub(crate) use devices::Devices;
use devices::Leaving;
pub(crate) use entrance::Input;
use exit::Exit;
pub(crate) use passed::{Kind, Passed};
pub use totals::Totals;

use crate::report::Report;
use crate::wire::{Wire, WireError};

/// One process's ports between the devices of a [`Wire`], seen by a [`PortObservers`].
#[derive(Debug)]
pub struct Forwarder<W, O = ()> {
    wire: W,
    network: Network<Devices, O>,
    /// When the last thing happened: nothing happens before it any more.
    last: Time,
    node: String,
    /// By device: what frames look like that leave there.
    exits: Vec<Exit>,
    /// From when frames were to be sent until they were, nanoseconds.
    send_delay: Histogram<u64>,
}

/// What a round has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Frames were received or sent.
    Busy,
    /// Nothing: it has slept.
    Idle,
}

impl<W: Wire, O: PortObservers> Forwarder<W, O> {
    /// Leaves what happens before `time`, on the wire's clock, out of the counters of ports and flows.
    pub fn count_from(&mut self, time: Time) {
        self.network.counts_from = time;
        for direction in &mut self.network.directions {
            direction.output.count_from(time);
            direction.input.count_from(time);
        }
        self.network.edge.count_from(time);
    }

    /// One round: what has arrived, then what is due; where that is nothing, sleeps until there is more to
    /// do, but not for long.
    ///
    /// # Errors
    /// Where a device works no more, or none. What it was to send is lost and counted; the next round goes on
    /// with the others.
    pub fn step(&mut self) -> Result<Round, WireError> {
        let Forwarder { wire, network, last, .. } = self;
        let received = wire.receive(&mut |device, arrived, frame| {
            // What is due before it happens before it.
            let now = arrived.max(*last);
            network.run_until(now);
            *last = now;
            Devices::accept(network, now, device, frame);
        });
        self.run_until(self.wire.now());
        let sent = self.send();
        if received? + sent? > 0 {
            return Ok(Round::Busy);
        }
        self.wire.wait(self.next_at())?;
        Ok(Round::Idle)
    }

    /// Lets happen what happens until `limit`.
    fn run_until(&mut self, limit: Time) {
        if let Some(last) = self.network.run_until(limit) {
            self.last = last;
        }
    }

    /// Sends what left the network; how many frames that were.
    fn send(&mut self) -> Result<usize, WireError> {
        let Forwarder { wire, network, exits, send_delay, .. } = self;
        let Devices { outbox, slots, totals, .. } = &mut network.edge;
        let leaving = outbox.len();
        if leaving == 0 {
            return Ok(0);
        }
        let now = wire.now();
        let mut failed = None;
        for Leaving { device, due, slot, dscp, marks } in outbox.drain(..) {
            let (mut frame, layout) = slots.frame(slot);
            if layout.has_packet() {
                send_delay.saturating_record(now.saturating_sub(due).as_picoseconds() / 1000);
                frame = exits[device.index()].finish(frame, layout, dscp, marks);
            }
            match wire.send(device, frame) {
                Ok(()) => {
                    totals.sent += 1;
                    totals.sent_bytes += frame.len() as u64;
                    totals.passed += u64::from(!layout.has_packet());
                }
                Err(error) => {
                    totals.unsent += 1;
                    failed = Some(error);
                }
            }
            slots.give_back(slot);
        }
        wire.flush()?;
        failed.map_or(Ok(leaving), Err)
    }

    /// When to look again if no frame arrives before; `None` while nothing is under way.
    ///
    /// A wire never reorders: what a port lets out arrives after all that is in flight there. So a poll of a
    /// port with packets in flight needs no wake-up: it takes effect at its own instant, when the next comes.
    pub fn next_at(&self) -> Option<Time> {
        let next = |direction: &Direction| match direction.in_flight.front() {
            Some(flight) => Some(flight.arrives),
            None => direction.poll_at,
        };
        self.network.directions.iter().filter_map(next).min()
    }
    /// The wire.
    pub fn wire(&mut self) -> &mut W {
        &mut self.wire
    }
    /// Who watches.
    pub fn observers(&mut self) -> &mut O {
        &mut self.network.observers
    }
    /// What became of all frames so far.
    pub fn totals(&self) -> &Totals {
        &self.network.edge.totals
    }
    /// Frames that are here: queued, in flight or about to be sent.
    pub fn held(&self) -> u64 {
        self.network.edge.held(&self.network.directions)
    }
    /// Everything that was counted up to now.
    pub fn report(&mut self) -> Report {
        let now = self.wire.now();
        self.run_until(now);
        self.last = self.last.max(now);
        Report::of(&self.node, now, &self.network, &self.send_delay)
    }
}
