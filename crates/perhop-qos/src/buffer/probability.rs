//! [`Probability`]: a fixed-point number from 0 to 1.

/// In 2⁻⁶³.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Probability(pub(super) u64);

impl Probability {
    /// Always.
    pub(super) const ONE: Probability = Probability(1 << 63);

    /// `fraction` of 1, at least 0 and at most 1.
    pub(super) fn of(fraction: f64) -> Probability {
        Probability::ONE.times(fraction)
    }
    /// This `factor` times, which is not negative; 1 at most.
    pub(super) fn times(self, factor: f64) -> Probability {
        // A number that is too large becomes the greatest there is.
        Probability((self.0 as f64 * factor) as u64).min(Probability::ONE)
    }
    /// As a float, for comparisons.
    #[cfg(test)]
    pub(super) fn as_f64(self) -> f64 {
        self.0 as f64 / Probability::ONE.0 as f64
    }
}
