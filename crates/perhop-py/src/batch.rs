//! Points of one scenario, simulated in parallel and controlled from Python.

use std::path::PathBuf;
use std::time::Duration;

use perhop_front_ends::loader;
use perhop_measure::results::Table;
use perhop_scenario::Document;
use perhop_sim::batch::{self, BatchPlan, Ended, HalfWidth, Outcome, Point, Until};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{columns, memory};

/// Completed points, with their numbers of replications.
type Succeeded = Vec<(u64, u32)>;
/// Failed points, with the reasons.
type Failed = Vec<(u64, String)>;
/// Tables by name, completed points and failed points.
type Taken<'py> = (Bound<'py, PyDict>, Succeeded, Failed);

/// The waiting, running and completed points of a scenario.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Batch(batch::Batch);

#[pymethods]
impl Batch {
    /// Creates a batch without points for the scenario in `scenario_json`. `until` is `(class, column,
    /// half-width, whether the half-width is relative to the mean, most replications)`.
    #[new]
    #[pyo3(signature = (scenario_json, base, threads, tables, *, seed = None, replications = None, until = None))]
    fn new(
        scenario_json: &str,
        base: PathBuf,
        threads: usize,
        tables: Vec<String>,
        seed: Option<u64>,
        replications: Option<u32>,
        until: Option<(String, String, f64, bool, u32)>,
    ) -> PyResult<Batch> {
        let value =
            serde_json::from_str(scenario_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let until = until.map(|(class, column, width, is_relative, most)| {
            let half_width =
                if is_relative { HalfWidth::Relative(width) } else { HalfWidth::Absolute(width) };
            Until { class, column, half_width, most }
        });
        let document = Document::from_json(value);
        let plan = BatchPlan { document, base, loader: loader(), seed, replications, until, tables };
        batch::Batch::new(plan, threads).map(Batch).map_err(|error| PyOSError::new_err(error.to_string()))
    }
    /// Adds points: a number, and changes as `(path, text)`.
    fn submit(&self, points: Vec<(u64, Vec<(String, String)>)>) {
        // The limit is not divided among the points in parallel, because they rarely need much memory.
        let points = points.into_iter().map(|(number, changes)| Point { number, changes }).collect();
        self.0.submit(points, memory::available());
    }
    /// Returns the points that have ended since the last call, in order of their numbers. Waits without the
    /// GIL until all points have ended, at most for `timeout_s` seconds.
    fn take<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Taken<'py>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (tables, ended, failed) = py.detach(|| merged(self.0.take(timeout)));
        let found = PyDict::new(py);
        for table in tables {
            let name = table.name;
            found.set_item(name, columns::to_arrays(py, table.columns)?)?;
        }
        Ok((found, ended, failed))
    }
    /// Returns `(points done, simulated seconds, packet-hops)`. A running point counts by its completed
    /// fraction.
    fn progress(&self) -> (f64, f64, u64) {
        let progress = self.0.progress();
        (self.0.points_done(), progress.simulated_seconds(), progress.packet_hops())
    }
    /// Returns the number of waiting and running points.
    fn unfinished(&self) -> u64 {
        self.0.unfinished()
    }
    /// Discards the waiting points and requests the running ones to stop.
    fn cancel(&self) {
        self.0.cancel();
    }
}

/// Concatenates the tables of all points, with the column `point`, and separates completed from failed
/// points.
fn merged(mut found: Vec<Ended>) -> (Vec<Table>, Succeeded, Failed) {
    found.sort_unstable_by_key(|ended| ended.number);
    let (mut all, mut ended, mut failed) = (Vec::<Table>::new(), Vec::new(), Vec::new());
    for Ended { number, outcome } in found {
        let Outcome { replications, tables } = match outcome {
            Ok(outcome) => outcome,
            Err(why) => {
                failed.push((number, why));
                continue;
            }
        };
        ended.push((number, replications));
        for mut table in tables {
            table.prepend_key("point", number);
            match all.iter_mut().find(|known| known.name == table.name) {
                Some(known) => known.append(table),
                None => all.push(table),
            }
        }
    }
    (all, ended, failed)
}
