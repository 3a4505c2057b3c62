//! [`run`]: all replications of a scenario, in parallel, with progress and cancellation.

mod divided;

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use rayon::prelude::*;

use crate::build::set_up;
use crate::capture::{Captured, Captures, Files, captured};
use crate::engine::Engine;
use crate::fast::World;
use crate::gate::Gate;
use crate::parallel::{Divided, Division, Undivided};
use crate::snapshot::{LiveView, Moment, Snapshot};
use perhop_measure::budget::Budget;
use perhop_measure::{Replication, Results};
use perhop_scenario::Scenario;

/// The settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The seed from which all random streams derive.
    pub seed: u64,
    /// The number of replications, each with its own random numbers. With 0, [`fitting_replications`]
    /// determines the number.
    pub replications: u32,
    /// The number of threads; 0 means one per processor. Each thread runs replications, or parts of one
    /// network if this is faster. The results do not depend on the number of threads.
    pub threads: usize,
    /// The engine. The results do not depend on the engine.
    pub engine: EngineChoice,
}

/// The engine that carries the packets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The fast engine, with as few events as possible. Networks with priority flow control run in the plain
    /// engine.
    #[default]
    Fast,
    /// The plain engine, in which every step is an event. It is the specification of the fast engine.
    Plain,
    /// The fast engine with all threads for each replication, one replication after the other, even if
    /// replications in parallel are faster. A network that cannot be divided uses one thread
    /// ([`Progress::division`]).
    Parallel,
}

/// The progress of a run. Other threads can read it and cancel the run.
#[derive(Debug, Default)]
pub struct Progress {
    simulated: AtomicU64,
    planned: AtomicU64,
    packet_hops: AtomicU64,
    cancelled: AtomicBool,
    division: Mutex<Option<Result<Divided, Undivided>>>,
    view: LiveView,
    gate: Gate,
}

impl Progress {
    /// Creates the progress of a run that has not started.
    pub fn new() -> Progress {
        Progress::default()
    }
    /// Creates the progress of a run whose first replication will be watched.
    pub fn watched() -> Progress {
        Progress { view: LiveView::observed(), ..Progress::default() }
    }
    /// Removes and returns the next snapshot of the network of the first replication. The number of waiting
    /// snapshots is limited, and snapshots without room are discarded. Returns `None` if there is no new
    /// snapshot, or if the run is not [`watched`](Progress::watched).
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.view.take()
    }
    /// Permits the first replication of a watched run to run up to `until` and to wait there. Without a call,
    /// the replication runs to its end. The results do not depend on `until`.
    pub fn hold_at(&self, until: Time) {
        self.gate.open_until(until);
    }
    /// The fraction of the planned simulated time that is done, 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.planned.load(Ordering::Relaxed) {
            0 => 0.0,
            planned => self.simulated.load(Ordering::Relaxed) as f64 / planned as f64,
        }
    }
    /// The simulated time so far, summed over replications, seconds.
    pub fn simulated_seconds(&self) -> f64 {
        self.simulated.load(Ordering::Relaxed) as f64 / 1e6
    }
    /// The number of links that packets have crossed so far, summed over all packets.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops.load(Ordering::Relaxed)
    }
    /// The counts of the last replication that ran in parts, or the reason why it ran in one part. `None` if
    /// no division was tried, or no division was faster.
    pub fn division(&self) -> Option<Result<Divided, Undivided>> {
        *self.division.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn report_division(&self, division: Result<Divided, Undivided>) {
        *self.division.lock().unwrap_or_else(PoisonError::into_inner) = Some(division);
    }
    /// Cancels the run, which then ends with [`RunError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.gate.cancel();
    }
    /// Whether the run is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
    fn plan(&self, time: Time, replications: u32) {
        // Microseconds, because a sum in picoseconds may exceed 64 bits.
        let planned = microseconds(time).saturating_mul(u64::from(replications));
        self.planned.fetch_add(planned, Ordering::Relaxed);
    }
    fn plan_less(&self, time: Time, replications: u32) {
        self.planned.fetch_sub(microseconds(time).saturating_mul(u64::from(replications)), Ordering::Relaxed);
    }
    fn advance(&self, from: Time, until: Time, packet_hops: u64) {
        // Both ends are rounded, so that the rounding errors of many short steps do not add up.
        self.simulated.fetch_add(microseconds(until) - microseconds(from), Ordering::Relaxed);
        self.packet_hops.fetch_add(packet_hops, Ordering::Relaxed);
    }
}

fn microseconds(time: Time) -> u64 {
    time.as_picoseconds() / 1_000_000
}

/// The reason why a run has no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The run was cancelled.
    Cancelled,
    /// The scenario cannot be built.
    Config(ConfigError),
    /// A capture could not be written. The value is the reason.
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

/// The number of progress updates and checks for cancellation in a replication.
const SLICES: u64 = 200;

/// Runs every replication of `scenario`. Paths of trace files are relative to `base`.
///
/// # Errors
/// The run was cancelled, or the scenario cannot be built.
pub fn run(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
) -> Result<Results, RunError> {
    run_captured(scenario, base, options, progress, None).map(|(results, _)| results)
}

/// Runs every replication as [`run`] does, and writes `captures`, if any. It captures the links that
/// `scenario` names, or the links with a policy if `scenario` names none. Only the first replication is
/// captured, because the others differ only in their random numbers.
///
/// # Errors
/// The errors of [`run`], or a capture cannot be written.
pub fn run_captured(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
    captures: Option<&Captures>,
) -> Result<(Results, Vec<Captured>), RunError> {
    // If the system cannot start threads, the replications run one after the other with the same results.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().ok();
    let threads = pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads);
    let run_one = |replication: u32, threads: usize| {
        let captures = captures.filter(|_| replication == 0);
        let options = RunOptions { threads, ..*options };
        run_one(scenario, base, &options, replication, progress, captures)
    };
    let at_once = |range: Range<u32>, threads: usize| match &pool {
        Some(pool) if range.len() > 1 => {
            let run_one = |replication| run_one(replication, threads);
            pool.install(|| range.into_par_iter().map(run_one).collect::<Result<Vec<_>, _>>())
        }
        _ => range.map(|replication| run_one(replication, threads)).collect(),
    };
    let side_by_side = |range: Range<u32>| match options.engine {
        EngineChoice::Parallel => range.map(|replication| run_one(replication, threads)).collect(),
        EngineChoice::Plain => at_once(range, 1),
        // Replications in parallel share no state. If fewer replications than threads remain, the threads are
        // divided among them.
        EngineChoice::Fast => {
            let rest = range.len() % threads;
            let full = range.end - rest as u32;
            let mut ended = at_once(range.start..full, 1)?;
            ended.extend(at_once(full..range.end, threads / rest.max(1))?);
            Ok(ended)
        }
    };
    let ended = if options.replications > 0 {
        progress.plan(scenario.duration, options.replications);
        side_by_side(0..options.replications)?
    } else {
        progress.plan(scenario.duration, *FITTING.end());
        let mut ended = side_by_side(0..*FITTING.start())?;
        let fitting = fitting_replications(scenario, ended[0].0.packet_hops());
        progress.plan_less(scenario.duration, FITTING.end() - fitting);
        ended.extend(side_by_side(*FITTING.start()..fitting)?);
        ended
    };
    let (replications, files): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    Ok((Results::new(scenario, options.seed, replications), files.into_iter().flatten().collect()))
}

/// The minimum and maximum number of replications of a run that does not set the number. Confidence intervals
/// need several replications and become only slightly narrower above ten.
const FITTING: RangeInclusive<u32> = 3..=10;
/// The limit of packet-hops, summed over replications. The minimum number of replications may exceed it.
const FITTING_PACKET_HOPS: u64 = 1_500_000;
/// The limit of result bytes, summed over replications. The minimum number of replications may exceed it.
const FITTING_BYTES: f64 = 200e6;

/// Returns the number of replications of a run that does not set the number. `packet_hops` is the number of
/// packet-hops of the first replication. The result depends on packet-hops and result bytes and not on time,
/// so that it is the same on every machine.
pub fn fitting_replications(scenario: &Scenario, packet_hops: u64) -> u32 {
    let by_bytes = (FITTING_BYTES / Budget::estimate(scenario, 1).bytes()) as u64;
    let fitting = (FITTING_PACKET_HOPS / packet_hops.max(1)).min(by_bytes);
    fitting.clamp(u64::from(*FITTING.start()), u64::from(*FITTING.end())) as u32
}

/// Runs replication `number` of `scenario` in this thread. Other threads of `options` run parts of the
/// network if this is faster.
///
/// # Errors
/// The run was cancelled, or the scenario cannot be built.
pub fn run_replication(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    number: u32,
    progress: &Progress,
) -> Result<Replication, RunError> {
    progress.plan(scenario.duration, 1);
    run_one(scenario, base, options, number, progress, None).map(|(replication, _)| replication)
}

fn run_one(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    number: u32,
    progress: &Progress,
    captures: Option<&Captures>,
) -> Result<(Replication, Vec<Captured>), RunError> {
    let captured = captures.map_or_else(Vec::new, |_| captured(scenario));
    let setup =
        set_up(scenario, base, options.seed, u64::from(number), &captured).map_err(RunError::Config)?;
    let about = format!("scenario \"{}\", seed {}, replication {number}", scenario.name, options.seed);
    let part = ReplicationRun { scenario, number, progress, captures, about };
    let setup = match setup.pausing(()) {
        Ok(_) if captures.is_some() => {
            let reason = "a network with priority flow control (`pause`) cannot be captured";
            return Err(RunError::Capture(reason.to_owned()));
        }
        Ok(network) => {
            if options.engine == EngineChoice::Parallel {
                progress.report_division(Err(Undivided::Pauses));
            }
            return part.drive(network);
        }
        Err(setup) => setup,
    };
    // An observer reads the state of the network between two events. In the plain engine, all elements are
    // then at the time of the earlier event.
    if options.engine == EngineChoice::Plain || part.is_watched() {
        return part.drive(setup.plain(()));
    }
    let division = match options.engine {
        EngineChoice::Parallel if captures.is_none() => Division::Always,
        EngineChoice::Fast if captures.is_none() && options.threads > 1 => Division::IfFaster,
        _ => return part.drive(World::new(setup, ())),
    };
    let again = || set_up(scenario, base, options.seed, u64::from(number), &[]).map_err(RunError::Config);
    part.drive_divided(World::new(setup, ()), options.threads, division, again)
}

/// The progress of a replication that was already reported.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    now: Time,
    packet_hops: u64,
}

impl Reached {
    /// Reports the progress up to `until` with the total `packet_hops`, less the progress that was already
    /// reported.
    fn advance(&mut self, progress: &Progress, until: Time, packet_hops: u64) {
        let until = until.max(self.now);
        progress.advance(self.now, until, packet_hops.saturating_sub(self.packet_hops));
        *self = Reached { now: until, packet_hops: packet_hops.max(self.packet_hops) };
    }
}

/// One replication of a run.
struct ReplicationRun<'a> {
    scenario: &'a Scenario,
    number: u32,
    progress: &'a Progress,
    captures: Option<&'a Captures<'a>>,
    /// The description of the run in captures.
    about: String,
}

impl ReplicationRun<'_> {
    /// Whether an observer reads the state of the replication while it runs.
    fn is_watched(&self) -> bool {
        self.number == 0 && self.progress.view.is_possible
    }

    /// Runs `engine` to the end of the scenario.
    fn drive(&self, mut engine: impl Engine) -> Result<(Replication, Vec<Captured>), RunError> {
        let ReplicationRun { scenario, captures, about, .. } = self;
        let files = captures.map(|captures| Files::create(scenario, &engine, captures, about));
        let mut files = files.transpose().map_err(|error| unwritten(&error))?;
        let mut reached = Reached::default();
        self.run_slices(&mut engine, &mut files, &mut reached, 1..=SLICES)?;
        self.complete(engine, files, reached)
    }

    /// Runs `slices` of the run with `engine`, which is at the start of the first slice, `reached`.
    fn run_slices(
        &self,
        engine: &mut impl Engine,
        files: &mut Option<Files>,
        reached: &mut Reached,
        slices: RangeInclusive<u64>,
    ) -> Result<(), RunError> {
        for slice in slices {
            if self.progress.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let duration = u128::from(self.scenario.duration.as_picoseconds());
            let until = Time::from_picoseconds((duration * u128::from(slice) / u128::from(SLICES)) as u64);
            self.step(engine, reached.now, until)?;
            if let Some(files) = files {
                engine.catch_up_everywhere(until);
                files.write(engine, until).map_err(|error| unwritten(&error))?;
            }
            reached.advance(self.progress, until, engine.packet_hops());
        }
        Ok(())
    }

    /// Ends the run of `engine` and returns its results.
    fn complete(
        &self,
        mut engine: impl Engine,
        files: Option<Files>,
        mut reached: Reached,
    ) -> Result<(Replication, Vec<Captured>), RunError> {
        let ReplicationRun { scenario, number, progress, .. } = self;
        engine.finish();
        if self.is_watched() {
            progress.view.show(reached.now, &mut engine, Moment::End);
        }
        reached.advance(progress, reached.now, engine.packet_hops());
        let files = files.map(|files| files.finish(&mut engine)).transpose();
        let files = files.map_err(|error| unwritten(&error))?.unwrap_or_default();
        Ok((Replication::new(scenario, &engine.measure(), *number), files))
    }

    /// Runs `engine` from `now` to `until`. A watched run waits at the gate, and shows a snapshot after each
    /// step.
    fn step(&self, engine: &mut impl Engine, mut now: Time, until: Time) -> Result<(), RunError> {
        if !self.is_watched() {
            engine.run_until(until);
            return Ok(());
        }
        let Progress { gate, view, .. } = self.progress;
        while now < until {
            now = gate.pass(now, until).ok_or(RunError::Cancelled)?;
            engine.run_until(now);
            view.show(now, engine, if now < until { Moment::Between } else { Moment::EndOfSlice });
        }
        Ok(())
    }
}

fn unwritten(error: &std::io::Error) -> RunError {
    RunError::Capture(error.to_string())
}
