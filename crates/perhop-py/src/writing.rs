//! Writing of policies in the languages of front ends.

use perhop_device::{PoliciesToWrite, differences, with_renumbered_labels};
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::policy::PolicyConfig;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::router::wrong;

/// Returns the names of the languages in which policies can be written.
#[pyfunction]
pub(crate) fn written_languages() -> Vec<&'static str> {
    FRONT_ENDS.written_languages()
}

/// Writes policies in the language `name`. Returns JSON: `text` and `remarks`. `policies` is JSON: `file` and
/// `policies`, each with `name`, `interface`, `direction`, `rate` and `policy`. Raises a `ValueError` of
/// message and help.
#[pyfunction]
pub(crate) fn write_policies(py: Python<'_>, name: &str, policies: &str) -> PyResult<String> {
    let json = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let policies: PoliciesToWrite = serde_json::from_str(policies).map_err(json)?;
    let written = py.detach(|| FRONT_ENDS.write(name, &policies)).map_err(wrong)?;
    serde_json::to_string(&written).map_err(json)
}

/// Returns the differences between two policies, both JSON: the path, and the values in the first and the
/// second. Labels that a policy sets and matches itself may differ in number. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn policy_differences(first: &str, second: &str) -> PyResult<Vec<(String, String, String)>> {
    let read =
        |text: &str| serde_json::from_str::<PolicyConfig>(text).map(|policy| with_renumbered_labels(&policy));
    let json = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let (first, second) = (read(first).map_err(json)?, read(second).map_err(json)?);
    let found = differences(&first, &second);
    Ok(found.into_iter().map(|difference| (difference.path, difference.first, difference.second)).collect())
}
