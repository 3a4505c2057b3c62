//! The rounds of WRR and DRR: children with packets take turns, and each turn adds to a credit.

use std::collections::VecDeque;

/// Serves children in turn. Each turn adds the grant of the child to its credit. The child sends while the
/// credit covers its head. It keeps the remainder for its next turn, and loses it when it has no more
/// packets.
///
/// The scheduler determines the cost of a packet: bytes (DRR) or one packet (WRR).
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    children: Vec<Child>,
    /// Children with packets, beginning with the child whose turn it is. This is the `ActiveList` of the DRR
    /// paper.
    order: VecDeque<u16>,
    /// Whether the first child has received the grant of this turn.
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
    /// Creates the rounds of children that receive `grants` per turn, all above 0.
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

    /// The child whose turn it is, if a head of `length` costs `cost(length)`.
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

    /// Records that the selected child `index` has sent a packet of this cost.
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
