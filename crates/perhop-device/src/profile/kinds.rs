//! The closed sets of rules from which a profile chooses.

use serde::{Deserialize, Serialize};

/// The scheduler of the classes without priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Each class has one weight. The weights divide the whole rate.
    WeightedShares,
    /// Each class first gets its minimum. Weights divide the excess. Without minima, weights divide the whole
    /// rate.
    MinimumAndExcess,
}

/// The weight of class-default and of classes with a queue but without a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum UnreservedShare {
    /// The weight of class-default is the unreserved part of the reservable rate; other classes have the
    /// least weight.
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
    /// Each class has the least weight. Percentages of the remaining rate are weights that divide the whole
    /// remaining rate.
    LeastWeight,
}

/// The guarantees that the device adds up when a policy is attached, and the maximum of their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum GuaranteeSum {
    /// Priorities and all guarantees, including shares of the remaining rate.
    Reservations {
        /// The maximum of the sum, percent of the rate.
        percent: u64,
    },
    /// Priorities and absolute guarantees.
    Promises {
        /// The maximum of the sum, percent of the rate.
        percent: u64,
        /// The largest sum if class-default has its own guarantee, percent of the rate.
        with_class_default_percent: u64,
    },
}

/// Whether a command has an effect in the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heeded {
    /// The command has its effect.
    Heeded,
    /// The release reads the command without any effect.
    Ignored,
}

/// Whether the release accepts a command or a combination of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// The release accepts the configuration.
    Accepted,
    /// The release refuses the configuration.
    Refused,
}

/// The classes with their own queue, in addition to class-default and classes with priority, a guarantee or a
/// shaper. Packets of other classes wait in the queue of class-default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnQueue {
    /// Classes with any policy inside.
    AnyPolicyInside,
    /// Classes with fair queueing, and classes whose nested policy queues.
    FairQueueOrQueuesInside,
}

/// The mark that selects the queue of a packet if a class rewrites its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSelection {
    /// The mark that the policy has written.
    NewMark,
    /// The mark with which the packet arrived, because the device classifies a packet once.
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

/// The default limit of a class's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum DefaultLimit {
    /// A number of packets.
    Fixed {
        /// The limit, packets.
        packets: u64,
    },
    /// A time at the rate of the port or of the next shaper above.
    LineTime {
        /// The rate for which one packet is added to the limit, bits per second.
        bits_per_packet: u64,
        /// The minimum limit, packets.
        least_packets: u64,
    },
    /// A time at the guaranteed service rate of the class: its minimum and its configured share of the rate
    /// without minima, or a hundredth of the enclosing rate if both are 0. Configured times also refer to
    /// that rate.
    ServiceTime {
        /// The time.
        microseconds: u64,
    },
    /// A time at the rate of the interface.
    InterfaceTime {
        /// The time.
        microseconds: u64,
    },
    /// A number of bytes that depends on the rate of the interface.
    PortBytes {
        /// The limit up to 1 Gb/s, bytes.
        gigabit: u64,
        /// The limit above 1 Gb/s, bytes.
        faster: u64,
        /// The memory that queues with a limit in percent share, bytes.
        shared: u64,
    },
}

/// The precision with which the hardware stores limits of queues in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum LimitPrecision {
    /// Every number of bytes.
    Exact,
    /// Numbers that are a short mantissa times a power of two. The limit is rounded up to the next such
    /// number.
    Mantissa {
        /// The bits of the mantissa.
        bits: u32,
    },
    /// Whole blocks. The limit is rounded down, but is at least one block.
    Blocks {
        /// The bytes of a block.
        bytes: u64,
    },
}

/// The limit of a class's queue in a policy for the peers of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum PeerLimit {
    /// The limit follows the rule for all other policies.
    AsElsewhere,
    /// A time at the rate of the class.
    ClassTime {
        /// The rate for which one packet is added to the limit, bits per second.
        bits_per_packet: u64,
    },
}

/// Fair queueing of flows within a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ClassFairQueue {
    /// The weights of flows follow the IP precedence.
    ByPrecedence {
        /// The default limit of one flow, packets.
        flow_packets: u64,
    },
    /// All flows have the same weight, and their sum has no limit. With WRED, only the thresholds of WRED
    /// apply.
    EqualFlows {
        /// The limit of a flow is the limit of the class divided by this number.
        flow_part: u64,
    },
}

/// The default maximum threshold of WRED, packets.
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
    /// A time at the guaranteed service rate of the class.
    ServiceTime {
        /// The time.
        microseconds: u64,
    },
}

/// The default minimum thresholds of WRED by precedence p.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredMinima {
    /// Half of the maximum, plus p ninths of the other half; the last ninth belongs to reserved flows.
    NinthsAboveHalf,
    /// Half of the maximum, plus p tenths of the other half.
    TenthsAboveHalf,
    /// (8 + p) / 16 of the maximum.
    SixteenthsFromHalf,
    /// Half of the maximum for every precedence.
    Half,
}

/// The default minimum thresholds of WRED by DSCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredDscpMinima {
    /// Fortieths of the maximum: EF 36, AFx1 32, AFx2 28, AFx3 24, class selector p 20 + 2p, others 20.
    FortiethsByClass,
    /// Half of the maximum for every codepoint.
    Half,
}

/// Whether a queue with WRED also has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WredTailLimit {
    /// Only a configured limit.
    Written,
    /// The limit of the class, unless its flows have their own queues.
    UnlessFairQueue,
    /// The configured limit, otherwise twice the largest maximum threshold.
    TwiceMaximum,
}

/// The treatment of ECN-capable packets above the maximum threshold of WRED, in a class with ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnAboveMaximum {
    /// The packets are dropped, like packets without ECN.
    Dropped,
    /// The packets are marked, up to the limit of the queue.
    Marked,
}

/// The default committed burst of a shaper. The default excess burst has the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ShaperBurst {
    /// A time at the shaper's rate.
    Interval {
        /// The time.
        microseconds: u64,
    },
    /// A number of bits for slow shapers, and a time at the rate for other shapers.
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
    /// The bytes of the frame on the wire, with frame check sequence, preamble and gap.
    WholeFrame,
}

/// The default treatment of packets between the committed and the peak rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExceedDefault {
    /// The packets are dropped.
    Drop,
    /// The packets are transmitted.
    Transmit,
}

/// The queues of a policy on a sub-interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubinterfaceQueues {
    /// Accepted only inside a shaper, because a sub-interface without a shaper is never congested.
    InsideShaper,
    /// Accepted with and without a shaper.
    Accepted,
    /// Accepted only in a certain mode of the hardware.
    InHardwareMode,
}

/// The fields that classes of an output policy may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputMatch {
    /// All fields.
    AnyField,
    /// Only internal fields that an input policy has set: traffic class, group and drop precedence.
    InternalLabels,
}
