//! Formatting of values for tc.

use perhop_device::NotesAt;
use perhop_qos::{QueueSize, Time};
use serde::Serialize;

/// The packet size for the conversion of thresholds between packets and bytes, which tc-red(8) recommends.
pub(super) const AVERAGE: u64 = 1000;

/// Returns a limit in packets for the discipline `what`, which counts only packets.
pub(super) fn packets(limit: QueueSize, what: &str, construct: &str, notes: &mut NotesAt) -> u64 {
    match limit {
        QueueSize::Packets(packets) => packets,
        QueueSize::Bytes(bytes) => {
            let packets = (bytes / AVERAGE).max(1);
            let reason = format!("{what} counts packets; {AVERAGE} bytes each are assumed");
            let instead = format!("write `limit: {packets} packets`");
            notes.report_with_change(format!("{construct} of {bytes} bytes"), reason, &instead);
            packets
        }
    }
}

/// Formats a time in whole microseconds.
pub(super) fn microseconds(time: Time) -> String {
    format!("{}us", (time.as_picoseconds() + 500_000) / 1_000_000)
}

/// Returns the name of a buffer manager or meter in scenarios.
pub(super) fn kind(config: &impl Serialize) -> String {
    match serde_json::to_value(config) {
        Ok(serde_json::Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns the word of a choice, which is the same in scenarios and in tc.
pub(super) fn keyword(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
