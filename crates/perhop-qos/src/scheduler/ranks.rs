//! [`Ranks`]: a set of ranks, with fast access to the lowest rank.

/// A set of numbers ("ranks"). Each possible rank has one bit.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// The ranks below 64. Most sets have no other ranks.
    lowest: u64,
    /// The ranks from 64 on. Each word contains 64 of them.
    others: Vec<u64>,
}

impl Ranks {
    /// Creates an empty set that can contain the ranks below `count`.
    pub(super) fn none_of(count: usize) -> Ranks {
        Ranks { lowest: 0, others: vec![0; count.div_ceil(64).saturating_sub(1)] }
    }
    /// Adds `rank` if `is_in` is true, or removes it otherwise.
    #[inline]
    pub(super) fn set(&mut self, rank: usize, is_in: bool) {
        let word = if rank < 64 { &mut self.lowest } else { &mut self.others[rank / 64 - 1] };
        *word = *word & !(1 << (rank % 64)) | u64::from(is_in) << (rank % 64);
    }
    /// The lowest rank in the set.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        if self.lowest != 0 {
            return Some(self.lowest.trailing_zeros() as usize);
        }
        let index = self.others.iter().position(|word| *word != 0)?;
        Some(64 * (index + 1) + self.others[index].trailing_zeros() as usize)
    }
    /// Iterates over all ranks in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::once(&self.lowest).chain(&self.others).enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let rank = (left != 0).then(|| 64 * index + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                rank
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_served_in_order(
            count in 1usize..200,
            changes in prop::collection::vec((0usize..200, any::<bool>()), 1..300),
        ) {
            let (mut plain, mut ranks) = (vec![false; count], Ranks::none_of(count));
            for (rank, is_in) in changes {
                plain[rank % count] = is_in;
                ranks.set(rank % count, is_in);
                let expected: Vec<usize> = (0..count).filter(|rank| plain[*rank]).collect();
                prop_assert_eq!(ranks.first(), expected.first().copied());
                prop_assert_eq!(ranks.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
