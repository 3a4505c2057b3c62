//! [`Network`]: what one process does with packets, in order of time. It knows frames and instants, no devices.
//!
//! Everything happens at its own instant, however late anybody looks: what a port lets out at 5 ms is on the
//! wire from 5 ms on, so that neither pacing nor the order of events depends on the machine's mood.

use perhop_net::agenda::Agenda;
use perhop_qos::observer::Watch;
use perhop_qos::packet::{Dscp, Ecn, Packet};
use perhop_qos::port::Sent;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};

use super::Event;
use super::counters::Books;
use super::direction::{Direction, Flight, Input, Loss};
use super::routes::Routes;
use super::slots::SlotId;
use crate::config::OtherFrames;
use crate::frame::{LinkLayer, Refusal, read, stays_on_link};
use crate::wire::DeviceId;

/// What becomes of the frames that arrive by a device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entrance {
    /// Nothing is received there.
    Closed,
    /// They enter a direction.
    Direction { direction: u16, others: OtherFrames },
    /// They are conditioned and routed.
    Input(u16),
    /// They are conditioned and enter a direction.
    InputOf { input: u16, direction: u16, others: OtherFrames },
}

impl Entrance {
    /// The direction that frames pass by too that carry no IP packet.
    fn passes_others_to(self) -> Option<usize> {
        match self {
            Entrance::Direction { direction, others: OtherFrames::Pass }
            | Entrance::InputOf { direction, others: OtherFrames::Pass, .. } => Some(usize::from(direction)),
            _ => None,
        }
    }
}

/// A frame that is to be sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) device: DeviceId,
    /// When it was to be sent, to the picosecond.
    pub(crate) due: Time,
    pub(crate) slot: SlotId,
    /// What is to be written into it; `None`: nothing, it goes past the ports as it came.
    pub(crate) marks: Option<(Dscp, Ecn)>,
}

/// Whether a packet is still here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Held,
    Ended,
}

/// Directions of links and what they have in common.
#[derive(Debug)]
pub(crate) struct Network<O> {
    pub(crate) link_layer: LinkLayer,
    pub(crate) agenda: Agenda<Event>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) inputs: Vec<Input>,
    /// By device.
    pub(crate) entrances: Vec<Entrance>,
    pub(crate) routes: Routes,
    /// Frames to send, in order of time.
    pub(crate) outbox: Vec<Leaving>,
    pub(crate) books: Books<O>,
    /// When the last thing happened: nothing happens before it any more.
    pub(crate) last: Time,
}

impl<O: Watch> Network<O> {
    /// `frame` arrived by `device` at `arrived`; what is due before it happens before it.
    pub(crate) fn receive(&mut self, device: DeviceId, arrived: Time, frame: &[u8]) {
        let now = arrived.max(self.last);
        self.run_until(now);
        self.last = now;
        self.books.totals.received += 1;
        self.books.totals.received_bytes += frame.len() as u64;
        let entrance = self.entrances.get(device.index()).copied().unwrap_or(Entrance::Closed);
        if let Entrance::Closed = entrance {
            self.books.totals.unexpected += 1;
            return;
        }
        let frame_in = match read(self.link_layer, frame) {
            Ok(frame_in) => frame_in,
            Err(refusal) => return self.refuse(now, entrance, refusal, frame),
        };
        if entrance.passes_others_to().is_none() && stays_on_link(&frame_in.packet) {
            self.books.totals.local += 1;
            return;
        }
        let Some(slot) = self.slot_for(frame) else { return };
        let mut packet = frame_in.packet;
        packet.sent_at = now;
        packet.payload = u64::from(slot.0);
        let fate = match entrance {
            Entrance::Direction { direction, .. } => self.forward(now, usize::from(direction), &mut packet),
            Entrance::Input(input) => self.enter(now, usize::from(input), None, &mut packet),
            Entrance::InputOf { input, direction, .. } => {
                self.enter(now, usize::from(input), Some(usize::from(direction)), &mut packet)
            }
            Entrance::Closed => self.end(now, &packet, DropCause::NoRoute),
        };
        if fate == Fate::Held {
            self.books.slots.fill(slot, frame, frame_in.layout);
        }
    }

    /// A slot for `frame`, where it fits into one and there is one; else it ends here.
    #[inline]
    fn slot_for(&mut self, frame: &[u8]) -> Option<SlotId> {
        if !self.books.slots.fits(frame.len()) {
            self.books.totals.oversized += 1;
            return None;
        }
        let slot = self.books.slots.take();
        self.books.totals.no_slot += u64::from(slot.is_none());
        slot
    }

    /// `frame` holds no packet: it ends here, or goes past the ports where nothing but that is wrong with it.
    #[cold]
    fn refuse(&mut self, now: Time, entrance: Entrance, refusal: Refusal, frame: &[u8]) {
        if refusal == Refusal::NotInternet
            && let Some(direction) = entrance.passes_others_to()
            && let Some(device) = self.directions[direction].sends_on
        {
            let Some(slot) = self.slot_for(frame) else { return };
            self.books.slots.fill(slot, frame, crate::frame::Layout::default());
            return self.outbox.push(Leaving { device, due: now, slot, marks: None });
        }
        self.books.totals.refused[refusal.index()] += 1;
    }

    /// `packet` comes from another process by `input`, and goes on by a direction or to where it wants.
    fn enter(&mut self, now: Time, input: usize, direction: Option<usize>, packet: &mut Packet) -> Fate {
        let Input { conditioner, interface, dropped, .. } = &mut self.inputs[input];
        packet.arrive(*interface);
        if !conditioner.is_empty()
            && let Verdict::Drop(cause) = conditioner.condition(now, packet)
        {
            if now >= self.books.counts_from {
                dropped[cause.index()].add(packet.length);
            }
            return self.end(now, packet, cause);
        }
        match direction {
            Some(direction) => self.forward(now, direction, packet),
            None => self.route(now, packet),
        }
    }

    /// `packet` is at a node and goes on to where it wants.
    #[inline]
    fn route(&mut self, now: Time, packet: &mut Packet) -> Fate {
        match self.routes.find(packet.destination) {
            Some(direction) => self.forward(now, usize::from(direction), packet),
            None => self.end(now, packet, DropCause::NoRoute),
        }
    }

    /// Lets happen what happens until `limit`.
    #[inline]
    pub(crate) fn run_until(&mut self, limit: Time) {
        while let Some((now, event)) = self.agenda.pop_until(limit) {
            self.last = now;
            match event {
                Event::Arrival(direction) => self.arrive(now, direction as usize),
                Event::ShaperReady(direction) => self.wake(now, direction as usize),
            }
        }
    }

    /// Lets every port do what is due by `limit`, for a look at the counters: a port does so by itself only when
    /// that makes a difference to a packet.
    pub(crate) fn settle(&mut self, limit: Time) {
        self.run_until(limit);
        self.last = self.last.max(limit);
        for direction in 0..self.directions.len() {
            self.catch_up(limit, direction);
            self.await_shaper(direction);
        }
    }

    /// `packet` leaves a node by `direction`.
    fn forward(&mut self, now: Time, direction: usize, packet: &mut Packet) -> Fate {
        self.catch_up(now, direction);
        let fate = self.pass(now, direction, packet);
        self.await_shaper(direction);
        fate
    }

    /// `packet` passes the output conditioners of `direction` and its port.
    fn pass(&mut self, now: Time, direction: usize, packet: &mut Packet) -> Fate {
        self.books.watch.comes(now, direction, packet);
        let Direction { output, port, tally, .. } = &mut self.directions[direction];
        if !output.is_empty()
            && let Verdict::Drop(cause) = output.condition(now, packet)
        {
            if now >= self.books.counts_from {
                tally.unqueued[cause.index()].add(packet.length);
            }
            self.books.watch.ends(now, direction, packet, cause);
            return self.end(now, packet, cause);
        }
        match port.send(now, packet, self.books.at(direction, tally)) {
            Sent::Transmitted(departure) => self.launch(direction, packet, departure.ends),
            Sent::Queued if port.ring().has_room() => self.transmit(now, direction),
            Sent::Queued => {}
            Sent::Dropped => return Fate::Ended,
        }
        Fate::Held
    }

    /// Lets the port of `direction` send what is due by `now`, each packet at its own instant.
    #[inline]
    fn catch_up(&mut self, now: Time, direction: usize) {
        while let Some(due) = self.directions[direction].port.poll_timeout().filter(|due| *due <= now) {
            self.transmit(due, direction);
        }
    }

    /// Puts on the wire of `direction` whatever its port lets out at `now`.
    fn transmit(&mut self, now: Time, direction: usize) {
        let mut packet = Packet::default();
        loop {
            let Direction { port, tally, .. } = &mut self.directions[direction];
            let observer = self.books.at(direction, tally);
            let Some(departure) = port.poll_transmit(now, &mut packet, observer) else { break };
            self.launch(direction, &packet, departure.ends);
        }
    }

    /// `packet` is on the wire of `direction` until `ends`: it arrives when its last bit does.
    #[inline]
    fn launch(&mut self, direction: usize, packet: &Packet, ends: Time) {
        let Direction { delay, in_flight, arrival, .. } = &mut self.directions[direction];
        let arrives = ends.saturating_add(*delay);
        if in_flight.is_empty() {
            self.agenda.schedule(*arrival, arrives);
        }
        in_flight.push_back(Flight { arrives, packet: *packet });
    }

    /// The packet at the head of the flight of `direction` reaches the far end.
    ///
    /// While a port is busy something is in flight on its wire, and reaches the far end before the packet after
    /// the next could be late: the port needs no wake-up of its own.
    fn arrive(&mut self, now: Time, direction: usize) {
        let Direction { in_flight, arrival, .. } = &mut self.directions[direction];
        let Some(Flight { mut packet, .. }) = in_flight.pop_front() else { return };
        if let Some(next) = in_flight.front() {
            self.agenda.schedule(*arrival, next.arrives);
        }
        self.catch_up(now, direction);
        self.await_shaper(direction);
        self.reach(now, direction, &mut packet);
    }

    /// `packet` reaches the far end of `direction`.
    fn reach(&mut self, now: Time, direction: usize, packet: &mut Packet) -> Fate {
        let Direction { loss, input, far_interface, sends_on, .. } = &mut self.directions[direction];
        if loss.as_mut().is_some_and(Loss::strikes) {
            return self.end_beyond(now, direction, packet, DropCause::Lost);
        }
        if let Some(conditioner) = input {
            packet.arrive(*far_interface);
            if !conditioner.is_empty()
                && let Verdict::Drop(cause) = conditioner.condition(now, packet)
            {
                return self.end_beyond(now, direction, packet, cause);
            }
        }
        match *sends_on {
            None => self.route(now, packet),
            Some(device) => {
                let (slot, marks) = (SlotId(packet.payload as u32), Some((packet.dscp, packet.ecn)));
                self.outbox.push(Leaving { device, due: now, slot, marks });
                Fate::Held
            }
        }
    }

    /// Asks for a wake-up where a shaper holds back all that waits: then nothing need be in flight.
    #[inline]
    fn await_shaper(&mut self, direction: usize) {
        let Direction { port, shaper_ready, shaper_ready_at, .. } = &mut self.directions[direction];
        let Some(time) = port.shaped_until() else { return };
        // A wake-up that comes too early costs a look and is asked for again; one too late would be wrong.
        if shaper_ready_at.is_none_or(|pending| time < pending) {
            self.agenda.schedule(*shaper_ready, time);
            *shaper_ready_at = Some(time);
        }
    }

    /// The shaper of `direction` asked to be polled at `now`, unless an earlier wake-up has taken this one's place.
    fn wake(&mut self, now: Time, direction: usize) {
        let pending = &mut self.directions[direction].shaper_ready_at;
        if *pending == Some(now) {
            *pending = None;
            self.catch_up(now, direction);
            self.await_shaper(direction);
        }
    }

    /// `packet` ends behind the port of `direction`.
    #[cold]
    fn end_beyond(&mut self, now: Time, direction: usize, packet: &Packet, cause: DropCause) -> Fate {
        if now >= self.books.counts_from {
            self.directions[direction].tally.beyond[cause.index()].add(packet.length);
        }
        self.books.watch.ends(now, direction, packet, cause);
        self.end(now, packet, cause)
    }

    /// `packet` ends outside a port.
    #[cold]
    fn end(&mut self, now: Time, packet: &Packet, cause: DropCause) -> Fate {
        self.books.end(now, packet, cause);
        Fate::Ended
    }

    /// Frames that are queued, in flight or about to be sent.
    pub(crate) fn held(&self) -> u64 {
        self.directions.iter().map(Direction::held).sum::<u64>() + self.outbox.len() as u64
    }
}
