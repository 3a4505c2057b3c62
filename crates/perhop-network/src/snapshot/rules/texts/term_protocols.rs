//! Terms of routing policies that name a protocol and networks of another protocol (Junos).

use std::collections::BTreeSet;

use perhop_qos::classifier::Prefix;

use super::super::bgp::prefix;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The protocols whose networks the configuration contains: those of interfaces, static routes, aggregates.
const DIRECT: &str = "direct";
const STATIC: &str = "static";
const AGGREGATE: &str = "aggregate";

/// A term that accepts the networks of lists from one protocol.
struct Term<'t> {
    line: usize,
    name: &'t str,
    protocol: &'t str,
    networks: BTreeSet<Prefix>,
}

/// Reports terms whose prefix lists contain no network of their protocol, but networks of another protocol of
/// the device.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let Some(options) = block(nodes, &["policy-options"]) else { continue };
        let known = [DIRECT, STATIC, AGGREGATE].map(|protocol| (protocol, networks(nodes, protocol)));
        for term in inside(options, "term").into_iter().filter_map(|node| read(options, node)) {
            let Some(other) = other_protocol(&term, &known) else { continue };
            let message = format!(
                "term {} of {} accepts routes of the protocol {}, but its networks have the protocol {other}",
                term.name, snapshot.devices[device].name, term.protocol
            );
            let effect = "the term matches no route: the neighbors do not learn the networks".to_owned();
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(device, rule, term.line, (message, effect)));
        }
    }
}

/// Returns the protocol of the networks of a term, if none of them has the protocol of the term.
fn other_protocol<'k>(term: &Term, known: &[(&'k str, BTreeSet<Prefix>)]) -> Option<&'k str> {
    let has = |networks: &BTreeSet<Prefix>| !networks.is_disjoint(&term.networks);
    let own = known.iter().find(|(protocol, _)| *protocol == term.protocol)?;
    let others = known.iter().find(|(_, networks)| has(networks))?;
    (!has(&own.1)).then_some(others.0)
}

/// Reads a term with one protocol and prefix lists as its only conditions.
fn read<'t>(options: &Node<'t>, term: &Node<'t>) -> Option<Term<'t>> {
    let name = *words(term).get(1)?;
    let from = term.inner.iter().find(|inner| words(inner) == ["from"])?;
    let is_accepted = term.inner.iter().any(|inner| {
        words(inner) == ["then", "accept"]
            || words(inner) == ["then"] && inner.inner.iter().any(|action| words(action) == ["accept"])
    });
    let mut protocol = None;
    let mut found = BTreeSet::new();
    for condition in &from.inner {
        match *words(condition).as_slice() {
            ["protocol", own] if protocol.is_none() => protocol = Some((condition.line.0, own)),
            ["prefix-list", list] => {
                let own = options.inner.iter().find(|node| words(node) == ["prefix-list", list])?;
                found.extend(own.inner.iter().filter_map(|entry| prefix(&words(entry))));
            }
            ["route-filter", network, "exact", ..] => found.extend(prefix(&[network])),
            _ => return None,
        }
    }
    let (line, protocol) = protocol?;
    is_accepted.then_some(Term { line, name, protocol, networks: found })
}

/// Returns the IPv4 networks of a protocol.
fn networks(nodes: &[Node], protocol: &str) -> BTreeSet<Prefix> {
    let mut found = BTreeSet::new();
    // Networks of routing instances count too.
    for node in nodes {
        if protocol == DIRECT {
            let is_interfaces = words(node) == ["interfaces"];
            for address in inside(node, "address").into_iter().filter(|_| is_interfaces) {
                found.extend(words(address).get(1).and_then(|own| subnet(own)));
            }
        } else {
            for routes in inside(node, protocol) {
                let lines = routes.inner.iter().map(words);
                let routes = lines.filter(|words| words.first() == Some(&"route"));
                found.extend(routes.filter_map(|words| prefix(words.get(1..)?)));
            }
        }
    }
    found
}

/// Returns the subnet of an address with a prefix length.
fn subnet(address: &str) -> Option<Prefix> {
    let (address, length) = address.split_once('/')?;
    let bits = address.parse::<std::net::Ipv4Addr>().ok()?.to_bits();
    let length: u32 = length.parse().ok()?;
    let mask = u32::MAX.checked_shl(32_u32.checked_sub(length)?).unwrap_or(0);
    Prefix::new(std::net::Ipv4Addr::from_bits(bits & mask).into(), u8::try_from(length).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::braces::{block, inside, read as nodes};
    use super::{AGGREGATE, DIRECT, STATIC, networks, other_protocol, read};

    const TEXT: &str = "interfaces {\n    irb {\n        unit 7 {\n            family inet {\n                address \
                        10.7.0.1/24;\n            }\n        }\n    }\n}\npolicy-options {\n    prefix-list OURS \
                        {\n        10.7.0.0/24;\n    }\n    policy-statement OUT {\n        term ours {\n            from \
                        {\n                protocol direct;\n                prefix-list OURS;\n            }\n            then \
                        accept;\n        }\n    }\n}\nrouting-options {\n    static {\n        route 10.8.0.0/24 discard;\n    \
                        }\n}\n";

    fn other(text: &str) -> Option<&'static str> {
        let nodes = nodes(text);
        let options = block(&nodes, &["policy-options"]).unwrap();
        let term = read(options, inside(options, "term")[0])?;
        let known = [DIRECT, STATIC, AGGREGATE].map(|protocol| (protocol, networks(&nodes, protocol)));
        other_protocol(&term, &known)
    }

    #[test]
    fn terms_name_the_protocol_of_their_networks() {
        assert_eq!(other(TEXT), None);
        assert_eq!(other(&TEXT.replace("protocol direct", "protocol static")), Some("direct"));
        assert_eq!(other(&TEXT.replace("10.7.0.0/24", "10.8.0.0/24")), Some("static"));
        assert_eq!(other(&TEXT.replace("protocol direct", "protocol bgp")), None);
        assert_eq!(other(&TEXT.replace("then accept", "then reject")), None);
    }
}
