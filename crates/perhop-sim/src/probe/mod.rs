//! Probes: what a run counts and samples.

mod color;
mod delay;
mod flow;
mod packet;
mod port;
mod sample;

pub use color::{ColorTallies, ColorTally};
pub use delay::{DelayStatistics, Delays};
pub(crate) use delay::{above_least, least_seconds, quantile_seconds};
pub use flow::FlowTally;
pub use packet::PacketLog;
pub use port::{PortTally, Tally};
pub use sample::{DelaySamples, QueueSamples, ThroughputSamples};
