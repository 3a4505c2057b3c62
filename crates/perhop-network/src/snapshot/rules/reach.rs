//! Subnets that no device announces, networks of BGP that are not in the routing table, and tunnels without a
//! route to their other end.

use std::net::IpAddr;

use perhop_device::{InterfaceAddress, Port, RouteOrigin};
use perhop_qos::classifier::Prefix;

use super::bgp::{BgpFamily, aggregate, families};
use super::links::line_without_part;
use super::treatments::has_hosts_with_marks;
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::{Site, carries_packets};

/// The minimum number of announced subnets, in total and for each subnet that is not announced. With fewer,
/// the rule reports no subnet.
const LEAST: usize = 3;
const FOR_EACH: usize = 6;
/// The longest prefix length of a subnet of hosts.
const OF_HOSTS: u8 = 29;
/// The prefix length of a host address.
const ALONE: u8 = 32;
/// Parts of lines that create a route, often a route to several subnets.
const SUMMARIES: [&str; 5] = ["aggregate", "range ", "route ", "summary-address ", "summary-prefix "];
/// The beginnings of lines by which the routing table receives routes that perhop does not compute.
const LEARNING: &[&str] =
    &["router eigrp ", "router isis", "router lisp", "router odr", "router ospf ", "router rip"];
/// The beginnings of lines of protocols whose ports perhop does not read.
const UNREAD: [&str; 3] = ["router lisp", "router odr", "router rip"];

/// Reports subnets that no device announces although nearly all other subnets are announced, networks of BGP
/// without a route, and tunnels without a route to their other end.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let of_bgp: Vec<Vec<BgpFamily>> =
        snapshot.devices.iter().map(|member| families(member.device.numbered_lines())).collect();
    check_named(snapshot, &of_bgp, found);
    check_announced(snapshot, &of_bgp, found);
    check_tunnels(snapshot, found);
}

fn vrf_of(snapshot: &Snapshot, id: PortId) -> Option<String> {
    snapshot.port(id).forwarding.vrf.as_ref().map(|vrf| vrf.value.clone())
}

/// A network that a line of BGP names, if the device has no route to it.
struct Unknown {
    device: usize,
    line: usize,
    subnet: Prefix,
    /// The subnet of a port that has the same first address.
    similar: Option<Prefix>,
    /// Whether the device can learn the route from another protocol.
    is_learnable: bool,
}

/// Reports networks of BGP for which their device has no route. BGP does not announce such a network. If the
/// device can learn the route, the rule reports the network only if nearly all other networks have a route. A
/// device can learn a route that another device of the folder has, or that a device outside of the folder can
/// announce.
fn check_named(snapshot: &Snapshot, of_bgp: &[Vec<BgpFamily>], found: &mut Vec<NetworkFinding>) {
    let (mut known, mut unknown) = (0, Vec::new());
    let summaries: Vec<Vec<Prefix>> =
        snapshot.devices.iter().map(|member| summaries(member.device.numbered_lines())).collect();
    let is_closed = is_closed(snapshot);
    for (device, families) in of_bgp.iter().enumerate() {
        let mut lines = snapshot.devices[device].device.numbered_lines();
        let learns = lines.any(|(_, text)| LEARNING.iter().any(|start| text.starts_with(start)));
        for family in families {
            let vrf = family.vrf.as_deref();
            for (line, subnet) in &family.networks {
                if has_exactly(snapshot, device, vrf, *subnet) {
                    known += 1;
                    continue;
                }
                let is_summary = summaries[device].contains(subnet);
                let others = (0..of_bgp.len()).filter(|other| *other != device);
                let is_elsewhere = || {
                    others.clone().any(|other| {
                        let mut own = of_bgp[other].iter();
                        summaries[other].contains(subnet)
                            || own.any(|family| family.networks.iter().any(|(_, own)| own == subnet))
                            || has_in_any_table(snapshot, other, *subnet)
                    })
                };
                let is_learnable = vrf.is_some()
                    || subnet.length() == 0
                    || learns && (!is_closed || is_summary || is_elsewhere());
                let similar = similar_subnet(snapshot, device, vrf, *subnet);
                unknown.push(Unknown { device, line: *line, subnet: *subnet, similar, is_learnable });
            }
        }
    }
    let are_few = known >= FOR_EACH * unknown.len();
    for own in unknown.iter().filter(|own| are_few || own.similar.is_some() || !own.is_learnable) {
        let name = &snapshot.devices[own.device].name;
        let message = match own.similar {
            Some(port) => format!("{name} has a port in {port}, but no route to exactly {}", own.subnet),
            None => format!("{name} has no route to exactly {}", own.subnet),
        };
        let effect =
            "BGP announces only networks in the routing table, so no other device learns this network"
                .to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_ROUTE_MISSING, own.line, (message, effect)));
    }
}

/// Whether no port with a routing protocol leads out of the folder, so that no device outside can announce a
/// route. A protocol without a list of its ports counts as a port that leads out.
fn is_closed(snapshot: &Snapshot) -> bool {
    (0..snapshot.devices.len()).all(|device| {
        let router = snapshot.router(device);
        let is_inside = |(port, own): (usize, &Port)| {
            let talks = own.forwarding.routing.iter().any(|part| part.passive.is_none());
            let is_alone = || addresses(own).all(|address| address.prefix_length >= ALONE);
            !talks
                || !carries_packets(router, own)
                || is_alone()
                || snapshot.link_of(PortId { device, port }).is_some()
        };
        !snapshot.devices[device].device.numbered_lines().any(|(_, text)| is_unread(text))
            && router.ports.iter().enumerate().all(is_inside)
    })
}

/// Whether a line begins a process whose ports perhop does not read, such as EIGRP in its named form.
fn is_unread(text: &str) -> bool {
    let eigrp = text.strip_prefix("router eigrp ");
    eigrp.is_some_and(|name| name.trim().parse::<u64>().is_err())
        || UNREAD.iter().any(|start| text.starts_with(start))
}

/// Whether a port or a configured route of a device has exactly the prefix of a subnet, in any table.
fn has_in_any_table(snapshot: &Snapshot, device: usize, subnet: Prefix) -> bool {
    let router = snapshot.router(device);
    router.ports.iter().flat_map(addresses).any(|own| own.subnet() == Some(subnet))
        || router.forwarding.routes.iter().any(|route| route.prefix == subnet)
}

/// Returns the subnets in lines that contain a command of [`SUMMARIES`].
fn summaries<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<Prefix> {
    let mut found = Vec::new();
    for (_, text) in lines.filter(|(_, text)| SUMMARIES.iter().any(|command| text.contains(command))) {
        let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_end_matches(';')).collect();
        found.extend((0..words.len()).filter_map(|place| aggregate(&words[place..])));
    }
    found
}

/// Returns the subnet of a port that has the same first address as a subnet, but another length.
fn similar_subnet(snapshot: &Snapshot, device: usize, vrf: Option<&str>, subnet: Prefix) -> Option<Prefix> {
    let ports = snapshot.router(device).ports.iter();
    let ports = ports.filter(|port| port.forwarding.vrf.as_ref().map(|vrf| &*vrf.value) == vrf);
    let mut own = ports.flat_map(addresses).filter_map(|own| own.subnet());
    own.find(|own| own.address() == subnet.address() && *own != subnet)
}

/// Whether a device has a route with exactly the prefix of a subnet.
fn has_exactly(snapshot: &Snapshot, device: usize, vrf: Option<&str>, subnet: Prefix) -> bool {
    let router = snapshot.router(device);
    let is_in = |own: Option<&str>| own == vrf;
    let mut ports =
        router.ports.iter().filter(|port| is_in(port.forwarding.vrf.as_ref().map(|vrf| &*vrf.value)));
    ports.any(|port| addresses(port).any(|own| own.subnet() == Some(subnet)))
        || router.forwarding.routes.iter().any(|route| is_in(route.vrf.as_deref()) && route.prefix == subnet)
        || snapshot.devices[device].device.has_learned(vrf, subnet)
}

/// Reports host subnets that are not announced, if nearly all other host subnets are announced.
fn check_announced(snapshot: &Snapshot, of_bgp: &[Vec<BgpFamily>], found: &mut Vec<NetworkFinding>) {
    let sites: Vec<(PortId, Site)> = snapshot
        .sites()
        .into_iter()
        .filter_map(|site| Some((site.id?, site)))
        .filter(|(id, site)| site.address.is_ipv4() && has_hosts_with_marks(snapshot, *id))
        .filter(|(id, _)| speaks(snapshot, *id, &of_bgp[id.device]))
        .collect();
    let is_known =
        |(id, site): &&(PortId, Site)| is_announced(snapshot, *id, site.address, &of_bgp[id.device]);
    let (known, mut silent): (Vec<_>, Vec<_>) = sites.iter().partition(is_known);
    // Translation hides the addresses of a port with hosts. If all announced subnets are without translation,
    // the subnets with translation are probably hidden intentionally.
    if !known.iter().any(|(id, _)| is_translated(snapshot, *id)) {
        silent.retain(|(id, _)| !is_translated(snapshot, *id));
    }
    let announced = known.len();
    let are_few = announced >= LEAST && announced >= FOR_EACH * silent.len();
    if !are_few && !is_only_device(snapshot, &silent) {
        return;
    }
    for (id, site) in silent {
        let vrf = vrf_of(snapshot, *id);
        let mut own = of_bgp[id.device].iter().filter(|family| family.vrf == vrf);
        let named = own.find(|family| !family.networks.is_empty()).map(|family| family.line);
        let router = snapshot.router(id.device);
        let protocol = router
            .ports
            .iter()
            .flat_map(|port| &port.forwarding.routing)
            .map(|part| router.forwarding.processes[part.process].protocol)
            .next();
        let of_port = || protocol.map(|protocol| line_without_part(router, id.port, protocol));
        let line = named.or_else(of_port).unwrap_or(snapshot.port(*id).line);
        let message = format!(
            "no routing protocol of {} announces {}, and no other device has a route to it; {announced} of {} \
             subnets are announced",
            snapshot.devices[id.device].name,
            site.name,
            sites.len()
        );
        let effect = "the rest of the network cannot reach the hosts of this subnet".to_owned();
        found.push(snapshot.finding(id.device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
    }
}

/// Whether the device translates the addresses of hosts at a port.
pub(super) fn is_translated(snapshot: &Snapshot, id: PortId) -> bool {
    let device = &snapshot.devices[id.device].device;
    device.line_in_block(snapshot.port(id).line, "ip nat inside").is_some()
}

/// Whether all subnets in `silent` are on one device, and all other devices announce all their host subnets
/// with routing protocols.
fn is_only_device(snapshot: &Snapshot, silent: &[&(PortId, Site)]) -> bool {
    let Some((first, _)) = silent.first() else { return false };
    let of_hosts = |port: &Port| {
        let is_large = |own: &InterfaceAddress| own.address.is_ipv4() && own.prefix_length <= OF_HOSTS;
        port.forwarding.vrf.is_none() && addresses(port).any(|own| is_large(&own))
    };
    let announces = |device: usize| {
        let router = snapshot.router(device);
        let mut own = router.ports.iter().filter(|port| carries_packets(router, port) && of_hosts(port));
        // The subnet of a switch without a routing protocol is only for its management.
        let first = own.next().filter(|_| !router.forwarding.processes.is_empty())?;
        Some(!first.forwarding.routing.is_empty() && own.all(|port| !port.forwarding.routing.is_empty()))
    };
    let others = (0..snapshot.devices.len()).filter(|device| *device != first.device);
    let announced: Vec<bool> = others.filter_map(announces).collect();
    silent.iter().all(|(id, _)| id.device == first.device)
        && announced.len() >= LEAST
        && announced.iter().all(|announces| *announces)
}

/// Whether a device announces subnets from the routing table of a port to other devices.
fn speaks(snapshot: &Snapshot, id: PortId, families: &[BgpFamily]) -> bool {
    let vrf = vrf_of(snapshot, id);
    let names = |family: &BgpFamily| family.announces_connected || !family.networks.is_empty();
    let router = snapshot.router(id.device);
    let is_part = |port: &perhop_device::Port| {
        let own = port.forwarding.vrf.as_ref().map(|vrf| &vrf.value);
        own == vrf.as_ref() && port.forwarding.routing.iter().any(|part| part.passive.is_none())
    };
    families.iter().any(|family| family.vrf == vrf && names(family)) || router.ports.iter().any(is_part)
}

fn is_announced(snapshot: &Snapshot, id: PortId, address: IpAddr, families: &[BgpFamily]) -> bool {
    let (vrf, router) = (vrf_of(snapshot, id), snapshot.router(id.device));
    let of_bgp = families.iter().filter(|family| family.vrf == vrf).any(|family| {
        let contains = |(_, subnet): &(usize, Prefix)| subnet.contains(address.into());
        family.announces_connected || family.networks.iter().any(contains)
    });
    let redistributes = router.forwarding.processes.iter().any(|process| {
        let is_vrf = process.vrf == vrf;
        is_vrf && process.redistributed.iter().any(|origin| origin.value == "connected")
    });
    let others = (0..snapshot.devices.len()).filter(|device| *device != id.device);
    let is_routed = || {
        let routes = others.flat_map(|device| &snapshot.router(device).forwarding.routes);
        let mut routes =
            routes.filter(|route| route.origin == RouteOrigin::Configured && route.prefix.length() > 0);
        routes.any(|route| route.prefix.contains(address.into()))
    };
    !snapshot.port(id).forwarding.routing.is_empty() || of_bgp || redistributes || is_routed()
}

/// A tunnel; and the address of its other end, if the device has no route to this address.
type Tunnel = (PortId, Option<IpAddr>);

/// Reports tunnels without a route to their other end, if nearly all tunnels have such a route.
fn check_tunnels(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let tunnels: Vec<Tunnel> =
        (0..snapshot.devices.len()).flat_map(|device| tunnels(snapshot, device)).collect();
    let lost = tunnels.iter().filter(|(_, to)| to.is_some()).count();
    if tunnels.len() - lost < LEAST * lost {
        return;
    }
    for (id, to) in tunnels.iter().filter_map(|(id, to)| Some((*id, (*to)?))) {
        let message = format!(
            "{} has no route to {to}, the other end of {}",
            snapshot.devices[id.device].name,
            snapshot.port(id).name
        );
        let effect = "no packet passes the tunnel".to_owned();
        let line = snapshot.port(id).line;
        found.push(snapshot.finding(id.device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
    }
}

/// Returns the tunnels of a device whose other end is configured. Excludes the tunnels of devices that can
/// learn a route to the other end.
fn tunnels(snapshot: &Snapshot, device: usize) -> Vec<Tunnel> {
    let router = snapshot.router(device);
    let table = snapshot.devices[device].device.table();
    let mut found = Vec::new();
    for (port, own) in router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port)) {
        let Some(tunnel) = &own.forwarding.tunnel else { continue };
        let vrf = tunnel.vrf.as_ref().map(|vrf| vrf.value.as_str());
        let mapped = tunnel.maps.iter().filter(|map| map.line > 0).map(|map| map.outside);
        let ends: Vec<IpAddr> = tunnel.destination.iter().map(|to| to.value).chain(mapped).collect();
        if ends.is_empty() || snapshot.line_not_computed(device, vrf).is_some() {
            continue;
        }
        let is_lost = |to: &&IpAddr| matches!(table.decide(vrf, **to), Decision::Unknown(None));
        found.push((PortId { device, port }, ends.iter().find(is_lost).copied()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{is_unread, summaries};

    #[test]
    fn summaries_are_subnets() {
        let text = "router ospf 1\n area 1 range 10.1.0.0 255.255.0.0\n  summary-address 10.2.0.0 255.255.0.0\n \
                    ip address 10.3.0.1 255.255.0.0\n aggregate-address 10.4.0.0/16 summary-only";
        let found = summaries(text.lines().enumerate());
        for (subnet, is_found) in
            [("10.1.0.0/16", true), ("10.2.0.0/16", true), ("10.3.0.0/16", false), ("10.4.0.0/16", true)]
        {
            assert_eq!(found.contains(&subnet.parse().unwrap()), is_found, "{subnet}");
        }
    }

    #[test]
    fn the_ports_of_named_processes_are_not_read() {
        assert!(is_unread("router eigrp NET") && is_unread("router rip"));
        assert!(!is_unread("router eigrp 7") && !is_unread("router ospf 1"));
    }
}
