//! RACK: losses by the time at which segments were sent (RFC 8985 §6; `net/ipv4/tcp_recovery.c`).

mod hooks;

use super::records::Record;

/// Recoveries during which a widened reordering window stays (RFC 8985 §6.2, step 4).
pub(super) const PERSISTS_FOR: u8 = 16;

/// What is known of the segment that was sent last of those delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// When it was sent, and the offset after it; microseconds.
    sent: u64,
    end: u64,
    /// The round trip of the segment delivered last, microseconds.
    round_trip: u64,
    /// Whether a segment was delivered since the last look for losses.
    pub(super) has_advanced: bool,
    /// Quarters of the least round trip in the reordering window, and recoveries until they are one again.
    steps: u8,
    pub(super) persists: u8,
    /// A segment arrived twice in this round trip, which began when so many were delivered.
    pub(super) has_duplicate: bool,
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
    /// Microseconds until the segment of `record` is lost, if it may be late by `window`; 0 or less where it
    /// is.
    pub(super) fn until_lost(&self, now: u64, record: &Record, window: u64) -> i64 {
        (self.round_trip + window).cast_signed() - (now - record.sent).cast_signed()
    }
}
