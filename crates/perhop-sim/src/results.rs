//! [`Results`]: what a run found, as tidy tables and a summary.
//!
//! Every table has one row per observation and its keys (replication, class, port, …) as columns;
//! `docs/results.md` describes them. Nothing here depends on wall time or on the number of threads.

mod colors;
mod conditioners;
mod delays;
mod series;
mod summary;
mod table;
mod tables;
mod tcp;

pub(crate) use conditioners::ConditionerRow;
pub use summary::Summary;
pub use table::{Column, Table, Values};
pub(crate) use tables::Replication;

use crate::run::RunOptions;
use perhop_scenario::Scenario;

/// Everything a run found.
#[derive(Clone, Debug)]
pub struct Results {
    /// Means over replications with their confidence intervals.
    pub summary: Summary,
    /// The tables, each over all replications.
    pub tables: Vec<Table>,
}

impl Results {
    pub(crate) fn new(scenario: &Scenario, options: &RunOptions, replications: &[Replication]) -> Results {
        let tables = tables::tables(replications);
        Results { summary: Summary::new(scenario, options, &tables), tables }
    }
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
