//! Probes: what a run counts and samples.

mod arrivals;
mod color;
mod delay;
mod distribution;
mod flow;
mod packet;
mod port;
mod sample;

pub(crate) use arrivals::Arrivals;
pub use color::{ColorTallies, ColorTally};
pub use delay::{DelayStatistics, Delays};
pub(crate) use delay::{above_least, least_seconds, quantile_seconds};
pub use distribution::Distribution;
pub(crate) use flow::FlowCounters;
pub use flow::FlowTally;
pub use packet::PacketLog;
pub use port::{PortTally, Tally};
pub(crate) use sample::Samples;
pub use sample::{DelaySamples, QueueSamples, ThroughputSamples};
