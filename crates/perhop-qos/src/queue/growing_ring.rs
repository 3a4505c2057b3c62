//! [`GrowingRing`]: a ring buffer that is first in, first out.

/// A ring of packets, or of records about packets, in order of arrival. It grows up to its largest length and
/// then allocates no more memory.
///
/// The number of slots is a power of two. A reader borrows the front without copying it, whereas `VecDeque`
/// moves each packet through an `Option`.
#[derive(Clone, Debug, Default)]
pub struct GrowingRing<T> {
    slots: Box<[T]>,
    first: usize,
    held: usize,
}

impl<T: Copy + Default> GrowingRing<T> {
    /// Whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }
    /// The number of items.
    pub fn len(&self) -> usize {
        self.held
    }
    /// The oldest item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.held > 0 { self.slots.get(self.first) } else { None }
    }
    /// Adds `item` at the end and returns the index of its slot. If the ring is full, it grows, and its items
    /// move so that the oldest is at index 0. [`grown`](GrowingRing::grown) returns the new number of slots.
    #[inline]
    pub fn push_back(&mut self, item: T) -> usize {
        if self.held == self.slots.len() {
            self.grow();
        }
        let place = (self.first + self.held) & (self.slots.len() - 1);
        self.slots[place] = item;
        self.held += 1;
        place
    }
    /// The index of the front.
    #[inline]
    pub fn first(&self) -> usize {
        self.first
    }
    /// Removes the front, which must exist.
    #[inline]
    pub fn drop_front(&mut self) {
        self.held -= 1;
        // An empty ring restarts at its beginning. A ring that usually has few packets therefore uses few
        // cache lines.
        self.first = if self.held == 0 { 0 } else { (self.first + 1) & (self.slots.len() - 1) };
    }
    /// Removes and returns the oldest item.
    #[inline]
    pub fn take_front(&mut self) -> Option<T> {
        let front = self.front().copied()?;
        self.drop_front();
        Some(front)
    }
    /// All items in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (wrapped, from_first) = self.slots.split_at(self.first);
        from_first.iter().chain(wrapped).take(self.held)
    }

    /// The number of slots to which a full ring of `places` slots grows.
    pub fn grown(places: usize) -> usize {
        (2 * places).max(4)
    }
    /// Doubles the number of slots and moves the items to the beginning.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.resize(Self::grown(slots.len()), T::default());
        self.slots = slots.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packets_leave_in_order_of_arrival(steps in prop::collection::vec(0u32..5, 1..300)) {
            let (mut plain, mut ring) = (VecDeque::new(), GrowingRing::default());
            for (number, step) in steps.into_iter().enumerate() {
                if step < 3 {
                    plain.push_back(number);
                    ring.push_back(number);
                } else if plain.pop_front().is_some() {
                    ring.drop_front();
                }
                prop_assert_eq!(ring.front(), plain.front());
                prop_assert_eq!(ring.is_empty(), plain.is_empty());
                prop_assert!(ring.iter().eq(plain.iter()));
            }
        }
    }
}
