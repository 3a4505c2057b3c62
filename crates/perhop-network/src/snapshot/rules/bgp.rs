//! [`BgpFamily`]: the subnets and the neighbors of a BGP address family, read from the lines of a
//! configuration.
//!
//! perhop does not compute the routes of BGP, so the device model contains nothing about BGP. This module
//! reads the subnets and neighbors from the text.

use std::net::Ipv4Addr;

use perhop_qos::classifier::Prefix;

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// An address family of a BGP process.
#[derive(Debug, Default)]
pub(super) struct BgpFamily {
    /// The first line of the family.
    pub(super) line: usize,
    /// The routing table (VRF); `None` for the global table.
    pub(super) vrf: Option<String>,
    /// The subnets that the family announces, with their lines.
    pub(super) networks: Vec<(usize, Prefix)>,
    /// The subnets that the family announces in place of the subnets inside them.
    pub(super) aggregates: Vec<Prefix>,
    /// Whether the family announces the subnets of all ports in its routing table.
    pub(super) announces_connected: bool,
    /// The addresses of the neighbors, each with the first line that names it.
    neighbors: Vec<(usize, Ipv4Addr)>,
}

/// Returns the address families of the BGP processes of a device. The lines of a process outside of address
/// families form one more family.
pub(super) fn families<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<BgpFamily> {
    let mut found: Vec<BgpFamily> = Vec::new();
    let mut is_inside = false;
    // The depth and the name of a VRF block that contains address families (NX-OS, IOS XR).
    let mut outer: Option<(usize, String)> = None;
    for (line, text) in lines {
        if !text.starts_with(' ') {
            is_inside = text.split_whitespace().take(2).eq(["router", "bgp"]);
            outer = None;
            if is_inside {
                found.push(BgpFamily { line, ..BgpFamily::default() });
            }
            continue;
        }
        let Some(family) = found.last_mut().filter(|_| is_inside) else { continue };
        let words: Vec<&str> = text.split_whitespace().collect();
        let depth = text.len() - text.trim_start().len();
        outer = outer.filter(|(own, _)| *own < depth);
        match words.as_slice() {
            ["vrf", name] => {
                outer = Some((depth, (*name).to_owned()));
                found.push(BgpFamily { line, vrf: Some((*name).to_owned()), ..BgpFamily::default() });
            }
            ["address-family", rest @ ..] => {
                let own = rest.iter().skip_while(|word| **word != "vrf").nth(1).map(ToString::to_string);
                let vrf = own.or_else(|| outer.as_ref().map(|(_, name)| name.clone()));
                found.push(BgpFamily { line, vrf, ..BgpFamily::default() });
            }
            ["exit-address-family", ..] => found.push(BgpFamily { line, ..BgpFamily::default() }),
            ["network", subnet @ ..] => family.networks.extend(prefix(subnet).map(|prefix| (line, prefix))),
            ["aggregate-address", subnet @ ..] => family.aggregates.extend(aggregate(subnet)),
            ["redistribute", "connected", ..] => family.announces_connected = true,
            ["neighbor", address, ..] => {
                let address = address.parse().ok();
                let is_new = |address: &Ipv4Addr| !family.neighbors.iter().any(|(_, known)| known == address);
                if let Some(address) = address.filter(is_new) {
                    family.neighbors.push((line, address));
                }
            }
            _ => {}
        }
    }
    found
}

/// Reads the prefix of `ADDRESS/LENGTH` or `ADDRESS MASK`.
pub(super) fn aggregate(words: &[&str]) -> Option<Prefix> {
    match words {
        [address, mask, ..] if !address.contains('/') => prefix(&[address, "mask", mask]),
        _ => prefix(words),
    }
}

/// Reads the prefix of `ADDRESS/LENGTH`, `ADDRESS mask MASK`, or an address with the mask of its class.
/// `0.0.0.0` is the default route.
pub(super) fn prefix(words: &[&str]) -> Option<Prefix> {
    let (first, rest) = words.split_first()?;
    if let Some((address, length)) = first.split_once('/') {
        return Prefix::new(address.parse::<Ipv4Addr>().ok()?.into(), length.parse().ok()?).ok();
    }
    let address: Ipv4Addr = first.parse().ok()?;
    let length = match rest {
        ["mask", mask, ..] => mask.parse::<Ipv4Addr>().ok()?.to_bits().leading_ones(),
        _ if address.is_unspecified() => 0,
        _ if address.octets()[0] < 128 => 8,
        _ if address.octets()[0] < 192 => 16,
        _ => 24,
    };
    // The address in the line can contain host bits, which are invalid in a prefix.
    let masked = address.to_bits() & u32::MAX.checked_shl(32 - length).unwrap_or(0);
    Prefix::new(Ipv4Addr::from_bits(masked).into(), u8::try_from(length).ok()?).ok()
}

/// Reports BGP neighbors of a VRF whose address is only in subnets of ports in other routing tables.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for (device, member) in snapshot.devices.iter().enumerate() {
        for family in families(member.device.numbered_lines()) {
            for (line, neighbor) in &family.neighbors {
                check_neighbor(snapshot, device, &family, (*line, *neighbor), found);
            }
        }
    }
}

fn check_neighbor(
    snapshot: &Snapshot,
    device: usize,
    family: &BgpFamily,
    (line, neighbor): (usize, Ipv4Addr),
    found: &mut Vec<NetworkFinding>,
) {
    let router = snapshot.router(device);
    let table = |port: &perhop_device::Port| port.forwarding.vrf.as_ref().map(|vrf| vrf.value.clone());
    let near: Vec<usize> = (0..router.ports.len())
        .filter(|port| {
            let port = &router.ports[*port];
            carries_packets(router, port) && addresses(port).any(|own| own.is_neighbor(neighbor.into()))
        })
        .collect();
    // A family can activate neighbors that are defined outside of address families.
    let fits = |port: &usize| table(&router.ports[*port]) == family.vrf;
    let (Some(port), false) = (near.first(), near.iter().any(fits)) else { return };
    let Some(vrf) = &family.vrf else { return };
    let id = PortId { device, port: *port };
    let own = snapshot.port(id);
    let name = table(own).map_or_else(|| "the global table".to_owned(), |name| format!("the VRF {name}"));
    let message = format!(
        "the neighbor {neighbor} of the VRF {vrf} is in the subnet of {}, which belongs to {name}",
        snapshot.port_name(id)
    );
    let effect = "the routers exchange no routes, and packets of the port use the other table".to_owned();
    let of_port = own.forwarding.vrf.as_ref().map_or(own.line, |vrf| vrf.line);
    for line in [of_port, line] {
        let rule = &rules::NETWORK_NEIGHBOR_VRF_DIFFERS;
        found.push(snapshot.finding(device, rule, line, (message.clone(), effect.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::families;

    #[test]
    fn families_have_their_tables_subnets_and_neighbors() {
        let text = "router bgp 65000\n neighbor 192.0.2.1 remote-as 65001\n address-family ipv4 vrf RED\n  \
                    network 10.1.2.0 mask 255.255.255.0\n  redistribute connected\n  neighbor 192.0.2.5 activate\n \
                    exit-address-family\n network 10.0.0.0\nrouter ospf 1\n network 10.9.0.0 0.0.255.255 area 0";
        let found = families(text.lines().enumerate().map(|(place, line)| (place + 1, line)));
        let subnets = |place: usize| -> Vec<String> {
            found[place].networks.iter().map(|(line, subnet)| format!("{line} {subnet}")).collect()
        };
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].vrf.as_deref(), subnets(0).len()), (None, 0));
        assert_eq!((found[1].vrf.as_deref(), subnets(1)), (Some("RED"), vec!["4 10.1.2.0/24".to_owned()]));
        assert!(found[1].announces_connected);
        assert_eq!(found[1].neighbors, [(6, "192.0.2.5".parse().unwrap())]);
        assert_eq!((found[2].vrf.as_deref(), subnets(2)), (None, vec!["8 10.0.0.0/8".to_owned()]));
    }

    #[test]
    fn a_block_of_a_vrf_contains_families() {
        let text = "router bgp 65000\n  vrf RED\n    address-family ipv4 unicast\n      network 10.1.0.0/16\n      \
                    aggregate-address 10.0.0.0/8\n  address-family ipv4 unicast\n    aggregate-address 172.16.0.0 \
                    255.240.0.0";
        let found = families(text.lines().enumerate());
        let tables: Vec<Option<&str>> = found.iter().map(|family| family.vrf.as_deref()).collect();
        assert_eq!(tables, [None, Some("RED"), Some("RED"), None]);
        let aggregates = |place: usize| found[place].aggregates.first().map(ToString::to_string);
        assert_eq!(
            (aggregates(2).as_deref(), aggregates(3).as_deref()),
            (Some("10.0.0.0/8"), Some("172.16.0.0/12"))
        );
    }
}
