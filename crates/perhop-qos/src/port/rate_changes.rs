//! [`RateChanges`]: the rates of a wire whose rate changes during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConfigError;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// A change of the rate of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RateChange {
    /// The time of the change, from the start of the run.
    pub at: Time,
    /// The new rate, bits per second. A rate of 0 is an outage. The last change must have a rate above 0.
    pub rate: Rate,
}

/// The rates of a wire over time. The first rate applies from the start. When the rate changes, the packet on
/// the wire continues at the new rate.
#[derive(Clone, Debug)]
pub struct RateChanges {
    steps: Vec<RateChange>,
}

impl RateChanges {
    /// Creates the rates of a wire that starts with `rate` and has these `changes`.
    ///
    /// # Errors
    /// The changes are not in order of time, or the last rate is 0.
    pub fn new(rate: Rate, changes: &[RateChange]) -> Result<RateChanges, ConfigError> {
        let first = RateChange { at: Time::ZERO, rate };
        let mut steps = vec![first];
        for (index, change) in changes.iter().enumerate() {
            let before = steps[index].at;
            if change.at <= before {
                let message = format!("a change at {} must come after the one at {before}", change.at);
                let error = ConfigError::new("at", message).help("list the changes in order of time");
                return Err(error.within(index).within("rate-changes"));
            }
            steps.push(*change);
        }
        if steps[steps.len() - 1].rate.as_bits_per_second() == 0 {
            let error = ConfigError::new("rate", "a rate of 0 after the last change never ends")
                .help("add the change that ends the outage");
            return Err(error.within(changes.len() - 1).within("rate-changes"));
        }
        Ok(RateChanges { steps })
    }

    /// Returns the transmission time of `bytes` bytes whose first bit is sent at `starts`, with the rate
    /// changes during the transmission.
    pub fn time(&self, starts: Time, bytes: u64) -> Time {
        let mut at = starts;
        let mut left = bit_picoseconds(bytes);
        let first = self.steps.partition_point(|step| step.at <= starts).saturating_sub(1);
        for (step, next) in self.steps[first..].iter().zip(&self.steps[first + 1..]) {
            let carried = carries(step.rate, next.at - at);
            if left <= carried {
                return at - starts + lasts(step.rate, left);
            }
            left -= carried;
            at = next.at;
        }
        at - starts + lasts(self.steps[self.steps.len() - 1].rate, left)
    }

    /// Returns the time at which the first bit of `bytes` bytes was sent, if the last bit was sent at
    /// `ended`. This is the inverse of [`time`](RateChanges::time), with an error of at most one picosecond
    /// per rate change in between.
    pub fn began(&self, ended: Time, bytes: u64) -> Time {
        let mut at = ended;
        let mut left = bit_picoseconds(bytes);
        for step in self.steps.iter().rev().filter(|step| step.at < ended) {
            let carried = carries(step.rate, at - step.at);
            if left <= carried {
                return at.saturating_sub(lasts(step.rate, left));
            }
            left -= carried;
            at = step.at;
        }
        Time::ZERO
    }
}

/// The number of bits of `bytes` bytes, multiplied by the picoseconds of a second. The result divided by a
/// rate is a time in picoseconds.
fn bit_picoseconds(bytes: u64) -> u128 {
    8 * u128::from(bytes) * u128::from(PICOSECONDS_PER_SECOND)
}
/// The bits that a wire of `rate` transmits in the time `during`, in the unit of [`bit_picoseconds`].
fn carries(rate: Rate, during: Time) -> u128 {
    u128::from(rate.as_bits_per_second()) * u128::from(during.as_picoseconds())
}
/// The time in which a wire of `rate` transmits `left`, rounded down to picoseconds as in
/// `Rate::transmission_time`. If the rate is 0, `left` must be 0.
fn lasts(rate: Rate, left: u128) -> Time {
    let whole = left.checked_div(rate.as_bits_per_second().into()).unwrap_or(0);
    Time::from_picoseconds(u64::try_from(whole).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABIT: u64 = 1_000_000;

    fn changes(changes: &[(u64, u64)]) -> Vec<RateChange> {
        let change = |&(at, rate): &(u64, u64)| RateChange {
            at: Time::from_microseconds(at),
            rate: Rate::from_bits_per_second(rate),
        };
        changes.iter().map(change).collect()
    }
    fn rates(first: u64, then: &[(u64, u64)]) -> RateChanges {
        RateChanges::new(Rate::from_bits_per_second(first), &changes(then)).unwrap()
    }

    /// A computation by hand: 1500 bytes start at 0. Half of them are sent in 600 µs at 10 Mb/s, and the
    /// other half in 6 ms at 1 Mb/s. In the second case, half of the other half is sent at 10 Mb/s after an
    /// outage of 3 ms.
    #[test]
    fn packets_on_the_wire_continue_at_the_new_rate() {
        let microseconds = Time::from_microseconds;
        let slower = rates(10 * MEGABIT, &[(600, MEGABIT)]);
        assert_eq!(slower.time(Time::ZERO, 1500), microseconds(6600));
        assert_eq!(slower.time(microseconds(600), 1500), microseconds(12_000));
        let outage = rates(10 * MEGABIT, &[(600, 0), (3600, 10 * MEGABIT)]);
        assert_eq!(outage.time(Time::ZERO, 1500), microseconds(4200));
        assert_eq!(outage.time(microseconds(1000), 1500), microseconds(3800));
        assert_eq!(outage.time(microseconds(3600), 1500), microseconds(1200));
    }

    #[test]
    fn a_constant_rate_equals_the_division() {
        let odd = rates(1_700_000, &[(5_000_000, 900_000)]);
        let rate = Rate::from_bits_per_second(1_700_000);
        assert_eq!(odd.time(Time::ZERO, 1052), rate.transmission_time(1052));
        let after = Rate::from_bits_per_second(900_000);
        assert_eq!(odd.time(Time::from_seconds(7), 1052), after.transmission_time(1052));
    }

    #[test]
    fn the_start_follows_from_the_end() {
        let several = rates(10 * MEGABIT, &[(600, 0), (3600, 3 * MEGABIT), (9000, 7 * MEGABIT)]);
        for start in [0, 100, 599, 600, 3600, 8900, 20_000].map(Time::from_microseconds) {
            let found = several.began(start + several.time(start, 1500), 1500);
            // If a transmission starts in an outage, its first bit is sent when the outage ends.
            let first_bit =
                if start == Time::from_microseconds(600) { Time::from_microseconds(3600) } else { start };
            let apart = found.max(first_bit) - found.min(first_bit);
            assert!(apart <= Time::from_picoseconds(4), "{found} for {first_bit}");
        }
    }

    #[test]
    fn changes_are_in_order_and_end_with_a_rate() {
        let refused = |given: &[(u64, u64)]| {
            RateChanges::new(Rate::from_bits_per_second(MEGABIT), &changes(given)).unwrap_err().to_string()
        };
        let message = refused(&[(20, 1), (20, 2)]);
        assert!(message.contains("rate-changes.1.at"), "{message}");
        let message = refused(&[(20, 1), (30, 0)]);
        assert!(message.contains("rate-changes.1.rate"), "{message}");
    }
}
