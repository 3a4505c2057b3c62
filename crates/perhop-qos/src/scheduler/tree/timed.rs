//! Trees with schedulers or shapers whose choices depend on time. All choices are made again before a packet
//! is selected, unless they are known to be valid. Bytes are counted by the accounting of the policy.

use super::{Below, Node, Place, SchedulerTree, Watched, head_of};
use crate::queue::{Queue, QueueId};
use crate::scheduler::shaper::Shaper;
use crate::scheduler::{Scheduler, Selection};
use crate::units::Time;

impl SchedulerTree {
    /// Notifies the schedulers above `queue` of a packet. Schedulers above a shaper are notified when the
    /// shaper allows the packet to leave.
    #[inline(never)]
    pub(super) fn enqueued_timed(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let place = self.leaves[id.index()];
        let node = &mut self.nodes[place.node];
        let Some(watched) = place.shaped else {
            if node.update_tail(place.child, length, queue, self.accounting) {
                (node.is_stale, self.valid_until) = (true, Time::ZERO);
            }
            announce(&mut self.nodes, now, place, self.accounting.counted(length));
            return;
        };
        if queue.occupancy().packets == 1 || !queue.is_fifo() {
            self.valid_until = Time::ZERO;
        }
        // A shaper without a rate delays no packet. The schedulers above it are notified when the packet
        // arrives, so that they receive the arrivals of unpaused queues in order.
        let shaping = &mut node.watched[watched as usize].shaping;
        let is_unlimited = shaping.shaper.as_ref().is_some_and(Shaper::is_unlimited);
        if is_unlimited && !shaping.is_paused && !shaping.released {
            (shaping.released, self.valid_until) = (true, Time::ZERO);
            announce(&mut self.nodes, now, place, head_of(queue, self.accounting));
        }
    }

    /// Returns the queue that results from all choices, or the time at which a packet may leave.
    #[inline(never)]
    pub(super) fn select_timed(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        match self.chosen() {
            Some(queue) if now < self.valid_until => Selection::Serve(queue),
            _ => self.update_choices(now, queues),
        }
    }

    /// Makes a new choice in each scheduler whose choice may have changed. Inner schedulers come first.
    /// Returns the queue that results from all choices.
    #[inline(never)]
    fn update_choices(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        let (mut release, mut valid_until) = (Time::MAX, Time::MAX);
        for index in (0..self.nodes.len()).rev() {
            // Inner nodes have higher indices.
            let (outer, inner) = self.nodes.split_at_mut(index + 1);
            for watched in 0..outer[index].watched.len() {
                let Watched { child, below, ref shaping } = outer[index].watched[watched];
                let mut length = match below {
                    Below::Queue(queue) => head_of(&queues[queue.index()], self.accounting),
                    Below::Node(number) => inner[usize::from(number) - index - 1].head(),
                };
                if length > shaping.covered {
                    let ready_at = ask_shaper(outer, now, (index, watched), length);
                    if ready_at > now {
                        release = release.min(ready_at);
                        length = 0;
                    }
                }
                outer[index].change_head(child, length);
            }
            let node = &mut outer[index];
            if node.is_stale || node.depends_on_time {
                node.choose(now);
            }
            if node.depends_on_time {
                valid_until = valid_until.min(node.scheduler.choice_holds_until());
            }
            if node.choice.is_none() {
                release = release.min(node.scheduler.held_until().unwrap_or(Time::MAX));
            }
        }
        self.valid_until = valid_until.min(release);
        match self.chosen() {
            Some(queue) => Selection::Serve(queue),
            None if release < Time::MAX => Selection::WaitUntil(release),
            None => Selection::Idle,
        }
    }

    /// Records that `queue`, which has the number `id`, has sent a packet of `length` IP bytes.
    #[inline(never)]
    pub(super) fn dequeued_timed(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let length = self.accounting.counted(length);
        let mut next = Some(self.leaves[id.index()]);
        // The length of the packet that the child at `place` would send next if it had no shaper.
        let mut head = head_of(queue, self.accounting);
        while let Some(place) = next {
            if let Some(watched) = place.shaped {
                head = self.spend(now, place, watched, length, head);
            }
            let node = &mut self.nodes[place.node];
            node.sent(now, place.child, length, head);
            node.is_stale = false;
            if node.depends_on_time {
                self.valid_until = self.valid_until.min(node.scheduler.choice_holds_until());
            }
            head = node.head();
            next = node.parent;
        }
    }

    /// Records that the child at `place` has sent a packet of `length` counted bytes. The child has a shaper
    /// and the index `watched` among the watched children. Returns the length of its next head if this head
    /// may leave at once, and 0 otherwise.
    ///
    /// The next head is announced before the sent packet is removed. For the scheduler above, the child
    /// always has a packet and therefore keeps its position.
    #[expect(clippy::inline_always, reason = "every shaped packet calls it")]
    #[inline(always)]
    pub(super) fn spend(&mut self, now: Time, place: Place, watched: u32, length: u32, head: u32) -> u32 {
        let shaping = &mut self.nodes[place.node].watched[watched as usize].shaping;
        (shaping.released, shaping.covered) = (false, 0);
        let Some(shaper) = &mut shaping.shaper else { return head };
        let is_covered = shaper.sent_before(now, length, head);
        if head == 0 || !is_covered {
            self.valid_until = Time::ZERO;
            return 0;
        }
        (shaping.released, shaping.covered) = (true, head);
        announce(&mut self.nodes, now, place, head);
        head
    }
}

/// Returns the time, not before `now`, at which the shaper of a watched child of a node allows a head of
/// `length` bytes to leave. If this time is `now`, notifies the schedulers above.
#[inline(never)]
fn ask_shaper(nodes: &mut [Node], now: Time, (node, watched): (usize, usize), length: u32) -> Time {
    let Watched { child, shaping, .. } = &mut nodes[node].watched[watched];
    let Some(shaper) = &shaping.shaper else { return now };
    let ready_at = if shaping.is_paused { Time::MAX } else { shaper.ready_at(now, length) };
    if ready_at <= now {
        shaping.covered = length;
        if !std::mem::replace(&mut shaping.released, true) {
            let place = Place { node, child: *child, shaped: Some(watched as u32) };
            announce(nodes, now, place, length);
        }
    }
    ready_at
}

/// Notifies the schedulers above `place` of a packet, up to the next shaper. The other schedulers are
/// notified when that shaper allows the packet to leave.
#[expect(clippy::inline_always, reason = "every packet calls it, and usually it calls one scheduler")]
#[inline(always)]
fn announce(nodes: &mut [Node], now: Time, place: Place, length: u32) {
    let node = &nodes[place.node];
    let mut next = if node.counts_arrivals { Some(place) } else { node.informs };
    while let Some(place) = next {
        let node = &mut nodes[place.node];
        node.scheduler.enqueued(now, place.child, length);
        next = node.informs;
    }
}

impl Node {
    /// Sets the length of the head of `child` to `length`, or to 0 if it has no head. If the length has
    /// changed, the node must make a new choice.
    #[inline]
    fn change_head(&mut self, child: usize, length: u32) {
        if self.heads[child] != length {
            self.is_stale = self.set_head(child, length);
        }
    }
}
