//! [`NetworkDevice`]: a device from a single configuration or from a scenario.

use std::net::IpAddr;
use std::sync::OnceLock;

use perhop_analysis::PacketText;
use perhop_device::{
    ClassLines, DeviceModel, FrontEnd, FrontEnds, OpenLine, ParseOptions, Port, PortRole, Route, RouteOrigin,
    RouteTarget, Router, Wire,
};
use perhop_lint::{Diagnostic, Line};
use perhop_qos::classifier::Prefix;
use perhop_qos::framing::Header;
use perhop_qos::{ConfigError, Packet};
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, Scenario};
use serde::Serialize;

use crate::forwarding::{Table, addresses};
use crate::given::Given;
use crate::trace::{Answer, TraceOptions, TracedDevice, trace, words};

/// A device with its text and with routes that are not in its text.
pub struct NetworkDevice<'a> {
    source: Source<'a>,
    given: Given,
}

/// The origin of a device.
enum Source<'a> {
    Configuration(Box<Configured<'a>>),
    /// A node of a scenario, which has no configuration text.
    Node(Router),
}

/// A device with its text.
struct Configured<'a> {
    model: DeviceModel,
    front_end: &'a dyn FrontEnd,
    text: String,
    options: ParseOptions,
    /// The lines of classes. They need a second pass over the text, which is done on first use.
    class_lines: OnceLock<Option<Box<dyn ClassLines>>>,
}

/// A neighbor that the configuration of a device names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neighbor {
    /// The interface that leads to the neighbor.
    pub interface: String,
    /// The address of the neighbor; `None` for the hosts of a subnet.
    pub address: Option<IpAddr>,
    /// The subnet that the neighbor shares with the device.
    pub subnet: Option<String>,
    /// The line that names the neighbor or its subnet.
    pub line: usize,
}

impl<'a> NetworkDevice<'a> {
    /// Reads the configuration of a single device, whose neighbors are then inferred.
    ///
    /// # Errors
    /// An option is invalid, or perhop does not simulate the system.
    pub fn read(
        front_ends: FrontEnds<'a>,
        text: &str,
        options: &ParseOptions,
    ) -> Result<NetworkDevice<'a>, ConfigError> {
        let device = NetworkDevice::read_member(front_ends, text, options)?;
        match device.refusal() {
            Some(refusal) => Err(ConfigError::new("", refusal.message.clone()).help(refusal.router.clone())),
            None => Ok(device),
        }
    }

    /// Reads the configuration of a device of a network. If perhop does not simulate the system of the
    /// device, the result has addresses, routes, lists and classes, but no modeled queues.
    ///
    /// # Errors
    /// An option is invalid.
    pub(crate) fn read_member(
        front_ends: FrontEnds<'a>,
        text: &str,
        options: &ParseOptions,
    ) -> Result<NetworkDevice<'a>, ConfigError> {
        let front_end = front_ends.choose(text, options.platform.as_deref())?;
        let mut model = front_end.parse(text, options)?;
        if let Some(reason) = model.refusal().map(|refusal| refusal.message.clone()) {
            model.router = model.unsimulated.take().map(|router| *router).unwrap_or_default();
            for port in &mut model.router.ports {
                port.unmodeled_queues.get_or_insert_with(|| reason.clone());
            }
        }
        let (text, options, class_lines) = (text.to_owned(), options.clone(), OnceLock::new());
        let configured = Configured { model, front_end, text, options, class_lines };
        Ok(NetworkDevice { source: Source::Configuration(Box::new(configured)), given: Given::default() })
    }

    /// Returns the diagnostic with which perhop refuses to simulate the device.
    pub(crate) fn refusal(&self) -> Option<&Diagnostic> {
        self.model().and_then(DeviceModel::refusal)
    }

    /// Returns the node `name` of a resolved scenario as a device. Its ports have the names of the neighbors,
    /// and its routes lead to the hosts.
    ///
    /// # Errors
    /// There is no such node, or a link ends at a node that does not exist.
    pub fn of_scenario(scenario: &Scenario, name: &str) -> Result<NetworkDevice<'a>, ConfigError> {
        let mut topology = Topology::new(scenario)?;
        let mut ports: Vec<Port> = Vec::new();
        for link in &scenario.links {
            let [a, b] = &link.between;
            for (own, neighbor) in [(a, b), (b, a)] {
                let is_known = ports.iter().any(|port| port.name == *neighbor);
                if own == name && !is_known {
                    let interface = link.interfaces.get(own);
                    let wire = Wire { headers: *link.headers, ..Wire::default() };
                    ports.push(Port { wire, ..port_of(scenario, neighbor, interface) });
                }
            }
        }
        let mut given = Given::default();
        for host in scenario.hosts.keys() {
            let Some(path) = topology.path(name, host)? else { continue };
            let Some(first) = path.first() else { continue };
            let [_, neighbor] = topology.ends(*first);
            given.add(given_route(None, topology.address(host)?.into(), to_port(neighbor)));
        }
        let router = Router { hostname: Some(name.to_owned()), ports, ..Router::default() };
        Ok(NetworkDevice { source: Source::Node(router), given })
    }

    /// Adds a route written as `PREFIX = INTERFACE` or `PREFIX = NEXT HOP`. A route of a VRF begins with `vrf
    /// NAME`.
    ///
    /// # Errors
    /// The text is not a route, or there is no such interface.
    pub fn add_route(&mut self, text: &str) -> Result<(), ConfigError> {
        let wrong = |message: String| {
            ConfigError::new("route", message)
                .help("write `10.2.0.0/16 = 192.0.2.1` or `10.2.0.0/16 = Gi0/1`")
        };
        let (prefix, target) =
            text.split_once('=').ok_or_else(|| wrong(format!("`{text}` is not a route: `=` is missing")))?;
        let (vrf, prefix) = match prefix.trim().strip_prefix("vrf ").map(str::trim) {
            Some(named) => named
                .split_once(char::is_whitespace)
                .map_or((None, named), |(vrf, rest)| (Some(vrf.to_owned()), rest)),
            None => (None, prefix),
        };
        let prefix: Prefix = prefix.trim().parse().map_err(wrong)?;
        let target = target.trim();
        let via = match target.parse() {
            Ok(next_hop) => RouteTarget::NextHop(next_hop),
            Err(_) => to_port(&self.port(target)?.name),
        };
        self.given.add(given_route(vrf, prefix, via));
        Ok(())
    }

    /// Returns a mutable reference to the facts about forwarding that are not in the configuration.
    pub(crate) fn given_mut(&mut self) -> &mut Given {
        &mut self.given
    }

    /// Returns the router of the device model.
    pub(crate) fn router(&self) -> &Router {
        match &self.source {
            Source::Configuration(own) => &own.model.router,
            Source::Node(router) => router,
        }
    }

    fn configured(&self) -> Option<&Configured<'a>> {
        match &self.source {
            Source::Configuration(own) => Some(own),
            Source::Node(_) => None,
        }
    }

    /// Returns the model of the configuration; `None` for a node of a scenario.
    pub fn model(&self) -> Option<&DeviceModel> {
        self.configured().map(|own| &own.model)
    }

    /// Returns the text of the configuration and the options for reading it; `None` for a node of a scenario.
    pub fn configuration(&self) -> Option<(&str, &ParseOptions)> {
        self.configured().map(|own| (own.text.as_str(), &own.options))
    }

    /// Returns the routes and tunnels that are not in the configuration, as text for comparison.
    pub fn facts(&self) -> String {
        self.given.facts()
    }

    fn lines(&self) -> &[Line] {
        self.model().map_or(&[], |model| &model.lines)
    }

    /// Generates the lines of the text with their numbers, without comments and empty lines.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let comment = self.model().map_or('!', |model| model.comment);
        let lines = self.lines().iter().filter(move |line| !line.is_blank(comment));
        lines.map(|line| (line.number, line.text.trim_end()))
    }

    /// Returns the line that begins with the words of `command`, in the block that begins at the line
    /// `first`.
    pub(crate) fn line_in_block(&self, first: usize, command: &str) -> Option<usize> {
        let depth = |line: &Line| line.text.len() - line.text.trim_start().len();
        let lines = self.lines().get(first.checked_sub(1)?..)?;
        let outside = depth(lines.first()?);
        let mut inside = lines[1..].iter().take_while(|line| depth(line) > outside);
        let begins = |line: &&Line| {
            let mut words = line.text.split_whitespace();
            command.split(' ').all(|word| words.next() == Some(word))
        };
        inside.find(begins).map(|line| line.number)
    }

    /// Returns the routing table of the device.
    pub(crate) fn table(&self) -> Table<'_> {
        Table { router: self.router(), given: &self.given }
    }

    /// Whether the device has a computed or additional route to exactly this subnet.
    pub(crate) fn has_learned(&self, vrf: Option<&str>, subnet: Prefix) -> bool {
        self.given.has_exactly(vrf, subnet)
    }

    /// Returns the classes of packets with their lines, if the language has such classes.
    pub(crate) fn class_lines(&self) -> Option<&dyn ClassLines> {
        let own = self.configured()?;
        // The text was already parsed with these options, so they are valid.
        let read = || own.front_end.class_lines(&own.text, &own.options).ok().flatten();
        own.class_lines.get_or_init(read).as_deref()
    }

    /// Returns the text of a line without surrounding spaces.
    pub(crate) fn line_text(&self, line: usize) -> &str {
        self.lines().get(line.wrapping_sub(1)).map_or("", |line| line.text.trim())
    }

    /// Returns the port called `written`. The name may be abbreviated as the configuration language allows.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn port(&self, written: &str) -> Result<&Port, ConfigError> {
        let full =
            self.configured().map_or_else(|| written.to_owned(), |own| own.front_end.interface_name(written));
        let exact = self.router().ports.iter().find(|port| port.name.eq_ignore_ascii_case(written));
        exact.or_else(|| self.router().port(&full)).ok_or_else(|| {
            let names: Vec<&str> = self.router().ports.iter().map(|port| port.name.as_str()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            ConfigError::new("", format!("there is no interface `{written}`"))
                .help(format!("interfaces: {names}"))
        })
    }

    /// Returns the port that receives packets with a VLAN tag, among all ports or among `named` and its
    /// sub-interfaces.
    ///
    /// # Errors
    /// There is no such port, or several.
    fn port_of_vlan(&self, vlan: u16, named: Option<&Port>) -> Result<&Port, ConfigError> {
        let is_meant = |port: &Port| {
            named.is_none_or(|named| {
                named.name == port.name || port.forwarding.parent.as_ref() == Some(&named.interface)
            })
        };
        let ports = || self.router().ports.iter().filter(|port| is_interface(port) && is_meant(port));
        let found: Vec<&Port> = ports().filter(|port| outer_tag(port) == Some(vlan)).collect();
        let at = named.map_or(String::new(), |named| format!(" at {}", named.name));
        match found.as_slice() {
            [port] => Ok(port),
            [] => {
                let known: Vec<String> = ports()
                    .filter_map(|port| Some(format!("{} ({})", outer_tag(port)?, port.name)))
                    .collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let message = format!("no interface{at} receives packets of VLAN {vlan}");
                Err(ConfigError::new("packet", message).help(format!("VLANs: {known}")))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|port| port.name.as_str()).collect();
                let message = format!("several interfaces{at} receive packets of VLAN {vlan}");
                Err(ConfigError::new("packet", message).help(format!(
                    "name one of them, for example `in {}`: {}",
                    names[0],
                    names.join(", ")
                )))
            }
        }
    }

    /// Returns the paths of a packet, written in the notation of [`PacketText`], that arrives at the port
    /// `at` and leaves through the port `out`. Without `at` and `out`, the routes determine the ports.
    ///
    /// # Errors
    /// The packet cannot be read, there is no such port, or [`trace()`] fails.
    pub fn trace(&self, packet: &str, at: Option<&str>, out: Option<&str>) -> Result<Answer, ConfigError> {
        let PacketText { packet, input, vlan } =
            packet.parse().map_err(|message: String| ConfigError::new("packet", message))?;
        let named = at.or(input.as_deref()).map(|name| self.port(name)).transpose()?;
        let arrives = match vlan {
            Some(vlan) => Some(self.port_of_vlan(vlan, named)?),
            None => named,
        };
        let leaves = out.map(|name| self.port(name)).transpose()?;
        self.trace_packet(&packet, TraceOptions { arrives, leaves, ..TraceOptions::default() })
    }

    /// Returns the paths of a packet.
    ///
    /// # Errors
    /// [`trace()`] fails.
    pub(crate) fn trace_packet(&self, packet: &Packet, options: TraceOptions) -> Result<Answer, ConfigError> {
        let device = TracedDevice {
            router: self.router(),
            lines: self.lines(),
            open_lines: self.model().map_or(&[], |model| &model.open_lines),
            class_lines: self.class_lines(),
            given: &self.given,
        };
        trace(&device, options, packet)
    }

    /// Returns the unmodeled lines that affect packets at one of `interfaces`, with their reasons.
    pub fn open_lines(&self, interfaces: &[String]) -> Vec<String> {
        let near = |open: &&OpenLine| open.concerns(|name| interfaces.iter().any(|own| own == name));
        let open = self.model().into_iter().flat_map(|model| &model.open_lines).filter(near);
        open.filter_map(|open| words(self.lines(), open.line)).collect()
    }

    /// Returns the neighbors that the configuration contains: the next hops of routes, and the hosts of
    /// subnets without a next hop.
    pub fn neighbors(&self) -> Vec<Neighbor> {
        let mut found = Vec::new();
        for port in self.router().ports.iter().filter(|port| is_interface(port)) {
            for own in addresses(port) {
                let subnet = own.subnet().map(|subnet| subnet.to_string());
                let before = found.len();
                for route in &self.router().forwarding.routes {
                    let (RouteTarget::NextHop(hop) | RouteTarget::Interface { next_hop: Some(hop), .. }) =
                        &route.via
                    else {
                        continue;
                    };
                    let is_known = found.iter().any(|neighbor: &Neighbor| neighbor.address == Some(*hop));
                    if own.is_neighbor(*hop) && !is_known {
                        let (interface, subnet) = (port.name.clone(), subnet.clone());
                        found.push(Neighbor { interface, address: Some(*hop), subnet, line: route.line });
                    }
                }
                let is_host = own.subnet().is_some_and(|subnet| subnet.host().is_some());
                if found.len() == before && !is_host {
                    let interface = port.name.clone();
                    found.push(Neighbor { interface, address: None, subnet, line: own.line });
                }
            }
        }
        found
    }
}

/// Returns the outermost VLAN tag of a port, which selects the port of a frame. The port lists its headers
/// from the innermost to the outermost.
pub(crate) fn outer_tag(port: &Port) -> Option<u16> {
    let mut tags = port.wire.headers.headers().iter().filter_map(|header| match header {
        Header::Vlan(tag) => Some(tag.id),
        _ => None,
    });
    tags.next_back()
}

fn is_interface(port: &Port) -> bool {
    port.forwarding.role == PortRole::Interface && !port.shutdown
}

fn port_of(scenario: &Scenario, neighbor: &str, interface: Option<&InterfaceConfig>) -> Port {
    let policy = |name: Option<&String>| name.and_then(|name| scenario.policies.get(name)).cloned();
    Port {
        input: policy(interface.and_then(|interface| interface.input.as_ref())).unwrap_or_default(),
        output: policy(interface.and_then(|interface| interface.output.as_ref())).unwrap_or_default(),
        ..Port::new(neighbor, 0)
    }
}

fn to_port(name: &str) -> RouteTarget {
    RouteTarget::Interface { name: name.into(), next_hop: None }
}

fn given_route(vrf: Option<String>, prefix: Prefix, via: RouteTarget) -> Route {
    Route { line: 0, vrf, prefix, via, distance: 0, is_conditional: false, origin: RouteOrigin::Given }
}
