//! What rules find in the policies of a scenario that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_lint::{Finding, Place, Severity, Subject, check, check_traffic};
use perhop_qos::action::Action;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::framing::HeaderStack;
use perhop_qos::packet::Protocol;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::{Dscp, Rate};

use super::diagnostic::{Diagnostic, MOST_SHOWN, more};
use super::document::Document;
use super::nodes::LinkConfig;
use super::path::ValuePath;
use super::scenario::Scenario;
use super::topology::host_addresses;
use super::traffic::SourceConfig;

/// Warnings and notes about `scenario`, which `document` holds and which is run as `resolved`.
pub(super) fn of_scenario(document: &Document, scenario: &Scenario, resolved: &Scenario) -> Vec<Diagnostic> {
    let mut found = of_policies(document, scenario);
    found.extend(of_traffic(document, scenario, resolved));
    shown(&found)
}

/// Warnings and notes about the policies of `scenario`: each at the first interface that uses it, or by
/// itself.
fn of_policies(document: &Document, scenario: &Scenario) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut used = BTreeMap::new();
    for link in &scenario.links {
        for (node, interface) in &link.interfaces {
            let rate = interface.rate.unwrap_or(link.rate);
            let headers = HeaderStack::EMPTY;
            let wire = WireConfig { rate, framing: link.framing(), headers, ring: interface.ring };
            if let Some(name) = &interface.output {
                used.entry(name.as_str()).or_insert((node, Some(wire)));
            }
            if let Some(name) = &interface.input {
                used.entry(name.as_str()).or_insert((node, None));
            }
        }
    }
    for (name, policy) in &scenario.policies {
        let path = ValuePath::from("policies").join(name);
        let (node, wire) = used.get(name.as_str()).map_or((None, None), |(node, wire)| (Some(*node), *wire));
        let interfaces = node.map_or_else(Vec::new, |node| neighbors(scenario, node));
        found.extend(of_policy(document, &path, policy, wire.as_ref(), &interfaces));
    }
    found
}

/// Notes on classes that no traffic comes to, at the first interface that uses the policy. Those of a
/// router's configuration stand at the configuration.
fn of_traffic(document: &Document, scenario: &Scenario, resolved: &Scenario) -> Vec<Diagnostic> {
    let Some(sent) = sent(resolved) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for link in &resolved.links {
        for (node, interface) in &link.interfaces {
            let Some(name) = interface.output.as_ref().filter(|name| seen.insert((*name).clone())) else {
                continue;
            };
            let Some(policy) = resolved.policies.get(name) else { continue };
            let interfaces = neighbors(resolved, node);
            for finding in check_traffic(policy, &interfaces, &sent) {
                let at = if scenario.policies.contains_key(name) {
                    place(&ValuePath::from("policies").join(name), &finding.place)
                } else {
                    ValuePath::from("routers").join(node).join("configuration")
                };
                let one = document.diagnostic(finding.rule.severity, &at, finding.message);
                found.push(one.by(finding.rule).help(finding.remedy));
            }
        }
    }
    found
}

/// The interfaces of a node, which are called by the neighbors at their other ends.
fn neighbors(scenario: &Scenario, node: &str) -> Vec<String> {
    let other = |[a, b]: &[String; 2]| match (a == node, b == node) {
        (true, _) => Some(b.clone()),
        (_, true) => Some(a.clone()),
        _ => None,
    };
    scenario.links.iter().filter_map(|link| other(&link.between)).collect()
}

/// What the packets of all flows are, as no router changes it; `None` where captures say it.
fn sent(scenario: &Scenario) -> Option<Vec<MatchConfig>> {
    let addresses: BTreeMap<&String, IpAddr> = scenario.hosts.keys().zip(host_addresses(scenario)).collect();
    let keeps_codepoints = !scenario.policies.values().any(marks);
    let limits =
        |link: &LinkConfig| link.mtu.is_some() || link.interfaces.values().any(|end| end.mtu.is_some());
    let has_mtu = scenario.links.iter().any(limits);
    let mut sent = Vec::new();
    for traffic in &scenario.traffic {
        if matches!(traffic.source, SourceConfig::Pcap(_)) {
            return None;
        }
        let ends = [&traffic.from, &traffic.to].map(|host| addresses.get(host));
        let [Some(from), Some(to)] = ends else { return None };
        let protocol = traffic.protocol();
        let port = PortRange::new(traffic.destination_port, traffic.destination_port).ok();
        let ports = (protocol == Protocol::TCP || protocol == Protocol::UDP).then_some(port).flatten();
        let of = |from: &IpAddr, to: &IpAddr, dscp: Dscp| MatchConfig {
            source: one(Prefix::new(*from, bits(*from)).ok()),
            destination: one(Prefix::new(*to, bits(*to)).ok()),
            protocol: one(Some(protocol)),
            dscp: one(Some(dscp).filter(|_| keeps_codepoints)),
            ..MatchConfig::default()
        };
        sent.push(MatchConfig { destination_port: one(ports), ..of(from, to, traffic.dscp) });
        if ports.is_some() && has_mtu {
            // All but the first fragment of a datagram have no ports.
            let none = PortRange::new(0, 0).ok();
            let ports = MatchConfig {
                source_port: one(none),
                destination_port: one(none),
                ..of(from, to, traffic.dscp)
            };
            sent.push(ports);
        }
        if protocol == Protocol::TCP || traffic.source.back().is_some() {
            let reply = traffic.reply_dscp.unwrap_or(traffic.dscp);
            sent.push(MatchConfig { source_port: one(ports), ..of(to, from, reply) });
        }
    }
    sent.dedup();
    Some(sent)
}

fn one<T>(value: Option<T>) -> Option<OneOrMany<T>> {
    value.map(|value| OneOrMany(vec![value]))
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Whether a policy may give packets another codepoint.
fn marks(policy: &PolicyConfig) -> bool {
    let is_mark = |action: &Action| {
        !matches!(
            action,
            Action::Transmit | Action::Drop | Action::Continue | Action::Label(_) | Action::Color(_)
        )
    };
    policy.conditioners.iter().any(|stage| {
        [&stage.actions, &stage.green, &stage.yellow, &stage.red].into_iter().flatten().any(is_mark)
    })
}

/// Warnings and notes about a policy that stands by itself.
pub(super) fn of_policy(
    document: &Document,
    path: &ValuePath,
    policy: &PolicyConfig,
    wire: Option<&WireConfig>,
    interfaces: &[String],
) -> Vec<Diagnostic> {
    let limits: BTreeMap<String, Rate> = BTreeMap::new();
    let rate = wire.map(|wire| wire.rate);
    let subject = Subject { policy, rate, wire, limits: &limits, interfaces };
    let to_diagnostic = |finding: Finding| {
        let at = place(path, &finding.place);
        let severity = finding.rule.severity;
        document.diagnostic(severity, &at, finding.message).by(finding.rule).help(finding.remedy)
    };
    check(&subject).into_iter().map(to_diagnostic).collect()
}

/// As many of each severity as are shown of a document.
pub(super) fn shown(found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut kept = Vec::new();
    for severity in [Severity::Warning, Severity::Note] {
        let of_severity: Vec<_> = found.iter().filter(|one| one.severity == severity).cloned().collect();
        let count = of_severity.len();
        kept.extend(of_severity.into_iter().take(MOST_SHOWN));
        kept.extend(more(severity, count));
    }
    kept
}

fn place(policy: &ValuePath, place: &Place) -> ValuePath {
    match place {
        Place::Policy => policy.clone(),
        Place::Conditioner(index) => policy.join("conditioners").join(*index),
        Place::Class(indices) => indices
            .iter()
            .fold(policy.clone(), |path, index| path.join("queueing").join("classes").join(*index)),
    }
}
