//! Encrypted tunnels for whose other end no keyring has a key.

use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// A keyring of `IKEv2`: its line, and the addresses of its peers. `None` if a peer has no address.
type Keyring = (usize, Option<Vec<Prefix>>);

/// Reports tunnels with encryption whose destination is not the address of a peer in any keyring of the
/// device (Cisco, "`FlexVPN` and Internet Key Exchange Version 2 Configuration Guide").
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let keyrings: Vec<Keyring> = nodes.iter().filter_map(keyring).collect();
        let peers: Option<Vec<&Vec<Prefix>>> = keyrings.iter().map(|(_, peers)| peers.as_ref()).collect();
        let (Some((line, _)), Some(peers)) = (keyrings.first(), peers) else { continue };
        // Certificates need no keys.
        if nodes.iter().flat_map(|node| &node.inner).any(|inner| inner.line.1.contains("rsa-sig")) {
            continue;
        }
        let member = &snapshot.devices[device];
        for port in &snapshot.router(device).ports {
            let Some(tunnel) = &port.forwarding.tunnel else { continue };
            if member.device.line_in_block(port.line, "tunnel protection").is_none() {
                continue;
            }
            let mapped = tunnel.maps.iter().filter(|map| map.line > 0).map(|map| map.outside);
            let ends = tunnel.destination.iter().map(|to| to.value).chain(mapped);
            let has_key =
                |to: &IpAddr| peers.iter().copied().flatten().any(|peer| peer.contains((*to).into()));
            for to in ends.filter(|to| to.is_ipv4() && !has_key(to)) {
                let message = format!(
                    "no keyring of {} has a key for {to}, the other end of {}",
                    member.name, port.name
                );
                let effect = "the tunnel does not come up".to_owned();
                found.push(snapshot.finding(device, &rules::NETWORK_KEY_DIFFERS, *line, (message, effect)));
            }
        }
    }
}

/// Reads a keyring.
fn keyring(node: &Node) -> Option<Keyring> {
    let ["crypto", "ikev2", "keyring", _] = *node.words().as_slice() else { return None };
    let peers = node.inner.iter().filter(|inner| inner.begins_with("peer "));
    Some((node.line.0, peers.map(address).collect()))
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
    use super::keyring;

    #[test]
    fn a_keyring_has_the_addresses_of_its_peers() {
        let text = "crypto ikev2 keyring K\n peer one\n  address 192.0.2.1\n  pre-shared-key a\n peer all\n  address 0.0.0.0 \
                    0.0.0.0\n";
        let nodes = read(text);
        let (line, peers) = keyring(&nodes[0]).unwrap();
        assert_eq!((line, peers.map(|peers| peers.len())), (1, Some(2)));
        let nodes = read("crypto ikev2 keyring K\n peer one\n  hostname hub\n");
        assert!(keyring(&nodes[0]).unwrap().1.is_none());
        assert!(keyring(&read("crypto isakmp policy 1\n")[0]).is_none());
    }
}
