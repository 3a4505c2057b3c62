//! RACK: loss detection by send times (RFC 8985 §6; `net/ipv4/tcp_recovery.c`).

mod hooks;

use super::records::Record;

/// The number of recoveries for which a wider reordering window remains (RFC 8985 §6.2, step 4).
pub(super) const PERSISTS_FOR: u8 = 16;

/// The state of RACK: the delivered segment that was sent last, and the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// The send time of the delivered segment that was sent last, microseconds.
    sent: u64,
    /// The offset after the delivered segment that was sent last.
    end: u64,
    /// The round-trip time of the last delivered segment, microseconds.
    round_trip: u64,
    /// Whether a segment was delivered since the last loss detection.
    pub(super) has_advanced: bool,
    /// The reordering window in quarters of the minimum round-trip time.
    steps: u8,
    /// The number of recoveries after which the reordering window is one quarter again.
    pub(super) persists: u8,
    /// Whether a segment arrived twice in this round trip.
    pub(super) has_duplicate: bool,
    /// The delivery count at the start of the round trip.
    round_began: u32,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            sent: 0,
            end: 0,
            round_trip: 0,
            has_advanced: false,
            steps: 1,
            persists: 0,
            has_duplicate: false,
            round_began: 0,
        }
    }
}

impl Rack {
    /// Returns the time until the segment of `record` is later than the reordering `window` permits,
    /// microseconds. If the result is 0 or less, the segment is lost.
    pub(super) fn until_lost(&self, now: u64, record: &Record, window: u64) -> i64 {
        (self.round_trip + window).cast_signed() - (now - record.sent).cast_signed()
    }
}
