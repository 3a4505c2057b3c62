//! Pre-shared keys (IKE). Two devices must have the same key for each other.

use std::net::IpAddr;

use super::super::super::secrets::Secret;
use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::text::Text;
use crate::rules;

/// The keys of a device for a peer.
#[derive(Default)]
struct Peer<'t> {
    name: Option<&'t str>,
    /// The address of the peer; `None` if the keys are for all addresses.
    address: Option<IpAddr>,
    /// The key with which the device authenticates itself, with its line.
    local: Option<(Secret, usize)>,
    /// The key that the device requires from the peer, with its line.
    remote: Option<(Secret, usize)>,
}

/// Reports pairs of devices whose keys for each other differ.
pub(super) fn check(snapshot: &Snapshot, texts: &[Text], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Vec<Peer>> = texts.iter().map(|text| peers(text.nodes)).collect();
    for (device, own) in devices.iter().enumerate() {
        for peer in own {
            let Some(far) = owner(snapshot, peer).filter(|far| *far > device) else { continue };
            let mut back = devices[far].iter().filter(|other| owner(snapshot, other) == Some(device));
            // If one device has several keys for the other, the addresses of the tunnels determine the key,
            // so the keys are not compared.
            if let (Some(other), None) = (back.next(), back.next()) {
                let twice = own.iter().filter(|other| owner(snapshot, other) == Some(far)).count() > 1;
                if !twice {
                    compare(snapshot, [(device, peer), (far, other)], found);
                }
            }
        }
    }
}

/// Returns the device to which a peer refers: the device that has its address, otherwise the device with its
/// name.
fn owner(snapshot: &Snapshot, peer: &Peer) -> Option<usize> {
    let by_address = peer.address.and_then(|address| snapshot.owner(address)).map(|id| id.device);
    by_address.or_else(|| snapshot.place_of(peer.name?))
}

fn compare(
    snapshot: &Snapshot,
    [(device, own), (far, other)]: [(usize, &Peer); 2],
    found: &mut Vec<NetworkFinding>,
) {
    let pairs = [(&own.local, &other.remote), (&own.remote, &other.local)];
    let differing = pairs.into_iter().find_map(|pair| match pair {
        (Some((one, line)), Some((two, far_line))) if one.differs(two) => Some((*line, *far_line)),
        _ => None,
    });
    let Some((line, far_line)) = differing else { return };
    for (here, line, there, far_line) in [(device, line, far, far_line), (far, far_line, device, line)] {
        let message = format!(
            "the key for {0} differs from the key of {0} for this device ({1})",
            snapshot.devices[there].name,
            snapshot.place(there, far_line)
        );
        let effect = "the two devices cannot set up encryption, so no packet passes their tunnel".to_owned();
        found.push(snapshot.finding(here, &rules::NETWORK_KEY_DIFFERS, line, (message, effect)));
    }
}

/// Returns the keys of a device by peer.
fn peers<'t>(nodes: &[Node<'t>]) -> Vec<Peer<'t>> {
    let mut found = Vec::new();
    for node in nodes {
        let line = node.line.0;
        match *node.words().as_slice() {
            ["crypto", "ikev2", "keyring", ..] => found.extend(node.inner.iter().filter_map(named_peer)),
            ["crypto", "keyring", ..] => {
                for inner in &node.inner {
                    if let ["pre-shared-key", "address", ref rest @ ..] = *inner.words().as_slice() {
                        found.extend(peer_of_address(inner.line.0, rest, "key"));
                    }
                }
            }
            ["crypto", "isakmp", "key", ref rest @ ..] => {
                let Some(place) = rest.iter().position(|word| *word == "address") else { continue };
                if let Some(secret) = Secret::read(&rest[..place]) {
                    found.extend(peer_with(line, rest.get(place + 1), secret));
                }
            }
            _ => {}
        }
    }
    found
}

fn peer_of_address<'t>(line: usize, words: &[&'t str], before_key: &str) -> Option<Peer<'t>> {
    let place = words.iter().position(|word| *word == before_key)?;
    peer_with(line, words.first(), Secret::read(&words[place + 1..])?)
}

fn peer_with<'t>(line: usize, address: Option<&&str>, secret: Secret) -> Option<Peer<'t>> {
    let address = address?.parse().ok()?;
    let key = Some((secret, line));
    Some(Peer { name: None, address: Some(address), local: key.clone(), remote: key })
}

/// Reads a `peer NAME` block of a keyring.
fn named_peer<'t>(node: &Node<'t>) -> Option<Peer<'t>> {
    let ["peer", name] = *node.words().as_slice() else { return None };
    let mut found = Peer { name: Some(name), ..Peer::default() };
    for inner in &node.inner {
        let line = inner.line.0;
        match inner.words().as_slice() {
            ["address", address, ..] => found.address = address.parse().ok(),
            ["pre-shared-key", "local", rest @ ..] => found.local = Some((Secret::read(rest)?, line)),
            ["pre-shared-key", "remote", rest @ ..] => found.remote = Some((Secret::read(rest)?, line)),
            ["pre-shared-key", rest @ ..] => {
                let key = Some((Secret::read(rest)?, line));
                found.local.clone_from(&key);
                found.remote = key;
            }
            _ => {}
        }
    }
    Some(found)
}
