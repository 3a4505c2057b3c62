//! Confidence intervals over replications, and fairness.

/// A mean and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the samples.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns the mean of `samples` and its 95 % confidence interval by Student's t distribution: mean ± t·s/√n
/// with n-1 degrees of freedom. NaN samples were not measured and are ignored. Returns `None` if fewer than
/// two samples remain.
pub fn confidence_95(samples: &[f64]) -> Option<Interval> {
    let measured = || samples.iter().copied().filter(|sample| !sample.is_nan());
    let count = measured().count();
    if count < 2 {
        return None;
    }
    let n = count as f64;
    let mean = measured().sum::<f64>() / n;
    let variance = measured().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / (n - 1.0);
    let half = student_97_5(count - 1) * libm::sqrt(variance / n);
    Some(Interval { mean, low: mean - half, high: mean + half })
}

/// Returns the 99 % confidence interval of the mean of `count` samples, at least two, whose 95 % interval is
/// `[low, high]`.
pub fn widened_to_99([low, high]: [f64; 2], count: usize) -> [f64; 2] {
    let degrees = count.max(2) - 1;
    let (mean, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let wider = half * student_99_5(degrees) / student_97_5(degrees);
    [mean - wider, mean + wider]
}

/// Returns Jain's fairness index of `shares`, (Σx)²/(n·Σx²) (Jain, Chiu and Hawe, DEC-TR-301, 1984). It is 1
/// if all shares are equal, 1/n if all but one are 0, and NaN if the list is empty or all shares are 0.
pub fn fairness(shares: impl IntoIterator<Item = f64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    sum * sum / (count * squares)
}

/// Returns the 97.5 % quantile of Student's t distribution: from a table for 1 to 30 degrees of freedom, by
/// an expansion for more (error below 1e-4).
fn student_97_5(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    TABLE.get(degrees - 1).copied().unwrap_or_else(|| quantile_by_expansion(1.959_963_985, degrees))
}

/// Returns the 99.5 % quantile of Student's t distribution: from a table for 1 to 30 degrees of freedom, by
/// an expansion for more (error below 2e-3).
fn student_99_5(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
        2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763,
        2.756, 2.750,
    ];
    TABLE.get(degrees - 1).copied().unwrap_or_else(|| quantile_by_expansion(2.575_829_304, degrees))
}

/// Returns the quantile of Student's t distribution, computed from the quantile `z` of the normal
/// distribution by the expansion 26.7.5 of Abramowitz & Stegun.
fn quantile_by_expansion(z: f64, degrees: usize) -> f64 {
    let v = degrees as f64;
    let z3 = z * z * z;
    z + (z3 + z) / (4.0 * v) + (5.0 * z3 * z * z + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_textbook_sample() {
        // The 10 samples have mean 5 and s = 2. Their interval is 5 ± 2.262·2/√10.
        let half = libm::sqrt(2.0 * 2.0 * 9.0 / 10.0);
        let samples: Vec<f64> = (0..10).map(|n| 5.0 + if n % 2 == 0 { half } else { -half }).collect();
        let Interval { mean, low, high } = confidence_95(&samples).unwrap();
        assert!((mean - 5.0).abs() < 1e-12);
        assert!((high - low - 2.0 * 2.262 * 2.0 / libm::sqrt(10.0)).abs() < 1e-9);
    }

    #[test]
    fn jains_index_of_known_shares() {
        assert_eq!(fairness([3.0; 7]), 1.0);
        assert_eq!(fairness([5.0, 0.0, 0.0, 0.0]), 0.25);
        // (1 + 2 + 3)² / (3 · 14).
        assert_eq!(fairness([1.0, 2.0, 3.0]), 36.0 / 42.0);
        assert!(fairness([0.0, 0.0]).is_nan() && fairness([]).is_nan());
    }

    #[test]
    fn too_few_samples_have_no_interval() {
        assert_eq!(confidence_95(&[1.0]), None);
        assert_eq!(confidence_95(&[1.0, f64::NAN]), None);
    }

    /// For ten samples, the 99 % interval is 3.250 / 2.262 times as wide as the 95 % interval.
    #[test]
    fn a_wider_interval_has_the_same_mean() {
        let [low, high] = widened_to_99([4.0, 6.0], 10);
        assert!((low - (5.0 - 3.250 / 2.262)).abs() < 1e-9 && (high - (5.0 + 3.250 / 2.262)).abs() < 1e-9);
        // In tables, the quantile for 40 degrees of freedom is 2.704.
        assert!((student_99_5(40) - 2.704).abs() < 2e-3);
    }

    #[test]
    fn the_expansion_matches_the_quantiles() {
        // The 97.5 % quantiles of the t distribution were computed by numerical inversion (NIST/SEMATECH
        // e-Handbook, 1.3.6.7.2).
        for (degrees, quantile) in [(31, 2.039_513), (40, 2.021_075), (60, 2.000_298), (120, 1.979_930)] {
            let error = (student_97_5(degrees) - quantile).abs();
            assert!(error < 1e-4, "{degrees} degrees: {error}");
        }
    }
}
