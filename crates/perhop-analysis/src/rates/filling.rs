//! [`fill`]: the division of a rate by weights among classes with limits.

/// Divides `rate` in proportion to `weights`. Each class gets at most its demand `wants`.
pub(super) fn fill(rate: f64, weights: &[f64], wants: &[f64]) -> Vec<f64> {
    let mut got = vec![0.0; wants.len()];
    let mut left = rate;
    let mut hungry: Vec<usize> = (0..wants.len()).filter(|index| weights[*index] > 0.0).collect();
    while !hungry.is_empty() {
        let total: f64 = hungry.iter().map(|index| weights[*index]).sum();
        let part = |index: usize| left * weights[index] / total;
        let (full, others): (Vec<usize>, Vec<usize>) =
            hungry.iter().partition(|index| wants[**index] <= part(**index));
        if full.is_empty() {
            for index in others {
                got[index] = part(index);
            }
            break;
        }
        for index in &full {
            got[*index] = wants[*index];
        }
        left = (left - full.iter().map(|index| wants[*index]).sum::<f64>()).max(0.0);
        hungry = others;
    }
    got
}
