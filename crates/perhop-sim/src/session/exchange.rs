//! [`Sessions`]: the exchange of segments between the ends of connections, and the reactions of applications.
//!
//! The trait delivers and sends segments and handles timers. For applications with a plan, it opens and
//! closes connections, sends requests and responses, and counts transactions.

use perhop_measure::Measurements;
use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_net::Event;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_scenario::Closing;
use perhop_scenario::plan::{Beginning, Connections};
use perhop_scenario::routing::LinkId;

use super::application::Application;
use super::applications;
use super::end::{End, OutgoingFlow, Served};
use super::transport::{ConnectionPair, Ledger, Session, Transport, end_of};
use crate::engine::Engine;
use crate::event::HostEvent;
use crate::flow::{flow_of, payload};
use crate::hosts::Hosts;
use crate::tcp::{Connection, ConnectionEvent as TcpEvent, Role, Transmitted};

/// TCP at the hosts, for both engines.
#[allow(clippy::inline_always)] // parts of `receive_segment`, which every segment takes
pub(crate) trait Sessions: Engine {
    /// Handles the wake-up of the connection end with index `end`.
    fn connection_timer(&mut self, now: Time, end: usize) {
        let (hosts, agenda) = self.split();
        if hosts.transport.ends[end].wake(now, agenda) {
            self.serve(now, end);
        }
    }

    /// Delivers the segment of `packet`. If TCP answers with one segment, replaces `packet` with the answer
    /// and returns the link over which the answer leaves.
    fn receive_segment(&mut self, now: Time, packet: &mut Packet) -> Option<LinkId> {
        let held = packet.payload as u32;
        let hosts = self.hosts_mut();
        let number = hosts.transport.segments.at(held).segment.serial;
        hosts.measurements.deliver(now, flow_of(packet), packet, number);
        self.deliver_segment(now, held, packet)
    }

    /// Delivers the segment of `packet`, in place `held`, to its end.
    #[inline(always)]
    fn deliver_segment(&mut self, now: Time, held: u32, packet: &mut Packet) -> Option<LinkId> {
        let (hosts, agenda) = self.split();
        let Hosts { transport: Transport { ends, segments, .. }, measurements, templates, .. } = hosts;
        let carried = segments.at(held);
        let place = carried.end as usize;
        // A segment of a recording has no [`End`]. A late segment can belong to a closed connection whose
        // place a new connection uses. The new connection ignores the segment, because it has other ports.
        let Some(end) = ends.get_mut(place).filter(|end| end.generation == carried.generation) else {
            segments.give_back(held);
            return None;
        };
        if end.is_late(now) {
            return self.receive_late(now, place, held, packet);
        }
        carried.segment.ecn = packet.marks.ecn();
        end.connection.on_segment(now, &carried.segment);
        // The answer overwrites the packet.
        let flow = OutgoingFlow::find(end, templates, &mut measurements.counters);
        let served = end.serve(now, now >= measurements.warmup, held, carried, flow, packet);
        if served.transmitted == Transmitted::Last && served.event.is_none() {
            end.arm(agenda);
            return Some(end.link);
        }
        if served.transmitted == Transmitted::Nothing {
            segments.give_back(held);
        }
        if self.follow_up(now, place, packet, served) {
            self.serve(now, place);
        }
        None
    }

    /// Handles the timers of `end` that expire before `now`, a time ahead of the agenda, and then delivers
    /// the segment of `packet`.
    #[inline(never)]
    fn receive_late(&mut self, now: Time, end: usize, held: u32, packet: &mut Packet) -> Option<LinkId> {
        loop {
            let late = &mut self.hosts_mut().transport.ends[end];
            let expires = late.connection.next_timer();
            if expires >= now {
                break;
            }
            late.on_timer(expires);
            self.serve(expires, end);
        }
        self.deliver_segment(now, held, packet)
    }

    /// Sends all due segments of the end at `place`, delivers events to its application, and arms its timer.
    #[inline(never)]
    fn serve(&mut self, now: Time, place: usize) {
        let mut packet = Packet::default();
        loop {
            let Hosts { transport, measurements, templates, .. } = self.hosts_mut();
            let Transport { ends, segments, .. } = transport;
            let (end, held) = (&mut ends[place], segments.take());
            let flow = OutgoingFlow::find(end, templates, &mut measurements.counters);
            let served =
                end.serve(now, now >= measurements.warmup, held, segments.at(held), flow, &mut packet);
            if served.transmitted == Transmitted::Nothing {
                segments.give_back(held);
            }
            if !self.follow_up(now, place, &mut packet, served) {
                return;
            }
        }
    }

    /// Forwards the segment that the end at `place` has transmitted, and lets the application react to the
    /// event in `served`. Arms the timer if no further segment is due and there is no event. Returns whether
    /// more segments may be due.
    #[inline(never)]
    fn follow_up(&mut self, now: Time, place: usize, packet: &mut Packet, served: Served) -> bool {
        let Served { transmitted, event } = served;
        let (hosts, agenda) = self.split();
        let end = &mut hosts.transport.ends[place];
        let link = end.link;
        if transmitted != Transmitted::Segment && event.is_none() {
            end.arm(agenda);
        }
        if transmitted != Transmitted::Nothing {
            self.forward(now, link, packet);
        }
        match event {
            None => transmitted == Transmitted::Segment,
            Some(TcpEvent::Closed) => {
                let (hosts, agenda) = self.split();
                hosts.transport.ends[place].arm(agenda);
                self.retire(place);
                false
            }
            Some(event) => {
                self.react_to_event(now, place, event);
                true
            }
        }
    }

    /// Starts `session`, begins one of its transactions, or stops it.
    fn session_due(&mut self, now: Time, session: usize) {
        if self.hosts().transport.sessions[session].application != Application::Plan {
            return applications::on_wake_up(self, now, session);
        }
        let (hosts, agenda) = self.split();
        let Hosts { transport, measurements, .. } = hosts;
        let Session { plan, stops, slot, due, started, stream, .. } = &mut transport.sessions[session];
        let is_over = now >= *stops;
        let first = !std::mem::replace(started, true);
        let gap = if is_over { None } else { plan.gap(stream) };
        *due = match gap {
            Some(gap) => now.saturating_add(gap).min(*stops),
            None if !is_over && *stops < measurements.duration => *stops,
            None => Time::MAX,
        };
        if *due < Time::MAX {
            agenda.schedule(*slot, *due);
        }
        if is_over {
            self.stop(now, session);
        } else if gap.is_none() || !first {
            // A Poisson process begins with a gap, not with a transaction.
            self.connect(now, session);
        }
    }

    /// Stops `session`, so that it begins no more transactions and discards unsent data.
    fn stop(&mut self, now: Time, session: usize) {
        for place in 0..self.hosts().transport.pairs.len() {
            let [client, server] = [CLIENT, SERVER].map(|end| end_of(place, end));
            let Transport { pairs, ends, .. } = &mut self.hosts_mut().transport;
            if pairs[place].session == session && !(ends[client].closed && ends[server].closed) {
                ends[client].connection.stop_sending();
                self.serve(now, client);
            }
        }
    }

    /// Opens a new connection of `session`.
    fn connect(&mut self, now: Time, session: usize) {
        let (Hosts { transport, measurements, .. }, _) = self.split();
        let Session { parameters, stream, begun, open, .. } = &mut transport.sessions[session];
        *open += 1;
        let tally = &mut measurements.tcp.sessions[session].tally;
        tally.connections += u64::from(now >= measurements.warmup);
        let number = *begun;
        *begun = begun.wrapping_add(1);
        let tick = parameters.clock.as_seconds();
        let mut end = |role| {
            let phase = Time::from_seconds_f64(stream.uniform() * tick);
            Connection::new(parameters, role, phase)
        };
        let connections = [end(Role::Active), end(Role::Passive)];
        let pair = ConnectionPair { session, number: Some(number), began: now, response: 0 };
        let place = transport.add(pair);
        for (end, connection) in (0..).zip(connections) {
            self.add_end(session, end_of(place, end), connection);
        }
        let transport = &mut self.hosts_mut().transport;
        let [client, server] = [CLIENT, SERVER].map(|end| end_of(place, end));
        if let Some(Ledger(connections)) = &mut transport.ledger {
            let generation = transport.ends[client].generation;
            connections.insert((place as u32, generation), (session, number));
        }
        self.serve(now, client);
        self.serve(now, server);
    }

    /// Adds `connection` at `place`, the client or server end of `session`.
    fn add_end(&mut self, session: usize, place: usize, connection: Connection) {
        let side = place % 2;
        let (hosts, agenda) = self.split();
        let Session { flows, plan, .. } = &hosts.transport.sessions[session];
        let (flow, response) = (flows[side], plan.response);
        let link = hosts.link_of(flow, 0);
        let ends = &mut hosts.transport.ends;
        let used = ends.get(place).map(|end| (end.slot, end.generation));
        let (slot, generation) = used
            .unwrap_or_else(|| (agenda.register(Event::Edge(HostEvent::ConnectionTimer(place as u32))), 0));
        let end = End {
            connection,
            session: session as u32,
            payload: payload(flow, 0),
            link,
            peer: place as u32 ^ 1,
            generation,
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

    /// Records that `end` is closed. When both ends are closed, frees their place.
    #[inline(never)]
    fn retire(&mut self, end: usize) {
        let Hosts { transport, measurements, .. } = self.hosts_mut();
        let Transport { sessions, pairs, ends, .. } = transport;
        ends[end].closed = true;
        let place = end / 2;
        let ends = &mut ends[end_of(place, CLIENT)..=end_of(place, SERVER)];
        if ends.iter().any(|end| !end.closed) {
            return;
        }
        let ConnectionPair { session, number, .. } = &mut pairs[place];
        let session = *session;
        let Session { over, open, parameters, free, .. } = &mut sessions[session];
        let tally = &mut measurements.tcp.sessions[session].tally;
        *open -= 1;
        *number = None;
        for (end, received) in ends.iter_mut().zip(&mut tally.received) {
            over.get_or_insert_default().merge(&end.connection.statistics());
            *received += std::mem::take(&mut end.received);
            // Later segments for the closed connection have no recipient.
            end.generation = end.generation.wrapping_add(1);
            end.closed = false;
            end.armed = Time::MAX;
            end.connection = Connection::new(parameters, Role::Passive, Time::ZERO);
        }
        free.push(place);
    }

    /// Reacts to `event` as the application at `end`.
    #[inline(never)]
    fn react_to_event(&mut self, now: Time, end: usize, event: TcpEvent) {
        let place = end / 2;
        match (end % 2, event) {
            (SERVER, TcpEvent::Connected) | (_, TcpEvent::Closed) => {}
            (SERVER, TcpEvent::Received(_)) => self.answer_requests(now, end),
            (_, TcpEvent::Received(_)) => self.take_response(now, end),
            (_, TcpEvent::Connected) => self.begin(now, place),
            (CLIENT, TcpEvent::PeerClosed) => self.on_server_closed(now, place),
            (_, TcpEvent::PeerClosed) => {
                self.hosts_mut().transport.ends[end].connection.close();
                let transport = &self.hosts().transport;
                let ConnectionPair { session, began, .. } = transport.pairs[place];
                if transport.sessions[session].plan.beginning != Beginning::InTurn {
                    // The whole request has arrived.
                    self.complete(now, session, began);
                }
            }
        }
    }

    /// Sends the request of the client's next transaction.
    fn begin(&mut self, now: Time, place: usize) {
        let Transport { sessions, pairs, ends, .. } = &mut self.hosts_mut().transport;
        let pair = &mut pairs[place];
        let Session { plan, stream, stops, application, .. } = &mut sessions[pair.session];
        if *application != Application::Plan {
            return applications::connected(self, now, place);
        }
        if now >= *stops {
            return ends[end_of(place, CLIENT)].connection.close();
        }
        let request = plan.next_request(stream);
        ends[end_of(place, SERVER)].awaited = request;
        if plan.connections == Connections::One {
            pair.began = now;
        }
        let bytes = if plan.is_continuous() { u64::MAX } else { request };
        let client = &mut ends[end_of(place, CLIENT)].connection;
        client.send(bytes);
        if plan.closes(Closing::Client) && plan.response == 0 {
            client.close();
        }
    }

    /// Answers each request that has arrived at the server's `end`.
    fn answer_requests(&mut self, now: Time, end: usize) {
        let Hosts { transport: Transport { ends, sessions, pairs, .. }, measurements, .. } = self.hosts_mut();
        let session = ends[end].session();
        let End { connection, arrived, awaited, .. } = &mut ends[end];
        let Session { plan, application, .. } = &sessions[session];
        let response = match application {
            Application::Plan => plan.response,
            _ => pairs[end / 2].response,
        };
        let tally = &mut measurements.tcp.sessions[session].tally;
        while *arrived >= *awaited {
            *arrived -= *awaited;
            connection.send(response);
            if plan.closes(Closing::Server) {
                connection.close();
            }
            if plan.is_continuous() {
                tally.transactions += u64::from(now >= measurements.warmup);
            }
        }
    }

    /// Handles a complete response at the client's `end`. Ends the transaction, or waits until the server
    /// closes the connection.
    fn take_response(&mut self, now: Time, end: usize) {
        let Transport { ends, sessions, pairs, .. } = &mut self.hosts_mut().transport;
        let (place, session) = (end / 2, ends[end].session());
        let End { connection, arrived, awaited, .. } = &mut ends[end];
        if sessions[session].application != Application::Plan {
            return applications::received(self, now, place);
        }
        *arrived -= *awaited;
        let plan = &sessions[session].plan;
        match plan.connections {
            Connections::PerTransaction if plan.closing == Closing::Server => {}
            Connections::PerTransaction => connection.close(),
            Connections::One => {
                let began = pairs[place].began;
                self.complete(now, session, began);
                self.begin(now, place);
            }
        }
    }

    /// Handles the close by the server. The transaction is over, and the next one begins at once.
    fn on_server_closed(&mut self, now: Time, place: usize) {
        let Transport { sessions, pairs, ends, .. } = &mut self.hosts_mut().transport;
        let ConnectionPair { session, began, .. } = pairs[place];
        let Session { plan, stops, application, .. } = sessions[session];
        if application != Application::Plan {
            return;
        }
        if plan.beginning == Beginning::InTurn && plan.connections == Connections::PerTransaction {
            // If the server closed first, the client closes now. Otherwise, the client has already closed.
            ends[end_of(place, CLIENT)].connection.close();
            self.complete(now, session, began);
            if now < stops {
                self.connect(now, session);
            }
        }
    }

    /// Counts a completed transaction of `session` that began at `began`.
    fn complete(&mut self, now: Time, session: usize, began: Time) {
        let Measurements { tcp, warmup, .. } = &mut self.hosts_mut().measurements;
        if now < *warmup {
            return;
        }
        tcp.sessions[session].tally.transactions += 1;
        tcp.complete(session, now - began);
    }
}

impl<E: Engine> Sessions for E {}

impl<E: Engine> applications::Steps for E {
    fn connect(&mut self, now: Time, session: usize) {
        Sessions::connect(self, now, session);
    }
    fn serve(&mut self, now: Time, place: usize) {
        Sessions::serve(self, now, place);
    }
    fn complete(&mut self, now: Time, session: usize, began: Time) {
        Sessions::complete(self, now, session, began);
    }
}
