//! Services (protocol, host and port) in the access lists of several devices.
//!
//! Access lists for packets of clients contain a service as the destination, lists for packets of servers as
//! the source. The rule compares both.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_device::InterfaceAddress;
use perhop_qos::Dscp;

use super::super::peers::Peers;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::parts::{Parts, Words, list_of};
use super::service::{Service, services};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of other devices that have a service in the same form.
const LEAST_OTHERS: usize = 2;
/// The minimum fraction of the other devices with the host or port that have the service in the same form:
/// two thirds.
const MOST: usize = 2;
const WHOLE: usize = 3;
/// The maximum number of services with one host or port that are compared. With more, none of them is usual.
const MOST_SERVICES: usize = 64;

/// The devices that name each service, each with its first line.
type Uses<'t> = BTreeMap<Service<'t>, BTreeMap<usize, usize>>;

/// A service with the devices that name it.
type Use<'u> = (&'u Service<'u>, &'u BTreeMap<usize, usize>);

/// Reports services that one device marks or writes differently from the other devices.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    check_marks(snapshot, devices, found);
    let mut uses: Uses = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for (line, words) in parts.lists.values().flatten() {
            for service in services(words) {
                uses.entry(service).or_default().entry(device).or_insert(*line);
            }
        }
    }
    check_writing(snapshot, &uses, found);
}

/// Whether a network is the subnet of a port of a device.
fn is_subnet(snapshot: &Snapshot, network: &str) -> bool {
    let network: Option<IpAddr> = network.parse().ok();
    let starts = |own: &InterfaceAddress| own.subnet().map(|subnet| subnet.network()) == network;
    let mut ports = (0..snapshot.devices.len()).flat_map(|device| &snapshot.router(device).ports);
    network.is_some() && ports.any(|port| addresses(port).any(|own| starts(&own)))
}

/// A mark of a service: the device, the codepoint, its line and the class.
type Mark<'d> = (usize, Dscp, usize, &'d str);

/// Reports the only device that marks a service with another codepoint.
fn check_marks(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut marks: BTreeMap<Service, Vec<Mark>> = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for (service, own) in marks_of(device, parts) {
            marks.entry(service).or_default().push(own);
        }
    }
    let mut seen = BTreeSet::new();
    for (service, marks) in marks {
        let peers: Peers<Dscp> = marks.iter().map(|(_, dscp, ..)| *dscp).collect();
        let Some(usual) = peers.usual() else { continue };
        for (device, dscp, line, class) in marks.iter().filter(|(_, dscp, ..)| peers.is_exception(dscp)) {
            if !seen.insert((*device, *line)) {
                continue;
            }
            let message = format!(
                "class {class} of {} marks {service} with {dscp}, but most of {} devices with this service \
                 mark it with {usual}",
                snapshot.devices[*device].name,
                marks.len()
            );
            let effect = "this device treats packets of the service differently from the other devices";
            let rule = &rules::NETWORK_SERVICE_DIFFERS;
            let finding = snapshot.finding(*device, rule, *line, (message, effect.to_owned()));
            found.push(finding.about(Topic::Mark, Precision::Exact));
        }
    }
}

/// Returns the services that a device marks, each with its mark.
fn marks_of<'d>(device: usize, parts: &'d Parts) -> Vec<(Service<'d>, Mark<'d>)> {
    let mut found: BTreeMap<Service, Vec<Mark>> = BTreeMap::new();
    for class in &parts.classes {
        let Some((line, dscp)) = class.lines.iter().find_map(mark) else { continue };
        let criteria = parts.class_maps.get(class.name).map_or(&[][..], |own| &own.lines);
        for list in criteria.iter().filter_map(|(_, words)| list_of(words)) {
            let entries = parts.lists.get(list).map_or(&[][..], Vec::as_slice);
            // A service without a host (`any`) is excluded, because its mark can depend on the source of the
            // packets.
            let own = entries.iter().flat_map(|(_, words)| services(words));
            for service in own.filter(|service| service.host != "any") {
                found.entry(service).or_default().push((device, dscp, line, class.name));
            }
        }
    }
    let is_clear = |marks: &Vec<Mark>| marks.iter().all(|(_, dscp, ..)| *dscp == marks[0].1);
    found
        .into_iter()
        .filter(|(_, marks)| is_clear(marks))
        .map(|(service, marks)| (service, marks[0]))
        .collect()
}

fn mark((line, words): &Words) -> Option<(usize, Dscp)> {
    let (["set", "dscp", value] | ["set", "ip", "dscp", value]) = words.as_slice() else { return None };
    Some((*line, value.parse().ok()?))
}

/// Reports a service that only one device has, if this device lacks a similar service that most other devices
/// have. The two services differ by a typing error. They may also differ in the port, if all other devices
/// have only one service of the host.
fn check_writing(snapshot: &Snapshot, uses: &Uses, found: &mut Vec<NetworkFinding>) {
    // The services by host and by port.
    let mut groups: BTreeMap<(&str, &str), Vec<Use>> = BTreeMap::new();
    let mut holders: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
    for (service, devices) in uses {
        for key in [("host", service.host), ("port", service.ports.as_str())] {
            groups.entry(key).or_default().push((service, devices));
            holders.entry(key).or_default().extend(devices.keys());
        }
    }
    for (key, group) in groups.iter().filter(|(_, group)| (2..MOST_SERVICES).contains(&group.len())) {
        for (own, devices) in group.iter().filter(|(_, devices)| devices.len() == 1) {
            let Some((device, line)) = devices.first_key_value() else { continue };
            // A host or port that other devices also have is not a typing error. A subnet of the network is
            // not a typing error either.
            let is_known = |key: (&str, &str)| {
                holders.get(&key).is_some_and(|devices| devices.len() > 1)
                    || key.0 == "host" && own.is_subnet() && is_subnet(snapshot, key.1)
            };
            let others = holders[key].len() - usize::from(holders[key].contains(device));
            let usual = group.iter().find(|(other, devices)| {
                // A group of two contains this service and the service that all other devices have for the
                // host.
                let is_only = key.0 == "host" && key.1 != "any" && group.len() == 2;
                let differs = own.typing_error(other).or_else(|| own.other_port(other).filter(|_| is_only));
                !devices.contains_key(device)
                    && devices.len() >= LEAST_OTHERS
                    && WHOLE * devices.len() >= MOST * others
                    && differs.is_some_and(|key| !is_known(key))
            });
            let Some((usual, devices)) = usual else { continue };
            // The device can have several entries instead of one, each with some of the ports.
            let is_part = |(other, devices): &(&Service, &BTreeMap<usize, usize>)| {
                devices.contains_key(device) && other.is_part_of(usual)
            };
            if uses.iter().filter(is_part).count() > 1 {
                continue;
            }
            let message = format!(
                "a list of {} has {own}, which no other device has, and lacks {usual}, which {} devices have",
                snapshot.devices[*device].name,
                devices.len()
            );
            let effect =
                "at this device, packets of the service are not in the class of the service".to_owned();
            let rule = &rules::NETWORK_SERVICE_DIFFERS;
            found.push(snapshot.finding(*device, rule, *line, (message, effect)));
        }
    }
}
