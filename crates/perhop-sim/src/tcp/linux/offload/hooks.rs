//! The sender's division of segments into bursts.

use perhop_qos::units::Time;
use perhop_scenario::tcp::SegmentationOffload;

use super::super::super::sender::Sender;
use super::super::{LinuxSender, State, microseconds};
use super::burst_segments;

/// `prague_burst_shift`: a burst of Prague is the data that the pace permits in 2^-12 s.
const PRAGUE_SHIFT: u32 = 12;
/// The minimum burst, segments (`sysctl_tcp_min_tso_segs`), and the rate, bytes per second, below which BBR
/// sends single segments (`bbr_min_tso_segs`).
const LEAST_SEGMENTS: u32 = 2;
const BBR_SLOW: u64 = 1_200_000 / 8;
/// New data are not delayed if the room in the window is at least the window divided by this number
/// (`sysctl_tcp_tso_win_divisor`).
const PART_OF_WINDOW: u64 = 3;
/// A burst is delayed only within this time after the last burst, and only if an acknowledgment is due within
/// this time (`tcp_tso_should_defer`).
const RECENT: Time = Time::from_milliseconds(1);
const SOON_US: u64 = 1000;

impl LinuxSender {
    /// Returns the number of segments of a full burst (`tcp_tso_segs`).
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

    /// Whether the next new segment leaves now, in the current burst or as the first segment of a new burst.
    pub(in crate::tcp::linux) fn joins_burst(&mut self, stream: &Sender, now: Time) -> bool {
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

    /// Returns the number of segments of the next burst of new data; `None` if the burst is delayed. The
    /// window must permit at least one segment.
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

    /// Whether the sender waits for acknowledgments that permit a burst of `most` segments
    /// (`tcp_tso_should_defer`). In the simulator, all data of the application are in one buffer.
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
        // After the FIN, no further data can enlarge the burst, so it does not wait.
        limit <= unsent || !stream.finishing
    }

    /// Ends the burst, because no further segment leaves now, and counts the burst in the pace.
    pub(in crate::tcp::linux) fn end_offload(&mut self, stream: &Sender, now: Time) {
        let Some(bursts) = &mut self.bursts else { return };
        if let Some((bytes, segments)) = bursts.end() {
            self.count_pace(stream, now, bytes, segments);
        }
    }
}
