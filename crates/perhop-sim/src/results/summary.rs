//! The summary of a run: means over replications, with confidence intervals.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::table::{Table, Values};
use crate::run::RunOptions;
use crate::scenario::Scenario;
use crate::statistics::confidence_95;

/// Version of the summary's and the tables' layout.
const SCHEMA_VERSION: u32 = 1;

/// The summary of `tables`. Everything in it is a function of scenario, seed and replications.
pub(super) fn summary(scenario: &Scenario, options: &RunOptions, tables: &[Table]) -> Value {
    let of = |name: &str, keys: &[&str]| {
        tables
            .iter()
            .find(|table| table.name == name)
            .map_or(Value::Null, |table| Value::Array(groups(table, keys)))
    };
    // Not one `json!`, which would copy the groups.
    let entries = [
        ("schema_version", json!(SCHEMA_VERSION)),
        ("perhop", json!(env!("CARGO_PKG_VERSION"))),
        ("scenario", json!(scenario.name)),
        ("seed", json!(options.seed)),
        ("replications", json!(options.replications)),
        ("duration_s", json!(scenario.duration.as_seconds())),
        ("warmup_s", json!(scenario.measure.warmup.as_seconds())),
        ("classes", of("classes", &["class"])),
        ("ports", of("ports", &["port", "queue", "precedence"])),
        ("conditioners", of("conditioners", &["node", "neighbor", "side", "stage", "color"])),
        ("colors", of("colors", &["class", "color"])),
        ("tcp", of("transactions", &["class"])),
        ("fairness", samples(tables, "runs", "fairness")),
        ("packet_hops", json!(total(tables, "runs", "packet_hops"))),
    ];
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Mean and interval of one column with a row per replication.
fn samples(tables: &[Table], table: &str, column: &str) -> Value {
    let column =
        tables.iter().find(|candidate| candidate.name == table).and_then(|table| table.column(column));
    match column {
        Some(Values::Float(values)) => metric(values, ""),
        _ => Value::Null,
    }
}

fn total(tables: &[Table], table: &str, column: &str) -> u64 {
    match tables.iter().find(|candidate| candidate.name == table).and_then(|table| table.column(column)) {
        Some(Values::Count(counts)) => counts.iter().sum(),
        _ => 0,
    }
}

/// One object per distinct `keys`, in order of first appearance: the keys, and per other column its
/// mean and 95 % confidence interval over the replications.
fn groups(table: &Table, keys: &[&str]) -> Vec<Value> {
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
    order.into_iter().map(|(key, rows)| group(table, keys, key, &rows)).collect()
}

fn group(table: &Table, keys: &[&str], key: Vec<Value>, rows: &[usize]) -> Value {
    let mut object: Map<String, Value> = keys.iter().map(|name| (*name).to_owned()).zip(key).collect();
    for column in &table.columns {
        if keys.contains(&column.name) || column.name == "replication" {
            continue;
        }
        let samples: Vec<f64> = rows.iter().filter_map(|row| column.values.number(*row)).collect();
        object.insert(column.name.to_owned(), metric(&samples, column.unit));
    }
    Value::Object(object)
}

fn metric(samples: &[f64], unit: &str) -> Value {
    let measured: Vec<f64> = samples.iter().copied().filter(|sample| !sample.is_nan()).collect();
    let mean = (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64);
    let interval = confidence_95(&measured).map(|interval| json!([interval.low, interval.high]));
    json!({ "mean": mean, "ci95": interval, "unit": unit })
}

fn cell(values: Option<&Values>, row: usize) -> Value {
    match values {
        Some(Values::Text { codes, names }) => json!(names[codes[row] as usize]),
        Some(Values::Count(counts)) => json!(counts[row]),
        Some(Values::Float(floats)) => json!(floats[row]),
        None => Value::Null,
    }
}
