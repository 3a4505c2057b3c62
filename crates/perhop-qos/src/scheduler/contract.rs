//! [`Scheduler`]: the contract of every scheduler.

use crate::units::Time;

/// What a port's schedulers want to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The head of this queue.
    Serve(T),
    /// Nothing before this instant, although packets wait: how a shaper speaks.
    WaitUntil(Time),
    /// Nothing waits.
    Idle,
}

/// The contract of every scheduler: told of every packet that joins or leaves one of its children, and of
/// every child's *head*, the packet that it would send now.
///
/// A child's packets are counted by [`enqueued`](Scheduler::enqueued) and [`dequeued`](Scheduler::dequeued)
/// alone. Which of them is the head is the child's own affair (it may be a scheduler itself), and it may have
/// to hold all of them back for a while (it may hold a shaper).
pub trait Scheduler {
    /// A packet of `length` IP bytes joined `child`.
    fn enqueued(&mut self, now: Time, child: usize, length: u32);
    /// The head of `child` has `head` IP bytes from now on, or it has none to send where this is 0; not said
    /// where [`dequeued`](Scheduler::dequeued) says it.
    fn head_changed(&mut self, child: usize, head: u32) {
        let _ = (child, head);
    }
    /// The child to serve now; `None` only where every head is 0, or all of them are
    /// [held back](Scheduler::holds_back). Asked again before anything else
    /// happens, the answer is the same.
    ///
    /// `heads[child]` is what was said last of the head of `child`.
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize>;
    /// The child that was selected has sent its head, a packet of `length` IP bytes; the head after it has
    /// `next`, or there is none to send where this is 0.
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// The child that was selected has lost its head, a packet of `length` IP bytes, before it was sent; the
    /// head after it has `next`, or there is none to send where this is 0. What was not sent costs nothing:
    /// the child keeps its place.
    fn dropped(&mut self, now: Time, child: usize, length: u32, next: u32);
    /// Whether it may let nobody send although there are heads: then it is asked again when it says.
    fn holds_back(&self) -> bool {
        false
    }
    /// Where the last [`select`](Scheduler::select) held back all heads: until when.
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// Whether time alone changes its choice, with nothing that joins, leaves or is held back.
    fn heeds_time(&self) -> bool {
        false
    }
}
