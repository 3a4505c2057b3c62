//! Source subnets that the access lists of classes name, but that do not exist in the network.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::{NetworkFinding, Snapshot};
use super::parts::{Parts, list_of};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of other source subnets of the device that exist in the network.
const LEAST_KNOWN: usize = 2;
/// The minimum prefix length of a subnet that is compared. A subnet with a shorter prefix is a summary.
const SUMMARY: u32 = 16;

/// The addresses of the subnets of the network, by mask.
type Subnets = BTreeMap<u32, Vec<u32>>;

/// Reports the source subnet in the classes of a device that does not exist in the network, if it is the only
/// one.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let subnets = subnets(snapshot);
    for (device, parts) in devices.iter().enumerate() {
        let classes = parts.class_maps.values().flat_map(|class| &class.lines);
        let lists = classes.filter_map(|(_, words)| parts.lists.get(list_of(words)?));
        let entries = lists.flatten();
        let sources = entries.filter_map(|(line, words)| Some((*line, source(words)?)));
        let (known, unknown): (Vec<_>, Vec<_>) =
            sources.partition(|(_, (address, wildcard))| is_known(&subnets, *address, *wildcard));
        let [(line, (address, wildcard))] = unknown.as_slice() else { continue };
        if known.len() < LEAST_KNOWN {
            continue;
        }
        let message = format!(
            "no device of the network has a subnet with {address} (wildcard {wildcard}), but the {} other \
             sources in lists of classes of {} are in such subnets",
            known.len(),
            snapshot.devices[device].name
        );
        let effect = "no packet matches the entry: the intended packets are in another class".to_owned();
        let rule = &rules::NETWORK_SERVICE_DIFFERS;
        found.push(snapshot.finding(device, rule, *line, (message, effect)));
    }
}

/// Returns the source of an entry that permits packets, if the source is a subnet.
fn source(words: &[&str]) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let ["permit", _, address, wildcard, ..] = words else { return None };
    let wildcard: Ipv4Addr = wildcard.parse().ok()?;
    let is_subnet = wildcard.to_bits().leading_zeros() >= SUMMARY && wildcard.to_bits() > 0;
    Some((address.parse().ok()?, wildcard)).filter(|_| is_subnet)
}

/// Returns the subnets of ports and the destinations of static routes of all devices.
fn subnets(snapshot: &Snapshot) -> Subnets {
    let mut found = Subnets::new();
    let mut add = |address: std::net::IpAddr, length: u8| {
        if let std::net::IpAddr::V4(address) = address {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            found.entry(mask).or_default().push(address.to_bits() & mask);
        }
    };
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        for own in router.ports.iter().flat_map(addresses) {
            add(own.address, own.prefix_length);
        }
        for route in router.forwarding.routes.iter().filter(|route| route.prefix.length() > 0) {
            add(route.prefix.network(), route.prefix.length());
        }
    }
    for networks in found.values_mut() {
        networks.sort_unstable();
        networks.dedup();
    }
    found
}

/// Whether a source has common addresses with a subnet of the network.
fn is_known(subnets: &Subnets, address: Ipv4Addr, wildcard: Ipv4Addr) -> bool {
    let (address, free) = (address.to_bits(), wildcard.to_bits());
    subnets.iter().any(|(mask, networks)| {
        let first = address & !free & mask;
        let place = networks.partition_point(|network| *network < first);
        let is_inside = |network: &u32| network & !free & mask == first & !free;
        networks.get(place).is_some_and(is_inside)
    })
}
