//! Counters of one port.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;

use super::Drops;

/// Counters of one queue and one drop precedence, after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Packets that arrived at the queue, including packets that were dropped.
    pub arrived: Count,
    /// Packets that left the queue for the transmit ring.
    pub sent: Count,
    /// Dropped packets.
    pub dropped: Drops,
    /// Packets marked as congestion experienced.
    pub marked: Count,
}

/// Counters of one port.
#[derive(Clone, Debug, Default)]
#[repr(C)] // the counter of most packets first
pub struct PortTally {
    /// Packets of the lowest drop precedence that crossed a port with one queue. They count as arrived and as
    /// sent.
    passed: Count,
    /// Packets of the other drop precedences that crossed a port with one queue.
    passed_others: Option<Box<[Count; Color::COUNT]>>,
    queues: usize,
    /// The counters of each drop precedence and, within a precedence, of each queue. The last precedence is
    /// the highest that occurred.
    tallies: Box<[Tally]>,
    /// Packets that were dropped before a queue was selected.
    pub unqueued: Drops,
    /// Packets that were dropped after they were sent: on the link, or by the input conditioners at the far
    /// end of the link.
    pub beyond: Drops,
}

impl PortTally {
    /// Creates counters for `queues` queues.
    pub fn new(queues: usize) -> PortTally {
        PortTally { queues, ..PortTally::default() }
    }
    /// Counts a packet of `length` IP bytes and `precedence` that crossed a port with one queue.
    #[inline]
    pub fn pass(&mut self, precedence: Color, length: u32) {
        let passed = match precedence.index() {
            0 => &mut self.passed,
            index => &mut self.passed_others.get_or_insert_default()[index],
        };
        passed.add(length);
    }
    /// Returns the counters of `queue` for packets of drop precedence `precedence`.
    #[inline]
    pub fn tally_mut(&mut self, queue: usize, precedence: usize) -> &mut Tally {
        let index = precedence * self.queues + queue;
        if index < self.tallies.len() { &mut self.tallies[index] } else { self.add_tally(queue, precedence) }
    }
    /// Adds the counters for a drop precedence that has not occurred yet. Returns the counters of `queue`.
    #[cold]
    fn add_tally(&mut self, queue: usize, precedence: usize) -> &mut Tally {
        let mut tallies = std::mem::take(&mut self.tallies).into_vec();
        tallies.resize_with((precedence + 1) * self.queues, Tally::default);
        self.tallies = tallies.into_boxed_slice();
        &mut self.tallies[precedence * self.queues + queue]
    }
    /// Returns the counters of each queue and drop precedence that has packets, as (queue, precedence,
    /// counters).
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, Tally)> {
        let counters_of = move |queue: usize| {
            (0..Color::COUNT).map(move |precedence| (queue, precedence, self.total(queue, precedence)))
        };
        let all = (0..self.queues).flat_map(counters_of);
        all.filter(|(_, _, tally)| tally.arrived.packets + tally.sent.packets > 0)
    }
    /// Returns the counters of `queue` for packets of drop precedence `precedence`, including `passed`.
    fn total(&self, queue: usize, precedence: usize) -> Tally {
        let mut tally = self.tallies.get(precedence * self.queues + queue).cloned().unwrap_or_default();
        if queue == 0 {
            let others = self.passed_others.as_deref().copied().unwrap_or_default();
            let passed = if precedence == 0 { self.passed } else { others[precedence] };
            tally.arrived.merge(passed);
            tally.sent.merge(passed);
        }
        tally
    }
}
