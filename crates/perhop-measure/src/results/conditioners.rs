//! The table `conditioners`: what each stage of conditioning took, by the color it gave.

use perhop_qos::conditioner::Count;

use super::table::{Rows, Table};
use crate::{Conditioned, Measurements};

/// The packets to which one stage gave one color.
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
    /// A row of what was measured.
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
