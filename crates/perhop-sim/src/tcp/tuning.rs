//! [`Tuning`]: the receive buffer follows what the application reads in a round trip (dynamic right-sizing,
//! Fisk and Feng 2001; Linux 6.1 `net/ipv4/tcp_input.c`, `tcp_rcv_space_adjust`).

use perhop_qos::units::Time;

/// `tcp_rmem[1]`: the buffer at first, bytes of memory.
const FIRST_BUFFER: u64 = 131_072;
/// Segments that are expected in the first round trip (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// Segments by which the window is more than twice what was read.
const SPARE_SEGMENTS: u64 = 16;
/// Memory of a segment beyond its payload: `MAX_TCP_HEADER`, and `SKB_TRUESIZE` with `struct sk_buff` and
/// `struct skb_shared_info`. It grows in these steps until a segment fits into half of it.
const OVERHEAD: u64 = 320 + 256 + 320;
const STEP: u64 = 128;

/// What was read, and how large the buffer is.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    payload: u64,
    /// Memory that a full segment takes.
    segment: u64,
    /// The buffer, and the largest one (`tcp_rmem[2]`), bytes of memory. Half of it is offered.
    buffer: u64,
    most: u64,
    /// 8 times the round trip as the receiver sees it, microseconds; 0 before it is known.
    round_trip: u64,
    last_echo: Option<u64>,
    /// When the count began, from which offset, and what was read in the last round trip.
    began: Time,
    from: u64,
    read: u64,
}

impl Tuning {
    /// For full segments of `payload` bytes; the largest window to be offered is `window` bytes.
    pub(super) fn new(payload: u64, window: u64) -> Tuning {
        let least = payload + OVERHEAD;
        let steps = (2 * payload).saturating_sub(least).div_ceil(STEP);
        Tuning {
            payload,
            segment: least + steps * STEP,
            buffer: FIRST_BUFFER.min(2 * window),
            most: 2 * window,
            round_trip: 0,
            last_echo: None,
            began: Time::ZERO,
            from: 0,
            read: FIRST_SEGMENTS * payload,
        }
    }
    /// The largest window that is offered for now, bytes. At first a segment is held back
    /// (`tcp_init_buffer_space`).
    pub(super) fn window(&self) -> u64 {
        let window = self.buffer / 2;
        if self.buffer > FIRST_BUFFER {
            window
        } else {
            window.saturating_sub(self.payload).max(2 * self.payload)
        }
    }

    /// A segment of `length` bytes echoes what was sent at `echo` (`tcp_rcv_rtt_measure_ts`).
    pub(super) fn measure(&mut self, now: Time, echo: Time, length: u64) {
        let milliseconds = |time: Time| time.as_picoseconds() / 1_000_000_000;
        let echo = milliseconds(echo);
        if self.last_echo.replace(echo) == Some(echo) || length < self.payload {
            return;
        }
        let sample = milliseconds(now).saturating_sub(echo).max(1) * 1000;
        self.round_trip = if self.round_trip == 0 {
            sample << 3
        } else {
            self.round_trip + sample - (self.round_trip >> 3)
        };
    }
    /// The application has read everything below `offset` at `now` (`tcp_rcv_space_adjust`): once per round
    /// trip the buffer is made to hold twice what was read in it, and more where that grows.
    pub(super) fn adjust(&mut self, now: Time, offset: u64) {
        let elapsed = now.saturating_sub(self.began).as_picoseconds() / 1_000_000;
        if self.round_trip == 0 || elapsed < self.round_trip >> 3 {
            return;
        }
        let read = offset - self.from;
        if read > self.read {
            let window = 2 * read + SPARE_SEGMENTS * self.payload;
            let growth = u128::from(window) * u128::from(read - self.read) / u128::from(self.read);
            let window = window + 2 * growth as u64;
            self.buffer = self.buffer.max((window / self.payload * self.segment).min(self.most));
            self.read = read;
        }
        (self.began, self.from) = (now, offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_milliseconds(ms)
    }

    /// By hand: segments of 1448 bytes take 1448 + 896 = 2344 bytes of memory, and 5 steps of 128 until half
    /// of it holds one: 2984. 65536 - 1448 = 64088 are offered first.
    #[test]
    fn the_buffer_holds_twice_what_was_read() {
        let mut tuning = Tuning::new(1448, 3 << 20);
        assert_eq!((tuning.segment, tuning.window()), (2984, 64_088));
        tuning.adjust(ms(500), 100_000);
        assert_eq!(tuning.window(), 64_088, "no round trip is known");
        tuning.measure(ms(100), ms(0), 1448);
        assert_eq!(tuning.round_trip >> 3, 100_000);
        // 20 segments instead of 10: 2 * 28960 + 16 * 1448 = 81088; it has doubled: 81088 more, twice.
        // 243264 / 1448 = 168 segments of 2984 bytes, and half of that.
        tuning.adjust(ms(600), 28_960);
        assert_eq!(tuning.window(), 168 * 2984 / 2);
        // Nothing within a round trip; no more read: no change.
        tuning.adjust(ms(650), 200_000);
        tuning.adjust(ms(700), 57_920);
        assert_eq!(tuning.window(), 168 * 2984 / 2);
        // Never more than the largest.
        tuning.adjust(ms(800), 50_000_000);
        assert_eq!(tuning.window(), 3 << 20);
    }

    /// An echo counts once, and only with a full segment; later samples count by an eighth.
    #[test]
    fn the_round_trip_is_that_of_echoes() {
        let mut tuning = Tuning::new(1000, 1 << 20);
        tuning.measure(ms(80), ms(0), 999);
        assert_eq!(tuning.round_trip, 0);
        tuning.measure(ms(90), ms(10), 1000);
        tuning.measure(ms(95), ms(10), 1000);
        assert_eq!(tuning.round_trip >> 3, 80_000);
        tuning.measure(ms(260), ms(100), 1000);
        assert_eq!(tuning.round_trip >> 3, 90_000);
    }
}
