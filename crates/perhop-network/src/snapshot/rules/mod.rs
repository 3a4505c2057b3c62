//! [`Snapshot::findings`]: the rules that compare several devices.
//!
//! Most of these rules check ports that reach another device of the snapshot. The rules about a single device
//! check ports towards hosts.

mod access_lists;
mod attachments;
mod bgp;
pub(super) mod bgp_sessions;
mod causes;
mod circuits;
mod class_marks;
mod congestion;
mod costs;
mod crossings;
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
mod negotiation;
mod outline;
mod packets;
mod peers;
mod priorities;
mod protocols;
mod rate_names;
mod rates;
mod ratios;
mod reach;
mod route_gaps;
mod routes;
mod secrets;
mod settings;
mod strays;
mod subnets;
mod texts;
mod topics;
mod treatment;
mod treatments;
pub(super) mod tree;
mod tunnel_exits;
mod tunnel_rates;
mod tunnels;
mod uncompared;
mod uplinks;

use causes::merged;
pub use finding::NetworkFinding;
use finding::{collected, line_of_output};
use rayon::prelude::*;
use topics::{Precision, Topic};
use treatment::Treatments;

use super::{PortId, Snapshot};

/// A function that applies the rules about one subject and adds their findings to the list.
type Check = fn(&Snapshot, &mut Vec<NetworkFinding>);
/// A function for rules that also need the treatments of codepoints.
type CheckOfTreatments = fn(&Snapshot, &Treatments, &mut Vec<NetworkFinding>);

/// The checks. Slow checks are first, so that no processor waits for them at the end.
const CHECKS: [Check; 25] = [
    namesakes::check,
    routes::check,
    attachments::check,
    bgp::check,
    bgp_sessions::check,
    circuits::check,
    costs::check,
    groups::check,
    identities::check,
    links::check,
    lists::check,
    negotiation::check,
    protocols::check,
    rate_names::check,
    ratios::check,
    reach::check,
    settings::check,
    strays::check,
    texts::check,
    tunnel_rates::check,
    tunnel_exits::check,
    tunnels::check,
    subnets::check,
    uncompared::check,
    uplinks::check,
];
const CHECKS_OF_TREATMENTS: [CheckOfTreatments; 7] = [
    frames::check,
    access_lists::check,
    marks::check,
    treatments::check,
    rates::check,
    class_marks::check,
    priorities::check,
];

impl Snapshot<'_> {
    /// Returns the findings of all rules about networks, sorted by file and line: one for each cause.
    pub fn findings(&self) -> Vec<NetworkFinding> {
        let (deviations, mut found) =
            rayon::join(|| deviations::of_lines(self), || self.findings_by_subject());
        deviations::add(self, deviations, &mut found);
        found.sort();
        found.dedup();
        merged(found)
    }

    /// Returns the unsorted findings of all rules except the comparison of lines.
    fn findings_by_subject(&self) -> Vec<NetworkFinding> {
        let of_treatments = || {
            let treatments = Treatments::new(self);
            let checks = CHECKS_OF_TREATMENTS.par_iter();
            checks.flat_map_iter(|check| collected(|found| check(self, &treatments, found))).collect()
        };
        let others =
            || CHECKS.par_iter().flat_map_iter(|check| collected(|found| check(self, found))).collect();
        let (mut found, more): (Vec<_>, Vec<_>) = rayon::join(of_treatments, others);
        found.extend(more);
        found
    }
}
