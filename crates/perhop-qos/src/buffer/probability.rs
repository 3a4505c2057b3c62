//! [`Probability`]: a fraction of two whole numbers.

/// `part` of `whole`, so that nothing needs to be divided or rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probability {
    /// From 0 to the whole.
    pub(super) part: u64,
    /// 1 to 2⁶².
    pub(super) whole: u64,
}

impl Probability {
    /// This `factor` times, which is not negative; 1 at most.
    pub(super) fn times(self, factor: f64) -> Probability {
        // A number that is too large becomes the greatest there is.
        let part = ((self.part as f64 * factor) as u64).min(self.whole);
        Probability { part, ..self }
    }
    /// As a float, for comparisons.
    #[cfg(test)]
    pub(super) fn as_f64(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
}
