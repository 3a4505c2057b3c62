//! [`guaranteed_rates`]: the guaranteed rate of the queue of each class, with which [`crate::fitness`] judges
//! a class.

use std::collections::BTreeMap;

use perhop_analysis::rates::{ClassRates, Given, rates};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_scenario::Scenario;
use serde_json::Value;

use crate::places::{Place, queues_by_class};

/// A queue, and its guaranteed rate in bits per second, if any.
struct Row {
    place: Place,
    guaranteed: Option<f64>,
}

/// Returns the guaranteed rate of the queue of each class of `summary`, bits per second. Classes without a
/// known queue or a guaranteed rate are omitted. `inferred` contains the queues in an inferred scenario, in
/// which codepoints do not always determine the queue. If a class has several queues, the queue with the most
/// drops is used.
pub fn guaranteed_rates(
    scenario: &Scenario,
    summary: &Value,
    inferred: &BTreeMap<String, Place>,
) -> BTreeMap<String, f64> {
    let rows = rows(scenario);
    let certain = queues_by_class(scenario);
    let classes = summary["classes"].as_array().into_iter().flatten();
    let names = classes.filter_map(|class| class["class"].as_str());
    let guaranteed = |name: &str| {
        let places = inferred.get(name).map(std::slice::from_ref);
        let places = places.or_else(|| certain.get(name).map(Vec::as_slice));
        let queues = match places {
            Some(places) => rows.iter().filter(|row| places.contains(&row.place)).collect(),
            None => queues_named(&rows, name),
        };
        let dropped = |row: &Row| dropped_packets(&row.place, summary);
        // If several queues have the most drops, the first is wanted. `max_by` returns the last, so the order
        // is reversed.
        let most = queues.into_iter().rev().max_by(|a, b| dropped(a).total_cmp(&dropped(b)))?;
        // The guarantee is 0 if other classes may use the whole rate.
        most.guaranteed.filter(|rate| *rate > 0.0)
    };
    names.filter_map(|name| Some((name.to_owned(), guaranteed(name)?))).collect()
}

/// Returns the queue called `name` of each port at which exactly one queue has this name.
fn queues_named<'r>(rows: &'r [Row], name: &str) -> Vec<&'r Row> {
    let is_named = |row: &&Row| row.place.queue.rsplit('/').next() == Some(name);
    let named: Vec<&Row> = rows.iter().filter(is_named).collect();
    let is_alone = |row: &&Row| named.iter().filter(|other| other.place.port == row.place.port).count() == 1;
    named.iter().copied().filter(is_alone).collect()
}

/// Returns a row for each queue of each port whose policy has several queues or limits its only queue.
fn rows(scenario: &Scenario) -> Vec<Row> {
    let none = BTreeMap::new();
    let mut found = Vec::new();
    for link in &scenario.links {
        let [a, b] = &link.between;
        for (from, to) in [(a, b), (b, a)] {
            let Some(interface) = link.interfaces.get(from) else { continue };
            let Some(policy) = interface.output.as_ref().and_then(|name| scenario.policies.get(name)) else {
                continue;
            };
            let given = Given { line: Some(interface.rate.unwrap_or(link.rate)), limits: &none };
            let level = rates(policy, given);
            let leaves: Vec<&ClassRates> = level.iter().flat_map(|level| level.leaves()).collect();
            let port = format!("{from}->{to}");
            let queues: Vec<Row> = leaves.iter().flat_map(|rates| queues_of_class(rates, &port)).collect();
            if queues.len() > 1 || leaves.iter().any(|rates| rates.limit.is_some()) {
                found.extend(queues);
            }
        }
    }
    found
}

/// Returns the queue of a class, or the tins of its queue. Tins have no guaranteed rates.
fn queues_of_class(rates: &ClassRates, port: &str) -> Vec<Row> {
    let own = QueueingConfig { classes: vec![ClassConfig::clone(rates.class)], ..QueueingConfig::default() };
    let names = own.queue_names();
    let around = rates.path.rsplit_once('/').map(|(around, _)| format!("{around}/")).unwrap_or_default();
    let guaranteed = if names.len() == 1 { guaranteed_below_limit(rates) } else { None };
    let row = |name: String| Row {
        place: Place { port: port.to_owned(), queue: format!("{around}{name}") },
        guaranteed,
    };
    names.into_iter().map(row).collect()
}

/// Returns the guaranteed rate of a class without priority; `None` if the limit of the class is not above
/// this rate.
fn guaranteed_below_limit(rates: &ClassRates) -> Option<f64> {
    let promised = rates.promised.filter(|_| !rates.has_priority)?;
    let limit = rates.maximum.filter(|maximum| *maximum < promised).or(rates.limit);
    limit.is_none_or(|limit| limit > promised).then_some(promised)
}

fn dropped_packets(place: &Place, summary: &Value) -> f64 {
    let rows = summary["ports"].as_array().into_iter().flatten();
    let is_queue = |row: &&Value| row["port"] == place.port.as_str() && row["queue"] == place.queue.as_str();
    rows.filter(is_queue).map(|row| row["dropped_packets"]["mean"].as_f64().unwrap_or(0.0)).sum()
}
