//! [`AttachedPolicy`]: an attached policy with the numbers that the device prints.
//!
//! Percentages are resolved to rates, and defaults to numbers. `perhop show` and rate tables use this type.

use serde::Serialize;

use crate::intent::ClassId;

/// A policy attached to a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttachedPolicy {
    /// The name of the policy.
    pub name: String,
    /// The line that opens the policy, from 1.
    pub line: usize,
    /// The rate to which percentages of bandwidth refer, bits per second.
    pub rate_bps: u64,
    /// The classes in order.
    pub classes: Vec<AttachedClass>,
    /// The queue limits that all priority classes of a level share.
    pub priority_limits: Vec<PriorityLimit>,
}

/// One class of an attached policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttachedClass {
    /// The index of the class in the tree of Intent. Links refer to classes by this index.
    #[serde(skip)]
    pub id: ClassId,
    /// The name of the class.
    pub name: String,
    /// The line of the policy that opens the class; 0 for a class that the policy does not contain.
    pub line: usize,
    /// Whether a packet must match all criteria or one of them.
    pub combination: Combination,
    /// The criteria as the device prints them.
    pub matches: Vec<String>,
    /// The name of the queue in results; `None` if the packets of the class wait in the queue of another
    /// class.
    pub queue: Option<String>,
    /// The name of the conditioner that marks and polices the packets of the class.
    pub conditioner: Option<String>,
    /// The configured guarantee (`bandwidth`); `None` without it.
    pub bandwidth: Option<Guarantee>,
    /// The configured priority (`priority`); `None` without it.
    pub priority: Option<Priority>,
    /// The configured policer (`police`); `None` without it.
    pub police: Option<Policer>,
    /// The configured shaper (`shape`); `None` without it.
    pub shape: Option<Shaper>,
    /// The limit of the queue; `None` for a class without a queue.
    pub queue_limit: Option<Limit>,
    /// The fair queueing of flows (`fair-queue`); `None` without it.
    pub fair_queue: Option<FairQueueing>,
    /// The WRED of the queue (`random-detect`); `None` without it.
    pub random_detect: Option<RandomDetect>,
    /// The marks for every packet, as the device prints them.
    pub marks: Vec<String>,
    /// Whether the class drops every packet.
    pub drop: bool,
    /// The nested policy.
    pub policy: Option<AttachedPolicy>,
}

/// Whether a packet must match all criteria of a class or one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// All criteria must match.
    #[default]
    MatchAll,
    /// At least one criterion must match.
    MatchAny,
}

/// The limit of the queue that the priority classes of one level share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PriorityLimit {
    /// The priority level, 1 to 7.
    pub level: u8,
    /// The limit of the queue.
    #[serde(flatten)]
    pub limit: Limit,
}

/// The notation of a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeKind {
    /// Kilobits per second.
    Kbps,
    /// Percent of the rate.
    Percent,
    /// Percent of the rate that priority and other guarantees leave.
    RemainingPercent,
    /// A share of the rate that priority and other guarantees leave, relative to the ratios of the other
    /// classes.
    RemainingRatio,
}

/// The guaranteed bandwidth of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    /// The notation of the configured number.
    pub kind: GuaranteeKind,
    /// The configured number.
    pub value: u64,
    /// The guaranteed rate, bits per second.
    pub rate_bps: u64,
}

/// The notation of the rate limit of a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityKind {
    /// Unlimited, or limited by the policer of the class.
    Strict,
    /// Kilobits per second, under congestion.
    Kbps,
    /// Percent of the rate, under congestion.
    Percent,
}

/// The priority of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Priority {
    /// The priority level, 1 to 7.
    pub level: u8,
    /// Whether the configuration sets the level.
    pub has_level: bool,
    /// The notation of the rate limit.
    pub kind: PriorityKind,
    /// The configured number; 0 without a number.
    pub value: u64,
    /// The rate up to which the priority applies under congestion, bits per second.
    pub rate_bps: Option<u64>,
    /// The burst of the policer at that rate, bytes.
    pub burst_bytes: Option<u64>,
}

/// The notation of a policer's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceKind {
    /// Bits per second.
    Bps,
    /// Percent of the rate of the policy.
    Percent,
    /// Packets per second.
    Pps,
}

/// The policer of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policer {
    /// The notation of its rate.
    pub kind: PoliceKind,
    /// The configured number.
    pub value: u64,
    /// Committed rate: packets per second for [`PoliceKind::Pps`], otherwise bits per second.
    pub cir_bps: u64,
    /// Committed burst: packets for [`PoliceKind::Pps`], otherwise bytes.
    pub bc_bytes: u64,
    /// Peak rate of two-rate policing, bits per second.
    pub pir_bps: Option<u64>,
    /// Excess or peak burst, bytes; `None` without a second bucket.
    pub be_bytes: Option<u64>,
    /// The number of colors: two or three.
    pub colors: u8,
    /// The actions for conforming packets, as the device prints them.
    pub conform: Vec<String>,
    /// The actions for exceeding packets.
    pub exceed: Vec<String>,
    /// The actions for violating packets; empty for two colors.
    pub violate: Vec<String>,
}

/// The kind of rate that a shaper limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeKind {
    /// The configured rate.
    Average,
    /// The rate plus the excess burst in every interval.
    Peak,
}

/// The shaper of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shaper {
    /// The kind of rate.
    pub kind: ShapeKind,
    /// The configured rate, bits per second.
    pub cir_bps: u64,
    /// Committed burst, bits.
    pub bc_bits: u64,
    /// Excess burst, bits.
    pub be_bits: u64,
    /// The maximum rate, bits per second: the configured rate, or the peak rate for [`ShapeKind::Peak`].
    pub target_bps: u64,
    /// The configured percentage; `None` if the configuration has a rate.
    pub value_percent: Option<u64>,
}

/// The unit of a limit or threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Microseconds at the class's rate.
    Us,
    /// Milliseconds at the class's rate.
    Ms,
    /// Percent of the queue's limit.
    Percent,
}

/// A limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The unit of `value`.
    pub unit: Unit,
    /// The limit, in `unit`.
    pub value: u64,
    /// The limit in bytes, if it is configured in bytes or time.
    pub bytes: Option<u64>,
}

impl Limit {
    /// Creates a limit of `value` packets.
    pub fn packets(value: u64) -> Limit {
        Limit { unit: Unit::Packets, value, bytes: None }
    }
}

/// Fair queueing of the flows of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FairQueueing {
    /// The limit of one flow, packets.
    pub flow_limit_packets: u64,
    /// The limit of all flows together, packets.
    pub limit_packets: u64,
    /// The number of queues for flows.
    pub queues: u16,
    /// Whether the weights of flows follow the IP precedence; otherwise all weights are equal.
    pub by_precedence: bool,
}

/// The field that determines the drop precedence for WRED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The IP precedence.
    #[default]
    Precedence,
    /// The codepoint.
    Dscp,
    /// The device's own drop precedence.
    DiscardClass,
    /// The class of service of the 802.1Q tag.
    Cos,
}

/// WRED on the queue of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RandomDetect {
    /// The field that determines the drop precedence.
    pub basis: Basis,
    /// The exponent n of the averaging weight 2⁻ⁿ.
    pub exponent: u32,
    /// Whether ECN-capable packets are marked instead of dropped at random.
    pub ecn: bool,
    /// Thresholds by value, for the values that packets of the class can have.
    pub rows: Vec<RandomDetectRow>,
}

/// Thresholds of one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RandomDetectRow {
    /// The number of the precedence, or the name of the codepoint.
    pub value: String,
    /// The precedence or the codepoint as a number.
    #[serde(skip)]
    pub number: u8,
    /// Whether the configuration sets the thresholds of this value.
    pub is_written: bool,
    /// The average queue length above which packets are dropped at random.
    pub min: u64,
    /// The average queue length above which all packets are dropped.
    pub max: u64,
    /// The unit of `min` and `max`.
    pub unit: Unit,
    /// One in this number of packets is dropped just below `max`.
    pub mark_denominator: u64,
}
