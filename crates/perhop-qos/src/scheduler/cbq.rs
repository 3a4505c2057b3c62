//! Class-based queueing (S. Floyd, V. Jacobson, "Link-sharing and Resource Management Models for Packet
//! Networks", IEEE/ACM Transactions on Networking 3(4), 1995): a tree of allotments, and rules for exceeding
//! them.
//!
//! The general scheduler serves levels, and the classes of a level in a round robin. The link-sharing
//! scheduler restricts it: a class that has used up its allotment may send only if an ancestor lends to it.
//! Details that the paper leaves open follow ns-2 (2.35, `queue/cbq.cc`).

mod build;
mod estimator;
mod link_sharing;

use super::config::Guideline;
use super::contract::Scheduler;
use crate::units::Time;
use estimator::{Estimator, picoseconds, span};

/// The height of a class with a queue.
const LEAF: u8 = 1;

/// Class-based queueing of queues or schedulers. It reads only their heads.
#[derive(Clone, Debug)]
pub struct Cbq {
    /// The transmission time of a byte on the wire, in the steps of the estimators.
    byte: u128,
    guideline: Guideline,
    /// Whether the classes of a level take turns by weighted round robin.
    is_weighted: bool,
    /// The number of classes with queues. They are the first classes, in the order of the children.
    leaves: usize,
    classes: Vec<Class>,
    /// The height of the wire: one more than the highest class.
    wire_height: u8,
    /// The classes with queues of each level, beginning with the first level.
    rings: Vec<Ring>,
    /// The last choice. It takes effect when its packet leaves.
    decision: Option<Decision>,
    /// The height up to which classes may lend under the top-level guideline.
    top_level: u8,
    /// The lowest height of an unsatisfied class: a class that wants to send and has not used up its
    /// allotment. `None` while the height is not known.
    lowest_unsatisfied: Option<u8>,
    /// The time until which no class may send, as determined by the last choice.
    held_until: Option<Time>,
}

/// A class with a queue or with inner classes.
#[derive(Clone, Debug)]
struct Class {
    parent: Parent,
    may_borrow: bool,
    /// The height: 1 for a class with a queue, otherwise one more than the highest inner class.
    height: u8,
    estimator: Estimator,
    /// The level of the class in the general scheduler.
    level: u16,
    /// The allotment as a fraction of the wire's rate.
    fraction: f64,
    /// The bytes that the class may send in one turn.
    quantum: i64,
    /// The bytes that the class may still send in this turn.
    credit: i64,
    /// The number of packets in the class.
    waiting: u32,
    /// Whether the class wanted to send at the last choice but was not allowed to.
    is_refused: bool,
    /// Whether an inner class that may borrow from this class has a head. It is valid only during the search
    /// for unsatisfied classes.
    wants_below: bool,
}

/// The parent of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    /// The whole wire. It always lends, because its allotment is the full rate.
    Wire,
    Class(u16),
}

/// The classes with queues of a level. They take turns.
#[derive(Clone, Debug)]
struct Ring {
    members: Vec<u16>,
    /// The index of the member whose turn it is.
    turn: usize,
}

/// The selected class and its account.
#[derive(Clone, Copy, Debug)]
struct Decision {
    child: usize,
    ring: usize,
    /// The number of members from the member whose turn it is to the selected class.
    step: usize,
    /// The bytes that the selected class may still send in its turn.
    credit: i64,
    /// Whether none of the classes that may send had bytes left in its turn.
    is_second_round: bool,
    /// The class whose allotment permits the packet, or `None` if the packet is sent only because the wire
    /// would otherwise be idle.
    account: Option<Account>,
}

/// The result of the first search through a level.
#[derive(Clone, Copy, Debug)]
enum Round {
    Found(Decision),
    /// There are classes that may send, but none has bytes left in its turn.
    TurnsUsedUp,
    /// No class may send.
    NoClass,
}

/// The allotment that permits a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Account {
    Own,
    Lent(Parent),
}

impl Class {
    /// Shifts the index of the parent, for a list of classes that begins with `leaves` classes with queues.
    fn with_parent_after(mut self, leaves: usize) -> Class {
        if let Parent::Class(number) = &mut self.parent {
            *number += leaves as u16;
        }
        self
    }
    /// The parent from which the class may borrow.
    fn lender(&self) -> Option<Parent> {
        self.may_borrow.then_some(self.parent)
    }
}

impl Cbq {
    /// Selects the class that sends at `now`: the first class, by level and then by turn, that has a head,
    /// may send, and has bytes left in its turn. If no class may send, selects the first class that could
    /// borrow, without an account. The wire is therefore not idle while such a class has a packet.
    fn choose(&mut self, now: i64, heads: &[u32]) -> Option<Decision> {
        self.lowest_unsatisfied = None;
        self.classes[..self.leaves].iter_mut().for_each(|class| class.is_refused = false);
        let mut borrower = None;
        for ring in 0..self.rings.len() {
            let found = match self.round(ring, now, heads, &mut borrower) {
                Round::Found(decision) => Some(decision),
                Round::TurnsUsedUp => self.second_round(ring, now, heads),
                Round::NoClass => None,
            };
            if found.is_some() {
                return found;
            }
        }
        borrower
    }

    /// Returns the first class of `ring` that may send and has bytes left in its turn. Stores the first class
    /// that could borrow in `borrower`.
    fn round(&mut self, ring: usize, now: i64, heads: &[u32], borrower: &mut Option<Decision>) -> Round {
        let mut round = Round::NoClass;
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
                None => self.record_refusal(child, now),
                account if topped_up > 0 || !self.is_weighted => {
                    return Round::Found(Decision { account, ..decision });
                }
                Some(_) => round = Round::TurnsUsedUp,
            }
        }
        round
    }

    /// Records that `child` wants to send but may not. If the wait after this refusal is already over, the
    /// class is unsatisfied.
    fn record_refusal(&mut self, child: usize, now: i64) {
        let class = &mut self.classes[child];
        class.is_refused = true;
        if class.estimator.refused_until(now) <= now {
            self.lowest_unsatisfied = Some(LEAF);
        }
    }

    /// Returns the first class of `ring` that may send, even if it has no bytes left in its turn.
    fn second_round(&self, ring: usize, now: i64, heads: &[u32]) -> Option<Decision> {
        (0..self.rings[ring].members.len()).find_map(|step| {
            let child = self.rings[ring].at(step);
            let class = &self.classes[child];
            let account = match class.is_refused {
                _ if heads[child] == 0 => return None,
                // The wait after the refusal in the first search can already be over.
                true => (class.estimator.refused_until(now) <= now).then_some(Account::Own),
                false => self.account_known(child, now),
            };
            account?;
            Some(Decision { child, ring, step, credit: 0, is_second_round: true, account })
        })
    }

    /// Records the refusal of all refused classes. Returns the time at which the first of them may send.
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

    /// Ends the turns of the classes that precede the selected class, and records the refusal of all refused
    /// classes.
    fn end_turns_before(&mut self, now: i64, decision: &Decision) {
        for class in self.classes[..self.leaves].iter_mut().filter(|class| class.is_refused) {
            class.estimator.refuse(now);
        }
        let is_last_resort = decision.account.is_none();
        for (index, ring) in self.rings.iter().enumerate() {
            let preceding = match index.cmp(&decision.ring) {
                std::cmp::Ordering::Equal if !is_last_resort && !decision.is_second_round => decision.step,
                std::cmp::Ordering::Greater if !is_last_resort => 0,
                _ => ring.members.len(),
            };
            for step in 0..preceding {
                self.classes[ring.at(step)].credit = 0;
            }
        }
    }

    /// Charges a packet of `length` bytes to `child` and all its ancestors.
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
    /// The member that is `step` positions after the member whose turn it is.
    fn at(&self, step: usize) -> usize {
        usize::from(self.members[(self.turn + step) % self.members.len()])
    }
    /// Advances the turn by `steps` members.
    fn advance(&mut self, steps: usize) {
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
            // If the wait after a refusal is already over, the choice is repeated. This happens at most once
            // for each class, so the loop ends.
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
        self.end_turns_before(now, &decision);
        let ring = &mut self.rings[decision.ring];
        let Some(account) = decision.account else {
            ring.advance(decision.step + 1);
            return;
        };
        let class = &mut self.classes[child];
        class.credit =
            if decision.credit > 0 { decision.credit - i64::from(length) } else { decision.credit };
        let keeps_turn = self.is_weighted && class.credit > 0;
        ring.advance(decision.step + usize::from(!keeps_turn));
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
    /// Returns true, because the allotments that classes have used up are renewed over time.
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
