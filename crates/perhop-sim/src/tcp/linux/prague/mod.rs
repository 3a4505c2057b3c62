//! TCP Prague: scalable congestion control for the Internet (RFC 9331 §4), as in `tcp_prague.c` of
//! L4STeam/linux (version 0.7). Prague controls a window, or a rate if the window has at most four segments.
//!
//! Differences from this source: the rate is at least the minimum rate also after losses. In window control,
//! the fractional window is at least the minimum window. A mark ends slow start even if the acknowledgment
//! also delivers unmarked segments; in the source, these segments undo the first halving. Without a virtual
//! round trip, this is the Prague of 2020, which has no rate control.

mod hooks;

/// The minimum window, segments (`MIN_CWND_RTT`).
const LEAST_WINDOW: u32 = 2;
/// The number of round trips from the end of slow start until growth does not depend on the round-trip time
/// (`DEFAULT_RTT_TRANSITION`).
const TRANSITION: u32 = 4;

/// The minimum rate, bytes per second (`MINIMUM_RATE`).
const LEAST_RATE: f64 = 12_500.0;
/// `prague_cwnd_transit` packets of `MTU_SYS` bytes: the largest window with rate control.
const BY_RATE_UP_TO: f64 = 4.0 * FULL_PACKET;
const FULL_PACKET: f64 = 1500.0;
/// The approximate length of a second, eighths of a microsecond (`RTT2SEC_SHIFT`).
const SECOND: f64 = (1 << 23) as f64;
/// `RATE_OFFSET`, `OFFSET_UNIT`: the relative swing of the pace.
const SWING: f64 = 4.0 / 128.0;
/// `MIN_CWND_VIRT`: the minimum number of packets in a virtual round trip. At a low rate, packets are
/// shorter.
const LEAST_PACKETS: f64 = 2.0;
/// `HSRTT_SHIFT`: the slow mean of the round-trip time keeps 127/128 of its value.
const SLOW_SHIFT: u32 = 7;

/// The properties of the path.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// 8 times the smoothed round-trip time, microseconds; 0 if unknown.
    smoothed: u64,
    /// The length of a full packet, bytes.
    packet: f64,
    is_in_slow_start: bool,
}

impl Path {
    /// Returns the rate at which `window` segments are sent per round trip, bytes per second
    /// (`prague_frac_cwnd_to_pacing_rate`).
    fn rate(&self, window: f64) -> f64 {
        let round_trips = if self.smoothed > 0 { 8e6 / self.smoothed as f64 } else { 8e6 };
        (round_trips * self.packet * window).max(LEAST_RATE)
    }
}

/// State of Prague. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prague {
    /// `rate_bytes`: the rate, bytes per second.
    rate: f64,
    /// The rate at the last loss.
    rate_at_loss: f64,
    /// `cwnd_mode`: whether the window is small enough for rate control.
    is_small: bool,
    /// `hsrtt_us`: 8 * 128 times the slow mean of the round-trip time.
    slow: u64,
    /// The pace in rate control, bytes per second.
    pace: Option<u64>,
    /// `frac_cwnd`: the window, segments with fractions.
    window: f64,
    /// The fraction of segments that arrive marked; 0 before the first mark.
    alpha: f64,
    has_seen_mark: bool,
    /// Whether a loss is known. The window does not grow until the loss is repaired.
    in_loss: bool,
    /// The window at the last loss.
    window_at_loss: f64,
    /// The number of round trips since slow start.
    rounds: u32,
    /// The offset whose acknowledgment ends the round trip.
    ends: u64,
    /// The number of segments delivered before the round trip.
    delivered: u32,
    /// The number of marked segments delivered before the round trip.
    marked: u32,
    /// The time of the last update of the fraction of marks.
    updated: u64,
    /// The time of the last reduction by marks.
    reduced: u64,
    /// The virtual round-trip time: connections with shorter round-trip times grow as if they had the virtual
    /// one (`prague_rtt_target`).
    virtual_rtt: u64,
}

impl Prague {
    pub(super) fn new(window: f64, virtual_rtt: u64) -> Prague {
        Prague {
            rate: LEAST_RATE,
            rate_at_loss: 0.0,
            is_small: false,
            slow: 0,
            pace: None,
            window,
            alpha: 0.0,
            has_seen_mark: false,
            in_loss: false,
            window_at_loss: 0.0,
            rounds: 0,
            ends: 0,
            delivered: 0,
            marked: 0,
            updated: 0,
            reduced: 0,
            virtual_rtt,
        }
    }
    /// Whether growth does not depend on the round-trip time (`prague_is_rtt_indep`).
    fn is_independent(&self, is_in_slow_start: bool) -> bool {
        !is_in_slow_start && self.rounds >= TRANSITION
    }
    /// Whether the rate is controlled and determines the window.
    fn controls_rate(&self, path: &Path) -> bool {
        self.is_small && self.is_independent(path.is_in_slow_start)
    }
    /// The larger of the smoothed and the virtual round-trip time, eighths of a microsecond
    /// (`prague_virtual_rtt`).
    fn virtual_round_trip(&self, path: &Path) -> f64 {
        path.smoothed.max(self.virtual_rtt << 3) as f64
    }
    /// The window at the controlled rate, segments (`prague_pacing_rate_to_frac_cwnd`).
    fn window_of_rate(&self, path: &Path) -> f64 {
        let slow = self.slow >> SLOW_SHIFT;
        let round_trip = if slow > 0 { slow } else { path.smoothed };
        self.rate * round_trip as f64 / SECOND / path.packet
    }
    /// Starts Prague after the handshake, which may have measured a round-trip time (`prague_init`).
    fn start(&mut self, path: &Path, window: u32) {
        self.slow = path.smoothed << SLOW_SHIFT;
        if path.smoothed > 0 {
            self.rate = path.rate(f64::from(window));
        }
    }
    /// Returns the growth for a window of unmarked segments, in segments, at a smoothed round-trip time of
    /// `smoothed` (`prague_ai_ack_increase`). A flow with half the virtual round-trip time has half the
    /// window and twice the number of round trips, so its growth is a quarter.
    fn increase(&self, smoothed: u64) -> f64 {
        if self.rounds < TRANSITION || smoothed == 0 || smoothed >= self.virtual_rtt {
            return 1.0;
        }
        let part = smoothed as f64 / self.virtual_rtt as f64;
        part * part
    }
    /// Reduces the window or the rate for marks at `now` (`prague_enter_cwr`).
    fn on_marks(&mut self, now: u64, path: &Path) {
        if self.is_independent(path.is_in_slow_start) && now - self.reduced < self.virtual_rtt {
            return;
        }
        self.reduced = now;
        self.shrink_by(self.alpha / 2.0, path);
    }
    /// Reduces the controlled variable, which is the rate or the window, by the fraction `part`. The other
    /// variable follows.
    fn shrink_by(&mut self, part: f64, path: &Path) {
        if self.controls_rate(path) {
            self.rate = (self.rate - self.rate * part).max(LEAST_RATE);
            self.window = self.window_of_rate(path);
        } else {
            self.shrink_to(self.window - self.window * part);
            self.rate = path.rate(self.window);
        }
    }
    /// Sets the window to `window` segments, but at least to the minimum window. Without the minimum, marks
    /// would reduce the window again and again, although the flow cannot send more slowly. The window could
    /// then not grow, because growth is relative to the window.
    fn shrink_to(&mut self, window: f64) {
        self.window = if self.is_small { window } else { window.max(f64::from(LEAST_WINDOW)) };
    }
    /// Halves the window or the rate after a loss or a timeout (`prague_enter_loss`).
    fn on_loss(&mut self, window: u32, path: &Path) {
        (self.window_at_loss, self.rate_at_loss) = (f64::from(window), self.rate);
        self.shrink_by(0.5, path);
        self.in_loss = true;
    }
    /// Restores rate and window after a spurious loss (`prague_cwnd_undo`).
    pub(super) fn undo(&mut self) {
        self.in_loss = false;
        self.rate = self.rate.max(self.rate_at_loss);
        self.window = self.window.max(self.window_at_loss);
    }
    /// Grows the window or the rate for `unmarked` segments outside slow start (`prague_update_cwnd`).
    fn grow(&mut self, unmarked: u32, path: &Path) {
        let unmarked = f64::from(unmarked);
        if self.controls_rate(path) {
            let round_trip = self.virtual_round_trip(path);
            // Each virtual round trip increases the rate by one packet per virtual round trip.
            let increase = unmarked * FULL_PACKET * SECOND / round_trip;
            let packets = libm::ceil(self.rate * round_trip / (path.packet * SECOND));
            self.rate += increase / packets.max(1.0);
            self.window = self.window.max(self.window_of_rate(path));
        } else {
            // The growth is a packet of 1500 bytes, regardless of the current length of packets.
            let packets = if self.virtual_rtt > 0 { FULL_PACKET / path.packet } else { 1.0 };
            self.window += unmarked * packets * self.increase(path.smoothed >> 3) / self.window;
            self.rate = self.rate.max(path.rate(self.window));
        }
    }
    /// Updates the pace at `now`, with `in_flight` segments in the network (`prague_update_pacing_rate`). In
    /// rate control, the pace is above the rate in the first half of a virtual round trip and below the rate
    /// in the second half.
    fn update_pace(&mut self, now: u64, path: &Path, in_flight: u32) {
        self.pace = None;
        if !self.controls_rate(path) {
            self.rate = path.rate(libm::floor(self.window).max(f64::from(in_flight)));
            return;
        }
        let half = self.virtual_round_trip(path) / 16.0;
        let swing = if (now - self.updated) as f64 >= half { 1.0 - SWING } else { 1.0 + SWING };
        self.pace = Some((self.rate * swing) as u64);
    }
    /// Chooses rate or window control for a window of `window` segments (`prague_cong_control`).
    fn choose_control(&mut self, path: &Path, window: u32) {
        if self.virtual_rtt == 0 {
            return;
        }
        self.is_small = self.has_seen_mark && f64::from(window) * path.packet <= BY_RATE_UP_TO;
        if self.is_small {
            self.window = self.window_of_rate(path);
        } else {
            self.rate = path.rate(self.window);
        }
    }
    /// Ends the reaction to a loss after the loss is repaired (`prague_ca_open`).
    pub(super) fn on_open(&mut self) {
        self.in_loss = false;
    }
    /// Returns the packet length at which two packets are sent per virtual round trip, bytes
    /// (`prague_pacing_rate_to_max_mtu`).
    fn packet_of_rate(&self, path: &Path) -> f64 {
        let bytes = if self.controls_rate(path) {
            self.rate * self.virtual_round_trip(path) / SECOND
        } else {
            let round_trip = path.smoothed.max(1) as f64;
            self.window * path.packet * (self.virtual_round_trip(path) / round_trip)
        };
        libm::ceil(bytes / LEAST_PACKETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a thousand round trips in which every segment is marked, the window is the minimum. It grows by
    /// one segment after a window of unmarked segments.
    #[test]
    fn marks_without_end_leave_a_window_that_grows_by_a_segment() {
        let mut prague = Prague { alpha: 1.0, ..Prague::new(40.0, 0) };
        let path = Path { smoothed: 80_000, packet: 1500.0, is_in_slow_start: false };
        for round in 0..1000 {
            prague.on_marks(round * 25_000, &path);
        }
        assert_eq!(prague.window, 2.0);
        prague.window += 2.0 * prague.increase(0) / prague.window;
        assert_eq!(prague.window, 3.0);
        prague.on_loss(3, &path);
        assert_eq!(prague.window, 2.0, "after a loss, too");
    }

    /// By hand: the round-trip time is 10 ms (80,000 eighths of a microsecond), and the virtual round-trip
    /// time 25 ms (200,000). A second counts as 2^23 eighths of a microsecond. At a rate of 200 kB/s, the
    /// window is 200e3 * 80e3 / 2^23 / 1500 = 1.27 segments.
    #[test]
    fn a_small_window_follows_the_rate() {
        let path = Path { smoothed: 80_000, packet: 1500.0, is_in_slow_start: false };
        let mut prague = Prague { rounds: TRANSITION, ..Prague::new(4.0, 25_000) };
        prague.start(&path, 4);
        assert_eq!(prague.rate, 4.0 * 150_000.0);
        prague.choose_control(&path, 4);
        assert!(!prague.is_small, "no mark was seen");
        (prague.has_seen_mark, prague.rate) = (true, 200e3);
        prague.choose_control(&path, 4);
        assert!(prague.is_small && (prague.window - 1.2716).abs() < 1e-4, "{}", prague.window);
        // A virtual round trip has 200e3 * 200e3 / 2^23 / 1500 = 3.2 packets, rounded up to 4. Two segments
        // add 2 * 1500 * 2^23 / 200e3 / 4 = 31457 bytes per second.
        prague.grow(2, &path);
        assert!((prague.rate - 231_457.28).abs() < 0.01, "{}", prague.rate);
        // All segments are marked, so the rate halves once per virtual round trip, down to 100 kb/s.
        prague.alpha = 1.0;
        prague.on_marks(100_000, &path);
        prague.on_marks(124_999, &path);
        assert!((prague.rate - 115_728.64).abs() < 0.01, "{}", prague.rate);
        (1..40).for_each(|round| prague.on_marks(100_000 + round * 25_000, &path));
        assert_eq!(prague.rate, 12_500.0);
        assert!(prague.window < 0.1, "less than a segment");
        // The pace is 3 % above the rate in the first half of 25 ms, then 3 % below it.
        prague.update_pace(12_499, &path, 1);
        assert_eq!(prague.pace, Some(12_890));
        prague.update_pace(12_500, &path, 1);
        assert_eq!(prague.pace, Some(12_109));
    }
}
