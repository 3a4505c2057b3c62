//! The policer bursts that traffic requires, for `perhop design policer` and for the rules.

/// The bytes of IP and TCP headers, which the maximum segment size does not include.
pub const TCP_HEADERS: u64 = 40;
/// Segments in the initial window of a sender (RFC 6928 §2).
pub const INITIAL_SEGMENTS: u64 = 10;

/// The bytes that a policer must pass at once so that TCP reaches the rate of the policer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpBurst {
    /// The product of bandwidth and delay, bytes.
    pub product: f64,
    /// The bytes that TCP sends above the rate in one period of the congestion window's sawtooth. The mean of
    /// the sawtooth is `product`.
    pub sawtooth: f64,
    /// The initial window of a sender, bytes.
    pub initial: f64,
}

impl TcpBurst {
    /// Returns the burst for `rate` bits per second and a round trip in seconds. `packet` is the longest
    /// packet, IP bytes; it is longer than [`TCP_HEADERS`].
    pub fn new(rate: f64, round_trip_s: f64, packet: u64) -> TcpBurst {
        let product = rate * round_trip_s / 8.0;
        let segment = packet.saturating_sub(TCP_HEADERS).max(1) as f64;
        // RFC 5681 §3.1: a window grows by a segment in each round trip and is halved at a loss. A sawtooth
        // whose mean is the BDP has its peak at 4/3 of the BDP, and sends (BDP / 3)² / (2 · MSS) bytes above
        // the rate.
        let sawtooth = product * product / (18.0 * segment);
        TcpBurst { product, sawtooth, initial: (INITIAL_SEGMENTS * packet) as f64 }
    }

    /// Returns the committed burst: the largest of the three numbers, in whole bytes.
    pub fn committed(&self) -> f64 {
        self.sawtooth.max(self.product).max(self.initial).ceil()
    }
}

/// Returns the burst of `calls` calls whose packets of `packet` bytes arrive at once, after jitter of `late`
/// packet intervals (Le Boudec and Thiran, *Network Calculus*: a periodic flow with jitter and its token
/// bucket).
pub fn calls_burst(calls: f64, packet: u64, late: f64) -> f64 {
    (calls * packet as f64 * (1.0 + late) - 1e-9).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_matches_the_design_page() {
        // docs/design.md: 10 Mb/s, 50 ms: 62,500 B, 148,640 B and 15,000 B.
        let burst = TcpBurst::new(1e7, 0.05, 1500);
        assert_eq!((burst.product, burst.initial), (62_500.0, 15_000.0));
        assert_eq!(burst.committed(), 148_640.0);
        assert_eq!(TcpBurst::new(1e6, 0.1, 1500).committed(), 15_000.0);
    }

    #[test]
    fn simultaneous_calls_need_a_packet_each() {
        assert_eq!(calls_burst(10.0, 200, 0.0), 2000.0);
        assert_eq!(calls_burst(10.0, 60, 1.5), 1500.0);
    }
}
