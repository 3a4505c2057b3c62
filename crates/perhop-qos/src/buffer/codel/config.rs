//! [`CodelConfig`]: `CoDel` as written in a policy (RFC 8289).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSize, QueueSize, Time};

/// `CoDel` as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CodelConfig {
    /// The implementation.
    pub law: CodelLaw,
    /// The acceptable wait.
    pub target: Time,
    /// The time for which the waits of all packets must exceed the target before the first drop, 10us to
    /// 100s. Choose about the longest round-trip time of the connections.
    pub interval: Time,
    /// The limit of the queue. A packet that finds it full is dropped.
    pub limit: QueueSize,
    /// The treatment of ECN-capable packets.
    pub ecn: EcnMarking,
    /// Marks ECN-capable packets that have waited longer than a second threshold, regardless of `ecn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<CeThresholdConfig>,
    /// The backlog, IP bytes, up to which the queue drops no packet. It should be the length of the longest
    /// packet.
    pub mtu: ByteSize,
}

/// An implementation of `CoDel`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodelLaw {
    /// The pseudocode of the RFC, in exact arithmetic.
    #[default]
    Rfc,
    /// `codel_impl.h` of Linux since 4.20. Time is counted in steps of 1.024 us. The reciprocal square root
    /// has 16 bits, and each drop improves it by one iteration. On an Ethernet link, the bytes of a packet
    /// include the Ethernet header.
    Linux,
}

/// The treatment of an ECN-capable packet that is to be dropped early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMarking {
    /// The packet is dropped like any other.
    #[default]
    Ignore,
    /// The packet is marked and passes (RFC 3168).
    Mark,
}

/// A second threshold of the wait, usually below the target. It marks packets and never drops them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CeThresholdConfig {
    /// The wait above which packets are marked.
    pub wait: Time,
    /// The packets that are marked.
    #[serde(default)]
    pub of: CeThresholdOf,
}

/// The packets that a [`CeThresholdConfig`] marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeThresholdOf {
    /// All ECN-capable packets are marked.
    #[default]
    Capable,
    /// Packets with ECT(1) are marked (RFC 9331).
    Ect1,
}

impl Default for CodelConfig {
    /// RFC 8289 §4.2 and §4.3: a target of 5 ms and an interval of 100 ms. Linux: 1000 packets.
    fn default() -> CodelConfig {
        CodelConfig {
            law: CodelLaw::default(),
            target: Time::from_milliseconds(5),
            interval: Time::from_milliseconds(100),
            limit: QueueSize::Packets(1000),
            ecn: EcnMarking::default(),
            ce_threshold: None,
            mtu: ByteSize::from_bytes(1500),
        }
    }
}
