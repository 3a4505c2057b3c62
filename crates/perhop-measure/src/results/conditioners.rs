//! The table `conditioners`: packets of each conditioner stage, by the resulting color.

use perhop_qos::conditioner::Count;

use super::table::{Rows, Table};
use crate::{Conditioned, Measurements};

/// Packets to which one stage assigned one color.
#[derive(Debug)]
pub(super) struct ConditionerRow {
    replication: u64,
    node: String,
    neighbor: String,
    side: &'static str,
    stage: String,
    color: String,
    taken: Count,
}

impl ConditionerRow {
    /// A row from a live measurement.
    fn new(replication: u64, measured: &Conditioned) -> ConditionerRow {
        let Conditioned { node, neighbor, side, stage, color, taken } = measured.clone();
        ConditionerRow { replication, node, neighbor, side, stage, color, taken }
    }
}

/// The rows of one replication.
pub(super) fn conditioner_rows(measurements: &Measurements, replication: u64) -> Vec<ConditionerRow> {
    measurements.conditioners.iter().map(|taken| ConditionerRow::new(replication, taken)).collect()
}

/// The table.
pub(super) fn conditioner_table(rows: Rows<ConditionerRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("node", |row| &row.node)
        .text("neighbor", |row| &row.neighbor)
        .text("side", |row| row.side)
        .text("stage", |row| &row.stage)
        .text("color", |row| &row.color)
        .count("packets", "packets", |row| row.taken.packets)
        .count("bytes", "bytes", |row| row.taken.bytes)
        .table("conditioners")
}
