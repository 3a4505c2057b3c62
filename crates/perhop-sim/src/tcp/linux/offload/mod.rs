//! [`Bursts`]: segmentation offload. What leaves at once is a buffer that the device cuts into segments
//! (`net/ipv4/tcp_output.c`, `tcp_write_xmit`): how large it may be, and when to wait for a larger one.

use perhop_qos::units::Time;
use perhop_scenario::tcp::SegmentationOffload;

use super::super::sender::Sender;
use super::{LinuxSender, State, microseconds};

/// `sk_pacing_shift`: a burst is what the pace lets out in 2^-10 s.
const PACE_SHIFT: u32 = 10;
/// `prague_burst_shift`: Prague's is that of 2^-12 s.
const PRAGUE_SHIFT: u32 = 12;
/// `sysctl_tcp_tso_rtt_log`: near peers get more, half as much for each 2^9 us of the least round trip.
const NEAR_SHIFT: u32 = 9;
/// `sysctl_tcp_min_tso_segs`, and `bbr_min_tso_segs` below 1.2 Mb/s, bytes per second.
const LEAST_SEGMENTS: u32 = 2;
const BBR_SLOW: u64 = 1_200_000 / 8;
/// `sysctl_tcp_tso_win_divisor`: this part of the window is never waited for.
const PART_OF_WINDOW: u64 = 3;
/// `tcp_tso_should_defer`: a burst waits only so long after the last one, and for acknowledgments that are
/// due so soon.
const RECENT: Time = Time::from_milliseconds(1);
const SOON_US: u64 = 1000;

/// The burst that is leaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    config: SegmentationOffload,
    /// Segments that it has left, and what has left of it since the pace counted.
    left: u32,
    bytes: u64,
    segments: u32,
    /// Whether new data wait for more room in the congestion window.
    waits: bool,
}

impl Bursts {
    pub(super) fn new(config: SegmentationOffload) -> Bursts {
        Bursts { config, left: 0, bytes: 0, segments: 0, waits: false }
    }
    /// A segment of `bytes` leaves. Returns bytes and segments of the burst if it was the last one.
    pub(super) fn add(&mut self, bytes: u64) -> Option<(u64, u32)> {
        self.bytes += bytes;
        self.segments += 1;
        if self.left > 0 { None } else { self.end() }
    }
    /// Nothing more of the burst can leave. Returns bytes and segments that the pace has not counted.
    pub(super) fn end(&mut self) -> Option<(u64, u32)> {
        self.left = 0;
        let sent = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.segments));
        (sent.1 > 0).then_some(sent)
    }
    pub(super) fn waits(&self) -> bool {
        self.waits
    }
    pub(super) fn stop_waiting(&mut self) {
        self.waits = false;
    }
}

/// `tcp_tso_autosize`: segments of `payload` bytes in a burst of at most `largest` bytes, at a pace of `rate`
/// bytes per second (0: unknown), where the least round trip is `least_rtt` microseconds.
fn burst_segments(rate: u64, least_rtt: u64, largest: u64, payload: u64) -> u32 {
    let by_pace = if rate == 0 { largest } else { rate >> PACE_SHIFT };
    let by_distance =
        u32::try_from(least_rtt >> NEAR_SHIFT).map_or(0, |shift| largest.checked_shr(shift).unwrap_or(0));
    let bytes = by_pace.saturating_add(by_distance).min(largest);
    u32::try_from(bytes / payload).unwrap_or(u32::MAX)
}

impl LinuxSender {
    /// `tcp_tso_segs`: segments of a full burst.
    fn full_burst(&self, stream: &Sender, config: SegmentationOffload) -> u32 {
        let rate = self.pacing_rate(stream);
        if self.has_prague() {
            // `prague_update_pacing_rate` counts headers.
            let segments = (rate / u64::from(stream.full_packet)) >> PRAGUE_SHIFT;
            return u32::try_from(segments).unwrap_or(u32::MAX).max(1);
        }
        let is_slow = self.bbr.is_some() && rate < BBR_SLOW;
        let least = if is_slow { 1 } else { LEAST_SEGMENTS };
        burst_segments(rate, self.least.get(), config.largest.as_bytes(), stream.payload).max(least)
    }

    /// Whether the next new segment leaves now: as part of the burst that is leaving, or as the first of one.
    pub(super) fn joins_burst(&mut self, stream: &Sender, now: Time) -> bool {
        let Some((config, left)) = self.bursts.as_ref().map(|bursts| (bursts.config, bursts.left)) else {
            return true;
        };
        let left = if left > 0 { Some(left) } else { self.next_burst(stream, now, config) };
        if let Some(bursts) = &mut self.bursts {
            bursts.left = left.map_or(0, |left| left - 1);
            bursts.waits = left.is_none();
        }
        left.is_some()
    }

    /// Segments of the next burst of new data; `None` where it waits. There is room for a segment.
    fn next_burst(&self, stream: &Sender, now: Time, config: SegmentationOffload) -> Option<u32> {
        let unsent = stream.end() - stream.next;
        if unsent <= stream.payload {
            return Some(1);
        }
        let most = self.full_burst(stream, config);
        if config.deferral && self.is_deferred(stream, now, most) {
            return None;
        }
        // `tcp_cwnd_test`: at least two bursts in a window.
        let permitted = self.room().min(self.window / 2).min(most);
        let available = unsent.min(stream.edge.saturating_sub(stream.next)) / stream.payload;
        Some(permitted.min(u32::try_from(available).unwrap_or(u32::MAX)).max(1))
    }

    /// `tcp_tso_should_defer`: whether to wait for acknowledgments that make room for a burst of `most`
    /// segments. What the application gives is one buffer here.
    fn is_deferred(&self, stream: &Sender, now: Time, most: u32) -> bool {
        let last =
            self.pacer.as_ref().map_or(stream.last_sent, |pacer| pacer.departs().max(stream.last_sent));
        if self.state >= State::Recovery || now > last + RECENT {
            return false;
        }
        let unsent = stream.end() - stream.next;
        let offered = stream.edge.saturating_sub(stream.next);
        let room = u64::from(self.room()) * stream.payload;
        let limit = room.min(offered);
        let window = (u64::from(self.window) * stream.payload).min(u64::from(stream.last_window));
        if limit >= u64::from(most) * stream.payload || limit >= window / PART_OF_WINDOW {
            return false;
        }
        let Some(head) = self.records.head() else { return false };
        let round_trip = self.smoothed(stream).unwrap_or(0) >> 3;
        if head.sent + round_trip > microseconds(now) + (round_trip / 2).min(SOON_US) {
            // The next acknowledgment is not due soon.
            return false;
        }
        // With a FIN there will not be more than this.
        limit <= unsent || !stream.finishing
    }

    /// Nothing more leaves now: the pace counts what has.
    pub(super) fn end_offload(&mut self, stream: &Sender, now: Time) {
        let Some(bursts) = &mut self.bursts else { return };
        if let Some((bytes, segments)) = bursts.end() {
            self.count_pace(stream, now, bytes, segments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, for segments of 1448 bytes and the largest burst of Linux, 65,215 bytes:
    #[test]
    fn a_burst_is_a_millisecond_of_the_pace_and_more_for_near_peers() {
        let segments = |rate, rtt| burst_segments(rate, rtt, 65_215, 1448);
        // Unknown pace, or 1 Gb/s: all that a buffer holds.
        assert_eq!((segments(0, u64::MAX), segments(125_000_000, 100_000)), (45, 45));
        // 100 Mb/s is 12,207 bytes in 2^-10 s; at 20 ms nothing is added, at 1.6 ms an eighth of the largest.
        assert_eq!((segments(12_500_000, 20_000), segments(12_500_000, 1_600)), (8, 14));
        // A peer within 512 us gets the largest at any pace.
        assert_eq!((segments(1_000, 511), segments(1_000, 20_000)), (45, 0));
    }
}
