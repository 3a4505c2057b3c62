//! [`Record`]: one packet that was sent or that arrived, and the files of them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// One packet at one end of its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its flow's place among [`Flows`](super::Flows::ids).
    pub flow: u32,
    /// IP bytes.
    pub length: u32,
    /// When, nanoseconds since the run began; what comes before counts as its beginning.
    pub at: u64,
    /// What makes it the same packet at both ends: the number of a datagram, a digest of a TCP segment.
    pub identity: u64,
    /// The octet of DSCP and ECN.
    pub class: u8,
}

/// Bytes of a record in a file.
const SIZE: usize = 25;

impl Record {
    fn to_bytes(self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..4].copy_from_slice(&self.flow.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.at.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.identity.to_le_bytes());
        bytes[24] = self.class;
        bytes
    }
    fn from_bytes(bytes: &[u8]) -> Option<Record> {
        let four = |from: usize| Some(u32::from_le_bytes(bytes.get(from..from + 4)?.try_into().ok()?));
        let eight = |from: usize| Some(u64::from_le_bytes(bytes.get(from..from + 8)?.try_into().ok()?));
        Some(Record {
            flow: four(0)?,
            length: four(4)?,
            at: eight(8)?,
            identity: eight(16)?,
            class: *bytes.get(24)?,
        })
    }
}

/// Writes records to a file, many at a time.
#[derive(Debug)]
pub struct Recorder(BufWriter<File>);

/// A write of so many bytes is rare, and short beside the gaps between packets.
const BUFFER: usize = 1 << 18;

impl Recorder {
    /// A recorder into a new file at `path`.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn create(path: &Path) -> io::Result<Recorder> {
        Ok(Recorder(BufWriter::with_capacity(BUFFER, File::create(path)?)))
    }
    /// Adds `record`.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn add(&mut self, record: Record) -> io::Result<()> {
        self.0.write_all(&record.to_bytes())
    }
    /// Writes what is still in memory.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The records in the file at `path`; none if there is no such file.
///
/// # Errors
/// Where the file cannot be read.
pub fn read_records(path: &Path) -> io::Result<Vec<Record>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(bytes.chunks_exact(SIZE).filter_map(Record::from_bytes).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back() {
        let record =
            Record { flow: 7, length: 1500, at: 123_456_789_012, identity: u64::MAX - 1, class: 0xb8 };
        assert_eq!(Record::from_bytes(&record.to_bytes()), Some(record));
    }
}
