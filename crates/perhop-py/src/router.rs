//! Router configurations.

use std::collections::{BTreeMap, BTreeSet};

use perhop_ios::platform::Evidence;
use perhop_ios::{Assumptions, Diagnostic, Dialect, Line, LineState, Platform, Profile, Recognition, Router};
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
    let chosen =
        platform.map(|name| Platform::named(name).ok_or_else(|| unknown_platform(name))).transpose()?;
    let detail = Detail::named(detail)?;
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
        let diagnosed: BTreeSet<usize> = configuration.diagnostics.iter().map(|one| one.line).collect();
        let is_shown = |line: &&Line| match detail {
            Detail::Policies | Detail::Lines => true,
            Detail::Remarks => line.state.differs() || diagnosed.contains(&line.number),
        };
        let report = Report {
            platform: PlatformReport {
                profile: platform.profile,
                dialect: recognition.dialect,
                supported: recognition.dialect.is_supported(),
                chosen: is_chosen,
                certain: is_chosen || recognition.certain,
                because: &recognition.because,
            },
            lines: lines().filter(is_shown).collect(),
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
                    fixed: diagnostic.fix.as_ref().and_then(|fix| {
                        let line = configuration.lines.get(fix.line.checked_sub(1)?)?;
                        Some(fix.apply(&line.text))
                    }),
                })
                .collect(),
            router: (detail == Detail::Policies).then_some(&router),
        };
        serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// How much is said of a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Every line, and the resulting policies.
    Policies,
    /// Every line.
    Lines,
    /// The lines that need attention.
    Remarks,
}

impl Detail {
    fn named(name: &str) -> PyResult<Detail> {
        match name {
            "policies" => Ok(Detail::Policies),
            "lines" => Ok(Detail::Lines),
            "remarks" => Ok(Detail::Remarks),
            _ => Err(PyValueError::new_err(format!("there is no detail `{name}`: policies, lines, remarks"))),
        }
    }
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

/// A diagnostic, the interfaces that it concerns, and its line mended.
#[derive(Serialize)]
struct Concerning<'a> {
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
    interfaces: Vec<&'a str>,
    /// What its line had better be.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
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
