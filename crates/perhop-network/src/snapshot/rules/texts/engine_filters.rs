//! Filters in front of the routing engine that drop the BGP packets of a configured neighbor.

use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The words for the TCP port of BGP (RFC 4271 §4).
const PORT_OF_BGP: &[&str] = &["bgp", "179"];
/// Commands by which a term selects the source address of packets.
const OF_SENDER: &[&str] = &["source-address", "source-prefix-list", "prefix-list"];
/// Commands with other criteria that packets of BGP can meet.
const OF_BGP: &[&str] = &["destination-port", "port", "protocol", "source-port"];

/// The source addresses from which the terms for BGP accept packets.
struct Accepted {
    prefixes: Vec<Prefix>,
    /// The line of the first list of addresses, otherwise of the term.
    line: usize,
}

/// Reports BGP neighbors whose packets the input filter of the loopback does not accept, if the filter
/// accepts BGP only from listed addresses.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for name in filters_of_loopback(nodes) {
            let Some(accepted) = accepted(nodes, name) else { continue };
            for (address, line) in neighbors(nodes) {
                let is_known = |own: &Prefix| own.contains(address.into());
                if address.is_ipv6() || accepted.prefixes.iter().any(is_known) {
                    continue;
                }
                let message = format!(
                    "the filter {name} of {} accepts BGP only from addresses other than the neighbor {address} \
                     (line {line})",
                    snapshot.devices[device].name
                );
                let effect =
                    "the session does not come up: the routes of this neighbor are missing".to_owned();
                let rule = &rules::NETWORK_PROTOCOL_DENIED;
                found.push(snapshot.finding(device, rule, accepted.line, (message, effect)));
            }
        }
    }
}

/// Returns the input filters of the loopback.
fn filters_of_loopback<'t>(nodes: &[Node<'t>]) -> Vec<&'t str> {
    let Some(loopback) = block(nodes, &["interfaces", "lo0"]) else { return Vec::new() };
    let filters = inside(loopback, "filter");
    let inputs = filters.iter().flat_map(|filter| filter.inner.iter().map(words).chain([words(filter)]));
    inputs
        .filter_map(|own| match *own.as_slice() {
            ["input", name] | ["filter", "input", name] => Some(name),
            _ => None,
        })
        .collect()
}

/// Returns the source addresses from which a filter accepts BGP. `None` if a term accepts BGP from all
/// addresses, or if the addresses are not in the text.
fn accepted(nodes: &[Node], name: &str) -> Option<Accepted> {
    let firewall = block(nodes, &["firewall"])?;
    let filter = inside(firewall, "filter").into_iter().find(|filter| words(filter) == ["filter", name])?;
    let mut found = Accepted { prefixes: Vec::new(), line: 0 };
    for term in filter.inner.iter().filter(|inner| words(inner).first() == Some(&"term")) {
        let from = term.inner.iter().find(|inner| words(inner) == ["from"]);
        let accepts = term.inner.iter().any(|inner| {
            let own = words(inner);
            own.first() == Some(&"then")
                && (own.contains(&"accept") || inner.inner.iter().any(|inner| words(inner) == ["accept"]))
        });
        let Some(from) = from.filter(|_| accepts) else {
            // A term for all packets also accepts packets of BGP.
            if accepts {
                return None;
            }
            continue;
        };
        if !selects_bgp(from) {
            continue;
        }
        let own: Vec<&Node> = from
            .inner
            .iter()
            .filter(|inner| OF_SENDER.contains(words(inner).first().unwrap_or(&"")))
            .collect();
        if own.is_empty() {
            return None;
        }
        for sender in own {
            add(nodes, sender, &mut found)?;
        }
    }
    (!found.prefixes.is_empty()).then_some(found)
}

/// Whether the criteria of a term can match packets to or from the port of BGP.
fn selects_bgp(from: &Node) -> bool {
    let mut is_possible = true;
    for inner in &from.inner {
        let own = words(inner);
        match own.as_slice() {
            ["protocol", protocols @ ..] => is_possible &= protocols.contains(&"tcp"),
            [command, ports @ ..] if command.ends_with("port") => {
                is_possible &= ports.iter().any(|port| PORT_OF_BGP.contains(port));
            }
            [command, ..] => is_possible &= OF_BGP.contains(command) || OF_SENDER.contains(command),
            [] => {}
        }
    }
    is_possible
}

/// Adds the addresses of a criterion. Returns `None` if the addresses are not in the text.
fn add(nodes: &[Node], sender: &Node, found: &mut Accepted) -> Option<()> {
    let own = words(sender);
    let (command, rest) = own.split_first()?;
    let inner = sender.inner.iter().map(words).collect::<Vec<_>>();
    let values = rest.iter().chain(inner.iter().filter_map(|own| own.first()));
    for value in values {
        if *command == "source-address" {
            found.prefixes.push(value.parse().ok()?);
            found.line = if found.line == 0 { sender.line.0 } else { found.line };
            continue;
        }
        let list = block(nodes, &["policy-options"])?;
        let list = list.inner.iter().find(|inner| words(inner) == ["prefix-list", value])?;
        found.line = if found.line == 0 { list.line.0 } else { found.line };
        for entry in &list.inner {
            found.prefixes.push(words(entry).first()?.parse().ok()?);
        }
    }
    Some(())
}

/// Returns the addresses of all BGP neighbors, with their lines.
fn neighbors(nodes: &[Node]) -> Vec<(IpAddr, usize)> {
    let mut found = Vec::new();
    let blocks =
        nodes.iter().filter(|node| matches!(words(node).as_slice(), ["protocols" | "routing-instances"]));
    for bgp in blocks.flat_map(|node| inside(node, "bgp")) {
        for neighbor in inside(bgp, "neighbor") {
            let address = words(neighbor).get(1).and_then(|text| text.parse().ok());
            found.extend(address.map(|address| (address, neighbor.line.0)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{accepted, neighbors};

    const TEXT: &str = "policy-options {\n    prefix-list PEERS {\n        192.0.2.0/30;\n    }\n}\nfirewall \
        {\n    family inet {\n        filter RE {\n            term BGP {\n                from {\n                    \
        source-prefix-list {\n                        PEERS;\n                    }\n                    \
        protocol tcp;\n                    port bgp;\n                }\n                then accept;\n            \
        }\n            term PING {\n                from {\n                    protocol icmp;\n                \
        }\n                then accept;\n            }\n        }\n    }\n}\nprotocols {\n    bgp {\n        group \
        A {\n            neighbor 192.0.2.5;\n        }\n    }\n}";

    #[test]
    fn terms_for_bgp_name_addresses() {
        let nodes = read(TEXT);
        let found = accepted(&nodes, "RE").unwrap();
        assert_eq!((found.line, found.prefixes.len()), (2, 1));
        assert_eq!(neighbors(&nodes), [("192.0.2.5".parse().unwrap(), 31)]);
    }

    #[test]
    fn addresses_that_the_device_computes_are_unknown() {
        let text = TEXT.replace("192.0.2.0/30;", "apply-path \"protocols bgp group <*> neighbor <*>\";");
        assert!(accepted(&read(&text), "RE").is_none());
        let all = TEXT.replace("protocol icmp;", "protocol tcp;");
        assert!(accepted(&read(&all), "RE").is_none(), "the second term accepts all packets of TCP");
    }
}
