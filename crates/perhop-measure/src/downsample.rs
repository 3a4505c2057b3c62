//! [`envelope`]: reduction of a series to the points that a drawing needs.

/// Returns the indices of at most `4 * buckets` of `values`, in order. A line through these values looks like
/// the line through all values. Each bucket has about the same number of values, and contributes its first,
/// least, greatest and last value (the M4 aggregation of Jugel et al., VLDB 2014). A NaN is a gap in the
/// line. It is kept if it is the first or the last value of a bucket.
pub fn envelope(values: &[f64], buckets: usize) -> Vec<u32> {
    if values.len() <= 4 * buckets || buckets == 0 {
        return (0..values.len() as u32).collect();
    }
    let mut kept = Vec::with_capacity(4 * buckets);
    for bucket in 0..buckets {
        let (begin, end) = (bucket * values.len() / buckets, (bucket + 1) * values.len() / buckets);
        let (mut least, mut greatest) = (begin, begin);
        for index in begin..end {
            // If `least` is NaN, `<` is false for every value. NaN is therefore tested explicitly.
            if values[index] < values[least] || values[least].is_nan() {
                least = index;
            }
            if values[index] > values[greatest] || values[greatest].is_nan() {
                greatest = index;
            }
        }
        let mut chosen = [begin, least, greatest, end - 1];
        chosen.sort_unstable();
        for index in chosen {
            if kept.last() != Some(&(index as u32)) {
                kept.push(index as u32);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(envelope(&[3.0, 1.0, 2.0], 1), [0, 1, 2]);
        assert!(envelope(&[], 10).is_empty());
    }

    #[test]
    fn extremes_and_ends_of_every_bucket_stay() {
        let values: Vec<f64> = [0, 5, -5, 1, 2, 9, 8, 7, 6, 9].map(f64::from).to_vec();
        assert_eq!(envelope(&values, 2), [0, 1, 2, 4, 5, 8, 9]);
    }

    #[test]
    fn one_spike_in_a_million_is_seen() {
        let mut values = vec![0.0; 1_000_000];
        values[654_321] = 1.0;
        let kept = envelope(&values, 500);
        assert!(kept.len() <= 2000 && kept.contains(&654_321));
    }

    #[test]
    fn gaps_hide_nothing() {
        let mut values = vec![f64::NAN; 100];
        values[42] = 1.0;
        assert!(envelope(&values, 5).contains(&42));
    }
}
