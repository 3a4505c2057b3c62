//! Buffer managers: whether a packet may join a queue, and whether it may stay (RFC 7806 §2).
//!
//! A buffer manager stores and counts nothing: it reads the queue's [`Occupancy`].

mod tail_drop;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use tail_drop::{TailDrop, TailDropConfig};

use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::queue::Occupancy;
use crate::random::Streams;
use crate::units::{Rate, Time};
use crate::verdict::Verdict;

/// The contract of every buffer manager.
pub trait BufferManager {
    /// Whether `packet`, of drop precedence `precedence`, may join the queue, which does not count it yet.
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict;
    /// `packet` has left the head of the queue, which no longer counts it: may it go on?
    fn release(&mut self, now: Time, packet: &Packet, queue: &Occupancy) -> Verdict {
        let _ = (now, packet, queue);
        Verdict::Pass
    }
}

/// A buffer manager as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BufferConfig {
    /// Refuse what does not fit.
    TailDrop(TailDropConfig),
}

/// A buffer manager of any kind: stored by value, dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum AnyBuffer {
    /// See [`TailDrop`].
    TailDrop(TailDrop),
}

impl Default for BufferConfig {
    fn default() -> BufferConfig {
        BufferConfig::TailDrop(TailDropConfig::default())
    }
}

impl BufferConfig {
    /// The buffer manager of a queue that drains at `drain` at most (the port's rate): what its
    /// idle clock converts time into packets with.
    ///
    /// # Errors
    /// Where a threshold or a probability is out of range, or they contradict each other.
    pub fn build(&self, drain: Rate, streams: &Streams) -> Result<AnyBuffer, ConfigError> {
        let _ = (drain, streams);
        match self {
            BufferConfig::TailDrop(config) => {
                Ok(AnyBuffer::TailDrop(config.build().map_err(|e| e.within("tail-drop"))?))
            }
        }
    }
}

impl AnyBuffer {
    /// The averages it keeps of its queue, in the unit of its thresholds; none where it keeps none.
    pub fn averages(&self) -> &[f64] {
        &[]
    }
}

impl BufferManager for AnyBuffer {
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        match self {
            AnyBuffer::TailDrop(buffer) => buffer.admit(now, packet, precedence, queue),
        }
    }
    fn release(&mut self, now: Time, packet: &Packet, queue: &Occupancy) -> Verdict {
        match self {
            AnyBuffer::TailDrop(buffer) => buffer.release(now, packet, queue),
        }
    }
}
