//! [`HalfPower`]: powers of one half in integer arithmetic.

/// 2⁻ˣ for x of at least 0, with a relative error of at most 2⁻⁵⁵. The value is identical on every machine.
/// The decay of an average is such a power.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfPower {
    /// 2 to the power of the negative fractional part of x, in units of 2⁻⁶³.
    fraction: u64,
    /// The integer part of x, below 64.
    halvings: u32,
}

impl HalfPower {
    /// The number of bits of the exponent after the binary point.
    const FRACTION_BITS: u32 = 57;
    /// The number of these bits, from the highest on, that select one of [`HalfPower::ROOTS`]. The lower bits
    /// are the argument of [`HalfPower::SERIES`].
    const ROOT_BITS: u32 = 5;
    /// 2^(−1/32) in units of 2⁻⁶⁴, rounded down.
    const ROOT: u64 = 0xfa83_b2db_722a_033a;
    /// ln 2 / 32 in units of 2⁻⁶⁴, rounded down.
    const LN_2_OVER_32: u64 = 0x058b_90bf_be8e_7bcd;
    /// 2^(−n/32) for each n, in units of 2⁻⁶³.
    const ROOTS: [u64; 1 << HalfPower::ROOT_BITS] = {
        let mut roots = [1 << 63; 1 << HalfPower::ROOT_BITS];
        let mut n = 1;
        while n < roots.len() {
            roots[n] = multiply_high(roots[n - 1], HalfPower::ROOT);
            n += 1;
        }
        roots
    };
    /// 1/n! for each n from 0 on, in units of 2⁻⁶³. The omitted terms of the series of e⁻ʸ are below 2⁻⁵⁹,
    /// because y is below ln 2 / 32.
    const SERIES: [u64; 8] = {
        let mut terms = [1 << 63; 8];
        let mut n = 1;
        while n < terms.len() {
            terms[n] = terms[n - 1] / n as u64;
            n += 1;
        }
        terms
    };

    /// Returns 2 to the power of −`exponent`. The exponent must not be negative. From an exponent of 64 on,
    /// the power is 0.
    #[inline]
    pub(super) fn new(exponent: f64) -> HalfPower {
        if exponent >= 64.0 {
            return HalfPower { fraction: 0, halvings: 0 };
        }
        let exponent = (exponent * (1_u64 << HalfPower::FRACTION_BITS) as f64) as i64 as u64;
        let fraction = exponent << (64 - HalfPower::FRACTION_BITS);
        let root = fraction >> (64 - HalfPower::ROOT_BITS);
        // 2^(−t/32) = e^(−t · ln 2 / 32), where t, below 1, is the remainder of the exponent in units of
        // 1/32.
        let power = multiply_high(fraction << HalfPower::ROOT_BITS, HalfPower::LN_2_OVER_32);
        let series = HalfPower::SERIES.iter().rev().fold(0, |sum, term| term - multiply_high(power, sum));
        HalfPower {
            fraction: multiply_high(HalfPower::ROOTS[root as usize], series) << 1,
            halvings: (exponent >> HalfPower::FRACTION_BITS) as u32,
        }
    }
    /// Returns `value`, which must be below 2¹²⁷, times this power, rounded down.
    #[inline]
    pub(super) fn scale(self, value: u128) -> u128 {
        let (high, low) = ((value >> 64) as u64, value as u64);
        let product = u128::from(high << 1) * u128::from(self.fraction)
            + ((u128::from(low) * u128::from(self.fraction)) >> 63);
        // The shift is always below 64. Without this mask, the compiler would generate code for longer
        // shifts.
        product >> (self.halvings % u64::BITS)
    }
}

/// The upper half of the 128-bit product.
#[inline]
pub(super) const fn multiply_high(left: u64, right: u64) -> u64 {
    ((left as u128 * right as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn half_powers_match_the_math_library(exponent in prop_oneof![0.0..1.0f64, 0.0..64.0f64]) {
            let value = 1_u128 << 126;
            let found = HalfPower::new(exponent).scale(value) as f64 / value as f64;
            let expected = libm::exp2(-exponent);
            prop_assert!((found / expected - 1.0).abs() < 4e-16, "2^-{exponent}: {found} for {expected}");
        }
    }

    #[test]
    fn whole_powers_are_exact() {
        for halvings in 0..64 {
            assert_eq!(HalfPower::new(f64::from(halvings)).scale(1 << 126), 1 << (126 - halvings));
        }
        assert_eq!(HalfPower::new(64.0).scale(1 << 126), 0);
        assert_eq!(HalfPower::new(f64::INFINITY).scale(1 << 126), 0);
    }
}
