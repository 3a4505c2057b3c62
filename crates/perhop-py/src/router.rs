//! Router configurations.

use std::collections::BTreeMap;

use perhop_ios::Assumptions;
use perhop_routers::{Detail, Wrong, report};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Checks a router's configuration, on the platform that it tells of itself or on `platform`, with the
/// classes of `assume` defined by match criteria. Returns JSON with `platform`, `lines` (state of each line),
/// `counts` and `diagnostics`; `detail` says how much of it: with `policies` also `router` (the resulting
/// policies), with `remarks` only those lines that may change what packets experience or have a diagnostic.
/// Raises a `ValueError` of message and help.
#[pyfunction]
#[pyo3(signature = (text, platform=None, assume=None, detail="policies"))]
pub(crate) fn check_router(
    py: Python<'_>,
    text: &str,
    platform: Option<&str>,
    assume: Option<BTreeMap<String, String>>,
    detail: &str,
) -> PyResult<String> {
    let detail = Detail::named(detail).map_err(wrong)?;
    let assumptions: Assumptions = assume.unwrap_or_default();
    let written = py
        .detach(|| report(text, platform, &assumptions, detail, |report| serde_json::to_string(report)))
        .map_err(wrong)?;
    written.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A `ValueError` of message and help.
fn wrong(wrong: Wrong) -> PyErr {
    PyValueError::new_err((wrong.message, wrong.help))
}

/// Reads the text of a router configuration from a file.
#[pyfunction]
pub(crate) fn router_text(bytes: &[u8]) -> String {
    perhop_scenario::configuration_text(bytes)
}

/// Whether a text looks like a router configuration.
#[pyfunction]
pub(crate) fn is_router_configuration(py: Python<'_>, text: &str) -> bool {
    py.detach(|| perhop_routers::is_configuration(text))
}

/// All rules as JSON: `id`, `severity` and `page`, which is Markdown.
#[pyfunction]
pub(crate) fn rules() -> PyResult<String> {
    #[derive(Serialize)]
    struct Entry {
        id: &'static str,
        severity: perhop_lint::Severity,
        page: &'static str,
    }
    let all: Vec<Entry> = perhop_lint::rules::ALL
        .iter()
        .map(|rule| Entry { id: rule.id, severity: rule.severity, page: rule.page })
        .collect();
    serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
}
