//! [`PolicyMap`]: the actions for each class.

use perhop_device::intent::{
    At, DropProfile as RandomDetect, FairQueue, Guarantee as Bandwidth, PartialLimit, Priority, QueueLimit,
    Shape, TableDefault, TrafficRate,
};

use serde::Serialize;

use super::mls::Trust;
use super::nx_os::PauseMemory;
use super::rate_limit::{Action, Field, Marking};

/// `service-policy` of an interface or circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServicePolicies {
    /// The input policy.
    pub input: Option<At<String>>,
    /// The output policy.
    pub output: Option<At<String>>,
    /// The second output policy, on IOS XR and NX-OS. One of the two output policies marks, and the other
    /// queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_output: Option<At<String>>,
    /// `service-policy type queuing input` of NX-OS: the memory for arriving packets.
    #[serde(skip)]
    pub queuing_input: Option<At<String>>,
}

/// `policy-map`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyMap {
    /// The name of the policy-map.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// The classes in order. A packet belongs to the first matching class.
    pub classes: Vec<PolicyClass>,
}

/// `class` in a policy-map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyClass {
    /// The class-map's name, or `class-default`.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// `bandwidth …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<At<Bandwidth>>,
    /// `bandwidth remaining …` next to a minimum in `bandwidth`, on IOS XR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<At<Bandwidth>>,
    /// `priority …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<At<Priority>>,
    /// `police …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub police: Option<At<Police>>,
    /// `police rate … pps`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub police_packets: Option<At<PacketPolice>>,
    /// `shape …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<At<Shape>>,
    /// `account …` at the end of `shape` or `bandwidth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<At<Account>>,
    /// `set …`, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<At<Marking>>,
    /// `random-detect …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_detect: Option<At<RandomDetect>>,
    /// `queue-limit …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<At<QueueLimit>>,
    /// `queue-limit percent`: percent of the memory that the queues of an ASR 920 share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_limit: Option<At<u64>>,
    /// `queue-limit dscp …` and similar lines, in order. Each line limits the packets with some values of a
    /// field within the queue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_limits: Vec<At<ValueLimit>>,
    /// `queue-buffers ratio`: percent of a port's buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_percent: Option<At<u64>>,
    /// `trust`: the field from which a switch derives the codepoint of the packets.
    #[serde(skip)]
    pub trust: Option<At<Trust>>,
    /// `police aggregate`: the policer that several classes share.
    #[serde(skip)]
    pub aggregate: Option<At<String>>,
    /// `queue-limit dynamic` of NX-OS: the number that selects a factor of the free memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_limit: Option<At<u8>>,
    /// `pause` in an input policy of type queuing, on NX-OS.
    #[serde(skip)]
    pub pause: Option<At<PauseMemory>>,
    /// `fair-queue …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_queue: Option<At<FairQueue>>,
    /// `service-policy …`: the nested policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_policy: Option<At<String>>,
    /// `drop`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop: Option<At<()>>,
}

impl PolicyClass {
    /// Whether the class needs a queue or a share of the scheduler.
    pub fn queues(&self) -> bool {
        self.bandwidth.is_some()
            || self.priority.is_some()
            || self.shape.is_some()
            || self.random_detect.is_some()
            || self.queue_limit.is_some()
            || self.percent_limit.is_some()
            || self.dynamic_limit.is_some()
            || self.fair_queue.is_some()
    }

    /// Whether the class has its own queue on a switch whose queues share memory.
    pub fn has_switch_queue(&self) -> bool {
        self.queues() || self.buffers_percent.is_some() || !self.value_limits.is_empty()
    }
}

/// `police` in a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Police {
    /// Committed rate.
    pub rate: TrafficRate,
    /// The committed burst in bytes, or in milliseconds if the rate is a percentage.
    pub burst: Option<u64>,
    /// The peak rate of a two-rate policer.
    pub peak: Option<TrafficRate>,
    /// The excess burst or peak burst, in the unit of `burst`.
    pub excess_burst: Option<u64>,
    /// Actions for conforming packets; empty if not configured.
    pub conform: Vec<Action>,
    /// Actions for exceeding packets; empty if not configured.
    pub exceed: Vec<Action>,
    /// Actions for violating packets; empty if not configured. The policer then has two colors.
    pub violate: Vec<Action>,
    /// `conform-color`: the class of packets that arrive as conforming. With this class, the policer is
    /// color-aware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conform_class: Option<At<String>>,
    /// `exceed-color`: the class of packets that arrive as exceeding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceed_class: Option<At<String>>,
}

/// `police rate … pps`: a policer that counts packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketPolice {
    /// The rate, packets per second.
    pub rate: u64,
    /// The burst, packets.
    pub burst: Option<u64>,
    /// The peak rate of a two-rate policer, packets per second.
    pub peak: Option<u64>,
    /// Peak burst, packets.
    pub peak_burst: Option<u64>,
    /// Actions for conforming packets; empty if not configured.
    pub conform: Vec<Action>,
    /// Actions for exceeding packets; empty if not configured.
    pub exceed: Vec<Action>,
    /// Actions for violating packets; empty if not configured. The policer then has two colors.
    pub violate: Vec<Action>,
}

/// `account`: the overhead of a lower layer that the router counts with each packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Account {
    /// `user-defined`: a correction of the packet length.
    UserDefined {
        /// The number of bytes to add to the length of each packet; can be negative.
        bytes: i64,
        /// `atm`: whether the length is counted in whole cells.
        cells: bool,
    },
    /// The headers of a downstream encapsulation, as written: `dot1q aal5 snap-rbe-dot1q`.
    Encapsulation(String),
}

/// `queue-limit dscp …`: the queue limit for arriving packets with some values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueLimit {
    /// The field.
    pub field: Field,
    /// The values of the field.
    pub values: Vec<u8>,
    /// The limit.
    pub limit: PartialLimit,
}

/// `table-map`: a mapping from values of one field to values of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableMap {
    /// The name of the table-map.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// `map from … to …`
    pub entries: std::collections::BTreeMap<u8, u8>,
    /// `default …`
    pub default: TableDefault,
}
