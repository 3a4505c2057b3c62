//! Hierarchical token bucket, as Linux has it (`net/sched/sch_htb.c` of 6.1; M. Devera, "Hierarchical token
//! bucket theory", 2002): guaranteed rates, ceilings, and borrowing from classes around a class.
//!
//! Time is counted in whole nanoseconds and tokens are the nanoseconds that their rate takes, as in the
//! kernel.

mod activity;
mod bucket;
mod build;
mod feed;

use super::contract::Scheduler;
use super::tournament::Tournament;
use super::virtual_time::Virtual;
use crate::units::Time;
use bucket::{Bucket, LONGEST_MEMORY, Mode};
use feed::{Feed, Group};

/// Levels of classes (`TC_HTB_MAXDEPTH`): a class with a queue is at 0, an outermost class with classes
/// inside at 7, and what is inside it one below.
const LEVELS: usize = 8;
/// Priorities of classes with queues (`TC_HTB_NUMPRIO`).
const PRIORITIES: usize = 8;

/// Hierarchical token bucket over queues, or schedulers, of which it sees the heads.
#[derive(Clone, Debug)]
pub struct Htb {
    /// Those with queues first, in the order of the children.
    classes: Vec<Class>,
    levels: Vec<Level>,
    /// What takes turns: for each level the classes that may send at their own rate, then for each class with
    /// classes inside those that borrow from it.
    groups: Vec<Group>,
    /// By group, for each priority.
    feeds: Vec<Feed>,
    /// The child that is served before all classes and has no rate.
    direct: Option<usize>,
    /// What the last choice was.
    decision: Option<Decision>,
    held_until: Option<Time>,
}

/// A class with a queue, or with classes inside.
#[derive(Clone, Debug)]
struct Class {
    parent: Option<u16>,
    level: u8,
    /// Its place among the classes of its level.
    row_seat: u16,
    /// Its place among the classes inside its parent.
    feed_seat: u16,
    /// The group of the classes inside it; of no meaning where it has a queue.
    inside: u16,
    rate: Bucket,
    ceil: Bucket,
    /// When the buckets were filled last, in nanoseconds.
    filled_at: i64,
    mode: Mode,
    /// A bit for each priority at which it, or a class that borrows from it, has something to send.
    active: u8,
    priority: u8,
    /// Bytes that it sends in a turn.
    quantum: i64,
    /// What it has left of its turn, by the level of the class whose tokens it sends with.
    deficits: [i64; LEVELS],
}

/// The classes of a level.
#[derive(Clone, Debug)]
struct Level {
    /// A bit for each priority at which a class of this level may send.
    occupied: u8,
    /// When those change their mode that may not send at their own rate.
    events: Tournament,
}

/// Who sends, and with whose tokens.
#[derive(Clone, Copy, Debug)]
enum Decision {
    Direct,
    /// Of the class at this level around it.
    Leaf {
        child: usize,
        level: usize,
        priority: usize,
    },
}

impl Htb {
    /// Lets the classes of `level` change their modes whose time has come (`htb_do_events`).
    fn run_events(&mut self, level: usize, now: i64) {
        while let Some(due) = self.next_event(level).filter(|due| *due <= now) {
            let events = &mut self.levels[level].events;
            let Some(seat) = events.winner() else { return };
            events.set(seat, None);
            let index = usize::from(self.groups[level].members[seat]);
            debug_assert!(due <= now);
            let since = self.classes[index].since(now);
            let wait = self.change_mode(index, since);
            self.wait(index, now, wait);
        }
    }

    /// When the next class of `level` changes its mode, in nanoseconds.
    fn next_event(&self, level: usize) -> Option<i64> {
        self.levels[level].events.least().map(|due| due as i64)
    }

    /// `index` is asked for its mode again after `wait` ns, where it has to wait for one (the wait queue).
    fn wait(&mut self, index: usize, now: i64, wait: i64) {
        let class = &self.classes[index];
        if class.mode != Mode::CanSend {
            let due = now.saturating_add(wait).max(now + 1);
            self.levels[usize::from(class.level)]
                .events
                .set(usize::from(class.row_seat), Some(due.unsigned_abs().into()));
        }
    }

    /// The mode of `index` so many nanoseconds after its buckets were filled; returns how long until the
    /// next.
    fn change_mode(&mut self, index: usize, since: i64) -> i64 {
        let (mode, wait) = bucket::mode(&self.classes[index].rate, &self.classes[index].ceil, since);
        if mode != self.classes[index].mode {
            self.set_mode(index, mode);
        }
        wait
    }

    /// Who sends at `now`: the lowest level at which a class may send, there the highest priority, there
    /// whose turn it is (`htb_dequeue`).
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

    /// Counts a packet of `length` bytes for `child` and all classes around it: ceilings everywhere, rates
    /// from the class at `level` on, which lends (`htb_charge_class`).
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
                self.wait(index, now, wait);
            }
        }
    }

    /// `child` has this head from now on, or none.
    fn note_head(&mut self, child: usize, head: u32) {
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
    /// Nanoseconds for which its buckets have to be filled at `now`.
    fn since(&self, now: i64) -> i64 {
        (now - self.filled_at).min(LONGEST_MEMORY)
    }
}

/// The whole nanoseconds of `now`, the kernel's clock.
fn nanoseconds(now: Time) -> i64 {
    (now.as_picoseconds() / 1000).cast_signed()
}

impl Scheduler for Htb {
    fn enqueued(&mut self, _: Time, _: usize, _: u32) {}

    fn head_changed(&mut self, child: usize, head: u32) {
        self.note_head(child, head);
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
        self.note_head(child, next);
        self.charge(nanoseconds(now), child, level, length);
    }

    fn dropped(&mut self, _: Time, child: usize, _: u32, next: u32) {
        self.decision = None;
        self.note_head(child, next);
    }
    /// Tokens come in with time.
    fn heeds_time(&self) -> bool {
        true
    }
    fn holds_back(&self) -> bool {
        true
    }
    fn held_until(&self) -> Option<Time> {
        self.held_until
    }
}

/// Instants fit the tags of a [`Tournament`].
const _: () = assert!(i64::BITS < Virtual::BITS);
