//! A simulation in a separate thread, controlled from Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use perhop_measure::budget::Budget;
use perhop_measure::results::Results;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_sim::Divided;
use perhop_sim::batch::panic_message;
use perhop_sim::capture::Captured;
use perhop_sim::run::{self, EngineChoice, Progress, RunError, RunOptions};
use perhop_sim::snapshot::{ClassState, Snapshot};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::captures::{self, Folder};
use crate::columns::{self, TableColumns};
use crate::{diagnostics, loading, memory};

/// A [`Snapshot`] as a Python value.
type Seen = (f64, Vec<(String, String, u64, u64)>, Vec<SeenClass>, u64);
/// A class of a snapshot: name, received bytes, offered and delivered packets, packets dropped by cause, sum
/// of delays in seconds.
type SeenClass = (String, u64, u64, u64, [u64; DropCause::COUNT], f64);
type Outcome = thread::Result<Result<(Results, Vec<Captured>), RunError>>;

/// A running or completed simulation.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Run {
    progress: Arc<Progress>,
    end: Arc<Completion>,
}

/// The result of a run, and the condition that signals its end.
#[derive(Default)]
struct Completion {
    outcome: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Running,
    Ended(Box<Outcome>),
    Taken,
}

impl Completion {
    /// Returns the state. It stays valid if another thread panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Run {
    /// Returns `(fraction done, simulated seconds over all replications, packet-hops)`.
    fn progress(&self) -> (f64, f64, u64) {
        (self.progress.fraction(), self.progress.simulated_seconds(), self.progress.packet_hops())
    }
    /// Returns the number of parts of the network that ran last, and the reason if this network could not be
    /// divided. `None` if no division was tried, or if no division was faster.
    fn division(&self) -> Option<(usize, Option<String>)> {
        self.progress.division().map(|division| match division {
            Ok(Divided { parts, .. }) => (parts, None),
            Err(reason) => (1, Some(reason.to_string())),
        })
    }
    /// Returns the next snapshot of the first replication: seconds, queues as
    /// `(port, queue, packets, bytes)`, classes as [`SeenClass`], and the number of skipped snapshots. `None`
    /// if there is no new snapshot.
    fn snapshot(&self) -> Option<Seen> {
        let Snapshot { time, queues, classes, left_out } = self.progress.snapshot()?;
        let queues =
            queues.into_iter().map(|queue| (queue.port, queue.queue, queue.packets, queue.bytes)).collect();
        let class = |state: ClassState| {
            let delays = state.delay_sum as f64 / 1e12;
            (state.class, state.received_bytes, state.offered, state.delivered, state.dropped, delays)
        };
        Some((time.as_seconds(), queues, classes.into_iter().map(class).collect(), left_out))
    }
    /// Pauses the first replication of a watched run at `seconds` of simulated time.
    fn hold_at(&self, seconds: f64) {
        self.progress.hold_at(Time::from_seconds_f64(seconds));
    }
    /// Requests the simulation to stop; `wait` returns when it has stopped.
    fn cancel(&self) {
        self.progress.cancel();
    }
    /// Waits at most `timeout_s` seconds without the GIL. Returns whether the run has ended.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.detach(|| {
            let waited = self
                .end
                .bell
                .wait_timeout_while(self.end.state(), timeout, |state| matches!(state, State::Running))
                .unwrap_or_else(PoisonError::into_inner);
            !matches!(*waited.0, State::Running)
        }))
    }
    /// Returns
    /// `(summary as JSON, {table: {column: array or (codes, names)}}, {table: {column: unit}}, captured files as JSON)`.
    /// This can be called only once, because it moves the memory.
    fn result<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(String, Bound<'py, PyDict>, Bound<'py, PyDict>, String)> {
        let taken = {
            let mut state = self.end.state();
            if matches!(*state, State::Running) {
                return Err(PyRuntimeError::new_err("the run has not ended"));
            }
            std::mem::replace(&mut *state, State::Taken)
        };
        let State::Ended(outcome) = taken else {
            return Err(PyRuntimeError::new_err("the result has already been taken"));
        };
        let (results, captured) = match *outcome {
            Ok(Ok(ended)) => ended,
            Ok(Err(RunError::Cancelled)) => return Err(PyKeyboardInterrupt::new_err("cancelled")),
            Ok(Err(error @ RunError::Capture(_))) => return Err(PyOSError::new_err(error.to_string())),
            Ok(Err(RunError::Config(error))) => return Err(diagnostics::raise_config(py, error)),
            Err(panic) => return Err(PyRuntimeError::new_err(panic_message(panic.as_ref()))),
        };
        let (summary, tables, units) = to_python(py, results)?;
        Ok((summary, tables, units, captures::to_json(&captured)))
    }
}

/// A summary as JSON, tables, and the units of their columns.
pub(crate) type Parts<'py> = (String, Bound<'py, PyDict>, Bound<'py, PyDict>);

/// Converts `results` to Python values.
pub(crate) fn to_python(py: Python<'_>, results: Results) -> PyResult<Parts<'_>> {
    let (tables, units) = (PyDict::new(py), PyDict::new(py));
    for table in results.tables {
        let name = table.name;
        units.set_item(name, columns::units(py, &table)?)?;
        tables.set_item(name, TableColumns::new(table))?;
    }
    Ok((results.summary.to_json(), tables, units))
}

impl Drop for Run {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

/// Starts a simulation in its own thread, with the `fast`, the `plain` or the `parallel` engine. With
/// `replications` 0, the number of replications follows from the budget. `watched` enables snapshots; such a
/// run can be paused at `hold_at` simulated seconds. Captures are written to the folder `captures`, with
/// `snap_length` bytes of each frame or only the headers, and end after `most_packets` packets per file.
#[pyfunction]
#[pyo3(signature = (
    scenario_json, base, seed, replications, threads, *, engine = "fast", watched = false, hold_at = None,
    captures = None, snap_length = None, most_packets = None
))]
#[allow(clippy::too_many_arguments)] // the interface between two languages
pub(crate) fn start(
    py: Python<'_>,
    scenario_json: &str,
    base: PathBuf,
    seed: u64,
    replications: u32,
    threads: usize,
    engine: &str,
    watched: bool,
    hold_at: Option<f64>,
    captures: Option<PathBuf>,
    snap_length: Option<u32>,
    most_packets: Option<u64>,
) -> PyResult<Run> {
    let loaded = loading::parse(py, scenario_json, &base, &[])?;
    Budget::estimate(&loaded.resolved, replications.max(1))
        .fits(memory::available())
        .map_err(|error| diagnostics::raise_config(py, error))?;
    let engine = match engine {
        "fast" => EngineChoice::Fast,
        "plain" => EngineChoice::Plain,
        "parallel" => EngineChoice::Parallel,
        other => {
            return Err(PyValueError::new_err(format!(
                "engine must be fast, plain or parallel, got {other}"
            )));
        }
    };
    let options = RunOptions { seed, replications, threads, engine };
    let progress = Arc::new(if watched { Progress::watched() } else { Progress::new() });
    if let Some(seconds) = hold_at {
        progress.hold_at(Time::from_seconds_f64(seconds));
    }
    let end = Arc::new(Completion::default());
    let run = Run { progress: Arc::clone(&progress), end: Arc::clone(&end) };
    thread::Builder::new().name("perhop-run".to_owned()).spawn(move || {
        let folder = captures.map(|path| Folder { path, snap_length, most_packets });
        let outcome = catch_unwind(AssertUnwindSafe(|| match &folder {
            None => {
                run::run(&loaded.resolved, &base, &options, &progress).map(|results| (results, Vec::new()))
            }
            Some(folder) => folder.run(&loaded.resolved, &base, &options, &progress),
        }));
        *end.state() = State::Ended(Box::new(outcome));
        end.bell.notify_all();
    })?;
    Ok(run)
}
