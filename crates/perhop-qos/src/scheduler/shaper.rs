//! [`Shaper`]: delays packets until a token bucket covers them (RFC 2475 §2.3.3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// The shaper of one class, or of a whole port that has only this class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShapeConfig {
    /// The committed rate, bits per second of IP packets.
    pub rate: Rate,
    /// The committed burst Bc, IP bytes.
    pub burst: ByteSize,
    /// The excess burst Be, IP bytes. It is added to the committed burst after a silence (`average`) or in
    /// every interval (`peak`).
    #[serde(default)]
    pub excess: ByteSize,
    /// The effect of the excess burst on the rate.
    #[serde(default)]
    pub form: ShapeForm,
}

/// The effect of the excess burst on the rate of a shaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeForm {
    /// The excess burst does not change the rate. Bc bytes are sent in each interval of Bc / rate.
    #[default]
    Average,
    /// Bc + Be bytes are sent in each interval of Bc / rate, so the rate is rate × (1 + Be / Bc).
    Peak,
}

impl ShapeConfig {
    /// Builds the shaper, with a full bucket.
    ///
    /// # Errors
    /// The rate or the burst is 0 or above 4 GiB, or `peak` has no excess burst.
    pub fn build(&self) -> Result<Shaper, ConfigError> {
        if self.rate.as_bits_per_second() == 0 {
            return Err(ConfigError::new("rate", "a shaper with a rate of 0 sends no packet")
                .help("for example 2Mb/s"));
        }
        let (committed, excess) = (self.burst.as_bytes(), self.excess.as_bytes());
        if committed == 0 {
            return Err(ConfigError::new("burst", "a shaper with a burst of 0 sends no packet")
                .help("at least the longest packet, for example 1500B"));
        }
        if excess > u64::from(u32::MAX) {
            return Err(ConfigError::new(
                "excess",
                format!("an excess burst of {} is too large", self.excess),
            )
            .help("below 4GiB"));
        }
        let factor = match self.form {
            ShapeForm::Average => (1, 1),
            ShapeForm::Peak if excess == 0 => {
                return Err(ConfigError::new(
                    "form",
                    "peak shaping without an excess burst is average shaping",
                )
                .help("write excess, for example as much as burst for twice the rate"));
            }
            ShapeForm::Peak => (committed + excess, committed),
        };
        let depth = ByteSize::from_bytes(committed.saturating_add(excess));
        Ok(Shaper { credit: Some(Credit::new(self.rate, factor, depth)?) })
    }
}

/// A token bucket shaper. A packet may leave as soon as the tokens cover it.
///
/// Tokens arrive continuously. A packet that is longer than the bucket is sent when the bucket is full. The
/// bucket then has a debt, so that the rate is not exceeded.
#[derive(Clone, Debug)]
pub struct Shaper {
    /// The credit. With `None`, packets may leave at any time, unless the scheduler tree pauses them.
    credit: Option<Credit>,
}

impl Shaper {
    /// The shaper without a rate, for packets that only a pause delays.
    pub(super) const UNLIMITED: Shaper = Shaper { credit: None };
    /// Whether the shaper has no rate.
    pub(super) fn is_unlimited(&self) -> bool {
        self.credit.is_none()
    }

    /// The first time, not before `now`, at which a packet of `length` IP bytes may leave.
    pub fn ready_at(&self, now: Time, length: u32) -> Time {
        self.credit.as_ref().map_or(now, |credit| credit.reaches(now, length))
    }
    /// Records that a packet of `length` IP bytes leaves.
    pub fn sent(&mut self, now: Time, length: u32) {
        self.sent_before(now, length, 0);
    }
    /// Records that a packet of `length` IP bytes leaves. Returns whether a packet of `next` bytes may leave
    /// immediately after it.
    #[inline]
    pub(super) fn sent_before(&mut self, now: Time, length: u32, next: u32) -> bool {
        self.credit.as_mut().is_none_or(|credit| credit.spend_before(now, length, next))
    }
}

/// A number of bytes that grows at a rate up to a depth, in exact integers. Unlike the bucket of a meter, a
/// credit can be negative, its rate can be multiplied by a fraction, and it computes the time at which it
/// will cover a packet.
///
/// One bit is `10¹² × divisor` units, and `rate × multiplier` units arrive in a picosecond. The product of a
/// rate and a fraction is therefore exact.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// The units that arrive in a picosecond.
    gain: u128,
    /// The units of a byte.
    byte: u128,
    /// The largest credit, in units.
    depth: i128,
    /// The credit at `updated`, in units.
    level: i128,
    updated: Time,
}

impl Credit {
    /// Creates a full credit of `depth` bytes that grows at `rate × multiplier / divisor`. All arguments must
    /// be above 0.
    pub(super) fn new(
        rate: Rate,
        (multiplier, divisor): (u64, u64),
        depth: ByteSize,
    ) -> Result<Credit, ConfigError> {
        // The product of 2³³ bytes, 2⁴³ and a divisor of 2³² fits in an i128.
        if depth.as_bytes() > 2 * u64::from(u32::MAX) {
            return Err(
                ConfigError::new("burst", format!("a burst of {depth} is too large")).help("below 4GiB")
            );
        }
        let byte = 8 * u128::from(PICOSECONDS_PER_SECOND) * u128::from(divisor);
        let depth = i128::from(depth.as_bytes()) * byte.cast_signed();
        let gain = u128::from(rate.as_bits_per_second()) * u128::from(multiplier);
        Ok(Credit { gain, byte, depth, level: depth, updated: Time::ZERO })
    }
    /// Returns the time at which the credit covers `length` bytes. If the credit never covers them, returns
    /// the time at which it is full.
    pub(super) fn reaches(&self, now: Time, length: u32) -> Time {
        let missing = self.units(length).min(self.depth) - self.level_at(now);
        if missing <= 0 {
            return now;
        }
        let span = missing.unsigned_abs().div_ceil(self.gain);
        now.saturating_add(Time::from_picoseconds(u64::try_from(span).unwrap_or(u64::MAX)))
    }
    /// Spends `length` bytes, even if the credit becomes negative. Returns whether the remaining credit
    /// covers `next` bytes or is full.
    #[inline]
    pub(super) fn spend_before(&mut self, now: Time, length: u32, next: u32) -> bool {
        let (Ok(gain), Ok(byte)) = (u64::try_from(self.gain), u64::try_from(self.byte)) else {
            self.spend(now, length);
            return self.level >= self.units(next).min(self.depth);
        };
        // The same computation in words of 64 bits. They suffice unless a fraction of the rate has a large
        // divisor.
        let earned = u128::from(now.saturating_sub(self.updated).as_picoseconds()) * u128::from(gain);
        let missing = (self.depth - self.level).cast_unsigned();
        let units = |length: u32| (u128::from(length) * u128::from(byte)).cast_signed();
        self.level = self.level + earned.min(missing).cast_signed() - units(length);
        self.updated = now;
        self.level >= units(next).min(self.depth)
    }
    /// Spends `length` bytes, even if the credit becomes negative.
    pub(super) fn spend(&mut self, now: Time, length: u32) {
        self.level = self.level_at(now) - self.units(length);
        self.updated = now;
    }
    /// Spends `length` bytes, even if the credit becomes negative. The debt is limited to the depth, or to
    /// `length` if that is more.
    pub(super) fn spend_within_debt(&mut self, now: Time, length: u32) {
        let floor = -self.depth.max(self.units(length));
        self.spend(now, length);
        self.level = self.level.max(floor);
    }

    fn units(&self, length: u32) -> i128 {
        i128::from(length) * self.byte.cast_signed()
    }
    fn level_at(&self, now: Time) -> i128 {
        let elapsed = u128::from(now.saturating_sub(self.updated).as_picoseconds());
        let missing = (self.depth - self.level).unsigned_abs();
        let gained = match u64::try_from(self.gain) {
            Ok(gain) => Some(elapsed * u128::from(gain)),
            Err(_) => elapsed.checked_mul(self.gain),
        };
        // An increase that overflows exceeds every depth.
        match gained {
            Some(gained) if gained < missing => self.level + gained.cast_signed(),
            _ => self.depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaper(form: ShapeForm, excess: u64) -> Shaper {
        let (rate, burst) = (Rate::from_bits_per_second(8_000_000), ByteSize::from_bytes(1000));
        ShapeConfig { rate, burst, excess: ByteSize::from_bytes(excess), form }.build().unwrap()
    }

    #[test]
    fn the_average_form_sends_the_bursts_at_once_and_then_the_rate() {
        let mut shaper = shaper(ShapeForm::Average, 500);
        assert_eq!(shaper.ready_at(Time::ZERO, 1500), Time::ZERO);
        shaper.sent(Time::ZERO, 1500);
        // 8 Mb/s is one byte per microsecond.
        assert_eq!(shaper.ready_at(Time::ZERO, 1000), Time::from_microseconds(1000));
        assert_eq!(shaper.ready_at(Time::from_microseconds(400), 1000), Time::from_microseconds(1000));
    }

    #[test]
    fn the_peak_form_sends_both_bursts_in_every_interval() {
        let mut shaper = shaper(ShapeForm::Peak, 500);
        shaper.sent(Time::ZERO, 1500);
        assert_eq!(shaper.ready_at(Time::ZERO, 1500), Time::from_microseconds(1000));
    }

    #[test]
    fn a_packet_longer_than_the_bucket_leaves_a_debt() {
        let mut shaper = shaper(ShapeForm::Average, 0);
        assert_eq!(shaper.ready_at(Time::ZERO, 1500), Time::ZERO);
        shaper.sent(Time::ZERO, 1500);
        assert_eq!(shaper.ready_at(Time::ZERO, 1), Time::from_microseconds(501));
    }

    #[test]
    fn a_packet_never_leaves_early_if_the_time_per_byte_is_not_whole() {
        let rate = Rate::from_bits_per_second(1_700_001);
        let shape = ShapeConfig {
            rate,
            burst: ByteSize::from_bytes(7),
            excess: ByteSize::from_bytes(3),
            form: ShapeForm::Peak,
        };
        let mut shaper = shape.build().unwrap();
        shaper.sent(Time::ZERO, 10);
        let ready = shaper.ready_at(Time::ZERO, 9).as_picoseconds();
        // `ready` is the first time at which rate × 10/7 × ready ≥ 72 bits.
        let bits = |ps: u64| u128::from(ps) * 1_700_001 * 10;
        let needed = 72 * 7 * u128::from(PICOSECONDS_PER_SECOND);
        assert!(bits(ready) >= needed && bits(ready - 1) < needed);
    }
}
