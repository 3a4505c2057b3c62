//! [`Snapshot`]: the network of a run at one instant, for whoever watches it from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use perhop_net::Direction;
use perhop_qos::units::Time;

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

/// What one class received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassState {
    /// The class.
    pub class: String,
    /// IP bytes received since the warm-up ended.
    pub received_bytes: u64,
}

/// Where the run leaves a snapshot when one is asked for. The viewer sets the pace: the run reads no clock,
/// and a snapshot that nobody asked for is not made.
#[derive(Debug, Default)]
pub(crate) struct LiveView {
    /// Whether anybody will look.
    pub(crate) is_possible: bool,
    is_asked_for: AtomicBool,
    latest: Mutex<Option<Snapshot>>,
}

impl LiveView {
    /// Somebody will look.
    pub(crate) fn asked_for() -> LiveView {
        LiveView { is_possible: true, is_asked_for: AtomicBool::new(true), latest: Mutex::default() }
    }
    /// Takes what was left here, and asks for the next.
    pub(crate) fn take(&self) -> Option<Snapshot> {
        let taken = self.latest().take();
        if taken.is_some() {
            self.is_asked_for.store(true, Ordering::Relaxed);
        }
        taken
    }
    /// Leaves what `engine` looks like at `now`, if that was asked for.
    pub(crate) fn show(&self, now: Time, engine: &mut impl Engine) {
        if self.is_asked_for.swap(false, Ordering::Relaxed) {
            let snapshot = snapshot(engine, now);
            *self.latest() = Some(snapshot);
        }
    }
    /// A thread that panicked while it held the lock left nothing half-done behind.
    fn latest(&self) -> MutexGuard<'_, Option<Snapshot>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
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
    let mut received = vec![0; measurements.class_names.len()];
    for (flow, counters) in measurements.flows.iter().zip(&measurements.counters) {
        received[flow.class] += counters.arrivals.received().bytes;
    }
    let classes = measurements.class_names.iter().zip(received);
    let state = |(class, received_bytes): (&String, u64)| ClassState { class: class.clone(), received_bytes };
    Snapshot { time: now, queues, classes: classes.map(state).collect() }
}
