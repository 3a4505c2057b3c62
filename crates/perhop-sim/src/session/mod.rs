//! TCP in the simulator: sessions (an application between two hosts) and their dialogues (connections).
//!
//! A [`Session`] is one flow of a scenario's TCP traffic: a client at `from`, a server at `to`, and a way
//! for packets in either direction. Its application follows a [`Plan`]. A [`Dialogue`] is one connection
//! of it with both its ends. What an end has to send becomes packets of the session's two flows.

mod ahead;
mod end;
mod exchange;

mod segments;
mod watch;

use std::collections::BTreeMap;

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use end::End;

pub(crate) use segments::{Carried, Segments};
pub(crate) use watch::ConnectionProbe;

use crate::link::payload;
use crate::tcp::{Connection, Event as TcpEvent, Role};
use crate::world::{Event, World};
use perhop_measure::tcp::{CLIENT, ConnectionSeries, SERVER, SenderStatistics, TcpMeasurements};
use perhop_net::agenda::Slot;
use perhop_scenario::Closing;
use perhop_scenario::plan::{Beginning, Connections, Plan};
use perhop_scenario::tcp::Parameters;

/// All that is TCP in a world.
#[derive(Debug, Default)]
pub(crate) struct Transport {
    pub(crate) sessions: Vec<Session>,
    /// Of each session, the sum of the places of its open dialogues: the place of the only one, where there is but one.
    open_places: Vec<usize>,
    dialogues: Vec<Dialogue>,
    /// Their ends: those of the dialogue at a place stand at [twice that](end_of), the client's before the server's.
    ends: Vec<End>,
    /// Places in `dialogues` whose connection is over.
    free: Vec<usize>,
    pub(crate) segments: Segments,
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
        self.0.get(&(carried.end / 2, carried.generation)).copied()
    }
}

/// An application between two hosts.
#[derive(Debug)]
pub(crate) struct Session {
    /// Index of its entry in the scenario's traffic.
    pub(crate) traffic: usize,
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
    /// What the senders of connections that are over did.
    pub(crate) over: SenderStatistics,
    /// What all its senders had done by the end of the warm-up.
    pub(crate) before: SenderStatistics,
}

/// One connection: what its ends have in common.
#[derive(Debug)]
struct Dialogue {
    session: usize,
    /// Which of its session's connections it is, from 0; `None` once it is over.
    number: Option<u32>,
    /// When the transaction under way began.
    began: Time,
}

/// The place of one end, [`CLIENT`] or [`SERVER`], of the dialogue at `place`.
const fn end_of(place: usize, end: usize) -> usize {
    2 * place + end
}

impl<W: Watch> World<W> {
    /// `session` starts, begins a transaction by itself, or stops.
    pub(crate) fn session_due(&mut self, now: Time, session: usize) {
        let Session { plan, stops, slot, due, started, stream, .. } = &mut self.transport.sessions[session];
        let is_over = now >= *stops;
        let first = !std::mem::replace(started, true);
        let gap = if is_over { None } else { plan.gap(stream) };
        *due = match gap {
            Some(gap) => now.saturating_add(gap).min(*stops),
            None if !is_over && *stops < self.measurements.duration => *stops,
            None => Time::MAX,
        };
        if *due < Time::MAX {
            self.agenda.schedule(*slot, *due);
        }
        self.transport.note_leads(session);
        if is_over {
            self.stop(now, session);
        } else if gap.is_none() || !first {
            // A Poisson process begins with a gap, not with a transaction.
            self.connect(now, session);
        }
    }

    /// `session` begins nothing more; what it has not sent yet it does not send.
    fn stop(&mut self, now: Time, session: usize) {
        for place in 0..self.transport.dialogues.len() {
            let [client, server] = [CLIENT, SERVER].map(|end| end_of(place, end));
            let Transport { dialogues, ends, .. } = &mut self.transport;
            if dialogues[place].session == session && !(ends[client].closed && ends[server].closed) {
                ends[client].connection.stop_sending();
                self.serve(now, client);
            }
        }
    }

    /// A new connection of `session`.
    fn connect(&mut self, now: Time, session: usize) {
        let Session { parameters, stream, begun, open, .. } = &mut self.transport.sessions[session];
        *open += 1;
        let tally = &mut self.measurements.tcp.sessions[session].tally;
        tally.connections += u64::from(now >= self.measurements.warmup);
        let number = *begun;
        *begun = begun.wrapping_add(1);
        let tick = parameters.clock.as_seconds();
        let mut end = |role| {
            let phase = Time::from_seconds_f64(stream.uniform() * tick);
            Connection::new(parameters, role, phase)
        };
        let connections = [end(Role::Active), end(Role::Passive)];
        let place = self.transport.add(Dialogue { session, number: Some(number), began: now });
        for (end, connection) in (0..).zip(connections) {
            self.add_end(session, end_of(place, end), connection);
        }
        self.transport.note_open(session, place);
        let [client, server] = [CLIENT, SERVER].map(|end| end_of(place, end));
        if let Some(Ledger(connections)) = &mut self.transport.ledger {
            let generation = self.transport.ends[client].generation;
            connections.insert((place as u32, generation), (session, number));
        }
        self.serve(now, client);
        self.serve(now, server);
    }

    /// `connection` is the end at `place`, client or server of `session`.
    fn add_end(&mut self, session: usize, place: usize, connection: Connection) {
        let side = place % 2;
        let Session { flows, plan, .. } = &self.transport.sessions[session];
        let (flow, response) = (flows[side], plan.response);
        let link = self.link_of(flow, 0);
        let ends = &mut self.transport.ends;
        let used = ends.get(place).map(|end| (end.slot, end.generation));
        let (slot, generation) =
            used.unwrap_or_else(|| (self.agenda.register(Event::ConnectionTimer(place as u32)), 0));
        let end = End {
            connection,
            session,
            template: Packet { payload: payload(flow, 0), ..self.templates[flow] },
            link,
            peer: place as u32 ^ 1,
            generation,
            lead: Time::ZERO,
            slot,
            armed: Time::MAX,
            closed: false,
            arrived: 0,
            awaited: if side == CLIENT { response } else { u64::MAX },
            received: 0,
        };
        match ends.get_mut(place) {
            Some(vacant) => *vacant = end,
            None => ends.push(end),
        }
    }

    /// An `end` is closed. If the other is, too, neither needs an answer any more: the place of their dialogue is free.
    #[inline(never)]
    fn retire(&mut self, end: usize) {
        let Transport { sessions, dialogues, ends, free, .. } = &mut self.transport;
        ends[end].closed = true;
        let place = end / 2;
        let ends = &mut ends[end_of(place, CLIENT)..=end_of(place, SERVER)];
        if ends.iter().any(|end| !end.closed) {
            return;
        }
        let Dialogue { session, number, .. } = &mut dialogues[place];
        let session = *session;
        let Session { over, open, parameters, .. } = &mut sessions[session];
        let tally = &mut self.measurements.tcp.sessions[session].tally;
        *open -= 1;
        *number = None;
        for (end, received) in ends.iter_mut().zip(&mut tally.received) {
            over.merge(&end.connection.statistics());
            *received += std::mem::take(&mut end.received);
            // Whatever still comes for it is for none.
            end.generation = end.generation.wrapping_add(1);
            end.closed = false;
            end.armed = Time::MAX;
            end.connection = Connection::new(parameters, Role::Passive, Time::ZERO);
        }
        free.push(place);
        self.transport.note_over(session, place);
    }

    /// The application at `end` hears of `event`.
    #[inline(never)]
    fn answer(&mut self, now: Time, end: usize, event: TcpEvent) {
        let place = end / 2;
        match (end % 2, event) {
            (SERVER, TcpEvent::Connected) | (_, TcpEvent::Closed) => {}
            (SERVER, TcpEvent::Received(_)) => self.answer_requests(now, end),
            (_, TcpEvent::Received(_)) => self.take_response(now, end),
            (_, TcpEvent::Connected) => self.begin(now, place),
            (CLIENT, TcpEvent::PeerClosed) => self.client_hears_the_end(now, place),
            (_, TcpEvent::PeerClosed) => {
                self.transport.ends[end].connection.close();
                let Dialogue { session, began, .. } = self.transport.dialogues[place];
                if self.transport.sessions[session].plan.beginning != Beginning::InTurn {
                    // The whole request is here.
                    self.complete(now, session, began);
                }
            }
        }
    }

    /// The client sends the request of the next transaction.
    fn begin(&mut self, now: Time, place: usize) {
        let Transport { sessions, dialogues, ends, .. } = &mut self.transport;
        let dialogue = &mut dialogues[place];
        let Session { plan, stream, stops, .. } = &mut sessions[dialogue.session];
        if now >= *stops {
            return ends[end_of(place, CLIENT)].connection.close();
        }
        let request = plan.next_request(stream);
        ends[end_of(place, SERVER)].awaited = request;
        if plan.connections == Connections::One {
            dialogue.began = now;
        }
        let bytes = if plan.is_continuous() { u64::MAX } else { request };
        let client = &mut ends[end_of(place, CLIENT)].connection;
        client.send(bytes);
        if plan.closes(Closing::Client) && plan.response == 0 {
            client.close();
        }
    }

    /// Requests have arrived at the server's `end`: each is answered.
    fn answer_requests(&mut self, now: Time, end: usize) {
        let End { connection, session, arrived, awaited, .. } = &mut self.transport.ends[end];
        let Session { plan, .. } = &mut self.transport.sessions[*session];
        let tally = &mut self.measurements.tcp.sessions[*session].tally;
        while *arrived >= *awaited {
            *arrived -= *awaited;
            connection.send(plan.response);
            if plan.closes(Closing::Server) {
                connection.close();
            }
            if plan.is_continuous() {
                tally.transactions += u64::from(now >= self.measurements.warmup);
            }
        }
    }

    /// A whole response has arrived at the client's `end`: the transaction is over, or is followed by closing.
    fn take_response(&mut self, now: Time, end: usize) {
        let End { connection, session, arrived, awaited, .. } = &mut self.transport.ends[end];
        let (place, session) = (end / 2, *session);
        *arrived -= *awaited;
        let plan = &self.transport.sessions[session].plan;
        match plan.connections {
            Connections::PerTransaction if plan.closing == Closing::Server => {}
            Connections::PerTransaction => connection.close(),
            Connections::One => {
                let began = self.transport.dialogues[place].began;
                self.complete(now, session, began);
                self.begin(now, place);
            }
        }
    }

    /// The server has closed: the transaction is over, the next one begins at once.
    fn client_hears_the_end(&mut self, now: Time, place: usize) {
        let Dialogue { session, began, .. } = self.transport.dialogues[place];
        let Session { plan, stops, .. } = self.transport.sessions[session];
        if plan.beginning == Beginning::InTurn && plan.connections == Connections::PerTransaction {
            // It has closed already, unless the server was the first.
            self.transport.ends[end_of(place, CLIENT)].connection.close();
            self.complete(now, session, began);
            if now < stops {
                self.connect(now, session);
            }
        }
    }

    /// A transaction of `session` that began at `began` is over.
    fn complete(&mut self, now: Time, session: usize, began: Time) {
        if now < self.measurements.warmup {
            return;
        }
        let tcp = &mut self.measurements.tcp;
        tcp.sessions[session].tally.transactions += 1;
        tcp.complete(session, now - began);
    }
}

impl Transport {
    /// The place of `dialogue`, whose ends are still those of an earlier one there, or none.
    fn add(&mut self, dialogue: Dialogue) -> usize {
        let Some(place) = self.free.pop() else {
            self.dialogues.push(dialogue);
            return self.dialogues.len() - 1;
        };
        self.dialogues[place] = dialogue;
        place
    }
    /// What the senders of both ends of each session counted since the start of the run.
    fn sent(&self) -> Vec<SenderStatistics> {
        let mut sums: Vec<SenderStatistics> = self.sessions.iter().map(|session| session.over).collect();
        self.ends.iter().for_each(|end| sums[end.session].merge(&end.connection.statistics()));
        sums
    }
    /// The warm-up is over: what the senders counted before does not count.
    pub(crate) fn end_warmup(&mut self) {
        for (session, before) in (0..).zip(self.sent()) {
            self.sessions[session].before = before;
        }
    }
    /// Adds to `tcp` what is known of each session at the end of the run.
    pub(crate) fn measure(&mut self, tcp: &mut TcpMeasurements) {
        let sums = self.sent().into_iter().zip(&self.sessions);
        for (measured, (sum, session)) in tcp.sessions.iter_mut().zip(sums) {
            measured.tally.sent = sum.since(&session.before);
        }
        for (place, end) in self.ends.iter().enumerate() {
            tcp.sessions[end.session].tally.received[place % 2] += end.received;
        }
        let series = |probe: ConnectionProbe| ConnectionSeries { end: probe.end, samples: probe.samples };
        tcp.series = self.probes.drain(..).map(series).collect();
    }
}
