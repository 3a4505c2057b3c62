//! [`Estimator`]: determines whether a class has used up its allotment.

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The number of fractional bits of a time in picoseconds.
const FRACTION_BITS: u32 = 20;
/// The divisor for a new value of the average, whose weight is 1/16. This is `POWEROFTWO` of ns-2, whose
/// logarithm is 4. (`RM_FILTER_GAIN` of ALTQ and the ewma of `sch_cbq` in Linux are 5, for 1/32.)
const FILTER: i64 = 16;
/// The number g in the formula of [`burst_idle`]: 1 − 1/16.
const GAIN: f64 = 15.0 / 16.0;

/// The estimator of Floyd and Jacobson 1995, appendix A.
///
/// A packet of s bytes should end s / allotment after the end of the previous packet. Its *idle* time is the
/// time by which it ends later than that. The estimator computes an exponential average of the idle times.
/// The class is within its allotment while the average is above 0. Otherwise it must wait until the average
/// would have risen to 0.
///
/// Times are in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    /// The time of a byte at the rate of the allotment, in steps of 2⁻²⁰ ps.
    byte: u128,
    /// The largest value of `average`, 16 times `maxidle`.
    most_idle: i64,
    /// The additional wait of a refused class.
    extra_delay: i64,
    /// The time at which the last packet of the class ended.
    last_end: i64,
    /// The average of the idle times, multiplied by 16 so that no digit is lost.
    average: i64,
    /// The `undertime`, at which the class is within its allotment again.
    until: i64,
    /// Whether the class has been refused since it was last within its allotment.
    was_refused: bool,
}

/// The time of a byte at the fraction `fraction` of `rate`, in steps of 2⁻²⁰ ps.
pub(super) fn byte_at(rate: Rate, fraction: f64) -> u128 {
    let steps = f64::from(8 << FRACTION_BITS) * PICOSECONDS_PER_SECOND as f64;
    libm::round(steps / (rate.as_bits_per_second() as f64 * fraction)) as u128
}

/// The time of `length` bytes, picoseconds.
pub(super) fn span(byte: u128, length: u32) -> i64 {
    i64::try_from((u128::from(length) * byte) >> FRACTION_BITS).unwrap_or(i64::MAX / 4)
}

/// The picoseconds of `time`. A time that means "never" is limited to a value after all events.
pub(super) fn picoseconds(time: Time) -> i64 {
    i64::try_from(time.as_picoseconds()).unwrap_or(i64::MAX)
}

/// The limit of the average idle time that allows a class to send a burst of `packets` packets after a
/// silence. The transmission of each packet takes `takes`. The formula is t (1/f − 1) (1 − gⁿ) / gⁿ, but at
/// least t (1 − g), as in ns-2 (`automaxidle`) and S. Floyd, "Notes on CBQ and Guaranteed Service", 1995.
pub(super) fn burst_idle(takes: Time, fraction: f64, packets: u32) -> Time {
    let power = libm::pow(GAIN, f64::from(packets));
    let times = ((1.0 / fraction - 1.0) * (1.0 - power) / power).max(1.0 - GAIN);
    Time::from_seconds_f64(takes.as_seconds() * times)
}

impl Estimator {
    pub(super) fn new(byte: u128, max_idle: Time, extra_delay: Time) -> Estimator {
        Estimator {
            byte,
            most_idle: picoseconds(max_idle).saturating_mul(FILTER),
            extra_delay: picoseconds(extra_delay),
            last_end: 0,
            average: 0,
            until: 0,
            was_refused: false,
        }
    }

    /// Records that a packet of `length` bytes was sent. It ends at `end`, and its transmission takes
    /// `takes`.
    pub(super) fn sent(&mut self, end: i64, takes: i64, length: u32) {
        let due = span(self.byte, length);
        let idle = (end - self.last_end).saturating_sub(due);
        let average = self.average.saturating_add(idle) - self.average.div_euclid(FILTER);
        self.average = average.min(self.most_idle);
        self.last_end = end;
        if self.average <= 0 {
            // The class must wait until its allotment covers the packet and the average is 0 again.
            self.until = end.saturating_add(due - takes).saturating_add(self.debt());
        }
    }

    /// Returns the wait until a negative average has risen to 0: 15 times its absolute value.
    fn debt(&self) -> i64 {
        -(self.average / FILTER).saturating_mul(FILTER - 1)
    }

    /// Whether the class is within its allotment at `now`.
    pub(super) fn is_within(&self, now: i64) -> bool {
        self.until <= now
    }
    /// The time at which the class is [within](Estimator::is_within) its allotment again.
    pub(super) fn until(&self) -> i64 {
        self.until
    }

    /// Records that the class wants to send at `now` but may not. The class must then wait for the regular
    /// time after its last packet and for the extra delay.
    pub(super) fn refuse(&mut self, now: i64) {
        let until = self.refused_until(now);
        self.was_refused |= until != self.until;
        self.until = until;
    }
    /// The time at which the class would be within its allotment again, if it were
    /// [refused](Estimator::refuse) at `now`.
    pub(super) fn refused_until(&self, now: i64) -> i64 {
        if self.was_refused || self.until.saturating_add(self.extra_delay) <= now {
            return self.until;
        }
        self.until.saturating_add(self.extra_delay - self.debt())
    }
    /// Records that the class sends a packet because it is within its allotment.
    pub(super) fn admit(&mut self) {
        self.was_refused = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000_000;

    /// An estimator for a quarter of a wire on which a byte is sent in 1 us.
    fn quarter(max_idle: Time, extra_delay: Time) -> Estimator {
        Estimator::new(byte_at(Rate::from_bits_per_second(8_000_000), 0.25), max_idle, extra_delay)
    }

    #[test]
    fn after_an_early_packet_the_class_waits_for_its_average_and_its_packet() {
        let mut class = quarter(Time::ZERO, Time::ZERO);
        class.sent(1000 * US, 100 * US, 100);
        // The packet ended 600 us late. `max_idle` is too small to store this idle time.
        assert_eq!((class.average, class.until), (0, (1000 + 300) * US));
        class.sent(1100 * US, 100 * US, 100);
        // The packet is 300 us early, so the average is -300/16 us. The class must wait 15 times this amount,
        // and 300 us for the packet.
        assert_eq!((class.average, class.until), (-300 * US, 1100 * US + 300 * US + 281_250_000));
        assert!(!class.is_within(1681 * US) && class.is_within(1682 * US));
    }

    #[test]
    fn a_refused_class_waits_for_its_packet_and_the_extra_delay() {
        let mut class = quarter(Time::ZERO, Time::from_microseconds(50));
        class.sent(1000 * US, 100 * US, 100);
        class.sent(1100 * US, 100 * US, 100);
        class.refuse(1100 * US);
        class.refuse(1150 * US);
        assert_eq!(class.until(), (1100 + 300 + 50) * US);
    }

    #[test]
    fn idle_credit_is_limited_by_the_greatest_idle_time() {
        let mut class = quarter(Time::from_microseconds(100), Time::ZERO);
        class.sent(1_000_000 * US, 100 * US, 100);
        assert_eq!((class.average, class.until), (1600 * US, 0));
        // Each back-to-back packet reduces the value by one sixteenth and then by 300 us: 1600, 1200, 825,
        // 473.4, 143.8.
        for packet in 1..=4 {
            class.sent((1_000_000 + 100 * packet) * US, 100 * US, 100);
            assert!(class.is_within(0), "packet {packet} leaves {}", class.average);
        }
        class.sent(1_000_500 * US, 100 * US, 100);
        assert!(!class.is_within(1_000_500 * US));
    }

    #[test]
    fn the_burst_of_the_formula_is_sent() {
        // ns-2: g = 0.9375, n = 8, f = 0.25: 3 (1 - g^8) / g^8 = 2.0279 packets of 100 us.
        let idle = burst_idle(Time::from_microseconds(100), 0.25, 8);
        assert_eq!(idle.as_picoseconds() / 1_000_000, 202);
        // A class with the whole wire cannot store idle time: t (1 - g).
        assert_eq!(burst_idle(Time::from_microseconds(100), 1.0, 8), Time::from_nanoseconds(6250));
        let mut class = quarter(idle, Time::ZERO);
        class.sent(1_000_000 * US, 100 * US, 100);
        let burst = (1..20)
            .take_while(|packet| {
                class.sent((1_000_000 + 100 * packet) * US, 100 * US, 100);
                class.is_within(0)
            })
            .count();
        assert!((7..=9).contains(&burst), "{burst}");
    }
}
