//! The same policies on real packets: a forwarder around the very ports and conditioners that are simulated.
//!
//! ```text
//! frame in → parse → [output conditioner → port → wire delay and loss → input conditioner → route]* → frame out
//! ```
//!
//! The path of a packet is pure: [`Forwarder`] knows frames, ports and instants, and asks a [`Wire`] for the
//! first and the last. What stands behind the wire is the operating system's business, or a test's.
//!
//! Reading order: [`wire`] (where frames come from), [`frame`] (what is read in them and written into them),
//! [`config`] (what one process does), [`lowering`] (how a scenario becomes such configurations),
//! [`forwarder`] (what happens), [`report`] (what was counted). On Linux: [`socket`] (real interfaces), [`process`]
//! (what runs a forwarder there), [`control`] and [`status`] (what it tells while it runs), [`bridge`],
//! [`host`] (what a scenario's hosts send and receive, and the results of it).

pub mod bridge;
pub mod config;
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
pub mod socket;
#[cfg(target_os = "linux")]
pub mod status;
pub mod test_wire;
pub mod wire;

pub use bridge::BridgeConfig;
pub use config::ForwarderConfig;
pub use forwarder::{Forwarder, Round};
pub use report::Report;
pub use test_wire::TestWire;
pub use wire::{DeviceId, Wire, WireError};
