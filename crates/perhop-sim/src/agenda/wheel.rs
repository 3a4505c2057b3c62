//! [`Wheel`]: the days of the year ahead, and what is put down on them.

use super::Wakeup;

/// No entry.
const NONE: u32 = u32::MAX;
/// Days of the smallest and of the largest year, powers of two.
const FEWEST_DAYS: usize = DAYS_OF_A_WEEK;
const MOST_DAYS: usize = 1 << 18;
/// As many as a word has bits.
const DAYS_OF_A_WEEK: usize = 64;
/// How many halvings of the distance of events make a day.
const HALVINGS: u32 = 2;

/// A wake-up, and the next of the same day.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    slot: u32,
    next: u32,
}

impl Entry {
    #[inline]
    fn wakeup(&self) -> Wakeup {
        Wakeup { time: self.time, slot: self.slot }
    }
}

/// What is put down on some days in a row.
#[derive(Clone, Copy, Debug)]
struct Week {
    /// One bit for each day that has an entry.
    occupied: u64,
    /// First entry of each day.
    first: [u32; DAYS_OF_A_WEEK],
}

impl Week {
    /// How many days after `day`, which is in it, the first is that has an entry, as far as the week goes.
    #[inline]
    fn days_to_entry(&self, day: u64) -> Option<u64> {
        // Shifting takes the bit of a day by its place in the week.
        let ahead = self.occupied >> (day % DAYS_OF_A_WEEK as u64);
        (ahead != 0).then(|| u64::from(ahead.trailing_zeros()))
    }
}

const EMPTY_WEEK: Week = Week { occupied: 0, first: [NONE; DAYS_OF_A_WEEK] };

/// Days of equal length, numbered from the start of time, and what is put down on those after today, less than a year
/// ahead: in no order within a day.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Length of a day: so many bits of a time in picoseconds.
    day_bits: u32,
    today: u64,
    weeks: Vec<Week>,
    entries: Vec<Entry>,
    /// The first of the entries that are not in use.
    free: u32,
}

impl Wheel {
    /// A year for events of which nothing is known: as if they were a microsecond apart.
    pub(super) fn new() -> Wheel {
        Wheel::suiting(1 << 20, 0, 0)
    }
    /// A year for `pending` events that are `gap` picoseconds apart, at `now`.
    pub(super) fn suiting(gap: u64, pending: usize, now: u64) -> Wheel {
        let day_bits = day_bits(gap);
        Wheel {
            day_bits,
            today: now >> day_bits,
            weeks: vec![EMPTY_WEEK; days(pending) / DAYS_OF_A_WEEK],
            entries: Vec::with_capacity(pending),
            free: NONE,
        }
    }
    /// Whether it is about as [`Wheel::suiting`] would make it.
    pub(super) fn suits(&self, gap: u64, pending: usize) -> bool {
        let (own, days) = (self.days() as usize, days(pending));
        day_bits(gap).abs_diff(self.day_bits) < 2 && days <= 2 * own && own <= 4 * days
    }

    /// How many days the year has.
    #[inline]
    fn days(&self) -> u64 {
        (self.weeks.len() * DAYS_OF_A_WEEK) as u64
    }
    pub(super) fn today(&self) -> u64 {
        self.today
    }
    /// The day of a `time` in picoseconds.
    #[inline]
    pub(super) fn day(&self, time: u64) -> u64 {
        time >> self.day_bits
    }
    /// Whether `day` is after today and less than a year ahead.
    #[inline]
    pub(super) fn is_ahead(&self, day: u64) -> bool {
        // In one comparison: of a day that is not after today the difference is past all others.
        day.wrapping_sub(self.today + 1) < self.days() - 1
    }
    /// The first day on which `day` is less than a year ahead.
    pub(super) fn reached_from(&self, day: u64) -> u64 {
        day.saturating_sub(self.days() - 1)
    }

    /// The place of the week of `day`.
    #[inline]
    fn week(&self, day: u64) -> usize {
        (day as usize / DAYS_OF_A_WEEK) & (self.weeks.len() - 1)
    }

    /// Puts `wakeup` down on `day`, which [is ahead](Wheel::is_ahead).
    #[inline]
    pub(super) fn put_down(&mut self, day: u64, Wakeup { time, slot }: Wakeup) {
        let (week, day) = (self.week(day), day as usize % DAYS_OF_A_WEEK);
        let week = &mut self.weeks[week];
        let index = self.free;
        week.occupied |= 1 << day;
        if let Some(unused) = self.entries.get_mut(index as usize) {
            self.free = unused.next;
            unused.time = time;
            unused.slot = slot;
            unused.next = std::mem::replace(&mut week.first[day], index);
        } else {
            let next = std::mem::replace(&mut week.first[day], self.entries.len() as u32);
            self.add(Entry { time, slot, next });
        }
    }
    #[cold]
    #[inline(never)]
    fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// The first day after today that has an entry.
    pub(super) fn next_day(&self) -> Option<u64> {
        let mut day = self.today + 1;
        // Round the year, to the days before tomorrow in its own week.
        for _ in 0..=self.weeks.len() {
            if let Some(days) = self.weeks[self.week(day)].days_to_entry(day) {
                return Some(day + days);
            }
            day += (DAYS_OF_A_WEEK - day as usize % DAYS_OF_A_WEEK) as u64;
        }
        None
    }

    /// Makes `day` today. None of those between has an entry.
    pub(super) fn turn_to(&mut self, day: u64) {
        self.today = day;
    }
    /// Takes off one of the entries of the day that has just become today, and says whether there are others.
    pub(super) fn take_one(&mut self) -> Option<(Wakeup, bool)> {
        self.take_one_of(self.week(self.today))
    }
    /// Turns to the next day that has an entry and takes off one of them, as [`Wheel::take_one`] does, where that day is in
    /// the week of tomorrow and before `limit`. Else everything remains.
    #[inline]
    pub(super) fn turn_within_week(&mut self, limit: u64) -> Option<(Wakeup, bool)> {
        let tomorrow = self.today + 1;
        let week = self.week(tomorrow);
        let day = tomorrow + self.weeks[week].days_to_entry(tomorrow)?;
        if day >= limit {
            return None;
        }
        self.today = day;
        self.take_one_of(week)
    }
    /// Takes off one of today's entries; today is in `week`.
    #[inline]
    fn take_one_of(&mut self, week: usize) -> Option<(Wakeup, bool)> {
        let day = self.today as usize % DAYS_OF_A_WEEK;
        let week = &mut self.weeks[week];
        let index = week.first[day];
        let entry = self.entries.get_mut(index as usize)?;
        let next = std::mem::replace(&mut entry.next, self.free);
        self.free = index;
        week.first[day] = next;
        let is_last = next == NONE;
        if is_last {
            week.occupied &= !(1 << day);
        }
        Some((entry.wakeup(), !is_last))
    }
    /// Takes off everything.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Wakeup)) {
        for week in &mut self.weeks {
            for first in week.first {
                let mut index = first;
                while let Some(entry) = self.entries.get(index as usize) {
                    take(entry.wakeup());
                    index = entry.next;
                }
            }
            *week = EMPTY_WEEK;
        }
        self.entries.clear();
        self.free = NONE;
    }
}

/// How long a day is for events that are `gap` picoseconds apart: so short that few days have two, for those would have
/// to be sorted.
fn day_bits(gap: u64) -> u32 {
    gap.max(1).ilog2().saturating_sub(HALVINGS)
}

/// Days of the year for `pending` events: so many that most of them lie within it.
fn days(pending: usize) -> usize {
    ((2 * pending) << HALVINGS).next_power_of_two().clamp(FEWEST_DAYS, MOST_DAYS)
}
