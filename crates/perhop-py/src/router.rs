//! Router configurations.

use std::collections::BTreeMap;

use perhop_device::{Certainty, Detail};
use perhop_front_ends::FRONT_ENDS;
use perhop_network::{Device, Devices, with_added};
use perhop_qos::{ConfigError, Rate};
use perhop_scenario::{PlatformConfig, RouterConfiguration};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Checks a router configuration on `platform`, or on the detected platform, with the match criteria of
/// classes from `assume`. Returns JSON with `platform`, `lines` (state of each line), `counts` and
/// `diagnostics`. `detail` selects the amount. `policies` adds `router`, which contains the resulting
/// policies. `remarks` limits `lines` to lines that may affect packets or have a diagnostic. `hardware` is
/// the value of `platform` of a router's configuration in a scenario, as JSON. Raises a `ValueError` of
/// message and help.
#[pyfunction]
#[pyo3(signature = (text, platform=None, assume=None, detail="policies", hardware=None))]
pub(crate) fn check_router(
    py: Python<'_>,
    text: &str,
    platform: Option<&str>,
    assume: Option<BTreeMap<String, String>>,
    detail: &str,
    hardware: Option<&str>,
) -> PyResult<String> {
    let detail = Detail::named(detail).map_err(wrong)?;
    let chosen: PlatformConfig = match hardware {
        Some(text) => serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?,
        None => PlatformConfig::default(),
    };
    let profile = platform.map(str::to_owned).or(chosen.profile.clone());
    let platform = PlatformConfig { profile, ..chosen };
    let assume = assume.unwrap_or_default();
    let configuration = RouterConfiguration { platform, assume, ..RouterConfiguration::default() };
    let options = perhop_network::options(&configuration).map_err(wrong)?;
    let written = py.detach(|| {
        let device = FRONT_ENDS.parse(text, &options)?;
        Ok(serde_json::to_string(&device.report(detail)))
    });
    written.map_err(wrong)?.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Creates a `ValueError` of message and help. For an invalid assumption, the message names the class.
pub(crate) fn wrong(error: ConfigError) -> PyErr {
    match error.path.as_slice() {
        [option, class] if option == "assume" => {
            PyValueError::new_err((format!("assume {class}: {}", error.message), error.help))
        }
        _ => PyValueError::new_err((error.message, error.help)),
    }
}

/// Returns an interface of `rate` that carries a policy of a configuration, as JSON: `name`, `policy` and
/// `commands`. `configuration` belongs to a router in a scenario, as JSON. Raises a `ValueError` of message
/// and help.
#[pyfunction]
#[pyo3(signature = (text, configuration, rate, policy=None))]
pub(crate) fn interface_for(
    py: Python<'_>,
    text: &str,
    configuration: &str,
    rate: &str,
    policy: Option<&str>,
) -> PyResult<String> {
    let rate: Rate = rate.parse().map_err(PyValueError::new_err)?;
    let made = py.detach(|| {
        let device = device(text, configuration)?;
        perhop_device::interface_for(device.front_end, &device.model, rate, policy)
    });
    let made = made.map_err(wrong)?;
    serde_json::to_string(&made).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the policies of a configuration that are attached to no interface. `configuration` is the JSON of
/// the router's configuration in a scenario. Raises a `ValueError` with the message and the help.
#[pyfunction]
pub(crate) fn unattached_policies(py: Python<'_>, text: &str, configuration: &str) -> PyResult<Vec<String>> {
    let found = py.detach(|| {
        let device = device(text, configuration)?;
        let uses = device.front_end.policy_uses(&device.model.lines);
        let names = perhop_device::unattached_policies(&uses);
        Ok(names.into_iter().map(str::to_owned).collect())
    });
    found.map_err(wrong)
}

fn device(text: &str, configuration: &str) -> Result<Device<'static>, ConfigError> {
    let configuration: RouterConfiguration = serde_json::from_str(configuration)
        .map_err(|error| ConfigError::new("configuration", error.to_string()))?;
    let options = perhop_network::options(&configuration)?;
    Devices::new(FRONT_ENDS).read(&with_added(text, &configuration.add), &options)
}

/// Returns the thresholds of random early detection with placeholders in commands that are added to a
/// configuration, as JSON: `rate_bps`, `precedence`, `min`, `max` and `denominator`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over a new list
pub(crate) fn open_thresholds(text: &str, commands: Vec<String>) -> PyResult<String> {
    let front_end = FRONT_ENDS.choose(text, None).map_err(wrong)?;
    serde_json::to_string(&front_end.open_thresholds(text, &commands))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns `platform` if its rules can read the text, and `None` if the text is in another language. The
/// other language must be certain, or the text must contain no sign of the platform's language. Raises a
/// `ValueError` of message and help.
#[pyfunction]
pub(crate) fn reading_platform(py: Python<'_>, text: &str, platform: &str) -> PyResult<Option<String>> {
    let is_other = py.detach(|| {
        let chosen = FRONT_ENDS.choose("", Some(platform))?;
        let own = FRONT_ENDS.choose(text, None)?;
        let has_signs = chosen.recognize(text).is_some();
        let is_recognized =
            own.recognize(text).is_some_and(|found| found.certainty == Certainty::Certain || !has_signs);
        Ok(own.name() != chosen.name() && is_recognized)
    });
    Ok((!is_other.map_err(wrong)?).then(|| platform.to_owned()))
}

/// Decodes the bytes of a router configuration file.
#[pyfunction]
pub(crate) fn router_text(bytes: &[u8]) -> String {
    perhop_scenario::configuration_text(bytes)
}

/// Whether a text looks like a router configuration.
#[pyfunction]
pub(crate) fn is_router_configuration(py: Python<'_>, text: &str) -> bool {
    py.detach(|| FRONT_ENDS.recognize(text))
}

/// Returns all lint rules as JSON: `id`, `severity` and `page`, which is Markdown.
#[pyfunction]
pub(crate) fn rules() -> PyResult<String> {
    #[derive(Serialize)]
    struct Entry {
        id: &'static str,
        severity: perhop_lint::Severity,
        page: &'static str,
    }
    let all: Vec<Entry> = FRONT_ENDS
        .rules()
        .into_iter()
        .chain(perhop_network::rules::ALL.iter().copied())
        .map(|rule| Entry { id: rule.id, severity: rule.severity, page: rule.page })
        .collect();
    serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the rules of a platform's profile as JSON: `rule`, `meaning`, `value`, `certainty`, `source`, and
/// optionally `note`. Raises a `ValueError` of message and help.
#[pyfunction]
pub(crate) fn platform_rules(name: &str) -> PyResult<String> {
    let rules = FRONT_ENDS.platform_rules(name).map_err(wrong)?;
    serde_json::to_string(&rules).map_err(|error| PyValueError::new_err(error.to_string()))
}
