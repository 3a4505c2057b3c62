//! Captures: what crossed chosen links, as pcapng files.
//!
//! A `Tap` on a direction of a link keeps what comes by as records; `Files` turns them into frames with
//! headers, `tcp` says what those of TCP hold. Whoever calls [`crate::run_captured`] opens the files.

mod files;
mod tap;
mod tcp;

use std::io::{self, Write};

use perhop_capture::SnapLength;
use perhop_qos::units::Time;

pub(crate) use files::Files;
pub(crate) use tap::Tap;

/// Packets that one file takes if nothing else is said: more than that no program likes to open.
pub const MOST_PACKETS: u64 = 10_000_000;

/// Where captures go.
pub struct Captures<'a> {
    /// Opens the file of this name.
    pub create: &'a (dyn Fn(&str) -> io::Result<Box<dyn Write + Send>> + Sync),
    /// How much of each frame is kept.
    pub snap_length: SnapLength,
    /// Packets after which a file ends; what comes then is left out of it.
    pub most_packets: u64,
}

/// A file that was written: one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Its name: `C1--E3.pcapng`.
    pub name: String,
    /// The captured directions, in the order of the file's interfaces: `C1->E3`.
    pub interfaces: Vec<String>,
    /// Packets in it.
    pub packets: u64,
    /// Those among them that were dropped.
    pub dropped: u64,
    /// When it is full, if it is: what came from then on is not in it.
    pub full_at: Option<Time>,
}
