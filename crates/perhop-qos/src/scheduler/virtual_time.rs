//! The arithmetic of virtual times.
//!
//! A virtual time counts the bytes that the whole server sends, in steps of 2⁻³² byte. A class that has the
//! fraction φ of all weights is charged length / φ. Integers of 128 bits never overflow: 213 days at 400 Gb/s
//! are less than 2⁶⁰ bytes, which are 2¹¹⁶ steps at the smallest weight. The other 12 bits have room for the
//! number of a child. Tags are therefore never renormalized, and their error does not grow with time. The
//! relative error of a weight is at most 2⁻²⁴ (2⁻⁴⁷ for a class with half of the sum). It is the same for all
//! packets.

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// A virtual time, or the difference of two virtual times, in steps of 2⁻³² byte.
pub(super) type Virtual = u128;

/// The number of fractional bits of a [`Virtual`].
const FRACTION_BITS: u32 = 32;
/// The number of fractional bits of a weight: weights are fractions of their sum, in steps of 2⁻⁴⁸.
const PART_BITS: u32 = 48;
/// The smallest fraction of the sum of weights, 2⁻²⁴.
const SMALLEST_PART: u64 = 1 << (PART_BITS - 24);

/// The weight of a class as a fraction of the sum of all weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    /// The fraction, in steps of 2⁻⁴⁸.
    pub(super) part: u64,
    /// The steps of virtual time for each byte that is sent: 2³² divided by the fraction, at most 2⁵⁶.
    inverse: u64,
}

impl Weight {
    /// Returns the weight of a class with the fraction `part` (above 0 and at most 1) of the sum of weights,
    /// or `None` if the fraction is too small to be represented.
    pub(super) fn part(part: f64) -> Option<Weight> {
        let part = libm::round(part * (1u64 << PART_BITS) as f64) as u64;
        let inverse = (1u128 << (FRACTION_BITS + PART_BITS)) / u128::from(part.max(1));
        (part >= SMALLEST_PART).then_some(Weight { part, inverse: inverse as u64 })
    }
    /// The virtual time of `length` bytes: length / φ.
    pub(super) fn span(self, length: u32) -> Virtual {
        u128::from(length) * u128::from(self.inverse)
    }
}

/// The virtual time that passes while classes with the fraction `parts` of the sum of weights receive the
/// service `work`, which must be below 2⁴⁸ bytes.
pub(super) fn shared_among(parts: u64, work: Virtual) -> Virtual {
    (work << PART_BITS) / u128::from(parts)
}

/// The service during which the virtual time `span` passes: the inverse of [`shared_among`], rounded up.
pub(super) fn work_of(parts: u64, span: Virtual) -> Virtual {
    (span * u128::from(parts)).div_ceil(1 << PART_BITS)
}

/// The service of a scheduler: the packets that have been sent, and the part of the current packet that the
/// wire has sent at its rate.
///
/// This service is the clock of virtual times (Bennett & Zhang 1997 on hierarchies: the reference time of a
/// server is the service that it has provided). On a raw wire, the clock runs exactly at the rate while the
/// port is busy. A wire whose framing adds bytes sends IP bytes more slowly than its rate, so the clock stops
/// from the end of each packet until the next packet starts. A clock of seconds would empty the queues of the
/// fluid server long before the real queues. The clock of an inner scheduler stops while other schedulers
/// send.
#[derive(Clone, Debug)]
pub(super) struct ServiceClock {
    rate: Rate,
    /// The service up to the start of the current packet.
    before: Virtual,
    /// The bytes of the current packet.
    current: u32,
    /// The time at which the transmission of the current packet started.
    since: Time,
}

/// A byte in the unit of `rate × elapsed`: bits per second times picoseconds.
const BYTE: u128 = 8 * PICOSECONDS_PER_SECOND as u128;

impl ServiceClock {
    pub(super) fn new(rate: Rate) -> ServiceClock {
        ServiceClock { rate, before: 0, current: 0, since: Time::ZERO }
    }
    /// Records that the service of a packet of `length` bytes begins.
    pub(super) fn start(&mut self, now: Time, length: u32) {
        self.before += u128::from(self.current) << FRACTION_BITS;
        (self.current, self.since) = (length, now);
    }
    /// The service up to `now`.
    pub(super) fn served(&self, now: Time) -> Virtual {
        let sent = self.sent(now);
        let current = u128::from(self.current);
        let part =
            if sent >= current * BYTE { current << FRACTION_BITS } else { (sent << FRACTION_BITS) / BYTE };
        self.before + part
    }
    /// Whether no packet is being served.
    pub(super) fn is_idle(&self, now: Time) -> bool {
        self.sent(now) >= u128::from(self.current) * BYTE
    }
    /// Returns the service that the wire can have provided at most since the current packet started, in the
    /// unit of [`BYTE`].
    fn sent(&self, now: Time) -> u128 {
        let elapsed = now.saturating_sub(self.since);
        u128::from(elapsed.as_picoseconds()) * u128::from(self.rate.as_bits_per_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_with_a_quarter_of_the_weight_is_charged_four_times_its_bytes() {
        let quarter = Weight::part(0.25).unwrap();
        assert_eq!(quarter.span(1500), 6000 << FRACTION_BITS);
        assert!(Weight::part(1e-8).is_none());
        let work = 700 << FRACTION_BITS;
        assert_eq!(shared_among(quarter.part, work), work * 4);
        assert_eq!(work_of(quarter.part, work * 4), work);
    }

    #[test]
    fn the_clock_runs_at_the_rate_and_waits_for_the_next_packet() {
        let mut clock = ServiceClock::new(Rate::from_bits_per_second(8_000_000));
        let at = |us| Time::from_microseconds(us);
        assert!(clock.is_idle(at(0)));
        clock.start(at(0), 100);
        assert_eq!(clock.served(at(25)), 25 << FRACTION_BITS);
        assert!(!clock.is_idle(at(99)));
        assert_eq!(clock.served(at(500)), 100 << FRACTION_BITS);
        clock.start(at(500), 10);
        assert_eq!(clock.served(at(501)), 101 << FRACTION_BITS);
    }
}
