//! Reads arbitrary bytes as a pcap or pcapng file.

use crate::outcome::Outcome;

/// Reads `bytes` as a capture. Either the reader rejects them, or it returns packets in order of time.
pub fn capture(bytes: &[u8]) -> Outcome {
    if let Ok(capture) = perhop_capture::read(bytes) {
        assert!(capture.packets.is_sorted_by_key(|observed| observed.time));
    }
    Outcome::Kept
}
