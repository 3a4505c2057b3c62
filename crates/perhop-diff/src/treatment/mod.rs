//! The treatments of all packets at a port, and the comparison of the treatments of two sides.
//!
//! ```text
//! policies → steps → forward: sets of packets with one treatment each → compare: equal, or a packet
//! ```
//!
//! A treatment is a tree. Its inner nodes are meters with a branch for each color. Each leaf is a drop, or
//! the marks of the packets and their queue. Packets with the same tree can still be treated differently if
//! other packets pass through the same meters and queues. [`compare`] therefore also compares the sets of
//! packets that pass through each meter and each queue of the two sides.

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
