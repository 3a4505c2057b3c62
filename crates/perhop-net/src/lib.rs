//! The plain engine: carries packets through a network without shortcuts.
//!
//! ```text
//! edge → [output conditioner → port → wire → input conditioner → edge selects the next link]* → edge
//! ```
//!
//! [`Network`] is the specification of each step of a packet and its time: it has one loop over an
//! [`Agenda`](agenda::Agenda), a wake-up for each arriving packet, and a wake-up for a port that may send.
//! Its [`Edge`] sends and receives packets. The edge is simulated hosts (`perhop-sim`) or devices of the
//! operating system (`perhop-live`). The results of the simulator's fast engine equal those of this engine,
//! bit for bit.
//!
//! Reading order: [`Network`] (the path of a packet, in one file), [`Direction`] (one step of it),
//! [`PortCounters`] (the counters), [`agenda`] (the events), [`source`] (sources of datagrams at an edge).

pub mod agenda;
mod counters;
mod direction;
mod flights;
mod network;
mod pauses;
pub mod prefetch;
pub mod source;

pub use counters::{DropPoint, DropSink, PortCounters};
pub use direction::{Direction, Loss, Sharing, find_sharers, memory_groups, record_pool_drop};
pub use flights::{Flight, Flights, InFlight};
pub use network::{Edge, Event, Network};
pub use pauses::{FlowControl, PausableLink, Pauses};
