//! [`SchedulerConfig`] and [`ShareConfig`]: schedulers, and what classes ask of them, as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{ByteSize, Rate};

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
    /// limit nor compared with the wire's rate. For `wrr`, `scfq`, `wfq` and `wf2q-plus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Bits per second that are guaranteed to it, counted in IP bytes: served before what is left over is
    /// shared. For `three-parameter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Rate>,
    /// IP bytes it may send per round; 1500 B where it says nothing. For `drr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<ByteSize>,
    /// Its priority, 0 first; where no class says anything, their order. For `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u16>,
    /// Up to where its priority holds; without it, without limit. For `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<CapConfig>,
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
