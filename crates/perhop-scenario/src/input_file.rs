//! Limits of the files that a scenario names, and the functions that read them.
//!
//! Only regular files are read, because the data of a device or a pipe may never end. `docs/check.md` has the
//! table of all limits; `python/perhop/inputs.py` has the limits of the command line.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The limits of one kind of file; `None` means no limit.
pub(crate) struct FileLimits {
    /// The kind of file, as in "a router configuration".
    kind: &'static str,
    most_bytes: usize,
    most_lines: Option<usize>,
    /// Bytes of one line, without its end.
    longest_line: Option<usize>,
}

const MIB: usize = 1 << 20;

/// Scenarios and policies, also on standard input.
pub(crate) const SCENARIO: FileLimits =
    FileLimits { kind: "a scenario", most_bytes: 16 * MIB, most_lines: None, longest_line: None };
/// Router configurations and commands of `tc`.
pub(crate) const ROUTER: FileLimits = FileLimits {
    kind: "a router configuration",
    most_bytes: 32 * MIB,
    most_lines: Some(500_000),
    longest_line: Some(4 * MIB),
};
/// Packet traces in CSV.
pub(crate) const TRACE: FileLimits = FileLimits {
    kind: "a table of traffic",
    most_bytes: 128 * MIB,
    most_lines: Some(2_000_000),
    longest_line: Some(64 << 10),
};
/// Captures in pcap and pcapng.
pub(crate) const CAPTURE: FileLimits =
    FileLimits { kind: "a capture", most_bytes: 512 * MIB, most_lines: None, longest_line: None };

impl FileLimits {
    /// Reads a regular file.
    ///
    /// # Errors
    /// The file does not exist, is not a regular file, or exceeds a limit.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        // Opening a pipe waits for its writer, so the kind of file is checked before the file is opened. The
        // kind is checked again after the file is opened, because another process may have replaced the file
        // in between.
        require_regular(&std::fs::metadata(path)?)?;
        let file = File::open(path)?;
        require_regular(&file.metadata()?)?;
        self.read_from(file)
    }

    /// Reads a regular file of text.
    ///
    /// # Errors
    /// The errors of [`FileLimits::read`], and content that is not UTF-8.
    pub(crate) fn read_text(&self, path: &Path) -> Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// The stream cannot be read or exceeds a limit.
    pub(crate) fn read_from(&self, stream: impl Read) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte beyond the limit shows that the stream is longer.
        stream.take(self.most_bytes as u64 + 1).read_to_end(&mut bytes)?;
        match self.exceeded(&bytes) {
            Some(what) => Err(Error::new(ErrorKind::InvalidData, what)),
            None => Ok(bytes),
        }
    }

    fn exceeded(&self, bytes: &[u8]) -> Option<String> {
        let what = if bytes.len() > self.most_bytes {
            format!("more than {} bytes", self.most_bytes)
        } else if let Some(most) = self.most_lines.filter(|most| line_ends(bytes) > *most) {
            format!("more than {most} lines")
        } else if let (Some(number), Some(longest)) = (self.long_line(bytes), self.longest_line) {
            format!("more than {longest} bytes in line {number}")
        } else {
            return None;
        };
        Some(format!("it has {what}, the limit of {}", self.kind))
    }

    /// Returns the number of the first line that is too long, from 1.
    fn long_line(&self, bytes: &[u8]) -> Option<usize> {
        let longest = self.longest_line?;
        if bytes.len() <= longest {
            return None;
        }
        bytes.split(|byte| *byte == b'\n').position(|line| line.len() > longest).map(|index| index + 1)
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

fn require_regular(metadata: &Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(Error::from(ErrorKind::IsADirectory));
    }
    if !metadata.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is a pipe, a device or a socket, not a regular file",
        ));
    }
    Ok(())
}

/// Returns the reason why a file cannot be read.
pub(crate) fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::PermissionDenied => "no permission".into(),
        ErrorKind::IsADirectory => "it is a directory".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: FileLimits =
        FileLimits { kind: "a test", most_bytes: 8, most_lines: Some(2), longest_line: Some(4) };

    #[test]
    fn content_at_each_limit_is_read_and_beyond_it_is_refused() {
        for (content, error) in [
            ("ab\ncd\n", None),
            ("abcd\nab\n", None),
            ("abcd\nabcd", Some("it has more than 8 bytes, the limit of a test")),
            ("a\nb\n\n", Some("it has more than 2 lines, the limit of a test")),
            ("a\nabcde\n", Some("it has more than 4 bytes in line 2, the limit of a test")),
        ] {
            let read = SMALL.read_from(content.as_bytes());
            match error {
                None => assert_eq!(read.expect("within the limits"), content.as_bytes()),
                Some(words) => assert_eq!(read.expect_err("beyond a limit").to_string(), words),
            }
        }
    }

    #[test]
    fn an_endless_stream_ends_at_the_limit() {
        let error = SMALL.read_from(std::io::repeat(b'a')).expect_err("beyond a limit");
        assert_eq!(error.to_string(), "it has more than 8 bytes, the limit of a test");
    }
}
