//! [`Transport`]: the sessions of a scenario, their open connections, and the segments in the network.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use perhop_measure::tcp::{CLIENT, ConnectionSample, ConnectionSeries, SenderStatistics, TcpMeasurements};
use perhop_net::agenda::Slot;
use perhop_qos::packet::Packet;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_scenario::plan::Plan;
use perhop_scenario::tcp::Parameters;

use super::application::{Application, SpeedTest};
use super::browser::Browser;
use super::end::End;
use super::player::Player;
use super::segments::{Carried, Segments};

/// The TCP state of all hosts.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) sessions: Vec<Session>,
    pub(super) pairs: Vec<ConnectionPair>,
    /// The ends of connections. The ends of a pair begin at [twice the place of the pair](end_of), with the
    /// client's end first.
    pub(super) ends: Vec<End>,
    pub(crate) segments: Segments,
    /// The time up to which TCP may be ahead of the agenda. During the warm-up, it is the end of the warm-up,
    /// because the counters of TCP are read at that time. After the warm-up, it is the end of the run.
    pub(super) not_beyond: Time,
    pub(super) duration: Time,
    pub(crate) probes: Vec<ConnectionProbe>,
    pub(crate) players: Vec<Player>,
    pub(crate) browsers: Vec<Browser>,
    pub(crate) speed_tests: Vec<SpeedTest>,
    /// All connections so far, if a link is captured.
    pub(crate) ledger: Option<Ledger>,
}

/// The session and the number of each connection, by the place of the connection and the generation of the
/// place.
#[derive(Debug, Default)]
pub(crate) struct Ledger(pub(super) BTreeMap<(u32, u32), (usize, u32)>);

impl Ledger {
    /// Returns the session of the connection of `carried`, and the number of this connection in the session.
    pub(crate) fn connection_of(&self, carried: &Carried) -> Option<(usize, u32)> {
        self.0.get(&(carried.end / 2, carried.generation)).copied()
    }
}

/// An application between two hosts.
///
/// The fields from `due` to `is_watched` are in one cache line, because the lookahead reads them for every
/// segment.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Session {
    /// The time of the session's next event on the agenda; [`Time::MAX`] if there is none.
    pub(crate) due: Time,
    /// The number of connections that are not closed.
    pub(crate) open: u32,
    /// Whether the client and the server may answer ahead of the agenda (see `crate::fast::plan`).
    pub(crate) answers: [Answers; 2],
    /// Whether an application without a plan, or a test with several connections, reads the ends of the
    /// session. Neither end may then be ahead of the agenda.
    pub(crate) is_watched: bool,
    pub(crate) started: bool,
    pub(crate) slot: Slot,
    /// The number of connections that have begun since the start of the run.
    pub(crate) begun: u32,
    /// The flows whose packets the client and the server send.
    pub(crate) flows: [usize; 2],
    pub(crate) parameters: Arc<Parameters>,
    pub(crate) stops: Time,
    pub(crate) stream: Stream,
    pub(crate) plan: Plan,
    pub(crate) application: Application,
    /// The index of the session's entry in the traffic of the scenario.
    pub(crate) traffic: usize,
    /// The counters of the senders of closed connections; `None` if no connection has closed.
    pub(crate) over: Option<Box<SenderStatistics>>,
    /// The counters of all senders of the session at the end of the warm-up; `None` without a warm-up.
    pub(crate) before: Option<Box<SenderStatistics>>,
    /// The free places of the session in [`Transport::pairs`], whose connections are closed. Sessions do not
    /// share places, so that the order of simultaneous timers does not depend on other sessions.
    pub(crate) free: Vec<usize>,
}

/// The time at which an end of a session may answer a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Only when the agenda reaches the arrival of the segment.
    #[default]
    OnTime,
    /// At once when the time of the arrival is known. No other flow may use the link over which the answers
    /// leave, and no probe may observe the queues of that link.
    Ahead,
}

/// The state of a connection that both ends share.
#[derive(Debug)]
pub(super) struct ConnectionPair {
    pub(super) session: usize,
    /// The number of the connection in the session, from 0; `None` after the connection has closed.
    pub(super) number: Option<u32>,
    /// The time at which the current transaction began.
    pub(super) began: Time,
    /// The size of the response to the current request, bytes, if no plan determines it.
    pub(super) response: u64,
}

/// Returns the place of one end, `CLIENT` or `SERVER`, of the pair at `place`.
pub(super) const fn end_of(place: usize, end: usize) -> usize {
    2 * place + end
}

/// A probe of the connections of some sessions.
#[derive(Debug)]
pub(crate) struct ConnectionProbe {
    pub(crate) sessions: Range<usize>,
    /// The sampled end.
    pub(crate) end: usize,
    pub(crate) every: Time,
    pub(crate) slot: Slot,
    pub(crate) samples: Vec<ConnectionSample>,
}

impl Transport {
    /// Creates the state without sessions, for a run of length `duration` that includes `warmup`.
    pub(crate) fn new(warmup: Time, duration: Time) -> Transport {
        Transport {
            sessions: Vec::new(),
            pairs: Vec::new(),
            ends: Vec::new(),
            segments: Segments::default(),
            not_beyond: if warmup > Time::ZERO { warmup.min(duration) } else { duration },
            duration,
            probes: Vec::new(),
            players: Vec::new(),
            browsers: Vec::new(),
            speed_tests: Vec::new(),
            ledger: None,
        }
    }
    /// Returns the end to which `packet` is addressed; `None` if the packet carries no segment or is
    /// replayed.
    #[inline]
    pub(crate) fn receiver(&self, packet: &Packet) -> Option<&End> {
        self.ends.get(self.segments.carried_by(packet)?.end as usize)
    }
    /// Reserves memory for one connection of each session.
    pub(crate) fn reserve_connections(&mut self) {
        self.pairs.reserve_exact(self.sessions.len());
        self.ends.reserve_exact(end_of(self.sessions.len(), CLIENT));
    }
    /// Adds `pair` and returns its place. A reused place still has the ends of an earlier pair of the
    /// session.
    pub(super) fn add(&mut self, pair: ConnectionPair) -> usize {
        let Some(place) = self.sessions[pair.session].free.pop() else {
            self.pairs.push(pair);
            return self.pairs.len() - 1;
        };
        self.pairs[place] = pair;
        place
    }
    /// Returns the counters of the senders of both ends of each session, since the start of the run.
    fn sent(&self) -> Vec<SenderStatistics> {
        let over = |session: &Session| session.over.as_deref().copied().unwrap_or_default();
        let mut sums: Vec<SenderStatistics> = self.sessions.iter().map(over).collect();
        self.ends.iter().for_each(|end| sums[end.session()].merge(&end.connection.statistics()));
        sums
    }
    /// Samples every open connection of `probe`. Returns the slot of the probe and the time of the next
    /// sample.
    pub(crate) fn sample(&mut self, now: Time, probe: usize) -> (Slot, Time) {
        let ConnectionProbe { sessions, end, every, slot, samples } = &mut self.probes[probe];
        let first = samples.len();
        let open = self.pairs.iter().zip(self.ends.chunks_exact(2));
        for (pair, ends) in open.filter(|(pair, _)| sessions.contains(&pair.session)) {
            let Some(connection) = pair.number else { continue };
            let sampled = &ends[*end].connection;
            samples.push(ConnectionSample {
                time: now,
                session: pair.session,
                connection,
                window: sampled.congestion_window(),
                threshold: sampled.slow_start_threshold(),
                in_flight: sampled.flight(),
                round_trip: sampled.round_trip_time(),
                timeout: sampled.retransmission_timeout(),
            });
        }
        // Places are reused, so a connection may be listed before an earlier one.
        samples[first..].sort_by_key(|sample| (sample.session, sample.connection));
        (*slot, now + *every)
    }
    /// Ends the warm-up. Stores the counts of the senders, to subtract them from the final counts.
    pub(crate) fn end_warmup(&mut self) {
        self.not_beyond = self.duration;
        for (session, before) in (0..).zip(self.sent()) {
            self.sessions[session].before = Some(Box::new(before));
        }
    }
    /// Adds the counters of each session at the end of the run to `tcp`.
    pub(crate) fn measure(&mut self, tcp: &mut TcpMeasurements) {
        let sums = self.sent().into_iter().zip(&self.sessions);
        for (measured, (sum, session)) in tcp.sessions.iter_mut().zip(sums) {
            measured.tally.sent = sum.since(&session.before.as_deref().copied().unwrap_or_default());
        }
        for (place, end) in self.ends.iter().enumerate() {
            tcp.sessions[end.session()].tally.received[place % 2] += end.received;
        }
        let series = |probe: ConnectionProbe| ConnectionSeries { end: probe.end, samples: probe.samples };
        let duration = self.duration;
        tcp.videos = self.players.iter_mut().map(|player| player.finish(duration)).collect();
        tcp.pages = self.browsers.iter_mut().map(Browser::tally).collect();
        tcp.speed_tests = self.speed_tests.drain(..).map(|test| test.tally).collect();
        tcp.series = self.probes.drain(..).map(series).collect();
    }
}
