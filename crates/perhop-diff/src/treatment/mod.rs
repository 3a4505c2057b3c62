//! Treatments of all packets at a port, and the comparison of two of them.
//!
//! ```text
//! policies → steps → forward: sets of packets with one treatment each → compare: equal, or a packet
//! ```
//!
//! A treatment is a tree: meters, with a branch for each color; at its leaves a drop, or the marks and the
//! queue. Two packets with the same tree are treated equally, except for the effects of other packets in
//! their meters and queues. [`compare`] also compares these other packets: the meters and queues of two sides
//! must have the same packets.

mod compare;
mod forward;
mod policy_path;
mod queues;
mod tree;
mod values;
mod words;

pub(crate) use compare::{Difference, compare};
pub(crate) use forward::Treatments;
pub(crate) use policy_path::PolicyPath;
pub(crate) use words::plain;
pub use words::{Aspect, Counterexample};
