//! [`AdaptiveDelay`]: the times at which Linux's receiver sends acknowledgments (`net/ipv4/tcp_input.c`,
//! `tcp_event_data_recv`, `__tcp_ack_snd_check`; `net/ipv4/tcp_output.c`, `tcp_send_delayed_ack`);
//! [`EstimatedDelay`]: the rules of Linux 2.0 and 2.2.

use perhop_qos::units::Time;
use perhop_scenario::tcp::LONGEST_DELAY;

use super::rtt::Clock;

/// The number of segments that are acknowledged at once, from the first marked segment on
/// (`__tcp_ecn_check_ce`).
const QUICK_AFTER_MARK: u32 = 2;
/// The number of duplicate acknowledgments of the same offset that are sent at once.
const AT_ONCE: u32 = 3;
/// The maximum number of acknowledgments that are compressed into one (`tcp_comp_sack_nr`).
const MOST_COMPRESSED: u32 = 44;
/// The longest delay of a compressed acknowledgment, and the slack of its timer (`tcp_comp_sack_delay_ns`,
/// `tcp_comp_sack_slack_ns`).
const COMPRESSED_FOR: Time = Time::from_milliseconds(1);
const COMPRESSION_SLACK: Time = Time::from_microseconds(100);

/// Linux 2.0 and 2.2, HZ/50: the longest delay after a short segment, which probably ends a message.
const DELAY_AFTER_SHORT: Time = Time::from_milliseconds(20);

/// The delay of acknowledgments as Linux 2.0 and 2.2 estimate it, in ticks.
#[derive(Clone, Debug)]
pub(super) struct EstimatedDelay {
    clock: Clock,
    last_arrival: Option<u64>,
    estimate: u64,
}

impl EstimatedDelay {
    pub(super) fn new(clock: Clock, first: Time) -> EstimatedDelay {
        EstimatedDelay { clock, last_arrival: None, estimate: clock.ticks_in(first).max(1) }
    }
    /// Returns the time at which the timer expires after the arrival of a segment of `length` bytes at `now`.
    /// A full segment has `payload` bytes.
    #[inline(never)]
    pub(super) fn expiry(&mut self, now: Time, length: u32, payload: u64) -> Time {
        let arrival = self.clock.ticks_at(now);
        if let Some(last) = self.last_arrival.replace(arrival) {
            // Linux 2.0 and 2.2 net/ipv4/tcp_input.c, tcp_delack_estimator: `ato = ato/2 + gap`.
            self.estimate = self.estimate / 2 + (arrival - last).max(1);
        }
        // tcp_send_delayed_ack, and the delay of HZ/50 after a segment with PSH. The simulator has no PSH, so
        // a segment of less than half the maximum size counts as a segment with PSH.
        let short = 2 * u64::from(length) < payload;
        let most = if short { DELAY_AFTER_SHORT } else { LONGEST_DELAY };
        self.clock.instant(arrival + self.estimate.min(self.clock.ticks_in(most).max(1)))
    }
}

/// The time at which an acknowledgment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    /// At this time, unless another acknowledgment is due earlier.
    At(Time),
}

/// The state of delayed, quick and compressed acknowledgments. Times are in ticks.
#[derive(Clone, Debug)]
pub(super) struct AdaptiveDelay {
    clock: Clock,
    least: u64,
    most: u64,
    /// `ato`: the estimate of the delay.
    estimate: u64,
    /// The number of acknowledgments that a new or resumed connection sends at once.
    burst: u32,
    /// The number of acknowledgments that the connection still sends at once.
    quick: u32,
    /// `ICSK_ACK_SCHED`: whether data that must be acknowledged have arrived.
    is_scheduled: bool,
    last_arrival: Option<u64>,
    /// The largest segment that arrived, bytes.
    largest: u64,
    /// The retransmission timeout of this host's sender.
    timeout: u64,
    /// The smoothed round-trip time of this host's sender.
    round_trip: Option<Time>,
    /// `pingpong`: whether data are sent as answers, so that they can carry acknowledgments.
    is_interactive: bool,
    compresses: bool,
    /// The value of RCV.NXT for which duplicate acknowledgments are counted.
    place: u64,
    /// The number of duplicate acknowledgments that were sent while RCV.NXT is `place`.
    duplicates: u32,
    /// The number of duplicate acknowledgments that wait to be sent as one.
    compressed: u32,
    /// The upper limit of the offered window, bytes.
    largest_window: u64,
}

/// The minimum payload of a segment that grows the window, bytes.
const LEAST_FOR_GROWTH: u32 = 128;

impl AdaptiveDelay {
    pub(super) fn new(clock: Clock, least: Time, most: Time, quick: u32, compresses: bool) -> AdaptiveDelay {
        let least = clock.ticks_in(least).max(1);
        AdaptiveDelay {
            clock,
            least,
            most: clock.ticks_in(most).max(1),
            estimate: least,
            burst: quick,
            quick,
            is_scheduled: false,
            last_arrival: None,
            largest: 0,
            timeout: u64::MAX,
            round_trip: None,
            is_interactive: false,
            compresses,
            place: 0,
            duplicates: 0,
            compressed: 0,
            largest_window: 0,
        }
    }
    pub(super) fn growing_to(self, largest_window: u64) -> AdaptiveDelay {
        AdaptiveDelay { largest_window, ..self }
    }
    /// Sets the upper limit of the window.
    pub(super) fn grow_to(&mut self, largest_window: u64) {
        self.largest_window = largest_window;
    }
    /// Returns the offered window after a segment of `length` bytes (`tcp_grow_window`): `window` plus two
    /// segments of `payload` bytes, up to the limit. If the window grows, the next acknowledgment is sent at
    /// once.
    pub(super) fn grow(&mut self, window: u64, length: u32, payload: u64) -> u64 {
        if window >= self.largest_window || length < LEAST_FOR_GROWTH {
            return window;
        }
        self.quick |= 1;
        (window + 2 * payload).min(self.largest_window)
    }
    /// Sets the timeout and the smoothed round-trip time of this host's sender.
    pub(super) fn learn(&mut self, timeout: Time, round_trip: Option<Time>) {
        self.timeout = self.clock.ticks_in(timeout);
        self.round_trip = round_trip;
    }

    /// Records that a segment of `length` bytes arrived in order. The estimate follows the gaps between
    /// segments.
    pub(super) fn on_arrival(&mut self, now: Time, length: u32) {
        let arrival = self.clock.ticks_at(now);
        self.is_scheduled = true;
        self.largest = self.largest.max(u64::from(length));
        let Some(last) = self.last_arrival.replace(arrival) else { return };
        let gap = arrival - last;
        if gap <= self.least / 2 {
            self.estimate = self.estimate / 2 + self.least / 2;
        } else if gap < self.estimate {
            self.estimate = (self.estimate / 2 + gap).min(self.timeout);
        } else if gap > self.timeout {
            // The sender was idle and is in slow start again.
            self.quick = self.quick.max(self.burst);
        }
    }
    /// Records that old data arrived again, because an acknowledgment was lost. If the data end below the
    /// last sent acknowledgment (`is_acknowledged`), the receiver rejects them as out of the window
    /// (`tcp_send_dupack`), and no delayed acknowledgment is due.
    pub(super) fn on_old_data(&mut self, is_acknowledged: bool) {
        self.quick = self.quick.max(self.burst);
        self.is_interactive = false;
        self.estimate = self.least;
        self.is_scheduled |= !is_acknowledged;
    }
    /// Records the first marked packet (`tcp_enter_quickack_mode`).
    pub(super) fn on_first_mark(&mut self) {
        self.quick = self.quick.max(QUICK_AFTER_MARK);
        self.is_interactive = false;
        self.estimate = self.least;
    }
    /// Records that data arrived out of order.
    pub(super) fn on_overtaking_data(&mut self) {
        self.is_scheduled = true;
    }
    /// Records that data are sent at `now`. They count as an answer if data from the peer arrived less than
    /// the estimated delay ago.
    pub(super) fn on_data_sent(&mut self, now: Time) {
        let now = self.clock.ticks_at(now);
        self.is_interactive |= self.last_arrival.is_some_and(|last| now - last < self.estimate);
    }

    /// Returns the time of the acknowledgment of data that arrived in order. `unacknowledged` is the number
    /// of bytes that await acknowledgment. `pending` is the time at which an acknowledgment is already due.
    pub(super) fn in_order(&mut self, now: Time, unacknowledged: u64, pending: Time) -> When {
        if unacknowledged > self.largest || self.is_quick() {
            return When::Now;
        }
        let arrival = self.clock.ticks_at(now);
        let mut delay = self.estimate;
        if delay > self.least {
            let round_trip = self.round_trip.map_or(u64::MAX, |time| self.clock.ticks_in(time));
            delay = delay.min(round_trip.max(self.least));
        }
        delay = delay.min(self.most);
        // A timer does not expire before its tick is over.
        let expires = self.clock.instant(arrival + delay + 1);
        if pending <= self.clock.instant(arrival + delay / 4 + 1) { When::Now } else { When::At(expires) }
    }
    /// Returns the time of the acknowledgment of data that arrived out of order while RCV.NXT is `next`.
    /// `pending` is the time at which an acknowledgment is already due.
    pub(super) fn out_of_order(&mut self, now: Time, next: u64, unacknowledged: u64, pending: Time) -> When {
        if unacknowledged > self.largest || self.is_quick() || !self.compresses {
            return When::Now;
        }
        if pending == Time::MAX {
            self.compressed = 0;
        }
        if self.place != next {
            (self.place, self.duplicates) = (next, 0);
        }
        if self.compressed >= MOST_COMPRESSED {
            return When::Now;
        }
        if self.duplicates < AT_ONCE {
            self.duplicates += 1;
            return When::Now;
        }
        self.compressed += 1;
        if self.compressed > 1 {
            return When::At(pending);
        }
        let part =
            self.round_trip.map_or(COMPRESSED_FOR, |time| Time::from_picoseconds(time.as_picoseconds() / 20));
        When::At(now + part.min(COMPRESSED_FOR) + COMPRESSION_SLACK)
    }
    /// Records that data filled a gap up to `next`. This is acknowledged at once.
    pub(super) fn gap_moved(&mut self, next: u64) {
        (self.place, self.duplicates) = (next, 1);
    }
    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.is_interactive
    }
    /// Records that a segment with an acknowledgment is sent. If the segment acknowledges new data, it counts
    /// as a quick acknowledgment (`tcp_dec_quickack_mode`, with the count of Linux 6.6 and the stable trees).
    pub(super) fn on_acknowledged(&mut self) {
        if std::mem::take(&mut self.is_scheduled) && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.estimate = self.least;
            }
        }
    }

    /// Handles the expired timer.
    pub(super) fn on_timer(&mut self) {
        if std::mem::take(&mut self.compressed) > 0 {
            return;
        }
        if std::mem::take(&mut self.is_interactive) {
            self.estimate = self.least;
        } else {
            self.estimate = (self.estimate * 2).min(self.timeout);
        }
    }
}
