//! [`Snapshot`]: the state of a simulated network at one time, for an observer in another thread.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perhop_measure::counters::FlowTally;
use perhop_net::Direction;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::engine::Engine;
use crate::link_ends::port_name;
use perhop_scenario::routing::LinkId;

/// The fill of every queue and the counts of each class so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The simulated time.
    pub time: Time,
    /// The queues in the order of ports, then of queues.
    pub queues: Vec<QueueState>,
    /// The classes in the order of results.
    pub classes: Vec<ClassState>,
    /// The number of snapshots that were discarded since the previous snapshot, because there was no room.
    pub left_out: u64,
}

/// The fill of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// The name of the port in results.
    pub port: String,
    /// The name of the queue in results.
    pub queue: String,
    /// The number of waiting packets.
    pub packets: u64,
    /// The number of waiting IP bytes.
    pub bytes: u64,
}

/// The counts of one class since the end of the warm-up, as in results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassState {
    /// The name of the class.
    pub class: String,
    /// IP bytes received.
    pub received_bytes: u64,
    /// Packets offered.
    pub offered: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped, by cause.
    pub dropped: [u64; DropCause::COUNT],
    /// The sum of the delays of the delivered packets, picoseconds.
    pub delay_sum: u128,
}

/// The reason for a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A slice of the run ended. One snapshot of each slice is kept while there is room.
    EndOfSlice,
    /// The run stopped at the gate inside a slice. Only the newest such snapshot is kept.
    Between,
    /// The run ended. This snapshot is always kept.
    End,
}

/// The maximum number of queue states in waiting snapshots, which limits the memory for a large network.
const MOST_STATES: usize = 500_000;
/// The maximum number of waiting snapshots. It is larger than the number of slices of a run.
const MOST_WAITING: usize = 256;

/// The buffer between a run and its observer. The run reads no clock and does not wait for the observer.
#[derive(Debug, Default)]
pub(crate) struct LiveView {
    /// Whether the run has an observer.
    pub(crate) is_possible: bool,
    waiting: Mutex<Waiting>,
}

/// The snapshots that the observer has not read yet.
#[derive(Debug, Default)]
struct Waiting {
    snapshots: VecDeque<Snapshot>,
    /// Whether the newest snapshot was taken inside a slice.
    ends_between: bool,
    left_out: u64,
}

impl Waiting {
    fn has_room(&self) -> bool {
        let states = self.snapshots.front().map_or(0, |first| first.queues.len());
        self.snapshots.len() < (MOST_STATES / states.max(1)).clamp(1, MOST_WAITING)
    }
    /// Adds a snapshot. It replaces the newest unread snapshot if that was taken inside a slice.
    fn add(&mut self, snapshot: Snapshot, moment: Moment) {
        if self.ends_between
            && let Some(passed) = self.snapshots.pop_back()
        {
            self.left_out += passed.left_out;
        }
        let left_out = std::mem::take(&mut self.left_out);
        self.snapshots.push_back(Snapshot { left_out, ..snapshot });
        self.ends_between = moment == Moment::Between;
    }
}

impl LiveView {
    /// Creates the buffer of a run with an observer.
    pub(crate) fn observed() -> LiveView {
        LiveView { is_possible: true, ..LiveView::default() }
    }
    /// Removes and returns the oldest snapshot.
    pub(crate) fn take(&self) -> Option<Snapshot> {
        self.waiting().snapshots.pop_front()
    }
    /// Adds a snapshot of `engine` at `now`, if there is room.
    pub(crate) fn show(&self, now: Time, engine: &mut impl Engine, moment: Moment) {
        let mut waiting = self.waiting();
        if moment == Moment::EndOfSlice && !waiting.has_room() {
            waiting.left_out += 1;
            return;
        }
        drop(waiting);
        let snapshot = snapshot(engine, now);
        self.waiting().add(snapshot, moment);
    }
    /// Returns the locked waiting snapshots. They are valid even if a thread panicked while it had the lock.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a snapshot of `engine`, which has run up to `now`.
fn snapshot(engine: &mut impl Engine, now: Time) -> Snapshot {
    let mut queues = Vec::new();
    for link in (0..engine.hosts().link_ends.len() as u32).map(LinkId) {
        engine.catch_up(now, link);
        let Direction { queue_names, port, .. } = engine.direction(link);
        for (queue, state) in queue_names.iter().zip(port.queues()) {
            queues.push(QueueState {
                port: port_name(engine.hosts().link_ends.names(link)),
                queue: queue.clone(),
                packets: state.occupancy().packets,
                bytes: state.occupancy().bytes,
            });
        }
    }
    let measurements = &engine.hosts().measurements;
    let mut tallies = vec![FlowTally::default(); measurements.class_names.len()];
    for (flow, counters) in measurements.flows.iter().zip(&measurements.counters) {
        tallies[flow.class].merge(&counters.tally());
    }
    let classes = measurements.class_names.iter().zip(&tallies).map(|(name, tally)| state(name, tally));
    Snapshot { time: now, queues, classes: classes.collect(), left_out: 0 }
}

fn state(class: &str, tally: &FlowTally) -> ClassState {
    ClassState {
        class: class.to_owned(),
        received_bytes: tally.received.bytes,
        offered: tally.offered.packets,
        delivered: tally.delivered.packets,
        dropped: tally.dropped.map(|count| count.packets),
        delay_sum: tally.delay.sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Snapshot {
        let time = Time::from_picoseconds(milliseconds * 1_000_000_000);
        Snapshot { time, queues: Vec::new(), classes: Vec::new(), left_out: 0 }
    }

    /// If a step of a few milliseconds crosses the end of a slice, the snapshot at the gate follows the
    /// snapshot of the slice.
    #[test]
    fn the_snapshot_at_the_gate_follows_waiting_snapshots() {
        let mut waiting = Waiting::default();
        waiting.add(at(100), Moment::EndOfSlice);
        for instant in [146, 148] {
            waiting.add(at(instant), Moment::Between);
        }
        waiting.add(at(150), Moment::EndOfSlice);
        waiting.add(at(154), Moment::Between);
        let seen: Vec<Time> = waiting.snapshots.iter().map(|snapshot| snapshot.time).collect();
        assert_eq!(seen, [at(100), at(150), at(154)].map(|snapshot| snapshot.time));
    }

    #[test]
    fn discarded_snapshots_are_counted() {
        let mut waiting = Waiting { left_out: 3, ..Waiting::default() };
        waiting.add(at(1), Moment::Between);
        waiting.left_out += 1;
        waiting.add(at(2), Moment::End);
        assert_eq!(waiting.snapshots, [Snapshot { left_out: 4, ..at(2) }]);
    }

    #[test]
    fn a_snapshot_that_was_seen_is_not_replaced() {
        let mut waiting = Waiting::default();
        waiting.add(at(1), Moment::Between);
        waiting.snapshots.pop_front();
        waiting.add(at(2), Moment::Between);
        assert_eq!(waiting.snapshots, [at(2)]);
    }
}
