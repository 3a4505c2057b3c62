//! Keepalives between the two switches of a vPC domain that do not reach the other switch (NX-OS).

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The keepalives of a switch.
struct Keepalive<'t> {
    device: usize,
    domain: &'t str,
    line: usize,
    destination: IpAddr,
    source: Option<IpAddr>,
    /// The addresses of the switch's interfaces; `None` if the switch also has addresses that are not in the
    /// text.
    addresses: Option<BTreeSet<IpAddr>>,
}

impl Keepalive<'_> {
    /// Whether the switch does not have an address. A switch without any address of the family is probably
    /// incomplete.
    fn lacks(&self, address: IpAddr) -> bool {
        let is_local = matches!(address, IpAddr::V6(own) if own.is_unicast_link_local());
        self.addresses.as_ref().is_some_and(|own| {
            !is_local && !own.contains(&address) && own.iter().any(|own| own.is_ipv4() == address.is_ipv4())
        })
    }
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

/// Returns the fault in the addresses of keepalives to another switch.
fn fault(own: &Keepalive, other: &Keepalive) -> Option<String> {
    if let Some(source) = own.source.filter(|source| own.lacks(*source)) {
        return Some(format!("have the source {source}, which is no address of the switch"));
    }
    // If the peer has this destination as a wrong source, the finding is at the peer.
    let is_peer = other.source == Some(own.destination) || !other.lacks(own.destination);
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
        words.get(place + 1)?.parse().ok()
    };
    Some(Keepalive {
        device,
        domain,
        line,
        destination: after("destination")?,
        source: after("source"),
        addresses: addresses(nodes),
    })
}

/// Returns the addresses of interfaces; `None` if a server or the interface itself chooses one of them.
fn addresses(nodes: &[Node]) -> Option<BTreeSet<IpAddr>> {
    let ports = nodes.iter().filter(|node| node.begins_with("interface "));
    let mut found = BTreeSet::new();
    for line in ports.flat_map(|port| &port.inner) {
        if let ["ip" | "ipv6", "address", address, ref rest @ ..] = *line.words().as_slice() {
            let address = address.split('/').next().filter(|_| !rest.contains(&"eui64"));
            found.insert(address?.parse().ok()?);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read as nodes;
    use super::{addresses, fault, read};

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

    #[test]
    fn addresses_can_be_unknown() {
        let known =
            |lines: &str| addresses(&nodes(&format!("interface mgmt0\n{lines}"))).map(|own| own.len());
        assert_eq!(known("  ip address 192.0.2.1/24\n  ipv6 address 2001:DB8::1/64\n"), Some(2));
        assert_eq!(known("  ip address dhcp\n"), None);
        assert_eq!(known("  ipv6 address 2001:db8::/64 eui64\n"), None);
        let text = "vpc domain 3\n  peer-keepalive destination 2001:db8::2\ninterface mgmt0\n  ip address \
                    192.0.2.1/24\n";
        let nodes = nodes(text);
        let [own, other] = [0, 1].map(|device| read(device, &nodes).unwrap());
        assert_eq!(fault(&own, &other), None, "the switch has no address of IPv6 in the text");
    }
}
