//! TCP applications on the kernel's TCP. One thread runs all applications of a host.
//!
//! `opening` prepares an [`Exchange`], which waits for sockets and scheduled times. `application` has the
//! behavior of applications, which follows the same [`Plan`](perhop_scenario::plan::Plan) as in the
//! simulator.

mod application;
mod connection;
mod kernel;
mod opening;
mod session;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use perhop_qos::packet::{FlowKey, Protocol};
use perhop_qos::units::Time;
use perhop_scenario::ConnectionEnd;
use perhop_scenario::plan::Request;

use super::error::{HostError, trying};
use super::flows::Flows;
use super::report::{ClientConnection, Sample, SessionReport};
use super::run::HostRun;
use super::system;
use connection::{Connection, ReadOutcome, TURN};
use session::{Session, SessionEnd};

/// A scheduled task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// A session starts, or starts a transaction at a random time.
    Begin(usize),
    /// A session stops.
    Stop(usize),
    /// The warm-up ends.
    EndWarmup,
    /// A probe of connections takes a sample.
    Sample(usize),
}

/// All TCP traffic of one host.
pub(super) struct Exchange {
    flows: Flows,
    poll: system::Poll,
    sessions: Vec<Session>,
    /// This host's sessions by the client's flow.
    by_flow: BTreeMap<usize, usize>,
    listeners: Vec<(SocketAddr, OwnedFd)>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Number of connections so far.
    held: u64,
    agenda: BinaryHeap<Reverse<(u64, Task)>>,
    /// The number of connections that could not be opened or that failed.
    failures: u64,
    failure: Option<String>,
    notes: Vec<String>,
    warmup: u64,
    room: Vec<u8>,
}

/// Time after the end of the run for which connections stay open, nanoseconds. Hosts do not end at the same
/// time, and the end of the run must not look like the end of a connection to a peer.
const STANDSTILL: u64 = 300_000_000;
/// Bit that marks tokens of listeners.
const LISTENER: u64 = 1 << 63;

/// Mask of the generation of the connection in a slot, which is the upper half of a token.
const SERIALS: u64 = 0x7fff_ffff;

/// A time of the run in nanoseconds.
fn nanoseconds(time: Time) -> u64 {
    time.as_picoseconds() / 1000
}

impl Exchange {
    /// Serves all connections until the end of the run. Returns the reports of the sessions, and notes.
    pub(super) fn run(mut self, run: &HostRun) -> Result<(Vec<SessionReport>, Vec<String>), HostError> {
        let ends = run.ends();
        loop {
            let now = system::monotonic();
            if now >= ends {
                break;
            }
            self.do_what_is_due(run, run.elapsed(now), now >= run.start_at);
            let next =
                self.agenda.peek().map_or(u64::MAX, |Reverse((at, _))| run.start_at.saturating_add(*at));
            let left = next.min(ends).saturating_sub(system::monotonic());
            let ready = self.poll.wait(left.div_ceil(1_000_000));
            for ready in trying(|| "cannot wait for sockets".to_owned(), ready)? {
                let now = run.elapsed(system::monotonic());
                if ready.token & LISTENER == 0 {
                    self.serve_ready(now, ready);
                } else {
                    self.accept(now, (ready.token & !LISTENER) as usize);
                }
            }
        }
        system::sleep_until(ends + STANDSTILL);
        Ok(self.outcome())
    }

    fn outcome(mut self) -> (Vec<SessionReport>, Vec<String>) {
        for connection in std::mem::take(&mut self.connections).into_iter().flatten() {
            self.sessions[connection.session].over.add(&connection.counted(), &connection.before);
        }
        if let Some(failure) = self.failure {
            self.notes.push(format!("{} connections failed; the first with: {failure}", self.failures));
        }
        (self.sessions.into_iter().map(Session::report).collect(), self.notes)
    }

    fn do_what_is_due(&mut self, run: &HostRun, now: u64, begun: bool) {
        while let Some(Reverse((at, task))) =
            self.agenda.peek().copied().filter(|Reverse((at, _))| begun && *at <= now)
        {
            self.agenda.pop();
            match task {
                Task::Begin(session) => self.begin_scheduled(at, now, session),
                Task::Stop(session) => self.stop(session),
                Task::EndWarmup => self.end_warmup(),
                Task::Sample(probe) => self.sample(run, now, probe),
            }
        }
    }

    /// Starts `session`, or its transaction that was scheduled for `at`.
    fn begin_scheduled(&mut self, at: u64, now: u64, session: usize) {
        let Session { plan, stream, started, stops, .. } = &mut self.sessions[session];
        let first = !std::mem::replace(started, true);
        if let Some(gap) = plan.gap(stream) {
            let next = at.saturating_add(nanoseconds(gap));
            if next < *stops {
                self.agenda.push(Reverse((next, Task::Begin(session))));
            }
            // A Poisson process starts with a gap, not with a transaction.
            if first {
                return;
            }
        }
        self.connect(now, session);
    }

    /// Opens a connection of `session`.
    fn connect(&mut self, now: u64, session: usize) {
        match self.try_connect(now, session) {
            Ok(connection) => {
                let place = self.assign_slot(connection);
                self.watch(place, true);
            }
            Err(error) => self.fail(&error),
        }
    }

    fn try_connect(&mut self, now: u64, session: usize) -> io::Result<Connection> {
        let place = session;
        let session = &mut self.sessions[session];
        session.draw_clocks();
        session.tally.connections += u64::from(now >= self.warmup);
        let number = session.begun;
        session.begun += 1;
        let key = self.flows.ids()[session.flow].key;
        let server = SocketAddr::new(key.destination.to_ip(), key.destination_port);
        let mut attempt = 0;
        loop {
            let port = self.flows.port(session.flow, number, attempt);
            let own = SocketAddr::new(key.source.to_ip(), port);
            let made = session.tcp.socket(own).and_then(|fd| system::connect(&fd, server).map(|()| fd));
            match made {
                // If an earlier connection still uses the port, the next port is tried.
                Err(error) if attempt < MOST_ATTEMPTS && is_taken(&error) => attempt += 1,
                Err(error) => return Err(error),
                Ok(fd) => return Ok(Connection::new(fd, place, number, port, now)),
            }
        }
    }

    /// Accepts the pending connections of a listener.
    fn accept(&mut self, now: u64, listener: usize) {
        loop {
            let (address, fd) = &self.listeners[listener];
            let (fd, client) = match system::accept(fd) {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.fail(&error),
            };
            let key = FlowKey {
                source: client.ip().to_canonical().into(),
                destination: address.ip().into(),
                source_port: client.port(),
                destination_port: address.port(),
                protocol: Protocol::TCP,
            };
            let session = self.flows.find(&key).and_then(|flow| self.by_flow.get(&flow)).copied();
            // A connection that does not belong to a session is closed.
            let Some(place) = session else { continue };
            let session = &mut self.sessions[place];
            if let Err(error) = session.tcp.set_options(&fd, *address) {
                return self.fail(&error);
            }
            let number = session.begun;
            session.begun += 1;
            let mut connection = Connection::new(fd, place, number, client.port(), now);
            connection.open = true;
            if let Request::Fixed(bytes) = session.plan.request {
                connection.request = bytes;
            }
            let place = self.assign_slot(connection);
            self.watch(place, false);
        }
    }

    /// Assigns a slot to `connection`, and a token that is unique in it.
    fn assign_slot(&mut self, mut connection: Connection) -> usize {
        let place = self.free.pop().unwrap_or(self.connections.len());
        self.held = (self.held + 1) & SERIALS;
        connection.token = self.held << 32 | place as u64;
        match self.connections.get_mut(place) {
            Some(free) => *free = Some(connection),
            None => self.connections.push(Some(connection)),
        }
        place
    }

    /// Adds a new connection to the polled descriptors. A connection that is still `being_made` becomes
    /// writable when it is open.
    fn watch(&mut self, place: usize, being_made: bool) {
        let Some(connection) = &self.connections[place] else { return };
        let (fd, token) = (connection.fd.as_fd(), connection.token);
        let mut outcome = self.poll.add(fd, token);
        if being_made {
            outcome = outcome.and_then(|()| self.poll.watch_both(fd, token));
        }
        if let Err(error) = outcome {
            self.fail(&error);
        }
    }

    /// Serves a connection that is ready.
    fn serve_ready(&mut self, now: u64, ready: system::Ready) {
        let place = (ready.token & u64::from(u32::MAX)) as usize;
        // The connection may have ended in the meantime, and another connection may use its slot.
        let same = |connection: &mut Connection| connection.token == ready.token;
        let taken = self.connections.get_mut(place).and_then(|held| held.take_if(same));
        let Some(mut connection) = taken else { return };
        let outcome = self.read_and_write(now, &mut connection, ready);
        match outcome {
            Ok(()) if !connection.is_over() => self.connections[place] = Some(connection),
            Ok(()) => self.retire(place, &connection),
            Err(error) => {
                self.fail(&error);
                self.retire(place, &connection);
                self.after_failure(now, connection.session);
            }
        }
    }

    /// Reads and writes as many bytes as possible.
    fn read_and_write(
        &mut self,
        now: u64,
        connection: &mut Connection,
        ready: system::Ready,
    ) -> io::Result<()> {
        if !connection.open {
            if !ready.writable {
                return Ok(());
            }
            if let Some(error) = system::pending_error(connection.fd.as_fd()) {
                return Err(error);
            }
            connection.open = true;
            self.begin(now, connection);
        }
        let mut room = std::mem::take(&mut self.room);
        let mut outcome = Ok(ReadOutcome::Nothing);
        for _ in 0..TURN {
            outcome = connection.read_data(&mut room);
            let Ok(ReadOutcome::Bytes(bytes)) = outcome else { break };
            self.answer(now, connection, bytes);
        }
        self.room = room;
        if outcome? == ReadOutcome::End && !connection.peer_finished {
            connection.peer_finished = true;
            self.on_peer_fin(now, connection);
        }
        let is_left = connection.write_pending()?;
        let (fd, token) = (connection.fd.as_fd(), connection.token);
        if is_left { self.poll.watch_both(fd, token) } else { self.poll.watch_reading(fd, token) }
    }

    /// Handles the end of a connection.
    fn retire(&mut self, place: usize, connection: &Connection) {
        self.sessions[connection.session].over.add(&connection.counted(), &connection.before);
        self.free.push(place);
    }

    fn fail(&mut self, error: &io::Error) {
        self.failures += 1;
        self.failure.get_or_insert_with(|| error.to_string());
    }

    /// Handles the end of the warm-up: resets the counters.
    fn end_warmup(&mut self) {
        for connection in self.connections.iter_mut().flatten() {
            connection.before = connection.counted();
        }
        for session in &mut self.sessions {
            session.over = kernel::Counted::default();
        }
    }

    /// Takes the samples of connection probe `probe`.
    fn sample(&mut self, run: &HostRun, now: u64, probe: usize) {
        let config = &run.scenario.measure.connections[probe];
        let end = if config.end == ConnectionEnd::Client { SessionEnd::Client } else { SessionEnd::Server };
        for connection in self.connections.iter().flatten() {
            let session = &mut self.sessions[connection.session];
            let named = run.scenario.traffic[session.tally.traffic].name == config.traffic;
            let chosen = config.flow.is_none_or(|flow| flow == session.tally.number);
            if named && chosen && session.end == end && connection.open {
                let (number, state) = (connection.number, connection.counted().state);
                session.tally.samples.push(Sample { probe, at: now, connection: number, ..state });
            }
        }
        self.agenda.push(Reverse((now + nanoseconds(config.every), Task::Sample(probe))));
    }
}

/// The maximum number of ports that are tried for one connection.
const MOST_ATTEMPTS: u32 = 64;

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}

/// Start or end of the connection from `port`.
fn at_port(port: u16, at: u64) -> ClientConnection {
    ClientConnection { port, at }
}
