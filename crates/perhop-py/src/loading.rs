//! Reading scenarios.

use std::path::{Path, PathBuf};

use perhop_scenario::{Checked, Coloring, Diagnostic, Document};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::configuration::loader;
use crate::diagnostics;

/// A scenario that was read, completed with its defaults and found to be sound.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Loaded {
    /// The scenario with every default written out.
    #[pyo3(get)]
    json: String,
    /// The same with the texts of routers' configurations in place of their files.
    #[pyo3(get)]
    embedded: String,
    /// The same with what routers' configurations say put in place as policies, rates and rings: what is simulated.
    #[pyo3(get)]
    resolved: String,
    base: PathBuf,
    /// What is suspicious, though not wrong.
    #[pyo3(get)]
    warnings: Py<Warnings>,
}

#[pymethods]
impl Loaded {
    /// The directory that relative paths in the scenario start from.
    #[getter]
    fn base(&self) -> String {
        self.base.display().to_string()
    }
}

/// What is suspicious about a file, though not wrong.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Warnings(Vec<Diagnostic>);

#[pymethods]
impl Warnings {
    /// Each with the place it is about.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        diagnostics::from_json(py, &serde_json::json!(self.0))
    }
    /// All of them as text for a terminal.
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

/// Reads a scenario file; each override `(path, value)` replaces one value in it first.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over new objects
pub(crate) fn load(py: Python<'_>, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Loaded> {
    let read =
        py.detach(|| loader().load(&path, &overrides)).map_err(|found| diagnostics::raise(py, &found))?;
    loaded(py, read)
}

/// Reads a scenario from JSON text, overrides as for a file; relative paths in it start from `base`.
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

/// A scenario with what its routers' configurations say put in place, as JSON. It is not checked: what was run
/// once may be drawn where its traces are not.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn resolve(py: Python<'_>, json: &str, base: PathBuf) -> PyResult<String> {
    let value = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let document = Document::from_json(value);
    let resolved = loader().resolve(&document, &base).map_err(|found| diagnostics::raise(py, &found))?;
    to_text(&resolved, serde_json::to_string)
}

/// The scenario in `json`, or the Python exception that says what is wrong with it.
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

/// Checks a file that holds a scenario or policies alone; what it holds, and what is suspicious in it.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn check(py: Python<'_>, path: PathBuf) -> PyResult<(&'static str, Warnings)> {
    match py.detach(|| loader().check(&path)).map_err(|found| diagnostics::raise(py, &found))? {
        Checked::Scenario(loaded) => Ok(("scenario", Warnings(loaded.warnings))),
        Checked::Policies(_) => Ok(("policies", Warnings(Vec::new()))),
    }
}

/// The JSON Schema of scenario files, as text.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    to_text(&perhop_scenario::scenario_schema(), serde_json::to_string_pretty)
}
