//! The measurements of a run.

use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measurements in addition to the counters of every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MeasureConfig {
    /// Time at the start of the run that all measurements exclude.
    #[serde(default)]
    pub warmup: Time,
    /// Queues to sample over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueProbeConfig>,
    /// Directions of links that `perhop run --pcap` captures; by default both directions of every link with a
    /// policy at either end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<CaptureConfig>,
    /// TCP connections to sample over time: congestion window, bytes in flight, round-trip time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionProbeConfig>,
    /// Interval of the time series of throughput per class. Without it, there is no such series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_every: Option<Time>,
    /// Names of traffic whose delivered packets are listed individually with their delays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<String>,
    /// Interval of the time series of delay and delay variation per class. Without it, there is no such
    /// series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_every: Option<Time>,
    /// Whether delay distributions are recorded per class or per flow; each distribution takes about 80 KiB
    /// of memory.
    #[serde(default, skip_serializing_if = "DelayScope::is_per_class")]
    pub delays: DelayScope,
}

/// Scope of the delay distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayScope {
    /// One distribution per class: percentiles per class, and delay variation (PDV, RFC 5481) of classes with
    /// one flow.
    #[default]
    PerClass,
    /// One distribution per flow: percentiles and PDV per flow and per class.
    PerFlow,
}

impl DelayScope {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
    fn is_per_class(&self) -> bool {
        *self == DelayScope::PerClass
    }
}

/// The queues of one port, sampled at fixed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QueueProbeConfig {
    /// The sending node.
    pub from: String,
    /// The neighbor at the other end of the link.
    pub to: String,
    /// Interval between samples.
    pub every: Time,
}

/// A captured direction of a link: packets that a node sends to a neighbor, and packets that its port drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CaptureConfig {
    /// The sending node.
    pub from: String,
    /// The neighbor at the other end of the link.
    pub to: String,
}

/// The connections of TCP traffic, sampled at fixed intervals while they are open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConnectionProbeConfig {
    /// Name of the traffic.
    pub traffic: String,
    /// Number of the flow, from 0; by default all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// The endpoint to sample.
    #[serde(default)]
    pub end: ConnectionEnd,
    /// Interval between samples.
    pub every: Time,
}

/// An endpoint of a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionEnd {
    /// The client, which opens the connection: the host at `from`.
    #[default]
    Client,
    /// The server: the host at `to`.
    Server,
}
