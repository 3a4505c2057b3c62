//! Ports with their policies.

mod buffers;
mod chains;
mod device;
mod filters;
mod nodes;
mod ports;
mod queues;
mod shared_memory;
mod shares;
mod stages;

pub(crate) use device::{Device, Findings};
pub(crate) use ports::{has_queues, ports};
pub(crate) use stages::ACCEPTED;
