//! [`Scheduler`]: the contract of every scheduler.

use crate::units::Time;

/// The result of a poll of a port's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The head of this queue leaves next.
    Serve(T),
    /// Packets wait, but a shaper delays all of them until this time.
    WaitUntil(Time),
    /// No packet waits, or all packets that wait are paused.
    Idle,
}

/// The contract of every scheduler. The caller reports each packet that joins or leaves a child, and the
/// *head* of each child: the packet that the child would send now.
///
/// Only the calls of [`enqueued`](Scheduler::enqueued) and [`dequeued`](Scheduler::dequeued) count the
/// packets of a child. A child can be a scheduler, so the child itself selects its head. A child can contain
/// a shaper, so it can have no head for some time although it has packets.
pub trait Scheduler {
    /// Records that a packet of `length` IP bytes has joined `child`.
    fn enqueued(&mut self, now: Time, child: usize, length: u32);
    /// Records that the head of `child` now has `head` IP bytes, or that the child has no head if `head` is
    /// 0. The caller does not report changes that [`dequeued`](Scheduler::dequeued) reports.
    fn head_changed(&mut self, child: usize, head: u32) {
        let _ = (child, head);
    }
    /// Returns the child to serve now. The result is `None` only if no child has a head, or if the scheduler
    /// [holds back](Scheduler::holds_back) all heads. A second call before any other event returns the same
    /// child.
    ///
    /// `heads[child]` must be the last reported length of the head of `child`.
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize>;
    /// Records that the selected child has sent its head, a packet of `length` IP bytes. The next head has
    /// `next` bytes, or there is no next head if `next` is 0.
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Records that the head of the selected child, a packet of `length` IP bytes, was dropped before it was
    /// sent. The next head has `next` bytes, or there is no next head if `next` is 0. A dropped packet is not
    /// charged, and the child keeps its position.
    fn dropped(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Whether the scheduler can select no child although heads exist. In that case, the caller must call it
    /// again at [`held_until`](Scheduler::held_until).
    fn holds_back(&self) -> bool {
        false
    }
    /// Returns the time until which the last [`select`](Scheduler::select) held back all heads, or `None` if
    /// it selected a child.
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// Whether the scheduler needs the calls of [`enqueued`](Scheduler::enqueued).
    fn counts_arrivals(&self) -> bool {
        true
    }
    /// Whether the choice can change with time while no packet joins, leaves or is held back.
    fn depends_on_time(&self) -> bool {
        false
    }
    /// The time before which the last choice cannot change, if no packet joins, leaves or is held back.
    #[inline]
    fn choice_holds_until(&self) -> Time {
        if self.depends_on_time() { Time::ZERO } else { Time::MAX }
    }
}
