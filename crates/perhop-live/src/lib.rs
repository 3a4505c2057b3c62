//! The live path: a forwarder that applies the ports and conditioners of the simulation to real packets.
//!
//! ```text
//! frame in → parse → [output conditioner → port → delay and loss → input conditioner → route]* → frame out
//! ```
//!
//! The forwarder performs no input or output itself: [`Forwarder`] processes frames at given times, and a
//! [`Wire`] supplies frames and the time. A wire is a set of sockets, or a part of a test.
//!
//! Read in this order: [`wire`] (source and sink of frames), [`frame`] (parsing and marking), [`config`]
//! (configuration of a process), [`lowering`] (conversion of a scenario to these configurations),
//! [`forwarder`] (the path of a packet), [`report`] (counters). On Linux: [`socket`] (real interfaces),
//! [`process`] (main loop of a forwarder), [`confinement`] (restrictions of the process), [`control`] and
//! [`status`] (counters of a running forwarder), [`bridge`], [`host`] (traffic of hosts, and results).

pub mod bridge;
pub mod config;
#[cfg(target_os = "linux")]
pub mod confinement;
#[cfg(target_os = "linux")]
pub mod control;
pub mod forwarder;
pub mod frame;
#[cfg(target_os = "linux")]
pub mod host;
pub mod lowering;
#[cfg(target_os = "linux")]
pub mod process;
pub mod report;
#[cfg(target_os = "linux")]
mod result_file;
#[cfg(target_os = "linux")]
pub mod socket;
#[cfg(target_os = "linux")]
pub mod status;
pub mod test_wire;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod unclassified;
pub mod wire;

pub use bridge::BridgeConfig;
pub use config::ForwarderConfig;
pub use forwarder::{Forwarder, Round};
pub use report::Report;
pub use test_wire::TestWire;
pub use wire::{DeviceId, Wire, WireError};
