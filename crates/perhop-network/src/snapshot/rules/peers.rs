//! [`Peers`]: the value that most peers have, and the exceptions to this value.

use std::collections::BTreeMap;

/// The minimum number of peers. With fewer peers, no value is an exception.
const LEAST: usize = 3;

/// The values of several peers, with the number of peers for each value.
pub(super) struct Peers<T: Ord> {
    counts: BTreeMap<T, usize>,
    total: usize,
}

impl<T: Ord> FromIterator<T> for Peers<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Peers<T> {
        let mut found = Peers { counts: BTreeMap::new(), total: 0 };
        for value in values {
            *found.counts.entry(value).or_default() += 1;
            found.total += 1;
        }
        found
    }
}

impl<T: Ord> Peers<T> {
    /// Returns the value of at least two thirds of the peers, if three or more peers exist.
    pub(super) fn usual(&self) -> Option<&T> {
        let (value, count) = self.counts.iter().max_by_key(|(_, count)| **count)?;
        (self.total >= LEAST && 3 * count >= 2 * self.total).then_some(value)
    }

    /// Whether only one peer has this value and another value is usual. A value that several peers have is an
    /// intended variant.
    pub(super) fn is_exception(&self, value: &T) -> bool {
        self.usual().is_some_and(|usual| usual != value) && self.counts.get(value) == Some(&1)
    }
}

#[cfg(test)]
mod tests {
    use super::Peers;

    #[test]
    fn two_thirds_of_three_or_more_are_usual() {
        for (values, usual) in
            [(vec![1, 1], None), (vec![1, 1, 2], Some(1)), (vec![1, 1, 2, 2], None), (vec![1, 2, 3], None)]
        {
            assert_eq!(values.iter().copied().collect::<Peers<i32>>().usual().copied(), usual, "{values:?}");
        }
    }

    #[test]
    fn a_value_of_several_peers_is_a_variant() {
        let peers: Peers<i32> = [1, 1, 1, 1, 2, 2, 3].into_iter().collect();
        assert!(!peers.is_exception(&3), "four of seven are not two thirds");
        let peers: Peers<i32> = [1, 1, 1, 1, 1, 1, 2, 2, 3].into_iter().collect();
        assert!(peers.is_exception(&3) && !peers.is_exception(&2) && !peers.is_exception(&1));
    }
}
