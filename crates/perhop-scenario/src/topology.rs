//! [`Topology`]: the nodes, interfaces and links of a scenario by number, and the paths between them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_qos::error::ConfigError;
use perhop_qos::packet::InterfaceId;

use crate::routing::{LinkId, NodeId, Routes};
use crate::{HostConfig, LinkConfig, Scenario};

/// The nodes and links of a scenario. Nodes are numbered hosts first, then routers, each in order of names.
/// Link `i` has the directions 2`i`, from its first end to its second, and 2`i` + 1.
#[derive(Debug)]
pub struct Topology<'a> {
    scenario: &'a Scenario,
    nodes: BTreeMap<&'a str, NodeId>,
    /// Address of each host.
    addresses: Vec<IpAddr>,
    /// Names of each node's interfaces: its neighbors, in order of the scenario's links.
    interfaces: BTreeMap<&'a str, Vec<String>>,
    /// The first interface of a node towards a neighbor.
    interface_numbers: BTreeMap<(&'a str, &'a str), InterfaceId>,
    routes: Routes,
}

impl<'a> Topology<'a> {
    /// Builds the topology of `scenario`.
    ///
    /// # Errors
    /// A link or a route ends at a node that does not exist, or a route names a neighbor to which its node
    /// has no link.
    pub fn new(scenario: &'a Scenario) -> Result<Topology<'a>, ConfigError> {
        let names = scenario.hosts.keys().chain(scenario.routers.keys());
        let nodes: BTreeMap<&str, NodeId> =
            (0..).zip(names).map(|(number, name)| (name.as_str(), NodeId(number))).collect();
        let forwards = (0..nodes.len()).map(|number| number >= scenario.hosts.len()).collect();
        let mut topology = Topology {
            scenario,
            nodes,
            addresses: host_addresses(scenario),
            interfaces: BTreeMap::new(),
            interface_numbers: BTreeMap::new(),
            routes: Routes::new(forwards),
        };
        for (index, link) in scenario.links.iter().enumerate() {
            topology.add(index, link).map_err(|error| error.within(index).within("links"))?;
        }
        for (name, router) in &scenario.routers {
            for (host, neighbor) in &router.routes {
                let set = topology.set_route(name, host, neighbor);
                set.map_err(|error| error.within(host).within("routes").within(name).within("routers"))?;
            }
        }
        Ok(topology)
    }

    fn set_route(&mut self, name: &str, host: &str, neighbor: &str) -> Result<(), ConfigError> {
        let [at, to, next] = [self.node(name)?, self.node(host)?, self.node(neighbor)?];
        if self.routes.set(at, to, next) {
            return Ok(());
        }
        Err(ConfigError::new("", format!("no link connects `{name}` to `{neighbor}`")))
    }

    fn add(&mut self, index: usize, config: &'a LinkConfig) -> Result<(), ConfigError> {
        let [a, b] = &config.between;
        for (direction, node, neighbor) in [(2 * index, a, b), (2 * index + 1, b, a)] {
            let ends = [self.node(node)?, self.node(neighbor)?];
            self.routes.add(LinkId(direction as u32), ends[0], ends[1], config.cost);
            let names = self.interfaces.entry(node).or_default();
            let number = InterfaceId(u16::try_from(names.len()).unwrap_or(u16::MAX));
            names.push(neighbor.clone());
            self.interface_numbers.entry((node, neighbor)).or_insert(number);
        }
        Ok(())
    }

    /// Returns the number of the node called `name`.
    ///
    /// # Errors
    /// No node has this name.
    pub fn node(&self, name: &str) -> Result<NodeId, ConfigError> {
        self.nodes
            .get(name)
            .copied()
            .ok_or_else(|| ConfigError::new("", format!("there is no node `{name}`")))
    }
    /// Returns the names of all nodes, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.scenario.hosts.keys().chain(self.scenario.routers.keys()).map(String::as_str)
    }
    /// Whether `node` is a host.
    pub fn is_host(&self, node: &str) -> bool {
        self.scenario.hosts.contains_key(node)
    }
    /// Returns the address of `host`.
    ///
    /// # Errors
    /// No host has this name.
    pub fn address(&self, host: &str) -> Result<IpAddr, ConfigError> {
        let place = self.node(host)?.0 as usize;
        let missing = || ConfigError::new("", format!("`{host}` is a router and has no address"));
        self.addresses.get(place).copied().ok_or_else(missing)
    }
    /// Returns the names of the interfaces of `node`: its neighbors, in order of the scenario's links.
    pub fn interfaces(&self, node: &str) -> &[String] {
        self.interfaces.get(node).map_or(&[], Vec::as_slice)
    }
    /// Returns the number of the first interface of `node` towards `neighbor`.
    pub fn interface(&self, node: &str, neighbor: &str) -> InterfaceId {
        self.interface_numbers.get(&(node, neighbor)).copied().unwrap_or_default()
    }
    /// Returns the directions of links on the path from `from` to `to`; `None` if there is no path.
    ///
    /// # Errors
    /// No node has this name.
    pub fn path(&mut self, from: &str, to: &str) -> Result<Option<Vec<LinkId>>, ConfigError> {
        let ends = [self.node(from)?, self.node(to)?];
        Ok(self.routes.path(ends[0], ends[1]))
    }
    /// Returns the number of links visited by path searches so far, a measure of their work.
    pub fn looks(&self) -> u64 {
        self.routes.looks()
    }
    /// Returns the sending and the receiving node of a direction of a link.
    pub fn ends(&self, direction: LinkId) -> [&'a str; 2] {
        let [a, b] = &self.scenario.links[direction.index() / 2].between;
        if direction.index().is_multiple_of(2) { [a, b] } else { [b, a] }
    }
}

/// Returns the address of every host, in order of names: the configured address, or the next free address of
/// 10.0.0.0/8.
pub fn host_addresses(scenario: &Scenario) -> Vec<IpAddr> {
    let taken: BTreeSet<IpAddr> = scenario.hosts.values().filter_map(|host| host.address).collect();
    let first = u32::from(Ipv4Addr::new(10, 0, 0, 1));
    let mut free = (first..)
        .map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)))
        .filter(|address| !taken.contains(address));
    let address = |host: &HostConfig| host.address.or_else(|| free.next());
    scenario
        .hosts
        .values()
        .map(address)
        .map(|address| address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
        .collect()
}
