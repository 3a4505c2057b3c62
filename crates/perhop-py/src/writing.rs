//! Policies in the languages of front ends.

use perhop_device::PoliciesToWrite;
use perhop_front_ends::FRONT_ENDS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::router::wrong;

/// Returns the names of the languages that policies can be written in.
#[pyfunction]
pub(crate) fn written_languages() -> Vec<&'static str> {
    FRONT_ENDS.written_languages()
}

/// Returns policies in the language `name` as JSON: `text` and `remarks`. `policies` is JSON: `file` and
/// `policies`, each with `name`, `interface`, `direction`, `rate` and `policy`. Raises a `ValueError` of
/// message and help.
#[pyfunction]
pub(crate) fn write_policies(py: Python<'_>, name: &str, policies: &str) -> PyResult<String> {
    let json = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let policies: PoliciesToWrite = serde_json::from_str(policies).map_err(json)?;
    let written = py.detach(|| FRONT_ENDS.write(name, &policies)).map_err(wrong)?;
    serde_json::to_string(&written).map_err(json)
}
