//! One network on several threads. The results are equal to those of one thread, byte by byte
//! (`docs/decisions/0025`).
//!
//! [`partition`] determines the parts, [`split()`] divides a [`Setup`] into them, [`rounds`] runs them, and
//! [`join`] joins their measurements. Each part is a [`World`](crate::fast::World).

mod cost;
mod groups;
mod join;
mod numbering;
mod part;
mod partition;
mod rounds;
mod split;

use std::sync::Mutex;

use perhop_measure::Measurements;

use crate::setup::Setup;
use join::Joint;
use part::{Mailboxes, Part};
use rounds::{End, Observe, Rounds};
use split::{Split, split};

pub(crate) use cost::Load;
pub(crate) use part::lock;
pub use partition::Undivided;
pub(crate) use partition::{Partition, divide};
pub use rounds::Divided;

/// The condition under which a network is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// The network can be divided.
    Always,
    /// The network can be divided, and the division makes it faster.
    IfFaster,
}

/// Runs the network of `setup`, divided by `partition`, on `threads` threads. `observe` receives the progress
/// and decides whether the run continues. Returns the measurements and the counts of the run, or `None` if
/// `observe` ended the run.
pub(crate) fn run(
    setup: Setup,
    partition: &Partition,
    threads: usize,
    observe: Observe<'_>,
) -> Option<(Measurements, Divided)> {
    let Split { parts, measurements, link_ends } = split(setup, partition);
    let parts = parts.into_iter().map(|(setup, numbering)| Part::new(setup, numbering));
    let mut parts: Vec<Part> = parts.collect();
    let mailboxes = Mailboxes::new(&mut parts);
    let parts: Vec<Mutex<Part>> = parts.into_iter().map(Mutex::new).collect();
    let duration = measurements.duration;
    let (end, counts) = run_rounds(&parts, &mailboxes, threads.min(parts.len()), observe);
    if end != End::Complete {
        return None;
    }
    let mut joint = Joint::new(measurements, link_ends);
    for (number, part) in parts.into_iter().enumerate() {
        let mut part = part.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        part.finish(duration, number, &mailboxes);
        joint.add(part);
    }
    Some((joint.measurements(), counts))
}

/// Runs all rounds on this thread and `threads` - 1 others. If the system cannot start a thread, the other
/// threads run all parts.
fn run_rounds(
    parts: &[Mutex<Part>],
    mailboxes: &Mailboxes,
    threads: usize,
    observe: Observe<'_>,
) -> (End, Divided) {
    let rounds = Rounds::new(parts, mailboxes, threads, observe);
    let end = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|thread| {
                let name = format!("perhop-part-{thread}");
                let rounds = &rounds;
                std::thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, move || rounds.run_thread(thread))
                    .ok()
            })
            .collect();
        let end = rounds.run_thread(0);
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
        end
    });
    (end, rounds.counts())
}
