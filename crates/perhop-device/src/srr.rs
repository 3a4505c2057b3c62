//! [`SrrPort`] and [`SrrQueue`]: ports of switches whose queues are served by shaped round robin (SRR) and
//! divide the memory of the port by percentages.

use serde::ser::{Serialize, Serializer};

/// The settings of a port.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SrrPort {
    /// Whether the switch classifies and marks; otherwise all packets wait in one queue.
    pub has_qos: bool,
    /// The field of arriving packets that the port trusts.
    pub trust: String,
    /// The number of the queue-set that divides the memory of the port.
    pub queue_set: u8,
    /// Whether queue 1 is served before the others, without a limit.
    pub priority_queue_out: bool,
    /// The maximum rate of the port, percent of the link rate.
    pub bandwidth_limit_percent: u64,
}

/// The settings of a queue.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SrrQueue {
    /// The memory of the queue, percent of the memory of the port.
    pub buffers_percent: u64,
    /// The reserved share of the memory of the queue, percent.
    pub reserved_percent: u64,
    /// The reserved memory of the queue, percent of the memory of the port.
    pub reserved_port_percent: Hundredths,
    /// The maximum length of the queue, percent of its memory.
    pub maximum_percent: u64,
    /// The shaped weight: the rate of the queue is the rate of the port divided by this number. 0 for a queue
    /// that shares the remaining rate.
    pub shaped_weight: u64,
    /// The share of the remaining rate, relative to the shares of the other queues.
    pub shared_weight: u64,
    /// The maximum rate of the queue, bit/s; `None` for the rate of the port.
    pub ceiling_bps: Option<u64>,
}

/// A number in hundredths. It serializes as a number with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hundredths(pub u64);

impl Serialize for Hundredths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[allow(clippy::cast_precision_loss)] // percentages
        serializer.serialize_f64(self.0 as f64 / 100.0)
    }
}

/// Settings by which ports divide their memory among their queues.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SrrQueueSet {
    /// The number by which ports refer to the queue-set.
    pub number: u8,
    /// The queues.
    pub queues: Vec<SrrSetQueue>,
}

/// A queue of a queue-set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SrrSetQueue {
    /// The number of the queue.
    pub number: u8,
    /// The memory of the queue, percent of the memory of the port.
    pub buffers_percent: u64,
    /// The first threshold, percent of the allocated memory.
    pub threshold1_percent: u64,
    /// The second threshold, percent of the allocated memory.
    pub threshold2_percent: u64,
    /// The reserved share of the memory of the queue, percent.
    pub reserved_percent: u64,
    /// The maximum length of the queue, percent of its memory.
    pub maximum_percent: u64,
}

/// The published memory of a switch for departing packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EgressMemory {
    /// The ports that share the memory, as text.
    pub ports: &'static str,
    /// The size of the memory, as published.
    pub megabytes: u64,
}
