//! Class-based queueing (S. Floyd, V. Jacobson, "Link-sharing and Resource Management Models for Packet
//! Networks", IEEE/ACM Transactions on Networking 3(4), 1995): a tree of allotments, and who may exceed them.
//!
//! The general scheduler, levels with a round robin in each, is bounded by the link-sharing scheduler: who
//! has used up its allotment may send only if somebody above lends. Details that the paper leaves open are
//! those of ns-2 (2.35, `queue/cbq.cc`).

mod build;
mod estimator;
mod link_sharing;

use super::config::Guideline;
use super::contract::Scheduler;
use crate::units::Time;
use estimator::{Estimator, picoseconds, span};

/// The height of a class with a queue.
const LEAF: u8 = 1;

/// Class-based queueing over queues, or schedulers, of which it sees the heads.
#[derive(Clone, Debug)]
pub struct Cbq {
    /// What a byte takes on the wire, in steps of the estimators.
    byte: u128,
    guideline: Guideline,
    is_weighted: bool,
    /// How many classes have queues: they come first, in the order of the children.
    leaves: usize,
    classes: Vec<Class>,
    wire_height: u8,
    /// The leaves of each level, the first level first.
    rings: Vec<Ring>,
    /// What the last choice was, and does when its packet leaves.
    decision: Option<Decision>,
    /// The height up to which classes lend under the top-level guideline.
    top_level: u8,
    /// The lowest height at which a class wants what is left of its allotment, once it is known.
    lowest_unsatisfied: Option<u8>,
    held_until: Option<Time>,
}

/// A class with a queue, or with classes inside.
#[derive(Clone, Debug)]
struct Class {
    parent: Parent,
    may_borrow: bool,
    /// 1 with a queue, else one more than the highest inside.
    height: u8,
    estimator: Estimator,
    level: u16,
    fraction: f64,
    /// Bytes it may send in a turn.
    quantum: i64,
    /// What it has left of its turn.
    credit: i64,
    /// Packets it holds.
    waiting: u32,
    /// It wanted to send when the last choice was made, and might not.
    is_refused: bool,
    /// A class inside that may borrow from it has a head, when that is asked.
    wants_below: bool,
}

/// What a class is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    /// The whole wire, which has always something left: its allotment is what it sends.
    Wire,
    Class(u16),
}

/// The leaves of a level, and whose turn it is.
#[derive(Clone, Debug)]
struct Ring {
    members: Vec<u16>,
    turn: usize,
}

/// Who sends, and on whose account.
#[derive(Clone, Copy, Debug)]
struct Decision {
    child: usize,
    ring: usize,
    /// How many places behind the turn it has.
    step: usize,
    /// What it has left of its turn.
    credit: i64,
    /// Nobody had anything left of its turn.
    is_second_round: bool,
    /// Whose allotment allows it; `None` where nobody's does, and it sends because the wire would rest.
    account: Option<Account>,
}

/// What the first round of a level finds.
#[derive(Clone, Copy, Debug)]
enum Round {
    Found(Decision),
    /// Whoever may send has no bytes left of its turn.
    Short,
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Account {
    Own,
    Lent(Parent),
}

impl Class {
    /// As it is in a table where inner classes stand behind `leaves` others.
    fn beneath(mut self, leaves: usize) -> Class {
        if let Parent::Class(number) = &mut self.parent {
            *number += leaves as u16;
        }
        self
    }
    /// Whom it may borrow from.
    fn lender(&self) -> Option<Parent> {
        self.may_borrow.then_some(self.parent)
    }
}

impl Cbq {
    /// Who sends at `now`: of the first level the first in turn that may, has bytes left of its turn, and has
    /// something to send. Where nobody may, the first that could borrow sends on nobody's account, so that
    /// the wire does not rest beside a packet that is allowed to exceed its class's allotment.
    fn choose(&mut self, now: i64, heads: &[u32]) -> Option<Decision> {
        self.lowest_unsatisfied = None;
        self.classes[..self.leaves].iter_mut().for_each(|class| class.is_refused = false);
        let mut borrower = None;
        for ring in 0..self.rings.len() {
            let found = match self.round(ring, now, heads, &mut borrower) {
                Round::Found(decision) => Some(decision),
                Round::Short => self.second_round(ring, now, heads),
                Round::Nobody => None,
            };
            if found.is_some() {
                return found;
            }
        }
        borrower
    }

    /// The first of `ring` that may send and has bytes left; notes the first that could borrow.
    fn round(&mut self, ring: usize, now: i64, heads: &[u32], borrower: &mut Option<Decision>) -> Round {
        let mut round = Round::Nobody;
        for step in 0..self.rings[ring].members.len() {
            let child = self.rings[ring].at(step);
            if heads[child] == 0 {
                continue;
            }
            let class = &self.classes[child];
            let topped_up = class.credit + if class.credit <= 0 { class.quantum } else { 0 };
            let decision =
                Decision { child, ring, step, credit: topped_up, is_second_round: false, account: None };
            if borrower.is_none() && class.may_borrow {
                *borrower = Some(decision);
            }
            match self.account(child, now, heads) {
                None => self.note_refused(child, now),
                account if topped_up > 0 || !self.is_weighted => {
                    return Round::Found(Decision { account, ..decision });
                }
                Some(_) => round = Round::Short,
            }
        }
        round
    }

    /// `child` wants to send and may not. That may shorten its wait, so that at once it wants what is left of
    /// its allotment.
    fn note_refused(&mut self, child: usize, now: i64) {
        let class = &mut self.classes[child];
        class.is_refused = true;
        if class.estimator.refused_until(now) <= now {
            self.lowest_unsatisfied = Some(LEAF);
        }
    }

    /// The first of `ring` that may send, although it has no bytes left of its turn.
    fn second_round(&self, ring: usize, now: i64, heads: &[u32]) -> Option<Decision> {
        (0..self.rings[ring].members.len()).find_map(|step| {
            let child = self.rings[ring].at(step);
            let class = &self.classes[child];
            let account = match class.is_refused {
                _ if heads[child] == 0 => return None,
                // To be refused shortened its wait.
                true => (class.estimator.refused_until(now) <= now).then_some(Account::Own),
                false => self.account_known(child, now),
            };
            account?;
            Some(Decision { child, ring, step, credit: 0, is_second_round: true, account })
        })
    }

    /// Nobody may send of those that want to: they wait, until somebody may.
    fn hold_back(&mut self, now: i64) -> Option<i64> {
        self.rings.iter().flat_map(|ring| &ring.members).for_each(|leaf| {
            self.classes[usize::from(*leaf)].credit = 0;
        });
        let refused = self.classes[..self.leaves].iter_mut().filter(|class| class.is_refused);
        refused
            .map(|class| {
                class.estimator.refuse(now);
                class.estimator.until()
            })
            .min()
    }

    /// Whom the choice passed over has nothing left of its turn, and whom it refused waits.
    fn pass_over(&mut self, now: i64, decision: &Decision) {
        for class in self.classes[..self.leaves].iter_mut().filter(|class| class.is_refused) {
            class.estimator.refuse(now);
        }
        let is_last_resort = decision.account.is_none();
        for (index, ring) in self.rings.iter().enumerate() {
            let passed = match index.cmp(&decision.ring) {
                std::cmp::Ordering::Equal if !is_last_resort && !decision.is_second_round => decision.step,
                std::cmp::Ordering::Greater if !is_last_resort => 0,
                _ => ring.members.len(),
            };
            for step in 0..passed {
                self.classes[ring.at(step)].credit = 0;
            }
        }
    }

    /// Counts a packet of `length` bytes for `child` and all that it is inside of.
    fn charge(&mut self, now: i64, child: usize, length: u32) {
        let takes = span(self.byte, length);
        let mut next = Parent::Class(child as u16);
        while let Parent::Class(index) = next {
            let class = &mut self.classes[usize::from(index)];
            class.estimator.sent(now.saturating_add(takes), takes, length);
            next = class.parent;
        }
    }
}

impl Ring {
    /// The member so many places behind the turn.
    fn at(&self, step: usize) -> usize {
        usize::from(self.members[(self.turn + step) % self.members.len()])
    }
    /// The turn passes on to the member so many places behind it.
    fn pass(&mut self, steps: usize) {
        self.turn = (self.turn + steps) % self.members.len();
    }
}

impl Scheduler for Cbq {
    fn enqueued(&mut self, now: Time, child: usize, _: u32) {
        if self.guideline == Guideline::TopLevel {
            self.lower_top_level(picoseconds(now), child);
        }
        self.classes[child].waiting += 1;
    }

    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        let now = picoseconds(now);
        self.held_until = None;
        loop {
            self.decision = self.choose(now, heads);
            if let Some(decision) = &self.decision {
                return Some(decision.child);
            }
            // To be refused may shorten a wait, but each only once.
            let until = self.hold_back(now)?;
            if until > now {
                self.held_until = Some(Time::from_picoseconds(until.unsigned_abs()));
                return None;
            }
        }
    }

    fn dequeued(&mut self, now: Time, child: usize, length: u32, _: u32) {
        let now = picoseconds(now);
        self.classes[child].waiting -= 1;
        let Some(decision) = self.decision.take() else { return };
        debug_assert_eq!(decision.child, child);
        self.pass_over(now, &decision);
        let ring = &mut self.rings[decision.ring];
        let Some(account) = decision.account else {
            ring.pass(decision.step + 1);
            return;
        };
        let class = &mut self.classes[child];
        class.credit =
            if decision.credit > 0 { decision.credit - i64::from(length) } else { decision.credit };
        let goes_on = self.is_weighted && class.credit > 0;
        ring.pass(decision.step + usize::from(!goes_on));
        if account == Account::Own {
            class.estimator.admit();
        }
        self.charge(now, child, length);
        if self.guideline == Guideline::TopLevel {
            self.set_top_level(now, child, account);
        }
    }

    fn dropped(&mut self, _: Time, child: usize, _: u32, _: u32) {
        self.classes[child].waiting -= 1;
        self.decision = None;
    }
    /// Allotments come in with time.
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
