//! [`nearest_rank`]: quantiles of delays.

use perhop_qos::units::Time;

/// Returns the `quantile` (0 to 1) of `sorted` delays by the nearest-rank method, seconds; NaN if the list is
/// empty.
pub(crate) fn nearest_rank(sorted: &[Time], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_seconds())
}
