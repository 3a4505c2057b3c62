//! The table `pools`: the ports that used a shared memory when packets were dropped.

use super::table::{Rows, Table};
use crate::counters::PoolDrops;
use crate::{Measurements, PortMeasurements};

/// A port that dropped packets because a memory pool was full, and a port that used units of the pool at
/// these drops.
struct Held<'m> {
    port: &'m str,
    holder: &'m str,
    drops: &'m PoolDrops,
    /// The units that `holder` used at the first drop, and at the drop at which the most units were used.
    units: [u64; 2],
}

/// Returns the table with a row for each port that dropped packets because its memory pool was full, and each
/// port that used units of the pool at the first drop or at the drop with the highest use.
pub(super) fn pool_table(measurements: &Measurements, replication: u64) -> Table {
    let rows = measurements.ports.iter().enumerate().flat_map(|(number, port)| {
        let drops = port.pool_drops.as_deref().filter(|drops| !drops.is_empty());
        drops.into_iter().flat_map(move |drops| holders(measurements, number, port, drops))
    });
    Rows::new(replication, rows)
        .text("port", |row| row.port)
        .text("holder", |row| row.holder)
        .count("pool_units", "units", |row| row.drops.size)
        .count("first_units", "units", |row| row.units[0])
        .count("fullest_units", "units", |row| row.units[1])
        .float("first_drop_s", "s", |row| row.drops.first.at.as_seconds())
        .float("fullest_drop_s", "s", |row| row.drops.fullest.at.as_seconds())
        .table("pools")
}

fn holders<'m>(
    measurements: &'m Measurements,
    number: usize,
    port: &'m PortMeasurements,
    drops: &'m PoolDrops,
) -> impl Iterator<Item = Held<'m>> {
    let ports = std::iter::once(number).chain(port.sharers.iter().copied());
    let units = drops.first.by_port.iter().zip(&drops.fullest.by_port);
    ports.zip(units).filter(|(_, (first, fullest))| **first + **fullest > 0).map(
        move |(holder, (first, fullest))| Held {
            port: &port.name,
            holder: &measurements.ports[holder].name,
            drops,
            units: [*first, *fullest],
        },
    )
}
