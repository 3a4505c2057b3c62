//! The summary of a run: means over replications, with confidence intervals.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::table::{Table, Values};
use crate::statistics::confidence_95;
use perhop_scenario::Scenario;

/// Version of the layout of summary and tables.
const SCHEMA_VERSION: u32 = 1;

/// Means over replications with their confidence intervals; `docs/results.md` describes its JSON.
///
/// It depends only on the scenario, the seed and the number of replications.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    schema_version: u32,
    perhop: &'static str,
    scenario: Value,
    seed: u64,
    replications: u32,
    duration_s: f64,
    warmup_s: f64,
    roles: Vec<Value>,
    classes: Option<Vec<Group>>,
    ports: Option<Vec<Group>>,
    conditioners: Option<Vec<Group>>,
    colors: Option<Vec<Group>>,
    tcp: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    videos: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_tests: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pauses: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pools: Option<Vec<Group>>,
    fairness: Option<Metric>,
    packet_hops: u64,
    /// `live` for results of live runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// Description of each live run.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<Vec<Value>>,
}

/// The metrics of the rows of a table with equal keys.
#[derive(Clone, Debug)]
struct Group {
    keys: Vec<(&'static str, Value)>,
    metrics: Vec<(&'static str, Metric)>,
}

/// Mean over replications and its 95 % confidence interval; empty without measurements.
#[derive(Clone, Copy, Debug, Serialize)]
struct Metric {
    mean: Option<f64>,
    ci95: Option<[f64; 2]>,
    unit: &'static str,
}

/// One object: the keys, then the metrics.
impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.keys.len() + self.metrics.len()))?;
        for (name, key) in &self.keys {
            object.serialize_entry(name, key)?;
        }
        for (name, metric) in &self.metrics {
            object.serialize_entry(name, metric)?;
        }
        object.end()
    }
}

impl Summary {
    pub(super) fn new(scenario: &Scenario, seed: u64, replications: u32, tables: &[Table]) -> Summary {
        let table = |name: &str| tables.iter().find(|table| table.name == name);
        let rows = |name: &str, keys: &[&'static str]| table(name).map(|table| groups(table, keys));
        // Most scenarios have no applications, pauses or shared memory. The summary then omits these groups.
        let present =
            |name: &str, keys: &[&'static str]| rows(name, keys).filter(|groups| !groups.is_empty());
        let runs_column = |column: &str| table("runs").and_then(|table| table.column(column));
        Summary {
            schema_version: SCHEMA_VERSION,
            perhop: env!("CARGO_PKG_VERSION"),
            scenario: json!(scenario.name),
            seed,
            replications,
            duration_s: scenario.duration.as_seconds(),
            warmup_s: scenario.measure.warmup.as_seconds(),
            roles: roles(scenario),
            classes: rows("classes", &["class"]),
            ports: rows("ports", &["port", "queue", "precedence"]),
            conditioners: rows("conditioners", &["node", "neighbor", "side", "stage", "color"]),
            colors: rows("colors", &["class", "color"]),
            tcp: rows("transactions", &["class"]),
            calls: present("calls", &["class", "codec"]),
            games: present("games", &["class"]),
            videos: present("videos", &["class"]),
            pages: present("pages", &["class"]),
            speed_tests: present("speed_tests", &["class"]),
            pauses: present("pauses", &["port", "priority"]),
            pools: present("pools", &["port", "holder"]),
            fairness: match runs_column("fairness") {
                Some(Values::Float(values)) => {
                    let measured: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
                    Some(metric(&measured, ""))
                }
                _ => None,
            },
            packet_hops: match runs_column("packet_hops") {
                Some(Values::Count(counts)) => counts.iter().sum(),
                _ => 0,
            },
            kind: None,
            live: None,
        }
    }
    /// Marks this summary as that of live runs, with a description of each in `runs`.
    pub fn describe_live_runs(&mut self, runs: Vec<Value>) {
        self.kind = Some("live");
        self.live = Some(runs);
    }
    /// The summary as JSON text: one object. It is serialized directly, because a tree of values would take
    /// much memory.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers always make JSON")
    }
}

/// The roles of the classes that send, and their origins.
fn roles(scenario: &Scenario) -> Vec<Value> {
    let roles = scenario.class_roles().into_iter();
    roles.map(|role| json!({"class": role.class, "role": role.role, "from": role.origin})).collect()
}

/// One group per distinct `keys`, in order of first appearance. A group has its keys, and the mean and 95 %
/// confidence interval of each other column over the replications.
fn groups(table: &Table, keys: &[&'static str]) -> Vec<Group> {
    let mut order: Vec<(Vec<Value>, Vec<usize>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in 0..table.rows() {
        let key: Vec<Value> = keys.iter().map(|key| cell(table.column(key), row)).collect();
        let place = *places.entry(json!(key).to_string()).or_insert(order.len());
        match order.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => order.push((key, vec![row])),
        }
    }
    let group = |(key, rows): (Vec<Value>, Vec<usize>)| Group {
        keys: keys.iter().copied().zip(key).collect(),
        metrics: metrics(table, keys, &rows),
    };
    order.into_iter().map(group).collect()
}

fn metrics(table: &Table, keys: &[&str], rows: &[usize]) -> Vec<(&'static str, Metric)> {
    let measured = |name: &str| !keys.contains(&name) && name != "replication";
    let is_number = |values: &Values| !matches!(values, Values::Text { .. });
    let columns = table.columns.iter().filter(|column| measured(column.name) && is_number(&column.values));
    let replications = table.column("replication");
    // The vector is reused for all columns, because summaries of many classes have thousands of metrics.
    let mut samples = Vec::with_capacity(rows.len());
    columns
        .map(|column| {
            sample_replications(&column.values, replications, rows, &mut samples);
            (column.name, metric(&samples, column.unit))
        })
        .collect()
}

/// Puts one sample of each replication into `samples`. Several rows of one replication, such as calls of a
/// class, are not independent samples. Only their mean counts. A replication without a measured value has no
/// sample.
fn sample_replications(
    values: &Values,
    replications: Option<&Values>,
    rows: &[usize],
    samples: &mut Vec<f64>,
) {
    let replication = |row: usize| replications.and_then(|numbers| numbers.number(row));
    samples.clear();
    for run in rows.chunk_by(|a, b| replication(*a) == replication(*b)) {
        let (mut sum, mut known) = (0.0, 0_u32);
        for sample in run.iter().filter_map(|row| values.number(*row)).filter(|sample| !sample.is_nan()) {
            sum += sample;
            known += 1;
        }
        if known > 0 {
            samples.push(sum / f64::from(known));
        }
    }
}

/// The metric of `samples`, none of which is NaN.
fn metric(samples: &[f64], unit: &'static str) -> Metric {
    let mean = (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64);
    Metric { mean, ci95: confidence_95(samples).map(|interval| [interval.low, interval.high]), unit }
}

fn cell(values: Option<&Values>, row: usize) -> Value {
    match values {
        Some(Values::Text { codes, names }) => json!(names[codes[row] as usize]),
        Some(Values::Count(counts)) => json!(counts[row]),
        Some(Values::Float(floats)) => json!(floats[row]),
        None => Value::Null,
    }
}
