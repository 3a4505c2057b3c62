//! Worst-case fair weighted fair queueing, WF2Q+ (Bennett & Zhang, "Hierarchical packet fair queueing
//! algorithms", IEEE/ACM Transactions on Networking 5(5), 1997).

use super::contract::Scheduler;
use super::share::Takes;
use super::virtual_time::{ServiceClock, Virtual, Weight};
use crate::policy::ClassConfig;
use crate::{ConfigError, Rate, Time};

const TAKES: Takes = Takes {
    scheduler: "wf2q-plus",
    shares: &["weight", "bandwidth"],
    help: "wf2q-plus accepts the key weight (1 by default) or the key bandwidth; shares are proportional to \
        the weights",
};

/// WF2Q+. Of the heads that the fluid server would have started to serve, it selects the head that the fluid
/// server would finish first. No child is ahead of its share by more than one packet.
#[derive(Clone, Debug)]
pub struct Wf2qPlus {
    children: Vec<Child>,
    clock: ServiceClock,
    virtual_time: Virtual,
    /// The service up to the last advance of the virtual time.
    accounted: Virtual,
    /// The number of packets in all children.
    waiting: u64,
}

#[derive(Clone, Debug)]
struct Child {
    weight: Weight,
    /// The virtual start time of the child's head. If the child has no packet, the virtual finish time of its
    /// last packet.
    start: Virtual,
    /// The number of packets of the child.
    waiting: u32,
}

impl Wf2qPlus {
    pub(super) fn build(classes: &[ClassConfig], rate: Rate) -> Result<Wf2qPlus, ConfigError> {
        let child = |weight| Child { weight, start: 0, waiting: 0 };
        Ok(Wf2qPlus {
            children: TAKES.weights(classes)?.into_iter().map(child).collect(),
            clock: ServiceClock::new(rate),
            virtual_time: 0,
            accounted: 0,
            waiting: 0,
        })
    }

    /// Advances the virtual time to `now`.
    ///
    /// Bennett & Zhang on WF2Q+: `V(t + τ) = max(V(t) + W(t, t + τ), min S_i over B(t + τ))`. A packet in
    /// service belongs to B, and its start time was eligible. The minimum is therefore relevant only between
    /// packets.
    fn advance(&mut self, now: Time) {
        let served = self.clock.served(now);
        self.virtual_time += served - self.accounted;
        self.accounted = served;
        if self.clock.is_idle(now) {
            let backlogged = self.children.iter().filter(|child| child.waiting > 0);
            let earliest = backlogged.map(|child| child.start).min();
            self.virtual_time = self.virtual_time.max(earliest.unwrap_or(0));
        }
    }

    /// Discards the tags of a busy period that has ended.
    fn reset(&mut self) {
        self.virtual_time = 0;
        for child in &mut self.children {
            child.start = 0;
        }
    }
}

impl Scheduler for Wf2qPlus {
    #[inline(never)]
    fn enqueued(&mut self, now: Time, index: usize, _: u32) {
        self.advance(now);
        if self.waiting == 0 && self.clock.is_idle(now) {
            self.reset();
        }
        self.waiting += 1;
        let child = &mut self.children[index];
        if child.waiting == 0 {
            // Bennett & Zhang 1997: S_i = max(F_i, V(a)) for a packet that finds its queue empty, and F_i for
            // other packets.
            child.start = child.start.max(self.virtual_time);
        }
        child.waiting += 1;
    }
    #[inline(never)]
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        self.advance(now);
        let waiting = || self.children.iter().zip(heads).enumerate().filter(|(_, (_, head))| **head > 0);
        // Children that hold their packets back are not in B.
        let earliest = waiting().map(|(_, (child, _))| child.start).min()?;
        let eligible_until = self.virtual_time.max(earliest);
        waiting()
            .filter(|(_, (child, _))| child.start <= eligible_until)
            .min_by_key(|(_, (child, head))| child.start + child.weight.span(**head))
            .map(|(index, _)| index)
    }
    #[inline(never)]
    fn dequeued(&mut self, now: Time, index: usize, length: u32, _: u32) {
        self.advance(now);
        self.clock.start(now, length);
        self.waiting -= 1;
        let child = &mut self.children[index];
        // As in `select`, the virtual time is at least the earliest start time of all heads.
        self.virtual_time = self.virtual_time.max(child.start);
        // Bennett & Zhang 1997: F_i = S_i + L_i / r_i. The next packet starts at this time.
        child.start += child.weight.span(length);
        child.waiting -= 1;
    }
    /// The next packet has the start time of the dropped packet.
    fn dropped(&mut self, _: Time, index: usize, _: u32, _: u32) {
        self.waiting -= 1;
        self.children[index].waiting -= 1;
    }
    /// Returns true, because eligibility depends on the virtual time, which advances while a packet is on the
    /// wire.
    fn depends_on_time(&self) -> bool {
        true
    }
}
