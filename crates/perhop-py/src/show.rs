//! Counter outputs of devices.

use std::path::Path;

use perhop_device::ParseOptions;
use perhop_device::show::{ShowOptions, Tolerances, compare};
use perhop_front_ends::FRONT_ENDS;
use perhop_network::show::{ShownNetwork, Tables, print_configured as configured};
use perhop_scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::router::wrong;

/// A request for printed output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    command: String,
    interface: Option<String>,
    style: Option<String>,
    after_s: Option<f64>,
}

/// Returns the links whose queues appear in the output of `commands`, each as a node and its neighbor.
/// `scenario` is JSON, and paths of its files are relative to `base`. Raises a `ValueError` of message and
/// help.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over a new list
pub(crate) fn shown_links(
    py: Python<'_>,
    scenario: &str,
    base: &str,
    commands: Vec<String>,
) -> PyResult<Vec<(String, String)>> {
    let scenario: Scenario = read(scenario)?;
    let names: Vec<&str> = commands.iter().map(String::as_str).collect();
    let links =
        py.detach(|| ShownNetwork::read(FRONT_ENDS, &scenario, Path::new(base))?.sampled_links(&names));
    links.map_err(wrong)
}

/// Returns the output of a command on the devices of a run, as JSON: `node`, `hostname`, `profile`,
/// `heading`, `texts`, `documents` and `without_link` of each device. `scenario` and `tables` come from the
/// results; `request` has `command`, `interface`, `style` and `after_s`. Raises a `ValueError` of message and
/// help.
#[pyfunction]
pub(crate) fn print_show(py: Python<'_>, scenario: &str, tables: &str, request: &str) -> PyResult<String> {
    let (scenario, tables): (Scenario, Tables) = (read(scenario)?, read(tables)?);
    let Request { command, interface, style, after_s } = read(request)?;
    let shown = py.detach(|| {
        let network = ShownNetwork::read(FRONT_ENDS, &scenario, Path::new(""))?;
        network.print(&command, interface.as_deref(), &tables, &ShowOptions { style, after_s })
    });
    let shown = shown.map_err(wrong)?;
    serde_json::to_string(&shown).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the output of a command that shows the object `name`, or all objects, of the configuration `text`,
/// as JSON: `hostname`, `profile` and `objects`, each with `name`, `text` and `document`. Raises a
/// `ValueError` of message and help.
#[pyfunction]
#[pyo3(signature = (text, command, name=None, platform=None))]
pub(crate) fn print_configured(
    py: Python<'_>,
    text: &str,
    command: &str,
    name: Option<&str>,
    platform: Option<&str>,
) -> PyResult<String> {
    let options = ParseOptions { platform: platform.map(str::to_owned), ..ParseOptions::default() };
    let shown = py.detach(|| configured(FRONT_ENDS, text, &options, (command, name)));
    serde_json::to_string(&shown.map_err(wrong)?).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Parses the output of a device. Returns JSON: `policies` with their classes and counters, and the
/// `commands` that print such output. For any other text, raises a `ValueError` of message and help.
#[pyfunction]
pub(crate) fn read_show(py: Python<'_>, output: &str) -> PyResult<String> {
    let (policies, commands) = py.detach(|| FRONT_ENDS.read_show(output)).map_err(wrong)?;
    Ok(json!({"policies": policies, "commands": commands}).to_string())
}

/// Whether a text is an output of a device with the counters of a policy. Raises a `ValueError` of message
/// and help if it is incomplete.
#[pyfunction]
pub(crate) fn is_counter_output(py: Python<'_>, text: &str) -> PyResult<bool> {
    py.detach(|| FRONT_ENDS.find_show(text)).map(|found| found.is_some()).map_err(wrong)
}

/// Compares the output of a device with the output of a run. Returns JSON. Ignores differences of rates and
/// packet sizes up to `percent` of the device's values, and differences of shares up to `points`. Raises a
/// `ValueError` of message and help if a text is not the output of a device.
#[pyfunction]
pub(crate) fn compare_shown(
    py: Python<'_>,
    router: &str,
    run: &str,
    percent: f64,
    points: f64,
) -> PyResult<String> {
    let compared = py.detach(|| {
        let ((router, _), (run, _)) = (FRONT_ENDS.read_show(router)?, FRONT_ENDS.read_show(run)?);
        Ok(compare(&router, &run, Tolerances { percent, points }))
    });
    serde_json::to_string(&compared.map_err(wrong)?).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn read<'t, T: Deserialize<'t>>(text: &'t str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}
