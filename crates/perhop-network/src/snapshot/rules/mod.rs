//! [`Snapshot::findings`]: the rules that need several devices.
//!
//! Rules check ports that reach another device of the snapshot. The rules about one device cover ports
//! towards hosts.

mod access_lists;
mod attachments;
mod bgp;
mod circuits;
mod demands;
mod deviations;
mod finding;
mod frames;
mod groups;
mod identities;
mod links;
mod lists;
mod marks;
mod namesakes;
mod outline;
mod packets;
mod peers;
mod protocols;
mod rates;
mod reach;
mod routes;
mod settings;
mod strays;
mod subnets;
mod treatment;
mod treatments;
mod tunnels;
mod uncompared;

pub use finding::NetworkFinding;
use finding::line_of_output;
use treatment::Treatments;

use super::{PortId, Snapshot};

impl Snapshot<'_> {
    /// Returns the findings of all rules about networks, in the order of files and lines.
    pub fn findings(&self) -> Vec<NetworkFinding> {
        let mut found = Vec::new();
        let treatments = Treatments::new(self);
        attachments::check(self, &mut found);
        bgp::check(self, &mut found);
        circuits::check(self, &mut found);
        frames::check(self, &treatments, &mut found);
        groups::check(self, &mut found);
        identities::check(self, &mut found);
        links::check(self, &mut found);
        lists::check(self, &mut found);
        namesakes::check(self, &mut found);
        protocols::check(self, &mut found);
        reach::check(self, &mut found);
        routes::check(self, &mut found);
        settings::check(self, &mut found);
        tunnels::check(self, &mut found);
        strays::check(self, &mut found);
        subnets::check(self, &mut found);
        uncompared::check(self, &mut found);
        access_lists::check(self, &treatments, &mut found);
        marks::check(self, &treatments, &mut found);
        treatments::check(self, &treatments, &mut found);
        rates::check(self, &treatments, &mut found);
        deviations::check(self, &mut found);
        found.sort();
        found.dedup();
        found
    }
}
