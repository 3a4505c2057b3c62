//! Keepalives between the two switches of a vPC domain that do not reach the other switch (NX-OS).

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The keepalives of a switch.
struct Keepalive<'t> {
    device: usize,
    domain: &'t str,
    line: usize,
    destination: &'t str,
    source: Option<&'t str>,
    /// The addresses of the switch's interfaces.
    addresses: BTreeSet<&'t str>,
}

/// Reports keepalives to an address that the only other switch of the domain does not have, and keepalives
/// from an address that the switch itself does not have.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Keepalive> =
        trees.iter().enumerate().filter_map(|(device, nodes)| read(device, nodes)).collect();
    for own in &all {
        let mut others = all.iter().filter(|other| other.device != own.device && other.domain == own.domain);
        let (Some(other), None) = (others.next(), others.next()) else { continue };
        if let Some(what) = fault(own, other) {
            let message = format!("the keepalives of {} {what}", snapshot.devices[own.device].name);
            let effect = "the switches do not see each other if the peer link fails: both forward".to_owned();
            let rule = &rules::NETWORK_SETTING_DIFFERS;
            found.push(snapshot.finding(own.device, rule, own.line, (message, effect)));
        }
    }
}

/// Returns what is wrong with the addresses of keepalives to another switch.
fn fault(own: &Keepalive, other: &Keepalive) -> Option<String> {
    let lacks =
        |one: &Keepalive, address: &str| !one.addresses.is_empty() && !one.addresses.contains(address);
    if let Some(source) = own.source.filter(|source| lacks(own, source)) {
        return Some(format!("have the source {source}, which is no address of the switch"));
    }
    // A peer with a wrong source is reported itself.
    let is_peer = other.source == Some(own.destination) || !lacks(other, own.destination);
    (!is_peer).then(|| format!("go to {}, which is no address of the other switch", own.destination))
}

fn read<'t>(device: usize, nodes: &[Node<'t>]) -> Option<Keepalive<'t>> {
    let block = nodes.iter().find(|node| node.begins_with("vpc domain "))?;
    let domain = *block.words().get(2)?;
    let (line, words) = block.inner.iter().find_map(|inner| {
        let words = inner.words();
        words.starts_with(&["peer-keepalive", "destination"]).then_some((inner.line.0, words))
    })?;
    let after = |word: &str| {
        let place = words.iter().position(|one| *one == word)?;
        words.get(place + 1).copied()
    };
    let ports = nodes.iter().filter(|node| node.begins_with("interface "));
    let addresses = ports.flat_map(|port| &port.inner).filter_map(|inner| match *inner.words().as_slice() {
        ["ip", "address", address, ..] => address.split('/').next(),
        _ => None,
    });
    let addresses = addresses.collect();
    Some(Keepalive {
        device,
        domain,
        line,
        destination: after("destination")?,
        source: after("source"),
        addresses,
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read as nodes;
    use super::{fault, read};

    fn reported(own: [&str; 3], other: [&str; 3]) -> Option<String> {
        let text = |[address, to, from]: [&str; 3]| {
            format!(
                "vpc domain 3\n  peer-keepalive destination {to} source {from} vrf management\ninterface mgmt0\n  ip \
                 address {address}/24\n"
            )
        };
        let (own, other) = (text(own), text(other));
        fault(&read(0, &nodes(&own)).unwrap(), &read(1, &nodes(&other)).unwrap())
    }

    #[test]
    fn keepalives_reach_the_other_switch() {
        let (one, two) = (["192.0.2.1", "192.0.2.2", "192.0.2.1"], ["192.0.2.2", "192.0.2.1", "192.0.2.2"]);
        assert_eq!(reported(one, two), None);
        assert!(reported(["192.0.2.1", "192.0.2.3", "192.0.2.1"], two).unwrap().contains("192.0.2.3"));
        assert!(reported(["192.0.2.1", "192.0.2.2", "192.0.2.9"], two).unwrap().contains("192.0.2.9"));
        assert_eq!(reported(two, ["192.0.2.1", "192.0.2.3", "192.0.2.1"]), None);
    }
}
