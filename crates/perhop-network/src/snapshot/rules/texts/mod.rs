//! Rules that read the text of classes, policies, lists and switch ports.
//!
//! The device model does not contain the compared values: the names of a class's access lists, and VLANs.

mod access_vlans;
mod addressless;
mod bare_classifiers;
mod bare_inputs;
mod bare_ports;
mod block_sessions;
pub(super) mod braces;
mod bundle_ends;
mod bundle_members;
mod bundle_modes;
mod clocks;
pub(super) mod code_points;
mod companions;
mod control_planes;
mod cos_marks;
mod counterparts;
mod crossed_names;
mod default_routes;
mod denying_lists;
mod dependencies;
mod detection;
mod detection_timers;
mod dialers;
mod directions;
mod eigrp_parts;
mod ends;
mod engine_filters;
mod fabrics;
mod far_policies;
mod features;
mod filters;
mod firewall_policies;
mod fixed_ports;
mod forwarding_classes;
mod group_parts;
mod groups;
mod hello_passwords;
mod idle_filters;
mod idle_policies;
mod inner_policies;
mod instance_routes;
mod instances;
mod isis;
mod isis_listed;
mod keepalives;
mod keyring_peers;
mod label_classes;
mod label_ports;
mod label_protocols;
mod loopbacks;
mod map_order;
mod mark_names;
mod match_kinds;
mod neighbors;
mod nhrp_servers;
mod ospf_types;
mod packet_bursts;
mod parts;
mod path_preferences;
mod port_namesakes;
mod port_pairs;
mod port_parts;
mod port_protocols;
mod port_queues;
mod ppp_parts;
mod prefix_effects;
mod prefix_filters;
mod prefix_lists;
mod prefix_sets;
mod queues;
mod queuing_shares;
mod rate_digits;
mod received_prefixes;
mod redistribution;
mod reflectors;
mod remaining_shares;
mod rewrite_classes;
mod rewrites;
mod route_targets;
mod scheduler_priorities;
mod segment_lines;
mod serial_groups;
mod service;
mod services;
mod shadowed_classes;
mod shares;
mod sources;
mod split_horizons;
mod switch_maps;
mod switch_off;
mod tag_numbers;
mod term_names;
mod term_protocols;
mod timers;
mod tunnel_parts;
mod twin_ports;
mod unattached;
mod unit_errors;
mod units;
mod vlan_ports;
mod vlans;
mod vpc;
mod vrf_routes;
mod zones;

use parts::Parts;
use rayon::prelude::*;

use super::tree::{Node, Numbered, tree};
use super::{NetworkFinding, Snapshot};

/// The rules about one subject. They add their findings to the list.
type Check = fn(&Snapshot, &[Vec<Node>], &mut Vec<NetworkFinding>);

/// The rules that need only the statements.
const CHECKS: [Check; 37] = [
    access_vlans::check,
    addressless::check,
    block_sessions::check,
    bundle_ends::check,
    default_routes::check,
    detection_timers::check,
    eigrp_parts::check,
    features::check,
    firewall_policies::check,
    fixed_ports::check,
    group_parts::check,
    idle_filters::check,
    instance_routes::check,
    instances::check,
    isis_listed::check,
    keyring_peers::check,
    label_protocols::check,
    loopbacks::check,
    nhrp_servers::check,
    ospf_types::check,
    port_pairs::check,
    port_parts::check,
    port_queues::check,
    prefix_effects::check,
    rewrite_classes::check,
    segment_lines::check,
    split_horizons::check,
    switch_off::check,
    tag_numbers::check,
    term_names::check,
    timers::check,
    twin_ports::check,
    units::check,
    vlans::check,
    vpc::check,
    vrf_routes::check,
    zones::check,
];

/// Adds the findings of all rules of this module.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let trees: Vec<Vec<Node>> = lines.par_iter().map(|lines| tree(lines)).collect();
    let devices: Vec<Parts> = trees.par_iter().map(|nodes| Parts::read(nodes)).collect();
    bare_classifiers::check(snapshot, &trees, found);
    bare_ports::check(snapshot, &trees, found);
    bundle_members::check(snapshot, &trees, found);
    bundle_modes::check(snapshot, &trees, found);
    companions::check(snapshot, &trees, &devices, found);
    cos_marks::check(snapshot, &trees, &devices, found);
    counterparts::check(snapshot, &trees, &devices, found);
    denying_lists::check(snapshot, &trees, found);
    dependencies::check(snapshot, &trees, found);
    detection::check(snapshot, &trees, found);
    dialers::check(snapshot, &trees, found);
    directions::check(snapshot, &trees, found);
    ends::check(snapshot, &trees, found);
    engine_filters::check(snapshot, &trees, found);
    far_policies::check(snapshot, &devices, found);
    filters::check(snapshot, &trees, found);
    forwarding_classes::check(snapshot, &trees, found);
    groups::check(snapshot, &trees, found);
    hello_passwords::check(snapshot, &trees, found);
    idle_policies::check(snapshot, &trees, &devices, found);
    inner_policies::check(snapshot, &trees, &devices, found);
    isis::check(snapshot, &trees, found);
    label_classes::check(snapshot, &trees, &devices, found);
    label_ports::check(snapshot, &trees, found);
    mark_names::check(snapshot, &devices, found);
    match_kinds::check(snapshot, &devices, found);
    neighbors::check(snapshot, &trees, found);
    path_preferences::check(snapshot, &trees, found);
    port_namesakes::check(snapshot, &trees, &devices, found);
    ppp_parts::check(snapshot, &trees, found);
    prefix_filters::check(snapshot, &trees, found);
    prefix_sets::check(snapshot, &trees, found);
    queues::check(snapshot, &devices, found);
    queuing_shares::check(snapshot, &trees, found);
    rate_digits::check(snapshot, &devices, found);
    redistribution::check(snapshot, &trees, found);
    reflectors::check(snapshot, &trees, found);
    rewrites::check(snapshot, &trees, found);
    route_targets::check(snapshot, &trees, found);
    serial_groups::check(snapshot, &trees, found);
    services::check(snapshot, &devices, found);
    shadowed_classes::check(snapshot, &trees, &devices, found);
    shares::check(snapshot, &trees, found);
    sources::check(snapshot, &devices, found);
    switch_maps::check(snapshot, &trees, found);
    tunnel_parts::check(snapshot, &trees, &devices, found);
    unattached::check(snapshot, &devices, found);
    unit_errors::check(snapshot, &trees, &devices, found);
    for check in CHECKS {
        check(snapshot, &trees, found);
    }
    check_classes(snapshot, &trees, &devices, found);
    check_peers(snapshot, &trees, found);
    packet_bursts::check(snapshot, &trees, &devices, found);
}

/// Adds the findings about switches of a fabric, clocks, inputs, and routes of neighbors.
fn check_peers(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    bare_inputs::check(snapshot, found);
    clocks::check(snapshot, trees, found);
    fabrics::check(snapshot, trees, found);
    keepalives::check(snapshot, trees, found);
    received_prefixes::check(snapshot, trees, found);
    term_protocols::check(snapshot, trees, found);
}

/// Adds the findings about shares, priorities and marks of classes.
fn check_classes(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    code_points::check(snapshot, trees, found);
    control_planes::check(snapshot, trees, devices, found);
    crossed_names::check(snapshot, trees, devices, found);
    map_order::check(snapshot, trees, found);
    port_protocols::check(snapshot, devices, found);
    remaining_shares::check(snapshot, trees, devices, found);
    scheduler_priorities::check(snapshot, trees, found);
}
