//! [`run`]: all replications of a scenario, side by side, with progress and a way to stop.

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use rayon::prelude::*;

use crate::build::set_up;
use crate::capture::{Captured, Captures, Files, captured};
use crate::engine::Engine;
use crate::fast::World;
use crate::gate::Gate;
use crate::snapshot::{LiveView, Moment, Snapshot};
use perhop_measure::budget::Budget;
use perhop_measure::{Replication, Results};
use perhop_scenario::Scenario;

/// How a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// The number of runs, each with other draws; 0 is as many as [fit](fitting_replications).
    pub replications: u32,
    /// Threads to use; 0 is one per processor. The results do not depend on it.
    pub threads: usize,
    /// What carries the packets. The results do not depend on it.
    pub engine: EngineChoice,
}

/// What carries the packets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The fast engine, with as few events as can be.
    #[default]
    Fast,
    /// The plain one, which is the specification of the other: everything is an event.
    Plain,
}

/// What has been simulated so far, for whoever watches from another thread; and the way to stop.
#[derive(Debug, Default)]
pub struct Progress {
    simulated: AtomicU64,
    planned: AtomicU64,
    packet_hops: AtomicU64,
    cancelled: AtomicBool,
    view: LiveView,
    gate: Gate,
}

impl Progress {
    /// Nothing simulated yet.
    pub fn new() -> Progress {
        Progress::default()
    }
    /// Nothing simulated yet, and somebody will look into the first replication while it runs.
    pub fn watched() -> Progress {
        Progress { view: LiveView::asked_for(), ..Progress::default() }
    }
    /// The next that is to be seen of the network of the first replication: what waits to be seen is bounded,
    /// and what finds no room is left out. `None` where there is nothing new, and unless the run is
    /// [`watched`](Progress::watched).
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.view.take()
    }
    /// Lets the first replication of a watched run go as far as `until`, and wait there. At first it may go
    /// to its end. Whatever it is held at changes nothing of the results.
    pub fn hold_at(&self, until: Time) {
        self.gate.open_until(until);
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
        self.gate.cancel();
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
    fn plan_less(&self, time: Time, replications: u32) {
        self.planned.fetch_sub(microseconds(time).saturating_mul(u64::from(replications)), Ordering::Relaxed);
    }
    fn advance(&self, from: Time, until: Time, packet_hops: u64) {
        // The difference of what is rounded: of many short steps nothing is lost.
        self.simulated.fetch_add(microseconds(until) - microseconds(from), Ordering::Relaxed);
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
    run_captured(scenario, base, options, progress, None).map(|(results, _)| results)
}

/// [`run`] with `captures`, if any, of what `scenario` says, or of the links around its policies. Captured is
/// the first replication: the others are the same with other draws.
///
/// # Errors
/// As for [`run`], and where a capture cannot be written.
pub fn run_captured(
    scenario: &Scenario,
    base: &Path,
    options: &RunOptions,
    progress: &Progress,
    captures: Option<&Captures>,
) -> Result<(Results, Vec<Captured>), RunError> {
    let one = |replication: u32| {
        let captures = captures.filter(|_| replication == 0);
        run_one(scenario, base, options, replication, progress, captures)
    };
    // The system may give no threads: one after the other gives the same results.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().ok();
    let side_by_side = |range: Range<u32>| match &pool {
        Some(pool) => pool.install(|| range.into_par_iter().map(one).collect::<Result<Vec<_>, _>>()),
        None => range.map(one).collect(),
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

/// The least and the most replications of a run that does not give their number: intervals need several, and
/// become little narrower beyond ten.
const FITTING: RangeInclusive<u32> = 3..=10;
/// Packet-hops of all replications together that they may exceed no sooner than the least number.
const FITTING_PACKET_HOPS: u64 = 1_500_000;
/// Bytes of results of all replications together, likewise.
const FITTING_BYTES: f64 = 200e6;

/// Returns the number of replications of a run that does not give it, whose first carried `packet_hops`.
/// Events and results bound it, not time: the answer is the same on every machine.
pub fn fitting_replications(scenario: &Scenario, packet_hops: u64) -> u32 {
    let by_bytes = (FITTING_BYTES / Budget::of(scenario, 1).bytes()) as u64;
    let fitting = (FITTING_PACKET_HOPS / packet_hops.max(1)).min(by_bytes);
    fitting.clamp(u64::from(*FITTING.start()), u64::from(*FITTING.end())) as u32
}

/// Runs replication `number` of `scenario` in this thread; `options` gives the seed and the engine.
///
/// # Errors
/// When it was cancelled, or the scenario cannot be built.
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
    let part = Part { scenario, number, progress, captures, about };
    // Between two events the plain engine is wholly at the time of the first: somebody may look at it.
    if options.engine == EngineChoice::Plain || part.is_watched() {
        part.drive(setup.plain(()))
    } else {
        part.drive(World::new(setup, ()))
    }
}

/// One replication of a run.
struct Part<'a> {
    scenario: &'a Scenario,
    number: u32,
    progress: &'a Progress,
    captures: Option<&'a Captures<'a>>,
    /// What captures say of it.
    about: String,
}

impl Part<'_> {
    /// Whether somebody looks into it while it runs.
    fn is_watched(&self) -> bool {
        self.number == 0 && self.progress.view.is_possible
    }

    /// Runs `engine` to the end of the scenario.
    fn drive(&self, mut engine: impl Engine) -> Result<(Replication, Vec<Captured>), RunError> {
        let Part { scenario, number, progress, captures, about } = self;
        let files = captures.map(|captures| Files::create(scenario, &engine, captures, about));
        let mut files = files.transpose().map_err(|error| unwritten(&error))?;
        let (mut now, mut hops) = (Time::ZERO, 0);
        for slice in 1..=SLICES {
            if progress.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let duration = u128::from(scenario.duration.as_picoseconds());
            let until = Time::from_picoseconds((duration * u128::from(slice) / u128::from(SLICES)) as u64);
            self.step(&mut engine, now, until)?;
            if let Some(files) = &mut files {
                engine.catch_up_everywhere(until);
                files.write(&mut engine, until).map_err(|error| unwritten(&error))?;
            }
            let total = engine.packet_hops();
            progress.advance(now, until, total - hops);
            (now, hops) = (until, total);
        }
        engine.finish();
        if self.is_watched() {
            progress.view.show(now, &mut engine, Moment::End);
        }
        progress.advance(now, now, engine.packet_hops() - hops);
        let files = files.map(|files| files.finish(&mut engine)).transpose();
        let files = files.map_err(|error| unwritten(&error))?.unwrap_or_default();
        Ok((Replication::new(scenario, &engine.measure(), *number), files))
    }

    /// Runs `engine` from `now` to `until`; where somebody watches, no further than they let it.
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
