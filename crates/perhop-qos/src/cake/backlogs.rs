//! [`Backlogs`]: the bytes of each queue, and the search for the queue with the most bytes.

/// The bytes of each queue. The first search builds a heap that tracks the queue with the most bytes. The
/// heap is discarded after [`KEPT_FOR`] packets without another search. Linux, `cake_drop` and
/// `overflow_heap`.
#[derive(Clone, Debug)]
pub(super) struct Backlogs {
    bytes: Box<[u32]>,
    /// A binary heap of the queues. The queue at position n has at least as many bytes as its two children at
    /// positions 2 n + 1 and 2 n + 2. The bytes in the heap are valid only while the heap is maintained.
    heap: Box<[Entry]>,
    /// The position of each queue in the heap.
    places: Box<[u16]>,
    /// The number of packets for which the heap is still maintained. It is 0 if the heap is not maintained.
    kept_for: u32,
}

/// A queue in the heap. The entry contains a copy of the queue's bytes, so that comparisons read only the
/// heap.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u32,
    queue: u16,
}

/// The number of packets without an overflow after which the heap is no longer maintained.
const KEPT_FOR: u32 = 65_535;

impl Backlogs {
    pub(super) fn new(queues: usize) -> Backlogs {
        let places = (0..queues).map(|queue| queue as u16);
        let heap = places.clone().map(|queue| Entry { bytes: 0, queue }).collect();
        Backlogs { bytes: vec![0; queues].into(), heap, places: places.collect(), kept_for: 0 }
    }
    #[inline]
    pub(super) fn add(&mut self, queue: usize, bytes: u32) {
        self.bytes[queue] += bytes;
        if self.kept_for > 0 {
            self.rise(self.places[queue].into(), self.bytes[queue]);
        }
    }
    #[inline]
    pub(super) fn remove(&mut self, queue: usize, bytes: u32) {
        self.bytes[queue] -= bytes;
        if self.kept_for > 0 {
            self.sink(self.places[queue].into(), self.bytes[queue]);
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
            for entry in &mut self.heap {
                entry.bytes = self.bytes[usize::from(entry.queue)];
            }
            for place in (0..self.heap.len() / 2).rev() {
                self.sink(place, self.heap[place].bytes);
            }
        }
        self.kept_for = KEPT_FOR;
        self.heap[0].queue.into()
    }

    /// Moves the queue at position `place` down to its new position in the heap. The queue now has `bytes`
    /// bytes.
    #[inline(never)]
    fn sink(&mut self, mut place: usize, bytes: u32) {
        let Backlogs { heap, places, .. } = self;
        let entry = Entry { bytes, ..heap[place] };
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(mut below) = heap.get(left).copied() else { break };
            let mut next = left;
            if let Some(other) = heap.get(right)
                && other.bytes > below.bytes
            {
                (below, next) = (*other, right);
            }
            if below.bytes <= bytes {
                break;
            }
            heap[place] = below;
            places[usize::from(below.queue)] = place as u16;
            place = next;
        }
        heap[place] = entry;
        places[usize::from(entry.queue)] = place as u16;
    }
    /// Moves the queue at position `place` up to its new position in the heap. The queue now has `bytes`
    /// bytes.
    #[inline(never)]
    fn rise(&mut self, mut place: usize, bytes: u32) {
        let Backlogs { heap, places, .. } = self;
        let entry = Entry { bytes, ..heap[place] };
        while place > 0 {
            let next = (place - 1) / 2;
            let above = heap[next];
            if bytes <= above.bytes {
                break;
            }
            heap[place] = above;
            places[usize::from(above.queue)] = place as u16;
            place = next;
        }
        heap[place] = entry;
        places[usize::from(entry.queue)] = place as u16;
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
