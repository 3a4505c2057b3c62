//! [`Snapshot`]: the network of a run at one instant, for whoever watches it from another thread.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perhop_measure::counters::FlowTally;
use perhop_net::Direction;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::engine::Engine;
use perhop_scenario::routing::LinkId;

/// What waits in every queue, and what each class received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Simulated time of it.
    pub time: Time,
    /// By port, then by queue.
    pub queues: Vec<QueueState>,
    /// In the order of results.
    pub classes: Vec<ClassState>,
    /// Snapshots that found no room since the one before.
    pub left_out: u64,
}

/// What waits in one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// The port, as results call it.
    pub port: String,
    /// The queue, as results call it.
    pub queue: String,
    /// Packets waiting.
    pub packets: u64,
    /// IP bytes waiting.
    pub bytes: u64,
}

/// What was counted of one class since the warm-up ended, as results count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassState {
    /// The class.
    pub class: String,
    /// IP bytes received.
    pub received_bytes: u64,
    /// Packets offered.
    pub offered: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped, by cause.
    pub dropped: [u64; DropCause::COUNT],
    /// Delays of the delivered packets in all, picoseconds.
    pub delay_sum: u128,
}

/// When a snapshot is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// At the end of a part of the run: one is wanted of each, where there is room.
    EndOfSlice,
    /// Where the run was held in between: one is wanted of where it stands, not of where it has stood.
    Between,
    /// At the end of the run: this one nobody misses.
    End,
}

/// States of queues that wait to be seen, at most: what is watched of a large network takes no more memory.
const MOST_STATES: usize = 500_000;
/// Snapshots that wait to be seen, at most: more than a run has parts.
const MOST_WAITING: usize = 256;

/// Where the run leaves its snapshots. The run reads no clock and waits for nobody.
#[derive(Debug, Default)]
pub(crate) struct LiveView {
    /// Whether anybody will look.
    pub(crate) is_possible: bool,
    waiting: Mutex<Waiting>,
}

/// The snapshots that nobody has seen yet, the oldest first.
#[derive(Debug, Default)]
struct Waiting {
    snapshots: VecDeque<Snapshot>,
    /// Whether the newest is of an instant in between.
    ends_between: bool,
    left_out: u64,
}

impl Waiting {
    fn has_room(&self) -> bool {
        let states = self.snapshots.front().map_or(0, |first| first.queues.len());
        self.snapshots.len() < (MOST_STATES / states.max(1)).clamp(1, MOST_WAITING)
    }
    /// Adds one; it takes the place of one in between that nobody saw while the run stood there.
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
    /// Somebody will look.
    pub(crate) fn asked_for() -> LiveView {
        LiveView { is_possible: true, ..LiveView::default() }
    }
    /// Takes the oldest that was left here.
    pub(crate) fn take(&self) -> Option<Snapshot> {
        self.waiting().snapshots.pop_front()
    }
    /// Leaves what `engine` looks like at `now`, where there is room for it.
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
    /// A thread that panicked while it held the lock left nothing half-done behind.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The network of `engine` at `now`, to which it was run.
fn snapshot(engine: &mut impl Engine, now: Time) -> Snapshot {
    let mut queues = Vec::new();
    for link in (0..engine.hosts().link_ends.len() as u32).map(LinkId) {
        engine.catch_up(now, link);
        let Direction { name, queue_names, port, .. } = engine.direction(link);
        for (queue, state) in queue_names.iter().zip(port.queues()) {
            queues.push(QueueState {
                port: name.clone(),
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

    /// A step of a few milliseconds that passes the end of a part: where the run stands is seen after it.
    #[test]
    fn where_a_run_stands_is_seen_behind_all_that_waits() {
        let mut waiting = Waiting::default();
        waiting.add(at(100), Moment::EndOfSlice);
        for instant in [146, 148] {
            waiting.add(at(instant), Moment::Between);
        }
        waiting.add(at(150), Moment::EndOfSlice);
        waiting.add(at(154), Moment::Between);
        let seen: Vec<Time> = waiting.snapshots.iter().map(|one| one.time).collect();
        assert_eq!(seen, [at(100), at(150), at(154)].map(|one| one.time));
    }

    #[test]
    fn what_found_no_room_is_counted_though_its_place_is_taken() {
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
