//! [`HostReport`]: counters of a host at the end of a run.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Counters of a host, in addition to the records of packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostReport {
    /// Name of the host.
    pub host: String,
    /// Lateness of sent datagrams.
    #[serde(rename = "lateness")]
    pub send_delay: SendDelay,
    /// Datagrams that the kernel did not send.
    pub refused_packets: u64,
    /// Datagrams that were lengthened, because their size in the scenario has no room for a number.
    pub lengthened_packets: u64,
    /// Datagrams that do not belong to a flow of the scenario.
    pub foreign_packets: u64,
    /// TCP packets that were not recorded because the buffer was full.
    pub unseen_packets: u64,
    /// Sessions of TCP traffic with an end at this host.
    pub sessions: Vec<SessionReport>,
    /// Differences from the scenario, as text.
    pub notes: Vec<String>,
}

/// Distribution of lateness.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SendDelay {
    /// Number of samples.
    pub count: u64,
    /// Median, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, nanoseconds.
    pub p99_ns: u64,
    /// Maximum, nanoseconds.
    pub max_ns: u64,
}

/// Counters of one end of a session after the warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionReport {
    /// Index of its entry in the scenario's traffic.
    pub traffic: usize,
    /// Number of the session within its entry, from 0.
    pub number: u32,
    /// Whether this end opens the connections.
    pub is_client: bool,
    /// Opened connections.
    pub connections: u64,
    /// Transactions that ended here without a completion time.
    pub transactions: u64,
    /// Completion times, nanoseconds.
    pub completions: Vec<u64>,
    /// Payload bytes that arrived in order.
    pub received: u64,
    /// Sent segments with payload.
    pub segments: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// The connections of transfers to the server: at the client with their starts, at the server with their
    /// ends.
    pub transfers: Vec<ClientConnection>,
    /// Samples of connection probes.
    pub samples: Vec<Sample>,
}

/// Start or end of a connection, identified by the client's port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClientConnection {
    /// The client's port.
    pub port: u16,
    /// Time, nanoseconds since the start of the run.
    pub at: u64,
}

/// A sample of one endpoint of a connection.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Sample {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Time, nanoseconds since the start of the run.
    pub at: u64,
    /// Number of the connection within its session, from 0.
    pub connection: u32,
    /// Congestion window, segments.
    pub window: u32,
    /// Slow-start threshold, segments.
    pub threshold: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Payload of a full segment, bytes.
    pub segment: u32,
    /// Smoothed round-trip time, µs; 0 before the first sample.
    pub round_trip: u32,
    /// Retransmission timeout, µs.
    pub timeout: u32,
}

impl SendDelay {
    /// Summarizes `histogram`, in nanoseconds.
    pub(super) fn from_histogram(histogram: &Histogram<u64>) -> SendDelay {
        SendDelay {
            count: histogram.len(),
            p50_ns: histogram.value_at_quantile(0.5),
            p99_ns: histogram.value_at_quantile(0.99),
            max_ns: histogram.max(),
        }
    }
}
