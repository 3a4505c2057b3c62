//! What a run counts of flows and ports, and samples over time.

mod arrivals;
mod color;
mod delay;
mod distribution;
mod flow;
mod packet_log;
mod port;
mod sample;

pub use arrivals::Arrivals;
pub use color::{ColorTallies, ColorTally};
pub use delay::{DelayStatistics, Delays};
pub use delay::{above_least, least_seconds, quantile_seconds};
pub use distribution::Distribution;
pub use flow::FlowCounters;
pub use flow::FlowTally;
pub use packet_log::PacketLog;
pub use port::{PortTally, Tally};
pub use sample::Samples;
pub use sample::{DelaySamples, QueueSamples, ThroughputSamples};
