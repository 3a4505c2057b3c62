//! [`Bursts`]: segmentation offload. Segments that leave together are one buffer, which the device divides
//! into segments (`net/ipv4/tcp_output.c`, `tcp_write_xmit`). This module determines the size of the buffer,
//! and whether the sender waits until the buffer can be larger.

mod hooks;

use perhop_scenario::tcp::SegmentationOffload;

/// `sk_pacing_shift`: a burst is the data that the pace permits in 2^-10 s.
const PACE_SHIFT: u32 = 10;
/// `sysctl_tcp_tso_rtt_log`: bursts are larger for near peers. The increase halves with each 2^9 us of the
/// minimum round-trip time.
const NEAR_SHIFT: u32 = 9;

/// The current burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    config: SegmentationOffload,
    /// The number of segments of the burst that are not sent yet.
    left: u32,
    /// The number of sent bytes that the pace has not counted yet.
    bytes: u64,
    /// The number of sent segments that the pace has not counted yet.
    segments: u32,
    /// Whether new data wait for a larger congestion window.
    waits: bool,
}

impl Bursts {
    pub(super) fn new(config: SegmentationOffload) -> Bursts {
        Bursts { config, left: 0, bytes: 0, segments: 0, waits: false }
    }
    /// Adds a sent segment of `bytes`. After the last segment of a burst, returns the numbers of bytes and
    /// segments of the burst.
    pub(super) fn add(&mut self, bytes: u64) -> Option<(u64, u32)> {
        self.bytes += bytes;
        self.segments += 1;
        if self.left > 0 { None } else { self.end() }
    }
    /// Ends the burst early. Returns the numbers of bytes and segments that the pace has not counted yet.
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

/// Returns the number of segments of `payload` bytes in a burst of at most `largest` bytes, at a pace of
/// `rate` bytes per second (0: unknown) and a minimum round-trip time of `least_rtt` microseconds
/// (`tcp_tso_autosize`).
fn burst_segments(rate: u64, least_rtt: u64, largest: u64, payload: u64) -> u32 {
    let by_pace = if rate == 0 { largest } else { rate >> PACE_SHIFT };
    let by_distance =
        u32::try_from(least_rtt >> NEAR_SHIFT).map_or(0, |shift| largest.checked_shr(shift).unwrap_or(0));
    let bytes = by_pace.saturating_add(by_distance).min(largest);
    u32::try_from(bytes / payload).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, for segments of 1448 bytes and the largest burst of Linux, 65,215 bytes:
    #[test]
    fn a_burst_is_a_millisecond_of_the_pace_and_more_for_near_peers() {
        let segments = |rate, rtt| burst_segments(rate, rtt, 65_215, 1448);
        // If the pace is unknown or 1 Gb/s, a burst is a full buffer.
        assert_eq!((segments(0, u64::MAX), segments(125_000_000, 100_000)), (45, 45));
        // 100 Mb/s is 12,207 bytes in 2^-10 s; the increase is 0 at 20 ms, and an eighth of the maximum at
        // 1.6 ms.
        assert_eq!((segments(12_500_000, 20_000), segments(12_500_000, 1_600)), (8, 14));
        // The burst to a peer within 512 us is the maximum at any pace.
        assert_eq!((segments(1_000, 511), segments(1_000, 20_000)), (45, 0));
    }
}
