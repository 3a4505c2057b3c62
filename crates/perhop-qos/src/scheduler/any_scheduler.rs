//! [`AnyScheduler`]: a scheduler of any kind, built from its configuration.

use super::cbq::Cbq;
use super::config::{LinkSharingConfig, SchedulerConfig};
use super::contract::Scheduler;
use super::drr::Drr;
use super::fifo::Fifo;
use super::guarantee_excess::GuaranteeExcess;
use super::hfsc::Hfsc;
use super::htb::Htb;
use super::priority::Priority;
use super::scfq::Scfq;
use super::three_parameter::ThreeParameter;
use super::wf2q_plus::Wf2qPlus;
use super::wfq::Wfq;
use super::wrr::Wrr;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::{ConfigError, Rate, Time};

/// A scheduler of any kind. It is stored by value and dispatched by one `match`.
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
    /// See [`ThreeParameter`].
    ThreeParameter(Box<ThreeParameter>),
    /// See [`Cbq`].
    Cbq(Box<Cbq>),
    /// See [`Hfsc`].
    Hfsc(Box<Hfsc>),
    /// See [`Htb`].
    Htb(Box<Htb>),
    /// See [`GuaranteeExcess`].
    GuaranteeExcess(Box<GuaranteeExcess>),
}

impl SchedulerConfig {
    /// Builds the scheduler of `classes` on a wire of `rate`.
    ///
    /// # Errors
    /// A class has a share that this scheduler does not support. The path of the error begins with `classes`.
    pub fn build(self, classes: &[ClassConfig], rate: Rate) -> Result<AnyScheduler, ConfigError> {
        Ok(match self {
            SchedulerConfig::Fifo => AnyScheduler::Fifo(Fifo::build(classes)?),
            SchedulerConfig::Priority => AnyScheduler::Priority(Priority::build(classes)?),
            SchedulerConfig::Wrr => AnyScheduler::Wrr(Wrr::build(classes)?),
            SchedulerConfig::Drr => AnyScheduler::Drr(Drr::build(classes)?),
            SchedulerConfig::Scfq => AnyScheduler::Scfq(Scfq::build(classes)?),
            SchedulerConfig::Wfq => AnyScheduler::Wfq(Wfq::build(classes, rate)?),
            SchedulerConfig::Wf2qPlus => AnyScheduler::Wf2qPlus(Wf2qPlus::build(classes, rate)?),
            SchedulerConfig::ThreeParameter => {
                AnyScheduler::ThreeParameter(Box::new(ThreeParameter::build(classes)?))
            }
            SchedulerConfig::Cbq => {
                AnyScheduler::Cbq(Box::new(Cbq::build(LinkSharingConfig::default(), classes, rate)?))
            }
            SchedulerConfig::Hfsc => AnyScheduler::Hfsc(Box::new(Hfsc::build(classes)?)),
            SchedulerConfig::Htb => AnyScheduler::Htb(Box::new(Htb::build(classes, None)?)),
            SchedulerConfig::GuaranteeExcess => {
                AnyScheduler::GuaranteeExcess(Box::new(GuaranteeExcess::build(classes)?))
            }
        })
    }
}

impl QueueingConfig {
    /// Builds the scheduler of this configuration on a wire of `rate`.
    ///
    /// # Errors
    /// The errors are those of [`SchedulerConfig::build`], or the link-sharing options belong to another
    /// scheduler.
    pub(super) fn build_scheduler(&self, rate: Rate) -> Result<AnyScheduler, ConfigError> {
        if self.scheduler == SchedulerConfig::Htb && self.link_sharing.is_none() {
            return Ok(AnyScheduler::Htb(Box::new(Htb::build(&self.classes, self.rate_to_quantum)?)));
        }
        if self.rate_to_quantum.is_some() {
            return Err(ConfigError::new("rate-to-quantum", "only htb derives quanta from rates")
                .help("write scheduler: htb, or leave rate-to-quantum out"));
        }
        match (self.scheduler, self.link_sharing) {
            (_, None) => self.scheduler.build(&self.classes, rate),
            (SchedulerConfig::Cbq, Some(sharing)) => {
                Ok(AnyScheduler::Cbq(Box::new(Cbq::build(sharing, &self.classes, rate)?)))
            }
            (_, Some(_)) => Err(ConfigError::new("link-sharing", "only cbq has `link-sharing`")
                .help("write scheduler: cbq, or leave link-sharing out")),
        }
    }
}

/// Calls a method of the contract on the contained scheduler.
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
            AnyScheduler::ThreeParameter($scheduler) => $call,
            AnyScheduler::Cbq($scheduler) => $call,
            AnyScheduler::Hfsc($scheduler) => $call,
            AnyScheduler::Htb($scheduler) => $call,
            AnyScheduler::GuaranteeExcess($scheduler) => $call,
        }
    };
}

impl AnyScheduler {
    /// Calls [`dequeued`](Scheduler::dequeued), then [`select`](Scheduler::select).
    #[allow(clippy::inline_always)] // inlined for the reason of the trait's methods below
    #[inline(always)]
    pub(super) fn dequeued_then_select(
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

#[allow(clippy::inline_always)] // the methods only jump, and every packet calls three of them
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
    fn dropped(&mut self, now: Time, child: usize, length: u32, next: u32) {
        dispatch!(self, scheduler => scheduler.dropped(now, child, length, next));
    }
    fn counts_arrivals(&self) -> bool {
        dispatch!(self, scheduler => scheduler.counts_arrivals())
    }
    fn depends_on_time(&self) -> bool {
        dispatch!(self, scheduler => scheduler.depends_on_time())
    }
    #[inline(always)]
    fn choice_holds_until(&self) -> Time {
        dispatch!(self, scheduler => scheduler.choice_holds_until())
    }
    fn holds_back(&self) -> bool {
        dispatch!(self, scheduler => scheduler.holds_back())
    }
    fn held_until(&self) -> Option<Time> {
        dispatch!(self, scheduler => scheduler.held_until())
    }
}
