//! The processes of a live run, which are forwarders and hosts with their traffic, and the results from their
//! records.

use std::path::PathBuf;

use perhop_live::host::merge::{RunFiles, measured_results};
use perhop_live::host::{HostError, HostRun};
use perhop_live::process::{self, ProcessError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::running::{Parts, to_python};
use crate::{diagnostics, loading};

/// Runs the forwarder that a configuration describes, until the process is requested to end.
#[pyfunction]
pub(crate) fn live_forward(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| process::forward(config_json)).map_err(|error| failure(&error))
}

/// Runs policies between two existing interfaces, until the process is requested to end.
#[pyfunction]
pub(crate) fn live_bridge(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| process::bridge(config_json)).map_err(|error| failure(&error))
}

/// Runs the traffic of one host of a scenario on real sockets until the end of the run.
#[pyfunction]
#[pyo3(signature = (
    scenario_json, base, host, seed, start_at_monotonic_ns, result_path, replication = 0, congestion_control = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python hands over new objects
pub(crate) fn live_host(
    py: Python<'_>,
    scenario_json: &str,
    base: PathBuf,
    host: &str,
    seed: u64,
    start_at_monotonic_ns: u64,
    result_path: PathBuf,
    replication: u64,
    congestion_control: Option<&str>,
) -> PyResult<()> {
    let loaded = loading::parse(py, scenario_json, &base, &[])?;
    let run = HostRun {
        scenario: &loaded.resolved,
        base: &base,
        host,
        seed,
        replication,
        start_at: start_at_monotonic_ns,
        congestion: congestion_control,
        result: result_path,
    };
    py.detach(|| run.play()).map(drop).map_err(|error| raised(py, error))
}

/// Returns the results of live runs, from the records of hosts and the reports of forwarders.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn live_results<'py>(
    py: Python<'py>,
    scenario_json: &str,
    base: PathBuf,
    seed: u64,
    runs_json: &str,
) -> PyResult<Parts<'py>> {
    let loaded = loading::parse(py, scenario_json, &base, &[])?;
    let runs: Vec<RunFiles> =
        serde_json::from_str(runs_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let results = py.detach(|| measured_results(&loaded.resolved, seed, &runs));
    to_python(py, results.map_err(|error| raised(py, error))?)
}

/// Converts an error of a host's traffic to a Python exception.
fn raised(py: Python<'_>, error: HostError) -> PyErr {
    match error {
        HostError::Config(error) => diagnostics::raise_config(py, error),
        HostError::System(what, error) => os_error(error.raw_os_error(), format!("{what}: {error}")),
    }
}

fn failure(error: &ProcessError) -> PyErr {
    match error {
        ProcessError::Config(_) => PyValueError::new_err(error.to_string()),
        ProcessError::Open(_) | ProcessError::System { .. } => os_error(error.number(), error.to_string()),
    }
}

/// Creates an `OSError`. From the error number, Python selects the subclass: `PermissionError`,
/// `FileNotFoundError` and so on.
fn os_error(number: Option<i32>, message: String) -> PyErr {
    match number {
        Some(number) => PyOSError::new_err((number, message)),
        None => PyOSError::new_err(message),
    }
}
