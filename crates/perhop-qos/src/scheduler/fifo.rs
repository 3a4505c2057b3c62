//! First come, first served, for any number of children.

use std::collections::VecDeque;

use super::contract::Scheduler;
use super::share::Takes;
use crate::policy::ClassConfig;
use crate::{ConfigError, Time};

const TAKES: Takes = Takes {
    scheduler: "fifo",
    shares: &[],
    help: "fifo serves packets in order of arrival and accepts no shares; for shares, use priority, wrr, \
        drr, scfq, wfq, wf2q-plus, three-parameter, cbq, hfsc or htb",
};

/// First come, first served: serves the children in the order in which their packets have arrived.
#[derive(Clone, Debug)]
pub struct Fifo {
    /// The child of each queued packet, in order of arrival.
    order: VecDeque<u16>,
    /// Whether there is only one child, so that no order is stored.
    is_alone: bool,
}

impl Fifo {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Fifo, ConfigError> {
        TAKES.check(classes)?;
        // The memory grows until it fits the largest number of packets. After that, the packet path does not
        // allocate.
        Ok(Fifo { order: VecDeque::with_capacity(64), is_alone: classes.len() == 1 })
    }
}

impl Fifo {
    /// Returns the first child in `order` that has a head. An earlier child has no head only if a shaper
    /// inside this child holds its packets back.
    #[inline(never)]
    fn first_with_head(&self, heads: &[u32]) -> Option<usize> {
        self.order.iter().map(|child| usize::from(*child)).find(|child| heads[*child] > 0)
    }
    /// Removes the first packet of `child` from the order. Another packet precedes it only if that packet is
    /// held back.
    #[inline(never)]
    fn remove_first(&mut self, child: usize) {
        if self.order.front().is_some_and(|first| usize::from(*first) == child) {
            self.order.pop_front();
        } else if let Some(place) = self.order.iter().position(|waiting| usize::from(*waiting) == child) {
            self.order.remove(place);
        }
    }
}

impl Scheduler for Fifo {
    fn enqueued(&mut self, _: Time, child: usize, _: u32) {
        if !self.is_alone {
            self.order.push_back(child as u16);
        }
    }
    #[inline]
    fn select(&mut self, _: Time, heads: &[u32]) -> Option<usize> {
        if self.is_alone { (heads[0] > 0).then_some(0) } else { self.first_with_head(heads) }
    }
    #[inline]
    fn dequeued(&mut self, _: Time, child: usize, _: u32, _: u32) {
        if !self.is_alone {
            self.remove_first(child);
        }
    }
    fn dropped(&mut self, now: Time, child: usize, length: u32, next: u32) {
        self.dequeued(now, child, length, next);
    }
    fn counts_arrivals(&self) -> bool {
        !self.is_alone
    }
}
