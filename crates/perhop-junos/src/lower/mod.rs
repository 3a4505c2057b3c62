//! Ports with their policies.

mod buffers;
mod chains;
mod conditioning;
mod device;
mod filters;
mod meters;
mod nodes;
mod ports;
mod queues;
mod shared_memory;
mod shares;
mod stages;

pub(crate) use device::{Device, Findings};
pub(crate) use ports::{has_queues, ports};
pub(crate) use stages::ACCEPTED;
