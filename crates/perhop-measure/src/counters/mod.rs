//! Counters of flows and ports, and samples over time.

mod arrivals;
mod delay;
mod distribution;
mod drops;
mod flow;
mod pool;
mod port;
mod sample;

pub use arrivals::{Arrivals, ColorTallies, ColorTally};
pub use delay::{DelayStatistics, Delays, above_least, least_seconds, quantile_seconds};
pub use distribution::{Bin, Distribution, upper_edge_s};
pub use drops::Drops;
pub use flow::{FlowCounters, FlowTally};
pub use pool::{PoolDrops, PoolUse};
pub use port::{PortTally, Tally};
pub use sample::{Intervals, LoggedPacket, PacketLog, QueueSample, Samples};
