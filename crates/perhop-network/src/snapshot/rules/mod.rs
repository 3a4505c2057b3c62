//! [`Snapshot::findings`]: the rules that need several devices.
//!
//! Rules look at ports that reach another device of the snapshot: what a port does to hosts is a matter of
//! the edge, and the rules about one device cover it.

mod access_lists;
mod finding;
mod links;
mod marks;
mod rates;
mod subnets;
mod treatment;
mod treatments;

pub use finding::NetworkFinding;
use finding::line_of_output;
use treatment::Treatments;

use super::{PortId, Snapshot};

impl Snapshot<'_> {
    /// Returns the findings of all rules about networks, in the order of files and lines.
    pub fn findings(&self) -> Vec<NetworkFinding> {
        let mut found = Vec::new();
        let treatments = Treatments::new(self);
        links::check(self, &mut found);
        subnets::check(self, &mut found);
        access_lists::check(self, &treatments, &mut found);
        marks::check(self, &treatments, &mut found);
        treatments::check(self, &treatments, &mut found);
        rates::check(self, &treatments, &mut found);
        found.sort();
        found.dedup();
        found
    }
}
