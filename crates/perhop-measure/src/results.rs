//! [`Results`]: the results of a run, as tidy tables and a summary.
//!
//! Every table has one row for each observation. The keys (replication, class, port, …) are columns.
//! `docs/results.md` describes the tables. Results do not depend on wall-clock time or on the number of
//! threads.

mod applications;
mod colors;
mod pools;
mod series;
mod summary;
mod table;
mod tables;
mod tcp;
mod traffic;

pub use summary::Summary;
pub use table::{Column, Table, Values};
pub use tables::Replication;

use perhop_scenario::Scenario;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// Means over replications with their confidence intervals.
    pub summary: Summary,
    /// The tables, each with the rows of all replications.
    pub tables: Vec<Table>,
}

impl Results {
    /// Creates the results of `replications` of `scenario`. `seed` is the seed from which the random streams
    /// were derived.
    pub fn new(scenario: &Scenario, seed: u64, replications: Vec<Replication>) -> Results {
        let count = replications.len() as u32;
        let mut all = replications.into_iter().map(|replication| replication.tables);
        let mut tables = all.next().unwrap_or_default();
        for (table, more) in all.flat_map(|tables| tables.into_iter().enumerate()) {
            tables[table].append(more);
        }
        Results { summary: Summary::new(scenario, seed, count, &tables), tables }
    }
    /// Returns the table with this `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
