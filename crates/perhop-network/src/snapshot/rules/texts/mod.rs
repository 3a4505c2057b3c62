//! Rules that read the text of classes, policies, lists and switch ports.
//!
//! The device model lacks what they compare: the names of a class's access lists, and VLANs.

mod bare_classifiers;
mod bare_ports;
pub(super) mod braces;
mod bundle_modes;
mod companions;
mod cos_marks;
mod counterparts;
mod dialers;
mod directions;
mod ends;
mod engine_filters;
mod far_policies;
mod filters;
mod forwarding_classes;
mod groups;
mod hello_passwords;
mod inner_policies;
mod isis;
mod label_classes;
mod label_ports;
mod mark_names;
mod match_kinds;
mod neighbors;
mod parts;
mod path_preferences;
mod prefix_filters;
mod prefix_lists;
mod prefix_sets;
mod queues;
mod queuing_shares;
mod rate_digits;
mod redistribution;
mod reflectors;
mod rewrites;
mod route_targets;
mod service;
mod services;
mod shadowed_classes;
mod shares;
mod sources;
mod switch_maps;
mod switch_off;
mod tag_numbers;
mod term_names;
mod timers;
mod tunnel_parts;
mod twin_ports;
mod unattached;
mod unit_errors;
mod units;
mod vlan_ports;
mod vlans;
mod zones;

use parts::Parts;
use rayon::prelude::*;

use super::tree::{Node, Numbered, tree};
use super::{NetworkFinding, Snapshot};

/// Adds the findings of all rules of this module.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let trees: Vec<Vec<Node>> = lines.par_iter().map(|lines| tree(lines)).collect();
    let devices: Vec<Parts> = trees.par_iter().map(|nodes| Parts::read(nodes)).collect();
    bare_classifiers::check(snapshot, &trees, found);
    bare_ports::check(snapshot, &trees, found);
    bundle_modes::check(snapshot, &trees, found);
    companions::check(snapshot, &trees, &devices, found);
    cos_marks::check(snapshot, &trees, &devices, found);
    counterparts::check(snapshot, &trees, &devices, found);
    dialers::check(snapshot, &trees, found);
    directions::check(snapshot, &trees, found);
    ends::check(snapshot, &trees, found);
    engine_filters::check(snapshot, &trees, found);
    far_policies::check(snapshot, &devices, found);
    filters::check(snapshot, &trees, found);
    forwarding_classes::check(snapshot, &trees, found);
    groups::check(snapshot, &trees, found);
    hello_passwords::check(snapshot, &trees, found);
    inner_policies::check(snapshot, &devices, found);
    isis::check(snapshot, &trees, found);
    label_classes::check(snapshot, &trees, &devices, found);
    label_ports::check(snapshot, &trees, found);
    mark_names::check(snapshot, &devices, found);
    match_kinds::check(snapshot, &devices, found);
    neighbors::check(snapshot, &trees, found);
    path_preferences::check(snapshot, &trees, found);
    prefix_filters::check(snapshot, &trees, found);
    prefix_sets::check(snapshot, &trees, found);
    queues::check(snapshot, &devices, found);
    queuing_shares::check(snapshot, &trees, found);
    rate_digits::check(snapshot, &devices, found);
    redistribution::check(snapshot, &trees, found);
    reflectors::check(snapshot, &trees, found);
    rewrites::check(snapshot, &trees, found);
    route_targets::check(snapshot, &trees, found);
    services::check(snapshot, &devices, found);
    shadowed_classes::check(snapshot, &trees, &devices, found);
    shares::check(snapshot, &trees, found);
    sources::check(snapshot, &devices, found);
    switch_maps::check(snapshot, &trees, found);
    switch_off::check(snapshot, &trees, found);
    tag_numbers::check(snapshot, &trees, found);
    term_names::check(snapshot, &trees, found);
    timers::check(snapshot, &trees, found);
    tunnel_parts::check(snapshot, &trees, &devices, found);
    twin_ports::check(snapshot, &trees, found);
    unattached::check(snapshot, &devices, found);
    unit_errors::check(snapshot, &trees, &devices, found);
    units::check(snapshot, &trees, found);
    vlans::check(snapshot, &trees, found);
    zones::check(snapshot, &trees, found);
}
