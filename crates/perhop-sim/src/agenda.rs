//! [`Agenda`]: what happens next, in a total order of (time, sequence).
//!
//! Packets in flight stay in their link's own FIFO, so an entity has one wake-up on the agenda at a
//! time, and the agenda is about as long as there are entities at work, however many packets are
//! under way. A wake-up cannot be taken back: its owner remembers the instant it waits for, and
//! ignores any other.

use perhop_qos::units::Time;

/// An entry: time, sequence and event number in one integer, so that a comparison is one instruction
/// pair without branches. Ties in time are broken by the order in which wake-ups were asked for.
type Key = u128;

const EVENT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 40;
const ARITY: usize = 4;
/// Greater than every key.
const NEVER: Key = Key::MAX;

/// Future events of type `E`, of which each is registered once and scheduled any number of times.
///
/// A heap with four children to a node: the children of a node fill one cache line.
#[derive(Debug)]
pub struct Agenda<E> {
    heap: Vec<Key>,
    /// The root has been taken and nothing has filled its place: the next wake-up usually does.
    root_taken: bool,
    events: Vec<E>,
    sequence: u64,
}

/// A registered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl<E: Copy> Agenda<E> {
    /// An empty agenda.
    pub fn new() -> Agenda<E> {
        Agenda { heap: Vec::new(), root_taken: false, events: Vec::new(), sequence: 0 }
    }
    /// A slot for `event`.
    ///
    /// # Panics
    /// Beyond 16 million slots.
    pub fn register(&mut self, event: E) -> Slot {
        assert!(self.events.len() < 1 << EVENT_BITS, "the agenda numbers events with {EVENT_BITS} bits");
        self.events.push(event);
        Slot(self.events.len() as u32 - 1)
    }
    /// Lets the event of `slot` happen at `time`, which must not lie before the event taken last.
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        let sequence = u128::from(self.sequence & ((1 << SEQUENCE_BITS) - 1));
        let key = u128::from(time.as_picoseconds()) << 64 | sequence << EVENT_BITS | u128::from(slot.0);
        self.sequence += 1;
        if self.root_taken {
            self.root_taken = false;
            self.sift_down(key);
        } else {
            self.heap.push(key);
            self.sift_up(key);
        }
    }
    /// Takes the next event if it happens no later than `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        if self.root_taken {
            self.root_taken = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sift_down(last);
            }
        }
        let first = *self.heap.first()?;
        let time = Time::from_picoseconds((first >> 64) as u64);
        if time > limit {
            return None;
        }
        self.root_taken = true;
        Some((time, self.events[first as usize & ((1 << EVENT_BITS) - 1)]))
    }
    /// How many wake-ups are pending.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.root_taken)
    }
    /// Whether nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets `key`, the last of the heap, rise to its place.
    fn sift_up(&mut self, key: Key) {
        let mut position = self.heap.len() - 1;
        while position > 0 {
            let parent = (position - 1) / ARITY;
            let above = self.heap[parent];
            if above < key {
                break;
            }
            self.heap[position] = above;
            position = parent;
        }
        self.heap[position] = key;
    }

    /// Puts `key` at the root and lets it sink to its place.
    fn sift_down(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut position = 0;
        loop {
            let first = position * ARITY + 1;
            let (least, below) = match heap.get(first..first + ARITY) {
                Some(&[a, b, c, d]) => {
                    // A tournament of selects, no branch to mispredict.
                    let (left, left_at) = if b < a { (b, 1) } else { (a, 0) };
                    let (right, right_at) = if d < c { (d, 3) } else { (c, 2) };
                    if right < left { (first + right_at, right) } else { (first + left_at, left) }
                }
                _ => least_of(heap, first),
            };
            if key < below {
                break;
            }
            heap[position] = below;
            position = least;
        }
        heap[position] = key;
    }
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Agenda<E> {
        Agenda::new()
    }
}

/// The least of the children from `first` on, where a node has fewer than four; [`NEVER`] of none.
fn least_of(heap: &[Key], first: usize) -> (usize, Key) {
    let children = heap.iter().copied().enumerate().skip(first);
    children.min_by_key(|(_, key)| *key).unwrap_or((first, NEVER))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_happen_in_the_order_asked() {
        let mut agenda = Agenda::new();
        let slots: Vec<Slot> = (0..50).map(|name| agenda.register(name)).collect();
        for slot in slots.iter().rev() {
            agenda.schedule(*slot, Time::from_seconds(1));
        }
        let order: Vec<i32> =
            std::iter::from_fn(|| agenda.pop_until(Time::MAX)).map(|(_, name)| name).collect();
        assert_eq!(order, (0..50).rev().collect::<Vec<_>>());
    }

    #[test]
    fn nothing_later_than_the_limit_is_taken() {
        let mut agenda = Agenda::new();
        let slot = agenda.register(());
        agenda.schedule(slot, Time::from_seconds(2));
        assert_eq!(agenda.pop_until(Time::from_seconds(1)), None);
        assert_eq!(agenda.pop_until(Time::from_seconds(2)), Some((Time::from_seconds(2), ())));
        assert!(agenda.is_empty());
    }

    proptest! {
        /// Against a sorted list: any mix of scheduling and taking gives the same order.
        #[test]
        fn behaves_like_a_sorted_list(operations in prop::collection::vec((0usize..20, 0u64..1000, any::<bool>()), 1..400)) {
            let mut agenda = Agenda::new();
            let slots: Vec<Slot> = (0..20).map(|index| agenda.register(index)).collect();
            let mut model = std::collections::BTreeSet::new();
            let mut now = 0;
            for (sequence, (index, delay, take)) in operations.into_iter().enumerate() {
                if take {
                    let next = model.pop_first();
                    let expected = next.map(|(time, _, index)| (Time::from_picoseconds(time), index));
                    prop_assert_eq!(agenda.pop_until(Time::MAX), expected);
                    now = next.map_or(now, |(time, _, _)| time);
                } else {
                    agenda.schedule(slots[index], Time::from_picoseconds(now + delay));
                    model.insert((now + delay, sequence, index));
                }
                prop_assert_eq!(agenda.len(), model.len());
            }
        }
    }
}
