//! [`HostReport`]: what a host's programs say when they have ended.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::{datagram, stream};

/// What a host's programs did, apart from the packets that they wrote down one by one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostReport {
    /// The host.
    pub host: String,
    /// How late datagrams were sent.
    pub lateness: Lateness,
    /// Datagrams that the system refused to send.
    pub refused_packets: u64,
    /// Datagrams that had to be longer than the scenario says, to carry their numbers.
    pub lengthened_packets: u64,
    /// Datagrams of no flow of the scenario.
    pub foreign_packets: u64,
    /// Packets of TCP that went by unseen because there was no room for them.
    pub unseen_packets: u64,
    /// The sessions of TCP traffic of which this host is an end.
    pub sessions: Vec<SessionReport>,
    /// What is otherwise than the scenario wants it, in words.
    pub notes: Vec<String>,
}

/// How late something was, over all times that it was done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lateness {
    /// How often it was done.
    pub count: u64,
    /// Median, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, nanoseconds.
    pub p99_ns: u64,
    /// Greatest, nanoseconds.
    pub max_ns: u64,
}

/// What one end of a session did after the warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionReport {
    /// Index of its entry in the scenario's traffic.
    pub traffic: usize,
    /// Which of that entry's sessions it is, from 0.
    pub number: u32,
    /// This end opens the connections.
    pub is_client: bool,
    /// Connections begun.
    pub connections: u64,
    /// Transactions that ended here and have no completion time of their own.
    pub transactions: u64,
    /// Completion times, nanoseconds.
    pub completions: Vec<u64>,
    /// Payload bytes that arrived in order.
    pub received: u64,
    /// Segments with payload that were sent.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Transfers whose end the server sees: when each connection began (client) or ended (server).
    pub transfers: Vec<ClientConnection>,
    /// What probes of connections saw.
    pub samples: Vec<Sample>,
}

/// When a connection from one of the client's ports began, or ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClientConnection {
    /// The client's port.
    pub port: u16,
    /// When, nanoseconds since the run began.
    pub at: u64,
}

/// One end of a connection as a probe saw it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Sample {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// When, nanoseconds since the run began.
    pub at: u64,
    /// Which of its session's connections it is, from 0.
    pub connection: u32,
    /// Congestion window, segments.
    pub window: u32,
    /// Slow-start threshold, segments.
    pub threshold: u32,
    /// Segments under way.
    pub in_flight: u32,
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Smoothed round-trip time, µs; 0 while none was measured.
    pub round_trip: u32,
    /// Retransmission timeout, µs.
    pub timeout: u32,
}

impl Lateness {
    /// What `histogram` of nanoseconds says.
    pub(super) fn of(histogram: &Histogram<u64>) -> Lateness {
        Lateness {
            count: histogram.len(),
            p50_ns: histogram.value_at_quantile(0.5),
            p99_ns: histogram.value_at_quantile(0.99),
            max_ns: histogram.max(),
        }
    }
}

impl HostReport {
    /// Nothing done yet by `host`.
    pub(super) fn new(host: &str) -> HostReport {
        HostReport { host: host.to_owned(), ..HostReport::default() }
    }
    pub(super) fn sender(&mut self, sent: datagram::Sent) {
        self.lateness = sent.lateness;
        self.refused_packets = sent.refused;
        self.lengthened_packets = sent.lengthened;
        if let Some(said) = sent.refusal {
            self.notes.push(format!("the system refused {} datagrams: {said}", sent.refused));
        }
    }
    pub(super) fn receiver(&mut self, foreign: u64) {
        self.foreign_packets = foreign;
    }
    pub(super) fn streams(&mut self, streams: stream::Outcome) {
        self.sessions = streams.sessions;
        self.notes.extend(streams.notes);
    }
}
