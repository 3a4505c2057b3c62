//! [`find`]: the links of a network, written or inferred from subnets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::ConfigError;
use perhop_qos::classifier::Prefix;

use super::{Duplicate, Link, LinkEnd, LinkReason, PortId, SnapshotDevice, Written, carries_packets};
use crate::forwarding::addresses;

/// The links of a network, and remarks about subnets that are none.
pub(super) struct Found {
    pub(super) links: Vec<Link>,
    pub(super) remarks: Vec<String>,
    pub(super) duplicates: Vec<Duplicate>,
}

/// Returns the links of the devices: those written, and between other ports those of one subnet.
///
/// # Errors
/// A written end does not exist, or is an end of two links.
pub(super) fn find(devices: &[SnapshotDevice], written: &Written) -> Result<Found, ConfigError> {
    let (mut links, mut remarks) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let resolved = |ends: &Vec<String>| -> Result<Vec<LinkEnd>, ConfigError> {
        ends.iter().map(|end| written_end(devices, end)).collect()
    };
    let mut all = written.links.iter().map(resolved).collect::<Result<Vec<_>, _>>()?;
    for ends in &written.lab_links {
        match resolved(ends) {
            Ok(ends) => all.push(ends),
            Err(error) => {
                remarks.push(format!("the link {} is left out: {}", ends.join(" - "), error.message));
            }
        }
    }
    for ends in all {
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
    let mut duplicates = Vec::new();
    for ((subnet, is_tunnel), ports) in by_subnet(devices, &taken) {
        for ports in apart(devices, ports) {
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
            if ids.iter().map(|id| id.device).collect::<BTreeSet<_>>().len() > 1 {
                let ends = ids.into_iter().map(|id| end(devices, id)).collect();
                let because = LinkReason::Subnet { subnet: subnet.to_string() };
                links.push(Link { ends, because, is_tunnel });
            }
        }
    }
    Ok(Found { links, remarks, duplicates })
}

/// Ports with their addresses.
type Ports = Vec<(PortId, IpAddr)>;

/// Returns the ports with addresses in each subnet: of tunnels apart from others. Ports with one address
/// (`/32`, `/128`) are in none.
fn by_subnet(devices: &[SnapshotDevice], taken: &BTreeSet<PortId>) -> BTreeMap<(Prefix, bool), Ports> {
    let mut found: BTreeMap<(Prefix, bool), Ports> = BTreeMap::new();
    for (device, member) in devices.iter().enumerate() {
        let router = member.device.router();
        for (port, own) in router.ports.iter().enumerate() {
            let id = PortId { device, port };
            if !carries_packets(router, own) || taken.contains(&id) {
                continue;
            }
            for address in addresses(own).filter(|address| !address.address.is_loopback()) {
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

/// Divides the ports of a subnet by table of routes where two of them have one address: customers of a
/// provider may use the same addresses.
fn apart(devices: &[SnapshotDevice], ports: Ports) -> Vec<Ports> {
    if duplicate(&ports).is_none() {
        return vec![ports];
    }
    let mut by_table: BTreeMap<Option<&str>, Ports> = BTreeMap::new();
    for (id, address) in ports {
        let port = &devices[id.device].device.router().ports[id.port];
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
    let member = &devices[id.device];
    let interface = member.device.router().ports[id.port].name.clone();
    LinkEnd { device: member.name.clone(), interface, id }
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
    let found = devices[place].device.port(interface)?;
    let ports = &devices[place].device.router().ports;
    let port = ports.iter().position(|port| port.name == found.name).unwrap_or_default();
    Ok(end(devices, PortId { device: place, port }))
}

/// Returns the place of the link of each port.
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
