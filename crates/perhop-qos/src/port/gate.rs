//! [`Gate`]: the policer and the shared limits that check a packet before the buffer manager of its queue.

use crate::policer::Policer;
use crate::queue::Queue;
use crate::{ConfigError, DropCause, Packet, QueueSize, Time};

/// The checks of one queue. Most queues have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    pub(super) policer: Option<Policer>,
    /// The shared limits of the schedulers that contain the queue, from the innermost outward.
    pub(super) limits: Vec<SharedLimit>,
}

/// The common limit of all queues of one scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedLimit {
    limit: QueueSize,
    /// The index of the first of these queues, and the index of the first queue after them.
    queues: (usize, usize),
}

impl SharedLimit {
    pub(super) fn new(limit: QueueSize, queues: (usize, usize)) -> Result<SharedLimit, ConfigError> {
        if limit.count() == 0 {
            return Err(ConfigError::new("limit", "queues with a limit of 0 drop every packet").help(
                "for example 64 packets; without this limit only the limits of the single queues apply",
            ));
        }
        Ok(SharedLimit { limit, queues })
    }
    /// Whether the queues have room for `packet`.
    fn fits(&self, packet: &Packet, queues: &[Queue]) -> bool {
        let held = queues[self.queues.0..self.queues.1].iter().map(Queue::occupancy);
        match self.limit {
            QueueSize::Packets(most) => held.map(|held| held.packets).sum::<u64>() < most,
            QueueSize::Bytes(most) => {
                held.map(|held| held.bytes).sum::<u64>() + u64::from(packet.length) <= most
            }
        }
    }
}

impl Gate {
    /// Returns the reason why `packet` may not join its queue, which is one of `queues`, or `None` if it may
    /// join. Calls `is_congested` only if the result depends on it.
    pub(super) fn refuses(
        &mut self,
        now: Time,
        packet: &Packet,
        queues: &[Queue],
        is_congested: impl FnOnce() -> bool,
    ) -> Option<DropCause> {
        let policer = self.policer.as_mut();
        if policer.is_some_and(|policer| !policer.admits(now, packet.length, is_congested)) {
            return Some(DropCause::Policed);
        }
        let is_full = self.limits.iter().any(|limit| !limit.fits(packet, queues));
        is_full.then_some(DropCause::QueueFull)
    }
}
