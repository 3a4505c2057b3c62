//! [`Scheduler`]: the contract of every scheduler.

use crate::units::Time;

/// The result of a poll of a port's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The head of this queue.
    Serve(T),
    /// No packet may leave before this time. Packets wait, but a shaper holds them back.
    WaitUntil(Time),
    /// No packet waits, or all that wait are paused.
    Idle,
}

/// The contract of every scheduler. The caller reports every packet that joins or leaves a child, and every
/// child's *head*, the packet that it would send now.
///
/// [`enqueued`](Scheduler::enqueued) and [`dequeued`](Scheduler::dequeued) are the only calls that count a
/// child's packets. The child selects its head, because it may be a scheduler itself. It may hold back all
/// packets for a time, because it may contain a shaper.
pub trait Scheduler {
    /// Records that a packet of `length` IP bytes joined `child`.
    fn enqueued(&mut self, now: Time, child: usize, length: u32);
    /// Records that the head of `child` now has `head` IP bytes; 0 means that it has no packet to send. Not
    /// called for a change that [`dequeued`](Scheduler::dequeued) reports.
    fn head_changed(&mut self, child: usize, head: u32) {
        let _ = (child, head);
    }
    /// Returns the child to serve now; `None` only if every head is 0 or all of them are [held
    /// back](Scheduler::holds_back). A second call before any other event returns the same child.
    ///
    /// `heads[child]` is the last reported length of the head of `child`.
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize>;
    /// Records that the selected child has sent its head, a packet of `length` IP bytes. The next head has
    /// `next` bytes. 0 means that there is no head to send.
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Records that the head of the selected child, a packet of `length` IP bytes, was dropped before it was
    /// sent. The next head has `next` bytes. 0 means that there is no head to send. A dropped packet is not
    /// charged, and the child keeps its place.
    fn dropped(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Whether the scheduler may select no child although heads exist. In that case,
    /// [`held_until`](Scheduler::held_until) is the time of the next call.
    fn holds_back(&self) -> bool {
        false
    }
    /// The time until which the last [`select`](Scheduler::select) held back all heads. `None` if it selected
    /// a child.
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// Whether [`enqueued`](Scheduler::enqueued) has an effect.
    fn counts_arrivals(&self) -> bool {
        true
    }
    /// Whether the choice can change with time alone, while no packet joins, leaves or is held back.
    fn depends_on_time(&self) -> bool {
        false
    }
    /// The time before which the last choice remains if no packet joins, leaves or is held back.
    #[inline]
    fn choice_holds_until(&self) -> Time {
        if self.depends_on_time() { Time::ZERO } else { Time::MAX }
    }
}
