//! Self-clocked fair queueing (Golestani, INFOCOM 1994).

use std::hint::select_unpredictable;

use super::Scheduler;
use super::share::Takes;
use super::virtual_time::{Virtual, Weight};
use crate::error::ConfigError;
use crate::policy::ClassConfig;
use crate::units::Time;

const TAKES: Takes = Takes {
    scheduler: "scfq",
    shares: &["weight", "bandwidth"],
    help: "scfq takes weight (1 by default) or bandwidth; shares are as the weights",
};

/// Self-clocked fair queueing: serves the head with the lowest finish tag, and the tag of the packet
/// in service is the virtual time.
///
/// Only heads carry tags. Behind a head, F = F of its predecessor + length / φ whatever the
/// virtual time at arrival: the virtual time is the tag of a packet that was chosen before the
/// predecessor, so it is no larger. No reset is needed at idle: all tags are then at or below the
/// virtual time, so that a new busy period starts all children from the same value.
#[derive(Clone, Debug)]
pub struct Scfq {
    children: Vec<Child>,
    /// The finish tag of the packet in service, or served last.
    virtual_time: Virtual,
}

#[derive(Clone, Debug)]
struct Child {
    weight: Weight,
    /// Where its head starts: the finish tag of its previous packet, or the virtual time at which it
    /// began to wait.
    start: Virtual,
    /// Packets it holds.
    waiting: u32,
}

impl Scfq {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Scfq, ConfigError> {
        let child = |weight| Child { weight, start: 0, waiting: 0 };
        Ok(Scfq { children: TAKES.weights(classes)?.into_iter().map(child).collect(), virtual_time: 0 })
    }
}

impl Child {
    fn finish(&self, length: u32) -> Virtual {
        self.start + self.weight.span(length)
    }
}

impl Scheduler for Scfq {
    fn enqueued(&mut self, _: Time, child: usize, _: u32) {
        let child = &mut self.children[child];
        if child.waiting == 0 {
            // Golestani 1994: F_i^k = max(F_i^{k-1}, v(a_i^k)) + L_i^k / r_i
            child.start = child.start.max(self.virtual_time);
        }
        child.waiting += 1;
    }
    fn select(&mut self, _: Time, heads: &[u32]) -> Option<usize> {
        // Of equal ones the first. Which is the least of the children so far nobody can foretell: no branch asks.
        let (mut first, mut earliest) = (0, Virtual::MAX);
        for (index, (child, head)) in self.children.iter().zip(heads).enumerate() {
            let finish = if *head > 0 { child.finish(*head) } else { Virtual::MAX };
            let earlier = finish < earliest;
            first = select_unpredictable(earlier, index, first);
            earliest = select_unpredictable(earlier, finish, earliest);
        }
        (earliest < Virtual::MAX).then_some(first)
    }
    fn dequeued(&mut self, _: Time, child: usize, length: u32) {
        let child = &mut self.children[child];
        child.start = child.finish(length);
        child.waiting -= 1;
        self.virtual_time = child.start;
    }
}
