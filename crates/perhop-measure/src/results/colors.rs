//! The tables `colors` and `conditioners`: packets by color.

use perhop_qos::packet::Color;

use super::table::{Rows, Table, rate};
use crate::Measurements;
use crate::counters::ColorTallies;

/// Returns the table of the arrived packets of each class by color. Colors without packets are omitted.
pub(super) fn color_table(measurements: &Measurements, replication: u64) -> Table {
    let mut tallies = vec![ColorTallies::default(); measurements.class_names.len()];
    for (flow, counters) in measurements.flows.iter().zip(&measurements.counters) {
        counters.arrivals.add_to(&mut tallies[flow.class]);
    }
    let classes = measurements.class_names.iter().zip(tallies);
    let rows = classes.flat_map(|(class, colors)| {
        let arrived = colors.into_iter().enumerate().filter(|(_, tally)| tally.received.packets > 0);
        arrived.map(move |(color, tally)| (class, Color::new(color).to_string(), tally))
    });
    let measured = measurements.measured();
    Rows::new(replication, rows)
        .text("class", |(class, ..)| class)
        .text("color", |(_, color, _)| color)
        .count("delivered_packets", "packets", |(.., tally)| tally.delivered.packets)
        .count("delivered_bytes", "bytes", |(.., tally)| tally.delivered.bytes)
        .float("throughput_bps", "b/s", |(.., tally)| rate(tally.received.bytes, measured))
        .float("delay_mean_s", "s", |(.., tally)| tally.mean_delay())
        .table("colors")
}

/// Returns the table of the packets of each conditioning stage by resulting color.
pub(super) fn conditioner_table(measurements: &Measurements, replication: u64) -> Table {
    Rows::new(replication, &measurements.conditioners)
        .text("node", |row| &row.node)
        .text("neighbor", |row| &row.neighbor)
        .text("side", |row| row.side)
        .text("stage", |row| &row.stage)
        .text("color", |row| &row.color)
        .count("packets", "packets", |row| row.taken.packets)
        .count("bytes", "bytes", |row| row.taken.bytes)
        .table("conditioners")
}
