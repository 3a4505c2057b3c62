//! Pairs of ports that are the ends of one link, but have addresses in different subnets.

use std::collections::BTreeMap;

use perhop_device::{InterfaceAddress, Port, PortRole, TunnelEnds};

use super::links::tags;
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum number of links with equal tags at both ends. With fewer, an equal tag does not show that two
/// ports are the ends of a link.
const LINKS_WITH_TAGS: usize = 3;
/// The longest prefix length of a host subnet. Subnets with longer prefixes are links between devices.
const OF_HOSTS: u8 = 29;

/// Reports pairs of ports in different subnets that are the ends of one link according to a tag, a
/// description or the ends of a tunnel. The findings are at the addresses of both ports.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let strays: Vec<(PortId, InterfaceAddress)> =
        (0..snapshot.devices.len()).flat_map(|device| strays(snapshot, device)).collect();
    let mut pairs = Vec::new();
    pairs.extend(by_tag(snapshot, &strays));
    pairs.extend(by_description(snapshot, &strays));
    pairs.extend(by_tunnel(snapshot, &strays));
    pairs.extend(by_address(snapshot, &strays));
    for [(own, address), (other, theirs)] in pairs {
        for (here, address, there, other) in [(own, address, other, theirs), (other, theirs, own, address)] {
            let message = format!(
                "{} has the address {}/{}, but {}, which belongs to the same link, has {}/{}",
                snapshot.port_name(here),
                address.address,
                address.prefix_length,
                snapshot.port_name(there),
                other.address,
                other.prefix_length
            );
            let effect = "the ends do not reach each other".to_owned();
            let rule = &rules::NETWORK_SUBNET_DIFFERS;
            found.push(snapshot.finding(here.device, rule, address.line, (message, effect)));
        }
    }
}

/// Two ports in different subnets, with their addresses.
type Pair = [(PortId, InterfaceAddress); 2];

/// Generates the ports of a device that have a subnet without room for hosts and without another device.
fn strays(snapshot: &Snapshot, device: usize) -> impl Iterator<Item = (PortId, InterfaceAddress)> {
    let router = snapshot.router(device);
    let ports = router.ports.iter().enumerate().filter(move |(port, own)| {
        own.forwarding.role == PortRole::Interface
            && carries_packets(router, own)
            && snapshot.link_of(PortId { device, port: *port }).is_none()
    });
    let is_between = |own: &InterfaceAddress| (OF_HOSTS + 1..32).contains(&own.prefix_length);
    ports.filter_map(move |(port, own)| {
        let address = addresses(own).find(|own| own.address.is_ipv4())?;
        is_between(&address).then_some((PortId { device, port }, address))
    })
}

/// Returns pairs of ports with a tag that no other port has, if the ends of other links have equal tags.
fn by_tag(snapshot: &Snapshot, strays: &[(PortId, InterfaceAddress)]) -> Vec<Pair> {
    let equal = snapshot.wires().filter(|[own, other]| {
        let own = tags(snapshot.port(*own));
        !own.is_empty() && own == tags(snapshot.port(*other))
    });
    // Each link counts in both directions.
    if equal.count() < 2 * LINKS_WITH_TAGS {
        return Vec::new();
    }
    let mut by_tags: BTreeMap<Vec<u16>, Vec<(PortId, InterfaceAddress)>> = BTreeMap::new();
    for (id, address) in strays {
        let own = tags(snapshot.port(*id));
        if !own.is_empty() {
            by_tags.entry(own).or_default().push((*id, *address));
        }
    }
    let pairs = by_tags.into_values().filter_map(|ports| <Pair>::try_from(ports).ok());
    pairs.filter(|[own, other]| own.0.device != other.0.device).collect()
}

/// Returns pairs of ports of which one names the other device in its description, if each of the two devices
/// has only one such port.
fn by_description(snapshot: &Snapshot, strays: &[(PortId, InterfaceAddress)]) -> Vec<Pair> {
    let names: Vec<String> = snapshot.devices.iter().map(|member| member.name.to_lowercase()).collect();
    let named = |id: PortId| {
        let description = snapshot.port(id).forwarding.description.as_ref()?.to_lowercase();
        let is_separator = |letter: char| letter.is_whitespace() || ":;,()[]<>{}|=\"'".contains(letter);
        let words: Vec<&str> = description.split(is_separator).collect();
        let mut devices = (0..names.len()).filter(|device| words.contains(&names[*device].as_str()));
        let only = devices.next().filter(|device| *device != id.device)?;
        devices.next().is_none().then_some(only)
    };
    let wires = strays.iter().filter(|(id, _)| snapshot.port(*id).forwarding.tunnel.is_none());
    let wires: Vec<(PortId, InterfaceAddress, Option<usize>)> =
        wires.map(|(id, address)| (*id, *address, named(*id))).collect();
    let mut found: Vec<Pair> = Vec::new();
    for (id, address, far) in &wires {
        let Some(far) = far else { continue };
        let fits = |(other, _, back): &&(PortId, InterfaceAddress, Option<usize>)| {
            other.device == *far && back.is_none_or(|back| back == id.device)
        };
        let mut there = wires.iter().filter(fits);
        let (Some((other, theirs, _)), None) = (there.next(), there.next()) else { continue };
        let is_other =
            wires.iter().any(|(one, _, to)| one.device == id.device && one != id && *to == Some(*far));
        let is_new = !found.iter().any(|[one, _]| one.0 == *other);
        if is_new && !is_other {
            found.push([(*id, *address), (*other, *theirs)]);
        }
    }
    found
}

fn vrf(port: &Port) -> Option<&str> {
    port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str())
}

/// Returns pairs of a port whose address has the prefix length 32, and a port of another device whose subnet
/// contains this address.
fn by_address(snapshot: &Snapshot, strays: &[(PortId, InterfaceAddress)]) -> Vec<Pair> {
    let mut found = Vec::new();
    for (device, _) in snapshot.devices.iter().enumerate() {
        let router = snapshot.router(device);
        for (port, own) in router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port)) {
            let is_host = |own: &InterfaceAddress| own.address.is_ipv4() && own.prefix_length == 32;
            for address in addresses(own).filter(is_host) {
                let around = strays.iter().filter(|(other, theirs)| {
                    other.device != device
                        && vrf(snapshot.port(*other)) == vrf(own)
                        && theirs.is_neighbor(address.address)
                });
                found.extend(around.map(|other| [(PortId { device, port }, address), *other]));
            }
        }
    }
    found
}

/// Returns pairs of tunnel ends on two devices whose destinations are addresses of the other device.
fn by_tunnel(snapshot: &Snapshot, strays: &[(PortId, InterfaceAddress)]) -> Vec<Pair> {
    let far = |id: PortId| {
        let tunnel = snapshot.port(id).forwarding.tunnel.as_ref();
        let to = tunnel.filter(|tunnel| tunnel.ends == TunnelEnds::One)?.destination?;
        snapshot.owner(to.value).map(|owner| owner.device)
    };
    // The tunnel ends. The key is the device of the end, and the device that has the destination address of
    // the tunnel.
    let mut ends: BTreeMap<[usize; 2], Vec<(PortId, InterfaceAddress)>> = BTreeMap::new();
    for (id, address) in strays {
        if let Some(far) = far(*id) {
            ends.entry([id.device, far]).or_default().push((*id, *address));
        }
    }
    let mut found = Vec::new();
    for ([device, other], own) in ends.iter().filter(|([device, other], _)| device < other) {
        if let Some([back]) = ends.get(&[*other, *device]).map(Vec::as_slice) {
            found.extend(own.iter().map(|end| [*end, *back]));
        }
    }
    found
}
