//! [`Edge`]: the VRFs of a router and its BGP sessions for VPN routes, as its lines configure them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_device::InterfaceAddress;
use perhop_qos::classifier::Prefix;

use crate::snapshot::rules::bgp_sessions::process::{End, Process, process};
use crate::snapshot::rules::tree::{Node, Numbered, tree};

/// The address family of VPN routes (RFC 4364 §4.3.4).
const FAMILY: &str = "vpnv4";

/// A router with a BGP process.
pub(super) struct Edge {
    process: Process,
    /// The neighbors and peer groups that are clients of this route reflector (RFC 4456).
    clients: BTreeSet<String>,
    /// The neighbors and peer groups whose VPN routes a line changes or filters.
    filtered: BTreeSet<String>,
    pub(super) vrfs: BTreeMap<String, Vrf>,
}

/// A VRF.
#[derive(Default)]
pub(super) struct Vrf {
    pub(super) imports: BTreeSet<String>,
    pub(super) exports: BTreeSet<String>,
    /// Whether a route-map selects the imported or exported routes.
    pub(super) has_map: bool,
    pub(super) announced: Announced,
}

/// The origins of the routes that a VRF announces.
#[derive(Default)]
pub(super) struct Announced {
    pub(super) connected: Option<Certainty>,
    pub(super) r#static: Option<Certainty>,
    /// The prefixes of `network` lines.
    pub(super) networks: Vec<Prefix>,
}

/// The certainty of a route: it depends only on lines, or also on a policy, which perhop does not evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    Policy,
    Certain,
}

/// A neighbor with which a router exchanges VPN routes.
pub(super) struct Peer {
    pub(super) address: IpAddr,
    pub(super) end: End,
    pub(super) certainty: Certainty,
    pub(super) is_client: bool,
}

impl Edge {
    /// Reads the lines of a device; `None` if the device has no BGP process whose number all neighbors see.
    pub(super) fn read<'t>(lines: impl Iterator<Item = Numbered<'t>>) -> Option<Edge> {
        let lines: Vec<Numbered> = lines.collect();
        let process = process(lines.iter().copied()).filter(|process| !process.hides_number)?;
        let nodes = tree(&lines);
        let mut edge =
            Edge { process, clients: BTreeSet::new(), filtered: BTreeSet::new(), vrfs: BTreeMap::new() };
        for node in &nodes {
            match *node.words().as_slice() {
                ["vrf", "definition", name] | ["ip", "vrf", name] => {
                    let vrf = edge.vrfs.entry(name.to_owned()).or_default();
                    node.inner.iter().for_each(|inner| vrf.read(inner));
                }
                ["router", "bgp", ..] => node.inner.iter().for_each(|inner| edge.read_family(inner)),
                _ => {}
            }
        }
        Some(edge)
    }

    fn read_family(&mut self, node: &Node) {
        match *node.words().as_slice() {
            ["address-family", FAMILY] | ["address-family", FAMILY, "unicast"] => {
                for inner in &node.inner {
                    self.read_neighbor(&inner.words());
                }
            }
            ["address-family", "ipv4", "vrf", name] | ["address-family", "ipv4", "unicast", "vrf", name] => {
                let vrf = self.vrfs.entry(name.to_owned()).or_default();
                node.inner.iter().for_each(|inner| vrf.announced.read(&inner.words()));
            }
            _ => {}
        }
    }

    fn read_neighbor(&mut self, words: &[&str]) {
        let ["neighbor", name, setting, ..] = words else { return };
        match *setting {
            "route-reflector-client" => _ = self.clients.insert((*name).to_owned()),
            "activate" | "send-community" | "peer-group" | "peer" => {}
            _ => _ = self.filtered.insert((*name).to_owned()),
        }
    }

    /// Generates the neighbors inside the autonomous system with which the router exchanges VPN routes.
    pub(super) fn peers(&self) -> impl Iterator<Item = Peer> {
        self.process.ends.iter().filter_map(|((vrf, name), end)| {
            let address: IpAddr = name.parse().ok()?;
            let end = self.process.settings(end);
            let is_inside = end.number.as_ref().is_some_and(|(_, number)| *number == self.process.number);
            if vrf.is_some()
                || !is_inside
                || end.inherits
                || end.has_own_number
                || !end.families.contains(FAMILY)
            {
                return None;
            }
            let is_in = |names: &BTreeSet<String>| {
                names.contains(name) || end.group.as_ref().is_some_and(|group| names.contains(group))
            };
            let certainty = if is_in(&self.filtered) { Certainty::Policy } else { Certainty::Certain };
            let is_client = is_in(&self.clients);
            Some(Peer { address, end, certainty, is_client })
        })
    }

    pub(super) fn number(&self) -> &str {
        &self.process.number
    }
}

impl Vrf {
    fn read(&mut self, node: &Node) {
        match *node.words().as_slice() {
            ["route-target", "import", target] => _ = self.imports.insert(target.to_owned()),
            ["route-target", "export", target] => _ = self.exports.insert(target.to_owned()),
            ["route-target", "both", target] | ["route-target", target] => {
                self.imports.insert(target.to_owned());
                self.exports.insert(target.to_owned());
            }
            ["import" | "export", ..] => self.has_map = true,
            ["address-family", family, ..] if family != "ipv4" => {}
            _ => node.inner.iter().for_each(|inner| self.read(inner)),
        }
    }
}

impl Announced {
    fn read(&mut self, words: &[&str]) {
        let certainty = |options: &[&str]| match options {
            [] | ["metric", _] => Certainty::Certain,
            _ => Certainty::Policy,
        };
        match words {
            ["redistribute", "connected", options @ ..] => self.connected = Some(certainty(options)),
            ["redistribute", "static", options @ ..] => self.r#static = Some(certainty(options)),
            ["network", network, "mask", mask] => self.networks.extend(prefix(network, mask)),
            _ => {}
        }
    }
}

fn prefix(network: &str, mask: &str) -> Option<Prefix> {
    let mask: Ipv4Addr = mask.parse().ok()?;
    let prefix_length = u8::try_from(mask.to_bits().leading_ones()).ok()?;
    InterfaceAddress { line: 0, address: network.parse().ok()?, prefix_length }.subnet()
}

#[cfg(test)]
mod tests {
    use super::{Certainty, Edge};

    fn read(text: &str) -> Edge {
        Edge::read(text.lines().enumerate().map(|(place, line)| (place + 1, line))).unwrap()
    }

    #[test]
    fn targets_and_announcements_belong_to_their_vrf() {
        let edge = read(
            "vrf definition RED\n rd 1:1\n address-family ipv4\n  route-target export 1:1\n  route-target \
             import 1:2\n address-family ipv6\n  route-target import 1:6\nip vrf BLUE\n export map X\nrouter \
             bgp 65000\n address-family ipv4 vrf RED\n  redistribute connected\n  redistribute static \
             route-map F\n  network 10.7.0.0 mask 255.255.0.0",
        );
        let red = &edge.vrfs["RED"];
        assert_eq!(red.imports.iter().collect::<Vec<_>>(), ["1:2"]);
        assert_eq!(red.exports.iter().collect::<Vec<_>>(), ["1:1"]);
        assert_eq!(red.announced.connected, Some(Certainty::Certain));
        assert_eq!(red.announced.r#static, Some(Certainty::Policy));
        assert_eq!(red.announced.networks, ["10.7.0.0/16".parse().unwrap()]);
        assert!(!red.has_map && edge.vrfs["BLUE"].has_map);
    }

    #[test]
    fn only_active_neighbors_of_the_system_are_peers() {
        let edge = read(
            "router bgp 65000\n neighbor RR peer-group\n neighbor RR remote-as 65000\n neighbor 10.0.0.1 \
             peer-group RR\n neighbor 10.0.0.2 remote-as 65000\n neighbor 192.0.2.1 remote-as 65001\n \
             address-family vpnv4\n  neighbor RR activate\n  neighbor RR route-reflector-client\n  neighbor \
             10.0.0.1 route-map F in\n  neighbor 192.0.2.1 activate",
        );
        let peers: Vec<_> = edge.peers().collect();
        assert_eq!(peers.len(), 1, "10.0.0.2 has no routes of VPNs, 192.0.2.1 is outside");
        assert_eq!(peers[0].address.to_string(), "10.0.0.1");
        assert!(peers[0].is_client && peers[0].certainty == Certainty::Policy);
    }
}
