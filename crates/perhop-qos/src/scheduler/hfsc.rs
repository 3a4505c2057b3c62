//! Hierarchical fair service curves, HFSC (I. Stoica, H. Zhang, T. S. E. Ng, ACM SIGCOMM 1997): real-time
//! service by deadlines, and link sharing by virtual times.
//!
//! Details that the paper leaves open follow Linux (6.1, `net/sched/sch_hfsc.c`), which follows ALTQ: curves
//! of two pieces, upper limits, and the initial values of virtual times.

mod build;
mod curve;

use super::contract::Scheduler;
use crate::units::Time;
use curve::{NEVER, Runtime, service};

/// HFSC of queues or schedulers. It reads only their heads.
#[derive(Clone, Debug)]
pub struct Hfsc {
    /// The number of classes with queues. They are the first classes, in the order of the children. Classes
    /// with inner classes follow, and the wire is the last class.
    leaves: usize,
    classes: Vec<Class>,
    /// The last number that was assigned to a class. Among classes with equal deadlines or virtual times, the
    /// class with the lowest number is served first.
    places: u64,
    /// The class that was selected last, until its packet is dequeued.
    decision: Option<Decision>,
    /// The time until which no class may send, as determined by the last choice.
    held_until: Option<Time>,
    /// Whether upper limits can hold back all classes although the wire is free.
    may_hold_back: bool,
}

/// The selected class, and the criterion that selected it.
#[derive(Clone, Copy, Debug)]
struct Decision {
    child: usize,
    is_real_time: bool,
}

/// A class with a queue or with inner classes.
#[derive(Clone, Debug)]
struct Class {
    /// The parent of the class. `None` for the wire.
    parent: Option<usize>,
    /// The inner classes.
    children: Vec<usize>,
    /// The real-time service. Only for a class with a queue.
    real_time: Option<RealTime>,
    link_share: Option<Runtime>,
    upper_limit: Option<Runtime>,
    /// The number of packets in a class with a queue.
    waiting: u32,
    /// The number of inner classes that currently share the wire. For a class with a queue, 1 while packets
    /// wait.
    active: u32,
    /// The service that the class has received by the real-time and the link-sharing criterion.
    total: u128,
    /// The virtual time of the class, picoseconds.
    virtual_time: u128,
    /// The sum of the increases of the virtual time for times at which the class could not send but its
    /// siblings sent.
    adjustment: u128,
    /// The position among siblings with equal virtual times.
    place: u64,
    /// The number of the class's backlog period.
    period: u64,
    /// The number of the parent's backlog period in which the backlog period of this class began.
    parent_period: u64,
    /// The virtual time of the inner class that link sharing selected last in this period, before that class
    /// was charged. It is 0 if no class was selected. It never decreases (`cl_cvtmin`).
    least: u128,
    /// The greatest virtual time of an inner class when it became idle. If no inner class is active, the next
    /// one starts at this time.
    greatest_idle: u128,
    /// The next time at which the upper limit permits service, picoseconds. It is 0 without an upper limit.
    fits_at: u128,
}

/// The real-time service of a class with a queue.
#[derive(Clone, Copy, Debug)]
struct RealTime {
    deadline: Runtime,
    eligible: Runtime,
    /// The service that the class has received by the real-time criterion.
    served: u128,
    /// The time at which the head becomes eligible, picoseconds.
    eligible_at: u128,
    /// The deadline of the head, picoseconds.
    due_at: u128,
    /// The position among classes with equal deadlines.
    place: u64,
}

impl RealTime {
    /// Starts a backlog period. The head has `length` bytes.
    fn start_backlog(&mut self, now: u128, length: u32) {
        self.deadline.restart(now, self.served);
        self.eligible = self.deadline.eligible();
        self.eligible_at = self.eligible.reaches(self.served);
        self.next(length);
    }
    /// Updates the deadline for a head of `length` bytes.
    fn next(&mut self, length: u32) {
        self.due_at = self.deadline.reaches(self.served + service(length));
    }
    /// Records that `length` bytes were sent by the real-time criterion.
    fn sent(&mut self, length: u32) {
        self.served += service(length);
        self.eligible_at = self.eligible.reaches(self.served);
    }
}

impl Hfsc {
    /// Returns the class that has the earliest deadline among the classes with an eligible head.
    fn real_time(&self, now: u128, heads: &[u32]) -> Option<usize> {
        let claims = self.classes[..self.leaves].iter().enumerate().filter_map(|(leaf, class)| {
            let real_time = class.real_time.as_ref().filter(|claim| claim.eligible_at <= now)?;
            let order = (real_time.due_at, real_time.eligible_at, real_time.place);
            (heads[leaf] > 0).then_some((order, leaf))
        });
        claims.min().map(|(_, leaf)| leaf)
    }

    /// Selects a class with a queue. On each level, beginning at the wire, selects the class with the
    /// smallest virtual time among the classes that may send.
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

    /// The first time at which the upper limits permit `class` to send. Its own limit must permit it, and
    /// also the limit of an inner class that has a packet.
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

    /// The first time at which a queued packet may be sent.
    fn first_release(&self, heads: &[u32]) -> u128 {
        let claims = self.classes[..self.leaves].iter().enumerate().filter(|(leaf, _)| heads[*leaf] > 0);
        let eligible =
            claims.filter_map(|(_, class)| class.real_time.as_ref()).map(|claim| claim.eligible_at);
        let fit = self.classes[self.wire()].children.iter().map(|child| self.fits_at(*child, heads));
        eligible.chain(fit).min().unwrap_or(NEVER)
    }

    /// The index of the wire, the root of all classes.
    fn wire(&self) -> usize {
        self.classes.len() - 1
    }

    /// Returns the next number for the order of classes.
    fn take_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    /// Activates `leaf`, whose first packet has arrived, and its inactive ancestors.
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

    /// Starts a backlog period of class `at` inside `parent`. The virtual time of the class is the midpoint
    /// between [`Class::least`] of the parent and the greatest virtual time of the active siblings. Without
    /// active siblings, it is [`Class::greatest_idle`] of the parent.
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

    /// Charges `length` bytes to `leaf` and its ancestors. `length` is 0 for a packet that was dropped. The
    /// backlog period of each class that has no more packets ends.
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
    /// Whether link sharing can select the class: it is active and has a link-sharing curve.
    fn is_sharing(&self) -> bool {
        self.active > 0 && self.link_share.is_some()
    }
    /// Updates the virtual time and the upper limit of the class after service. A class that could not send
    /// because of its upper limit does not catch up: its virtual time continues from `least`.
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
            real_time.start_backlog(now, length);
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

    /// Returns true, because classes become eligible, and upper limits permit more service, with time.
    fn depends_on_time(&self) -> bool {
        true
    }
    fn holds_back(&self) -> bool {
        self.may_hold_back
    }
    fn held_until(&self) -> Option<Time> {
        self.held_until
    }
}
