//! Probes: what a run counts and samples.

mod delay;
mod flow;
mod port;
mod sample;

pub(crate) use delay::quantile_seconds;
pub use delay::{DelayStatistics, Delays};
pub use flow::FlowTally;
pub use port::{PortTally, Tally};
pub use sample::{QueueSamples, ThroughputSamples};
