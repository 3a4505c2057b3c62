//! What is measured.

use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured beyond the counters that every run keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MeasureConfig {
    /// Time at the start of the run that no measurement counts.
    #[serde(default)]
    pub warmup: Time,
    /// Queues to sample over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueProbeConfig>,
    /// Directions of links that `perhop run --pcap` captures; by default both directions of every link with a
    /// policy at one of its ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<CaptureConfig>,
    /// TCP connections to sample over time: congestion window, bytes under way, round-trip time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionProbeConfig>,
    /// Length of the intervals over which throughput per class is reported; without it, no time series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_every: Option<Time>,
    /// Names of traffic whose delivered packets are reported one by one, with their delays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<String>,
    /// Length of the intervals over which delay and delay variation per class are reported; without it,
    /// no time series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_every: Option<Time>,
    /// Whether the distribution of delay is kept per class or, which takes about 80 KiB each, per flow.
    #[serde(default, skip_serializing_if = "DelayScope::is_per_class")]
    pub delays: DelayScope,
}

/// Whose distributions of delay are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayScope {
    /// Each class's: percentiles per class, and delay variation (PDV, RFC 5481) of classes of one flow.
    #[default]
    PerClass,
    /// Each flow's: percentiles and PDV also per flow, and PDV of every class.
    PerFlow,
}

impl DelayScope {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    fn is_per_class(&self) -> bool {
        *self == DelayScope::PerClass
    }
}

/// The queues of one port, sampled at fixed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QueueProbeConfig {
    /// The node that sends.
    pub from: String,
    /// Its neighbor at the other end of the link.
    pub to: String,
    /// Interval between samples.
    pub every: Time,
}

/// A direction of a link that is captured: what one node sends to a neighbor, and what its port drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CaptureConfig {
    /// The node that sends.
    pub from: String,
    /// Its neighbor at the other end of the link.
    pub to: String,
}

/// The connections of TCP traffic, sampled at fixed intervals while they are open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConnectionProbeConfig {
    /// Name of the traffic.
    pub traffic: String,
    /// Which of its flows, from 0; without it, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// The end whose window is looked at.
    #[serde(default)]
    pub end: ConnectionEnd,
    /// Interval between samples.
    pub every: Time,
}

/// One end of a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionEnd {
    /// The one that opens it: the host at `from`.
    #[default]
    Client,
    /// The one that waits for it: the host at `to`.
    Server,
}
