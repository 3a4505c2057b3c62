//! LEDBAT (RFC 6817): a window that grows while the queueing delay of the path is below a target.
//!
//! Of the options of the standard, perhop uses no slow start, and the minimum of the last four delays as the
//! filter. Losses, marks and timeouts are detected as for all algorithms and halve the window (§2.4.2: at
//! most once per round trip, never below two segments).

mod hooks;

/// RFC 6817 §2.5: TARGET is at most 100 ms; microseconds.
const TARGET: f64 = 100_000.0;
/// RFC 6817 §2.5: GAIN is at most 1, so the window grows at most like Reno.
const GAIN: f64 = 1.0;
/// RFC 6817 §2.5: `ALLOWED_INCREASE` SHOULD be 1, `MIN_CWND` SHOULD be 2; segments.
const ALLOWED_INCREASE: u32 = 1;
const LEAST_WINDOW: f64 = 2.0;
/// RFC 6817 §2.5: `BASE_HISTORY` SHOULD be 10, minutes.
const BASE_HISTORY: usize = 10;
/// `CURRENT_FILTER`: the number of delays in the filter. The standard has no value; `TcpLedbat` of ns-3 and
/// `tcp_ledbat` for Linux use four.
const CURRENT_FILTER: usize = 4;
/// A minute, microseconds.
const MINUTE: u64 = 60_000_000;

/// The one-way delays of the path, and the window. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledbat {
    /// The window, segments with fractions.
    window: f64,
    /// The minimum delay of each of the last minutes.
    base: [u64; BASE_HISTORY],
    /// The number of the current minute.
    minute: u64,
    /// The last delays.
    current: [u64; CURRENT_FILTER],
    /// The index in `current` at which the next delay is stored.
    next: usize,
}

impl Default for Ledbat {
    fn default() -> Ledbat {
        Ledbat {
            window: 0.0,
            base: [u64::MAX; BASE_HISTORY],
            minute: 0,
            current: [u64::MAX; CURRENT_FILTER],
            next: 0,
        }
    }
}

impl Ledbat {
    /// Adds a `delay` that was measured at `now` (RFC 6817 §2.4.2, `update_base_delay` and
    /// `update_current_delay`).
    fn add(&mut self, now: u64, delay: u64) {
        let minute = now / MINUTE;
        if minute != self.minute {
            self.minute = minute;
            self.base.rotate_left(1);
            self.base[BASE_HISTORY - 1] = u64::MAX;
        }
        let last = &mut self.base[BASE_HISTORY - 1];
        *last = delay.min(*last);
        self.current[self.next] = delay;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }
    /// Returns the queueing delay: `FILTER(current_delays)` - `MIN(base_delays)`.
    fn queueing_delay(&self) -> u64 {
        let least = |delays: &[u64]| delays.iter().copied().min().unwrap_or(0);
        // The last delays can be older than all minutes of the base, and therefore lower.
        least(&self.current).saturating_sub(least(&self.base))
    }
    /// Adapts the window after an acknowledgment of `delivered` segments (RFC 6817 §2.4.2). `flight` segments
    /// were in the network.
    fn adapt(&mut self, delivered: u32, flight: u32) {
        let off_target = (TARGET - self.queueing_delay() as f64) / TARGET;
        self.window += GAIN * off_target * f64::from(delivered) / self.window;
        self.window = self.window.min(f64::from(flight + ALLOWED_INCREASE)).max(LEAST_WINDOW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, for a window of 10 segments and 5 delivered segments: 10 + 0.5 · 5 / 10 at 50 ms of queueing
    /// delay, and 10 - 1 · 5 / 10 at 200 ms.
    #[test]
    fn the_window_follows_the_distance_from_the_target() {
        let mut ledbat = Ledbat { window: 10.0, ..Ledbat::default() };
        ledbat.add(0, 30_000);
        (0..4).for_each(|_| ledbat.add(1, 80_000));
        assert_eq!(ledbat.queueing_delay(), 50_000);
        ledbat.adapt(5, 20);
        assert_eq!(ledbat.window, 10.25);
        ledbat.window = 10.0;
        (0..4).for_each(|_| ledbat.add(2, 230_000));
        ledbat.adapt(5, 20);
        assert_eq!(ledbat.window, 9.5);
    }

    /// An unused window does not grow, and the window is at least two segments.
    #[test]
    fn the_window_stays_between_two_segments_and_the_used_window() {
        let mut ledbat = Ledbat { window: 10.0, ..Ledbat::default() };
        ledbat.add(0, 30_000);
        ledbat.adapt(1, 4);
        assert_eq!(ledbat.window, 5.0);
        (0..4).for_each(|_| ledbat.add(2, 900_000));
        ledbat.adapt(5, 20);
        assert_eq!(ledbat.window, 2.0);
    }

    /// The delay of one packet that did not wait in a queue is the base, which is valid for ten minutes.
    #[test]
    fn the_base_is_the_least_delay_of_ten_minutes() {
        let mut ledbat = Ledbat::default();
        ledbat.add(0, 10_000);
        for minute in 0..10 {
            (0..4).for_each(|_| ledbat.add(minute * MINUTE + 1, 30_000));
            assert_eq!(ledbat.queueing_delay(), 20_000, "minute {minute}");
        }
        (0..4).for_each(|_| ledbat.add(10 * MINUTE, 30_000));
        assert_eq!(ledbat.queueing_delay(), 0);
    }
}
