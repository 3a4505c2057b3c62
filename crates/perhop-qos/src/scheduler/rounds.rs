//! The rounds of WRR and DRR: children with packets take turns, and each turn increases a credit.

use std::collections::VecDeque;

/// Serves children in turns. Each turn adds the grant of the child to its credit. The child sends packets
/// while the credit covers its head. The remaining credit is kept for its next turn, but it is lost when the
/// child has no more packets.
///
/// The scheduler determines the cost of a packet: its bytes (DRR) or 1 (WRR).
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    children: Vec<Child>,
    /// The children with packets, beginning with the child whose turn it is. This is the `ActiveList` of the
    /// DRR paper.
    order: VecDeque<u16>,
    /// Whether the grant of this turn has been added to the credit of the first child.
    granted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    grant: u64,
    credit: u64,
    /// The number of packets of the child.
    waiting: u32,
}

impl Rounds {
    /// Creates the rounds of children with these `grants` per turn. All grants must be above 0.
    pub(super) fn new(grants: impl IntoIterator<Item = u64>) -> Rounds {
        let child = |grant| Child { grant, credit: 0, waiting: 0 };
        let children: Vec<Child> = grants.into_iter().map(child).collect();
        Rounds { order: VecDeque::with_capacity(children.len()), children, granted: false }
    }

    pub(super) fn enqueued(&mut self, child: usize) {
        self.children[child].waiting += 1;
        if self.children[child].waiting == 1 {
            self.order.push_back(child as u16);
        }
    }

    /// Returns the child whose turn it is, or `None` if no child has a head. A head of `length` costs
    /// `cost(length)`.
    pub(super) fn select(&mut self, heads: &[u32], cost: impl Fn(u32) -> u64) -> Option<usize> {
        let mut held_back = 0;
        while held_back < self.order.len() {
            let index = usize::from(*self.order.front()?);
            let child = &mut self.children[index];
            if heads[index] == 0 {
                held_back += 1;
            } else {
                held_back = 0;
                if !self.granted {
                    child.credit += child.grant;
                    self.granted = true;
                }
                if cost(heads[index]) <= child.credit {
                    return Some(index);
                }
            }
            self.order.pop_front();
            self.order.push_back(index as u16);
            self.granted = false;
        }
        None
    }

    /// Records that the selected child `index` has sent a packet that costs `cost`.
    pub(super) fn dequeued(&mut self, index: usize, cost: u64) {
        let child = &mut self.children[index];
        child.credit = child.credit.saturating_sub(cost);
        child.waiting -= 1;
        if child.waiting == 0 {
            child.credit = 0;
            self.order.pop_front();
            self.granted = false;
        }
    }
}
