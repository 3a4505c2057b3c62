//! The DiffServ data plane, sans-IO: all decisions about a packet at a node, independent of the source of
//! packets.
//!
//! ```text
//! wire in → [TrafficConditioner: classifier → meter → action]* → route → Port
//! Port:  classifier → Queue (BufferManager admits, marks or drops) → Scheduler → transmit ring → wire pace
//! ```
//!
//! Packets move in one direction only. Time and randomness are arguments: this crate reads no clock, opens no
//! file or socket and owns no thread, so the simulator and the live forwarder run the same code.
//!
//! Reading order: [`units`] and [`packet`]. Then the contracts in [`classifier`], [`meter`], [`buffer`] and
//! [`scheduler`], with one file per algorithm. Then [`conditioner`] and [`port`], which combine them, and
//! [`policy`], the configuration that builds them.

pub mod accounting;
pub mod action;
pub mod buffer;
pub mod cake;
pub mod classifier;
pub mod conditioner;
pub mod error;
pub mod framing;
pub mod meter;
pub mod observer;
pub mod packet;
pub mod policer;
pub mod policy;
pub mod port;
pub mod queue;
pub mod random;
pub mod ring;
pub mod scheduler;
pub mod units;
pub mod verdict;

pub use error::ConfigError;
pub use observer::Observer;
pub use packet::{Color, Dscp, FlowKey, Packet};
pub use port::Port;
pub use units::{ByteSize, QueueSize, Rate, Time};
pub use verdict::{DropCause, Verdict};
