//! Loading of scenarios.

use std::path::{Path, PathBuf};

use perhop_front_ends::loader;
use perhop_measure::budget::{self, Budget};
use perhop_qos::cake::CakeTins;
use perhop_qos::packet::Dscp;
use perhop_scenario::{Checked, Coloring, Diagnostic, Document};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{diagnostics, memory};

/// A loaded and checked scenario.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Loaded {
    /// The scenario, including all defaults, as JSON.
    #[pyo3(get)]
    json: String,
    /// The scenario as JSON, with the texts of router configurations in place of their files.
    #[pyo3(get)]
    embedded: String,
    /// The scenario to simulate as JSON, with router configurations converted to policies, rates and
    /// tx-rings.
    #[pyo3(get)]
    resolved: String,
    base: PathBuf,
    /// The warnings about the scenario.
    #[pyo3(get)]
    warnings: Py<Warnings>,
}

#[pymethods]
impl Loaded {
    /// The directory of relative paths in the scenario.
    #[getter]
    fn base(&self) -> String {
        self.base.display().to_string()
    }
}

/// The warnings about a file.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Warnings(Vec<Diagnostic>);

#[pymethods]
impl Warnings {
    /// The warnings with their positions.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        diagnostics::from_json(py, &serde_json::json!(self.0))
    }
    /// All warnings as text for a terminal.
    #[getter]
    fn colored(&self) -> String {
        perhop_scenario::render(&self.0, Coloring::Ansi)
    }
    fn __str__(&self) -> String {
        perhop_scenario::render(&self.0, Coloring::Plain)
    }
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

fn loaded(py: Python<'_>, loaded: perhop_scenario::Loaded) -> PyResult<Loaded> {
    let json = to_text(&loaded.scenario, serde_json::to_string)?;
    let embedded = to_text(&loaded.embedded(), serde_json::to_string)?;
    let resolved = to_text(&loaded.resolved, serde_json::to_string)?;
    let warnings = Py::new(py, Warnings(loaded.warnings))?;
    Ok(Loaded { json, embedded, resolved, base: loaded.base, warnings })
}

fn to_text<T>(value: &T, write: impl Fn(&T) -> serde_json::Result<String>) -> PyResult<String> {
    write(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Loads a scenario file, with overrides `(path, value)` applied.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over new objects
pub(crate) fn load(py: Python<'_>, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Loaded> {
    let read =
        py.detach(|| loader().load(&path, &overrides)).map_err(|found| diagnostics::raise(py, &found))?;
    loaded(py, read)
}

/// Loads a scenario from JSON text, with overrides applied; paths in the text are relative to `base`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn load_json(
    py: Python<'_>,
    json: &str,
    base: PathBuf,
    overrides: Vec<(String, String)>,
) -> PyResult<Loaded> {
    loaded(py, parse(py, json, &base, &overrides)?)
}

/// Returns a scenario as JSON, with router configurations converted. The scenario is not checked, so that the
/// scenario of an earlier run can be drawn without its traces.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn resolve(py: Python<'_>, json: &str, base: PathBuf) -> PyResult<String> {
    let value = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let document = Document::from_json(value);
    let resolved = loader().resolve(&document, &base).map_err(|found| diagnostics::raise(py, &found))?;
    to_text(&resolved, serde_json::to_string)
}

/// Decodes the scenario in `json`; errors become a Python exception.
pub(crate) fn parse(
    py: Python<'_>,
    json: &str,
    base: &Path,
    overrides: &[(String, String)],
) -> PyResult<perhop_scenario::Loaded> {
    let value = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut document = Document::from_json(value);
    for (path, text) in overrides {
        document.set(path, text).map_err(|found| diagnostics::raise(py, &(*found).into()))?;
    }
    loader().load_document(&document, base).map_err(|found| diagnostics::raise(py, &found))
}

/// Returns the findings of the lint rules for a scenario of an earlier run. Paths in the scenario are
/// relative to `base`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn findings(py: Python<'_>, json: &str, base: PathBuf) -> PyResult<Warnings> {
    let value = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let document = Document::from_json(value);
    let found = py.detach(|| loader().findings(&document, &base));
    found.map(Warnings).map_err(|found| diagnostics::raise(py, &found))
}

/// Checks a file with a scenario or only policies. Returns the kind of the file, and warnings.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn check(py: Python<'_>, path: PathBuf) -> PyResult<(&'static str, Warnings)> {
    match py.detach(|| loader().check(&path)).map_err(|found| diagnostics::raise(py, &found))? {
        Checked::Scenario(loaded) => {
            Budget::estimate(&loaded.resolved, loaded.resolved.replications.unwrap_or(1))
                .fits(memory::available())
                .map_err(|error| diagnostics::raise_config(py, error))?;
            Ok(("scenario", Warnings(loaded.warnings)))
        }
        Checked::Policies(_, found) => Ok(("policies", Warnings(found))),
    }
}

/// Returns the policies of a file without a scenario, by name, as JSON; `None` for a scenario.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn policies(py: Python<'_>, path: PathBuf) -> PyResult<Option<String>> {
    match py.detach(|| loader().check(&path)).map_err(|found| diagnostics::raise(py, &found))? {
        Checked::Scenario(_) => Ok(None),
        Checked::Policies(set, _) => serde_json::to_string(&set.policies)
            .map(Some)
            .map_err(|error| PyValueError::new_err(error.to_string())),
    }
}

/// Returns the estimated packet-hops of one replication of a scenario.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn packet_hops(py: Python<'_>, scenario_json: &str, base: PathBuf) -> PyResult<f64> {
    Ok(budget::packet_hops(&parse(py, scenario_json, &base, &[])?.resolved))
}

/// Returns the tins of CAKE for the setting `tins`, by their names in results. Each tin has its codepoints
/// and a fraction of the bandwidth. Up to this fraction, the tin is served before the tins that are listed
/// earlier. The first tin gets the remainder.
#[pyfunction]
pub(crate) fn cake_tins(tins: &str) -> PyResult<Vec<(&'static str, f64, Vec<u8>)>> {
    let tins: CakeTins =
        serde_json::from_value(tins.into()).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let codepoints = |tin| tins.codepoints(tin).map(Dscp::value).collect();
    let parts = tins.names().into_iter().zip(tins.parts()).enumerate();
    Ok(parts.map(|(tin, (name, part))| (name, part, codepoints(tin))).collect())
}

/// Returns the JSON Schema of scenario files as text.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    to_text(&perhop_scenario::scenario_schema(), serde_json::to_string_pretty)
}
