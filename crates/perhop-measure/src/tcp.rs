//! Measurements of TCP: counters of sessions and senders, and samples of connections.

use std::collections::BTreeMap;

use perhop_qos::units::Time;

use crate::applications::{PageTally, SpeedTally, VideoTally};
use crate::counters::Delays;

/// The index of the client in arrays with an element for each end of a session.
pub const CLIENT: usize = 0;
/// The index of the server in arrays with an element for each end of a session.
pub const SERVER: usize = 1;

/// Counters of one sender since its connection was opened, or the sums of several senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Segments with payload or FIN, including retransmissions.
    pub segments: u64,
    /// Retransmitted segments, whose first byte was sent before.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Losses that were detected by duplicate or selective acknowledgments.
    pub fast_retransmits: u64,
    /// Reductions of the congestion window because of ECN marks.
    pub congestion_marks: u64,
    /// Probes of a closed receive window.
    pub probes: u64,
}

impl SenderStatistics {
    /// Returns the increase since `earlier`, an older copy of these counters.
    pub fn since(&self, earlier: &SenderStatistics) -> SenderStatistics {
        SenderStatistics {
            segments: self.segments - earlier.segments,
            retransmissions: self.retransmissions - earlier.retransmissions,
            timeouts: self.timeouts - earlier.timeouts,
            fast_retransmits: self.fast_retransmits - earlier.fast_retransmits,
            congestion_marks: self.congestion_marks - earlier.congestion_marks,
            probes: self.probes - earlier.probes,
        }
    }
    /// Adds the counters of another sender.
    pub fn merge(&mut self, other: &SenderStatistics) {
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.congestion_marks += other.congestion_marks;
        self.probes += other.probes;
    }
}

/// Counters of one session after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionTally {
    /// Connections that were opened.
    pub connections: u64,
    /// Transactions that have ended.
    pub transactions: u64,
    /// The sum of the completion times of transactions, picoseconds.
    pub completion: u128,
    /// Transactions that were completed and have a completion time.
    pub completed: u64,
    /// Payload bytes that arrived in order, at the client and at the server.
    pub received: [u64; 2],
    /// Counters of the senders at both ends.
    pub sent: SenderStatistics,
}

impl SessionTally {
    /// Adds the counters of another session.
    pub fn merge(&mut self, other: &SessionTally) {
        self.connections += other.connections;
        self.transactions += other.transactions;
        self.completion += other.completion;
        self.completed += other.completed;
        self.received.iter_mut().zip(other.received).for_each(|(sum, bytes)| *sum += bytes);
        self.sent.merge(&other.sent);
    }
}

/// One session of a scenario's TCP traffic.
#[derive(Clone, Debug)]
pub struct SessionMeasurements {
    /// The index of the session's entry in the scenario's traffic.
    pub traffic: usize,
    /// The number of the session among the flows of the entry, from 0.
    pub number: u32,
    /// The index of the class of the session's client.
    pub class: usize,
    /// The index of the session's class in [`TcpMeasurements::completions`].
    pub completions: usize,
    /// The counters of the session.
    pub tally: SessionTally,
}

/// A sample of one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionSample {
    /// Time of the sample.
    pub time: Time,
    /// The index of the connection's session.
    pub session: usize,
    /// The number of the connection in its session, from 0.
    pub connection: u32,
    /// The congestion window, segments.
    pub window: f64,
    /// The slow-start threshold, segments.
    pub threshold: f64,
    /// The number of payload bytes that were sent and are not acknowledged.
    pub in_flight: u64,
    /// The smoothed round-trip time; `None` before the first sample.
    pub round_trip: Option<Time>,
    /// The retransmission timeout, including back-off.
    pub timeout: Time,
}

/// The samples of one connection probe.
#[derive(Clone, Debug)]
pub struct ConnectionSeries {
    /// The sampled end: [`CLIENT`] or [`SERVER`].
    pub end: usize,
    /// The samples, in order of time.
    pub samples: Vec<ConnectionSample>,
}

/// All measurements of TCP in one run.
#[derive(Clone, Debug, Default)]
pub struct TcpMeasurements {
    /// The sessions, in the order of the scenario's traffic.
    pub sessions: Vec<SessionMeasurements>,
    /// The classes with transactions: the index of the class, and the distribution of completion times.
    pub completions: Vec<(usize, Delays)>,
    /// The series, in the order of the scenario's `measure.connections`.
    pub series: Vec<ConnectionSeries>,
    /// The tally of each player of adaptive video, in the order of the scenario's traffic.
    pub videos: Vec<VideoTally>,
    /// The tally of each browser, in the order of the scenario's traffic.
    pub pages: Vec<PageTally>,
    /// The tally of each speed test, in the order of the scenario's traffic.
    pub speed_tests: Vec<SpeedTally>,
    /// The index of each class in `completions`.
    completion_places: BTreeMap<usize, usize>,
}

impl TcpMeasurements {
    /// Returns the index of `class` in `completions`. Adds the class if necessary.
    pub fn completions_of(&mut self, class: usize) -> usize {
        let next = self.completions.len();
        let place = *self.completion_places.entry(class).or_insert(next);
        if place == next {
            self.completions.push((class, Delays::default()));
        }
        place
    }
    /// Returns the index of session `number` of entry `traffic`.
    pub fn position(&self, traffic: usize, number: u32) -> Option<usize> {
        self.sessions.iter().position(|session| session.traffic == traffic && session.number == number)
    }
    /// Counts a transaction of the session with index `place` and completion time `time`.
    pub fn complete(&mut self, place: usize, time: Time) {
        let SessionMeasurements { tally, completions, .. } = &mut self.sessions[place];
        tally.completed += 1;
        tally.completion += u128::from(time.as_picoseconds());
        self.completions[*completions].1.record(time, None);
    }
}
