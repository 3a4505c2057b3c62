//! The discrete-event simulator around `perhop-qos`: agenda, links, hosts, sources, probes.
//!
//! ```text
//! source → host's port → wire → [input conditioner → route → output conditioner → port → wire]* → receiving host
//! ```
//!
//! Reading order: [`perhop_scenario`] (what a user writes), [`build`] (how it becomes a [`World`](world::World)), [`world`] (what happens), [`agenda`] (when), [`mod@run`] (replications side
//! by side), [`results`]; [`measured`] makes the same results of what was measured on real packets.

pub mod build;
pub mod capture;
mod link;
pub mod run;
mod session;
pub mod snapshot;
pub mod tcp;
pub mod world;

pub use run::{Progress, RunError, RunOptions, run, run_captured};
