//! The operating system's side: [`SocketWire`], a [`Wire`](crate::Wire) of real interfaces.
//!
//! Reading order: `wire` (the interfaces of a forwarder together), `device` (one of them, and its counters),
//! `packet_device` (a raw socket: `packet_ring` to receive, `send_batch` to send), `wait` and `clock` (when
//! to do something), `bell` (how another thread or a signal wakes it). `system` and `mapping` hold the system
//! calls; unsafe code is in these files alone, each block with its reason.

mod bell;
mod clock;
mod device;
mod express_device;
mod express_program;
mod express_ring;
mod mapping;
mod packet_device;
mod packet_ring;
mod send_batch;
mod system;
mod tunnel_device;
mod wait;
mod wire;
pub mod yardstick;

use std::{fmt, io};

/// System calls of a process other than for frames.
pub(crate) mod machine {
    pub(crate) use super::system::{die_with_parent, processor_time, resident_bytes, run_in_real_time};
}

pub use bell::{Bell, StopSignals};
pub use device::{DeviceCounters, DeviceState};
pub use wait::WaitReport;
pub use wire::SocketWire;

/// Why an interface cannot be opened.
#[derive(Debug)]
pub struct OpenError {
    device: String,
    what: &'static str,
    error: io::Error,
}

impl OpenError {
    fn new(device: &str, what: &'static str, error: io::Error) -> OpenError {
        OpenError { device: device.to_owned(), what, error }
    }
    /// The system's error number, if there is one.
    pub fn number(&self) -> Option<i32> {
        self.error.raw_os_error()
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let OpenError { device, what, error } = self;
        write!(formatter, "interface `{device}` {what}: {error}")?;
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                write!(formatter, "; raw sockets require CAP_NET_RAW in this network namespace")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
