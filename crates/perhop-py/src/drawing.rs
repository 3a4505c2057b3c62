//! Data for drawing: configured drop curves, quantities as numbers, downsampled series.

use numpy::{PyArray1, PyReadonlyArray1};
use perhop_measure::{downsample, exercise};
use perhop_scenario::Scenario;
use perhop_scenario::drop_curves as curves;
use perhop_scenario::queue_description as descriptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::diagnostics;

/// Returns the configured drop probabilities of every queue with early drops. The scenario is not checked, so
/// the scenario of an earlier run can be drawn without its traces.
#[pyfunction]
pub(crate) fn drop_curves<'py>(py: Python<'py>, scenario_json: &str) -> PyResult<Bound<'py, PyAny>> {
    let scenario: Scenario =
        serde_json::from_str(scenario_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    diagnostics::from_json(py, &curves::drop_curves(&scenario))
}

/// Returns the description of every queue of a scenario, as JSON. The scenario is not checked.
#[pyfunction]
pub(crate) fn queue_descriptions(scenario_json: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let scenario: Scenario = serde_json::from_str(scenario_json).map_err(wrong)?;
    serde_json::to_string(&descriptions::queue_descriptions(&scenario)).map_err(wrong)
}

/// Returns the indices of the first, least, greatest and last value of each bucket, at most `4 * buckets` of
/// `values`. A line through these values looks like the line through all values.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // a borrowed array comes by value
pub(crate) fn envelope<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    buckets: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let values = values.as_slice()?;
    Ok(PyArray1::from_vec(py, downsample::envelope(values, buckets)))
}

/// Parses a time, a rate or a size of a scenario to `(number, base unit)`; `None` for any other text.
#[pyfunction]
pub(crate) fn quantity(text: &str) -> Option<(f64, &'static str)> {
    exercise::quantity(text)
}
