//! The guaranteed rates, maxima and excess shares of the classes in a policy.

use std::collections::BTreeMap;

use perhop_analysis::rates::{ClassRates, Given, Holds, Scope, rates};
use perhop_qos::Rate;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// The rates of one queue, bits per second.
#[derive(Serialize)]
struct QueueRates {
    queue: String,
    priority: bool,
    promised_bps: Option<f64>,
    while_busy_bps: Option<f64>,
    limit_bps: Option<f64>,
    limit_holds: Option<Holds>,
    maximum_bps: Option<f64>,
    approximate: bool,
    excess: Option<f64>,
}

/// A conditioner that drops above a rate.
#[derive(Serialize)]
struct Policer<'a> {
    name: &'a str,
    limit_bps: f64,
    scope: Scope,
}

/// Returns the rates of each queue of a policy as JSON, on a line of `line_bps` bits per second, if this rate
/// is known. Raises a `ValueError`.
#[pyfunction]
#[pyo3(signature = (policy, line_bps=None))]
pub(crate) fn class_rates(py: Python<'_>, policy: &str, line_bps: Option<u64>) -> PyResult<String> {
    let policy = read(policy)?;
    let none = BTreeMap::new();
    let given = Given { line: line_bps.map(Rate::from_bits_per_second), limits: &none };
    let found: Vec<QueueRates> = py.detach(|| {
        let level = rates(&policy, given);
        level.iter().flat_map(|level| level.leaves()).flat_map(queues_of_class).collect()
    });
    to_text(&found)
}

/// Returns the conditioners of a policy that drop above a rate, as JSON. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn policers(policy: &str) -> PyResult<String> {
    let policy = read(policy)?;
    let found = perhop_analysis::rates::policers(&policy);
    let policers = found.iter().map(|policer| Policer {
        name: policer.stage.name.as_deref().unwrap_or_default(),
        limit_bps: policer.limit,
        scope: policer.scope,
    });
    to_text(&policers.collect::<Vec<_>>())
}

/// Returns the rates of a class's queue, or of its tins. A single tin has no guaranteed rate.
fn queues_of_class(rates: &ClassRates) -> Vec<QueueRates> {
    let own = QueueingConfig { classes: vec![ClassConfig::clone(rates.class)], ..QueueingConfig::default() };
    let names = own.queue_names();
    let around = rates.path.rsplit_once('/').map(|(around, _)| format!("{around}/")).unwrap_or_default();
    let is_alone = names.len() == 1;
    let queue = |name: String| QueueRates {
        queue: format!("{around}{name}"),
        priority: rates.has_priority,
        promised_bps: rates.promised.filter(|_| is_alone),
        while_busy_bps: rates.while_busy.filter(|_| is_alone),
        limit_bps: rates.limit,
        limit_holds: rates.limit.map(|_| rates.holds),
        maximum_bps: rates.maximum,
        approximate: rates.is_approximate,
        excess: rates.excess,
    };
    names.into_iter().map(queue).collect()
}

fn read(policy: &str) -> PyResult<PolicyConfig> {
    serde_json::from_str(policy).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn to_text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
