//! [`fair_shares`]: rates of flows that share limits.

/// Returns max-min fair rates of flows (Bertsekas and Gallager, "Data networks", §6.5.2): no rate can grow
/// without lowering a rate that is at most as high. `limits_of` has the indexes into `limits` for each flow;
/// a flow without limits gets 0.
pub(super) fn fair_shares(limits_of: &[Vec<usize>], limits: &[f64]) -> Vec<f64> {
    let mut rates = vec![0.0; limits_of.len()];
    let mut left = limits.to_vec();
    let mut open: Vec<usize> = (0..limits_of.len()).filter(|flow| !limits_of[*flow].is_empty()).collect();
    while !open.is_empty() {
        let mut count = vec![0_usize; limits.len()];
        for limit in open.iter().flat_map(|flow| &limits_of[*flow]) {
            count[*limit] += 1;
        }
        let growth = |limit: usize| (count[limit] > 0).then(|| left[limit] / count[limit] as f64);
        let least = (0..limits.len()).filter_map(growth).fold(f64::INFINITY, f64::min);
        let full: Vec<bool> =
            (0..limits.len()).map(|limit| growth(limit).is_some_and(|growth| growth <= least)).collect();
        for flow in &open {
            rates[*flow] += least;
        }
        for (limit, left) in left.iter_mut().enumerate() {
            *left -= least * count[limit] as f64;
        }
        open.retain(|flow| !limits_of[*flow].iter().any(|limit| full[*limit]));
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Bertsekas and Gallager: one flow passes three links of rate 1, and two further flows
    /// pass the first link.
    #[test]
    fn the_fullest_link_decides_first() {
        let flows = [vec![0, 1, 2], vec![0], vec![0], vec![1], vec![]];
        let rates = fair_shares(&flows, &[1.0, 1.0, 1.0]);
        for (rate, expected) in rates.iter().zip([1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 0.0]) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
    }
}
