//! A scenario run by the fast engine, and access to its results.

use std::path::Path;

use perhop_measure::Results;
use perhop_measure::results::{Table, Values};
use perhop_sim::{EngineChoice, Progress, RunOptions, run};
use serde_json::Value;

/// One replication on one thread.
pub(crate) const ONCE: RunOptions =
    RunOptions { seed: 1, replications: 1, threads: 1, engine: EngineChoice::Fast };

/// The results of `scenario`, which reads no files.
pub(crate) fn simulate(scenario: &Value, options: RunOptions) -> Results {
    simulate_observed(scenario, options).0
}

/// The results of `scenario`, which reads no files, and the progress at the end.
pub(crate) fn simulate_observed(scenario: &Value, options: RunOptions) -> (Results, Progress) {
    let scenario = serde_json::from_value(scenario.clone()).unwrap();
    let progress = Progress::new();
    (run(&scenario, Path::new("."), &options, &progress).unwrap(), progress)
}

/// A column of numbers.
pub(crate) fn numbers(table: &Table, column: &str) -> Vec<f64> {
    match table.column(column).unwrap_or_else(|| panic!("no column {column}")) {
        Values::Count(counts) => counts.iter().map(|count| *count as f64).collect(),
        Values::Float(floats) => floats.clone(),
        Values::Text { .. } => panic!("{column} is text"),
    }
}

/// The sum of a column of counts.
pub(crate) fn count(results: &Results, table: &str, column: &str) -> u64 {
    numbers(results.table(table).unwrap(), column).iter().sum::<f64>() as u64
}

/// The mean of `metric` of a class over all replications.
pub(crate) fn mean(results: &Results, class: &str, metric: &str) -> f64 {
    let summary = serde_json::to_value(&results.summary).unwrap();
    let classes = summary["classes"].as_array().unwrap();
    classes.iter().find(|row| row["class"] == class).unwrap()[metric]["mean"].as_f64().unwrap()
}
