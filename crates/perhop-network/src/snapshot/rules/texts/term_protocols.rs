//! Terms of routing policies that name a protocol and networks of another protocol (Junos).

use std::collections::BTreeSet;

use perhop_qos::classifier::Prefix;

use super::super::bgp::prefix;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The protocols whose networks the configuration contains: the protocols of interfaces, static routes and
/// aggregates.
const DIRECT: &str = "direct";
const STATIC: &str = "static";
const AGGREGATE: &str = "aggregate";
/// The statement whose routes also have the protocol [`AGGREGATE`].
const GENERATE: &str = "generate";

/// The networks of a protocol.
struct Known {
    protocol: &'static str,
    /// The networks of the global table, which are not in a routing instance or a configuration group.
    global: BTreeSet<Prefix>,
    all: BTreeSet<Prefix>,
}

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
        let known = [DIRECT, STATIC, AGGREGATE].map(|protocol| Known::read(nodes, protocol));
        let wrong = inside(options, "policy-statement").into_iter().flat_map(|policy| {
            let terms = inside(policy, "term").into_iter().filter_map(|node| read(options, node));
            wrong_terms(terms.collect(), &known)
        });
        for (term, other) in wrong {
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

/// Returns the terms of a policy whose networks have another protocol, with this protocol. A term with the
/// other protocol and the same networks shows that the policy is written for several devices.
fn wrong_terms<'t>(terms: Vec<Term<'t>>, known: &[Known]) -> Vec<(Term<'t>, &'static str)> {
    let others: Vec<Option<&str>> = terms
        .iter()
        .map(|term| {
            let other = other_protocol(term, known)?;
            let covers = |own: &Term| own.protocol == other && !own.networks.is_disjoint(&term.networks);
            (!terms.iter().any(covers)).then_some(other)
        })
        .collect();
    terms.into_iter().zip(others).filter_map(|(term, other)| Some((term, other?))).collect()
}

/// Returns the protocol of the networks of a term, if none of them has the protocol of the term.
fn other_protocol(term: &Term, known: &[Known]) -> Option<&'static str> {
    let has = |networks: &BTreeSet<Prefix>| !networks.is_disjoint(&term.networks);
    let own = known.iter().find(|own| own.protocol == term.protocol)?;
    let other = known.iter().find(|other| has(&other.global))?;
    (!has(&own.all)).then_some(other.protocol)
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

impl Known {
    fn read(nodes: &[Node], protocol: &'static str) -> Known {
        let mut found = Known { protocol, global: BTreeSet::new(), all: BTreeSet::new() };
        if protocol == DIRECT {
            found.add_subnets(nodes);
        } else {
            let other = if protocol == AGGREGATE { GENERATE } else { protocol };
            for node in nodes {
                let own = [inside(node, protocol), inside(node, other)].concat();
                let networks = routes(&own);
                if words(node) == ["routing-options"] {
                    found.global.extend(&networks);
                }
                found.all.extend(networks);
            }
        }
        found
    }

    /// Adds the subnets of the interfaces.
    fn add_subnets(&mut self, nodes: &[Node]) {
        let instances = nodes.iter().filter(|node| words(node) == ["routing-instances"]);
        let lines = instances.flat_map(|node| inside(node, "interface"));
        let of_instances: BTreeSet<&str> = lines.filter_map(|line| words(line).get(1).copied()).collect();
        let subnets = |node: &Node| -> Vec<Prefix> {
            let addresses = inside(node, "address");
            addresses.iter().filter_map(|line| subnet(words(line).get(1)?)).collect()
        };
        for node in nodes {
            match *words(node).as_slice() {
                ["interfaces"] => {}
                ["groups" | "logical-systems"] => {
                    self.all.extend(subnets(node));
                    continue;
                }
                _ => continue,
            }
            for port in &node.inner {
                let name = words(port).first().copied().unwrap_or_default();
                for unit in &port.inner {
                    let own = subnets(unit);
                    let number = words(unit).get(1).copied().unwrap_or_default();
                    if !of_instances.contains(format!("{name}.{number}").as_str()) {
                        self.global.extend(&own);
                    }
                    self.all.extend(own);
                }
            }
        }
    }
}

/// Returns the destinations of the routes in blocks.
fn routes(blocks: &[&Node]) -> Vec<Prefix> {
    let lines = blocks.iter().flat_map(|routes| &routes.inner).map(words);
    let routes = lines.filter(|words| words.first() == Some(&"route"));
    routes.filter_map(|words| prefix(words.get(1..)?)).collect()
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
    use super::{AGGREGATE, DIRECT, Known, STATIC, read, wrong_terms};

    const TEXT: &str = "interfaces {\n    irb {\n        unit 7 {\n            family inet {\n                address \
                        10.7.0.1/24;\n            }\n        }\n    }\n}\npolicy-options {\n    prefix-list OURS \
                        {\n        10.7.0.0/24;\n    }\n    policy-statement OUT {\n        term ours {\n            from \
                        {\n                protocol direct;\n                prefix-list OURS;\n            }\n            then \
                        accept;\n        }\n    }\n}\nrouting-options {\n    static {\n        route 10.8.0.0/24 discard;\n    \
                        }\n}\n";

    fn other(text: &str) -> Option<&'static str> {
        let nodes = nodes(text);
        let options = block(&nodes, &["policy-options"]).unwrap();
        let terms = inside(options, "term").into_iter().filter_map(|term| read(options, term)).collect();
        let known = [DIRECT, STATIC, AGGREGATE].map(|protocol| Known::read(&nodes, protocol));
        wrong_terms(terms, &known).first().map(|(_, other)| *other)
    }

    #[test]
    fn terms_name_the_protocol_of_their_networks() {
        assert_eq!(other(TEXT), None);
        assert_eq!(other(&TEXT.replace("protocol direct", "protocol static")), Some("direct"));
        assert_eq!(other(&TEXT.replace("10.7.0.0/24", "10.8.0.0/24")), Some("static"));
        assert_eq!(other(&TEXT.replace("protocol direct", "protocol bgp")), None);
        assert_eq!(other(&TEXT.replace("then accept", "then reject")), None);
    }

    #[test]
    fn generated_routes_are_aggregates() {
        let text =
            TEXT.replace("protocol direct", "protocol aggregate").replace("10.7.0.0/24", "10.8.0.0/24");
        assert_eq!(other(&text), Some("static"));
        assert_eq!(other(&text.replace("    static {", "    generate {")), None);
    }

    #[test]
    fn networks_of_instances_are_no_evidence() {
        let instance = "routing-instances {\n    RED {\n        interface irb.7;\n    }\n}\n";
        let text = TEXT.replace("protocol direct", "protocol static");
        assert_eq!(other(&format!("{text}{instance}")), None);
        assert_eq!(other(&format!("{text}{}", instance.replace("irb.7", "irb.8"))), Some("direct"));
    }

    #[test]
    fn a_policy_can_list_all_protocols() {
        let text = TEXT.replace("protocol direct", "protocol static");
        let second = "        term second {\n            from {\n                protocol \
                      direct;\n                prefix-list OURS;\n            }\n            then \
                      accept;\n        }\n";
        let both = text.replace("        term ours {", &format!("{second}        term ours {{"));
        assert_eq!(other(&both), None);
    }
}
