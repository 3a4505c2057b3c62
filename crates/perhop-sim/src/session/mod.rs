//! TCP in the simulator: sessions (an application between two hosts) and their dialogues (connections).
//!
//! A [`Session`] is one flow of a scenario's TCP traffic: a client at `from`, a server at `to`, and a way
//! for packets in either direction. Its application follows a [`Plan`]. A [`Dialogue`] is one connection
//! of it with both its ends. What an end has to send becomes packets of the session's two flows.

mod exchange;
mod plan;
mod segments;
mod watch;

use std::collections::BTreeMap;

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use exchange::Answer;
pub use plan::{Beginning, Connections, Plan, Request};
pub(crate) use segments::{Carried, Segments};
pub(crate) use watch::{ConnectionProbe, ConnectionSample};

use crate::agenda::Slot;
use crate::probe::Delays;
use crate::scenario::Closing;
use crate::tcp::{Connection, Event as TcpEvent, Flags, Parameters, Role, Statistics};
use crate::world::{Event, World};

/// The two ends of a dialogue, and the flows that lead away from them.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// All that is TCP in a world.
#[derive(Debug, Default)]
pub(crate) struct Transport {
    pub(crate) sessions: Vec<Session>,
    dialogues: Vec<Dialogue>,
    /// Places in `dialogues` whose connection is over.
    free: Vec<usize>,
    pub(crate) segments: Segments,
    /// Completion times of transactions, by class: (class, distribution).
    pub(crate) completions: Vec<(usize, Delays)>,
    pub(crate) probes: Vec<ConnectionProbe>,
    /// Where something is captured: every connection there was.
    pub(crate) ledger: Option<Ledger>,
}

/// Session and number of each connection, by its place and which of the connections in that place it is.
#[derive(Debug, Default)]
pub(crate) struct Ledger(BTreeMap<(u32, u32), (usize, u32)>);

impl Ledger {
    /// The session of the connection that `carried` belongs to, and which of that session's connections it is.
    pub(crate) fn connection_of(&self, carried: &Carried) -> Option<(usize, u32)> {
        self.0.get(&(carried.dialogue, carried.generation)).copied()
    }
}

/// An application between two hosts.
#[derive(Debug)]
pub(crate) struct Session {
    /// Index of its entry in the scenario's traffic, and which of that entry's flows it is.
    pub(crate) traffic: usize,
    pub(crate) number: u32,
    /// The flows whose packets the client and the server send.
    pub(crate) flows: [usize; 2],
    pub(crate) parameters: Parameters,
    pub(crate) plan: Plan,
    pub(crate) stops: Time,
    pub(crate) stream: Stream,
    pub(crate) slot: Slot,
    /// When the agenda comes to it next; [`Time::MAX`] if it does not.
    pub(crate) due: Time,
    /// Whether the host of the client and that of the server may be ahead of the agenda: nobody else there sends by the
    /// link by which this session's packets leave, and nobody watches that link.
    pub(crate) may_be_ahead: [bool; 2],
    /// Connections that are not over.
    pub(crate) open: u32,
    pub(crate) started: bool,
    /// Connections begun since the start of the run.
    pub(crate) begun: u32,
    /// Its class's place in [`Transport::completions`].
    pub(crate) completions: usize,
    pub(crate) tally: SessionTally,
}

/// What is counted of a session after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionTally {
    pub(crate) connections: u64,
    pub(crate) transactions: u64,
    /// Sum of completion times, picoseconds, of the transactions that have one.
    pub(crate) completion: u128,
    pub(crate) completed: u64,
    /// Payload bytes that arrived in order, at the client and at the server.
    pub(crate) received: [u64; 2],
    /// Of dialogues that are over, from the start of the run.
    pub(crate) over: Statistics,
    /// All by the end of the warm-up.
    before: Statistics,
}

/// One connection and both its ends.
#[derive(Debug)]
struct Dialogue {
    session: usize,
    /// The session's.
    flows: [usize; 2],
    generation: u32,
    /// Which of its session's connections it is, from 0; `None` once it is over.
    number: Option<u32>,
    ends: [Connection; 2],
    /// The instant of each end's wake-up on the agenda; [`Time::MAX`] where it waits for none.
    armed: [Time; 2],
    slots: [Slot; 2],
    closed: [bool; 2],
    /// The transaction under way: when it began, bytes of its request, and bytes of it that have arrived
    /// at the client (response) and the server (request).
    began: Time,
    request: u64,
    arrived: [u64; 2],
}

impl<W: Watch> World<W> {
    /// `session` starts, begins a transaction by itself, or stops.
    pub(crate) fn session_due(&mut self, now: Time, session: usize) {
        let Session { plan, stops, slot, due, started, stream, .. } = &mut self.transport.sessions[session];
        *due = Time::MAX;
        if now >= *stops {
            return self.stop(now, session);
        }
        let first = !std::mem::replace(started, true);
        if let Some(gap) = plan.gap(stream) {
            let next = now.saturating_add(gap).min(*stops);
            self.agenda.schedule(*slot, next);
            *due = next;
            // A Poisson process begins with a gap, not with a transaction.
            if first {
                return;
            }
        } else if *stops < self.duration {
            self.agenda.schedule(*slot, *stops);
            *due = *stops;
        }
        self.connect(now, session);
    }

    /// `session` begins nothing more; what it has not sent yet it does not send.
    fn stop(&mut self, now: Time, session: usize) {
        for dialogue in 0..self.transport.dialogues.len() {
            let Dialogue { session: owner, closed, ends, .. } = &mut self.transport.dialogues[dialogue];
            if *owner == session && *closed != [true, true] {
                ends[CLIENT].stop_sending();
                self.serve(now, dialogue, CLIENT);
            }
        }
    }

    /// A new connection of `session`.
    fn connect(&mut self, now: Time, session: usize) {
        let Session { parameters, stream, tally, begun, open, flows, .. } =
            &mut self.transport.sessions[session];
        let flows = *flows;
        *open += 1;
        tally.connections += u64::from(now >= self.warmup);
        let number = *begun;
        *begun = begun.wrapping_add(1);
        let tick = parameters.clock.as_seconds();
        let mut end = |role| {
            let phase = Time::from_seconds_f64(stream.uniform() * tick);
            Connection::new(parameters, role, phase)
        };
        let ends = [end(Role::Active), end(Role::Passive)];
        let place = self.transport.free.pop().unwrap_or(self.transport.dialogues.len());
        if let Some(dialogue) = self.transport.dialogues.get_mut(place) {
            let (slots, generation) = (dialogue.slots, dialogue.generation.wrapping_add(1));
            *dialogue = Dialogue::new(session, flows, generation, number, ends, slots, now);
        } else {
            let slots =
                [CLIENT, SERVER].map(|end| self.agenda.register(Event::ConnectionTimer(2 * place + end)));
            self.transport.dialogues.push(Dialogue::new(session, flows, 0, number, ends, slots, now));
        }
        if let Some(Ledger(connections)) = &mut self.transport.ledger {
            let generation = self.transport.dialogues[place].generation;
            connections.insert((place as u32, generation), (session, number));
        }
        self.serve(now, place, CLIENT);
        self.serve(now, place, SERVER);
    }

    /// Frees the place of a dialogue if both its ends are closed: neither needs an answer any more.
    #[inline(never)]
    fn retire(&mut self, place: usize) {
        let Dialogue { session, closed, ends, generation, armed, number, .. } =
            &mut self.transport.dialogues[place];
        if *closed != [true, true] {
            return;
        }
        let Session { tally, open, .. } = &mut self.transport.sessions[*session];
        *open -= 1;
        for end in ends.iter() {
            tally.over.merge(&end.statistics());
        }
        // Whatever still comes for it is for none.
        *generation = generation.wrapping_add(1);
        *number = None;
        *closed = [false, false];
        *armed = [Time::MAX; 2];
        let parameters = *ends[CLIENT].parameters();
        *ends = [Role::Passive; 2].map(|role| Connection::new(&parameters, role, Time::ZERO));
        self.transport.free.push(place);
    }

    /// The application at `end` hears of `event`.
    fn answer(&mut self, now: Time, place: usize, end: usize, event: TcpEvent) -> Answer {
        match (end, event) {
            (_, TcpEvent::Acknowledged(_)) | (SERVER, TcpEvent::Connected) => return Answer::Silence,
            (SERVER, TcpEvent::Received(bytes)) => return self.server_receives(now, place, bytes),
            (_, TcpEvent::Received(bytes)) => return self.client_receives(now, place, bytes),
            (_, TcpEvent::Connected) => self.begin(now, place),
            (CLIENT, TcpEvent::PeerClosed) => self.client_hears_the_end(now, place),
            (_, TcpEvent::PeerClosed) => {
                let Dialogue { session, began, ends, .. } = &mut self.transport.dialogues[place];
                ends[SERVER].close();
                let (session, began) = (*session, *began);
                if self.transport.sessions[session].plan.beginning != Beginning::InTurn {
                    // The whole request is here.
                    self.complete(now, session, began);
                }
            }
            (_, TcpEvent::Closed) => {
                self.transport.dialogues[place].closed[end] = true;
                return Answer::Farewell;
            }
        }
        Answer::Act
    }

    /// The client sends the request of the next transaction.
    fn begin(&mut self, now: Time, place: usize) {
        let dialogue = &mut self.transport.dialogues[place];
        let Session { plan, stream, stops, .. } = &mut self.transport.sessions[dialogue.session];
        if now >= *stops {
            return dialogue.ends[CLIENT].close();
        }
        dialogue.request = plan.next_request(stream);
        if plan.connections == Connections::One {
            dialogue.began = now;
        }
        let bytes = if plan.is_continuous() { u64::MAX } else { dialogue.request };
        dialogue.ends[CLIENT].send(bytes);
        if plan.closes(Closing::Client) && plan.response == 0 {
            dialogue.ends[CLIENT].close();
        }
    }

    /// `bytes` of requests arrive: whole ones are answered.
    fn server_receives(&mut self, now: Time, place: usize, bytes: u64) -> Answer {
        let measured = now >= self.warmup;
        let dialogue = &mut self.transport.dialogues[place];
        let Session { plan, tally, .. } = &mut self.transport.sessions[dialogue.session];
        tally.received[SERVER] += if measured { bytes } else { 0 };
        dialogue.arrived[SERVER] += bytes;
        let mut answer = Answer::Silence;
        while dialogue.arrived[SERVER] >= dialogue.request {
            answer = Answer::Act;
            dialogue.arrived[SERVER] -= dialogue.request;
            dialogue.ends[SERVER].send(plan.response);
            if plan.closes(Closing::Server) {
                dialogue.ends[SERVER].close();
            }
            if plan.is_continuous() {
                tally.transactions += u64::from(measured);
            }
        }
        answer
    }

    /// `bytes` of a response arrive: a whole one ends the transaction, or is followed by closing.
    fn client_receives(&mut self, now: Time, place: usize, bytes: u64) -> Answer {
        let dialogue = &mut self.transport.dialogues[place];
        let session = dialogue.session;
        let Session { plan, tally, .. } = &mut self.transport.sessions[session];
        tally.received[CLIENT] += if now >= self.warmup { bytes } else { 0 };
        dialogue.arrived[CLIENT] += bytes;
        if dialogue.arrived[CLIENT] < plan.response {
            return Answer::Silence;
        }
        dialogue.arrived[CLIENT] -= plan.response;
        match plan.connections {
            Connections::PerTransaction if plan.closing == Closing::Server => {}
            Connections::PerTransaction => dialogue.ends[CLIENT].close(),
            Connections::One => {
                let began = dialogue.began;
                self.complete(now, session, began);
                self.begin(now, place);
            }
        }
        Answer::Act
    }

    /// The server has closed: the transaction is over, the next one begins at once.
    fn client_hears_the_end(&mut self, now: Time, place: usize) {
        let Dialogue { session, began, .. } = self.transport.dialogues[place];
        let Session { plan, stops, .. } = self.transport.sessions[session];
        if plan.beginning == Beginning::InTurn && plan.connections == Connections::PerTransaction {
            // It has closed already, unless the server was the first.
            self.transport.dialogues[place].ends[CLIENT].close();
            self.complete(now, session, began);
            if now < stops {
                self.connect(now, session);
            }
        }
    }

    /// A transaction of `session` that began at `began` is over.
    fn complete(&mut self, now: Time, session: usize, began: Time) {
        if now < self.warmup {
            return;
        }
        let Session { tally, completions, .. } = &mut self.transport.sessions[session];
        let time = now - began;
        tally.transactions += 1;
        tally.completed += 1;
        tally.completion += u128::from(time.as_picoseconds());
        self.transport.completions[*completions].1.record(time, None);
    }
}

impl Transport {
    /// Whether what `packet` carries may be answered as soon as it is known that it will arrive at `arrives`: nothing
    /// that the agenda holds happens to that end of its connection before.
    ///
    /// What opens or closes a connection is left to the agenda, since it concerns both ends and those that follow.
    pub(crate) fn may_answer(&self, packet: &Packet, arrives: Time) -> bool {
        let Some(carried) = self.segments.of(packet) else { return true };
        let dialogue = self.dialogues.get(carried.dialogue as usize);
        // A segment of a recording, or of a connection that is over, is for nobody.
        let Some(dialogue) = dialogue.filter(|dialogue| dialogue.generation == carried.generation) else {
            return true;
        };
        let (session, end) = (&self.sessions[dialogue.session], usize::from(carried.end));
        session.may_be_ahead[end]
            && session.open == 1
            && arrives <= session.due
            && !carried.segment.has(Flags::SYN)
            && !carried.segment.has(Flags::FIN)
            && dialogue.ends[end].is_only_open()
    }
    /// What the senders of both ends of each session counted since the start of the run.
    fn sent(&self) -> Vec<Statistics> {
        let mut sums: Vec<Statistics> = self.sessions.iter().map(|session| session.tally.over).collect();
        for dialogue in &self.dialogues {
            dialogue.ends.iter().for_each(|end| sums[dialogue.session].merge(&end.statistics()));
        }
        sums
    }
    /// The warm-up is over: what the senders counted before does not count.
    pub(crate) fn end_warmup(&mut self) {
        for (session, before) in (0..).zip(self.sent()) {
            self.sessions[session].tally.before = before;
        }
    }
    /// What the senders of each session counted after the warm-up.
    pub(crate) fn measured(&self) -> Vec<Statistics> {
        let sums = self.sent().into_iter().zip(&self.sessions);
        sums.map(|(sum, session)| sum.since(&session.tally.before)).collect()
    }
}

impl Dialogue {
    fn new(
        session: usize,
        flows: [usize; 2],
        generation: u32,
        number: u32,
        ends: [Connection; 2],
        slots: [Slot; 2],
        now: Time,
    ) -> Dialogue {
        Dialogue {
            session,
            flows,
            generation,
            number: Some(number),
            ends,
            armed: [Time::MAX; 2],
            slots,
            closed: [false, false],
            began: now,
            request: u64::MAX,
            arrived: [0, 0],
        }
    }
}
