//! What is counted at one port.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;
use perhop_qos::verdict::DropCause;

/// What became of the packets of one drop precedence that arrived at one queue after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Arrived at the queue, dropped ones included.
    pub arrived: Count,
    /// Left it for the transmit ring.
    pub sent: Count,
    /// Dropped, by cause.
    pub dropped: [Count; DropCause::COUNT],
    /// Given the congestion-experienced codepoint.
    pub marked: Count,
}

/// What is counted at one port.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))] // what most packets add to lies in one cache line
pub struct PortTally {
    /// Went through a port of one queue, by drop precedence: arrived and sent.
    pub passed: [Count; Color::COUNT],
    queues: usize,
    /// By drop precedence as far as one was seen, then by queue.
    tallies: Vec<Tally>,
    /// Dropped before any queue was chosen, by cause.
    pub unqueued: [Count; DropCause::COUNT],
    /// Dropped after they were sent, by cause: lost on the link, or refused by the input conditioners at its far end.
    pub beyond: [Count; DropCause::COUNT],
}

impl PortTally {
    /// Nothing counted at `queues` queues.
    pub fn new(queues: usize) -> PortTally {
        PortTally { queues, ..PortTally::default() }
    }
    /// The counters of `queue` for packets of drop precedence `precedence`.
    #[inline]
    pub fn of(&mut self, queue: usize, precedence: usize) -> &mut Tally {
        let index = precedence * self.queues + queue;
        if index < self.tallies.len() { &mut self.tallies[index] } else { self.first_of(queue, precedence) }
    }
    /// The counters of `queue` for a drop precedence that was not seen before.
    #[cold]
    fn first_of(&mut self, queue: usize, precedence: usize) -> &mut Tally {
        self.tallies.resize_with((precedence + 1) * self.queues, Tally::default);
        &mut self.tallies[precedence * self.queues + queue]
    }
    /// Queue, drop precedence and counters of all that was seen.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, Tally)> {
        let of_queue = move |queue: usize| {
            (0..Color::COUNT).map(move |precedence| (queue, precedence, self.in_all(queue, precedence)))
        };
        let all = (0..self.queues).flat_map(of_queue);
        all.filter(|(_, _, tally)| tally.arrived.packets + tally.sent.packets > 0)
    }
    /// The counters of `queue` for packets of drop precedence `precedence`, with those that arrived and were sent in one.
    fn in_all(&self, queue: usize, precedence: usize) -> Tally {
        let mut tally = self.tallies.get(precedence * self.queues + queue).copied().unwrap_or_default();
        if queue == 0 {
            tally.arrived.merge(self.passed[precedence]);
            tally.sent.merge(self.passed[precedence]);
        }
        tally
    }
}
