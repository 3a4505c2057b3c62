//! [`SchedulerTree`]: the schedulers of one port, one inside the other, with the queues as leaves.

use super::Selection;
use crate::error::ConfigError;
use crate::packet::Packet;
use crate::policy::QueueingConfig;
use crate::queue::{Queue, QueueId};
use crate::units::{Rate, Time};

/// The schedulers of one port.
// HELPER C replaces the inside; the three methods are the contract with Port.
#[derive(Clone, Debug)]
pub struct SchedulerTree {}

impl SchedulerTree {
    /// One queue and nothing to decide.
    pub fn single() -> SchedulerTree {
        SchedulerTree {}
    }
    /// The schedulers of `config` on a wire of `rate`; queues are the leaf classes, depth first.
    ///
    /// # Errors
    /// Where a class asks for a share that its scheduler cannot give.
    pub fn build(config: &QueueingConfig, rate: Rate) -> Result<SchedulerTree, ConfigError> {
        let _ = (config, rate);
        Ok(SchedulerTree {})
    }
    /// A packet of `length` IP bytes joined `queue`, at its tail.
    pub fn enqueued(&mut self, now: Time, queue: QueueId, length: u32, queues: &[Queue]) {
        let _ = (now, queue, length, queues);
    }
    /// The queue to serve now. Asked again before anything else happens, the answer is the same.
    pub fn select(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        let _ = now;
        if queues[0].head().is_some() { Selection::Serve(QueueId(0)) } else { Selection::Idle }
    }
    /// `packet`, the head of the queue that was selected, has left it.
    pub fn dequeued(&mut self, now: Time, queue: QueueId, packet: &Packet, queues: &[Queue]) {
        let _ = (now, queue, packet, queues);
    }
}
