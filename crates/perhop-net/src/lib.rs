//! The plain engine: carries packets through a network without shortcuts.
//!
//! ```text
//! edge → [output conditioner → port → wire → input conditioner → edge selects the next link]* → edge
//! ```
//!
//! [`Network`] is the specification of each step of a packet and of the time of the step. It has one loop
//! over an [`Agenda`](agenda::Agenda), with a wake-up for each arriving packet and for each port that may
//! send. The [`Edge`] sends and receives packets. It consists of simulated hosts (`perhop-sim`) or of devices
//! of the operating system (`perhop-live`). The results of the simulator's fast engine equal those of this
//! engine, bit for bit.
//!
//! Reading order: [`Network`] (the path of a packet, in one file), [`Direction`] (one hop of this path),
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
