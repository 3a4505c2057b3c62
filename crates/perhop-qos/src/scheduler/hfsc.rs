//! Hierarchical fair service curves, HFSC (I. Stoica, H. Zhang, T. S. E. Ng, ACM SIGCOMM 1997): real-time
//! service by deadlines, link sharing by virtual times.
//!
//! Details that the paper leaves open are those of Linux (6.1, `net/sched/sch_hfsc.c`), which has them from
//! ALTQ: curves of two pieces, upper limits, where virtual times begin.

mod build;
mod curve;

use super::contract::Scheduler;
use crate::units::Time;
use curve::{NEVER, Runtime, service};

/// HFSC over queues, or schedulers, of which it sees the heads.
#[derive(Clone, Debug)]
pub struct Hfsc {
    /// How many classes have queues: they come first, in the order of the children. Those with classes inside
    /// stand behind them, the wire last.
    leaves: usize,
    classes: Vec<Class>,
    /// Counts what is sorted into the orders of deadlines and virtual times: of two that are equal, who came
    /// first.
    places: u64,
    decision: Option<Decision>,
    held_until: Option<Time>,
    /// A class may have to wait although the wire is free.
    may_hold_back: bool,
}

/// Who sends, and by which of the two criteria.
#[derive(Clone, Copy, Debug)]
struct Decision {
    child: usize,
    is_real_time: bool,
}

/// A class with a queue, or with classes inside.
#[derive(Clone, Debug)]
struct Class {
    /// The class that it is inside of; none for the wire.
    parent: Option<usize>,
    /// The classes inside it.
    children: Vec<usize>,
    real_time: Option<RealTime>,
    link_share: Option<Runtime>,
    upper_limit: Option<Runtime>,
    /// Packets that it holds, for a class with a queue.
    waiting: u32,
    /// Classes inside it that share the wire now; for a class with a queue, 1 while packets wait.
    active: u32,
    /// Service that it has had by either criterion.
    total: u128,
    /// Its virtual time, picoseconds.
    virtual_time: u128,
    /// What was added because it could not send while its siblings did.
    adjustment: u128,
    place: u64,
    /// Its periods of backlog, and the one of its parent in which its own began.
    period: u64,
    parent_period: u64,
    /// The smallest virtual time of the classes inside that were served in this period.
    least: u128,
    /// The greatest virtual time at which a class inside went idle: where the next begins.
    greatest_idle: u128,
    /// When its upper limit lets it share again, picoseconds; 0 without one.
    fits_at: u128,
}

/// Real-time service of a class with a queue.
#[derive(Clone, Copy, Debug)]
struct RealTime {
    deadline: Runtime,
    eligible: Runtime,
    /// Service that it has had by this criterion.
    served: u128,
    /// From when on, and by when its head is to be served, picoseconds.
    eligible_at: u128,
    due_at: u128,
    place: u64,
}

impl RealTime {
    /// A period of backlog begins with a head of `length` bytes.
    fn begin(&mut self, now: u128, length: u32) {
        self.deadline.restart(now, self.served);
        self.eligible = self.deadline.eligible();
        self.eligible_at = self.eligible.reaches(self.served);
        self.next(length);
    }
    /// Its head has `length` bytes from now on.
    fn next(&mut self, length: u32) {
        self.due_at = self.deadline.reaches(self.served + service(length));
    }
    /// It has sent `length` bytes in real time.
    fn sent(&mut self, length: u32) {
        self.served += service(length);
        self.eligible_at = self.eligible.reaches(self.served);
    }
}

impl Hfsc {
    /// The class with a queue that is the most urgent of those that may claim real-time service.
    fn real_time(&self, now: u128, heads: &[u32]) -> Option<usize> {
        let claims = self.classes[..self.leaves].iter().enumerate().filter_map(|(leaf, class)| {
            let real_time = class.real_time.as_ref().filter(|claim| claim.eligible_at <= now)?;
            let order = (real_time.due_at, real_time.eligible_at, real_time.place);
            (heads[leaf] > 0).then_some((order, leaf))
        });
        claims.min().map(|(_, leaf)| leaf)
    }

    /// From the wire inwards the class with the least virtual time of those that may send.
    fn link_sharing(&self, now: u128, heads: &[u32]) -> Option<usize> {
        let mut at = self.wire();
        while at >= self.leaves {
            let inside = self.classes[at].children.iter();
            let fit = inside.filter(|child| self.fits_at(**child, heads) <= now);
            at =
                *fit.min_by_key(|child| (self.classes[**child].virtual_time, self.classes[**child].place))?;
        }
        Some(at)
    }

    /// When upper limits let `class` share: its own, and that of one inside with a packet to send.
    fn fits_at(&self, class: usize, heads: &[u32]) -> u128 {
        let limited = &self.classes[class];
        if !limited.is_sharing() {
            return NEVER;
        }
        let inside = if class < self.leaves {
            if heads[class] > 0 { 0 } else { NEVER }
        } else {
            limited.children.iter().map(|child| self.fits_at(*child, heads)).min().unwrap_or(NEVER)
        };
        limited.fits_at.max(inside)
    }

    /// When the first may send of those that wait.
    fn first_release(&self, heads: &[u32]) -> u128 {
        let claims = self.classes[..self.leaves].iter().enumerate().filter(|(leaf, _)| heads[*leaf] > 0);
        let eligible =
            claims.filter_map(|(_, class)| class.real_time.as_ref()).map(|claim| claim.eligible_at);
        let fit = self.classes[self.wire()].children.iter().map(|child| self.fits_at(*child, heads));
        eligible.chain(fit).min().unwrap_or(NEVER)
    }

    /// What all classes are inside of.
    fn wire(&self) -> usize {
        self.classes.len() - 1
    }

    fn take_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    /// The first packet waits for `leaf`: it shares the wire, and so do those around it that did not.
    fn begin_sharing(&mut self, now: u128, leaf: usize) {
        let (mut at, mut begins) = (leaf, true);
        while let Some(parent) = self.classes[at].parent {
            if begins {
                self.classes[at].active += 1;
                begins = self.classes[at].active == 1;
            }
            if begins {
                self.begin_period(now, at, parent);
            }
            at = parent;
        }
    }

    /// A period of backlog of `at` inside `parent` begins: its virtual time is halfway between those of its
    /// siblings, or that of the last sibling that went idle.
    fn begin_period(&mut self, now: u128, at: usize, parent: usize) {
        let siblings = self.classes[parent].children.iter().filter(|child| **child != at);
        let sharing = siblings.map(|child| &self.classes[*child]).filter(|class| class.is_sharing());
        let greatest = sharing.map(|class| class.virtual_time).max();
        let (least, idle) = (self.classes[parent].least, self.classes[parent].greatest_idle);
        let (period, is_idle) = (self.classes[parent].period, self.classes[parent].active == 0);
        if greatest.is_none() {
            self.classes[parent].least = 0;
        }
        let place = self.take_place();
        let class = &mut self.classes[at];
        match greatest {
            Some(greatest) => {
                let between = if least == 0 { greatest } else { u128::midpoint(least, greatest) };
                if class.parent_period != period || between > class.virtual_time {
                    class.virtual_time = between;
                }
            }
            None => class.virtual_time = idle,
        }
        if let Some(share) = &mut class.link_share {
            share.restart(class.virtual_time, class.total);
        }
        (class.adjustment, class.place) = (0, place);
        class.period += 1;
        class.parent_period = period + u64::from(is_idle);
        if let Some(limit) = &mut class.upper_limit {
            limit.restart(now, class.total);
            class.fits_at = limit.reaches(class.total);
        }
    }

    /// `leaf` has sent `length` bytes, or has lost a packet unsent where that is 0: whoever is around it has
    /// had as much, and shares no more where nothing waits.
    fn charge(&mut self, leaf: usize, length: u32) {
        let class = &self.classes[leaf];
        let (mut at, mut ends) = (leaf, class.waiting == 0 && class.link_share.is_some());
        while let Some(parent) = self.classes[at].parent {
            let place = self.take_place();
            let least = self.classes[parent].least;
            let class = &mut self.classes[at];
            class.total += service(length);
            if class.link_share.is_some() && class.active > 0 {
                class.active -= u32::from(ends);
                ends &= class.active == 0;
                class.advance(least, place);
                if ends {
                    let gone = class.virtual_time;
                    let parent = &mut self.classes[parent];
                    parent.greatest_idle = parent.greatest_idle.max(gone);
                }
            }
            at = parent;
        }
    }
}

impl Class {
    /// Whether it has a place among the virtual times of its parent.
    fn is_sharing(&self) -> bool {
        self.active > 0 && self.link_share.is_some()
    }
    /// Its virtual time and upper limit after it was served. One that was passed over, because it did not
    /// fit, does not make up for it: it goes on from `least`.
    fn advance(&mut self, least: u128, place: u64) {
        let Some(share) = &self.link_share else { return };
        let own = share.reaches(self.total).saturating_add(self.adjustment);
        if own < least {
            self.adjustment += least - own;
        }
        (self.virtual_time, self.place) = (own.max(least), place);
        if let Some(limit) = &self.upper_limit {
            self.fits_at = limit.reaches(self.total);
        }
    }
}

impl Scheduler for Hfsc {
    fn enqueued(&mut self, now: Time, child: usize, length: u32) {
        let class = &mut self.classes[child];
        class.waiting += 1;
        if class.waiting > 1 {
            return;
        }
        let (now, place) = (u128::from(now.as_picoseconds()), self.take_place());
        let class = &mut self.classes[child];
        if let Some(real_time) = &mut class.real_time {
            real_time.begin(now, length);
            real_time.place = place;
        }
        if class.link_share.is_some() {
            self.begin_sharing(now, child);
        }
    }

    fn head_changed(&mut self, child: usize, head: u32) {
        if let Some(real_time) = self.classes[child].real_time.as_mut().filter(|_| head > 0) {
            real_time.next(head);
        }
    }

    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        let now = u128::from(now.as_picoseconds());
        let real_time = self.real_time(now, heads);
        let child = real_time.or_else(|| self.link_sharing(now, heads));
        self.decision = child.map(|child| Decision { child, is_real_time: real_time.is_some() });
        self.held_until = None;
        if child.is_none() {
            let release = u64::try_from(self.first_release(heads)).ok();
            self.held_until = release.filter(|at| *at < u64::MAX).map(Time::from_picoseconds);
        }
        child
    }

    fn dequeued(&mut self, _: Time, child: usize, length: u32, next: u32) {
        let Some(decision) = self.decision.take() else { return };
        debug_assert_eq!(decision.child, child);
        if !decision.is_real_time {
            let mut at = child;
            while let Some(parent) = self.classes[at].parent {
                self.classes[parent].least = self.classes[parent].least.max(self.classes[at].virtual_time);
                at = parent;
            }
        }
        self.classes[child].waiting -= 1;
        self.charge(child, length);
        let place = self.take_place();
        if let Some(real_time) = &mut self.classes[child].real_time {
            if decision.is_real_time {
                real_time.sent(length);
                real_time.place = place;
            }
            real_time.next(next);
        }
    }

    fn dropped(&mut self, _: Time, child: usize, _: u32, next: u32) {
        self.decision = None;
        let class = &mut self.classes[child];
        class.waiting -= 1;
        if let Some(real_time) = &mut class.real_time {
            real_time.next(next);
        }
        if class.waiting == 0 {
            self.charge(child, 0);
        }
    }

    /// Claims become eligible, and upper limits let go, with time.
    fn heeds_time(&self) -> bool {
        true
    }
    fn holds_back(&self) -> bool {
        self.may_hold_back
    }
    fn held_until(&self) -> Option<Time> {
        self.held_until
    }
}
