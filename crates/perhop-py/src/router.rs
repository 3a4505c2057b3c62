//! Router configurations.

use std::collections::BTreeMap;

use perhop_ios::{Assumptions, LineState, Platform, Recognition};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Checks a router's configuration, on the platform that it tells of itself or on `platform`, with the
/// classes of `assume` defined by match criteria. Returns JSON with `platform`, `lines` (state of each line),
/// `counts`, `diagnostics` and `router` (the resulting policies). Raises a `ValueError` of message and help.
#[pyfunction]
#[pyo3(signature = (text, platform=None, assume=None))]
pub(crate) fn check_router(
    py: Python<'_>,
    text: &str,
    platform: Option<&str>,
    assume: Option<BTreeMap<String, String>>,
) -> PyResult<String> {
    let chosen =
        platform.map(|name| Platform::named(name).ok_or_else(|| unknown_platform(name))).transpose()?;
    py.detach(|| {
        let assumptions: Assumptions = assume.unwrap_or_default();
        let mut configuration = perhop_ios::parse_assuming(text, &assumptions)
            .map_err(|(class, message)| PyValueError::new_err((format!("assume {class}"), message)))?;
        let recognition = Recognition::of(&configuration);
        let is_chosen = chosen.is_some();
        let platform = chosen.unwrap_or_else(|| Platform::of(recognition.profile));
        let router = perhop_ios::convert(&mut configuration, &platform);
        let lines = || configuration.lines.iter().filter(|line| !line.is_blank());
        let count = |state| lines().filter(|line| line.state == state).count();
        let counts: serde_json::Map<_, _> = LineState::ALL
            .into_iter()
            .map(|state| (state.to_string().replace(' ', "-"), count(state).into()))
            .collect();
        let lines: Vec<_> = lines().collect();
        let report = serde_json::json!({
            "platform": {
                "profile": platform.profile,
                "dialect": recognition.dialect,
                "supported": recognition.dialect.is_supported(),
                "chosen": is_chosen,
                "certain": is_chosen || recognition.certain,
                "because": recognition.because,
            },
            "lines": lines,
            "counts": counts,
            "diagnostics": configuration.diagnostics,
            "router": router,
        });
        Ok(report.to_string())
    })
}

fn unknown_platform(name: &str) -> PyErr {
    let message = format!("there is no platform `{name}`");
    PyValueError::new_err((message, format!("platforms: {}", Platform::NAMES.join(", "))))
}

/// Reads the text of a router configuration from a file.
#[pyfunction]
pub(crate) fn router_text(bytes: &[u8]) -> String {
    perhop_scenario::configuration_text(bytes)
}

/// Whether a text looks like a router configuration.
#[pyfunction]
pub(crate) fn is_router_configuration(py: Python<'_>, text: &str) -> bool {
    py.detach(|| perhop_ios::is_configuration(text))
}
