//! Packet traces: CSV files of time, size and codepoint.

use std::path::Path;

use perhop_qos::packet::Dscp;
use perhop_qos::units::Time;

use super::diagnostic::{Diagnostic, Severity};
use super::input_file::{TRACE, reason};
use super::path::ValuePath;
use super::position::Excerpt;

/// One packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Time of sending since the start of the flow.
    pub time: Time,
    /// Length of the IP packet, bytes.
    pub length: u32,
    /// Codepoint, if the trace has that column.
    pub dscp: Option<Dscp>,
}

/// The largest IPv4 packet, bytes (RFC 791 §3.1: Total Length has 16 bits).
const LARGEST_PACKET: u32 = 65_535;

/// Reads the packets of `file`, a path relative to the directory `base`.
///
/// The first line is `time,size` or `time,size,dscp`. Every other line is a packet: seconds since the start
/// of the flow, in ascending order; IP bytes; a codepoint by name or number. Empty lines and lines that begin
/// with `#` are ignored.
///
/// # Errors
/// The file cannot be read, or a line is malformed. The error names the first such line.
pub fn read_trace(base: &Path, file: &str) -> Result<Vec<TraceEntry>, Box<Diagnostic>> {
    let path = base.join(file);
    let shown = path.display().to_string();
    let source = TRACE.read_text(&path).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no trace file `{shown}`"),
            _ => format!("cannot read the trace file `{shown}`: {}", reason(&error)),
        };
        let diagnostic = Diagnostic::new(Severity::Error, &ValuePath::root(), message);
        Box::new(diagnostic.help("the path is relative to the scenario file"))
    })?;
    parse(&source).map_err(|Malformed { line, message, help }| {
        let diagnostic = Diagnostic::new(Severity::Error, &ValuePath::root(), message);
        let lines: Vec<&str> = source.lines().collect();
        Box::new(diagnostic.in_file(shown).at(Excerpt::of_line(&lines, line)).help(help))
    })
}

#[derive(Debug, PartialEq, Eq)]
struct Malformed {
    line: usize,
    message: String,
    help: &'static str,
}

fn parse(source: &str) -> Result<Vec<TraceEntry>, Malformed> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let lines = source.lines().enumerate().map(|(index, text)| (index + 1, text.trim()));
    let mut lines = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let columns = match lines.next() {
        Some((line, header)) => columns(header).ok_or_else(|| Malformed {
            line,
            message: format!("the trace has the header \"{header}\""),
            help: "the first line must be `time,size` or `time,size,dscp`",
        })?,
        None => {
            return Err(Malformed {
                line: 1,
                message: "the trace is empty".into(),
                help: "the first line must be `time,size` or `time,size,dscp`, followed by one line per packet",
            });
        }
    };
    let mut entries: Vec<TraceEntry> = Vec::new();
    for (line, text) in lines {
        let entry = entry(text, columns).map_err(|(message, help)| Malformed { line, message, help })?;
        if let Some(before) = entries.last().filter(|before| before.time > entry.time) {
            let (time, before) = (entry.time, before.time);
            return Err(Malformed {
                line,
                message: format!("time goes backwards in the trace: {time} after {before}"),
                help: "sort the packets by time",
            });
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        let (line, help) = (1, "add one line per packet, for example `0.02,1500`");
        return Err(Malformed { line, message: "the trace has a header but no packets".into(), help });
    }
    Ok(entries)
}

/// Returns the number of columns that the header defines.
fn columns(header: &str) -> Option<usize> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    match names.as_slice() {
        ["time", "size"] => Some(2),
        ["time", "size", "dscp"] => Some(3),
        _ => None,
    }
}

fn entry(text: &str, columns: usize) -> Result<TraceEntry, (String, &'static str)> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != columns {
        let message = format!("{} columns, expected {columns}", fields.len());
        return Err((message, "every line has the columns of the header"));
    }
    // The parser for decimal numbers in scenarios does not round times to binary fractions, so it is exact.
    let time = format!("{}s", fields[0]).parse().map_err(|_| {
        let message = format!("\"{}\" is not a time in seconds", fields[0]);
        (
            message,
            "a time is a decimal number of seconds, 0 to 4320000 (50d), with at most 12 decimals: 0.0125",
        )
    })?;
    let length = fields[1].parse().ok().filter(|length| (1..=LARGEST_PACKET).contains(length));
    let length = length.ok_or_else(|| {
        let message = format!("\"{}\" is not a packet size", fields[1]);
        (message, "a size is a whole number of IP bytes from 1 to 65535")
    })?;
    let dscp = match fields.get(2) {
        Some(dscp) => Some(dscp.parse().map_err(|message: String| {
            (message, "a codepoint is a number from 0 to 63 or a name such as ef, af11, cs6, default")
        })?),
        None => None,
    };
    Ok(TraceEntry { time, length, dscp })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_read_exactly() {
        let entries = parse("time,size,dscp\n# first\n0,40,ef\n\n0.1, 1500 ,0\n0.1,64,af11\n").unwrap();
        let read: Vec<(u64, u32, u8)> = entries
            .iter()
            .map(|entry| (entry.time.as_picoseconds(), entry.length, entry.dscp.unwrap().value()))
            .collect();
        assert_eq!(read, [(0, 40, 46), (100_000_000_000, 1500, 0), (100_000_000_000, 64, 10)]);
        assert_eq!(parse("time,size\r\n1,2\r\n").unwrap()[0].dscp, None);
    }

    #[test]
    fn a_malformed_line_is_named() {
        for (text, line, words) in [
            ("", 1, "empty"),
            ("size,time\n", 1, "header \"size,time\""),
            ("time,size\n", 1, "no packets"),
            ("time,size\n0,40\n1\n", 3, "1 columns"),
            ("time,size\n-1,40\n", 2, "not a time"),
            ("time,size\n1e-3,40\n", 2, "not a time"),
            ("time,size\n1,0\n", 2, "not a packet size"),
            ("time,size\n1,65536\n", 2, "not a packet size"),
            ("time,size,dscp\n1,40,af14\n", 2, "not a DSCP"),
            ("time,size\n2,40\n1,40\n", 3, "backwards"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.line == line && error.message.contains(words), "{text:?}: {error:?}");
        }
    }
}
