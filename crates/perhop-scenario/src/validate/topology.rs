//! Nodes, links and what each node can reach.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::Findings;
use crate::nearest::{listed, suggest};
use crate::path::ValuePath;
use crate::{LinkConfig, Scenario};

/// Who is whose neighbor.
pub(super) struct Network<'a> {
    scenario: &'a Scenario,
    neighbors: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Network<'a> {
    fn new(scenario: &'a Scenario) -> Network<'a> {
        let mut neighbors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for LinkConfig { between: [a, b], .. } in &scenario.links {
            neighbors.entry(a).or_default().insert(b);
            neighbors.entry(b).or_default().insert(a);
        }
        Network { scenario, neighbors }
    }
    /// All nodes, hosts first; what is both by mistake is a host.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &'a str> {
        let hosts = &self.scenario.hosts;
        let routers = self.scenario.routers.keys().filter(|name| !hosts.contains_key(*name));
        hosts.keys().chain(routers).map(String::as_str)
    }
    pub(super) fn is_host(&self, node: &str) -> bool {
        self.scenario.hosts.contains_key(node)
    }
    pub(super) fn is_router(&self, node: &str) -> bool {
        self.scenario.routers.contains_key(node)
    }
    /// The nodes that a link joins to `node`.
    pub(super) fn neighbors(&self, node: &str) -> impl Iterator<Item = &'a str> {
        self.neighbors.get(node).into_iter().flatten().copied()
    }
    /// Whether every link leads to nodes that there are: else a missing route is no mistake of its own.
    pub(super) fn is_whole(&self) -> bool {
        self.neighbors.keys().all(|node| self.is_host(node) || self.is_router(node))
    }
    /// Whether packets from `from` can come to `to`: over routers, for hosts forward nothing.
    pub(super) fn is_reachable(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = self.neighbors(from).collect();
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if self.is_router(node) && seen.insert(node) {
                open.extend(self.neighbors(node));
            }
        }
        false
    }
    /// Reports `name` at `path` unless a node is called so.
    pub(super) fn require(&self, path: &ValuePath, name: &str, findings: &mut Findings) -> bool {
        let known = self.is_host(name) || self.is_router(name);
        if !known {
            findings.error(path, format!("there is no node `{name}`")).help =
                Some(suggest("nodes", name, self.nodes()));
        }
        known
    }
}

/// Checks nodes and links.
pub(super) fn check<'a>(scenario: &'a Scenario, findings: &mut Findings) -> Network<'a> {
    let network = Network::new(scenario);
    nodes(&network, findings);
    addresses(scenario, findings);
    for (index, link) in scenario.links.iter().enumerate() {
        check_link(&network, &ValuePath::from("links").join(index), link, findings);
    }
    duplicates(scenario, findings);
    network
}

fn nodes(network: &Network, findings: &mut Findings) {
    let scenario = network.scenario;
    for name in scenario.routers.keys().filter(|name| network.is_host(name)) {
        let (host, router) = (ValuePath::from("hosts").join(name), ValuePath::from("routers").join(name));
        findings.clash(&router, format!("`{name}` is a host and a router"), &host).help =
            Some("a node is one of the two: hosts forward nothing".into());
    }
    let mut ends = scenario.links.iter().flat_map(|link| &link.between);
    if !ends.all(|end| network.is_host(end) || network.is_router(end)) {
        // A misspelled end would leave its node without a link: one mistake, one error.
        return;
    }
    for name in scenario.hosts.keys().filter(|name| network.neighbors(name).next().is_none()) {
        findings.error(&ValuePath::from("hosts").join(name), format!("host `{name}` has no link")).help =
            Some(format!("add a link between `{name}` and a router"));
    }
    for name in scenario.routers.keys().filter(|name| network.neighbors(name).next().is_none()) {
        findings.warning(&ValuePath::from("routers").join(name), format!("router `{name}` has no link"));
    }
}

fn addresses(scenario: &Scenario, findings: &mut Findings) {
    let mut owners: BTreeMap<IpAddr, &str> = BTreeMap::new();
    for (name, host) in &scenario.hosts {
        let Some(address) = host.address else { continue };
        let path = |name: &str| ValuePath::from("hosts").join(name).join("address");
        if address.is_unspecified() || address.is_multicast() {
            findings.error(&path(name), format!("{address} cannot be a host's address")).help =
                Some("use a unicast address, for example 10.0.0.1".into());
        }
        if let Some(owner) = owners.get(&address) {
            findings
                .clash(&path(name), format!("`{name}` has the address of `{owner}`"), &path(owner))
                .help = Some("every host has an address of its own".into());
        } else {
            owners.insert(address, name);
        }
    }
}

fn check_link(network: &Network, path: &ValuePath, link: &LinkConfig, findings: &mut Findings) {
    let [a, b] = &link.between;
    let mut known = true;
    for (index, end) in link.between.iter().enumerate() {
        known &= network.require(&path.join("between").join(index), end, findings);
    }
    if a == b {
        findings.error(&path.join("between"), format!("a link from `{a}` to itself")).help =
            Some("a link connects two nodes".into());
    }
    if link.rate.as_bits_per_second() == 0 {
        findings.error(&path.join("rate"), "a link of rate 0 carries nothing").help =
            Some("for example 10Mb/s".into());
    }
    if !(0.0..1.0).contains(&link.loss) {
        findings
            .error(&path.join("loss"), format!("a wire cannot lose a packet with probability {}", link.loss))
            .help = Some("at least 0 and less than 1; 0.01 is one packet in a hundred".into());
    }
    if link.cost == 0 {
        findings.error(&path.join("cost"), "a link of cost 0 leaves shortest paths undecided").help =
            Some("at least 1".into());
    }
    for (node, interface) in &link.interfaces {
        let path = path.join("interfaces").join(node);
        // A misspelled end is one mistake: its interface says what was meant.
        if known && !link.between.contains(node) {
            findings.error(&path, format!("`{node}` is not an end of this link")).help =
                Some(suggest("ends", node, [a.as_str(), b.as_str()]));
        }
        if interface.rate.is_some_and(|rate| rate.as_bits_per_second() == 0) {
            findings.error(&path.join("rate"), "an interface of rate 0 sends nothing").help =
                Some("for example 10Mb/s".into());
        }
        policy_names(network.scenario, &path, interface, findings);
    }
}

fn policy_names(
    scenario: &Scenario,
    path: &ValuePath,
    interface: &crate::InterfaceConfig,
    findings: &mut Findings,
) {
    for (side, name) in [("input", &interface.input), ("output", &interface.output)] {
        let Some(name) = name else { continue };
        let path = path.join(side);
        match scenario.policies.get(name) {
            None => {
                let known = scenario.policies.keys().map(String::as_str);
                findings.error(&path, format!("there is no policy `{name}`")).help =
                    Some(suggest("policies", name, known));
            }
            Some(policy) if side == "input" && policy.queueing.is_some() => {
                findings
                    .error(&path, format!("policy `{name}` queues packets, and nothing is queued on input"))
                    .help =
                    Some("make it the `output` policy, or split its conditioners from its queueing".into());
            }
            Some(_) => {}
        }
    }
}

/// Two nodes have one link at most: their names are what tells interfaces and ports apart.
fn duplicates(scenario: &Scenario, findings: &mut Findings) {
    let mut seen: BTreeMap<[&String; 2], usize> = BTreeMap::new();
    for (index, LinkConfig { between: [a, b], .. }) in scenario.links.iter().enumerate() {
        let path = |index: usize| ValuePath::from("links").join(index).join("between");
        let ends = if a < b { [a, b] } else { [b, a] };
        match seen.get(&ends) {
            Some(first) => {
                let message = format!("a second link between `{a}` and `{b}`");
                findings.clash(&path(index), message, &path(*first)).help =
                    Some("two nodes have one link at most; put a router into the second one".into());
            }
            None => {
                seen.insert(ends, index);
            }
        }
    }
}

/// The neighbors of `node` in a sentence.
pub(super) fn links_of(network: &Network, node: &str) -> String {
    match listed(network.neighbors(node)) {
        none if none.is_empty() => format!("`{node}` has no links"),
        names => format!("`{node}` has links to {names}"),
    }
}
