//! Traffic of the hosts on real sockets. The sources of the simulator, with the same seeds, generate the
//! datagrams, so a live run sends the same datagrams at the same times. TCP applications follow the plans of
//! the scenario on the kernel's TCP. Each host records every sent and received packet; [`merge`] computes
//! results from these records and the forwarders' reports.
//!
//! Reading order: [`HostRun`], `play` (the threads of a host), `flows` (the flow of a packet), `datagram` and
//! `stream` (traffic), `tap` (observation of TCP packets), `record` and `report` (records and counters),
//! [`merge`].

mod datagram;
mod error;
mod flows;
pub mod merge;
mod play;
mod record;
mod report;
mod run;
mod stream;
mod system;
mod tap;

pub use error::HostError;
pub use flows::Flows;
pub use record::{Record, Recorder, read_records};
pub use report::{ClientConnection, HostReport, SendDelay, SessionReport};
pub use run::HostRun;
