//! The DiffServ data plane without input and output: all decisions that a node makes about a packet. The
//! decisions do not depend on the source of the packets.
//!
//! ```text
//! wire in → [TrafficConditioner: classifier → meter → action]* → route → Port
//! Port:  classifier → Queue (BufferManager admits, marks or drops) → Scheduler → transmit ring → wire pace
//! ```
//!
//! Packets move in one direction only. Callers pass the time and the random numbers as arguments. This crate
//! reads no clock, opens no file or socket and starts no thread, so the simulator and the live forwarder can
//! run the same code.
//!
//! Read [`units`] and [`packet`] first. Then read the contracts in [`classifier`], [`meter`], [`buffer`] and
//! [`scheduler`]; each algorithm has its own file. Then read [`conditioner`] and [`port`], which combine
//! them, and [`policy`], the configuration that builds them.

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
