//! The table `conditioners`: what each stage of conditioning took, by the color it gave.

use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::packet::Color;

use super::table::{Rows, Table};
use crate::measured::Conditioned;
use crate::world::World;

/// The packets to which one stage gave one color.
#[derive(Debug)]
pub(crate) struct ConditionerRow {
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
    pub(crate) fn new(replication: u64, measured: &Conditioned) -> ConditionerRow {
        let Conditioned { node, neighbor, side, stage, color, taken } = measured.clone();
        ConditionerRow { replication, node, neighbor, side, stage, color, taken }
    }
}

/// The rows of one replication.
pub(super) fn conditioner_rows(world: &World, replication: u64) -> Vec<ConditionerRow> {
    let mut rows = Vec::new();
    for link in &world.links {
        let [from, to] = &link.ends;
        let sides = [(from, to, "output", &link.output), (to, from, "input", &link.input)];
        for (node, neighbor, side, conditioner) in sides {
            for (stage, color, taken) in taken(conditioner) {
                let (node, neighbor) = (node.clone(), neighbor.clone());
                let (stage, color) = (stage.to_owned(), color.to_string());
                rows.push(ConditionerRow { replication, node, neighbor, side, stage, color, taken });
            }
        }
    }
    rows
}

/// Stage, color and count, for every color that a stage gave.
fn taken(conditioner: &TrafficConditioner) -> impl Iterator<Item = (&str, Color, Count)> {
    conditioner.counted().flat_map(|(stage, counted)| {
        let colors = counted.iter().enumerate().filter(|(_, count)| count.packets > 0);
        colors.map(move |(color, count)| (stage, Color::new(color), *count))
    })
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
