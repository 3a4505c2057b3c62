//! The plain engine: what carries packets through a network, without any shortcut.
//!
//! ```text
//! edge → [output conditioner → port → wire → input conditioner → edge says where it goes on]* → edge
//! ```
//!
//! [`Network`] is the specification of what happens to a packet and when: one loop over an
//! [`Agenda`](agenda::Agenda), one wake-up for a packet that arrives and one for a port that may send. Who
//! sends and receives is its [`Edge`]: simulated hosts (`perhop-sim`) or devices of the operating system
//! (`perhop-live`). The simulator's fast engine is held to this one, bit for bit.
//!
//! Reading order: [`Network`] (the way of a packet, in one file), [`Direction`] (what it crosses),
//! [`PortCounters`] (what is counted there), [`agenda`] (when), [`source`] (what sends datagrams at an edge).

pub mod agenda;
mod counters;
mod direction;
mod network;
pub mod source;

pub use counters::{DropPoint, DropSink, PortCounters};
pub use direction::{Direction, Flight, Loss};
pub use network::{Edge, Event, Network};
