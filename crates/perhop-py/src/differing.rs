//! Differences between two configurations of a device, or between two policies.

use std::collections::BTreeMap;

use perhop_diff::Question;
use perhop_front_ends::FRONT_ENDS;
use perhop_scenario::{PlatformConfig, RouterConfiguration};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::router::wrong;

/// Returns the differences between two router configurations as JSON: `moved`, `changed`, `renamed`,
/// `examples`, `lines`, `not_compared`, `assumed`, `not_looked_at` and `remarks`. `names` has the names of
/// the configurations for messages. Packets arrive at the interface `at`, by default at any interface. The
/// comparison covers the interfaces in `only`, by default all interfaces. Raises a `ValueError` of message
/// and help.
#[pyfunction]
#[pyo3(signature = (texts, names, platform=None, assume=None, at=None, only=None))]
#[allow(clippy::needless_pass_by_value)] // Python hands over new lists
pub(crate) fn compare_configurations(
    py: Python<'_>,
    texts: [String; 2],
    names: [String; 2],
    platform: Option<String>,
    assume: Option<BTreeMap<String, String>>,
    at: Option<&str>,
    only: Option<Vec<String>>,
) -> PyResult<String> {
    let platform = PlatformConfig { profile: platform, ..PlatformConfig::default() };
    let assume = assume.unwrap_or_default();
    let configuration = RouterConfiguration { platform, assume, ..RouterConfiguration::default() };
    let options = perhop_network::options(&configuration).map_err(wrong)?;
    let question = Question {
        texts: [&texts[0], &texts[1]],
        names: [&names[0], &names[1]],
        options: &options,
        at,
        only: only.as_deref(),
    };
    let difference = py.detach(|| perhop_diff::compare(FRONT_ENDS, &question)).map_err(wrong)?;
    serde_json::to_string(&difference).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the changed and the renamed parts between the `side` policies of an interface, as JSON. `old` and
/// `new` are JSON, `null` for no policy, at a node with `interfaces`. Raises a `ValueError`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over a new list
pub(crate) fn compare_policies(
    interface: &str,
    side: &str,
    old: &str,
    new: &str,
    interfaces: Vec<String>,
) -> PyResult<String> {
    let read = |text: &str| serde_json::from_str::<Value>(text);
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let policies = [read(old).map_err(wrong)?, read(new).map_err(wrong)?];
    let found = perhop_diff::compare_policies(interface, side, [&policies[0], &policies[1]], &interfaces);
    serde_json::to_string(&found).map_err(wrong)
}
