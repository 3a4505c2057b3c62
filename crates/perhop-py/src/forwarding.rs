//! The forwarders of the live laboratory, each in a separate process.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Runs the forwarder that a configuration describes, until it is requested to end.
#[pyfunction]
pub(crate) fn live_forward(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| perhop_live::process::forward(config_json)).map_err(|error| failure(&error))
}

/// Runs policies between two existing interfaces, until it is requested to end.
#[pyfunction]
pub(crate) fn live_bridge(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| perhop_live::process::bridge(config_json)).map_err(|error| failure(&error))
}

fn failure(error: &perhop_live::process::ProcessError) -> PyErr {
    use perhop_live::process::ProcessError;
    match error {
        ProcessError::Config(_) => PyValueError::new_err(error.to_string()),
        ProcessError::Open(_) | ProcessError::System { .. } => match error.number() {
            // With its number, Python raises the subclass for it, such as `PermissionError`.
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
    }
}
