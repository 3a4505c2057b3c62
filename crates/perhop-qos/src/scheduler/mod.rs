//! Schedulers: which queue sends next (RFC 3290 §7.1), and shapers: when it may (RFC 2475 §2.3.3.3).
//!
//! A [`Scheduler`] orders its *children*, numbered from 0; a child is a queue or another scheduler.
//! [`SchedulerTree`] holds the schedulers and shapers of one port and speaks of queues only.
//! Every scheduler counts IP bytes.

mod drr;
mod fifo;
mod priority;
mod ranks;
mod rounds;
mod scfq;
mod shaper;
mod share;
mod tournament;
mod tree;
mod virtual_time;
mod wf2q_plus;
mod wfq;
mod wrr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use drr::Drr;
pub use fifo::Fifo;
pub use priority::Priority;
pub use scfq::Scfq;
pub use shaper::{ShapeConfig, ShapeForm, Shaper};
pub use share::{CapConfig, ShareConfig};
pub use tree::SchedulerTree;
pub use wf2q_plus::Wf2qPlus;
pub use wfq::Wfq;
pub use wrr::Wrr;

use crate::error::ConfigError;
use crate::policy::ClassConfig;
use crate::units::{Rate, Time};

/// What a port's schedulers want to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The head of this queue.
    Serve(T),
    /// Nothing before this instant, although packets wait: how a shaper speaks.
    WaitUntil(Time),
    /// Nothing waits.
    Idle,
}

/// The contract of every scheduler: told of every packet that joins or leaves one of its children, and of
/// every child's *head*, the packet that it would send now.
///
/// A child's packets are counted by [`enqueued`](Scheduler::enqueued) and [`dequeued`](Scheduler::dequeued)
/// alone. Which of them is the head is the child's own affair (it may be a scheduler itself), and it may have
/// to hold all of them back for a while (it may hold a shaper).
pub trait Scheduler {
    /// A packet of `length` IP bytes joined `child`.
    fn enqueued(&mut self, now: Time, child: usize, length: u32);
    /// The head of `child` has `head` IP bytes from now on, or it has none to send where this is 0; not said
    /// where [`dequeued`](Scheduler::dequeued) says it.
    fn head_changed(&mut self, child: usize, head: u32) {
        let _ = (child, head);
    }
    /// The child to serve now; `None` only where every head is 0. Asked again before anything else
    /// happens, the answer is the same.
    ///
    /// `heads[child]` is what was said last of the head of `child`.
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize>;
    /// The child that was selected has sent its head, a packet of `length` IP bytes; the head after it has
    /// `next`, or there is none to send where this is 0.
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Whether time alone changes its choice, with nothing that joins, leaves or is held back.
    fn heeds_time(&self) -> bool {
        false
    }
}

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
}

/// A scheduler of any kind: stored by value, dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum AnyScheduler {
    /// See [`Fifo`].
    Fifo(Fifo),
    /// See [`Priority`].
    Priority(Priority),
    /// See [`Wrr`].
    Wrr(Wrr),
    /// See [`Drr`].
    Drr(Drr),
    /// See [`Scfq`].
    Scfq(Scfq),
    /// See [`Wfq`].
    Wfq(Wfq),
    /// See [`Wf2qPlus`].
    Wf2qPlus(Wf2qPlus),
}

impl SchedulerConfig {
    /// The scheduler over `classes`, on a wire of `rate`.
    ///
    /// # Errors
    /// Where a class asks for a share that this scheduler cannot give; the path starts at `classes`.
    pub fn build(self, classes: &[ClassConfig], rate: Rate) -> Result<AnyScheduler, ConfigError> {
        Ok(match self {
            SchedulerConfig::Fifo => AnyScheduler::Fifo(Fifo::build(classes)?),
            SchedulerConfig::Priority => AnyScheduler::Priority(Priority::build(classes)?),
            SchedulerConfig::Wrr => AnyScheduler::Wrr(Wrr::build(classes)?),
            SchedulerConfig::Drr => AnyScheduler::Drr(Drr::build(classes)?),
            SchedulerConfig::Scfq => AnyScheduler::Scfq(Scfq::build(classes)?),
            SchedulerConfig::Wfq => AnyScheduler::Wfq(Wfq::build(classes, rate)?),
            SchedulerConfig::Wf2qPlus => AnyScheduler::Wf2qPlus(Wf2qPlus::build(classes, rate)?),
        })
    }
}

/// Calls a method of the contract on whichever scheduler it is.
macro_rules! dispatch {
    ($self:ident, $scheduler:ident => $call:expr) => {
        match $self {
            AnyScheduler::Fifo($scheduler) => $call,
            AnyScheduler::Priority($scheduler) => $call,
            AnyScheduler::Wrr($scheduler) => $call,
            AnyScheduler::Drr($scheduler) => $call,
            AnyScheduler::Scfq($scheduler) => $call,
            AnyScheduler::Wfq($scheduler) => $call,
            AnyScheduler::Wf2qPlus($scheduler) => $call,
        }
    };
}

impl AnyScheduler {
    /// [`dequeued`](Scheduler::dequeued), then [`select`](Scheduler::select).
    #[allow(clippy::inline_always)] // as below
    #[inline(always)]
    fn dequeued_then_select(
        &mut self,
        now: Time,
        child: usize,
        length: u32,
        next: u32,
        heads: &[u32],
    ) -> Option<usize> {
        dispatch!(self, scheduler => {
            scheduler.dequeued(now, child, length, next);
            scheduler.select(now, heads)
        })
    }
}

#[allow(clippy::inline_always)] // a jump, which every packet takes three times
impl Scheduler for AnyScheduler {
    #[inline(always)]
    fn enqueued(&mut self, now: Time, child: usize, length: u32) {
        dispatch!(self, scheduler => scheduler.enqueued(now, child, length));
    }
    #[inline(always)]
    fn head_changed(&mut self, child: usize, head: u32) {
        dispatch!(self, scheduler => scheduler.head_changed(child, head));
    }
    #[inline(always)]
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        dispatch!(self, scheduler => scheduler.select(now, heads))
    }
    #[inline(always)]
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32) {
        dispatch!(self, scheduler => scheduler.dequeued(now, child, length, next));
    }
    fn heeds_time(&self) -> bool {
        dispatch!(self, scheduler => scheduler.heeds_time())
    }
}
