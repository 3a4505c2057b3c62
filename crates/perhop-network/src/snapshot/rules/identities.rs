//! Addresses and router IDs that two devices share.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_device::RoutingProtocol;

use super::reach::is_translated;
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// Reports pairs of devices with the same address or router ID.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let part = parts(snapshot);
    for duplicate in &snapshot.duplicates {
        let [first, second] = duplicate.ports;
        // perhop models a tunnel with one policy per group as several ports that share an address line.
        let line = |id: PortId| {
            addresses(snapshot.port(id)).find(|own| own.address == duplicate.address).map(|own| own.line)
        };
        if first.device == second.device && line(first) == line(second) {
            continue;
        }
        if [first, second].into_iter().all(|id| is_translated(snapshot, id)) {
            continue;
        }
        if [first, second].into_iter().all(|id| is_anycast(snapshot, id)) {
            continue;
        }
        // Two parts of the network without a connection can use the same addresses.
        if part[first.device] == part[second.device] {
            let effect =
                "perhop does not treat the subnet as a link: packets to the address may reach either device";
            report_address(snapshot, duplicate.ports, duplicate.address, effect, found);
        }
    }
    check_hosts(snapshot, &part, found);
    check_numbers(snapshot, &part, found);
    check_written(snapshot, &part, found);
}

/// Whether all switches of a fabric intentionally have the address of a port (NX-OS, EOS).
fn is_anycast(snapshot: &Snapshot, id: PortId) -> bool {
    const COMMANDS: [&str; 2] = ["fabric forwarding mode anycast-gateway", "ip address virtual"];
    let device = &snapshot.devices[id.device].device;
    COMMANDS.iter().any(|command| device.line_in_block(snapshot.port(id).line, command).is_some())
}

/// The first words of blocks that contain identifiers of a device.
const PROCESSES: [&str; 2] = ["router", "routing-options"];

/// Lines, each with its device.
type Lines = Vec<(usize, usize)>;

/// Reports two devices with the same identifier in lines that the device model does not contain.
fn check_written(snapshot: &Snapshot, part: &[usize], found: &mut Vec<NetworkFinding>) {
    let mut owners: BTreeMap<(usize, &str, String), Lines> = BTreeMap::new();
    for (device, member) in snapshot.devices.iter().enumerate() {
        let mut block = "";
        for (line, text) in member.device.numbered_lines() {
            if !text.starts_with(' ') {
                block = text.split(' ').next().unwrap_or_default();
            }
            if !PROCESSES.contains(&block) {
                continue;
            }
            let number = match (block, text.split_whitespace().collect::<Vec<_>>().as_slice()) {
                ("router", ["eigrp", "router-id", number]) => Some(("EIGRP", *number)),
                ("router", ["bgp", "router-id", number]) => Some(("BGP", *number)),
                ("routing-options", ["router-id", number]) => Some(("all protocols", *number)),
                _ => None,
            };
            if let Some((protocol, number)) = number {
                let number = number.trim_end_matches(';').to_owned();
                owners.entry((part[device], protocol, number)).or_default().push((device, line));
            }
        }
    }
    for ((_, protocol, number), devices) in owners.iter().filter(|(_, devices)| devices.len() == 2) {
        for ([own, other], line) in
            [([devices[0].0, devices[1].0], devices[0].1), ([devices[1].0, devices[0].0], devices[1].1)]
        {
            if own == other {
                continue;
            }
            let message = format!(
                "{} has the same router ID in {protocol}, {number}, as {}",
                snapshot.devices[own].name, snapshot.devices[other].name
            );
            let effect = "routes and sessions of one of the two devices are ignored".to_owned();
            let rule = &rules::NETWORK_ROUTER_ID_DUPLICATE;
            found.push(snapshot.finding(own, rule, line, (message, effect)));
        }
    }
}

fn report_address(
    snapshot: &Snapshot,
    [first, second]: [PortId; 2],
    address: IpAddr,
    effect: &str,
    found: &mut Vec<NetworkFinding>,
) {
    for [own, other] in [[first, second], [second, first]] {
        let own_address = addresses(snapshot.port(own)).find(|candidate| candidate.address == address);
        let line = own_address.map_or(snapshot.port(own).line, |address| address.line);
        let message = format!(
            "{} has the same address, {address}, as {}",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        let rule = &rules::NETWORK_ADDRESS_DUPLICATE;
        found.push(snapshot.finding(own.device, rule, line, (message, effect.to_owned())));
    }
}

/// Reports two devices with the same host address (`/32`, `/128`), if it is the only host address of each. A
/// device with several host addresses can share one intentionally (anycast).
fn check_hosts(snapshot: &Snapshot, part: &[usize], found: &mut Vec<NetworkFinding>) {
    let mut owners: BTreeMap<(usize, Option<&str>, IpAddr), PortId> = BTreeMap::new();
    for (device, part) in part.iter().enumerate() {
        let router = snapshot.router(device);
        let ports = router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port));
        let hosts: Vec<(PortId, IpAddr)> = ports
            .flat_map(|(port, own)| addresses(own).map(move |address| (PortId { device, port }, address)))
            .filter(|(_, address)| address.subnet().is_some_and(|subnet| subnet.host().is_some()))
            .map(|(id, address)| (id, address.address))
            .collect();
        let [(id, address)] = hosts.as_slice() else { continue };
        let table = snapshot.port(*id).forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
        if let Some(other) = owners.insert((*part, table, *address), *id) {
            let effect = "packets, sessions and routes to the address may reach either device";
            report_address(snapshot, [other, *id], *address, effect, found);
        }
    }
}

/// Reports two routers with the same router ID in a routing protocol.
fn check_numbers(snapshot: &Snapshot, part: &[usize], found: &mut Vec<NetworkFinding>) {
    let mut owners: BTreeMap<(usize, bool, &str), (usize, usize)> = BTreeMap::new();
    for (device, part) in part.iter().enumerate() {
        for process in &snapshot.router(device).forwarding.processes {
            let is_computed = matches!(process.protocol, RoutingProtocol::Ospf | RoutingProtocol::Isis);
            let Some(own) = process.identity.as_ref().filter(|_| is_computed) else { continue };
            let key = (*part, process.protocol == RoutingProtocol::Isis, own.value.as_str());
            let Some((other, other_line)) = owners.insert(key, (device, own.line)) else { continue };
            for (this, line, that) in [(device, own.line, other), (other, other_line, device)] {
                if device == other {
                    continue;
                }
                let message = format!(
                    "{} has the same router ID, {}, as {}",
                    snapshot.devices[this].name, own.value, snapshot.devices[that].name
                );
                let effect =
                    "other routers confuse the two routers, so the routes to them appear and disappear"
                        .to_owned();
                let rule = &rules::NETWORK_ROUTER_ID_DUPLICATE;
                found.push(snapshot.finding(this, rule, line, (message, effect)));
            }
        }
    }
}

/// Returns, for each device, the number of the connected part of the network that contains it.
fn parts(snapshot: &Snapshot) -> Vec<usize> {
    let mut part: Vec<usize> = (0..snapshot.devices.len()).collect();
    for link in &snapshot.links {
        let Some(first) = link.ends.first().map(|end| part[end.id.device]) else { continue };
        for end in &link.ends {
            let joined = part[end.id.device];
            if joined != first {
                part.iter_mut().filter(|own| **own == joined).for_each(|own| *own = first);
            }
        }
    }
    part
}
