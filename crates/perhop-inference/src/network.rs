//! [`Network`]: the network inferred for a router, with senders on one side, receivers on the other, and one
//! path between them.
//!
//! All other nodes are so fast and have such long queues that only the router loses packets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

use perhop_analysis::rates::{capacity, class_path};
use perhop_device::{AddedInterface, DeviceModel, Port};
use perhop_qos::Rate;
use perhop_qos::framing::HeaderStack;
use perhop_qos::policy::PolicyConfig;
use serde_json::{Map, Value};

use crate::common_port::CommonPort;
use crate::header::{Header, Subnet};
use crate::shares::{Leaf, leaves};

/// Subnets of senders, for interfaces without an address. perhop uses the first subnet in which the router
/// has no address.
const SENDERS: [&str; 4] = ["10.0.0.0", "172.16.0.0", "192.168.0.0", "198.18.0.0"];
/// Subnets of receivers, chosen in the same way.
const RECEIVERS: [&str; 4] = ["10.255.0.0", "172.31.255.0", "192.168.255.0", "198.19.255.0"];
/// The IPv6 subnet of senders, from the prefix for documentation (RFC 3849).
const SENDERS_6: &str = "2001:db8:0:1::";
/// The IPv6 subnet of receivers, from the same prefix.
const RECEIVERS_6: &str = "2001:db8:0:2::";
/// The prefix length of the IPv4 subnets.
const LENGTH: u8 = 24;
/// The prefix length of the IPv6 subnets.
const LENGTH_6: u8 = 64;
/// The node in front of the router under test.
pub(crate) const NEAR: &str = "near-side";
/// The node behind the router under test.
pub(crate) const FAR: &str = "far-side";

/// An interface on the path: an interface of the router, or an added interface.
#[derive(Clone, Debug)]
pub(crate) struct Interface<'a> {
    pub(crate) name: String,
    /// The line rate of the interface.
    pub(crate) rate: Rate,
    /// The port of the router; `None` for an added interface.
    pub(crate) port: Option<&'a Port>,
    /// Whether the rate is assumed because the configuration cannot state it.
    pub(crate) is_assumed: bool,
}

impl Interface<'_> {
    /// Returns the line rate in bits per second.
    pub(crate) fn bits_per_second(&self) -> f64 {
        self.rate.as_bits_per_second() as f64
    }
}

/// A header that carries marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Carried {
    Mpls,
    Vlan,
}

/// The origin of the CoS of packets that enter with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CosOrigin {
    /// The packets themselves, as in a capture.
    Packets,
    /// The precedence of the packets: the neighbor sets the CoS to it.
    Precedence,
}

impl Carried {
    /// Returns the name of the header in a scenario.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Carried::Mpls => "mpls",
            Carried::Vlan => "vlan",
        }
    }
}

/// The properties of a router that do not depend on the path through it.
pub(crate) struct Site<'a> {
    /// The name of the router's node.
    pub(crate) router: String,
    /// The `configuration` of the router in a scenario.
    pub(crate) configuration: Map<String, Value>,
    /// The folder to which relative paths in the scenario refer.
    pub(crate) base: &'a Path,
    pub(crate) ports: &'a [Port],
    /// The port whose tunnels and sub-interfaces are run together.
    pub(crate) common: Option<&'a CommonPort>,
    /// The configuration of the router with the state of each line.
    pub(crate) model: &'a DeviceModel,
    /// The router's own addresses.
    pub(crate) own: BTreeSet<IpAddr>,
    /// The subnets of the router's interfaces.
    pub(crate) subnets: Vec<Subnet>,
    /// The size of the leaving interface's tx-ring, packets, if the user sets it.
    pub(crate) ring: Option<u32>,
}

/// A router with one path through it.
#[derive(Clone)]
pub(crate) struct Network<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) entering: Interface<'a>,
    pub(crate) leaving: Interface<'a>,
    /// The commands that add missing interfaces to the router.
    pub(crate) added: Vec<String>,
    /// Further interfaces that classes match as input interface.
    pub(crate) others: Vec<Interface<'a>>,
    /// Further interfaces through which copies of the traffic leave.
    pub(crate) copies: Vec<Interface<'a>>,
    /// Choices that a user may not expect, with their reasons, one line each.
    pub(crate) assumed: Vec<String>,
    /// The headers of the links to the router, which carry the marks of the senders' packets.
    pub(crate) carried: Vec<Carried>,
    /// The origin of the CoS of the tags on these links.
    pub(crate) cos: CosOrigin,
    /// Whether packets leave with a label that the configuration does not show.
    pub(crate) leaves_labeled: bool,
    /// The queues of the leaving interface.
    pub(crate) leaves: Vec<Leaf<'a>>,
    /// The names of the queues, in the same order: the class, with its enclosing classes if other queues
    /// share its name.
    pub(crate) names: Vec<String>,
    /// The default addresses of sender and receiver, for IPv4 and IPv6.
    usual: [[IpAddr; 2]; 2],
}

/// A policy without rules.
static PLAIN: PolicyConfig = PolicyConfig { conditioners: Vec::new(), queueing: None, overhead: 0 };

impl<'a> Network<'a> {
    /// Returns the network of a path through two interfaces.
    pub(crate) fn new(site: &'a Site<'a>, entering: Interface<'a>, leaving: Interface<'a>) -> Network<'a> {
        let leaves = match leaving.port {
            Some(port) => leaves(&port.output, leaving.bits_per_second()),
            None => Vec::new(),
        };
        let names = names_of(&leaves);
        let senders = default_addresses(&entering, SENDERS, SENDERS_6, site, None);
        // The receivers must not get the address of the senders, because interfaces in different VRFs may
        // have the same subnet.
        let receivers = default_addresses(&leaving, RECEIVERS, RECEIVERS_6, site, Some(senders[0]));
        Network {
            site,
            entering,
            leaving,
            added: Vec::new(),
            others: Vec::new(),
            copies: Vec::new(),
            assumed: Vec::new(),
            carried: Vec::new(),
            cos: CosOrigin::Packets,
            leaves_labeled: false,
            leaves,
            names,
            usual: [senders, receivers],
        }
    }

    /// Whether packets enter with `header`, because the entering port or its link has this header.
    pub(crate) fn enters_with(&self, header: Carried) -> bool {
        let port = self.entering.port;
        let own = port.map(|port| &port.wire.headers).filter(|headers| !headers.is_empty());
        let is_ethernet = port
            .and_then(|port| port.wire.framing)
            .is_none_or(|framing| framing.to_string().starts_with("ethernet"));
        match (header, own.map(HeaderStack::encapsulation)) {
            (Carried::Mpls, Some(own)) => own.labels,
            (Carried::Vlan, Some(own)) => own.tag,
            // A tag requires Ethernet framing. Labels do not.
            (_, None) => self.carried.contains(&header) && (header == Carried::Mpls || is_ethernet),
        }
    }

    /// Whether packets can leave with a label. They can if the leaving port has no headers.
    pub(crate) fn may_leave_labeled(&self) -> bool {
        self.leaving.port.is_some_and(|port| port.wire.headers.is_empty())
    }

    /// Adds an interface that the router lacks.
    pub(crate) fn add(&mut self, interface: &AddedInterface) {
        self.added.push(interface.command.clone());
    }

    /// Returns the input policy of the path.
    pub(crate) fn input(&self) -> &'a PolicyConfig {
        self.entering.port.map_or(&PLAIN, |port| &port.input)
    }

    /// Returns the output policy of the path.
    pub(crate) fn output(&self) -> &'a PolicyConfig {
        self.leaving.port.map_or(&PLAIN, |port| &port.output)
    }

    /// Returns the index of a queue among the leaves. If several leaves have this path, the first one is
    /// used.
    pub(crate) fn place_of(&self, path: &str) -> Option<usize> {
        self.leaves.iter().position(|leaf| leaf.path == path)
    }

    /// Whether the queues of the path can fill. Otherwise the run tests only the input policy.
    pub(crate) fn has_queues(&self) -> bool {
        !self.leaves.is_empty() && self.capacity() <= self.entering.bits_per_second() / 2.0
    }

    /// Returns the rate at which packets can pass, bits per second: the rate of the slower wire or of the
    /// shaper.
    pub(crate) fn bottleneck(&self) -> f64 {
        self.capacity().min(self.entering.bits_per_second())
    }

    /// Returns the maximum rate of the output interface, in bits per second.
    fn capacity(&self) -> f64 {
        let rate = self.leaving.bits_per_second();
        self.output().queueing.as_ref().map_or(rate, |queueing| capacity(queueing, rate))
    }

    /// Returns the router's subnets at other interfaces: packets to these subnets do not leave via the output
    /// interface.
    pub(crate) fn other_subnets(&self) -> Vec<Subnet> {
        let subnets = |port: &Port| -> BTreeSet<Subnet> { subnets_of(port).collect() };
        let there = self.leaving.port.map(subnets).unwrap_or_default();
        let mut seen = BTreeSet::new();
        let is_new = |subnet: &Subnet| !there.contains(subnet) && seen.insert(*subnet);
        self.site.subnets.iter().copied().filter(is_new).collect()
    }

    /// Returns the name that results use for the port through which packets leave the router.
    pub(crate) fn port(&self) -> String {
        format!("{}->{FAR}", self.site.router)
    }

    /// Returns the addresses of a packet with this header; by default the default addresses of its family.
    pub(crate) fn ends(&self, header: &Header) -> [IpAddr; 2] {
        let family = usize::from(header.is_six());
        let [senders, receivers] = self.usual;
        [header.source.unwrap_or(senders[family]), header.destination.unwrap_or(receivers[family])]
    }

    /// Returns the names of the interfaces that the router has on the path.
    pub(crate) fn interfaces(&self) -> Vec<String> {
        let path = [&self.entering, &self.leaving];
        path.iter().filter(|hop| hop.port.is_some()).map(|hop| hop.name.clone()).collect()
    }
}

/// Returns the names of queues. Queues with equal names get the names of their enclosing classes.
fn names_of(leaves: &[Leaf]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for leaf in leaves {
        *counts.entry(&leaf.name).or_default() += 1;
    }
    let is_shared = |leaf: &&Leaf| counts[leaf.name.as_str()] > 1;
    let around: Vec<String> = leaves.iter().filter(is_shared).map(|leaf| class_path(&leaf.path)).collect();
    let is_clear = around.iter().collect::<BTreeSet<_>>().len() == around.len();
    let name = |leaf: &Leaf| match (is_clear, is_shared(&leaf)) {
        (false, _) => leaf.path.clone(),
        (true, true) => class_path(&leaf.path),
        (true, false) => leaf.name.clone(),
    };
    leaves.iter().map(name).collect()
}

/// Returns the subnets of a port.
pub(crate) fn subnets_of(port: &Port) -> impl Iterator<Item = Subnet> {
    port.addresses.iter().map(|own| Subnet::new(own.address, own.prefix_length))
}

/// Returns the default addresses of a side: an address from the interface's subnet, or from the first subnet
/// of `otherwise` in which the router has no address, and an address from `six`.
fn default_addresses(
    interface: &Interface,
    otherwise: [&str; 4],
    six: &str,
    site: &Site,
    taken: Option<IpAddr>,
) -> [IpAddr; 2] {
    let parse = |text: &str| text.parse::<IpAddr>().unwrap_or(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED));
    let own = interface.port.into_iter().flat_map(|port| &port.addresses);
    // A router refuses multicast and similar addresses, and no host can have them.
    let own = own.copied().find(|own| !own.address.is_multicast() && !own.address.is_unspecified());
    let is_free =
        |address: &IpAddr| !site.subnets.iter().any(|subnet| subnet.overlaps(&Subnet::new(*address, LENGTH)));
    let (four, length) = match own {
        Some(own) => (own.address, own.prefix_length),
        None => {
            (otherwise.map(parse).into_iter().find(is_free).unwrap_or_else(|| parse(otherwise[3])), LENGTH)
        }
    };
    let free = |address: IpAddr, length: u8| {
        let is_taken = |address: &IpAddr| site.own.contains(address) || taken == Some(*address);
        // A subnet of one address, or of all addresses, has no further address.
        let found = match (length, address) {
            (0, _) => None,
            (32, IpAddr::V4(_)) => Some(address),
            _ => Subnet::new(address, length).hosts().find(|host| !is_taken(host)),
        };
        found.unwrap_or(address)
    };
    [free(four, length), free(parse(six), LENGTH_6)]
}

/// The addresses of headers. No address belongs to a sender and a receiver.
#[derive(Default)]
pub(crate) struct Ends {
    sources: BTreeSet<IpAddr>,
    destinations: BTreeSet<IpAddr>,
}

impl Ends {
    /// Whether each address is still on only one side of the router after this header is added.
    pub(crate) fn fits(&self, network: &Network, header: &Header) -> bool {
        let [source, destination] = network.ends(header);
        let is_taken = self.destinations.contains(&source) || self.sources.contains(&destination);
        source != destination && !is_taken
    }

    /// Adds a header that fits.
    pub(crate) fn add(&mut self, network: &Network, header: &Header) {
        let [source, destination] = network.ends(header);
        self.sources.insert(source);
        self.destinations.insert(destination);
    }
}

/// Returns a unique name for the router's node.
pub(crate) fn node_name(hostname: Option<&str>) -> String {
    let mut name = String::new();
    let mut is_replaced = false;
    for letter in hostname.unwrap_or("router").to_lowercase().chars() {
        let is_plain = letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if is_plain || !is_replaced {
            name.push(if is_plain { letter } else { '-' });
        }
        is_replaced = !is_plain;
    }
    let name = match name.trim_matches('-') {
        "" => "router",
        name => name,
    };
    let is_numbered = |kind: &str| {
        let rest = name.strip_prefix(kind);
        let number = rest.and_then(|rest| rest.strip_prefix('-'));
        rest == Some("")
            || number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_taken =
        ["sender", "receiver", "beside"].into_iter().any(is_numbered) || [NEAR, FAR].contains(&name);
    if is_taken { format!("{name}-router") } else { name.to_owned() }
}

impl Site<'_> {
    /// Returns the `configuration` of the router with further commands.
    pub(crate) fn configuration_with(&self, added: &[String]) -> Value {
        let mut configuration = self.configuration.clone();
        if !added.is_empty() {
            let commands = configuration.entry("add").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(commands) = commands {
                commands.extend(added.iter().map(|command| Value::String(command.clone())));
            }
        }
        Value::Object(configuration)
    }
}
