//! Captures: packets on selected links, as pcapng files.
//!
//! A `Tap` on a direction of a link keeps records of the packets; `Files` writes them as frames with headers,
//! of which `tcp` gives the fields of TCP. The caller of [`crate::run_captured`] opens the files.

mod captures;
mod files;
mod tap;
mod tcp;

pub use captures::{Captured, Captures, MOST_PACKETS};
pub(crate) use files::Files;
pub(crate) use tap::Tap;

/// Default limit on the packets of one file; few programs open larger files.
pub const MOST_PACKETS: u64 = 10_000_000;

/// Options of captures.
pub struct Captures<'a> {
    /// Creates the file with this name.
    pub create: &'a (dyn Fn(&str) -> io::Result<Box<dyn Write + Send>> + Sync),
    /// Length up to which a frame is stored.
    pub snap_length: SnapLength,
    /// Limit on the packets of one file; later packets are omitted.
    pub most_packets: u64,
}

/// A file that was written, for one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Name of the file: `C1--E3.pcapng`.
    pub name: String,
    /// The captured directions, in the order of the file's interfaces: `C1->E3`.
    pub interfaces: Vec<String>,
    /// Packets in the file.
    pub packets: u64,
    /// Dropped packets among them.
    pub dropped: u64,
    /// Time of the first omitted packet, if the limit was reached.
    pub full_at: Option<Time>,
}
