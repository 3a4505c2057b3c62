//! [`SchedulerConfig`] and [`ShareConfig`]: schedulers and the shares of classes, as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{ByteSize, Rate, Time};

/// A scheduler as written in a policy. The classes contain the shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// Serves packets in the order of arrival, over all classes. Supports no share.
    #[default]
    Fifo,
    /// Strict priority, non-preemptive. Supports `level` and `cap`.
    Priority,
    /// Weighted round robin, counted in packets. Supports `weight` or `bandwidth`.
    Wrr,
    /// Deficit round robin, counted in bytes (Shreedhar and Varghese 1995). Supports `quantum`.
    Drr,
    /// Self-clocked fair queueing (Golestani 1994). Supports `weight` or `bandwidth`.
    Scfq,
    /// Weighted fair queueing: packetized generalized processor sharing with the virtual time of the fluid
    /// server (Parekh and Gallager 1993). Supports `weight` or `bandwidth`.
    Wfq,
    /// Worst-case fair weighted fair queueing (Bennett and Zhang 1997). Supports `weight` or `bandwidth`.
    Wf2qPlus,
    /// A guaranteed minimum and a share of the excess, as in routers with three parameters for each class.
    /// The third parameter is the shaper. Supports `minimum` and `weight`.
    ThreeParameter,
    /// Class-based queueing: link sharing, with priorities and a weighted round robin in bytes (Floyd and
    /// Jacobson 1995). Supports `fraction` or `bandwidth`, `level`, `borrow`, `max-idle` and `extra-delay`.
    Cbq,
    /// Hierarchical fair service curves (Stoica, Zhang and Ng 1997): real-time service by deadlines and link
    /// sharing by virtual times, as in Linux. Supports `real-time`, `link-share` and `upper-limit`.
    Hfsc,
    /// Hierarchical token bucket, as in Linux: guaranteed rates, ceilings, and turns of a quantum for the
    /// excess. Supports `rate`, `ceil`, `burst`, `ceil-burst`, `level`, `quantum` and `link-layer`, or
    /// `direct`.
    Htb,
    /// Guarantees in the order of their levels, and then the excess in the order of other levels and by
    /// weight. It serves a tree of classes, as in routers with two priorities for each queue. Supports
    /// `rate`, `ceil`, `burst`, `ceil-burst`, `weight`, `level`, `excess-level` and `link-layer`.
    GuaranteeExcess,
}

/// A service curve of two pieces, as in `tc` of Linux: an initial rate, and the rate after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServiceCurveConfig {
    /// The initial rate, bits per second of IP packets. Default: `m2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m1: Option<Rate>,
    /// The duration of `m1`, beginning when the class becomes backlogged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<Time>,
    /// The rate after the initial rate, bits per second of IP packets.
    pub m2: Rate,
}

/// The link-sharing options of an outermost `cbq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkSharingConfig {
    /// The ancestors from which a class that has used up its allotment may borrow.
    #[serde(default)]
    pub guideline: Guideline,
    /// The order of the classes of one level.
    #[serde(default)]
    pub turns: Turns,
    /// The longest packet, IP bytes. In one round, a level sends this number of bytes times the number of its
    /// classes.
    #[serde(default = "longest_packet")]
    pub longest_packet: ByteSize,
}

/// The default is the MTU of Ethernet.
fn longest_packet() -> ByteSize {
    ByteSize::from_bytes(1500)
}

impl Default for LinkSharingConfig {
    fn default() -> LinkSharingConfig {
        LinkSharingConfig {
            guideline: Guideline::default(),
            turns: Turns::default(),
            longest_packet: longest_packet(),
        }
    }
}

/// The ancestors from which a class of `cbq` that has used up its allotment may borrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guideline {
    /// An ancestor that has not used up its own allotment, while no class below the height of that ancestor
    /// is unsatisfied. A class is unsatisfied if it wants to send and has not used up its allotment.
    #[default]
    Formal,
    /// Any ancestor that has not used up its own allotment.
    AncestorOnly,
    /// An ancestor that has not used up its own allotment, up to a height that changes with arrivals and
    /// departures.
    TopLevel,
}

/// The order of the classes of one level of `cbq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// Weighted round robin: bytes in proportion to the allotments of the classes of the level.
    #[default]
    Weighted,
    /// Round robin: one packet for each class.
    Packet,
}

/// The share of a class in the scheduler above it. Each scheduler supports its own kinds of share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShareConfig {
    /// The share relative to the weights of the sibling classes, above 0. Default: 1 if no class has a
    /// weight. Only for `wrr` (packets per round), `scfq`, `wfq`, `wf2q-plus`, `three-parameter` and
    /// `guarantee-excess` (the share of the excess).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The share relative to the bandwidths of the sibling classes, above 0. Under `wrr`, `scfq`, `wfq` and
    /// `wf2q-plus`, it is a weight that is written as a rate. It is not a limit there and is not compared
    /// with the wire's rate. Under `cbq`, it is the allotment, which is a limit and is compared with the
    /// wire's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// The guaranteed rate, bits per second of IP packets. It is served before the excess is shared. For
    /// `three-parameter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Rate>,
    /// The IP bytes that the class sends in each round. For `drr`, default: 1500 B. For `htb`, default: a
    /// tenth of a second of `rate` (see `rate-to-quantum`), from 1000 to 200000 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<ByteSize>,
    /// The allotment as a fraction of the wire's rate, above 0 and at most 1. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// Whether the class may send more than its allotment while an ancestor has not used up its own. Default:
    /// true. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub borrow: Option<bool>,
    /// The largest average idle time per packet that the class can accumulate. Default: the value that allows
    /// a burst of 8 longest packets for each level down to the level of the class. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_idle: Option<Time>,
    /// The additional wait of the class after it has used up its allotment and cannot borrow. Default: 0. For
    /// `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_delay: Option<Time>,
    /// The service guaranteed by deadlines, regardless of sibling classes. Only for a class with a queue. For
    /// `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time: Option<ServiceCurveConfig>,
    /// The share of the rate above the guarantees, relative to the curves of the sibling classes. For `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_share: Option<ServiceCurveConfig>,
    /// The upper limit of link sharing. It does not limit the guaranteed service. For `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_limit: Option<ServiceCurveConfig>,
    /// The priority. Level 0 is served first. For `priority` (default: the order of the classes), and for
    /// `cbq` and `htb`, where several classes may have one level (default: 0). The last level of `htb` is 7.
    /// For `guarantee-excess`, the priority of a queue within its guarantee, 0 to 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u16>,
    /// The priority of a queue above its guarantee, 0 (served first, the default) to 7. For
    /// `guarantee-excess`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_level: Option<u16>,
    /// The rate up to which the class has its priority. Default: no limit. For `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<CapConfig>,
    /// The guaranteed rate, bits per second. For `htb`, where all classes except a direct one must have it,
    /// and for `guarantee-excess`, where a class without it has no guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The ceiling: the largest rate of the class, bits per second, including borrowed bandwidth. Default:
    /// `rate`. For `htb`, and for `guarantee-excess` (default: no limit). Under `guarantee-excess`, a class
    /// whose `rate` is at least `ceil` is always within its guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<Rate>,
    /// The largest burst of the class at its rate, bytes. Default: 1600 B plus the bytes of 1 ns at the rate.
    /// For `htb`, and for `guarantee-excess` (default: 3200 B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<ByteSize>,
    /// The largest burst of the class at its ceiling, bytes. Default: 1600 B plus the bytes of 1 ns at the
    /// ceiling. For `htb`, and for `guarantee-excess` (default: 3200 B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil_burst: Option<ByteSize>,
    /// The bytes that the rates of the class count for a packet in addition to the bytes that the policy
    /// counts. For `htb` and `guarantee-excess`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_layer: Option<LinkLayerConfig>,
    /// Whether the class is served before all other classes and has no rate, like packets that match no class
    /// of HTB in Linux. Only one class of `htb` can be direct, and it must have no other share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
}

/// The bytes that the rates of a class of `htb` or `guarantee-excess` count for a packet in addition to the
/// bytes that the policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkLayerConfig {
    /// The additional bytes, 0 to 65535.
    #[serde(default)]
    pub overhead: u16,
    /// The minimum packet unit (`mpu`): the smallest counted length, including the additional bytes.
    #[serde(default, rename = "mpu")]
    pub minimum_packet_unit: u16,
    /// The cells that carry the packets.
    #[serde(default)]
    pub cells: Cells,
}

impl LinkLayerConfig {
    /// The length and the payload of a cell, bytes.
    const CELL: (u32, u32) = (53, 48);

    /// Returns the counted length of a packet for which the policy counts `length` bytes.
    pub fn counted(self, length: u32) -> u32 {
        let length = length.saturating_add(self.overhead.into()).max(self.minimum_packet_unit.into());
        match self.cells {
            Cells::None => length,
            Cells::Atm => length.div_ceil(Self::CELL.1).saturating_mul(Self::CELL.0),
        }
    }
}

/// The cells that carry the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// The link has no cells.
    #[default]
    None,
    /// Cells of 53 bytes with 48 bytes of payload each.
    Atm,
}

/// The rate up to which a class has its priority. Packets above this rate are not dropped: they are sent when
/// no class within its rate has packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CapConfig {
    /// The rate, bits per second of IP packets.
    pub rate: Rate,
    /// The size of the bucket, IP bytes. A longer packet never has priority.
    pub burst: ByteSize,
}
