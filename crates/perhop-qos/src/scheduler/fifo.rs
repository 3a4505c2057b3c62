//! First come, first served, over any number of children.

use std::collections::VecDeque;

use super::{Scheduler, Selection};
use crate::units::Time;

/// First come, first served: serves the children in the order in which their packets arrived.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    order: VecDeque<u16>,
}

impl Scheduler for Fifo {
    fn enqueued(&mut self, _: Time, child: usize, _: u32, _: &[u32]) {
        self.order.push_back(child as u16);
    }
    fn select(&mut self, _: Time, _: &[u32]) -> Selection<usize> {
        self.order.front().map_or(Selection::Idle, |child| Selection::Serve(usize::from(*child)))
    }
    fn dequeued(&mut self, _: Time, _: usize, _: u32, _: &[u32]) {
        self.order.pop_front();
    }
}
