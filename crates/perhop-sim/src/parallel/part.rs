//! [`Part`]: one part of a network, and the mailboxes for packets between parts.

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
    flights: Vec<Flight>,
    /// Each entry is a link and the number of successive packets in `flights` that arrive over it.
    links: Vec<(LinkId, usize)>,
    /// The segments of the TCP packets, in the order of `flights`.
    segments: Vec<Carried>,
    /// The earliest arrival; [`Time::MAX`] if there are no packets.
    earliest: Time,
}

impl Mail {
    fn new() -> Mail {
        Mail { flights: Vec::new(), links: Vec::new(), segments: Vec::new(), earliest: Time::MAX }
    }
    /// Moves the packets of `later` behind the packets of this mail.
    fn append(&mut self, later: &mut Mail) {
        self.flights.append(&mut later.flights);
        self.links.append(&mut later.links);
        self.segments.append(&mut later.segments);
        self.earliest = self.earliest.min(std::mem::replace(&mut later.earliest, Time::MAX));
    }
}

/// The packets from one part to another that the other part has not taken yet.
#[derive(Debug)]
struct Mailbox {
    /// The packets of the current round.
    incoming: Mail,
    /// The packets of earlier rounds. A part takes only packets of earlier rounds. Otherwise, it would also
    /// take packets of parts that happen to run first in a round, and would have no work in the next round.
    ready: Mail,
}

impl Mailbox {
    fn new() -> Mailbox {
        Mailbox { incoming: Mail::new(), ready: Mail::new() }
    }
    /// Begins another round. Returns the earliest arrival of the packets in `ready`; [`Time::MAX`] if there
    /// are none.
    fn begin_round(&mut self) -> Time {
        let Mailbox { incoming, ready, .. } = self;
        if ready.flights.is_empty() {
            std::mem::swap(incoming, ready);
        } else {
            ready.append(incoming);
        }
        self.ready.earliest
    }
}

/// The mailboxes of all parts. A part has a mailbox for each part that sends packets to it, so that two
/// threads never wait for the same mailbox.
pub(super) struct Mailboxes {
    boxes: Vec<Mutex<Mailbox>>,
    /// By part: its mailboxes.
    incoming: Vec<Vec<usize>>,
}

impl Mailboxes {
    /// Creates the mailboxes of `parts`, and sets [`Border::mailbox`](super::numbering::Border) in each part.
    pub(super) fn new(parts: &mut [Part]) -> Mailboxes {
        let mut mailboxes = Mailboxes { boxes: Vec::new(), incoming: vec![Vec::new(); parts.len()] };
        for part in parts {
            let mut last = None;
            for border in &mut part.numbering.borders {
                if last != Some(border.part) {
                    last = Some(border.part);
                    mailboxes.incoming[border.part].push(mailboxes.boxes.len());
                    mailboxes.boxes.push(Mutex::new(Mailbox::new()));
                }
                border.mailbox = mailboxes.boxes.len() - 1;
            }
        }
        mailboxes
    }
    /// Begins another round for part `number`. Returns the earliest arrival in the mailboxes of this part;
    /// [`Time::MAX`] if they are empty.
    pub(super) fn begin_round(&self, number: usize) -> Time {
        let arrivals = self.of_part(number).map(|mailbox| lock(mailbox).begin_round());
        arrivals.min().unwrap_or(Time::MAX)
    }
    fn of_part(&self, number: usize) -> impl Iterator<Item = &Mutex<Mailbox>> {
        self.incoming[number].iter().map(|index| &self.boxes[*index])
    }
}

/// Locks `mutex`, even if a thread panicked while it had the lock. Such a panic ends the run without results.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a network, with its own [`World`]. A packet that leaves the part is added to a mailbox of the
/// next part.
pub(super) struct Part {
    pub(super) world: World,
    pub(super) numbering: Numbering,
    /// The mail that the part took last. It is empty between calls, and its memory is reused.
    taken: Mail,
    /// The number of TCP segments that other parts sent to the part's hosts.
    segments: u64,
    /// The total work that earlier calls of [`run_before`](Part::run_before) returned.
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
    /// The number of packets that have entered a wire so far.
    pub(super) fn packet_hops(&self) -> u64 {
        self.world.packet_hops()
    }
    /// Returns the parts to which this part sends packets, each with the shortest delay of the links to it.
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
    /// Takes the last packets in the mailboxes of part `number`, which is this part, and runs every port up
    /// to the end of the run.
    pub(super) fn finish(&mut self, duration: Time, number: usize, mailboxes: &Mailboxes) {
        mailboxes.begin_round(number);
        self.take(number, mailboxes);
        self.world.run_until(duration);
        self.world.catch_up_everywhere(duration);
    }

    /// Moves the packets in the mailboxes of part `number`, which is this part, to their links.
    pub(super) fn take(&mut self, number: usize, mailboxes: &Mailboxes) {
        for mailbox in mailboxes.of_part(number) {
            std::mem::swap(&mut lock(mailbox).ready, &mut self.taken);
            self.admit_taken();
        }
    }

    fn admit_taken(&mut self) {
        let Part { world, taken, segments: segments_taken, .. } = self;
        taken.earliest = Time::MAX;
        if !world.hosts().transport.sessions.is_empty() {
            *segments_taken += taken.segments.len() as u64;
        }
        let mut flights = taken.flights.drain(..);
        let mut segments = taken.segments.drain(..);
        for (link, count) in taken.links.drain(..) {
            for mut flight in flights.by_ref().take(count) {
                if flight.packet.protocol == Protocol::TCP
                    && let Some(carried) = segments.next()
                {
                    let place = world.hosts_mut().transport.segments.hold(carried);
                    flight.packet.payload = flight.packet.payload & !u64::from(u32::MAX) | u64::from(place);
                }
                world.admit(link, flight);
            }
        }
    }

    /// Runs all events before `until`, puts the packets for other parts into their `mailboxes`, and returns
    /// the work since the last call.
    pub(super) fn run_before(&mut self, until: Time, mailboxes: &Mailboxes) -> u64 {
        self.world.run_until(until.saturating_sub(Time::from_picoseconds(1)));
        self.post(mailboxes);
        let counted = work(self.world.packet_hops(), self.world.events(), self.segments);
        counted - std::mem::replace(&mut self.counted, counted)
    }

    fn post(&mut self, mailboxes: &Mailboxes) {
        let Part { world, numbering, .. } = self;
        for border in &numbering.borders {
            if world.first_crossing(border.link).is_none() {
                continue;
            }
            let mut mailbox = lock(&mailboxes.boxes[border.mailbox]);
            let Mail { flights, links, segments, earliest } = &mut mailbox.incoming;
            let before = flights.len();
            while let Some(flight) = world.first_crossing(border.link) {
                // The packet is changed in the mailbox, not in a copy on the stack. To copy a changed packet
                // from the stack would be slow, because the load waits for all earlier stores, also for
                // stores to memory in the cache of another processor.
                flights.extend_from_slice(std::slice::from_ref(flight));
                world.drop_crossing(border.link);
                let Some(Flight { packet, arrives }) = flights.last_mut() else { break };
                *earliest = (*arrives).min(*earliest);
                let own = &mut world.hosts_mut().transport.segments;
                if let Some(carried) = own.carried_by(packet) {
                    segments.push(carried.clone());
                    own.release(packet);
                }
                packet.payload = with_flow(packet.payload, numbering.onward[flow_of(packet)] as usize);
                // In the other part, the path of the flow begins with this link.
                packet.hops = 0;
            }
            links.push((border.far_link, flights.len() - before));
        }
    }
}
