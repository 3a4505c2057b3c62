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
    /// The ends of connections. The ends of a pair begin at [twice its place](end_of), with the client's end
    /// first.
    pub(super) ends: Vec<End>,
    pub(crate) segments: Segments,
    /// The limit up to which TCP may be ahead of the agenda. At first this is the end of the warm-up, when
    /// the counters of TCP are read; after the warm-up, it is the end of the run.
    pub(super) not_beyond: Time,
    pub(super) duration: Time,
    pub(crate) probes: Vec<ConnectionProbe>,
    pub(crate) players: Vec<Player>,
    pub(crate) browsers: Vec<Browser>,
    pub(crate) speed_tests: Vec<SpeedTest>,
    /// All connections so far, if a link is captured.
    pub(crate) ledger: Option<Ledger>,
}

/// The session and the number of each connection, by the connection's place and the generation of that place.
#[derive(Debug, Default)]
pub(crate) struct Ledger(pub(super) BTreeMap<(u32, u32), (usize, u32)>);

impl Ledger {
    /// The session of the connection that `carried` belongs to, and the number of that connection in the
    /// session.
    pub(crate) fn connection_of(&self, carried: &Carried) -> Option<(usize, u32)> {
        self.0.get(&(carried.end / 2, carried.generation)).copied()
    }
}

/// An application between two hosts.
///
/// The ends of a session need its lookahead for every segment, so these fields share one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Session {
    /// The time of the session's next event; [`Time::MAX`] if there is none.
    pub(crate) due: Time,
    /// Connections that are not closed.
    pub(crate) open: u32,
    /// Whether the client and the server may answer ahead of the agenda (see `crate::fast::plan`).
    pub(crate) answers: [Answers; 2],
    /// Whether a probe reads the ends of the session at times of the agenda, so that neither end may be
    /// ahead.
    pub(crate) is_watched: bool,
    pub(crate) started: bool,
    pub(crate) slot: Slot,
    /// Connections begun since the start of the run.
    pub(crate) begun: u32,
    /// The flows whose packets the client and the server send.
    pub(crate) flows: [usize; 2],
    pub(crate) parameters: Arc<Parameters>,
    pub(crate) stops: Time,
    pub(crate) stream: Stream,
    pub(crate) plan: Plan,
    pub(crate) application: Application,
    /// Index of its entry in the scenario's traffic.
    pub(crate) traffic: usize,
    /// The counters of the senders of closed connections, if there are any.
    pub(crate) over: Option<Box<SenderStatistics>>,
    /// The counters of all senders of the session at the end of the warm-up, if there is one.
    pub(crate) before: Option<Box<SenderStatistics>>,
    /// The session's places in [`Transport::pairs`] whose connection is closed. Sessions do not share places,
    /// so that the order of simultaneous timers does not depend on other sessions.
    pub(crate) free: Vec<usize>,
}

/// The time at which one end of a session may answer a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The time at which the agenda reaches the arrival.
    #[default]
    OnTime,
    /// At once when the arrival is known. This requires that no other flow uses the link by which the answers
    /// leave, and that no probe observes that link's queues.
    Ahead,
}

/// The state of one connection that its ends share.
#[derive(Debug)]
pub(super) struct ConnectionPair {
    pub(super) session: usize,
    /// Its number among the session's connections, from 0; `None` once it is closed.
    pub(super) number: Option<u32>,
    /// The time at which the current transaction began.
    pub(super) began: Time,
    /// The size of the response to the current request, bytes, if no plan determines it.
    pub(super) response: u64,
}

/// The place of one end, `CLIENT` or `SERVER`, of the pair at `place`.
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
    /// The state without sessions, for a run of length `duration` that includes `warmup`.
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
    /// The end to which `packet` is addressed, if it carries a segment.
    #[inline]
    pub(crate) fn receiver(&self, packet: &Packet) -> Option<&End> {
        self.ends.get(self.segments.carried_by(packet)?.end as usize)
    }
    /// Reserves memory for one connection of each session.
    pub(crate) fn reserve_connections(&mut self) {
        self.pairs.reserve_exact(self.sessions.len());
        self.ends.reserve_exact(end_of(self.sessions.len(), CLIENT));
    }
    /// Adds `pair` and returns its place. The place still has the ends of an earlier pair of the session, if
    /// any.
    pub(super) fn add(&mut self, pair: ConnectionPair) -> usize {
        let Some(place) = self.sessions[pair.session].free.pop() else {
            self.pairs.push(pair);
            return self.pairs.len() - 1;
        };
        self.pairs[place] = pair;
        place
    }
    /// The counters of the senders of both ends of each session, since the start of the run.
    fn sent(&self) -> Vec<SenderStatistics> {
        let over = |session: &Session| session.over.as_deref().copied().unwrap_or_default();
        let mut sums: Vec<SenderStatistics> = self.sessions.iter().map(over).collect();
        self.ends.iter().for_each(|end| sums[end.session()].merge(&end.connection.statistics()));
        sums
    }
    /// Samples every open connection for `probe`. Returns its slot and the time of its next sample.
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
    /// Ends the warm-up. The counts of the senders up to now will be subtracted from their final counts.
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
