//! Encrypted tunnels whose keyring has no key for the other end.

use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// A keyring of `IKEv2`: its line, and the addresses of its peers. `None` if a peer has no address.
type Keyring = (usize, Option<Vec<Prefix>>);

/// Reports tunnels whose keyring has no key for the other end (Cisco, "`FlexVPN` and Internet Key Exchange
/// Version 2 Configuration Guide"). Tunnels with `IKEv1` or with certificates have no keyring.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let member = &snapshot.devices[device];
        for port in &snapshot.router(device).ports {
            let Some(tunnel) = &port.forwarding.tunnel else { continue };
            let Ok(place) = nodes.binary_search_by_key(&port.line, |node| node.line.0) else { continue };
            let Some((line, Some(peers))) = keyring_of(nodes, &nodes[place]) else { continue };
            let mapped = tunnel.maps.iter().filter(|map| map.line > 0).map(|map| map.outside);
            let ends = tunnel.destination.iter().map(|to| to.value).chain(mapped);
            let has_key = |to: &IpAddr| peers.iter().any(|peer| peer.contains((*to).into()));
            for to in ends.filter(|to| to.is_ipv4() && !has_key(to)) {
                let message = format!(
                    "no keyring of {} has a key for {to}, the other end of {}",
                    member.name, port.name
                );
                let effect = "the tunnel does not come up".to_owned();
                found.push(snapshot.finding(device, &rules::NETWORK_KEY_DIFFERS, line, (message, effect)));
            }
        }
    }
}

/// Returns the keyring of a tunnel, if both ends authenticate with keys of a keyring. The profile in the
/// protection of the tunnel names the keyring.
fn keyring_of(nodes: &[Node], port: &Node) -> Option<Keyring> {
    if port.is_shut() {
        return None;
    }
    let protection = port.inner.iter().find(|inner| inner.begins_with("tunnel protection ipsec profile "))?;
    let words = protection.words();
    let of_line = match words.as_slice() {
        [.., "ikev2-profile", name] | [.., "ikev2-profile", name, "shared"] => Some(*name),
        _ => None,
    };
    let profile = of_line.or_else(|| {
        let ipsec = defined(nodes, "crypto ipsec profile", words.get(4)?)?;
        value(ipsec, "set ikev2-profile")
    })?;
    let profile = defined(nodes, "crypto ikev2 profile", profile)?;
    let has_other = profile.inner.iter().any(|inner| match inner.words().as_slice() {
        ["authentication", _, method @ ..] | ["authentication", method @ ..] => method != ["pre-share"],
        ["keyring", place, ..] => *place != "local",
        _ => false,
    });
    let keyring = defined(nodes, "crypto ikev2 keyring", value(profile, "keyring local")?)?;
    let peers = keyring.inner.iter().filter(|inner| inner.begins_with("peer "));
    (!has_other).then(|| (keyring.line.0, peers.map(address).collect()))
}

/// Returns the block that a command with a name defines.
fn defined<'n, 't>(nodes: &'n [Node<'t>], command: &str, name: &str) -> Option<&'n Node<'t>> {
    nodes.iter().find(|node| {
        let rest = node.line.1.trim_end().strip_prefix(command);
        rest.is_some_and(|rest| rest.trim_start() == name && rest.starts_with(' '))
    })
}

/// Returns the name after a command in a block.
fn value<'t>(node: &Node<'t>, command: &str) -> Option<&'t str> {
    node.inner.iter().find_map(|inner| {
        let rest = inner.line.1.trim_start().strip_prefix(command)?.strip_prefix(' ')?;
        rest.split_whitespace().next()
    })
}

/// Returns the addresses of a peer.
fn address(peer: &Node) -> Option<Prefix> {
    peer.inner.iter().find_map(|inner| {
        let (address, length) = match *inner.words().as_slice() {
            ["address", address] => (address, 32),
            ["address", address, mask] => {
                (address, mask.parse::<std::net::Ipv4Addr>().ok()?.to_bits().count_ones())
            }
            _ => return None,
        };
        format!("{address}/{length}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::keyring_of;

    const TEXT: &str = "crypto ikev2 keyring K\n peer far\n  address 192.0.2.1\n  pre-shared-key a\n \
        peer all\n  address \
                        10.0.0.0 255.0.0.0\ncrypto ikev2 keyring OTHER\n\
                        crypto ikev2 profile IKE\n authentication remote \
                        pre-share\n authentication local pre-share\n keyring local K\n\
                        crypto ipsec profile VPN\n set \
                        ikev2-profile IKE\ninterface Tunnel1\n tunnel protection ipsec profile VPN\n";

    /// Returns the number of peers; `None` if a peer has no address, or the tunnel has no keyring.
    fn peers(text: &str) -> Option<usize> {
        let nodes = read(text);
        let (_, peers) = keyring_of(&nodes, nodes.last()?)?;
        peers.map(|peers| peers.len())
    }

    #[test]
    fn a_tunnel_has_the_keyring_of_its_profile() {
        assert_eq!(peers(TEXT), Some(2));
        let direct = TEXT
            .replace(" set ikev2-profile IKE\n", "")
            .replace("profile VPN\n", "profile VPN ikev2-profile IKE\n");
        assert_eq!(peers(&direct), Some(2));
        assert_eq!(peers(&TEXT.replace("  address 192.0.2.1\n", "  identity fqdn far\n")), None);
    }

    #[test]
    fn other_tunnels_have_no_keyring() {
        assert_eq!(peers(&TEXT.replace(" set ikev2-profile IKE\n", " set transform-set T\n")), None);
        for method in ["rsa-sig", "ecdsa-sig", "eap", "pre-share key secret"] {
            assert_eq!(
                peers(&TEXT.replace("remote pre-share", &format!("remote {method}"))),
                None,
                "{method}"
            );
        }
        assert_eq!(peers(&TEXT.replace("keyring local K", "keyring aaa LIST")), None);
    }
}
