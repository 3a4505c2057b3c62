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
mod tracked_priorities;
mod tunnel_parts;
mod twin_ports;
mod unattached;
mod unit_errors;
mod units;
mod vlan_ports;
mod vlans;
mod vpc;
mod vrf_routes;
mod wan;
mod zone_members;
mod zones;

use parts::Parts;
use rayon::prelude::*;

use super::finding::collected;
use super::tree::{Node, Numbered, tree};
use super::{NetworkFinding, Snapshot};

/// A function that applies the rules about one subject to the statements of all devices, and adds their
/// findings to the list.
type Check = fn(&Snapshot, &[Vec<Node>], &mut Vec<NetworkFinding>);
/// A function for rules that need the classes, policies and lists of the devices.
type CheckOfParts = fn(&Snapshot, &[Parts], &mut Vec<NetworkFinding>);
/// A function for rules that need the statements, and the classes, policies and lists.
type CheckOfBoth = fn(&Snapshot, &[Vec<Node>], &[Parts], &mut Vec<NetworkFinding>);

const CHECKS: [Check; 78] = [
    access_vlans::check,
    addressless::check,
    bare_classifiers::check,
    bare_ports::check,
    block_sessions::check,
    bundle_ends::check,
    bundle_members::check,
    bundle_modes::check,
    clocks::check,
    code_points::check,
    default_routes::check,
    denying_lists::check,
    dependencies::check,
    detection::check,
    detection_timers::check,
    dialers::check,
    directions::check,
    eigrp_parts::check,
    ends::check,
    engine_filters::check,
    fabrics::check,
    features::check,
    filters::check,
    firewall_policies::check,
    fixed_ports::check,
    forwarding_classes::check,
    group_parts::check,
    groups::check,
    hello_passwords::check,
    idle_filters::check,
    instance_routes::check,
    instances::check,
    isis::check,
    isis_listed::check,
    keepalives::check,
    keyring_peers::check,
    label_ports::check,
    label_protocols::check,
    loopbacks::check,
    map_order::check,
    neighbors::check,
    nhrp_servers::check,
    ospf_types::check,
    path_preferences::check,
    port_pairs::check,
    port_parts::check,
    port_queues::check,
    ppp_parts::check,
    prefix_effects::check,
    prefix_filters::check,
    prefix_sets::check,
    queuing_shares::check,
    received_prefixes::check,
    redistribution::check,
    reflectors::check,
    rewrite_classes::check,
    rewrites::check,
    route_targets::check,
    scheduler_priorities::check,
    segment_lines::check,
    serial_groups::check,
    shares::check,
    split_horizons::check,
    switch_maps::check,
    switch_off::check,
    tag_numbers::check,
    term_names::check,
    term_protocols::check,
    timers::check,
    tracked_priorities::check,
    twin_ports::check,
    units::check,
    vlans::check,
    vpc::check,
    vrf_routes::check,
    wan::check,
    zone_members::check,
    zones::check,
];
const CHECKS_OF_PARTS: [CheckOfParts; 9] = [
    far_policies::check,
    mark_names::check,
    match_kinds::check,
    port_protocols::check,
    queues::check,
    rate_digits::check,
    services::check,
    sources::check,
    unattached::check,
];
const CHECKS_OF_BOTH: [CheckOfBoth; 14] = [
    companions::check,
    control_planes::check,
    cos_marks::check,
    counterparts::check,
    crossed_names::check,
    idle_policies::check,
    inner_policies::check,
    label_classes::check,
    packet_bursts::check,
    port_namesakes::check,
    remaining_shares::check,
    shadowed_classes::check,
    tunnel_parts::check,
    unit_errors::check,
];

/// Adds the findings of all rules of this module. The checks run in parallel.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let trees: Vec<Vec<Node>> = lines.par_iter().map(|lines| tree(lines)).collect();
    let devices: Vec<Parts> = trees.par_iter().map(|nodes| Parts::read(nodes)).collect();
    let of_statements =
        CHECKS.par_iter().flat_map_iter(|check| collected(|found| check(snapshot, &trees, found)));
    let of_parts =
        CHECKS_OF_PARTS.par_iter().flat_map_iter(|check| collected(|found| check(snapshot, &devices, found)));
    let of_both = CHECKS_OF_BOTH
        .par_iter()
        .flat_map_iter(|check| collected(|found| check(snapshot, &trees, &devices, found)));
    found.par_extend(of_both.chain(of_parts).chain(of_statements));
    bare_inputs::check(snapshot, found);
}
