//! Router configurations.

use std::collections::BTreeMap;

use perhop_ios::platform::Evidence;
use perhop_ios::{Assumptions, Diagnostic, Dialect, Line, LineState, Platform, Profile, Recognition, Router};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Checks a router's configuration, on the platform that it tells of itself or on `platform`, with the
/// classes of `assume` defined by match criteria. Returns JSON with `platform`, `lines` (state of each line),
/// `counts`, `diagnostics` and, with `policies`, `router` (the resulting policies). Raises a `ValueError` of
/// message and help.
#[pyfunction]
#[pyo3(signature = (text, platform=None, assume=None, policies=true))]
pub(crate) fn check_router(
    py: Python<'_>,
    text: &str,
    platform: Option<&str>,
    assume: Option<BTreeMap<String, String>>,
    policies: bool,
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
        let dependencies = configuration.dependencies();
        let lines = || configuration.lines.iter().filter(|line| !line.is_blank());
        let count = |state| lines().filter(|line| line.state == state).count();
        let report = Report {
            platform: PlatformReport {
                profile: platform.profile,
                dialect: recognition.dialect,
                supported: recognition.dialect.is_supported(),
                chosen: is_chosen,
                certain: is_chosen || recognition.certain,
                because: &recognition.because,
            },
            lines: lines().collect(),
            counts: LineState::ALL
                .map(|state| (state.to_string().replace(' ', "-"), count(state)))
                .into_iter()
                .collect(),
            diagnostics: configuration
                .diagnostics
                .iter()
                .map(|diagnostic| Concerning {
                    diagnostic,
                    interfaces: dependencies.used_by(diagnostic.line),
                })
                .collect(),
            router: policies.then_some(&router),
        };
        serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// What becomes of a configuration.
#[derive(Serialize)]
struct Report<'a> {
    platform: PlatformReport<'a>,
    lines: Vec<&'a Line>,
    counts: BTreeMap<String, usize>,
    diagnostics: Vec<Concerning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    router: Option<&'a Router>,
}

/// A diagnostic, and the interfaces that it concerns.
#[derive(Serialize)]
struct Concerning<'a> {
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
    interfaces: Vec<&'a str>,
}

/// The platform whose rules it is read by.
#[derive(Serialize)]
struct PlatformReport<'a> {
    profile: Profile,
    dialect: Dialect,
    supported: bool,
    chosen: bool,
    certain: bool,
    because: &'a [Evidence],
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
