//! [`Agenda`]: what happens next, in a total order of (time, slot).
//!
//! Packets in flight stay in their link's own FIFO, so an entity has one wake-up on the agenda at a
//! time, and the agenda is about as long as there are entities at work, however many packets are
//! under way. A wake-up cannot be taken back: its owner remembers the instant it waits for, and
//! ignores any other.

use perhop_qos::units::Time;

/// A wake-up: time, slot and leaf in one integer, so that a comparison is one instruction pair
/// without branches. Ties in time are broken by the order in which slots were registered, and not by the order in
/// which wake-ups were asked for: so it does not matter to what happens who asked early and who late.
type Key = u128;

const LEAF_BITS: u32 = 24;
/// Greater than every key.
const NEVER: Key = Key::MAX;
const ARITY: usize = 4;

/// The four keys that meet in one match, in one cache line. The first family plays the final; the families
/// whose winners meet in family f are 4 f + 1 to 4 f + 4.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Family([Key; ARITY]);

impl Family {
    const EMPTY: Family = Family([NEVER; ARITY]);

    fn winner(&self) -> Key {
        let [a, b, c, d] = self.0;
        a.min(b).min(c.min(d))
    }
}

/// Future events of type `E`, of which each is registered once and scheduled any number of times.
///
/// A tournament: every wake-up has a leaf, and the earliest of four goes on to the next round. The matches
/// above a leaf are known beforehand, so no load and no branch waits for another's outcome.
#[derive(Debug)]
pub struct Agenda<E> {
    families: Vec<Family>,
    /// The first family of leaves: those of the first round.
    first_round: usize,
    winner: Key,
    /// By leaf in use: what happens.
    happens: Vec<E>,
    /// Leaves in use that have no wake-up.
    free: Vec<u32>,
    /// The leaf whose wake-up was taken last. The matches above it are still to be played: mostly another
    /// wake-up takes its place.
    vacant: Option<u32>,
    registered: Vec<E>,
}

/// A registered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl<E: Copy> Agenda<E> {
    /// An empty agenda.
    pub fn new() -> Agenda<E> {
        Agenda {
            families: vec![Family::EMPTY],
            first_round: 0,
            winner: NEVER,
            happens: Vec::new(),
            free: Vec::new(),
            vacant: None,
            registered: Vec::new(),
        }
    }
    /// A slot for `event`. Of what happens at the same instant, what was registered first happens first.
    pub fn register(&mut self, event: E) -> Slot {
        self.registered.push(event);
        Slot(self.registered.len() as u32 - 1)
    }
    /// Lets the event of `slot` happen at `time`, which must not lie before the event taken last.
    ///
    /// # Panics
    /// Beyond 16 million wake-ups at a time.
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        let event = self.registered[slot.0 as usize];
        let key = u128::from(time.as_picoseconds()) << 64 | u128::from(slot.0) << LEAF_BITS;
        if let Some(leaf) = self.vacant.take() {
            self.happens[leaf as usize] = event;
            self.play(leaf, key | Key::from(leaf));
        } else {
            let leaf = self.leaf_for(event);
            self.put_forward(leaf, key | Key::from(leaf));
        }
    }
    /// Takes the next event if it happens no later than `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        self.vacate();
        let time = Time::from_picoseconds((self.winner >> 64) as u64);
        if time > limit || self.winner == NEVER {
            return None;
        }
        let leaf = self.winner as u32 & ((1 << LEAF_BITS) - 1);
        self.vacant = Some(leaf);
        Some((time, self.happens[leaf as usize]))
    }
    /// When the next event happens; `None` where none will.
    pub fn next_at(&mut self) -> Option<Time> {
        self.vacate();
        (self.winner != NEVER).then(|| Time::from_picoseconds((self.winner >> 64) as u64))
    }
    /// How many wake-ups are pending.
    pub fn len(&self) -> usize {
        self.happens.len() - self.free.len() - usize::from(self.vacant.is_some())
    }
    /// Whether nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Plays the matches above the leaf whose wake-up was taken last, where no other took its place.
    #[inline]
    fn vacate(&mut self) {
        if let Some(leaf) = self.vacant.take() {
            self.free.push(leaf);
            self.play(leaf, NEVER);
        }
    }
    /// The family in which `leaf` plays first, and its place there.
    fn place(&self, leaf: u32) -> (usize, usize) {
        (self.first_round + leaf as usize / ARITY, leaf as usize % ARITY)
    }
    /// Puts `key` at `leaf` and plays every match above it.
    fn play(&mut self, leaf: u32, mut key: Key) {
        let (mut family, mut place) = self.place(leaf);
        let families = self.families.as_mut_slice();
        loop {
            families[family].0[place] = key;
            key = families[family].winner();
            if family == 0 {
                break;
            }
            (family, place) = above(family);
        }
        self.winner = key;
    }
    /// Puts `key` at `leaf`, which is free: it goes on until it meets an earlier one.
    fn put_forward(&mut self, leaf: u32, key: Key) {
        let (mut family, mut place) = self.place(leaf);
        loop {
            let stands = &mut self.families[family].0[place];
            if *stands <= key {
                return;
            }
            *stands = key;
            if family == 0 {
                break;
            }
            (family, place) = above(family);
        }
        self.winner = self.winner.min(key);
    }

    /// A free leaf, at which `event` happens.
    fn leaf_for(&mut self, event: E) -> u32 {
        if let Some(leaf) = self.free.pop() {
            self.happens[leaf as usize] = event;
            return leaf;
        }
        let leaf = self.happens.len();
        assert!(leaf < 1 << LEAF_BITS, "the agenda numbers wake-ups with {LEAF_BITS} bits");
        if leaf == (self.families.len() - self.first_round) * ARITY {
            self.add_round();
        }
        self.happens.push(event);
        leaf as u32
    }
    /// Makes four times as many leaves, and plays all matches.
    fn add_round(&mut self) {
        let leaves = self.families.split_off(self.first_round);
        self.first_round += leaves.len();
        self.families.resize(self.first_round, Family::EMPTY);
        self.families.extend_from_slice(&leaves);
        self.families.resize(self.first_round + ARITY * leaves.len(), Family::EMPTY);
        for family in (1..self.families.len()).rev() {
            let (winners, place) = above(family);
            self.families[winners].0[place] = self.families[family].winner();
        }
        self.winner = self.families[0].winner();
    }
}

/// The family and the place in it where the winner of `family` goes on.
fn above(family: usize) -> (usize, usize) {
    ((family - 1) / ARITY, (family - 1) % ARITY)
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
    fn ties_happen_in_the_order_registered() {
        let mut agenda = Agenda::new();
        let slots: Vec<Slot> = (0..50).map(|name| agenda.register(name)).collect();
        for slot in slots.iter().rev() {
            agenda.schedule(*slot, Time::from_seconds(1));
        }
        let order: Vec<i32> =
            std::iter::from_fn(|| agenda.pop_until(Time::MAX)).map(|(_, name)| name).collect();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
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
        fn behaves_like_a_sorted_list(
            operations in prop::collection::vec((0usize..20, 0u64..1000, any::<bool>(), any::<bool>()), 1..400)
        ) {
            let mut agenda = Agenda::new();
            let slots: Vec<Slot> = (0..20).map(|index| agenda.register(index)).collect();
            let mut model = std::collections::BTreeSet::new();
            let mut now = 0;
            for (number, (index, delay, take, look)) in operations.into_iter().enumerate() {
                if look {
                    let first = model.first().map(|(time, _, _)| Time::from_picoseconds(*time));
                    prop_assert_eq!(agenda.next_at(), first);
                }
                if take {
                    let next = model.pop_first();
                    let expected = next.map(|(time, index, _)| (Time::from_picoseconds(time), index));
                    prop_assert_eq!(agenda.pop_until(Time::MAX), expected);
                    now = next.map_or(now, |(time, _, _)| time);
                } else {
                    agenda.schedule(slots[index], Time::from_picoseconds(now + delay));
                    model.insert((now + delay, index, number));
                }
                prop_assert_eq!(agenda.len(), model.len());
            }
        }
    }
}
