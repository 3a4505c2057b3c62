//! [`run`]: all replications of a scenario, side by side, with progress and a way to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use rayon::prelude::*;

use crate::build::{build_watched_world, build_world};
use crate::results::{Replication, Results};
use crate::scenario::Scenario;
use crate::snapshot::{Snapshot, Viewing};

/// How a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// How many times, each with other draws.
    pub replications: u32,
    /// Threads to use; 0 is one per processor. The results do not depend on it.
    pub threads: usize,
}

/// What has been simulated so far, for whoever watches from another thread; and the way to stop.
#[derive(Debug, Default)]
pub struct Progress {
    simulated: AtomicU64,
    planned: AtomicU64,
    packet_hops: AtomicU64,
    cancelled: AtomicBool,
    viewing: Viewing,
}

impl Progress {
    /// Nothing simulated yet.
    pub fn new() -> Progress {
        Progress::default()
    }
    /// Nothing simulated yet, and somebody will look into the first replication while it runs.
    pub fn watched() -> Progress {
        Progress { viewing: Viewing::asked_for(), ..Progress::default() }
    }
    /// What the network of the first replication looked like when it was last asked for, and asks anew. `None`
    /// where there is nothing new, and unless the run is [`watched`](Progress::watched).
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.viewing.take()
    }
    /// Share of the planned simulated time that is done, 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.planned.load(Ordering::Relaxed) {
            0 => 0.0,
            planned => self.simulated.load(Ordering::Relaxed) as f64 / planned as f64,
        }
    }
    /// Simulated time so far, summed over replications, seconds.
    pub fn simulated_seconds(&self) -> f64 {
        self.simulated.load(Ordering::Relaxed) as f64 / 1e6
    }
    /// Packets times links crossed so far.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops.load(Ordering::Relaxed)
    }
    /// Asks the run to stop soon; it then ends with [`RunError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
    fn plan(&self, time: Time, replications: u32) {
        // In picoseconds the sum may be beyond 64 bits.
        let planned = microseconds(time).saturating_mul(u64::from(replications));
        self.planned.fetch_add(planned, Ordering::Relaxed);
    }
    fn advance(&self, time: Time, packet_hops: u64) {
        self.simulated.fetch_add(microseconds(time), Ordering::Relaxed);
        self.packet_hops.fetch_add(packet_hops, Ordering::Relaxed);
    }
}

fn microseconds(time: Time) -> u64 {
    time.as_picoseconds() / 1_000_000
}

/// Why a run gave no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It was asked to stop.
    Cancelled,
    /// The scenario cannot be built.
    Config(ConfigError),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            RunError::Cancelled => formatter.write_str("the run was stopped"),
            RunError::Config(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for RunError {}

/// Simulated time between two looks at the clock of progress: this share of the run.
const SLICES: u64 = 200;

/// Runs every replication of `scenario`; trace files are looked for relative to `base`.
///
/// # Errors
/// When it was cancelled, or the scenario cannot be built.
pub fn run(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
) -> Result<Results, RunError> {
    progress.plan(scenario.duration, options.replications);
    let one = |replication: u32| run_one(scenario, base, options.seed, replication, progress);
    let all = || (0..options.replications).into_par_iter().map(one).collect::<Result<Vec<_>, _>>();
    let replications = match rayon::ThreadPoolBuilder::new().num_threads(options.threads).build() {
        Ok(pool) => pool.install(all)?,
        // The system gives no threads: one after the other gives the same results.
        Err(_) => (0..options.replications).map(one).collect::<Result<_, _>>()?,
    };
    Ok(Results::new(scenario, options, &replications))
}

fn run_one(
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    number: u32,
    progress: &Progress,
) -> Result<Replication, RunError> {
    let watched = number == 0 && progress.viewing.is_possible();
    let build = if watched { build_watched_world } else { build_world };
    let mut world = build(scenario, base, seed, u64::from(number)).map_err(RunError::Config)?;
    let (mut now, mut hops) = (Time::ZERO, 0);
    for slice in 1..=SLICES {
        if progress.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let until = Time::from_picoseconds(
            (u128::from(scenario.duration.as_picoseconds()) * u128::from(slice) / u128::from(SLICES)) as u64,
        );
        world.run_until(until);
        if watched {
            progress.viewing.show(until, &mut world);
        }
        let total = world.packet_hops();
        progress.advance(until - now, total - hops);
        (now, hops) = (until, total);
    }
    world.finish();
    progress.advance(Time::ZERO, world.packet_hops() - hops);
    if cfg!(debug_assertions) {
        world.assert_conservation();
    }
    Ok(Replication::new(scenario, &world, number))
}
