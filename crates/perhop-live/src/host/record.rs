//! [`Record`]: a sent or arrived packet, and files of records.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A packet at the sender or the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Index of the packet's flow in [`Flows`](super::Flows::ids).
    pub flow: u32,
    /// Length of the IP packet, bytes.
    pub length: u32,
    /// Time in nanoseconds since the start of the run; 0 for earlier times.
    pub at: u64,
    /// Identity of the packet at both ends: the number of a datagram, or a digest of a TCP segment.
    pub identity: u64,
    /// The octet of DSCP and ECN.
    pub class: u8,
}

/// Length of a record in a file, bytes.
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

/// Buffered writer of records.
#[derive(Debug)]
pub struct Recorder(BufWriter<File>);

/// Size of the buffer, bytes. Writes are rare, and short compared with the gaps between packets.
const BUFFER: usize = 1 << 18;

impl Recorder {
    /// Creates a recorder with a new file at `path`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> io::Result<Recorder> {
        Ok(Recorder(BufWriter::with_capacity(BUFFER, File::create(path)?)))
    }
    /// Adds `record`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, record: Record) -> io::Result<()> {
        self.0.write_all(&record.to_bytes())
    }
    /// Writes the records that remain in the buffer.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The records in the file at `path`; an empty list if the file does not exist.
///
/// # Errors
/// The file cannot be read.
pub fn read_records(path: &Path) -> io::Result<Vec<Record>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(bytes.chunks_exact(SIZE).filter_map(Record::from_bytes).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The file for records of `kind` that belongs to the report at `result`.
pub(super) fn records_of(result: &Path, kind: &str) -> PathBuf {
    let mut name = result.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    name.into()
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
