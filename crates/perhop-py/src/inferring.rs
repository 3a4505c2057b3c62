//! Scenarios inferred from the configuration of one router.

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{Failure, Request, infer, role_by_name};
use perhop_network::Devices;
use perhop_qos::Rate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{diagnostics, router};

/// Infers a scenario from a configuration. `request` is JSON with the fields of `perhop_inference::Request`,
/// and the result is JSON with the fields of `perhop_inference::Inferred`. `capture` is the content of a
/// capture file. Raises a `ValueError` of message, help and, for an error in given traffic, the index of its
/// line; or a `ScenarioError` with the attribute `interfaces`.
#[pyfunction]
#[pyo3(signature = (request, capture=None))]
pub(crate) fn infer_scenario(py: Python<'_>, request: &str, capture: Option<&[u8]>) -> PyResult<String> {
    let request = read(request)?;
    let inferred = py.detach(|| infer(&Devices::new(FRONT_ENDS), &request, capture));
    let inferred = inferred.map_err(|failure| raise(py, failure))?;
    serde_json::to_string(&inferred).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Raises the error of `infer_scenario` if no packet can reach some class of the configuration.
#[pyfunction]
pub(crate) fn require_way(py: Python<'_>, request: &str) -> PyResult<()> {
    let request = read(request)?;
    let found =
        py.detach(|| perhop_inference::require_reachable_classes(&Devices::new(FRONT_ENDS), &request));
    found.map_err(|failure| raise(py, failure))
}

/// Returns an interface without a policy that can be added to a router of a platform: its name, and the
/// command for it. Raises a `ValueError` of message and help.
#[pyfunction]
#[pyo3(signature = (platform=None))]
pub(crate) fn added_interface(platform: Option<&str>) -> PyResult<(String, String)> {
    let front_end = FRONT_ENDS.choose("", platform).map_err(router::wrong)?;
    let added = front_end.added_interface(Rate::from_bits_per_second(1));
    Ok((added.name, added.command))
}

/// Returns the kind of traffic that the name of a class suggests, and its usual codepoint; `None` for other
/// names.
#[pyfunction]
pub(crate) fn named_role(name: &str) -> Option<(String, &'static str)> {
    let (_, kind, dscp) = role_by_name(name)?;
    Some((format!("{kind:?}").to_lowercase(), dscp))
}

fn read(request: &str) -> PyResult<Request> {
    serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn raise(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Invalid { message, help, row } => PyValueError::new_err((message, help, row)),
        Failure::Option(error) => router::wrong(error),
        Failure::Refused { found, interfaces } => {
            let error = diagnostics::raise(py, &found);
            error.value(py).setattr("interfaces", interfaces).err().unwrap_or(error)
        }
    }
}
