//! Rules that read classes, policies, lists and ports of switches as they are written.
//!
//! The model of devices keeps the packets that a class takes, not the names of its lists, and has no VLANs.

mod groups;
mod match_kinds;
mod parts;
mod queues;
mod service;
mod services;
mod sources;
mod unattached;
mod vlan_ports;
mod vlans;

use parts::Parts;
use rayon::prelude::*;

use super::tree::{Node, Numbered, tree};
use super::{NetworkFinding, Snapshot};

/// Reports the findings of all rules that read lines.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let trees: Vec<Vec<Node>> = lines.par_iter().map(|lines| tree(lines)).collect();
    let devices: Vec<Parts> = trees.par_iter().map(|nodes| Parts::read(nodes)).collect();
    groups::check(snapshot, &trees, found);
    match_kinds::check(snapshot, &devices, found);
    queues::check(snapshot, &devices, found);
    services::check(snapshot, &devices, found);
    sources::check(snapshot, &devices, found);
    unattached::check(snapshot, &devices, found);
    vlans::check(snapshot, &trees, found);
}
