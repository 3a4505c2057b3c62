//! Ports without an address, if the port at the other end of the cable has an address.

use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum prefix length of a subnet that connects two devices.
const OF_LINKS: u8 = 29;
/// The first words of lines that let a port work without an address.
const WITHOUT_ADDRESS: &[&str] = &[
    "bridge-domain",
    "bridge-group",
    "channel-group",
    "dialer",
    "dhcp",
    "negotiated",
    "ppp",
    "pppoe",
    "pppoe-client",
    "service",
    "switchport",
    "unnumbered",
    "xconnect",
];

/// Reports ports without an address, if the description of the port and the description of another port show
/// that a cable connects them, and the other port has an address.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for ends in snapshot.described_pairs() {
        for [own, other] in [ends, [ends[1], ends[0]]] {
            let far = addresses(snapshot.port(other)).find(|far| far.address.is_ipv4());
            let Some(far) = far.filter(|far| (OF_LINKS..32).contains(&far.prefix_length)) else { continue };
            if !needs_address(snapshot, &trees[own.device], own) || snapshot.link_of(other).is_some() {
                continue;
            }
            let message = format!(
                "{} has no address, but {} at the other end of its cable has {}/{}",
                snapshot.port_name(own),
                snapshot.port_name(other),
                far.address,
                far.prefix_length
            );
            let effect = "the ends do not reach each other".to_owned();
            let line = snapshot.port(own).line;
            found.push(snapshot.finding(own.device, &rules::NETWORK_SUBNET_DIFFERS, line, (message, effect)));
        }
    }
}

/// Whether a port routes packets although neither the port nor one of its sub-interfaces has an address.
fn needs_address(snapshot: &Snapshot, nodes: &[Node], id: PortId) -> bool {
    let port = snapshot.port(id);
    let parts = snapshot.router(id.device).ports.iter();
    let mut parts = parts.filter(|part| part.forwarding.parent.as_ref() == Some(&port.interface));
    let is_free = |address: IpAddr| address.is_unspecified();
    if addresses(port).any(|own| !is_free(own.address)) || parts.next().is_some() {
        return false;
    }
    let block = nodes.iter().find(|node| node.line.0 == port.line);
    block.filter(|node| node.line.1.starts_with("interface ")).is_some_and(|node| {
        let words = |inner: &Node| inner.words().iter().any(|word| WITHOUT_ADDRESS.contains(word));
        !node.inner.iter().any(words) || node.inner.iter().any(|inner| inner.words() == ["no", "switchport"])
    })
}
