//! [`MlsQos`] and [`PortQos`]: `mls qos` of Catalyst 2960, 3560 and 3750.

use std::collections::BTreeMap;

use perhop_device::intent::At;

/// The number of output queues of a port.
pub const OUTPUT_QUEUES: usize = 4;
/// The number of input queues in front of the internal ring of the switch.
pub const INPUT_QUEUES: usize = 2;
/// The number of queue-sets.
pub const QUEUE_SETS: usize = 2;

/// The queue and the threshold of a packet. Both numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePlace {
    /// The queue.
    pub queue: u8,
    /// The threshold, 1 to 3.
    pub threshold: u8,
}

/// `mls qos queue-set output … threshold`. Values are percentages of the memory that is allocated to the
/// queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueThresholds {
    /// The lengths of the queue at which packets of thresholds 1 and 2 are dropped.
    pub drop: [u64; 2],
    /// The memory that is reserved for the queue.
    pub reserved: u64,
    /// The maximum length of the queue.
    pub maximum: u64,
}

/// `mls qos queue-set output`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSet {
    /// The share of each queue in the memory of a port, percent.
    pub buffers: Option<At<[u64; OUTPUT_QUEUES]>>,
    /// The thresholds of the queues.
    pub thresholds: [Option<At<QueueThresholds>>; OUTPUT_QUEUES],
}

/// `mls qos srr-queue input`, without its maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSettings {
    /// The share of each queue in the memory, percent.
    pub buffers: Option<At<[u64; INPUT_QUEUES]>>,
    /// The weight of each queue in the rate of the ring (`bandwidth`).
    pub bandwidth: Option<At<[u64; INPUT_QUEUES]>>,
    /// The share of the ring's rate that a queue receives before the other queue, percent, by queue.
    pub priority: BTreeMap<u8, At<u64>>,
    /// The two drop thresholds of each queue, percent.
    pub thresholds: BTreeMap<u8, At<[u64; 2]>>,
}

/// `mls qos aggregate-policer`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregatePolicer {
    /// The rate, bits per second.
    pub rate: u64,
    /// The burst, bytes.
    pub burst: u64,
    /// Whether packets above the rate are marked by the map `policed-dscp` instead of dropped.
    pub marks_down: bool,
}

/// The global settings of `mls qos`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MlsQos {
    /// `mls qos` or `no mls qos`
    pub enabled: Option<At<bool>>,
    /// `no mls qos rewrite ip dscp`
    pub keeps_dscp: Option<At<()>>,
    /// `map cos-dscp`: the codepoints of the eight classes of service.
    pub cos_dscp: Option<At<[u8; 8]>>,
    /// `map ip-prec-dscp`: the codepoints of the eight precedences.
    pub precedence_dscp: Option<At<[u8; 8]>>,
    /// `map dscp-cos`
    pub dscp_cos: BTreeMap<u8, At<u8>>,
    /// `map policed-dscp`
    pub policed_dscp: BTreeMap<u8, At<u8>>,
    /// `map dscp-mutation` by name.
    pub mutations: BTreeMap<String, BTreeMap<u8, At<u8>>>,
    /// `srr-queue output dscp-map`
    pub output_dscp: BTreeMap<u8, At<QueuePlace>>,
    /// `srr-queue output cos-map`
    pub output_cos: BTreeMap<u8, At<QueuePlace>>,
    /// `srr-queue input dscp-map`
    pub input_dscp: BTreeMap<u8, At<QueuePlace>>,
    /// `srr-queue input cos-map`
    pub input_cos: BTreeMap<u8, At<QueuePlace>>,
    /// The other settings of `srr-queue input`.
    pub input: InputSettings,
    /// `queue-set output`
    pub queue_sets: [QueueSet; QUEUE_SETS],
    /// `aggregate-policer` by name.
    pub aggregate_policers: BTreeMap<String, At<AggregatePolicer>>,
    /// The lines that perhop counts as modeled if the device is such a switch.
    pub lines: Vec<usize>,
}

/// The field from which a port or a class derives the codepoint of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The codepoint itself.
    Dscp,
    /// The class of service, by the map `cos-dscp`.
    Cos,
    /// The class of service selects the queue, and the codepoint does not change: `cos pass-through dscp`.
    CosPassThrough,
    /// The IP precedence, by the map `ip-prec-dscp`.
    Precedence,
}

/// The settings of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortQos {
    /// `mls qos trust`
    pub trust: Option<At<Trust>>,
    /// `mls qos trust device`, `trust device`: the port trusts only while it sees the device.
    pub device: Option<At<String>>,
    /// `mls qos cos`: the class of service of frames without a tag.
    pub cos: Option<At<u8>>,
    /// `mls qos cos override`: all frames get this class of service.
    pub cos_override: Option<At<()>>,
    /// `mls qos vlan-based`
    pub vlan_based: Option<At<()>>,
    /// `mls qos dscp-mutation`
    pub mutation: Option<At<String>>,
    /// `queue-set`
    pub queue_set: Option<At<u8>>,
    /// `srr-queue bandwidth share`
    pub share: Option<At<[u64; OUTPUT_QUEUES]>>,
    /// `srr-queue bandwidth shape`
    pub shape: Option<At<[u64; OUTPUT_QUEUES]>>,
    /// `srr-queue bandwidth limit`, percent.
    pub limit: Option<At<u64>>,
    /// `priority-queue out`
    pub expedite: Option<At<()>>,
    /// The lines that perhop counts as modeled if the device is such a switch.
    pub lines: Vec<usize>,
}
