//! [`Agenda`]: what happens next, in a total order of (time, sequence).
//!
//! Packets in flight stay in their link's own FIFO, so an entity has one wake-up on the agenda at a
//! time, and the agenda is about as long as there are entities at work, however many packets are
//! under way. A wake-up cannot be taken back: its owner remembers the instant it waits for, and
//! ignores any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use perhop_qos::units::Time;

/// An entry: time, sequence and slot number in one integer, so that a comparison is one instruction
/// pair without branches. Ties in time are broken by the order in which wake-ups were asked for.
type Key = u128;

const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 40;
/// Greater than every key.
const NEVER: Key = Key::MAX;
/// The root of the tournament.
const WINNER: usize = 1;

/// Future events of type `E`, of which each is registered once and scheduled any number of times.
///
/// A tournament: every slot has a leaf for its wake-up, and every node the earlier of its two children's.
/// The nodes above a leaf are known beforehand, so no load and no branch waits for a match's outcome.
#[derive(Debug)]
pub struct Agenda<E> {
    /// The children of node n are 2 n and 2 n + 1; the leaves are the upper half.
    tree: Vec<Key>,
    slots: Vec<Registered<E>>,
    /// Leaves in use. Leaf 0 is that of `further`.
    leaves: usize,
    /// Wake-ups of slots whose leaf has an earlier one. Few slots ask for a second before the first.
    further: BinaryHeap<Reverse<Key>>,
    /// The leaf's node whose key was taken last. The matches above it are still to be played: mostly the
    /// next wake-up is for the same slot.
    vacant: Option<usize>,
    pending: usize,
    sequence: u64,
}

#[derive(Clone, Copy, Debug)]
struct Registered<E> {
    event: E,
    /// Its leaf; 0 until it is first scheduled.
    leaf: u32,
}

/// A registered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl<E: Copy> Agenda<E> {
    /// An empty agenda.
    pub fn new() -> Agenda<E> {
        Agenda {
            tree: vec![NEVER; 2],
            slots: Vec::new(),
            leaves: 1,
            further: BinaryHeap::new(),
            vacant: None,
            pending: 0,
            sequence: 0,
        }
    }
    /// A slot for `event`.
    ///
    /// # Panics
    /// Beyond 16 million slots.
    pub fn register(&mut self, event: E) -> Slot {
        assert!(self.slots.len() < 1 << SLOT_BITS, "the agenda numbers events with {SLOT_BITS} bits");
        self.slots.push(Registered { event, leaf: 0 });
        Slot(self.slots.len() as u32 - 1)
    }
    /// Lets the event of `slot` happen at `time`, which must not lie before the event taken last.
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        let sequence = u128::from(self.sequence & ((1 << SEQUENCE_BITS) - 1));
        let key = u128::from(time.as_picoseconds()) << 64 | sequence << SLOT_BITS | u128::from(slot.0);
        self.sequence += 1;
        self.pending += 1;
        if self.slots[slot.0 as usize].leaf == 0 {
            self.add_leaf(slot);
        }
        let node = self.tree.len() / 2 + self.slots[slot.0 as usize].leaf as usize;
        if self.vacant == Some(node) {
            self.vacant = None;
            self.play(node, key);
        } else {
            let pending = self.tree[node];
            self.put_forward(node, key.min(pending));
            if pending != NEVER {
                self.postpone(key.max(pending));
            }
        }
    }
    /// Takes the next event if it happens no later than `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        if let Some(node) = self.vacant.take() {
            self.play(node, self.tree[node]);
        }
        let first = self.tree[WINNER];
        let time = Time::from_picoseconds((first >> 64) as u64);
        if time > limit || first == NEVER {
            return None;
        }
        self.pending -= 1;
        let Registered { event, leaf } = self.slots[first as usize & ((1 << SLOT_BITS) - 1)];
        let node = self.tree.len() / 2 + leaf as usize;
        if self.tree[node] == first {
            self.tree[node] = NEVER;
            self.vacant = Some(node);
        } else {
            self.take_further();
        }
        Some((time, event))
    }
    /// How many wake-ups are pending.
    pub fn len(&self) -> usize {
        self.pending
    }
    /// Whether nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `key` at the leaf's `node` and plays every match above it.
    fn play(&mut self, mut node: usize, mut key: Key) {
        let tree = self.tree.as_mut_slice();
        tree[node] = key;
        while node > WINNER {
            key = key.min(tree[node ^ 1]);
            node /= 2;
            tree[node] = key;
        }
    }
    /// Puts `key`, no later than what stands there, at the leaf's `node`: it wins until it meets an earlier one.
    fn put_forward(&mut self, mut node: usize, key: Key) {
        while node >= WINNER && key < self.tree[node] {
            self.tree[node] = key;
            node /= 2;
        }
    }

    /// Keeps `key` while its slot's leaf has an earlier one.
    #[cold]
    fn postpone(&mut self, key: Key) {
        self.further.push(Reverse(key));
        self.put_forward(self.tree.len() / 2, key);
    }
    /// The winner came from `further`.
    #[cold]
    fn take_further(&mut self) {
        self.further.pop();
        let node = self.tree.len() / 2;
        self.tree[node] = self.further.peek().map_or(NEVER, |Reverse(key)| *key);
        self.vacant = Some(node);
    }

    #[cold]
    fn add_leaf(&mut self, slot: Slot) {
        if self.leaves == self.tree.len() / 2 {
            self.grow();
        }
        self.slots[slot.0 as usize].leaf = self.leaves as u32;
        self.leaves += 1;
    }
    /// Doubles the leaves, and plays all matches.
    fn grow(&mut self) {
        let half = self.tree.len() / 2;
        let mut tree = vec![NEVER; 2 * half];
        tree.extend_from_slice(&self.tree[half..]);
        tree.resize(4 * half, NEVER);
        for node in (WINNER..2 * half).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        self.tree = tree;
        self.vacant = None;
    }
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Agenda<E> {
        Agenda::new()
    }
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
