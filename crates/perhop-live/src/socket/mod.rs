//! The interface to the operating system: [`SocketWire`], a [`Wire`](crate::Wire) of real interfaces. Read in
//! this order: `wire` (all interfaces of a forwarder), `device` (one interface, with its counters),
//! `packet_device` (a raw socket: `packet_ring` to receive, `send_batch` to send), `wait` and `clock`
//! (timing), `bell` (wake-up by another thread or a signal). `system` and `mapping` have most system calls.
//! Every `unsafe` block states why it is sound.

mod bell;
mod clock;
mod device;
mod express_device;
mod express_program;
mod express_ring;
mod mapping;
mod open_error;
mod packet_device;
mod packet_ring;
mod send_batch;
pub(crate) mod system;
mod tunnel_device;
mod wait;
mod wire;
pub mod yardstick;

pub use bell::{Bell, StopSignals};
pub use device::{DeviceCounters, DeviceState};
pub use open_error::OpenError;
pub use wait::WaitReport;
pub use wire::SocketWire;
