//! [`Agenda`]: the pending events, in a total order of (time, slot).
//!
//! The packets in flight on a link are in a FIFO, and only the first packet has a wake-up. The length of the
//! agenda is therefore the number of active links, ports and senders, not the number of packets. A wake-up
//! cannot be cancelled. The port or sender that scheduled it stores the time of its valid wake-up, and
//! ignores other wake-ups.

mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use perhop_qos::units::Time;

use wheel::{Wakeup, Wheel};

/// Future events of type `E`, each registered once and scheduled any number of times.
///
/// The agenda is a calendar queue (Brown 1988, "Calendar queues: a fast O(1) priority queue implementation
/// for the simulation event set problem"). Days of equal length form a cyclic year. The wake-ups of a day are
/// unsorted until the day becomes the current one. Wake-ups more than a year ahead are stored separately. The
/// length of a day is adapted to the time between events, so that most days with events have only one. The
/// number of days is adapted to the number of pending events. These adaptations do not change the order of
/// events.
#[derive(Debug)]
pub struct Agenda<E> {
    registered: Vec<E>,
    /// The wake-ups of the current day and earlier. The next wake-up is the last entry.
    today: Vec<Wakeup>,
    /// The wake-ups of the days after today, up to a year ahead.
    year: Wheel,
    /// The wake-ups that are a year ahead or later.
    later: BinaryHeap<Reverse<Wakeup>>,
    /// The first day on which the first wake-up of `later` is less than a year ahead; [`u64::MAX`] if `later`
    /// is empty.
    later_from: u64,
    /// The number of wake-ups scheduled since the start.
    scheduled: u64,
    /// The count of taken wake-ups at which the calendar is checked next.
    taken_at_check: u64,
    /// The number of wake-ups until the calendar is checked next.
    until_check: u64,
    /// The time of the event at the last check of the calendar, picoseconds.
    checked_at: u64,
}

/// The number of events between checks of the calendar.
const SAMPLE: u64 = 1024;

/// A registered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// The number of the slot in the order of registration, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl<E: Copy> Agenda<E> {
    /// Creates an empty agenda.
    pub fn new() -> Agenda<E> {
        Agenda {
            registered: Vec::new(),
            today: Vec::new(),
            year: Wheel::new(),
            later: BinaryHeap::new(),
            later_from: u64::MAX,
            scheduled: 0,
            taken_at_check: SAMPLE,
            until_check: SAMPLE,
            checked_at: 0,
        }
    }
    /// Registers `event` and returns its slot. Simultaneous events happen in the order of registration.
    pub fn register(&mut self, event: E) -> Slot {
        self.registered.push(event);
        Slot(self.registered.len() as u32 - 1)
    }
    /// Schedules the event of `slot` at `time`, which must not be earlier than the last taken event.
    #[inline]
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        debug_assert!(time < Time::MAX, "`Time::MAX` means never, so it cannot be scheduled");
        self.scheduled += 1;
        self.enter(Wakeup { time: time.as_picoseconds(), slot: slot.0 });
    }
    /// Removes and returns the next event, if it happens no later than `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        let limit = limit.as_picoseconds();
        let Wakeup { time, slot } = if !self.today.is_empty() {
            self.today.pop_if(|next| next.time <= limit)?
        } else if let Some(only) = self.year.take_only(self.later_from, limit) {
            // Most days have one wake-up and need no sorting.
            only
        } else {
            self.take_from_next_day(limit)?
        };
        self.until_check -= 1;
        if self.until_check == 0 {
            self.adapt_calendar(time);
        }
        Some((Time::from_picoseconds(time), self.registered[slot as usize]))
    }
    /// Returns the time of the next event; `None` if there is none.
    pub fn next_at(&mut self) -> Option<Time> {
        if self.today.is_empty() {
            self.advance_day()?;
        }
        self.today.last().map(|wakeup| Time::from_picoseconds(wakeup.time))
    }
    /// Returns some of the next events, in order: one event of each day of the next week that has events,
    /// without the current day.
    #[inline]
    pub fn upcoming(&self) -> impl Iterator<Item = &E> + '_ {
        self.year.upcoming().map(|slot| &self.registered[slot as usize])
    }
    /// The number of pending wake-ups.
    pub fn len(&self) -> usize {
        (self.scheduled - self.taken()) as usize
    }
    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of events taken since the start.
    pub fn taken(&self) -> u64 {
        self.taken_at_check - self.until_check
    }
    /// Returns all registered events, by the index of their slot, and the pending wake-ups as times and
    /// slots.
    pub fn into_parts(mut self) -> (Vec<E>, Vec<(Time, Slot)>) {
        let mut pending = Vec::with_capacity(self.len());
        let mut add = |Wakeup { time, slot }| pending.push((Time::from_picoseconds(time), Slot(slot)));
        self.today.drain(..).for_each(&mut add);
        self.year.drain(&mut add);
        self.later.drain().for_each(|Reverse(wakeup)| add(wakeup));
        (self.registered, pending)
    }

    /// Adds `wakeup` to its day.
    #[inline]
    fn enter(&mut self, wakeup: Wakeup) {
        let day = self.year.day(wakeup.time);
        if self.year.is_ahead(day) {
            self.year.enter(day, wakeup);
        } else {
            self.enter_outside_year(day, wakeup);
        }
    }

    /// Adds `wakeup` to its `day`, which is not in the year ahead.
    #[inline(never)]
    fn enter_outside_year(&mut self, day: u64, wakeup: Wakeup) {
        if day <= self.year.today() {
            let place = self.today.partition_point(|other| *other > wakeup);
            self.today.insert(place, wakeup);
        } else {
            self.later.push(Reverse(wakeup));
            self.later_from = self.later_from.min(self.year.reached_from(day));
        }
    }

    /// Advances to the next day with a wake-up, and takes the first wake-up of that day if it is not later
    /// than `limit`.
    #[inline(never)]
    fn take_from_next_day(&mut self, limit: u64) -> Option<Wakeup> {
        self.advance_day()?;
        self.today.pop_if(|next| next.time <= limit)
    }

    /// Advances to the next day with a wake-up, and sorts the wake-ups of this day. Returns `None` if no
    /// wake-up is pending.
    fn advance_day(&mut self) -> Option<()> {
        // If the year is empty, the next wake-up is the first entry of `later`.
        let next = self.year.next_day().or_else(|| self.later_day())?;
        self.year.advance_to(next, |wakeup| self.today.push(wakeup));
        if next >= self.later_from {
            self.enter_later();
        }
        self.today.sort_unstable_by(|a, b| b.cmp(a));
        Some(())
    }

    /// The day of the first wake-up of `later`.
    fn later_day(&self) -> Option<u64> {
        self.later.peek().map(|Reverse(first)| self.year.day(first.time))
    }

    /// Moves the wake-ups of `later` that are now less than a year ahead to their days.
    #[inline(never)]
    fn enter_later(&mut self) {
        while let Some(day) = self.later_day().filter(|day| self.year.reached_from(*day) <= self.year.today())
        {
            let Some(Reverse(wakeup)) = self.later.pop() else { break };
            if day <= self.year.today() {
                self.today.push(wakeup);
            } else {
                self.year.enter(day, wakeup);
            }
        }
        self.later_from = self.later_day().map_or(u64::MAX, |day| self.year.reached_from(day));
    }

    /// Replaces the calendar if the length of a day or the number of days no longer suits the pending events.
    #[inline(never)]
    fn adapt_calendar(&mut self, now: u64) {
        let gap = (now - self.checked_at) / SAMPLE;
        self.checked_at = now;
        self.taken_at_check += SAMPLE;
        self.until_check = SAMPLE;
        let pending = self.len();
        if !self.year.suits(gap, pending) {
            let mut all: Vec<Wakeup> = Vec::with_capacity(pending);
            all.append(&mut self.today);
            self.year.drain(|wakeup| all.push(wakeup));
            all.extend(self.later.drain().map(|Reverse(wakeup)| wakeup));
            self.later_from = u64::MAX;
            self.year = Wheel::suiting(gap, pending, now);
            for wakeup in all {
                self.enter(wakeup);
            }
        }
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
    fn events_after_the_limit_stay() {
        let mut agenda = Agenda::new();
        let slot = agenda.register(());
        agenda.schedule(slot, Time::from_seconds(2));
        assert_eq!(agenda.pop_until(Time::from_seconds(1)), None);
        assert_eq!(agenda.pop_until(Time::from_seconds(2)), Some((Time::from_seconds(2), ())));
        assert!(agenda.is_empty());
    }

    /// Returns delays of simultaneous, dense, sparse and distant events, so that all lists of the calendar
    /// and days of all lengths are used.
    fn delay() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0u64..1000, 0u64..5_000_000, 0u64..100_000_000_000]
    }

    #[test]
    fn upcoming_events_cross_the_end_of_a_week() {
        let mut agenda = Agenda::new();
        // Days have 2^18 ps. The 14 events are on every ninth day from day 1 to day 118, in two weeks of 64
        // days.
        for number in 0..14 {
            let slot = agenda.register(number);
            agenda.schedule(slot, Time::from_picoseconds((1 + 9 * number) << 18));
        }
        for taken in 0..14 {
            // The next seven events are less than 64 days ahead.
            let upcoming: Vec<u64> = agenda.upcoming().take(7).copied().collect();
            assert_eq!(upcoming, (taken..14).take(7).collect::<Vec<_>>(), "after {taken} events");
            assert_eq!(agenda.pop_until(Time::MAX).map(|(_, number)| number), Some(taken));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Compares the agenda with a sorted list. For any sequence of calls, the order of events must be the
        /// same.
        #[test]
        fn behaves_like_a_sorted_list(
            operations in prop::collection::vec((0usize..20, delay(), any::<bool>(), any::<bool>()), 1..6000)
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
