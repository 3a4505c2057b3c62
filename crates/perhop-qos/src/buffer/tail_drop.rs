//! Tail drop: a packet that does not fit is refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BufferManager;
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::queue::Occupancy;
use crate::units::{QueueSize, Time};
use crate::verdict::{DropCause, Verdict};

/// Tail drop as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TailDropConfig {
    /// What the queue holds at most.
    #[serde(default = "default_limit")]
    pub limit: QueueSize,
}

/// The queue limit of a class in many routers, packets.
fn default_limit() -> QueueSize {
    QueueSize::Packets(64)
}

impl Default for TailDropConfig {
    fn default() -> TailDropConfig {
        TailDropConfig { limit: default_limit() }
    }
}

impl TailDropConfig {
    /// The buffer manager.
    ///
    /// # Errors
    /// Where the limit is 0.
    pub fn build(&self) -> Result<TailDrop, ConfigError> {
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 64 packets"));
        }
        Ok(TailDrop { limit: self.limit })
    }
}

/// Tail drop.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop {
    limit: QueueSize,
}

impl TailDrop {
    /// Whether `packet` fits under `limit`.
    pub fn fits(limit: QueueSize, packet: &Packet, queue: &Occupancy) -> bool {
        match limit {
            QueueSize::Packets(packets) => queue.packets < packets,
            QueueSize::Bytes(bytes) => queue.bytes + u64::from(packet.length) <= bytes,
        }
    }
}

impl BufferManager for TailDrop {
    fn admit(&mut self, _: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        if TailDrop::fits(self.limit, packet, queue) {
            Verdict::Pass
        } else {
            Verdict::Drop(DropCause::QueueFull)
        }
    }
}
