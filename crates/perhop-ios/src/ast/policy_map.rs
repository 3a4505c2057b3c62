//! [`PolicyMap`]: what is done with each class.

use perhop_device::intent::{
    At, DropProfile as RandomDetect, FairQueue, Guarantee as Bandwidth, PartialLimit, Priority, QueueLimit,
    Shape, TableDefault, TrafficRate,
};

use serde::Serialize;

use super::rate_limit::{Action, Field, Marking};

/// `service-policy` of an interface or circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServicePolicies {
    /// For what comes in.
    pub input: Option<At<String>>,
    /// For what goes out.
    pub output: Option<At<String>>,
}

/// `policy-map`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyMap {
    /// Its name.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// Its classes, in order: a packet belongs to the first that matches.
    pub classes: Vec<PolicyClass>,
}

/// `class` in a policy-map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyClass {
    /// The class-map's name, or `class-default`.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// `bandwidth …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<At<Bandwidth>>,
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
    /// `queue-limit dscp …` and the like, in order: limits of some packets in the same queue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_limits: Vec<At<ValueLimit>>,
    /// `queue-buffers ratio`: percent of a port's buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_percent: Option<At<u64>>,
    /// `fair-queue …`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_queue: Option<At<FairQueue>>,
    /// `service-policy …`: a policy for what is inside this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_policy: Option<At<String>>,
    /// `drop`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop: Option<At<()>>,
}

impl PolicyClass {
    /// Whether it asks for a queue, or for a place in the scheduler.
    pub fn queues(&self) -> bool {
        self.bandwidth.is_some()
            || self.priority.is_some()
            || self.shape.is_some()
            || self.random_detect.is_some()
            || self.queue_limit.is_some()
            || self.fair_queue.is_some()
    }
}

/// `police` in a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Police {
    /// Committed rate.
    pub rate: TrafficRate,
    /// Committed burst in bytes, or milliseconds of the rate where that is a percentage.
    pub burst: Option<u64>,
    /// Peak rate of the two-rate form.
    pub peak: Option<TrafficRate>,
    /// Excess or peak burst, in the same unit.
    pub excess_burst: Option<u64>,
    /// Actions for conforming packets; empty where nothing is said.
    pub conform: Vec<Action>,
    /// Actions for exceeding packets; empty where nothing is said.
    pub exceed: Vec<Action>,
    /// Actions for violating packets; empty where nothing is said: then there is no such color.
    pub violate: Vec<Action>,
    /// `conform-color`: the class whose packets arrive as conforming; the policer is aware of colors then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conform_class: Option<At<String>>,
    /// `exceed-color`: the class whose packets arrive as exceeding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceed_class: Option<At<String>>,
}

/// `police rate … pps`: a policer that counts packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketPolice {
    /// Packets per second.
    pub rate: u64,
    /// Packets in a burst.
    pub burst: Option<u64>,
    /// Packets per second of the two-rate form.
    pub peak: Option<u64>,
    /// Packets in a burst at that rate.
    pub peak_burst: Option<u64>,
    /// Actions for conforming packets; empty where nothing is said.
    pub conform: Vec<Action>,
    /// Actions for exceeding packets; empty where nothing is said.
    pub exceed: Vec<Action>,
    /// Actions for violating packets; empty where nothing is said.
    pub violate: Vec<Action>,
}

/// `account`: bytes of a lower layer that are counted with each packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Account {
    /// `user-defined`: bytes more, or fewer, than the packet has.
    UserDefined {
        /// Bytes.
        bytes: i64,
        /// `atm`: counted in cells.
        cells: bool,
    },
    /// The headers of an encapsulation farther down the way, as written: `dot1q aal5 snap-rbe-dot1q`.
    Encapsulation(String),
}

/// `queue-limit dscp …`: how long the queue may be when a packet with one of some values comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueLimit {
    /// The field.
    pub field: Field,
    /// Its values.
    pub values: Vec<u8>,
    /// The limit.
    pub limit: PartialLimit,
}

/// `table-map`: which value of a field becomes which value of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableMap {
    /// Its name.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// `map from … to …`
    pub entries: std::collections::BTreeMap<u8, u8>,
    /// `default …`
    pub default: TableDefault,
}
