//! The summary of a run: means over replications, with confidence intervals.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::table::{Column, Table, Values};
use crate::statistics::confidence_95;
use perhop_scenario::Scenario;

/// The version of the layout of summary and tables.
const SCHEMA_VERSION: u32 = 1;

/// Means over replications and their confidence intervals. `docs/results.md` describes the JSON of the
/// summary.
///
/// The summary depends only on the scenario, the seed and the number of replications.
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
    classes: Option<Groups>,
    ports: Option<Groups>,
    conditioners: Option<Groups>,
    colors: Option<Groups>,
    tcp: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    videos: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_tests: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pauses: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pools: Option<Groups>,
    fairness: Option<Metric>,
    packet_hops: u64,
    /// The text `live` if these are results of live runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The description of each live run.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<Vec<Value>>,
}

/// The groups of a table: one for each combination of keys, with the metrics of the rows with these keys. A
/// large network has thousands of ports, so the names and units of the metrics are stored once.
#[derive(Clone, Debug)]
struct Groups {
    keys: Vec<&'static str>,
    /// The names and the units of the metrics.
    metrics: Vec<(&'static str, &'static str)>,
    rows: Vec<Group>,
}

/// The values of the keys and of the metrics of one group.
#[derive(Clone, Debug)]
struct Group {
    keys: Box<[Value]>,
    estimates: Box<[Estimate]>,
}

/// The mean over replications and the ends of its 95 % confidence interval. Values that were not measured are
/// NaN.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    interval: [f64; 2],
}

/// A metric in JSON: an estimate with its unit.
#[derive(Clone, Copy, Debug, Serialize)]
struct Metric {
    mean: Option<f64>,
    ci95: Option<[f64; 2]>,
    unit: &'static str,
}

/// The JSON of groups is a list of objects, which contain the keys and then the metrics.
impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| GroupObject { groups: self, row }))
    }
}

/// One group as a JSON object.
struct GroupObject<'g> {
    groups: &'g Groups,
    row: &'g Group,
}

impl Serialize for GroupObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Groups { keys, metrics, .. } = self.groups;
        let mut object = serializer.serialize_map(Some(keys.len() + metrics.len()))?;
        for (name, key) in keys.iter().zip(&self.row.keys) {
            object.serialize_entry(name, key)?;
        }
        for ((name, unit), estimate) in metrics.iter().zip(&self.row.estimates) {
            object.serialize_entry(name, &estimate.metric(unit))?;
        }
        object.end()
    }
}

impl Estimate {
    /// Estimates the mean of `samples`. No sample may be NaN.
    fn from_samples(samples: &[f64]) -> Estimate {
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let interval = confidence_95(samples).map_or([f64::NAN; 2], |interval| [interval.low, interval.high]);
        Estimate { mean, interval }
    }
    fn metric(self, unit: &'static str) -> Metric {
        let Estimate { mean, interval } = self;
        Metric {
            mean: (!mean.is_nan()).then_some(mean),
            ci95: (!interval[0].is_nan()).then_some(interval),
            unit,
        }
    }
}

impl Summary {
    pub(super) fn new(scenario: &Scenario, seed: u64, replications: u32, tables: &[Table]) -> Summary {
        let table = |name: &str| tables.iter().find(|table| table.name == name);
        let rows = |name: &str, keys: &[&'static str]| table(name).map(|table| groups(table, keys));
        // Most scenarios have no applications, pauses or shared memory, and the summary then omits these
        // groups.
        let present =
            |name: &str, keys: &[&'static str]| rows(name, keys).filter(|groups| !groups.rows.is_empty());
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
                    Some(Estimate::from_samples(&measured).metric(""))
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
    /// Marks this summary as a summary of live runs. `runs` contains a description of each run.
    pub fn describe_live_runs(&mut self, runs: Vec<Value>) {
        self.kind = Some("live");
        self.live = Some(runs);
    }
    /// Returns the summary as JSON text, which is one object. It is serialized directly, because a tree of
    /// JSON values would need much memory.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers always make JSON")
    }
}

/// Returns the role of each class that sends packets, with the origin of the role.
fn roles(scenario: &Scenario) -> Vec<Value> {
    let roles = scenario.class_roles().into_iter();
    roles.map(|role| json!({"class": role.class, "role": role.role, "from": role.origin})).collect()
}

/// Creates a group for each combination of values of `keys`, in order of first appearance. A group has the
/// values of the keys, and the mean over replications and the 95 % confidence interval of every numeric
/// column.
fn groups(table: &Table, keys: &[&'static str]) -> Groups {
    let mut order: Vec<(Box<[Value]>, Vec<usize>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in 0..table.rows() {
        let key: Box<[Value]> = keys.iter().map(|key| cell(table.column(key), row)).collect();
        let place = *places.entry(json!(key).to_string()).or_insert(order.len());
        match order.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => order.push((key, vec![row])),
        }
    }
    let is_metric = |column: &&Column| {
        !keys.contains(&column.name)
            && column.name != "replication"
            && !matches!(column.values, Values::Text { .. })
    };
    let columns: Vec<&Column> = table.columns.iter().filter(is_metric).collect();
    let replications = table.column("replication");
    // The vector is reused for all columns, because the summary of a scenario with many classes has thousands
    // of metrics.
    let mut samples = Vec::new();
    let mut estimate = |column: &Column, rows: &[usize]| {
        sample_replications(&column.values, replications, rows, &mut samples);
        Estimate::from_samples(&samples)
    };
    let group = |(keys, rows): (Box<[Value]>, Vec<usize>)| Group {
        keys,
        estimates: columns.iter().map(|column| estimate(column, &rows)).collect(),
    };
    Groups {
        keys: keys.to_vec(),
        metrics: columns.iter().map(|column| (column.name, column.unit)).collect(),
        rows: order.into_iter().map(group).collect(),
    }
}

/// Writes one sample of each replication to `samples`. If a replication has several rows, such as the calls
/// of a class, the sample is their mean, because they are not independent. A replication without a measured
/// value has no sample.
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

fn cell(values: Option<&Values>, row: usize) -> Value {
    match values {
        Some(Values::Text { codes, names }) => json!(names[codes[row] as usize]),
        Some(Values::Count(counts)) => json!(counts[row]),
        Some(Values::Float(floats)) => json!(floats[row]),
        None => Value::Null,
    }
}
