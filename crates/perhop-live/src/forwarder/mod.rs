//! [`Forwarder`]: receives frames, passes their packets through ports, and sends frames.
//!
//! In each round the forwarder receives frames that have arrived, runs due events and sends the frames that
//! left the network. Then it sleeps until the next event. Ports and wires are a [`Network`] whose edge is the
//! `Devices`. Every event in the network has its exact time, even if the process runs late: a packet that a
//! port transmits at 5 ms is on the wire from 5 ms on. Therefore neither pacing nor the order of events
//! depends on the speed of the machine.

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

/// The ports of one process between the devices of a [`Wire`]. A [`PortObservers`] observes them.
#[derive(Debug)]
pub struct Forwarder<W, O = ()> {
    wire: W,
    network: Network<Devices, O>,
    /// The time of the last event. The next events are not earlier.
    last: Time,
    node: String,
    /// By device: the form of the frames that leave on the device.
    exits: Vec<Exit>,
    /// The time from the scheduled departure of frames until they were sent, nanoseconds.
    send_delay: Histogram<u64>,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Frames were received or sent.
    Busy,
    /// The forwarder slept, because no frame was received or sent.
    Idle,
}

impl<W: Wire, O: PortObservers> Forwarder<W, O> {
    /// Excludes events before `time`, on the wire's clock, from the counters of ports and flows.
    pub fn count_from(&mut self, time: Time) {
        self.network.counts_from = time;
        for direction in &mut self.network.directions {
            for conditioner in [&mut direction.output, &mut direction.input].into_iter().flatten() {
                conditioner.count_from(time);
            }
        }
        self.network.edge.count_from(time);
    }

    /// Runs one round: processes received frames, then due events. If no frame was received and no event is
    /// due, sleeps until the next event, but only for a limited time.
    ///
    /// # Errors
    /// A device has failed, or no device works. Frames on a failed device are lost and counted. The next
    /// round continues with the other devices.
    pub fn step(&mut self) -> Result<Round, WireError> {
        let Forwarder { wire, network, last, .. } = self;
        let received = wire.receive(&mut |device, arrived, frame| {
            // Events that are due before the arrival of the frame happen first.
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

    /// Runs all events up to `limit`.
    fn run_until(&mut self, limit: Time) {
        if let Some(last) = self.network.run_until(limit) {
            self.last = last;
        }
    }

    /// Sends the frames that left the network. Returns their number.
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

    /// Returns the time of the next round if no frame arrives earlier; `None` if no frame is in the network.
    ///
    /// A wire keeps the order of packets. A packet that a port transmits arrives after all packets that are
    /// already in flight. A poll of a port with packets in flight therefore needs no wake-up: when the next
    /// packet arrives, the port is polled for the time at which the poll was due.
    pub fn next_at(&self) -> Option<Time> {
        let flights = &self.network.flights;
        let next = |direction: &Direction| match flights.front(&direction.in_flight) {
            Some(flight) => Some(flight.arrives),
            None => direction.poll_at,
        };
        self.network.directions.iter().filter_map(next).min()
    }
    /// The wire.
    pub fn wire(&mut self) -> &mut W {
        &mut self.wire
    }
    /// The observers of the ports.
    pub fn observers(&mut self) -> &mut O {
        &mut self.network.observers
    }
    /// The numbers of all frames so far, by outcome.
    pub fn totals(&self) -> &Totals {
        &self.network.edge.totals
    }
    /// The number of frames that are queued, in flight or about to be sent.
    pub fn held(&self) -> u64 {
        self.network.edge.held(&self.network.directions, &self.network.flights)
    }
    /// All counters up to now.
    pub fn report(&mut self) -> Report {
        let now = self.wire.now();
        self.run_until(now);
        self.last = self.last.max(now);
        Report::from_network(&self.node, now, &self.network, &self.send_delay)
    }
}
