//! The burst of `red`, from which tc computes the weight of the average (`tc_red.c:tc_red_eval_ewma`).

/// Limit on bursts, packets.
const MOST_BURST: u64 = 1 << 16;
/// The largest n of a weight 2⁻ⁿ.
pub(crate) const MOST_EXPONENT: u32 = 31;

/// Returns the n of tc's weight 2⁻ⁿ for a burst of packets of `average` bytes and a minimum threshold `low`,
/// bytes. With this weight, the average queue stays below the threshold during the burst.
pub(crate) fn exponent_of(burst: u64, low: u64, average: u64) -> Option<u32> {
    let ahead = burst as f64 + 1.0 - low as f64 / average as f64;
    if ahead < 1.0 {
        return None;
    }
    let mut weight = 0.5_f64;
    for exponent in 1..=MOST_EXPONENT {
        if ahead <= (1.0 - (1.0 - weight).powf(burst as f64)) / weight {
            return Some(exponent);
        }
        weight /= 2.0;
    }
    None
}

/// Returns the smallest burst for which tc chooses the weight 2⁻ⁿ with n = `exponent`; `None` if no burst has
/// this weight.
pub(crate) fn burst_of(exponent: u32, low: u64, average: u64) -> Option<u64> {
    let (mut least, mut most) = ((low / average).max(1), MOST_BURST);
    while least < most {
        let middle = least.midpoint(most);
        match exponent_of(middle, low, average) {
            Some(found) if found >= exponent => most = middle,
            _ => least = middle + 1,
        }
    }
    (exponent_of(least, low, average) == Some(exponent)).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_gives_the_weight_of_the_average() {
        // tc-red(8): burst 20 with a minimum of 30 packets of 1000 bytes is impossible; 55 gives 2^-6 or
        // less.
        assert_eq!(exponent_of(20, 30_000, 1000), None);
        for exponent in 3..12 {
            let burst = burst_of(exponent, 20_000, 1000).unwrap();
            assert_eq!(exponent_of(burst, 20_000, 1000), Some(exponent));
            assert_ne!(exponent_of(burst - 1, 20_000, 1000), Some(exponent));
        }
    }
}
