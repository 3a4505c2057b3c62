//! Pacing: the spacing of segments or of bursts (`net/ipv4/tcp_output.c`, `tcp_pacing_check`,
//! `tcp_update_skb_after_send`).

mod hooks;

use perhop_qos::units::Time;

/// The number of first segments of a connection that are not paced.
const UNPACED: u32 = 10;
const PICOSECONDS: u128 = 1_000_000_000_000;

/// The schedule of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// `tcp_wstamp_ns`: the time at which the next segment may leave.
    departs: Time,
    /// The number of segments sent so far, at most one more than [`UNPACED`].
    sent: u32,
}

impl Pacer {
    /// The time at which the next segment may leave.
    pub(super) fn departs(&self) -> Time {
        self.departs
    }
    /// Records that `segments` segments of `bytes` in total leave at `now`. The pace is `rate` bytes per
    /// second, 0 if unknown.
    fn on_sent(&mut self, now: Time, bytes: u64, segments: u32, rate: u64) {
        let before = self.departs;
        self.departs = before.max(now);
        self.sent = self.sent.saturating_add(segments).min(UNPACED + 1);
        if rate == 0 || self.sent <= UNPACED {
            return;
        }
        let gap = (u128::from(bytes) * PICOSECONDS / u128::from(rate)) as u64;
        // Lateness shortens the next gap by at most half.
        let late = (self.departs - before).as_picoseconds().min(gap / 2);
        self.departs += Time::from_picoseconds(gap - late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the first ten segments, a segment of 1000 bytes leaves every millisecond at 1 MB/s. If a segment
    /// leaves 0.2 ms late, the gap to the next segment is 0.2 ms shorter.
    #[test]
    fn segments_leave_at_the_pace() {
        let (mut pacer, rate) = (Pacer::default(), 1_000_000);
        for _ in 0..UNPACED {
            pacer.on_sent(Time::ZERO, 1000, 1, rate);
        }
        assert_eq!(pacer.departs, Time::ZERO);
        pacer.on_sent(Time::ZERO, 1000, 1, rate);
        assert_eq!(pacer.departs, Time::from_microseconds(1000));
        pacer.on_sent(Time::from_microseconds(1200), 1000, 1, rate);
        assert_eq!(pacer.departs, Time::from_microseconds(2000));
        // The segment is a second late, but the next gap is shortened by at most half.
        pacer.on_sent(Time::from_seconds(1), 1000, 1, rate);
        assert_eq!(pacer.departs, Time::from_microseconds(1_000_500));
    }
}
