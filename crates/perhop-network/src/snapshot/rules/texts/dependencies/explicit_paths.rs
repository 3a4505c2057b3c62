//! Explicit paths of MPLS tunnels with a strict hop that is not at a link of the previous device.

use std::net::IpAddr;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::super::braces::{block, words};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::Link;
use crate::snapshot::hops::Owner;

/// A hop of a path.
#[derive(Debug, PartialEq, Eq)]
struct Hop {
    line: usize,
    address: IpAddr,
    /// Whether other devices may be between this hop and the previous one.
    is_loose: bool,
    /// Whether the address may be any address of the next device. Otherwise, it must be the address at the
    /// link to that device.
    names_device: bool,
}

/// Reports the first hop of each path that cannot follow the previous one (RFC 3209 §4.3.3.1).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for (name, hops) in paths(nodes) {
            if let Some((hop, before)) = wrong_hop(snapshot, device, &hops) {
                let message = format!(
                    "the explicit path {name} of {} names {}, which is at no link of {}, the device before \
                     it",
                    snapshot.devices[device].name, hop.address, snapshot.devices[before].name
                );
                let effect =
                    "the tunnel is not established over this path: it is down, or takes another path"
                        .to_owned();
                let rule = &rules::NETWORK_NEXT_HOP_UNKNOWN;
                found.push(snapshot.finding(device, rule, hop.line, (message, effect)));
            }
        }
    }
}

/// Returns the first strict hop that is at no link of the device before it, and the device before it.
fn wrong_hop<'h>(snapshot: &Snapshot, device: usize, hops: &'h [Hop]) -> Option<(&'h Hop, usize)> {
    let mut current = device;
    for hop in hops {
        let owner = match snapshot.owner_in(None, hop.address) {
            Owner::Single(owner) => owner,
            Owner::Several => return None,
            Owner::None | Owner::OtherTable => {
                let is_wrong = !hop.is_loose && has_full_link_to(snapshot, current, hop.address);
                return is_wrong.then_some((hop, current));
            }
        };
        let is_at = |link: &Link, device: usize| link.ends.iter().any(|end| end.id.device == device);
        let is_adjacent =
            || snapshot.links.iter().any(|link| is_at(link, current) && is_at(link, owner.device));
        let is_far = !hop.is_loose
            && owner.device != current
            && snapshot.link_of(owner).is_some_and(|link| !is_at(link, current))
            && !(hop.names_device && is_adjacent());
        if is_far {
            return Some((hop, current));
        }
        // Without a link, the address can be that of a loopback interface, which all links reach.
        current = owner.device;
    }
    None
}

/// Whether an address is in the subnet of a link of a device that already has two ends.
fn has_full_link_to(snapshot: &Snapshot, device: usize, address: IpAddr) -> bool {
    let ports = 0..snapshot.router(device).ports.len();
    ports.map(|port| PortId { device, port }).any(|id| {
        let port = snapshot.port(id);
        port.forwarding.vrf.is_none()
            && addresses(port).any(|own| own.is_neighbor(address))
            && snapshot.link_of(id).is_some_and(|link| link.ends.len() == 2 && !link.is_tunnel)
    })
}

/// Returns the paths of a device: their names and hops.
fn paths<'t>(nodes: &[Node<'t>]) -> Vec<(&'t str, Vec<Hop>)> {
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| node.line.1.contains("explicit-path ")) {
        let words = node.words();
        let words = words.strip_prefix(&["ip"]).unwrap_or(&words);
        if let ["explicit-path", "name" | "identifier", name, rest @ ..] = words
            && !rest.contains(&"disable")
        {
            found.push((*name, node.inner.iter().filter_map(hop).collect()));
        }
    }
    let mpls = block(nodes, &["protocols", "mpls"]).map_or(&[][..], |node| &node.inner);
    for node in mpls {
        if let ["path", name] = *words(node).as_slice() {
            found.push((name, node.inner.iter().filter_map(hop_with_braces).collect()));
        }
    }
    found
}

/// Reads `[index N] next-address [loose | strict] [ipv4 unicast] ADDRESS`.
fn hop(node: &Node) -> Option<Hop> {
    let words = node.words();
    let words = if let ["index", _, rest @ ..] = words.as_slice() { rest } else { &words };
    let ["next-address", rest @ ..] = words else { return None };
    let address = rest.iter().find_map(|word| word.parse().ok())?;
    Some(Hop { line: node.line.0, address, is_loose: rest.contains(&"loose"), names_device: true })
}

fn hop_with_braces(node: &Node) -> Option<Hop> {
    let words = words(node);
    let address = words.first()?.parse().ok()?;
    Some(Hop { line: node.line.0, address, is_loose: words.contains(&"loose"), names_device: false })
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::paths;

    /// Returns the hops of the first path: their lines and whether they are loose.
    fn hops(text: &str) -> Vec<(usize, bool)> {
        let all = paths(&read(text));
        all[0].1.iter().map(|hop| (hop.line, hop.is_loose)).collect()
    }

    #[test]
    fn paths_have_hops_in_each_syntax() {
        let ios = "ip explicit-path name A enable\n next-address 192.0.2.1\n next-address loose 192.0.2.9";
        assert_eq!(hops(ios), [(2, false), (3, true)]);
        let xr = "explicit-path name A\n index 10 next-address strict ipv4 unicast 192.0.2.1\n index 20 \
                  exclude-address ipv4 unicast 192.0.2.5";
        assert_eq!(hops(xr), [(2, false)]);
        let junos = "protocols {\n    mpls {\n        path A {\n            192.0.2.1 strict;\n            192.0.2.9 \
                     loose;\n        }\n    }\n}";
        assert_eq!(hops(junos), [(4, false), (5, true)]);
        assert!(paths(&read("ip explicit-path name A disable\n next-address 192.0.2.1")).is_empty());
    }
}
