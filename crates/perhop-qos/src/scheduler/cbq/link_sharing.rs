//! The guidelines of Floyd and Jacobson 1995, section 3. They determine which ancestors lend to a class that
//! has used up its allotment.

use super::{Account, Cbq, LEAF, Parent};
use crate::scheduler::config::Guideline;

impl Cbq {
    /// Returns the class whose allotment permits `child` to send, or `None` if no allotment permits it.
    pub(super) fn account(&mut self, child: usize, now: i64, heads: &[u32]) -> Option<Account> {
        if self.guideline == Guideline::Formal && self.lowest_unsatisfied.is_none() {
            self.lowest_unsatisfied = Some(self.find_unsatisfied(now, heads));
        }
        self.account_known(child, now)
    }

    /// Returns the account like [`account`](Cbq::account). The lowest unsatisfied class must be known.
    pub(super) fn account_known(&self, child: usize, now: i64) -> Option<Account> {
        if self.classes[child].estimator.is_within(now) {
            return Some(Account::Own);
        }
        let mut lender = self.classes[child].lender();
        while let Some(parent) = lender {
            let (height, is_within, next) = match parent {
                Parent::Wire => (self.wire_height, true, None),
                Parent::Class(index) => {
                    let class = &self.classes[usize::from(index)];
                    (class.height, class.estimator.is_within(now), class.lender())
                }
            };
            let may_lend = match self.guideline {
                Guideline::Formal => self.lowest_unsatisfied.is_none_or(|lowest| lowest >= height),
                Guideline::AncestorOnly => true,
                Guideline::TopLevel => height <= self.top_level,
            };
            if is_within && may_lend {
                return Some(Account::Lent(parent));
            }
            lender = next;
        }
        None
    }

    /// The lowest height of an unsatisfied class: a class that is within its allotment and wants to send,
    /// because it or an inner class that may borrow from it has a head.
    fn find_unsatisfied(&mut self, now: i64, heads: &[u32]) -> u8 {
        let (leaves, inner) = self.classes.split_at_mut(self.leaves);
        for class in inner.iter_mut() {
            class.wants_below = false;
        }
        for (leaf, head) in leaves.iter().zip(heads) {
            if *head == 0 {
                continue;
            }
            if leaf.estimator.is_within(now) {
                return LEAF;
            }
            let mut lender = leaf.lender();
            while let Some(Parent::Class(index)) = lender {
                let class = &mut inner[usize::from(index) - self.leaves];
                class.wants_below = true;
                lender = class.lender();
            }
        }
        let unsatisfied = inner.iter().filter(|class| class.wants_below && class.estimator.is_within(now));
        unsatisfied.map(|class| class.height).min().unwrap_or(u8::MAX)
    }

    /// Lowers the top level when a packet arrives at `child` (top-level guideline). If the class is within
    /// its allotment, the top level is at most the level of the leaves. If only its lender is within its
    /// allotment, the top level is at most the next level.
    pub(super) fn lower_top_level(&mut self, now: i64, child: usize) {
        let class = &self.classes[child];
        if class.estimator.is_within(now) {
            self.top_level = self.top_level.min(LEAF);
            return;
        }
        let lends = class.lender().is_some_and(|lender| match lender {
            Parent::Wire => true,
            Parent::Class(index) => self.classes[usize::from(index)].estimator.is_within(now),
        });
        if lends {
            self.top_level = self.top_level.min(LEAF + 1);
        }
    }

    /// Sets the top level when a packet of `child` leaves (top-level guideline). The lender may lend again
    /// while it is within its allotment and the borrower has packets.
    pub(super) fn set_top_level(&mut self, now: i64, child: usize, account: Account) {
        let (height, is_within) = match account {
            Account::Own => (LEAF, self.classes[child].estimator.is_within(now)),
            Account::Lent(Parent::Wire) => (self.wire_height, true),
            Account::Lent(Parent::Class(index)) => {
                let class = &self.classes[usize::from(index)];
                (class.height, class.estimator.is_within(now))
            }
        };
        if self.top_level >= height {
            let goes_on = self.classes[child].waiting > 1 && is_within;
            self.top_level = if goes_on { height } else { u8::MAX };
        }
    }
}
