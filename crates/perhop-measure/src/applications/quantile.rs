//! [`nearest_rank`]: quantiles of delays.

use perhop_qos::units::Time;

/// The value at `quantile` (0 to 1) of `sorted`, by nearest rank, in seconds; NaN without any.
pub(crate) fn nearest_rank(sorted: &[Time], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_seconds())
}
