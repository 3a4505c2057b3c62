//! Lines that depend on other lines: of the same device, or of a device at the other end of a link.

mod explicit_paths;
pub(super) mod label_families;
mod mtus;
mod rendezvous_points;
mod route_tags;
mod snooping;
mod twin_reflectors;
mod vlan_database;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};

/// Adds the findings of all rules of this module.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    explicit_paths::check(snapshot, trees, found);
    label_families::check(snapshot, trees, found);
    mtus::check(snapshot, trees, found);
    rendezvous_points::check(snapshot, trees, found);
    route_tags::check(snapshot, trees, found);
    snooping::check(snapshot, trees, found);
    twin_reflectors::check(snapshot, trees, found);
    vlan_database::check(snapshot, trees, found);
}
