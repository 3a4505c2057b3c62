//! Values in the words of tc.

use perhop_device::NotesAt;
use perhop_qos::{QueueSize, Time};
use serde::Serialize;

/// Bytes of a packet where thresholds count packets and Linux counts bytes, or the reverse: what tc-red(8)
/// advises.
pub(super) const AVERAGE: u64 = 1000;

/// Returns a limit in packets; `what` counts packets alone.
pub(super) fn packets(limit: QueueSize, what: &str, construct: &str, notes: &mut NotesAt) -> u64 {
    match limit {
        QueueSize::Packets(packets) => packets,
        QueueSize::Bytes(bytes) => {
            let packets = (bytes / AVERAGE).max(1);
            let reason = format!("{what} counts packets: of {AVERAGE} bytes each");
            let instead = format!("write `limit: {packets} packets`");
            notes.say_instead(format!("{construct} of {bytes} bytes"), reason, &instead);
            packets
        }
    }
}

/// Returns a time in whole microseconds, as tc takes it.
pub(super) fn microseconds(time: Time) -> String {
    format!("{}us", (time.as_picoseconds() + 500_000) / 1_000_000)
}

/// Returns the name of a buffer manager or meter as policies write it.
pub(super) fn kind(config: &impl Serialize) -> String {
    match serde_json::to_value(config) {
        Ok(serde_json::Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns the word of a choice as policies write it, which is tc's word as well.
pub(super) fn keyword(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
