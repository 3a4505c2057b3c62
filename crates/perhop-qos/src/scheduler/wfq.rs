//! Weighted fair queueing as packetized generalized processor sharing (Parekh & Gallager 1993).

use std::collections::VecDeque;

use super::contract::Scheduler;
use super::share::Takes;
use super::virtual_time::{ServiceClock, Virtual, Weight, shared_among, work_of};
use crate::buffer::BufferConfig;
use crate::policy::{ClassConfig, PauseMode};
use crate::{ConfigError, Rate, Time};

const TAKES: Takes = Takes {
    scheduler: "wfq",
    shares: &["weight", "bandwidth"],
    help: "wfq accepts the key weight (1 by default) or the key bandwidth; shares are proportional to the \
        weights",
};

/// Weighted fair queueing. It serves packets in the order in which the fluid server, generalized processor
/// sharing (GPS), would finish them if no further packets arrived.
///
/// The virtual time grows at the rate of the wire, divided by the weights of the children that the *fluid*
/// server still serves. This scheduler therefore computes the departures of the fluid server one by one. When
/// a packet arrives, it stores the virtual time at which the fluid server starts to serve the child, because
/// the fluid server can have finished a child whose packets still wait in this scheduler.
#[derive(Clone, Debug)]
pub struct Wfq {
    children: Vec<Child>,
    clock: ServiceClock,
    virtual_time: Virtual,
    /// The service up to the last advance of the virtual time.
    accounted: Virtual,
    /// The sum of the weights of the children that the fluid server serves, as a fraction of all weights.
    parts: u64,
}

#[derive(Clone, Debug)]
struct Child {
    weight: Weight,
    /// The backlog, divided into periods during which the fluid server serves the child without interruption.
    /// It is counted in bytes, because a child with inner children can send packets in another order than
    /// they have arrived.
    periods: VecDeque<Period>,
    /// The finish tag of the child's last arrival: the virtual time at which the fluid server has served all
    /// bytes of the child.
    last: Virtual,
    /// Whether the fluid server still serves the child.
    in_fluid: bool,
}

/// Bytes that the fluid server serves without interruption.
#[derive(Clone, Copy, Debug)]
struct Period {
    /// The virtual time at which the fluid server starts to serve the bytes that are still queued.
    start: Virtual,
    /// The number of bytes that are still queued.
    bytes: u64,
}

impl Child {
    /// The finish tag of a head of `length` bytes: the virtual time at which the fluid server has served the
    /// head.
    fn finish(&self, length: u32) -> Virtual {
        let mut left = length;
        for period in &self.periods {
            if u64::from(left) <= period.bytes {
                return period.start + self.weight.span(left);
            }
            left -= period.bytes as u32;
        }
        self.last
    }
    /// Removes `length` bytes that have left the child.
    fn remove(&mut self, length: u32) {
        let mut left = length;
        while let Some(period) = self.periods.front_mut() {
            if u64::from(left) < period.bytes {
                period.start += self.weight.span(left);
                period.bytes -= u64::from(left);
                return;
            }
            left -= period.bytes as u32;
            self.periods.pop_front();
        }
    }
}

impl Wfq {
    pub(super) fn build(classes: &[ClassConfig], rate: Rate) -> Result<Wfq, ConfigError> {
        let refuse = |property, message, help| {
            let found = classes.iter().position(|class| class.has_property(property));
            let error = |index| ConfigError::new("", message).help(help).within(index).within("classes");
            found.map_or(Ok(()), |index| Err(error(index)))
        };
        let message = "wfq contains a shaper, but the fluid model of wfq has no shapers";
        refuse(|class| class.shape.is_some(), message, "use wf2q-plus or scfq, which track packets only")?;
        let message = "wfq contains a class with `pause`, but the fluid model of wfq delays no class";
        let is_paused = |class: &ClassConfig| class.pause.is_some_and(|pause| pause.mode == PauseMode::On);
        refuse(is_paused, message, "use drr, wrr, scfq or strict-priority")?;
        let message = "wfq contains a class of cbq that may not borrow, but the fluid model of wfq delays no \
                       class";
        refuse(|class| class.share.borrow == Some(false), message, "use wf2q-plus or scfq")?;
        let message = "wfq contains htb, but the fluid model of wfq delays no class";
        refuse(|class| class.share.rate.is_some(), message, "use wf2q-plus or scfq")?;
        let message = "wfq contains fair-queueing, but the fluid model of wfq cannot drop a queued packet";
        refuse(
            |class| class.fair_queueing.is_some(),
            message,
            "use scfq or wf2q-plus, which track packets only",
        )?;
        let message = "wfq contains a buffer manager that drops at the head, but the fluid model of wfq has \
                       already served that packet";
        refuse(
            |class| class.buffer.as_ref().is_some_and(BufferConfig::drops_at_the_head),
            message,
            "use scfq or wf2q-plus, which track packets only",
        )?;
        let child = |weight| Child { weight, periods: VecDeque::with_capacity(64), last: 0, in_fluid: false };
        Ok(Wfq {
            children: TAKES.weights(classes)?.into_iter().map(child).collect(),
            clock: ServiceClock::new(rate),
            virtual_time: 0,
            accounted: 0,
            parts: 0,
        })
    }

    /// Advances the virtual time to `now`. The departures from the fluid server are processed one by one.
    ///
    /// Parekh & Gallager 1993, "A virtual time implementation of PGPS": `V(t + τ) = V(t) + τ / Σ φ_i` between
    /// two events of the fluid server. The sum is over the sessions that the fluid server serves.
    fn advance(&mut self, now: Time) {
        let served = self.clock.served(now);
        let mut work = served - self.accounted;
        self.accounted = served;
        while let Some(departure) = self.next_departure() {
            let reached = self.virtual_time + shared_among(self.parts, work);
            if reached < departure {
                self.virtual_time = reached;
                return;
            }
            work = work.saturating_sub(work_of(self.parts, departure - self.virtual_time));
            self.virtual_time = departure;
            for child in self.children.iter_mut().filter(|child| child.in_fluid && child.last <= departure) {
                child.in_fluid = false;
                self.parts -= child.weight.part;
            }
        }
    }

    /// The virtual time at which the fluid server next finishes serving a child.
    fn next_departure(&self) -> Option<Virtual> {
        self.children.iter().filter(|child| child.in_fluid).map(|child| child.last).min()
    }
}

impl Scheduler for Wfq {
    #[inline(never)]
    fn enqueued(&mut self, now: Time, child: usize, length: u32) {
        self.advance(now);
        let child = &mut self.children[child];
        // Parekh & Gallager 1993: S = max(F of the previous packet, V(a)), F = S + L / φ
        let start = child.last.max(self.virtual_time);
        match child.periods.back_mut() {
            Some(period) if start == child.last => period.bytes += u64::from(length),
            _ => child.periods.push_back(Period { start, bytes: u64::from(length) }),
        }
        child.last = start + child.weight.span(length);
        if !child.in_fluid {
            child.in_fluid = true;
            self.parts += child.weight.part;
        }
    }
    #[inline(never)]
    fn select(&mut self, _: Time, heads: &[u32]) -> Option<usize> {
        let waiting = self.children.iter().zip(heads).enumerate().filter(|(_, (_, head))| **head > 0);
        waiting.min_by_key(|(_, (child, head))| child.finish(**head)).map(|(index, _)| index)
    }
    #[inline(never)]
    fn dequeued(&mut self, now: Time, child: usize, length: u32, _: u32) {
        self.children[child].remove(length);
        self.advance(now);
        self.clock.start(now, length);
    }
    /// `Wfq::build` rejects queues that drop heads, because the fluid server cannot revoke the service of a
    /// packet.
    fn dropped(&mut self, _: Time, child: usize, length: u32, _: u32) {
        self.children[child].remove(length);
    }
}
