//! The live testbed: lowering of a scenario to namespaces, cables and processes.

use std::path::PathBuf;

use perhop_live::lowering;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{diagnostics, loading};

/// Returns the processes, ports and cables of a live run as JSON. A bridge does not change the headers of
/// frames, so it accepts links with any headers.
#[pyfunction]
#[pyo3(signature = (scenario_json, base, seed, replication = 0, *, bridge = false))]
#[allow(clippy::needless_pass_by_value)] // Python hands over new objects
pub(crate) fn live_plan(
    py: Python<'_>,
    scenario_json: &str,
    base: PathBuf,
    seed: u64,
    replication: u64,
    bridge: bool,
) -> PyResult<String> {
    let loaded = loading::parse(py, scenario_json, &base, &[])?;
    let checked = if bridge { Ok(()) } else { lowering::check_headers(&loaded.resolved) };
    let plan = checked
        .and_then(|()| lowering::plan(&loaded.resolved, &base, seed, replication))
        .map_err(|error| diagnostics::raise_config(py, error))?;
    serde_json::to_string(&plan).map_err(|error| PyValueError::new_err(error.to_string()))
}
