//! [`Drops`]: dropped packets by cause.

use perhop_qos::conditioner::Count;
use perhop_qos::verdict::DropCause;

/// Dropped packets, by cause. Most flows and ports have no drops and allocate no memory for them.
#[derive(Clone, Debug, Default)]
pub struct Drops(Option<Box<Causes>>);

/// The dropped packets of each cause. Most flows that have drops have one cause, so the other causes are in
/// separate memory.
#[derive(Clone, Debug)]
struct Causes {
    /// The cause of the first drop.
    first: DropCause,
    count: Count,
    others: Option<Box<[Count; DropCause::COUNT]>>,
}

impl Drops {
    /// Counts a packet of `length` IP bytes that was dropped because of `cause`.
    #[inline]
    pub fn add(&mut self, cause: DropCause, length: u32) {
        self.count_mut(cause).add(length);
    }
    /// Adds `count` packets that were dropped because of `cause`.
    pub fn merge(&mut self, cause: DropCause, count: Count) {
        self.count_mut(cause).merge(count);
    }
    fn count_mut(&mut self, cause: DropCause) -> &mut Count {
        let new = || Box::new(Causes { first: cause, count: Count::default(), others: None });
        let causes = self.0.get_or_insert_with(new);
        if causes.first == cause {
            return &mut causes.count;
        }
        &mut causes.others.get_or_insert_default()[cause.index()]
    }
    /// Returns the dropped packets of each cause, in the order of [`DropCause::ALL`].
    pub fn by_cause(&self) -> [Count; DropCause::COUNT] {
        let Some(causes) = &self.0 else { return Default::default() };
        let mut counts = causes.others.as_deref().copied().unwrap_or_default();
        counts[causes.first.index()] = causes.count;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_counted_separately() {
        let mut drops = Drops::default();
        let mut counts = [Count::default(); DropCause::COUNT];
        let [first, second, .., last] = DropCause::ALL;
        for (cause, length) in [(second, 40), (last, 50), (second, 60), (first, 70), (last, 80)] {
            drops.add(cause, length);
            counts[cause.index()].add(length);
            assert_eq!(drops.by_cause(), counts);
        }
    }
}
