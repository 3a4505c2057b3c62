//! Hierarchical token bucket, as in Linux (`net/sched/sch_htb.c` of 6.1; M. Devera, "Hierarchical token
//! bucket theory", 2002): guaranteed rates, ceilings, and borrowing from ancestors.
//!
//! Like the kernel, this file counts time in whole nanoseconds, and tokens in nanoseconds at the rate of the
//! bucket.

mod activity;
mod bucket;
mod build;
mod feed;
mod quantum;

pub use quantum::{HTB_QUANTA, HTB_RATE_TO_QUANTUM, htb_quantum, htb_rate_quantum};

use super::contract::Scheduler;
use super::tournament::Tournament;
use super::virtual_time::Virtual;
use crate::units::Time;
use bucket::{Bucket, LONGEST_MEMORY, Mode};
use feed::{Feed, Group};

/// The number of levels (`TC_HTB_MAXDEPTH`). A class with a queue has level 0. An outermost class with inner
/// classes has level 7, and each inner class with inner classes is one level lower.
const LEVELS: usize = 8;
/// The number of priorities of classes with queues (`TC_HTB_NUMPRIO`).
const PRIORITIES: usize = 8;

/// Hierarchical token bucket of queues or schedulers. It reads only their heads.
#[derive(Clone, Debug)]
pub struct Htb {
    /// The classes. Classes with queues come first, in the order of the children. Classes with inner classes
    /// follow.
    classes: Vec<Class>,
    levels: Vec<Level>,
    /// The groups of classes that take turns. The first groups are, for each level, the classes that may send
    /// at their own rate. The other groups are, for each class with inner classes, the classes that borrow
    /// from it.
    groups: Vec<Group>,
    /// The active classes of each group, separately for each priority.
    feeds: Vec<Feed>,
    /// The child that is served before all classes. It has no rate.
    direct: Option<usize>,
    /// The class that was selected last, until its packet is dequeued.
    decision: Option<Decision>,
    /// The time until which no class may send, as determined by the last choice.
    held_until: Option<Time>,
}

/// A class with a queue or with inner classes.
#[derive(Clone, Debug)]
struct Class {
    parent: Option<u16>,
    level: u8,
    /// The position (seat) of the class in the group of its level.
    row_seat: u16,
    /// The position (seat) of the class in the group of its parent's inner classes.
    feed_seat: u16,
    /// The index of the group of the inner classes. Unused for a class with a queue.
    inside: u16,
    rate: Bucket,
    ceil: Bucket,
    /// The time at which tokens were last added to the buckets, nanoseconds.
    filled_at: i64,
    mode: Mode,
    /// One bit for each priority at which the class, or a class that borrows from it, has a packet.
    active: u8,
    /// The priority of a class with a queue.
    priority: u8,
    /// The bytes that the class may send in one turn.
    quantum: i64,
    /// The bytes that the class may still send in its turn, separately for each level of the class whose
    /// tokens it uses.
    deficits: [i64; LEVELS],
}

/// The classes of a level.
#[derive(Clone, Debug)]
struct Level {
    /// One bit for each priority at which a class of this level may send.
    occupied: u8,
    /// The time of the next mode check of each class that may not send at its own rate.
    events: Tournament,
}

/// The selected class, and the class whose tokens it uses.
#[derive(Clone, Copy, Debug)]
enum Decision {
    Direct,
    /// `child` uses the tokens of its ancestor at `level`.
    Leaf {
        child: usize,
        level: usize,
        priority: usize,
    },
}

impl Htb {
    /// Updates the mode of each class of `level` whose mode change is due (`htb_do_events`).
    fn run_events(&mut self, level: usize, now: i64) {
        while let Some(due) = self.next_event(level).filter(|due| *due <= now) {
            let events = &mut self.levels[level].events;
            let Some(seat) = events.winner() else { return };
            events.set(seat, None);
            let index = usize::from(self.groups[level].members[seat]);
            debug_assert!(due <= now);
            let since = self.classes[index].since(now);
            let wait = self.change_mode(index, since);
            self.schedule_mode_check(index, now, wait);
        }
    }

    /// The time of the next mode change in `level`, nanoseconds.
    fn next_event(&self, level: usize) -> Option<i64> {
        self.levels[level].events.least().map(|due| due as i64)
    }

    /// Schedules the next check of the mode of class `index` after `wait` ns, if the class may not send at
    /// its own rate (the wait queue of the kernel).
    fn schedule_mode_check(&mut self, index: usize, now: i64, wait: i64) {
        let class = &self.classes[index];
        if class.mode != Mode::CanSend {
            let due = now.saturating_add(wait).max(now + 1);
            self.levels[usize::from(class.level)]
                .events
                .set(usize::from(class.row_seat), Some(due.unsigned_abs().into()));
        }
    }

    /// Updates the mode of class `index`. Tokens were last added to its buckets `since` nanoseconds ago.
    /// Returns the time until the next change of the mode, nanoseconds.
    fn change_mode(&mut self, index: usize, since: i64) -> i64 {
        let (mode, wait) = bucket::mode(&self.classes[index].rate, &self.classes[index].ceil, since);
        if mode != self.classes[index].mode {
            self.set_mode(index, mode);
        }
        wait
    }

    /// Selects the class that sends at `now`: first by the lowest level at which a class may send, then by
    /// the highest priority, then by turn (`htb_dequeue`).
    fn choose(&mut self, now: i64) -> Option<Decision> {
        for level in 0..LEVELS {
            self.run_events(level, now);
            let occupied = self.levels[level].occupied;
            if occupied > 0 {
                let priority = occupied.trailing_zeros() as usize;
                let child = self.whose_turn(level, priority);
                return Some(Decision::Leaf { child, level, priority });
            }
        }
        None
    }

    /// Charges a packet of `length` bytes to `child` and its ancestors. The ceilings of all levels are
    /// charged. The rates are charged from the lending class at `level` upward (`htb_charge_class`).
    fn charge(&mut self, now: i64, child: usize, level: usize, length: u32) {
        let mut next = Some(child);
        while let Some(index) = next {
            let class = &mut self.classes[index];
            let since = class.since(now);
            if usize::from(class.level) >= level {
                class.rate.spend(since, length);
            } else {
                class.rate.fill(since);
            }
            class.ceil.spend(since, length);
            class.filled_at = now;
            next = class.parent.map(usize::from);
            let before = class.mode;
            let wait = self.change_mode(index, 0);
            let class = &self.classes[index];
            if class.mode != before {
                let (level, seat) = (usize::from(class.level), usize::from(class.row_seat));
                self.levels[level].events.set(seat, None);
                self.schedule_mode_check(index, now, wait);
            }
        }
    }

    /// Updates the active classes after the head of `child` has changed. `head` is its length, or 0 without a
    /// head.
    fn update_head(&mut self, child: usize, head: u32) {
        if Some(child) == self.direct {
            return;
        }
        match (head > 0, self.classes[child].active > 0) {
            (true, false) => self.activate(child),
            (false, true) => self.deactivate(child),
            _ => {}
        }
    }
}

impl Class {
    /// The time since tokens were last added to the buckets, nanoseconds, limited to [`LONGEST_MEMORY`].
    fn since(&self, now: i64) -> i64 {
        (now - self.filled_at).min(LONGEST_MEMORY)
    }
}

/// `now` in whole nanoseconds, like the clock of the kernel.
fn nanoseconds(now: Time) -> i64 {
    (now.as_picoseconds() / 1000).cast_signed()
}

impl Scheduler for Htb {
    fn enqueued(&mut self, _: Time, _: usize, _: u32) {}
    /// Returns false, because the scheduler needs only the heads.
    fn counts_arrivals(&self) -> bool {
        false
    }

    fn head_changed(&mut self, child: usize, head: u32) {
        self.update_head(child, head);
    }

    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        self.held_until = None;
        if let Some(direct) = self.direct.filter(|direct| heads[*direct] > 0) {
            self.decision = Some(Decision::Direct);
            return Some(direct);
        }
        self.decision = self.choose(nanoseconds(now));
        if let Some(Decision::Leaf { child, .. }) = self.decision {
            Some(child)
        } else {
            let due = (0..LEVELS).filter_map(|level| self.next_event(level)).min();
            let is_backlogged = heads.iter().any(|head| *head > 0);
            let due = due.filter(|_| is_backlogged);
            self.held_until = due.map(|due| Time::from_nanoseconds(due.unsigned_abs()));
            None
        }
    }

    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32) {
        let Some(Decision::Leaf { child: chosen, level, priority }) = self.decision.take() else { return };
        debug_assert_eq!(chosen, child);
        self.count_turn(child, level, priority, length);
        self.update_head(child, next);
        self.charge(nanoseconds(now), child, level, length);
    }

    fn dropped(&mut self, _: Time, child: usize, _: u32, next: u32) {
        self.decision = None;
        self.update_head(child, next);
    }
    /// Returns true, because the tokens of the buckets grow with time.
    fn depends_on_time(&self) -> bool {
        true
    }
    fn holds_back(&self) -> bool {
        true
    }
    fn held_until(&self) -> Option<Time> {
        self.held_until
    }
}

/// Checks that times fit in the tags of a [`Tournament`].
const _: () = assert!(i64::BITS < Virtual::BITS);
