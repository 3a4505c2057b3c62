//! The live laboratory's forwarders, each run in a process of its own.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Run the forwarder that a configuration describes, until it is asked to end.
#[pyfunction]
#[cfg(target_os = "linux")]
pub(crate) fn live_forward(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| perhop_live::process::forward(config_json)).map_err(|error| failure(&error))
}

/// Run policies between two existing interfaces, until it is asked to end.
#[pyfunction]
#[cfg(target_os = "linux")]
pub(crate) fn live_bridge(py: Python<'_>, config_json: &str) -> PyResult<()> {
    py.detach(|| perhop_live::process::bridge(config_json)).map_err(|error| failure(&error))
}

#[cfg(target_os = "linux")]
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

/// Refuse: packet sockets are Linux's.
#[pyfunction]
#[cfg(not(target_os = "linux"))]
pub(crate) fn live_forward(_config_json: &str) -> PyResult<()> {
    Err(PyOSError::new_err("the live laboratory needs Linux"))
}

/// Refuse: packet sockets are Linux's.
#[pyfunction]
#[cfg(not(target_os = "linux"))]
pub(crate) fn live_bridge(_config_json: &str) -> PyResult<()> {
    Err(PyOSError::new_err("the live laboratory needs Linux"))
}
