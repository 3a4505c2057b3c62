//! Findings of the lint rules in the policies and traffic of a scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_lint::{
    Finding, Place, Rule, Severity, Subject, all_nqb, check, check_nqb, check_traffic, names_nqb,
    rewrites_nqb, rules,
};
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

/// Limit on the number of comparisons: policies times kinds of packets.
const MOST_COMPARED: usize = 1_000_000;

/// Returns the warnings and notes about `scenario`. `document` is the source of the scenario, and `resolved`
/// is the scenario that runs.
pub(super) fn check_scenario(
    document: &Document,
    scenario: &Scenario,
    resolved: &Scenario,
) -> Vec<Diagnostic> {
    let names = neighbors(resolved);
    let mut found = Shown::new(document);
    add_policy_findings(scenario, &names, &mut found);
    add_idle_classes(scenario, resolved, &names, &mut found);
    add_nqb_findings(scenario, resolved, &names, &mut found);
    found.close()
}

/// The warnings and notes to show, and the total numbers of warnings and notes.
pub(super) struct Shown<'a> {
    document: &'a Document,
    kept: [Vec<Diagnostic>; 2],
    counts: [usize; 2],
}

impl<'a> Shown<'a> {
    const SEVERITIES: [Severity; 2] = [Severity::Warning, Severity::Note];

    fn new(document: &'a Document) -> Shown<'a> {
        Shown { document, kept: Default::default(), counts: [0; 2] }
    }
    /// Adds a finding at `path`. The search for a position reads the whole file, so positions are searched
    /// only for findings that are shown.
    fn add(&mut self, path: &ValuePath, finding: Finding) {
        let severity = finding.rule.severity;
        let Some(place) = Shown::SEVERITIES.iter().position(|known| *known == severity) else { return };
        self.counts[place] += 1;
        if self.counts[place] <= MOST_SHOWN {
            let diagnostic = self.document.diagnostic(severity, path, finding.message);
            self.kept[place].push(diagnostic.by(finding.rule).help(finding.remedy));
        }
    }
    /// Returns all diagnostics, warnings first.
    fn close(self) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        for ((severity, kept), count) in Shown::SEVERITIES.into_iter().zip(self.kept).zip(self.counts) {
            all.extend(kept);
            all.extend(more(severity, count));
        }
        all
    }
}

/// The interfaces of each node. An interface has the name of the neighbor at its other end.
type Neighbors<'a> = BTreeMap<&'a str, Vec<String>>;

fn neighbors(scenario: &Scenario) -> Neighbors<'_> {
    let mut found: Neighbors = BTreeMap::new();
    for [a, b] in scenario.links.iter().map(|link| &link.between) {
        found.entry(a).or_default().push(b.clone());
        if a != b {
            found.entry(b).or_default().push(a.clone());
        }
    }
    found
}

/// Returns the interfaces of `node`.
fn interfaces<'a>(names: &'a Neighbors, node: &str) -> &'a [String] {
    names.get(node).map_or(&[], Vec::as_slice)
}

/// Adds the findings about the policies of `scenario`. Each finding names the first interface that uses the
/// policy, if any.
fn add_policy_findings(scenario: &Scenario, names: &Neighbors, found: &mut Shown) {
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
        let interfaces = node.map_or(&[][..], |node| interfaces(names, node));
        check_policy(&path, policy, wire.as_ref(), interfaces, found);
    }
}

/// Adds notes on classes that no traffic reaches, at the first interface that uses the policy. For a policy
/// from a router configuration, the position of the note is in the configuration.
fn add_idle_classes(scenario: &Scenario, resolved: &Scenario, names: &Neighbors, found: &mut Shown) {
    let Some(sent) = sent(resolved) else { return };
    if exceeds_comparisons(&sent, resolved) {
        let rule = &rules::CLASS_WITHOUT_TRAFFIC;
        return found.add(&ValuePath::from("policies"), not_searched(rule, "classes without traffic"));
    }
    let mut seen = BTreeSet::new();
    for link in &resolved.links {
        for (node, interface) in &link.interfaces {
            let Some(name) = interface.output.as_ref().filter(|name| seen.insert((*name).clone())) else {
                continue;
            };
            let Some(policy) = resolved.policies.get(name) else { continue };
            for finding in check_traffic(policy, interfaces(names, node), &sent) {
                let at = if scenario.policies.contains_key(name) {
                    place(&ValuePath::from("policies").join(name), &finding.place)
                } else {
                    ValuePath::from("routers").join(node).join("configuration")
                };
                found.add(&at, finding);
            }
        }
    }
}

/// Adds findings about packets marked NQB at the first interface that uses the policy. For a policy from a
/// router configuration, adds only warnings about traffic of the scenario.
fn add_nqb_findings(scenario: &Scenario, resolved: &Scenario, names: &Neighbors, found: &mut Shown) {
    let is_nqb = |flow: &MatchConfig| flow.dscp == all_nqb().dscp;
    let mut sent: Vec<_> = flows(resolved).unwrap_or_default().into_iter().filter(is_nqb).collect();
    sent.extend(scenario.policies.values().any(names_nqb).then(all_nqb));
    if exceeds_comparisons(&sent, resolved) {
        let rule = &rules::NQB_MAY_GET_PRIORITY;
        return found.add(&ValuePath::from("policies"), not_searched(rule, "queues and marks of nqb"));
    }
    let directions = |link: &'_ LinkConfig| -> Vec<(String, String)> {
        let ends = link.interfaces.iter();
        ends.flat_map(|(node, end)| [(node, &end.input), (node, &end.output)])
            .filter_map(|(node, name)| Some((node.clone(), name.clone()?)))
            .collect()
    };
    let mut seen = BTreeSet::new();
    let uses: Vec<_> =
        resolved.links.iter().flat_map(directions).filter(|(_, name)| seen.insert(name.clone())).collect();
    let policies = || {
        let known = |(node, name): &(String, String)| {
            Some((node.clone(), name.clone(), resolved.policies.get(name)?, interfaces(names, node)))
        };
        uses.iter().filter_map(known)
    };
    // If a policy on the path may change the codepoint of NQB packets, the queue of these packets at later
    // ports is unknown.
    let is_rewritten = policies().any(|(_, _, policy, names)| rewrites_nqb(policy, names, &sent));
    for (node, name, policy, names) in policies() {
        let is_own = scenario.policies.contains_key(&name);
        for finding in check_nqb(policy, names, &sent) {
            let is_sure = !is_rewritten || matches!(finding.place, Place::Conditioner(_));
            let is_certain = is_sure && finding.rule.severity == Severity::Warning;
            if is_certain || (is_own && finding.rule.severity == Severity::Note) {
                let at = if is_own {
                    place(&ValuePath::from("policies").join(&name), &finding.place)
                } else {
                    ValuePath::from("routers").join(&node).join("configuration")
                };
                found.add(&at, finding);
            }
        }
    }
}

fn exceeds_comparisons(sent: &[MatchConfig], resolved: &Scenario) -> bool {
    sent.len().saturating_mul(resolved.policies.len()) > MOST_COMPARED
}

/// Returns the note that `rule` was not applied, because the scenario is too large.
fn not_searched(rule: &'static Rule, what: &str) -> Finding {
    Finding {
        rule,
        place: Place::Policy,
        message: format!(
            "perhop does not search for {what}: policies times kinds of packets exceed {MOST_COMPARED}"
        ),
        remedy: "check a part of the scenario, with fewer policies or less traffic".to_owned(),
    }
}

/// Returns match criteria for the packets of all flows. The criteria do not include the DSCP if a policy sets
/// it. `None` if captures are replayed.
fn sent(scenario: &Scenario) -> Option<Vec<MatchConfig>> {
    let mut flows = flows(scenario)?;
    if scenario.policies.values().any(marks) {
        for flow in &mut flows {
            flow.dscp = None;
        }
        flows.dedup();
    }
    Some(flows)
}

/// Returns match criteria for the packets of all flows as their hosts send them; `None` if captures are
/// replayed.
fn flows(scenario: &Scenario) -> Option<Vec<MatchConfig>> {
    let addresses: BTreeMap<&String, IpAddr> = scenario.hosts.keys().zip(host_addresses(scenario)).collect();
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
        let between = |from: &IpAddr, to: &IpAddr, dscp: Dscp| MatchConfig {
            source: single(Prefix::new(*from, bits(*from)).ok()),
            destination: single(Prefix::new(*to, bits(*to)).ok()),
            protocol: single(Some(protocol)),
            dscp: single(Some(dscp)),
            ..MatchConfig::default()
        };
        let first = MatchConfig { destination_port: single(ports), ..between(from, to, traffic.dscp) };
        // Each line of a trace file may have its own codepoint, so the codepoint of the traffic entry is
        // ignored.
        let is_trace = matches!(traffic.source, SourceConfig::Trace(_));
        sent.push(MatchConfig { dscp: first.dscp.clone().filter(|_| !is_trace), ..first });
        if ports.is_some() && has_mtu {
            // Only the first fragment of a datagram contains ports, so routers also receive packets without
            // ports.
            let none = PortRange::new(0, 0).ok();
            let ports = MatchConfig {
                source_port: single(none),
                destination_port: single(none),
                ..between(from, to, traffic.dscp)
            };
            sent.push(ports);
        }
        if protocol == Protocol::TCP || traffic.source.back().is_some() {
            let reply = traffic.reply_dscp.unwrap_or(traffic.dscp);
            sent.push(MatchConfig { source_port: single(ports), ..between(to, from, reply) });
        }
    }
    sent.dedup();
    Some(sent)
}

fn single<T>(value: Option<T>) -> Option<OneOrMany<T>> {
    value.map(|value| OneOrMany(vec![value]))
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns the warnings and notes about `policies` in a file without a scenario.
pub(super) fn check_policies<'a>(
    document: &Document,
    policies: impl Iterator<Item = (ValuePath, &'a PolicyConfig)> + Clone,
) -> Vec<Diagnostic> {
    let nqb: Vec<_> =
        policies.clone().any(|(_, policy)| names_nqb(policy)).then(all_nqb).into_iter().collect();
    let mut found = Shown::new(document);
    for (path, policy) in policies {
        check_policy(&path, policy, None, &[], &mut found);
        for finding in check_nqb(policy, &[], &nqb) {
            found.add(&place(&path, &finding.place), finding);
        }
    }
    found.close()
}

/// Whether a policy may change the codepoint of packets.
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

/// Adds the findings of the rules that need only a policy.
fn check_policy(
    path: &ValuePath,
    policy: &PolicyConfig,
    wire: Option<&WireConfig>,
    interfaces: &[String],
    found: &mut Shown,
) {
    let limits: BTreeMap<String, Rate> = BTreeMap::new();
    let rate = wire.map(|wire| wire.rate);
    let subject = Subject { policy, rate, wire, limits: &limits, interfaces };
    for finding in check(&subject) {
        found.add(&place(path, &finding.place), finding);
    }
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
