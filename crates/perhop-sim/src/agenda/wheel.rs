//! [`Wheel`]: the days of the year ahead, and what is put down on them.

use super::Wakeup;

/// No entry.
const NONE: u32 = u32::MAX;
/// Days of the smallest and of the largest year, powers of two.
const FEWEST_DAYS: usize = 64;
const MOST_DAYS: usize = 1 << 18;

/// A wake-up, and the next of the same day.
#[derive(Clone, Copy, Debug)]
struct Entry {
    wakeup: Wakeup,
    next: u32,
}

/// Days of equal length, numbered from the start of time, and what is put down on those after today, less than a year
/// ahead: in no order within a day.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Length of a day: so many bits of a time in picoseconds.
    day_bits: u32,
    today: u64,
    /// First entry of each day of the year.
    first: Vec<u32>,
    /// One bit for each day that has an entry.
    occupied: Vec<u64>,
    entries: Vec<Entry>,
    /// The first of the entries that are not in use.
    free: u32,
    len: usize,
}

impl Wheel {
    /// A year for events of which nothing is known: days of a microsecond.
    pub(super) fn new() -> Wheel {
        Wheel::suiting(1 << 20, 0, 0)
    }
    /// A year for `pending` events that are `gap` picoseconds apart, at `now`.
    pub(super) fn suiting(gap: u64, pending: usize, now: u64) -> Wheel {
        let days = days(pending);
        let day_bits = gap.max(1).ilog2();
        Wheel {
            day_bits,
            today: now >> day_bits,
            first: vec![NONE; days],
            occupied: vec![0; days.div_ceil(64)],
            entries: Vec::with_capacity(pending),
            free: NONE,
            len: 0,
        }
    }
    /// Whether it is about as [`Wheel::suiting`] would make it.
    pub(super) fn suits(&self, gap: u64, pending: usize) -> bool {
        let days = days(pending);
        gap.max(1).ilog2().abs_diff(self.day_bits) < 2
            && days <= 2 * self.first.len()
            && self.first.len() <= 4 * days
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
    pub(super) fn today(&self) -> u64 {
        self.today
    }
    /// The day of a `time` in picoseconds.
    #[inline]
    pub(super) fn day(&self, time: u64) -> u64 {
        time >> self.day_bits
    }
    /// When `day` begins, picoseconds.
    #[inline]
    pub(super) fn begins(&self, day: u64) -> u64 {
        day << self.day_bits
    }
    /// Whether `day` is less than a year ahead.
    #[inline]
    pub(super) fn reaches(&self, day: u64) -> bool {
        day < self.today.saturating_add(self.first.len() as u64)
    }

    #[inline]
    fn place(&self, day: u64) -> usize {
        day as usize & (self.first.len() - 1)
    }

    /// Puts `wakeup` down on `day`, which is after today and less than a year ahead.
    #[inline]
    pub(super) fn put_down(&mut self, day: u64, wakeup: Wakeup) {
        let place = self.place(day);
        let entry = Entry { wakeup, next: self.first[place] };
        let index = self.free;
        self.first[place] = if let Some(unused) = self.entries.get_mut(index as usize) {
            self.free = unused.next;
            *unused = entry;
            index
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.occupied[place / 64] |= 1 << (place % 64);
        self.len += 1;
    }

    /// The first day after today that has an entry.
    #[inline]
    pub(super) fn next_day(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let start = self.place(self.today + 1);
        let (words, shift) = (self.occupied.len(), start % 64);
        let ahead = self.occupied[start / 64] >> shift;
        if ahead != 0 {
            return Some(self.today + 1 + u64::from(ahead.trailing_zeros()));
        }
        // Round the year, to the days before `start` in its own word.
        let mut passed = 64 - shift as u64;
        for word in 1..=words {
            let days = self.occupied[(start / 64 + word) & (words - 1)];
            if days != 0 {
                return Some(self.today + 1 + passed + u64::from(days.trailing_zeros()));
            }
            passed += 64;
        }
        None
    }

    /// Makes `day` today. None of those between has an entry.
    #[inline]
    pub(super) fn turn_to(&mut self, day: u64) {
        self.today = day;
    }
    /// Takes off what is put down on the day that has just become today.
    #[inline]
    pub(super) fn take_today(&mut self, take: impl FnMut(Wakeup)) {
        self.take(self.place(self.today), take);
    }
    fn take(&mut self, place: usize, mut take: impl FnMut(Wakeup)) {
        let mut index = std::mem::replace(&mut self.first[place], NONE);
        self.occupied[place / 64] &= !(1 << (place % 64));
        while let Some(entry) = self.entries.get_mut(index as usize) {
            take(entry.wakeup);
            let next = std::mem::replace(&mut entry.next, self.free);
            self.free = index;
            index = next;
            self.len -= 1;
        }
    }
    /// Takes off everything.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Wakeup)) {
        (0..self.first.len()).for_each(|place| self.take(place, &mut take));
    }
}

/// Days of the year for `pending` events: twice as many, so that most of them lie within it.
fn days(pending: usize) -> usize {
    (2 * pending).next_power_of_two().clamp(FEWEST_DAYS, MOST_DAYS)
}
