//! [`Tuning`]: the automatic size of the receive buffer, by the amount of data that the application reads in
//! a round trip (dynamic right-sizing, Fisk and Feng 2001; Linux 6.1 `net/ipv4/tcp_input.c`,
//! `tcp_rcv_space_adjust`).

use perhop_qos::units::Time;

/// `tcp_rmem[1]`: the initial buffer, bytes of memory.
const FIRST_BUFFER: u64 = 131_072;
/// The number of segments that are expected in the first round trip (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// The number of segments that the window has in addition to twice the data read.
const SPARE_SEGMENTS: u64 = 16;
/// The memory of a segment in addition to its payload, bytes: `MAX_TCP_HEADER`, and `SKB_TRUESIZE` with
/// `struct sk_buff` and `struct skb_shared_info`.
const OVERHEAD: u64 = 320 + 256 + 320;
/// The step by which the memory of a segment grows until half of it has room for the payload, bytes.
const STEP: u64 = 128;

/// The amount of data that the application reads, and the size of the buffer.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    payload: u64,
    /// The memory of a full segment, bytes.
    segment: u64,
    /// The buffer, bytes of memory. Half of it is offered.
    buffer: u64,
    /// The maximum of the buffer, bytes of memory (`tcp_rmem[2]`).
    most: u64,
    /// 8 times the round-trip time that the receiver has measured, microseconds; 0 before the first sample.
    round_trip: u64,
    last_echo: Option<u64>,
    /// The time at which the current round trip began.
    began: Time,
    /// The offset of the stream at which the current round trip began.
    from: u64,
    /// The largest number of bytes that the application has read in a round trip.
    read: u64,
}

impl Tuning {
    /// Creates the tuning for full segments of `payload` bytes. The maximum offered window is `window` bytes.
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
    /// The maximum window that is offered now, bytes. Initially a segment is subtracted
    /// (`tcp_init_buffer_space`).
    pub(super) fn window(&self) -> u64 {
        let window = self.buffer / 2;
        if self.buffer > FIRST_BUFFER {
            window
        } else {
            window.saturating_sub(self.payload).max(2 * self.payload)
        }
    }

    /// Processes the round-trip sample of a segment of `length` bytes that echoes a segment sent at `echo`
    /// (`tcp_rcv_rtt_measure_ts`).
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
    /// Adjusts the buffer when the application has read everything below `offset` (`tcp_rcv_space_adjust`).
    /// Once per round trip, the buffer grows to twice the data that were read in the round trip, plus a
    /// reserve in proportion to the growth of this amount.
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

    /// By hand: segments of 1448 bytes take 1448 + 896 = 2344 bytes of memory. With 5 more steps of 128
    /// bytes, half of the memory has room for a segment: 2984. The first offer is 65536 - 1448 = 64088.
    #[test]
    fn the_buffer_is_twice_the_bytes_read() {
        let mut tuning = Tuning::new(1448, 3 << 20);
        assert_eq!((tuning.segment, tuning.window()), (2984, 64_088));
        tuning.adjust(ms(500), 100_000);
        assert_eq!(tuning.window(), 64_088, "no round trip is known");
        tuning.measure(ms(100), ms(0), 1448);
        assert_eq!(tuning.round_trip >> 3, 100_000);
        // The application reads 20 segments instead of 10: 2 * 28960 + 16 * 1448 = 81088. The amount has
        // doubled, which adds 81088 twice. The buffer has 243264 / 1448 = 168 segments of 2984 bytes, and
        // half of it is offered.
        tuning.adjust(ms(600), 28_960);
        assert_eq!(tuning.window(), 168 * 2984 / 2);
        // The buffer does not change within a round trip, or if the application reads no more than before.
        tuning.adjust(ms(650), 200_000);
        tuning.adjust(ms(700), 57_920);
        assert_eq!(tuning.window(), 168 * 2984 / 2);
        // The buffer never exceeds the maximum.
        tuning.adjust(ms(800), 50_000_000);
        assert_eq!(tuning.window(), 3 << 20);
    }

    /// An echo counts only once, and only if its segment is full. Later samples have the weight of an eighth.
    #[test]
    fn the_round_trip_follows_echoed_timestamps() {
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
