//! [`run`]: all replications of a scenario, side by side, with progress and a way to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use rayon::prelude::*;

use crate::build::{Onlookers, build_world_for, captured};
use crate::capture::{Captured, Captures, Files};
use crate::snapshot::{Snapshot, Viewing};
use perhop_measure::results::{Replication, Results};
use perhop_scenario::Scenario;

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
    /// A capture could not be written: why.
    Capture(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            RunError::Cancelled => formatter.write_str("the run was stopped"),
            RunError::Config(error) => error.fmt(formatter),
            RunError::Capture(reason) => write!(formatter, "cannot write the captures: {reason}"),
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
    run_all(scenario, base, options, progress, None).map(|(results, _)| results)
}

/// The same, with captures of what `scenario` says, or of the links around its policies. Captured is the first
/// replication: the others are the same with other draws.
///
/// # Errors
/// As for [`run`], and where a capture cannot be written.
pub fn run_captured(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
    captures: &Captures,
) -> Result<(Results, Vec<Captured>), RunError> {
    run_all(scenario, base, options, progress, Some(captures))
}

fn run_all(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
    captures: Option<&Captures>,
) -> Result<(Results, Vec<Captured>), RunError> {
    progress.plan(scenario.duration, options.replications);
    let one = |replication: u32| {
        let captures = captures.filter(|_| replication == 0);
        run_one(scenario, base, options.seed, replication, progress, captures)
    };
    let all = || (0..options.replications).into_par_iter().map(one).collect::<Result<Vec<_>, _>>();
    let ended = match rayon::ThreadPoolBuilder::new().num_threads(options.threads).build() {
        Ok(pool) => pool.install(all)?,
        // The system gives no threads: one after the other gives the same results.
        Err(_) => (0..options.replications).map(one).collect::<Result<_, _>>()?,
    };
    let (replications, files): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    Ok((Results::new(scenario, options.seed, &replications), files.into_iter().flatten().collect()))
}

fn run_one(
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    number: u32,
    progress: &Progress,
    captures: Option<&Captures>,
) -> Result<(Replication, Vec<Captured>), RunError> {
    let watched = number == 0 && progress.viewing.is_possible();
    let onlookers = Onlookers { watched, captured: captures.map_or_else(Vec::new, |_| captured(scenario)) };
    let world = build_world_for(scenario, base, seed, u64::from(number), onlookers);
    let mut world = world.map_err(RunError::Config)?;
    let about = format!("scenario \"{}\", seed {seed}, replication {number}", scenario.name);
    let files = captures.map(|captures| Files::create(scenario, &world, captures, &about));
    let mut files = files.transpose().map_err(|error| unwritten(&error))?;
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
        if let Some(files) = &mut files {
            world.catch_up_everywhere(until);
            files.write(&mut world, until).map_err(|error| unwritten(&error))?;
        }
        let total = world.packet_hops();
        progress.advance(until - now, total - hops);
        (now, hops) = (until, total);
    }
    world.finish();
    progress.advance(Time::ZERO, world.packet_hops() - hops);
    let files = files.map(|files| files.finish(&mut world)).transpose().map_err(|error| unwritten(&error))?;
    Ok((Replication::new(scenario, &world.measure(), number), files.unwrap_or_default()))
}

fn unwritten(error: &std::io::Error) -> RunError {
    RunError::Capture(error.to_string())
}
