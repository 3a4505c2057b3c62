//! The table `delays`: delay and delay variation of each class by interval.

use std::sync::Arc;

use perhop_qos::units::Time;

use super::series::shared;
use super::table::{Rows, Table};
use crate::Measurements;
use crate::counters::DelayStatistics;

/// Arrived packets of one class in one interval.
#[derive(Debug)]
pub(super) struct DelayRow {
    replication: u64,
    class: Arc<str>,
    ends: Time,
    delay: DelayStatistics,
}

/// The rows of one replication.
pub(super) fn delay_rows(measurements: &Measurements, replication: u64) -> Vec<DelayRow> {
    let mut rows = Vec::new();
    let sampled = measurements.samples.iter().flat_map(|samples| &samples.delays);
    for (class, samples) in shared(&measurements.class_names).into_iter().zip(sampled) {
        for (index, delay) in samples.intervals.iter().enumerate() {
            let ends = samples.begins + samples.every * (index as u64 + 1);
            rows.push(DelayRow { replication, class: Arc::clone(&class), ends, delay: *delay });
        }
    }
    rows
}

/// The table.
pub(super) fn delay_table(rows: Rows<DelayRow>) -> Table {
    let seconds = |present: u64, picoseconds: f64| if present == 0 { f64::NAN } else { picoseconds / 1e12 };
    let delay = |row: &DelayRow, time: Time| seconds(row.delay.packets, time.as_picoseconds() as f64);
    rows.count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .float("time_s", "s", |row| row.ends.as_seconds())
        .count("packets", "packets", |row| row.delay.packets)
        .float("delay_mean_s", "s", |row| row.delay.mean())
        .float("delay_min_s", "s", |row| delay(row, row.delay.least))
        .float("delay_max_s", "s", |row| delay(row, row.delay.greatest))
        .float("ipdv_mean_abs_s", "s", |row| row.delay.mean_absolute_variation())
        .float("ipdv_min_s", "s", |row| seconds(row.delay.pairs, row.delay.least_variation as f64))
        .float("ipdv_max_s", "s", |row| seconds(row.delay.pairs, row.delay.greatest_variation as f64))
        .table("delays")
}
