//! Captures: packets on selected links, as pcapng files.
//!
//! A `Tap` on a direction of a link records the packets. `Files` writes the records as frames with headers,
//! and `tcp` computes the TCP fields. The caller of [`crate::run_captured`] opens the files.

mod captures;
mod files;
mod ports;
mod tap;
mod tcp;

pub(crate) use captures::captured;
pub use captures::{Captured, Captures, MOST_PACKETS};
pub(crate) use files::Files;
pub(crate) use tap::{Contents, Tap};
