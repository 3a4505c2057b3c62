//! Checks of nodes and links, and reachability.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::port::RateChanges;
use perhop_qos::units::ByteSize;

use super::findings::Findings;
use crate::nearest::{listed, suggest};
use crate::path::ValuePath;
use crate::{LinkConfig, Scenario};

/// The neighbors of each node.
pub(super) struct Network<'a> {
    scenario: &'a Scenario,
    neighbors: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The number of the connected component of each router.
    islands: BTreeMap<&'a str, usize>,
    is_whole: bool,
    /// Number of link ends that searches have visited, a measure of their work.
    looks: Cell<u64>,
}

impl<'a> Network<'a> {
    fn new(scenario: &'a Scenario) -> Network<'a> {
        let mut neighbors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for LinkConfig { between: [a, b], .. } in &scenario.links {
            neighbors.entry(a).or_default().insert(b);
            neighbors.entry(b).or_default().insert(a);
        }
        let is_node =
            |node: &&str| scenario.hosts.contains_key(*node) || scenario.routers.contains_key(*node);
        let is_whole = neighbors.keys().all(is_node);
        let (islands, looks) = (BTreeMap::new(), Cell::new(0));
        let mut network = Network { scenario, neighbors, islands, is_whole, looks };
        network.number_islands();
        network
    }
    /// Assigns one number to all routers that can reach each other. Visits every link once.
    fn number_islands(&mut self) {
        for (number, router) in self.scenario.routers.keys().enumerate() {
            let mut open = vec![router.as_str()];
            while let Some(node) = open.pop() {
                if self.is_router(node) && !self.islands.contains_key(node) {
                    self.islands.insert(node, number);
                    open.extend(self.neighbors(node));
                }
            }
        }
    }
    /// Iterates over all nodes, hosts first. If a host and a router have the same name, the name is listed
    /// once, as a host.
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
    /// Iterates over the nodes with a link to `node`.
    pub(super) fn neighbors(&self, node: &str) -> impl Iterator<Item = &'a str> {
        let found = self.neighbors.get(node);
        self.looks.set(self.looks.get() + found.map_or(0, |found| found.len() as u64));
        found.into_iter().flatten().copied()
    }
    /// Whether a link connects `node` and `other`.
    pub(super) fn are_neighbors(&self, node: &str, other: &str) -> bool {
        self.neighbors.get(node).is_some_and(|neighbors| neighbors.contains(other))
    }
    /// Whether both ends of every link exist. If not, a missing route may be the consequence of a misspelled
    /// end.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
    /// Whether packets from `from` can reach `to` through routers. Hosts do not forward packets.
    pub(super) fn is_reachable(&self, from: &str, to: &str) -> bool {
        let islands = |node: &str| -> BTreeSet<usize> {
            self.neighbors(node).filter_map(|router| self.islands.get(router).copied()).collect()
        };
        self.are_neighbors(from, to) || !islands(from).is_disjoint(&islands(to))
    }
    /// Reports `name` at `path` if no node has this name. Returns whether the node exists.
    pub(super) fn require(&self, path: &ValuePath, name: &str, findings: &mut Findings) -> bool {
        let known = self.is_host(name) || self.is_router(name);
        if !known {
            let help = || suggest("nodes", name, self.nodes());
            findings.error_with(path, format!("there is no node `{name}`"), help);
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
    routes(&network, findings);
    network
}

/// Checks the ends of routes that the scenario sets.
fn routes(network: &Network, findings: &mut Findings) {
    for (name, router) in &network.scenario.routers {
        for (host, neighbor) in &router.routes {
            let path = ValuePath::from("routers").join(name).join("routes").join(host);
            if !network.is_host(host) {
                let hosts = || suggest("hosts", host, network.scenario.hosts.keys().map(String::as_str));
                findings.error_with(&path, format!("there is no host `{host}`"), hosts);
            } else if !network.are_neighbors(name, neighbor) {
                let message = format!("no link connects `{name}` to `{neighbor}`");
                findings.error(&path, message).help = Some(links_of(network, name));
            }
        }
    }
}

fn nodes(network: &Network, findings: &mut Findings) {
    let scenario = network.scenario;
    for name in scenario.routers.keys().filter(|name| network.is_host(name)) {
        let (host, router) = (ValuePath::from("hosts").join(name), ValuePath::from("routers").join(name));
        findings.clash(&router, format!("`{name}` is both a host and a router"), &host).help =
            Some("a node is either a host or a router".into());
    }
    let mut ends = scenario.links.iter().flat_map(|link| &link.between);
    if !ends.all(|end| network.is_host(end) || network.is_router(end)) {
        // If an end is misspelled, its node has no link, but the misspelling is already reported.
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
            findings.error(&path(name), format!("{address} is not a valid host address")).help =
                Some("use a unicast address, for example 10.0.0.1".into());
        }
        if let Some(owner) = owners.get(&address) {
            findings
                .clash(&path(name), format!("`{name}` and `{owner}` have the same address"), &path(owner))
                .help = Some("give each host its own address".into());
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
        findings.error(&path.join("between"), format!("the link connects `{a}` to itself")).help =
            Some("a link connects two different nodes".into());
    }
    let has_rate = link.rate.as_bits_per_second() > 0;
    findings.require(has_rate, path, "rate", "above 0", "for example 10Mb/s");
    if !link.rate_changes.is_empty() && has_rate {
        check_rate_changes(path, link, findings);
    }
    if let Err(error) = link.headers.check(link.framing()) {
        findings.error(&path.join("headers").extend(&error.path), error.message).help = error.help;
    }
    let (loses_some, found) = ((0.0..1.0).contains(&link.loss), format!("in [0, 1), got {}", link.loss));
    findings.require(loses_some, path, "loss", &found, "with 0.01, one packet in a hundred is lost");
    findings.require(link.cost > 0, path, "cost", "above 0", "at least 1");
    sizes(path, [("mtu", link.mtu)], findings);
    for (node, interface) in &link.interfaces {
        let path = path.join("interfaces").join(node);
        // If an end is misspelled, `require` has reported it, and the key of `interfaces` may be correct.
        if known && !link.between.contains(node) {
            findings.error(&path, format!("`{node}` is not an end of this link")).help =
                Some(suggest("ends", node, [a.as_str(), b.as_str()]));
        }
        let has_rate = interface.rate.is_none_or(|rate| rate.as_bits_per_second() > 0);
        findings.require(has_rate, &path, "rate", "above 0", "for example 10Mb/s");
        sizes(&path, [("mtu", interface.mtu), ("adjust-mss", interface.adjust_mss)], findings);
        policy_names(network.scenario, &path, interface, findings);
    }
}

fn check_rate_changes(path: &ValuePath, link: &LinkConfig, findings: &mut Findings) {
    if let Err(error) = RateChanges::new(link.rate, &link.rate_changes) {
        findings.error(&path.extend(&error.path), error.message).help = error.help;
    }
    if link.headers.fragmentation().is_some() {
        let message = "the rate of a link that fragments packets cannot change";
        findings.error(&path.join("rate-changes"), message.to_owned()).help =
            Some("remove `mlppp` from `headers`, or remove `rate-changes`".into());
    }
    for (node, _) in link.interfaces.iter().filter(|(_, interface)| interface.rate.is_some()) {
        let interface = path.join("interfaces").join(node).join("rate");
        let message = "a link whose rate changes has one rate in both directions".to_owned();
        findings.clash(&interface, message, &path.join("rate-changes")).help =
            Some("remove the rate of the interface".into());
    }
}

/// Checks that sizes fit into an IPv4 packet and have room for the smallest TCP segment of the simulation.
fn sizes<const N: usize>(path: &ValuePath, sizes: [(&str, Option<ByteSize>); N], findings: &mut Findings) {
    for (key, size) in sizes {
        let fits = size.is_none_or(|size| (128..=65_535).contains(&size.as_bytes()));
        findings.require(
            fits,
            path,
            key,
            "from 128B to 65535B",
            "1500B is the MTU of Ethernet, 1460B the MSS with it",
        );
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
                let help = || suggest("policies", name, scenario.policies.keys().map(String::as_str));
                findings.error_with(&path, format!("there is no policy `{name}`"), help);
            }
            Some(policy) if side == "input" && policy.queueing.is_some() => {
                findings
                    .error(&path, format!("policy `{name}` has queueing, which is not possible on input"))
                    .help = Some("use it as `output`, or put its conditioners into a separate policy".into());
            }
            Some(_) => {}
        }
    }
}

/// Reports several links between the same two nodes. They are errors, because the name of the neighbor
/// identifies an interface.
fn duplicates(scenario: &Scenario, findings: &mut Findings) {
    let mut seen: BTreeMap<[&String; 2], usize> = BTreeMap::new();
    for (index, LinkConfig { between: [a, b], .. }) in scenario.links.iter().enumerate() {
        let path = |index: usize| ValuePath::from("links").join(index).join("between");
        let ends = if a < b { [a, b] } else { [b, a] };
        match seen.get(&ends) {
            Some(first) => {
                let message = format!("the list already has a link between `{a}` and `{b}`");
                findings.clash(&path(index), message, &path(*first)).help = Some(
                    "only one link between two nodes is possible; insert a router into the second one".into(),
                );
            }
            None => {
                seen.insert(ends, index);
            }
        }
    }
}

/// Lists the links of `node` for a message.
pub(super) fn links_of(network: &Network, node: &str) -> String {
    match listed(network.neighbors(node)) {
        none if none.is_empty() => format!("`{node}` has no links"),
        names => format!("`{node}` has links to {names}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates hosts with a link to one router. Each host sends to the next one.
    fn star(hosts: usize) -> Scenario {
        let names = (0..hosts).map(|n| format!("h{n}"));
        let link = |name: &String| serde_json::json!({"between": [name, "hub"], "rate": "1Mb/s"});
        let links: Vec<_> = names.clone().map(|name| link(&name)).collect();
        let hosts: serde_json::Map<String, serde_json::Value> =
            names.map(|name| (name, serde_json::json!({}))).collect();
        let value = serde_json::json!({
            "perhop": 1, "name": "", "duration": "1s", "hosts": hosts, "routers": {"hub": {}, "alone": {}},
            "links": links, "traffic": [],
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn ten_times_the_hosts_take_ten_times_the_lookups() {
        let looks = |hosts: usize| {
            let scenario = star(hosts);
            let network = Network::new(&scenario);
            let reached = |n: usize| network.is_reachable(&format!("h{n}"), &format!("h{}", (n + 1) % hosts));
            assert!((0..hosts).all(reached));
            assert!(!network.is_reachable("h0", "alone"));
            network.looks.get()
        };
        let (few, many) = (looks(100), looks(1_000));
        assert!(0 < few && many <= 10 * few, "{few} looks, then {many}");
    }
}
