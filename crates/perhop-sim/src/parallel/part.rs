//! [`Part`]: one part of a network, and the packets that it sends to others.

use std::sync::{Mutex, MutexGuard, PoisonError};

use perhop_net::Flight;
use perhop_qos::packet::Protocol;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::cost::work;
use super::numbering::Numbering;
use crate::engine::Engine;
use crate::fast::World;
use crate::flow::{flow_of, with_flow};
use crate::session::Carried;
use crate::setup::Setup;

/// Packets on their way to a part. The packets of each link are in order of arrival.
#[derive(Debug)]
struct Mail {
    flights: Vec<(LinkId, Flight)>,
    /// The segments of the packets of TCP, in their order.
    segments: Vec<Carried>,
    /// The earliest arrival; [`Time::MAX`] if there is none.
    earliest: Time,
}

impl Mail {
    fn new() -> Mail {
        Mail { flights: Vec::new(), segments: Vec::new(), earliest: Time::MAX }
    }
    /// Moves the packets of `later` behind the packets of this mail.
    fn append(&mut self, later: &mut Mail) {
        self.flights.append(&mut later.flights);
        self.segments.append(&mut later.segments);
        self.earliest = self.earliest.min(std::mem::replace(&mut later.earliest, Time::MAX));
    }
}

/// The packets that a part has not taken yet.
#[derive(Debug)]
pub(super) struct Mailbox {
    /// The packets of the current round.
    incoming: Mail,
    /// The packets of earlier rounds. A part takes only these. Otherwise, it would also take packets of parts
    /// that happen to run before it, and would have no work in the next round.
    ready: Mail,
}

impl Mailbox {
    pub(super) fn new() -> Mailbox {
        Mailbox { incoming: Mail::new(), ready: Mail::new() }
    }
    /// Begins another round, and returns the earliest arrival; [`Time::MAX`] if the mailbox is empty.
    pub(super) fn begin_round(&mut self) -> Time {
        let Mailbox { incoming, ready, .. } = self;
        if ready.flights.is_empty() {
            std::mem::swap(incoming, ready);
        } else {
            ready.append(incoming);
        }
        self.ready.earliest
    }
}

/// Locks `mutex`, also after another thread panicked. Such a panic ends the run, and its results are not
/// used.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a network. It is a separate world, whose packets for other parts go to their mailboxes.
pub(super) struct Part {
    pub(super) world: World,
    pub(super) numbering: Numbering,
    /// The last mail that was taken. Its memory is reused.
    taken: Mail,
    /// The number of TCP segments that other parts sent to the part's hosts.
    segments: u64,
    /// The work that earlier calls of [`run_before`](Part::run_before) returned.
    counted: u64,
}

impl Part {
    pub(super) fn new(setup: Setup, numbering: Numbering) -> Part {
        Part { world: World::new(setup, ()), numbering, taken: Mail::new(), segments: 0, counted: 0 }
    }

    /// The end of the run.
    pub(super) fn duration(&self) -> Time {
        self.world.hosts().measurements.duration
    }
    /// The packets on wires so far.
    pub(super) fn packet_hops(&self) -> u64 {
        self.world.packet_hops()
    }
    /// The parts to which this part sends packets, and the shortest delay of the links to each.
    pub(super) fn neighbors(&self) -> Vec<(usize, Time)> {
        let mut neighbors: Vec<(usize, Time)> = Vec::new();
        for border in &self.numbering.borders {
            match neighbors.last_mut() {
                Some((part, delay)) if *part == border.part => *delay = border.delay.min(*delay),
                _ => neighbors.push((border.part, border.delay)),
            }
        }
        neighbors
    }
    /// Takes the last packets of the `mailbox` and brings every port to the end of the run.
    pub(super) fn finish(&mut self, duration: Time, mailbox: &Mutex<Mailbox>) {
        lock(mailbox).begin_round();
        self.take(mailbox);
        self.world.run_until(duration);
        self.world.catch_up_everywhere(duration);
    }

    /// Takes the packets in the `mailbox` and adds them to their links.
    pub(super) fn take(&mut self, mailbox: &Mutex<Mailbox>) {
        let Part { world, taken, segments: segments_taken, .. } = self;
        std::mem::swap(&mut lock(mailbox).ready, taken);
        taken.earliest = Time::MAX;
        if !world.hosts().transport.sessions.is_empty() {
            *segments_taken += taken.segments.len() as u64;
        }
        let mut segments = taken.segments.drain(..);
        for (link, mut flight) in taken.flights.drain(..) {
            if flight.packet.protocol == Protocol::TCP
                && let Some(carried) = segments.next()
            {
                let place = world.hosts_mut().transport.segments.hold(carried);
                flight.packet.payload = flight.packet.payload & !u64::from(u32::MAX) | u64::from(place);
            }
            world.admit(link, flight);
        }
    }

    /// Runs all events before `until`, puts the packets for other parts into their `mailboxes`, and returns
    /// the work since the last call.
    pub(super) fn run_before(&mut self, until: Time, mailboxes: &[Mutex<Mailbox>]) -> u64 {
        self.world.run_until(until.saturating_sub(Time::from_picoseconds(1)));
        self.post(mailboxes);
        let counted = work(self.world.packet_hops(), self.world.events(), self.segments);
        counted - std::mem::replace(&mut self.counted, counted)
    }

    fn post(&mut self, mailboxes: &[Mutex<Mailbox>]) {
        let Part { world, numbering, .. } = self;
        let mut open: Option<(usize, MutexGuard<'_, Mailbox>)> = None;
        for border in &numbering.borders {
            while let Some(mut flight) = world.take_crossing(border.link) {
                let mailbox = match &mut open {
                    Some((part, mailbox)) if *part == border.part => mailbox,
                    _ => {
                        // A thread must not hold two of these locks, because two threads could then wait for
                        // each other.
                        drop(open.take());
                        &mut open.insert((border.part, lock(&mailboxes[border.part]))).1
                    }
                };
                let packet = &mut flight.packet;
                let segments = &mut world.hosts_mut().transport.segments;
                if let Some(carried) = segments.carried_by(packet) {
                    mailbox.incoming.segments.push(carried.clone());
                    segments.release(packet);
                }
                packet.payload = with_flow(packet.payload, numbering.onward[flow_of(packet)] as usize);
                // In the other part, the path of the flow begins with this link.
                packet.hops = 0;
                mailbox.incoming.earliest = mailbox.incoming.earliest.min(flight.arrives);
                mailbox.incoming.flights.push((border.far_link, flight));
            }
        }
    }
}
