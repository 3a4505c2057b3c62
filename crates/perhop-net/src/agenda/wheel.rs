//! [`Wheel`]: the days of the year ahead, and their wake-ups.

/// The index that means that there is no entry.
const NONE: u32 = u32::MAX;
/// The minimum number of days in a year, a power of two.
const FEWEST_DAYS: usize = DAYS_OF_A_WEEK;
/// The maximum number of days in a year, a power of two.
const MOST_DAYS: usize = 1 << 18;
/// The number of days in a week, which is the number of bits of `Week::occupied`.
const DAYS_OF_A_WEEK: usize = 64;
/// The length of a day is the time between events, halved `HALVINGS` times.
const HALVINGS: u32 = 2;

/// A wake-up, ordered by time, then by slot. Simultaneous wake-ups happen in the order in which their slots
/// were registered. The order of the calls of `schedule` therefore does not change the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wakeup {
    /// The time, picoseconds.
    pub(super) time: u64,
    pub(super) slot: u32,
}

/// A wake-up, and the index of the next wake-up of the same day.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))] // so that an entry is in one cache line
struct Entry {
    time: u64,
    slot: u32,
    next: u32,
}

impl Entry {
    const EMPTY: Entry = Entry { time: 0, slot: 0, next: NONE };

    #[inline]
    fn wakeup(&self) -> Wakeup {
        Wakeup { time: self.time, slot: self.slot }
    }
}

/// The wake-ups of 64 consecutive days.
#[derive(Clone, Copy, Debug)]
struct Week {
    /// One bit for each day with an entry.
    occupied: u64,
    /// The first entry of each day that has an entry.
    first: [Entry; DAYS_OF_A_WEEK],
}

impl Week {
    const EMPTY: Week = Week { occupied: 0, first: [Entry::EMPTY; DAYS_OF_A_WEEK] };

    /// Returns the number of days from `day`, which is in this week, to the next day of the week with an
    /// entry. Returns 0 if `day` has an entry, and `None` if no such day exists.
    #[inline]
    fn days_to_entry(&self, day: u64) -> Option<u64> {
        // The remainder is the place of `day` in the week.
        let ahead = self.occupied >> (day % DAYS_OF_A_WEEK as u64);
        (ahead != 0).then(|| u64::from(ahead.trailing_zeros()))
    }
}

/// Days of equal length, numbered from time 0. The wheel contains the wake-ups of the days after today that
/// are less than a year ahead. The wake-ups of a day are unsorted.
///
/// Few days have two or more wake-ups, so each day stores one wake-up directly. Further wake-ups of the day
/// are in a list.
#[derive(Debug)]
pub(super) struct Wheel {
    /// The binary logarithm of the length of a day in picoseconds.
    day_bits: u32,
    /// The day after today.
    tomorrow: u64,
    /// The number of days of the year minus one. Used as a mask, it selects the place of a day in the year
    /// from the number of the day.
    place_bits: u64,
    weeks: Vec<Week>,
    /// The wake-ups of days that already have an entry in `weeks`.
    others: Vec<Entry>,
    /// The first free entry of `others`.
    free: u32,
}

impl Wheel {
    /// Creates a year for events whose times are not known yet. The year suits events that are a microsecond
    /// apart.
    pub(super) fn new() -> Wheel {
        Wheel::suiting(1 << 20, 0, 0)
    }
    /// Creates a year for `pending` events that are `gap` picoseconds apart, at `now`.
    pub(super) fn suiting(gap: u64, pending: usize, now: u64) -> Wheel {
        let (day_bits, days) = (day_bits(gap), days(pending));
        Wheel {
            day_bits,
            tomorrow: (now >> day_bits) + 1,
            place_bits: days as u64 - 1,
            weeks: vec![Week::EMPTY; days / DAYS_OF_A_WEEK],
            others: Vec::new(),
            free: NONE,
        }
    }
    /// Whether the length of a day and the number of days are close to the values that [`Wheel::suiting`]
    /// would choose.
    pub(super) fn suits(&self, gap: u64, pending: usize) -> bool {
        let (own, days) = (self.place_bits as usize + 1, days(pending));
        day_bits(gap).abs_diff(self.day_bits) < 2 && days <= 2 * own && own <= 4 * days
    }

    pub(super) fn today(&self) -> u64 {
        self.tomorrow - 1
    }
    /// The day of a `time` in picoseconds.
    #[inline]
    pub(super) fn day(&self, time: u64) -> u64 {
        time >> self.day_bits
    }
    /// Whether `day` is after today and less than a year ahead.
    #[inline]
    pub(super) fn is_ahead(&self, day: u64) -> bool {
        // For a day that is not after today, the difference wraps to a large number, so that one comparison
        // is sufficient.
        day.wrapping_sub(self.tomorrow) < self.place_bits
    }
    /// The first day on which `day` is less than a year ahead.
    pub(super) fn reached_from(&self, day: u64) -> u64 {
        day.saturating_sub(self.place_bits)
    }

    /// The index of the week of `day`.
    #[inline]
    fn week(&self, day: u64) -> usize {
        (day & self.place_bits) as usize / DAYS_OF_A_WEEK
    }

    /// Adds `wakeup` to `day`, which [is ahead](Wheel::is_ahead).
    #[inline]
    pub(super) fn enter(&mut self, day: u64, wakeup: Wakeup) {
        let (week, place) = (self.week(day), day as usize % DAYS_OF_A_WEEK);
        let week = &mut self.weeks[week];
        if week.occupied & 1 << place != 0 {
            return self.add_to_day(day, wakeup);
        }
        week.occupied |= 1 << place;
        week.first[place] = Entry { time: wakeup.time, slot: wakeup.slot, next: NONE };
    }
    /// Adds a wake-up to a day that already has one.
    #[inline(never)]
    fn add_to_day(&mut self, day: u64, Wakeup { time, slot }: Wakeup) {
        let week = self.week(day);
        let first = &mut self.weeks[week].first[day as usize % DAYS_OF_A_WEEK];
        let entry = Entry { time, slot, next: first.next };
        if let Some(unused) = self.others.get_mut(self.free as usize) {
            first.next = std::mem::replace(&mut self.free, unused.next);
            *unused = entry;
        } else {
            first.next = self.others.len() as u32;
            self.others.push(entry);
        }
    }

    /// Returns the slot of the first entry of each day that has an entry, from tomorrow on and less than 64
    /// days ahead.
    #[inline]
    pub(super) fn upcoming(&self) -> impl Iterator<Item = u32> + '_ {
        let place = self.tomorrow % DAYS_OF_A_WEEK as u64;
        let [this, next] = [0, DAYS_OF_A_WEEK as u64].map(|days| self.week(self.tomorrow + days));
        // Two shifts, because a shift by 64 is not defined.
        let following = (self.weeks[next].occupied << 1) << (DAYS_OF_A_WEEK as u64 - 1 - place);
        let mut days = self.weeks[this].occupied >> place | following;
        std::iter::from_fn(move || {
            let day = (days != 0).then(|| self.tomorrow + u64::from(days.trailing_zeros()))?;
            days &= days - 1;
            Some(self.weeks[self.week(day)].first[day as usize % DAYS_OF_A_WEEK].slot)
        })
    }

    /// Returns the first day after today with an entry.
    pub(super) fn next_day(&self) -> Option<u64> {
        let mut day = self.tomorrow;
        // The first and the last iteration read the week of tomorrow. The last iteration finds the days of
        // this week before tomorrow, which belong to the next year.
        for _ in 0..=self.weeks.len() {
            if let Some(days) = self.weeks[self.week(day)].days_to_entry(day) {
                return Some(day + days);
            }
            day += (DAYS_OF_A_WEEK - day as usize % DAYS_OF_A_WEEK) as u64;
        }
        None
    }

    /// Advances to the next day with an entry, and removes and returns the entry. Three conditions must be
    /// met: the entry is the only one of its day, it is not later than `limit`, and the day is in the week of
    /// tomorrow and before `end`. Otherwise, changes nothing and returns `None`.
    #[inline]
    pub(super) fn take_only(&mut self, end: u64, limit: u64) -> Option<Wakeup> {
        let week = self.week(self.tomorrow);
        let week = &mut self.weeks[week];
        let day = self.tomorrow + week.days_to_entry(self.tomorrow)?;
        let place = day as usize % DAYS_OF_A_WEEK;
        let only = week.first[place];
        if day >= end || only.time > limit || only.next != NONE {
            return None;
        }
        week.occupied &= !(1 << place);
        self.tomorrow = day + 1;
        Some(only.wakeup())
    }
    /// Advances to `day`, removes its entries, and calls `take` for each. No earlier day may have an entry.
    pub(super) fn advance_to(&mut self, day: u64, mut take: impl FnMut(Wakeup)) {
        self.tomorrow = day + 1;
        let (week, place) = (self.week(day), day as usize % DAYS_OF_A_WEEK);
        let week = &mut self.weeks[week];
        if week.occupied & 1 << place == 0 {
            return;
        }
        week.occupied &= !(1 << place);
        let Entry { mut next, .. } = week.first[place];
        take(week.first[place].wakeup());
        while let Some(other) = self.others.get_mut(next as usize) {
            take(other.wakeup());
            let freed = std::mem::replace(&mut self.free, next);
            next = std::mem::replace(&mut other.next, freed);
        }
    }
    /// Removes all entries, and calls `take` for each.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Wakeup)) {
        while let Some(day) = self.next_day() {
            self.advance_to(day, &mut take);
        }
    }
}

/// Returns the binary logarithm of the length of a day in picoseconds, for events that are `gap` picoseconds
/// apart. Days are so short that few of them have two events, which would have to be sorted.
fn day_bits(gap: u64) -> u32 {
    gap.max(1).ilog2().saturating_sub(HALVINGS)
}

/// Returns the number of days in the year for `pending` events, so that the year contains most of the events.
fn days(pending: usize) -> usize {
    ((2 * pending) << HALVINGS).next_power_of_two().clamp(FEWEST_DAYS, MOST_DAYS)
}
