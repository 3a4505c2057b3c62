//! Router configurations.

use perhop_ios::{LineState, Platform};
use pyo3::prelude::*;

/// Checks a router's configuration. Returns JSON with `lines` (state of each line), `counts`, `diagnostics`
/// and `router` (the resulting policies).
#[pyfunction]
pub(crate) fn check_router(py: Python<'_>, text: &str) -> String {
    py.detach(|| {
        let mut configuration = perhop_ios::parse(text);
        let router = perhop_ios::convert(&mut configuration, &Platform::default());
        let lines = || configuration.lines.iter().filter(|line| !line.is_blank());
        let count = |state| lines().filter(|line| line.state == state).count();
        let counts: serde_json::Map<_, _> = LineState::ALL
            .into_iter()
            .map(|state| (state.to_string().replace(' ', "-"), count(state).into()))
            .collect();
        let lines: Vec<_> = lines().collect();
        serde_json::json!({
            "lines": lines,
            "counts": counts,
            "diagnostics": configuration.diagnostics,
            "router": router,
        })
        .to_string()
    })
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
