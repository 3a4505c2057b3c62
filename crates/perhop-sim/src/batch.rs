//! [`Batch`]: many points of one scenario, simulated in parallel by the threads of one pool.
//!
//! A point is the scenario with some values changed. The results of a point do not depend on the number of
//! threads or on the order in which points end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perhop_measure::budget::Budget;
use perhop_measure::results::Table;
use perhop_measure::statistics::confidence_95;
use perhop_scenario::{Diagnostics, Document, Loader, Scenario, Severity};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::run::{EngineChoice, Progress, RunError, RunOptions, run_replication};

/// The scenario of a batch and the settings that all its points share.
#[derive(Clone)]
pub struct BatchPlan {
    /// The scenario that every point changes.
    pub document: Document,
    /// The directory to which relative paths in the document refer.
    pub base: PathBuf,
    /// The loader that reads the document.
    pub loader: Loader<'static>,
    /// The seed of every point. `None`: the seed of the scenario, which a point may change.
    pub seed: Option<u64>,
    /// The number of replications of every point. `None`: the number in the scenario.
    pub replications: Option<u32>,
    /// The stop rule of a point. `None`: the number of replications is fixed.
    pub until: Option<Until>,
    /// Names of the result tables to keep.
    pub tables: Vec<String>,
}

/// A stop rule: replications are added until the confidence interval of a metric is narrow enough.
///
/// The rule is applied after each replication in order, from the second on. The number of replications
/// therefore does not depend on how many of them run in parallel. Because the interval is checked repeatedly,
/// it covers the mean slightly less often than in 95 % of cases (Chow and Robbins 1965, "On the asymptotic
/// theory of fixed-width sequential confidence intervals for the mean").
#[derive(Clone, Debug)]
pub struct Until {
    /// The class whose metric is checked.
    pub class: String,
    /// The column of the table `classes` that contains the metric.
    pub column: String,
    /// The largest half-width of the 95 % interval.
    pub half_width: HalfWidth,
    /// The maximum number of replications of a point.
    pub most: u32,
}

/// Half of the width of a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HalfWidth {
    /// A value in the unit of the metric.
    Absolute(f64),
    /// A fraction of the mean's magnitude.
    Relative(f64),
}

/// One point.
#[derive(Clone, Debug)]
pub struct Point {
    /// The number of the point, as in the rows of results.
    pub number: u64,
    /// The changed values, each a path and a YAML text as in `perhop run --set`.
    pub changes: Vec<(String, String)>,
}

/// A point that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The number of the point.
    pub number: u64,
    /// The kept tables of all replications, or the reason why the point has no results.
    pub outcome: Result<Outcome, String>,
}

/// The results of a point.
#[derive(Debug)]
pub struct Outcome {
    /// The number of replications that ran.
    pub replications: u32,
    /// The kept tables, in the order in which a run returns them.
    pub tables: Vec<Table>,
}

/// A queue of points and the threads that run them.
pub struct Batch {
    shared: Arc<Shared>,
    // Dropping the pool does not wait for its threads. They end soon, because a running point checks whether
    // the batch is cancelled.
    pool: ThreadPool,
}

struct Shared {
    plan: BatchPlan,
    threads: usize,
    progress: Progress,
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Point, f64)>,
    started: u64,
    running: u64,
    ended: Vec<Ended>,
}

impl Shared {
    /// Returns the locked state. The state is valid even if a thread panicked while it had the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    /// Creates a batch without points and starts `threads` threads.
    ///
    /// # Errors
    /// The system cannot start the threads.
    pub fn new(plan: BatchPlan, threads: usize) -> Result<Batch, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("perhop-batch-{number}"))
            .build()?;
        let shared = Shared {
            plan,
            threads: pool.current_num_threads(),
            progress: Progress::new(),
            state: Mutex::default(),
            bell: Condvar::new(),
        };
        Ok(Batch { shared: Arc::new(shared), pool })
    }

    /// Adds points to the queue. The results of each point may use up to `memory` bytes.
    pub fn submit(&self, points: Vec<Point>, memory: f64) {
        let count = points.len();
        self.shared.state().waiting.extend(points.into_iter().map(|point| (point, memory)));
        for _ in 0..count {
            let shared = Arc::clone(&self.shared);
            self.pool.spawn(move || shared.run_next());
        }
    }

    /// Removes and returns the points that have ended since the last call. Waits until all points have ended,
    /// but at most for `timeout`.
    pub fn take(&self, timeout: Duration) -> Vec<Ended> {
        let busy = |state: &mut State| state.running > 0 || !state.waiting.is_empty();
        let (mut state, _) = self
            .shared
            .bell
            .wait_timeout_while(self.shared.state(), timeout, busy)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.ended)
    }

    /// The number of points that wait or run.
    pub fn unfinished(&self) -> u64 {
        let state = self.shared.state();
        state.waiting.len() as u64 + state.running
    }

    /// The work done so far, in points. A running point counts as the fraction of its simulated time that has
    /// passed.
    pub fn points_done(&self) -> f64 {
        self.shared.state().started as f64 * self.shared.progress.fraction()
    }

    /// The progress of all points together.
    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// Removes the waiting points and stops the running points.
    pub fn cancel(&self) {
        self.shared.state().waiting.clear();
        self.shared.progress.cancel();
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    /// Runs the point that has waited longest, if a point waits.
    fn run_next(&self) {
        let ((point, memory), last) = {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front() else { return };
            state.started += 1;
            state.running += 1;
            (next, state.waiting.len() < self.threads)
        };
        // While every thread has a point to run, each point uses one thread. The last points use the idle
        // threads: they run their replications in parallel.
        let side_by_side = if last { self.threads } else { 1 };
        let outcome = catch_unwind(AssertUnwindSafe(|| self.run(&point, memory, side_by_side)))
            .unwrap_or_else(|panic| Err(Failure::Error(panic_message(panic.as_ref()))));
        let mut state = self.state();
        state.running -= 1;
        match outcome {
            Ok(outcome) => state.ended.push(Ended { number: point.number, outcome: Ok(outcome) }),
            Err(Failure::Error(why)) => state.ended.push(Ended { number: point.number, outcome: Err(why) }),
            Err(Failure::Cancelled) => {}
        }
        drop(state);
        self.bell.notify_all();
    }

    fn run(&self, point: &Point, memory: f64, side_by_side: usize) -> Result<Outcome, Failure> {
        let plan = &self.plan;
        let mut document = plan.document.clone();
        for (path, text) in &point.changes {
            document.set(path, text).map_err(|found| Failure::invalid(&(*found).into()))?;
        }
        let loaded = plan
            .loader
            .load_document(&document, plan.base.clone())
            .map_err(|found| Failure::invalid(&found))?;
        let scenario = &loaded.resolved;
        let replications = plan.replications.or(scenario.replications).unwrap_or(1);
        let most = plan.until.as_ref().map_or(replications, |until| until.most.max(replications));
        Budget::estimate(scenario, most).fits(memory).map_err(|error| Failure::Error(error.to_string()))?;
        let options = RunOptions {
            seed: plan.seed.unwrap_or(scenario.seed),
            replications: most,
            threads: 1,
            engine: EngineChoice::Fast,
        };
        let mut tables: Vec<Table> = Vec::new();
        let mut stop_rule = StopRule::new(plan.until.as_ref(), replications);
        let mut next = 0;
        while next < most {
            let ahead = if next < replications { replications } else { most.min(next + side_by_side as u32) };
            let run_one = |number| self.replication(scenario, &options, number);
            let found: Vec<Vec<Table>> = if side_by_side > 1 {
                (next..ahead).into_par_iter().map(run_one).collect::<Result<_, _>>()?
            } else {
                (next..ahead).map(run_one).collect::<Result<_, _>>()?
            };
            for more in found {
                let stop = stop_rule.add_replication(&more)?;
                append(&mut tables, more);
                next += 1;
                if stop {
                    return Ok(self.outcome_of_point(next, tables));
                }
            }
        }
        Ok(self.outcome_of_point(next, tables))
    }

    /// Runs one replication. Returns its tables to keep, and the table `classes` if there is a stop rule.
    fn replication(
        &self,
        scenario: &Scenario,
        options: &RunOptions,
        number: u32,
    ) -> Result<Vec<Table>, RunError> {
        let found = run_replication(scenario, &self.plan.base, options, number, &self.progress)?;
        let judged = self.plan.until.is_some();
        let is_needed = |table: &Table| self.is_kept(table) || judged && table.name == "classes";
        Ok(found.into_tables().into_iter().filter(is_needed).collect())
    }

    fn outcome_of_point(&self, replications: u32, mut tables: Vec<Table>) -> Outcome {
        tables.retain(|table| self.is_kept(table));
        Outcome { replications, tables }
    }

    fn is_kept(&self, table: &Table) -> bool {
        self.plan.tables.iter().any(|name| name == table.name)
    }
}

fn append(tables: &mut Vec<Table>, more: Vec<Table>) {
    if tables.is_empty() {
        *tables = more;
        return;
    }
    for (table, more) in tables.iter_mut().zip(more) {
        table.append(more);
    }
}

/// The state of a stop rule for one point.
struct StopRule<'a> {
    until: Option<&'a Until>,
    least: usize,
    count: usize,
    samples: Vec<f64>,
}

impl<'a> StopRule<'a> {
    fn new(until: Option<&'a Until>, least: u32) -> StopRule<'a> {
        StopRule { until, least: least as usize, count: 0, samples: Vec::new() }
    }

    /// Adds the tables of one replication. Returns whether the point has enough replications.
    fn add_replication(&mut self, tables: &[Table]) -> Result<bool, Failure> {
        self.count += 1;
        let Some(until) = self.until else { return Ok(false) };
        let classes = tables.iter().find(|table| table.name == "classes");
        let value = classes.and_then(|table| {
            let class = table.column("class")?;
            let row = (0..table.rows()).find(|row| class.text(*row) == Some(&until.class))?;
            table.column(&until.column)?.number(row)
        });
        let Some(value) = value else {
            let Until { class, column, .. } = until;
            return Err(Failure::Error(format!("the stop rule finds no `{column}` of class `{class}`")));
        };
        if !value.is_nan() {
            self.samples.push(value);
        }
        let Some(interval) = confidence_95(&self.samples) else { return Ok(false) };
        let wanted = match until.half_width {
            HalfWidth::Absolute(half) => half,
            HalfWidth::Relative(part) => part * interval.mean.abs(),
        };
        Ok(self.count >= self.least && (interval.high - interval.low) / 2.0 <= wanted)
    }
}

/// The reason why a point has no results.
enum Failure {
    Cancelled,
    Error(String),
}

impl Failure {
    /// Joins the errors of a scenario into one message.
    fn invalid(found: &Diagnostics) -> Failure {
        let errors = found.iter().filter(|fault| fault.severity == Severity::Error);
        let messages = errors.map(|error| match &error.help {
            Some(help) => format!("{}: {} ({help})", error.path, error.message),
            None => format!("{}: {}", error.path, error.message),
        });
        Failure::Error(messages.collect::<Vec<_>>().join("; "))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Cancelled => Failure::Cancelled,
            other => Failure::Error(other.to_string()),
        }
    }
}

/// Returns the message of a panic of the simulator.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let reason =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the simulator stopped: {}", reason.unwrap_or("no reason given"))
}
