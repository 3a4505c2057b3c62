//! [`find`]: the links of a network, from facts that the user wrote, cables, or subnets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_device::Port;
use perhop_qos::ConfigError;
use perhop_qos::classifier::Prefix;

use super::cables::Cables;
use super::{
    Duplicate, Link, LinkEnd, LinkReason, PortId, SnapshotDevice, Written, WrittenCable, carries_packets,
};
use crate::device::outer_tag;
use crate::forwarding::addresses;

/// The links of a network, and remarks about subnets for which no link is inferred.
pub(super) struct Found {
    pub(super) links: Vec<Link>,
    pub(super) remarks: Vec<String>,
    pub(super) duplicates: Vec<Duplicate>,
}

/// Returns the links of the devices. The link of a port comes from the user. Otherwise it comes from the
/// cable of the port, or from its subnet.
///
/// # Errors
/// A written end does not exist, or is an end of two links.
pub(super) fn find(
    devices: &[SnapshotDevice],
    written: &Written,
    cables: &[WrittenCable],
) -> Result<Found, ConfigError> {
    let mut links = Vec::new();
    let mut taken = BTreeSet::new();
    for ends in &written.links {
        let ends: Vec<LinkEnd> =
            ends.iter().map(|end| written_end(devices, end)).collect::<Result<_, _>>()?;
        for end in &ends {
            if !taken.insert(end.id) {
                let message = format!("{}:{} is an end of two links", end.device, end.interface);
                return Err(
                    ConfigError::new("links", message).help("write one link for each port".to_owned())
                );
            }
        }
        links.push(Link { ends, because: LinkReason::Written, is_tunnel: false });
    }
    let cables = Cables::new(devices, cables);
    let mut remarks = cables.remarks.clone();
    for link in direct(devices, &cables, &taken) {
        taken.extend(link.ends.iter().map(|end| end.id));
        links.push(link);
    }
    let mut duplicates = Vec::new();
    // Ports that share an IPv4 subnet and an IPv6 subnet have only one link.
    let mut known = BTreeSet::new();
    for ((subnet, is_tunnel), ports) in by_subnet(devices, &taken) {
        for (source, ports) in by_segment(devices, &cables, ports) {
            if let Some((address, [first, second])) = duplicate(&ports) {
                remarks.push(format!(
                    "{subnet} is not one link: {} and {} both have {address}",
                    name(devices, first),
                    name(devices, second)
                ));
                duplicates.push(Duplicate { address, ports: [first, second] });
                continue;
            }
            let ids: BTreeSet<PortId> = ports.iter().map(|(id, _)| *id).collect();
            let has_other_end = ids.iter().map(|id| id.device).collect::<BTreeSet<_>>().len() > 1;
            if has_other_end && known.insert((is_tunnel, ids.clone())) {
                let ends = ids.into_iter().map(|id| end(devices, id)).collect();
                let subnet = subnet.to_string();
                let because = match source {
                    Some(source) => LinkReason::Cable { source, subnet: Some(subnet) },
                    None => LinkReason::Subnet { subnet },
                };
                links.push(Link { ends, because, is_tunnel });
            }
        }
    }
    Ok(Found { links, remarks, duplicates })
}

/// Ports with their addresses.
type Ports = Vec<(PortId, IpAddr)>;

/// Returns the ports with addresses in each subnet. Tunnels have separate entries. Host addresses (`/32`,
/// `/128`) are in no subnet. A tunnel with a policy per group of ends consists of several ports with the same
/// address line; only the first port is listed.
fn by_subnet(devices: &[SnapshotDevice], taken: &BTreeSet<PortId>) -> BTreeMap<(Prefix, bool), Ports> {
    let mut found: BTreeMap<(Prefix, bool), Ports> = BTreeMap::new();
    for (device, member) in devices.iter().enumerate() {
        let router = member.device.router();
        let mut lines = BTreeSet::new();
        for (port, own) in router.ports.iter().enumerate() {
            let id = PortId { device, port };
            if !carries_packets(router, own) || taken.contains(&id) {
                continue;
            }
            for address in addresses(own).filter(|address| !address.address.is_loopback()) {
                // The ports of a scenario have no lines.
                if address.line > 0 && !lines.insert((address.line, address.address)) {
                    continue;
                }
                let Some(subnet) = address.subnet().filter(|subnet| subnet.host().is_none()) else {
                    continue;
                };
                let key = (subnet, own.forwarding.tunnel.is_some());
                found.entry(key).or_default().push((id, address.address));
            }
        }
    }
    found
}

/// Returns the links of cables that connect two devices without a switch. The ports of a link have the same
/// tag.
fn direct(devices: &[SnapshotDevice], cables: &Cables, taken: &BTreeSet<PortId>) -> Vec<Link> {
    let mut found = Vec::new();
    for ports in cables.ports(devices).into_values() {
        let Some((_, segment)) = ports.first().and_then(|id| cables.segment(devices, *id)) else { continue };
        if segment.is_switched {
            continue;
        }
        let mut by_tag: BTreeMap<Option<u16>, Vec<PortId>> = BTreeMap::new();
        for id in ports.into_iter().filter(|id| !taken.contains(id)) {
            by_tag.entry(outer_tag(port_at(devices, id))).or_default().push(id);
        }
        for ids in by_tag.into_values() {
            if let [one, other] = ids.as_slice()
                && one.device != other.device
            {
                let subnets = |id: PortId| addresses(port_at(devices, id)).filter_map(|own| own.subnet());
                let shared = subnets(*one).find(|subnet| subnets(*other).any(|far| far == *subnet));
                let because = LinkReason::Cable {
                    source: segment.source.clone(),
                    subnet: shared.map(|subnet| subnet.to_string()),
                };
                let ends = vec![end(devices, *one), end(devices, *other)];
                found.push(Link { ends, because, is_tunnel: false });
            }
        }
    }
    found
}

/// Divides the ports of a subnet by the segments of their cables. Each group has the file that names its
/// cables. If the subnet has only one segment, ports without a known cable belong to it.
fn by_segment(devices: &[SnapshotDevice], cables: &Cables, ports: Ports) -> Vec<(Option<String>, Ports)> {
    let mut segments: BTreeMap<Option<usize>, (Option<String>, Ports)> = BTreeMap::new();
    for (id, address) in ports {
        let found = cables.segment(devices, id);
        let (_, own) = segments
            .entry(found.map(|(number, _)| number))
            .or_insert_with(|| (found.map(|(_, segment)| segment.source.clone()), Vec::new()));
        own.push((id, address));
    }
    if let Some((_, without)) = segments.remove(&None) {
        match segments.len() {
            1 => {
                let (source, ports) = segments.values_mut().next().expect("one segment");
                *source = None;
                ports.extend(without);
                ports.sort_unstable();
            }
            _ => _ = segments.insert(None, (None, without)),
        }
    }
    let parts = segments.into_values();
    parts
        .flat_map(|(source, ports)| apart(devices, ports).into_iter().map(move |part| (source.clone(), part)))
        .collect()
}

/// Divides the ports of a subnet by routing table, if two ports have the same address. Different customers of
/// a provider can use the same addresses.
fn apart(devices: &[SnapshotDevice], ports: Ports) -> Vec<Ports> {
    if duplicate(&ports).is_none() {
        return vec![ports];
    }
    let mut by_table: BTreeMap<Option<&str>, Ports> = BTreeMap::new();
    for (id, address) in ports {
        let port = port_at(devices, id);
        let table = port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
        by_table.entry(table).or_default().push((id, address));
    }
    by_table.into_values().collect()
}

/// Returns an address that two ports have.
fn duplicate(ports: &Ports) -> Option<(IpAddr, [PortId; 2])> {
    let mut seen: BTreeMap<IpAddr, PortId> = BTreeMap::new();
    ports.iter().find_map(|(id, address)| seen.insert(*address, *id).map(|first| (*address, [first, *id])))
}

fn name(devices: &[SnapshotDevice], id: PortId) -> String {
    let end = end(devices, id);
    format!("{}:{}", end.device, end.interface)
}

fn end(devices: &[SnapshotDevice], id: PortId) -> LinkEnd {
    let (device, interface) = (devices[id.device].name.clone(), port_at(devices, id).name.clone());
    LinkEnd { device, interface, id }
}

fn port_at<'a>(devices: &'a [SnapshotDevice], id: PortId) -> &'a Port {
    &devices[id.device].device.router().ports[id.port]
}

fn written_end(devices: &[SnapshotDevice], text: &str) -> Result<LinkEnd, ConfigError> {
    let wrong = |message: String, help: String| ConfigError::new("links", message).help(help);
    let (device, interface) = text.split_once(':').ok_or_else(|| {
        wrong(format!("`{text}` is not an end of a link"), "write `DEVICE:INTERFACE`".to_owned())
    })?;
    let place = devices.iter().position(|member| member.name.eq_ignore_ascii_case(device));
    let place = place.ok_or_else(|| {
        let names: Vec<&str> = devices.iter().map(|member| member.name.as_str()).collect();
        wrong(format!("`{text}`: there is no device `{device}`"), format!("devices: {}", names.join(", ")))
    })?;
    let found = devices[place].device.port(interface).map_err(|error| ConfigError {
        message: format!("`{text}`: device {device} has no interface `{interface}`"),
        ..error
    })?;
    let ports = &devices[place].device.router().ports;
    let port = ports.iter().position(|port| port.name == found.name).unwrap_or_default();
    Ok(end(devices, PortId { device: place, port }))
}

/// Returns, for each port, the index of its link.
pub(super) fn by_port(devices: &[SnapshotDevice], links: &[Link]) -> Vec<Vec<Option<usize>>> {
    let mut found: Vec<Vec<Option<usize>>> =
        devices.iter().map(|member| vec![None; member.device.router().ports.len()]).collect();
    for (place, link) in links.iter().enumerate() {
        for end in &link.ends {
            found[end.id.device][end.id.port] = Some(place);
        }
    }
    found
}
