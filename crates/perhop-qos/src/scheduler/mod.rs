//! Schedulers: which queue sends next (RFC 3290 §7.1).
//!
//! A [`Scheduler`] orders its *children*, numbered from 0; a child is a queue or another scheduler.
//! [`SchedulerTree`] holds the schedulers of one port and speaks of queues only.

mod fifo;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fifo::Fifo;
pub use tree::SchedulerTree;

use crate::units::Time;

/// What a scheduler wants to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The head of this child.
    Serve(T),
    /// Nothing before this instant, although packets wait: how a shaper speaks.
    WaitUntil(Time),
    /// Nothing waits.
    Idle,
}

/// The contract of every scheduler: told of every packet that joins or leaves one of its children.
///
/// `heads[child]` is the length in IP bytes of the packet that the child would send now, 0 where it
/// has none to send.
pub trait Scheduler {
    /// A packet of `length` IP bytes joined `child`; `heads` counts it already.
    fn enqueued(&mut self, now: Time, child: usize, length: u32, heads: &[u32]);
    /// The child to serve now. Asked again before anything else happens, the answer is the same.
    fn select(&mut self, now: Time, heads: &[u32]) -> Selection<usize>;
    /// The packet of `length` IP bytes that was selected has left `child`; `heads` shows its successor.
    fn dequeued(&mut self, now: Time, child: usize, length: u32, heads: &[u32]);
}

/// A scheduler as written in a policy; the shares of its classes stand with the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// First come, first served, over all classes.
    #[default]
    Fifo,
}

/// What a class asks of the scheduler above it; each scheduler takes its own kind of share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShareConfig {}
