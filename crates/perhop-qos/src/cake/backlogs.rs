//! [`Backlogs`]: the bytes of every queue, and the queue with the most bytes.

/// The bytes of every queue. After a query, a heap tracks the queue with the most bytes. It is given up after
/// [`KEPT_FOR`] packets without another query. Linux, `cake_drop` and `overflow_heap`.
#[derive(Clone, Debug)]
pub(super) struct Backlogs {
    bytes: Box<[u32]>,
    /// The queues as a binary heap. The queue at place n has at least as many bytes as its two children, at
    /// places 2 n + 1 and 2 n + 2.
    heap: Box<[u16]>,
    /// The position of each queue in the heap.
    places: Box<[u16]>,
    /// The number of further packets for which the heap is maintained. It is 0 if the heap is not maintained.
    kept_for: u32,
}

/// The heap is no longer maintained after this number of packets without an overflow.
const KEPT_FOR: u32 = 65_535;

impl Backlogs {
    pub(super) fn new(queues: usize) -> Backlogs {
        let numbers: Box<[u16]> = (0..queues).map(|queue| queue as u16).collect();
        Backlogs { bytes: vec![0; queues].into(), heap: numbers.clone(), places: numbers, kept_for: 0 }
    }
    #[inline]
    pub(super) fn add(&mut self, queue: usize, bytes: u32) {
        self.bytes[queue] += bytes;
        if self.kept_for > 0 {
            self.rise(self.places[queue].into());
        }
    }
    #[inline]
    pub(super) fn remove(&mut self, queue: usize, bytes: u32) {
        self.bytes[queue] -= bytes;
        if self.kept_for > 0 {
            self.sink(self.places[queue].into());
        }
    }
    /// Records that a packet has been sent.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.kept_for = self.kept_for.saturating_sub(1);
    }
    /// The queue with the most bytes.
    pub(super) fn longest(&mut self) -> usize {
        if self.kept_for == 0 {
            for place in (0..self.heap.len() / 2).rev() {
                self.sink(place);
            }
        }
        self.kept_for = KEPT_FOR;
        self.heap[0].into()
    }

    fn at(&self, place: usize) -> u32 {
        self.heap.get(place).map_or(0, |queue| self.bytes[usize::from(*queue)])
    }
    fn swap(&mut self, first: usize, other: usize) {
        self.heap.swap(first, other);
        for place in [first, other] {
            self.places[usize::from(self.heap[place])] = place as u16;
        }
    }
    /// Moves the queue at `place` down to its place in the heap.
    fn sink(&mut self, mut place: usize) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let greater = if self.at(right) > self.at(left) { right } else { left };
            if self.at(greater) <= self.at(place) {
                return;
            }
            self.swap(place, greater);
            place = greater;
        }
    }
    /// Moves the queue at `place` up to its place in the heap.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.at(place) <= self.at(above) {
                return;
            }
            self.swap(place, above);
            place = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_longest_flow_has_the_largest_backlog(
            changes in prop::collection::vec((0..20usize, 1..2000u32, 0..4u8), 1..200),
        ) {
            let mut backlogs = Backlogs::new(20);
            let mut plain = [0u32; 20];
            for (queue, bytes, what) in changes {
                match what {
                    0 => {
                        let longest = backlogs.longest();
                        prop_assert_eq!(plain[longest], *plain.iter().max().unwrap());
                    }
                    1 => {
                        let bytes = bytes.min(plain[queue]);
                        plain[queue] -= bytes;
                        backlogs.remove(queue, bytes);
                    }
                    _ => {
                        plain[queue] += bytes;
                        backlogs.add(queue, bytes);
                    }
                }
            }
        }
    }
}
