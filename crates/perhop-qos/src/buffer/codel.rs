//! `CoDel`, controlled delay (RFC 8289): drops at the head according to waiting times.

pub(super) mod config;
pub(super) mod control;

use super::contract::BufferManager;
use super::tail_drop::TailDrop;
use crate::framing::Framing;
use crate::queue::{Occupancy, Stay};
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};
use config::CodelConfig;
use control::{Control, Controller};

impl CodelConfig {
    /// Builds the buffer manager of a queue on a link of this `framing`.
    ///
    /// # Errors
    /// The limit is 0, the interval is out of range, or the target is not below it.
    pub fn build(&self, framing: Framing) -> Result<Codel, ConfigError> {
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 1000 packets"));
        }
        Ok(Codel {
            control: Control::default(),
            limit: self.limit,
            controller: Controller::from_config(self, framing)?,
        })
    }
}

/// `CoDel` of one queue.
#[derive(Clone, Debug)]
pub struct Codel {
    control: Control,
    limit: QueueSize,
    controller: Controller,
}

impl BufferManager for Codel {
    #[inline]
    fn admit(&mut self, _: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        if TailDrop::fits(self.limit, packet, queue) {
            Verdict::Pass
        } else {
            Verdict::Drop(DropCause::QueueFull)
        }
    }
    #[inline]
    fn release(&mut self, now: Time, packet: &Packet, _: Color, stay: Stay, queue: &Occupancy) -> Verdict {
        let backlog = || self.controller.counted(queue.packets, queue.bytes);
        self.control.decide(&self.controller, now, stay.since, backlog, packet.marks.ecn())
    }
    fn needs_sojourn_times(&self) -> bool {
        true
    }
    /// Whether a packet that finds the queue empty and leaves at once needs no call. After such a packet the
    /// backlog is 0, below the MTU, and the control loop is already in the state that a backlog below the MTU
    /// sets.
    fn ignores_an_empty_queue(&self) -> bool {
        // A limit in bytes can be less than one packet, so that an empty queue drops a packet.
        matches!(self.limit, QueueSize::Packets(_))
    }
}
