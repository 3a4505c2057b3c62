//! [`SchedulerConfig`] and [`ShareConfig`]: schedulers, and what classes ask of them, as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{ByteSize, Rate, Time};

/// A scheduler as written in a policy; the shares of its classes stand with the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// First come, first served, over all classes; takes no share.
    #[default]
    Fifo,
    /// Strict priority, non-preemptive; takes `level` and `cap`.
    Priority,
    /// Weighted round robin, counted in packets; takes `weight` or `bandwidth`.
    Wrr,
    /// Deficit round robin, counted in bytes (Shreedhar and Varghese 1995); takes `quantum`.
    Drr,
    /// Self-clocked fair queueing (Golestani 1994); takes `weight` or `bandwidth`.
    Scfq,
    /// Weighted fair queueing, that is packetized generalized processor sharing with the virtual time
    /// of the fluid server (Parekh and Gallager 1993); takes `weight` or `bandwidth`.
    Wfq,
    /// Worst-case fair weighted fair queueing (Bennett and Zhang 1997); takes `weight` or `bandwidth`.
    Wf2qPlus,
    /// Minimum and part of the excess, as routers with three parameters per class have it, the third being
    /// its shaper; takes `minimum` and `weight`.
    ThreeParameter,
    /// Class-based queueing: link sharing, with priorities and a weighted round robin in bytes (Floyd and
    /// Jacobson 1995); takes `fraction` or `bandwidth`, `level`, `borrow`, `max-idle` and `extra-delay`.
    Cbq,
    /// Hierarchical fair service curves (Stoica, Zhang and Ng 1997): real-time service by deadlines and link
    /// sharing by virtual times, as in Linux; takes `real-time`, `link-share` and `upper-limit`.
    Hfsc,
    /// Hierarchical token bucket, as Linux has it: guaranteed rates, ceilings, and what is left over by
    /// quanta in turns; takes `rate`, `ceil`, `burst`, `ceil-burst`, `level`, `quantum` and `link-layer`, or
    /// `direct`.
    Htb,
}

/// A service curve of two pieces, as in Linux' `tc`: a rate at first, another from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServiceCurveConfig {
    /// Bits per second at first, counted in IP bytes; without it, those of `m2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m1: Option<Rate>,
    /// For how long `m1` holds, from the moment on at which the class has something to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<Time>,
    /// Bits per second from then on, counted in IP bytes.
    pub m2: Rate,
}

/// How `cbq` shares the wire, beside what its classes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkSharingConfig {
    /// From whom a class may borrow that has used up its allotment.
    #[serde(default)]
    pub guideline: Guideline,
    /// How classes of one level take turns.
    #[serde(default)]
    pub turns: Turns,
    /// IP bytes of the longest packet: what the turns of a level send in a round is as many of them as it has
    /// classes.
    #[serde(default = "longest_packet")]
    pub longest_packet: ByteSize,
}

/// One Ethernet MTU.
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

/// From whom a class of `cbq` may borrow that has used up its allotment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guideline {
    /// From an ancestor that has not used up its own, while no class below that ancestor's height wants what
    /// is left of its allotment.
    #[default]
    Formal,
    /// From any ancestor that has not used up its own.
    AncestorOnly,
    /// From an ancestor that has not used up its own, up to a height that arrivals and departures move.
    TopLevel,
}

/// How classes of one level of `cbq` take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// Weighted round robin: as many bytes as the class's part of the allotments of its level.
    #[default]
    Weighted,
    /// Packet by packet.
    Packet,
}

/// What a class asks of the scheduler above it; each scheduler takes its own kind of share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShareConfig {
    /// Its part relative to its siblings' weights, above 0; 1 where no class says anything.
    /// For `wrr` (packets per round), `scfq`, `wfq`, `wf2q-plus`, and `three-parameter` (its part of what
    /// minima leave).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Its part relative to its siblings' bandwidths, above 0: a weight written as a rate, neither a
    /// limit nor compared with the wire's rate. For `wrr`, `scfq`, `wfq` and `wf2q-plus`. For `cbq` its
    /// allotment, which is both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Bits per second that are guaranteed to it, counted in IP bytes: served before what is left over is
    /// shared. For `three-parameter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Rate>,
    /// IP bytes it may send per round; 1500 B where it says nothing. For `drr`, and for `htb`, where it is by
    /// default what `rate` sends in a tenth of a second (see `rate-to-quantum`), from 1000 to 200000 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<ByteSize>,
    /// Its allotment as a part of the wire's rate, above 0 and up to 1. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// Whether it may send more than its allotment while those above it have something left; without it, it
    /// may. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub borrow: Option<bool>,
    /// How much idle time it may save up, on average for a packet; without it, what a burst of 8 of the
    /// longest packets for each level down to its own takes. For `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_idle: Option<Time>,
    /// How much longer it waits when it has used up its allotment and cannot borrow; nothing without it. For
    /// `cbq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_delay: Option<Time>,
    /// What it is guaranteed, by deadlines, whatever its siblings do; for a class with a queue. For `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time: Option<ServiceCurveConfig>,
    /// How it shares with its siblings what guarantees leave: relative to their curves. For `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_share: Option<ServiceCurveConfig>,
    /// Up to where it shares; what it is guaranteed is not limited. For `hfsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_limit: Option<ServiceCurveConfig>,
    /// Its priority, 0 first; where no class says anything, their order. For `priority`, and for `cbq` and
    /// `htb`, where classes may share a level and have 0 without it; 7 is the last of `htb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u16>,
    /// Up to where its priority holds; without it, without limit. For `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<CapConfig>,
    /// Bits per second that are guaranteed to it. For `htb`, where every class but a direct one has a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Bits per second that it sends at most, with what classes around it lend; without it, `rate`. For
    /// `htb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<Rate>,
    /// Bytes that it may send at once at its rate; without it, 1600 B and what the rate sends in a
    /// nanosecond. For `htb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<ByteSize>,
    /// Bytes that it may send at once at its ceiling; without it, 1600 B and what that sends in a nanosecond.
    /// For `htb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil_burst: Option<ByteSize>,
    /// What its rates count for a packet beyond the bytes of the policy. For `htb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_layer: Option<LinkLayerConfig>,
    /// Whether it is served before all others and without any rate, as packets are that no class of Linux'
    /// HTB takes. For `htb`, for one class, which takes nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
}

/// What the rates of a class of `htb` count for a packet beyond the bytes that the policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkLayerConfig {
    /// Bytes more, 0 to 65535.
    #[serde(default)]
    pub overhead: u16,
    /// What a packet counts at least with the overhead, bytes: `mpu`, the minimum packet unit.
    #[serde(default, rename = "mpu")]
    pub minimum_packet_unit: u16,
    /// What it travels in.
    #[serde(default)]
    pub cells: Cells,
}

/// What packets travel in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// They count as they are.
    #[default]
    None,
    /// Cells of 53 bytes with 48 bytes of payload each.
    Atm,
}

/// How much a class may send by virtue of its priority. What goes beyond is not dropped or delayed:
/// it is sent when no other class wants to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CapConfig {
    /// Bits per second, counted in IP bytes.
    pub rate: Rate,
    /// IP bytes at once; a packet longer than this never has priority.
    pub burst: ByteSize,
}
