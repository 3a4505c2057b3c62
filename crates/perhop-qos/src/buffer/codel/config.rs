//! What a policy says of `CoDel` (RFC 8289).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSize, QueueSize, Time};

/// `CoDel` as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CodelConfig {
    /// Whose `CoDel` it is.
    pub law: CodelLaw,
    /// The wait that is acceptable.
    pub target: Time,
    /// How long waits must be longer than that before the first drop, 10us to 100s; about the longest round
    /// trip of the connections.
    pub interval: Time,
    /// What the queue holds at most: a packet that finds it full is dropped.
    pub limit: QueueSize,
    /// What becomes of ECN-capable packets.
    pub ecn: EcnMarking,
    /// Marks every ECN-capable packet that has waited for longer, whatever `ecn` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<CeThresholdConfig>,
    /// A queue that holds no more than this drops nothing: the longest packet, in IP bytes.
    pub mtu: ByteSize,
}

/// Whose `CoDel` it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodelLaw {
    /// The pseudocode of the RFC, in exact arithmetic.
    #[default]
    Rfc,
    /// `codel_impl.h` of Linux since 4.20: time in steps of 1.024 us, a reciprocal square root of 16 bits
    /// that is improved once per drop, and packets that count with their Ethernet header on such a link.
    Linux,
}

/// What becomes of an ECN-capable packet that is to be dropped early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMarking {
    /// It is dropped as any other.
    #[default]
    Ignore,
    /// It is marked and goes on (RFC 3168).
    Mark,
}

/// A second, lower threshold that only marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CeThresholdConfig {
    /// The wait beyond which packets are marked.
    pub wait: Time,
    /// Which of them.
    #[serde(default)]
    pub of: CeThresholdOf,
}

/// Which packets a [`CeThresholdConfig`] marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeThresholdOf {
    /// All that are ECN-capable.
    #[default]
    Capable,
    /// Those that say ECT(1) (RFC 9331).
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
