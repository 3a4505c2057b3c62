//! The table `colors`: arrived packets of each class by color.

use perhop_qos::packet::Color;
use perhop_qos::units::Time;

use super::table::{Rows, Table};
use crate::Measurements;
use crate::counters::{ColorTallies, ColorTally};

/// Arrived packets of one class and color.
#[derive(Debug)]
pub(super) struct ColorRow {
    replication: u64,
    class: String,
    color: String,
    tally: ColorTally,
    measured: Time,
}

/// The rows of one replication, for colors with packets.
pub(super) fn color_rows(measurements: &Measurements, replication: u64) -> Vec<ColorRow> {
    let measured = measurements.duration.saturating_sub(measurements.warmup);
    let mut tallies = vec![ColorTallies::default(); measurements.class_names.len()];
    for (flow, counters) in measurements.flows.iter().zip(&measurements.counters) {
        counters.arrivals.add_to(&mut tallies[flow.class]);
    }
    let classes = measurements.class_names.iter().zip(tallies);
    let rows = classes.flat_map(|(class, colors)| {
        let arrived = colors.into_iter().enumerate().filter(|(_, tally)| tally.received.packets > 0);
        arrived.map(move |(color, tally)| ColorRow {
            replication,
            class: class.clone(),
            color: Color::new(color).to_string(),
            tally,
            measured,
        })
    });
    rows.collect()
}

/// The table.
pub(super) fn color_table(rows: Rows<ColorRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .text("color", |row| &row.color)
        .count("delivered_packets", "packets", |row| row.tally.delivered.packets)
        .count("delivered_bytes", "bytes", |row| row.tally.delivered.bytes)
        .float("throughput_bps", "b/s", |row| {
            row.tally.received.bytes as f64 * 8.0 / row.measured.as_seconds()
        })
        .float("delay_mean_s", "s", |row| row.tally.mean_delay())
        .table("colors")
}
