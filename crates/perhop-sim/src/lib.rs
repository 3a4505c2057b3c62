//! The discrete-event simulator: hosts, and two engines that carry their packets.
//!
//! ```text
//! source → host's port → wire → [input conditioner → route → output conditioner → port → wire]* → host
//! ```
//!
//! Reading order: [`perhop_scenario`] (the input format), [`build`] (its conversion to a [`Setup`]),
//! [`perhop_net`] (the plain engine: the path of a packet), [`Hosts`] (senders and receivers) with `session`
//! and [`tcp`], [`fast`] (the fast engine), [`mod@run`] (replications in parallel). [`perhop_measure`] has
//! the counters and creates the tables.

pub mod batch;
pub mod build;
pub mod capture;
mod engine;
mod event;
pub mod fast;
mod flow;
mod fragments;
mod gate;
mod host_events;
mod hosts;
mod link_ends;
mod parallel;
mod plain;
pub mod playback;
pub mod run;
mod session;
mod setup;
pub mod snapshot;
pub mod stepwise;
pub mod tcp;
pub mod waits;

pub use engine::Engine;
pub use event::HostEvent;
pub use hosts::Hosts;
pub use parallel::{Divided, Undivided};
pub use run::{EngineChoice, Progress, RunError, RunOptions, run, run_captured};
pub use setup::Setup;
