//! The closed sets of rules from which a profile chooses.

use serde::{Deserialize, Serialize};

/// The scheduler of the classes without priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Each class has one weight, which shares the whole rate.
    WeightedShares,
    /// A minimum for each class first, then a weight shares the excess. Without minima, weights alone.
    MinimumAndExcess,
}

/// The weight of class-default and of classes with a queue but without a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum UnreservedShare {
    /// class-default weighs the unreserved rest of the reservable rate, other classes the least part.
    RestOfReservable {
        /// The least weight, percent of the rate.
        least_percent: u64,
    },
    /// Each class gets an equal share of the rate without guarantees.
    EqualPartsOfUnpromised {
        /// The least weight, percent of the rate.
        least_percent: u64,
    },
    /// Each class gets an equal share of the excess, and no minimum.
    EqualPartsOfExcess,
}

/// The rates that are added up when a policy is attached, and their greatest sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum GuaranteeSum {
    /// Priorities and all guarantees, those relative to the remaining rate included.
    Reservations {
        /// The greatest sum, percent of the rate.
        percent: u64,
    },
    /// Priorities and absolute guarantees.
    Promises {
        /// The greatest sum, percent of the rate.
        percent: u64,
        /// The largest sum if class-default has its own guarantee, percent of the rate.
        with_class_default_percent: u64,
    },
}

/// Whether the release heeds a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heeded {
    /// The command has its effect.
    Heeded,
    /// The release reads the command without any effect.
    Ignored,
}

/// Whether the release accepts a combination of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// The combination is accepted.
    Accepted,
    /// The combination is refused.
    Refused,
}

/// The classes that have a queue of their own, next to class-default and classes with priority, a guarantee
/// or a shaper. The packets of others wait in class-default's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnQueue {
    /// Classes with any policy inside.
    AnyPolicyInside,
    /// Classes with fair queueing, and those whose policy inside queues.
    FairQueueOrQueuesInside,
}

/// The mark by which the queue of a class that marks selects its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSelection {
    /// The mark that the policy has written.
    NewMark,
    /// The mark with which the packet arrived: it is classified once.
    ArrivingMark,
}

/// The limit of the queue of the priority classes of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityQueue {
    /// Each class has its own limit.
    LimitPerClass,
    /// One limit for all classes of the level.
    LimitPerLevel,
}

/// The limit of a class's queue without a written one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum DefaultLimit {
    /// A number of packets.
    Fixed {
        /// The limit.
        packets: u64,
    },
    /// A time at the rate of the port or of the next shaper above.
    LineTime {
        /// Bits per second of that rate for each packet.
        bits_per_packet: u64,
        /// The least limit.
        least_packets: u64,
    },
}

/// The limit of a class's queue in a policy for the peers of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum PeerLimit {
    /// The rule of other policies.
    AsElsewhere,
    /// A time at the rate of the class.
    ClassTime {
        /// Bits per second of that rate for each packet.
        bits_per_packet: u64,
    },
}

/// Fair queueing of flows within a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ClassFairQueue {
    /// Flows weigh by IP precedence.
    ByPrecedence {
        /// Packets of one flow without a written limit.
        flow_packets: u64,
    },
    /// Flows are equal, and their sum has no limit. With WRED only its thresholds count.
    EqualFlows {
        /// A flow holds one part in this number of the class's limit.
        flow_part: u64,
    },
}

/// The maximum threshold of WRED in packets without a written one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum WredMaximum {
    /// A number of packets at any queue limit.
    Fixed {
        /// The threshold.
        packets: u64,
    },
    /// Half of the queue limit.
    HalfOfLimit,
}

/// The minimum thresholds of WRED by precedence p without written ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredMinima {
    /// Half of the maximum, and p ninths of the other half: the last ninth is that of reserved flows.
    NinthsAboveHalf,
    /// Half of the maximum, and p tenths of the other half.
    TenthsAboveHalf,
    /// 8 + p sixteenths of the maximum.
    SixteenthsFromHalf,
}

/// The minimum thresholds of WRED by DSCP without written ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredDscpMinima {
    /// Fortieths of the maximum: EF 36, AFx1 32, AFx2 28, AFx3 24, class selector p 20 + 2p, others 20.
    FortiethsByClass,
}

/// Whether a queue with WRED has a limit as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredTailLimit {
    /// Only a configured limit.
    Written,
    /// The class's limit, unless its flows have queues.
    UnlessFairQueue,
}

/// The committed burst of a shaper without a written one. The excess burst is as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ShaperBurst {
    /// A time at the shaper's rate.
    Interval {
        /// The time.
        microseconds: u64,
    },
    /// A number of bits for slow shapers, a time at the rate for others.
    BitsWhenSlow {
        /// The burst of slow shapers.
        bits: u64,
        /// Bits per second below which a shaper is slow.
        below_bps: u64,
        /// The time of faster shapers.
        microseconds: u64,
    },
}

/// The bytes of a packet that meters and schedulers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedLength {
    /// The bytes of the IP packet.
    IpPacket,
    /// The bytes of the IP packet, link header and tags, without frame check sequence, preamble and gap.
    LinkHeader,
}
