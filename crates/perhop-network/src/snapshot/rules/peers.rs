//! [`usual`]: the value that most of several peers have.

use std::collections::BTreeMap;

/// The number of peers that are needed for one of them to be an exception.
const LEAST: usize = 3;

/// Returns the value that at least two thirds of three or more peers have.
pub(super) fn usual<T: Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    let mut total = 0;
    for value in values {
        *counts.entry(value).or_default() += 1;
        total += 1;
    }
    let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (total >= LEAST && 3 * count >= 2 * total).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn two_thirds_of_three_or_more_are_usual() {
        assert_eq!(usual([1, 1]), None);
        assert_eq!(usual([1, 1, 2]), Some(1));
        assert_eq!(usual([1, 1, 2, 2]), None);
        assert_eq!(usual([1, 2, 3]), None);
    }
}
