//! [`Agenda`]: what happens next, in a total order of (time, sequence).
//!
//! Every entity that can ask for a wake-up owns one *slot*, and a slot is on the agenda once or not
//! at all: the agenda never holds more entries than there are entities, however many packets are in
//! flight. It is a 4-ary heap whose entries know their place, so that moving a wake-up is cheap.

use perhop_qos::units::Time;

/// An entity's place on the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    /// Ties are broken by the order in which wake-ups were asked for.
    sequence: u64,
    slot: Slot,
}

impl Entry {
    fn precedes(&self, other: &Entry) -> bool {
        // One 128-bit comparison: no branch for the rare tie.
        let key = |entry: &Entry| u128::from(entry.time.as_picoseconds()) << 64 | u128::from(entry.sequence);
        key(self) < key(other)
    }
}

const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// Future events of type `E`, one per slot.
#[derive(Debug, Default)]
pub struct Agenda<E> {
    heap: Vec<Entry>,
    /// The root has been taken and nothing has filled its place: the next wake-up usually does.
    root_taken: bool,
    /// Where each slot's entry stands in the heap.
    positions: Vec<u32>,
    events: Vec<E>,
    sequence: u64,
}

impl<E: Copy> Agenda<E> {
    /// An empty agenda.
    pub fn new() -> Agenda<E> {
        Agenda { heap: Vec::new(), root_taken: false, positions: Vec::new(), events: Vec::new(), sequence: 0 }
    }
    /// A new slot; when its time comes, `event` happens.
    pub fn register(&mut self, event: E) -> Slot {
        self.positions.push(ABSENT);
        self.events.push(event);
        Slot(self.events.len() as u32 - 1)
    }
    /// Wakes `slot` at `time`, and no longer at the time asked for before.
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        let entry = Entry { time, sequence: self.sequence, slot };
        self.sequence += 1;
        let position = self.positions[slot.0 as usize];
        if position != ABSENT {
            let position = position as usize;
            let moves_up = entry.precedes(&self.heap[position]);
            if moves_up { self.sift_up(position, entry) } else { self.sift_down(position, entry) }
        } else if self.root_taken {
            self.root_taken = false;
            self.sift_down(0, entry);
        } else {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        }
    }
    /// Takes the next event if it happens no later than `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        self.settle();
        let first = *self.heap.first()?;
        if first.time > limit {
            return None;
        }
        self.root_taken = true;
        self.positions[first.slot.0 as usize] = ABSENT;
        Some((first.time, self.events[first.slot.0 as usize]))
    }
    /// How many wake-ups are pending.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.root_taken)
    }
    /// Whether nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills the root's place from the end if nothing else did.
    fn settle(&mut self) {
        if !self.root_taken {
            return;
        }
        self.root_taken = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(0, last);
        }
    }
    fn place(&mut self, position: usize, entry: Entry) {
        self.positions[entry.slot.0 as usize] = position as u32;
        self.heap[position] = entry;
    }
    fn sift_up(&mut self, mut position: usize, entry: Entry) {
        while position > 0 {
            let parent = (position - 1) / ARITY;
            // A taken root keeps its old, smaller key until something fills it: nothing rises past it.
            if !entry.precedes(&self.heap[parent]) {
                break;
            }
            self.place(position, self.heap[parent]);
            position = parent;
        }
        self.place(position, entry);
    }
    fn sift_down(&mut self, mut position: usize, entry: Entry) {
        loop {
            let first = position * ARITY + 1;
            let last = (first + ARITY).min(self.heap.len());
            if first >= last {
                break;
            }
            let mut least = first;
            for child in first + 1..last {
                if self.heap[child].precedes(&self.heap[least]) {
                    least = child;
                }
            }
            if !self.heap[least].precedes(&entry) {
                break;
            }
            self.place(position, self.heap[least]);
            position = least;
        }
        self.place(position, entry);
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
        for slot in &slots {
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
        /// Against a sorted list: any mix of scheduling, moving and taking gives the same order.
        #[test]
        fn behaves_like_a_sorted_list(operations in prop::collection::vec((0usize..20, 0u64..1000, any::<bool>()), 1..400)) {
            let mut agenda = Agenda::new();
            let slots: Vec<Slot> = (0..20).map(|index| agenda.register(index)).collect();
            let mut model: Vec<Option<(u64, u64)>> = vec![None; 20];
            let mut now = 0;
            for (sequence, (index, delay, take)) in operations.into_iter().enumerate() {
                if take {
                    let next = model.iter().enumerate().filter_map(|(i, at)| at.map(|at| (at, i))).min();
                    let expected = next.map(|((time, _), i)| (Time::from_picoseconds(time), i));
                    prop_assert_eq!(agenda.pop_until(Time::MAX), expected);
                    if let Some(((time, _), i)) = next {
                        now = time;
                        model[i] = None;
                    }
                } else {
                    agenda.schedule(slots[index], Time::from_picoseconds(now + delay));
                    model[index] = Some((now + delay, sequence as u64));
                }
                prop_assert_eq!(agenda.len(), model.iter().flatten().count());
            }
        }
    }
}
