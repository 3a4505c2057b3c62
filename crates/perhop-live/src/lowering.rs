//! Conversion of a scenario to the processes of a live run. It determines the process in which each port
//! runs, and the cables between the processes.
//!
//! Every port of the scenario runs in a forwarder. A router's ports run in its own forwarder. The port of a
//! host runs in the forwarder of the router at the far end of its cable, which paces the packets of the
//! host's kernel to the rate of the scenario. A link between two hosts has its own forwarder in the middle.

mod headers;

use std::net::IpAddr;
use std::path::Path;

use perhop_qos::classifier::Prefix;
use perhop_qos::error::ConfigError;
use perhop_qos::packet::Protocol;
use perhop_qos::policy::PolicyConfig;
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, LinkConfig, Scenario, SizeLaw, SourceConfig, read_trace};
use serde::Serialize;

use crate::config::{DirectionConfig, ForwarderConfig, InputConfig, RouteConfig, SentFrames};

pub use headers::check_headers;
use headers::most_envelope_bytes;

/// The processes, namespaces and cables of a live run.
///
/// The name of a device is the name of the node at the other end, so it is unique only within a node. The
/// caller creates the devices and replaces these names by the names of the real devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Plan {
    /// Hosts, in order of names.
    pub hosts: Vec<HostPlan>,
    /// Forwarders: routers in order of names, then the wires between hosts.
    pub forwarders: Vec<ForwarderConfig>,
    /// Cables, in order of the scenario's links; a link between two hosts has two cables.
    pub cables: Vec<Cable>,
    /// The longest IP packet of the scenario, bytes.
    pub mtu: u32,
    /// The maximum number of bytes of tags and labels in a frame between two forwarders.
    pub envelope: u32,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostPlan {
    /// Name.
    pub name: String,
    /// Address of the host on every interface.
    pub address: IpAddr,
    /// Devices.
    pub devices: Vec<String>,
    /// Routes to the other hosts; empty for a host with one device.
    pub routes: Vec<HostRoute>,
}

/// A route of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct HostRoute {
    /// Destination address.
    pub to: Prefix,
    /// Device.
    pub device: String,
}

/// A cable between two devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cable {
    /// The two ends.
    pub ends: [CableEnd; 2],
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CableEnd {
    /// Name of a host or a forwarder.
    pub node: String,
    /// Device of the node.
    pub device: String,
}

/// MTU of Ethernet, bytes.
const ETHERNET_MTU: u32 = 1500;
/// The longest IPv4 packet, bytes.
const LARGEST_IP_LENGTH: u32 = 65_535;
/// Space for headers before an IP packet, bytes.
const FRAME_HEADERS: u32 = 64;
/// Limit on the memory for slots of one forwarder, bytes.
const SLOT_MEMORY: u32 = 1 << 28;

/// Converts the resolved `scenario` ([`Loaded::resolved`](perhop_scenario::Loaded)) for replication
/// `replication` with `seed`. Paths of trace files are relative to `base`.
///
/// # Errors
/// A trace cannot be read, traffic replays a capture, the hosts of traffic have addresses of different IP
/// versions, or an interface names an unknown policy.
pub fn plan(scenario: &Scenario, base: &Path, seed: u64, replication: u64) -> Result<Plan, ConfigError> {
    let mut lowering = Lowering { scenario, topology: Topology::new(scenario)? };
    lowering.refuse_mixed_versions()?;
    refuse_traffic(scenario)?;
    let mut forwarders: Vec<ForwarderConfig> = scenario
        .routers
        .keys()
        .map(|router| ForwarderConfig::new(router.clone(), seed, replication))
        .collect();
    let mut cables = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        lowering.lower(link, &mut forwarders, &mut cables, (seed, replication)).map_err(|error| {
            let is_rooted = error.path.first().is_some_and(|first| first == "policies");
            if is_rooted { error } else { error.within(index).within("links") }
        })?;
    }
    for forwarder in forwarders.iter_mut().take(scenario.routers.len()) {
        forwarder.routes = lowering.routes_of(&forwarder.node)?;
    }
    let hosts = scenario.hosts.keys().map(|host| lowering.host(host)).collect::<Result<_, _>>()?;
    let (mtu, envelope) = (mtu(scenario, base)?, most_envelope_bytes(scenario));
    for forwarder in &mut forwarders {
        forwarder.longest_frame = (mtu + FRAME_HEADERS + envelope).next_power_of_two();
        forwarder.slots = forwarder.slots.min(SLOT_MEMORY / forwarder.longest_frame);
    }
    Ok(Plan { hosts, forwarders, cables, mtu, envelope })
}

/// Rejects the replay of captures, because real hosts have other addresses and their own TCP. Also rejects
/// protocols without sockets.
fn refuse_traffic(scenario: &Scenario) -> Result<(), ConfigError> {
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let refused = if matches!(traffic.source, SourceConfig::Pcap(_)) {
            ConfigError::new("source.pcap", "a live run cannot replay a capture")
                .help("use `perhop run`, or a `trace` of times and sizes")
        } else if matches!(
            traffic.source,
            SourceConfig::Video(_) | SourceConfig::PageLoad(_) | SourceConfig::SpeedTest(_)
        ) {
            ConfigError::new("source", "hosts of a live run have no video players, browsers and speed tests")
                .help("use `perhop run`, or `request-response`, `web` or `bulk`")
        } else if matches!(traffic.source, SourceConfig::Game(_)) {
            ConfigError::new("source.game", "a live run has no servers that send by themselves")
                .help("use `perhop run`, or `cbr` in each direction")
        } else if !matches!(traffic.protocol(), Protocol::TCP | Protocol::UDP) {
            ConfigError::new("protocol", "hosts of a live run send UDP and TCP only")
                .help("use `perhop run`, or remove `protocol`")
        } else {
            continue;
        };
        return Err(refused.within(index).within("traffic"));
    }
    Ok(())
}

/// Returns the length of the longest IP packet of `scenario`, but at least the MTU of Ethernet.
fn mtu(scenario: &Scenario, base: &Path) -> Result<u32, ConfigError> {
    let mut mtu = ETHERNET_MTU;
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let longest = match traffic.source.forth().as_ref() {
            SourceConfig::Cbr(cbr) => cbr.packet.ip_length(),
            SourceConfig::OnOff(on_off) => on_off.packet.ip_length(),
            SourceConfig::Poisson(poisson) if poisson.sizes == SizeLaw::Fixed => poisson.packet.ip_length(),
            SourceConfig::Poisson(_) => LARGEST_IP_LENGTH,
            SourceConfig::Trace(trace) => {
                let entries = read_trace(base, &trace.file).map_err(|error| {
                    ConfigError::new("source.trace.file", error.to_string()).within(index).within("traffic")
                })?;
                entries.iter().map(|entry| entry.length).max().unwrap_or_default()
            }
            // Other sources use TCP. Their segments have the configured size and are not longer than the MTU.
            _ => continue,
        };
        mtu = mtu.max(longest.min(LARGEST_IP_LENGTH));
    }
    Ok(mtu)
}

/// Name of the forwarder between two hosts.
fn wire_name(between: &[String; 2]) -> String {
    between.join("--")
}

struct Lowering<'a> {
    scenario: &'a Scenario,
    topology: Topology<'a>,
}

impl<'a> Lowering<'a> {
    /// Rejects traffic between hosts with addresses of different IP versions.
    fn refuse_mixed_versions(&self) -> Result<(), ConfigError> {
        for (index, traffic) in self.scenario.traffic.iter().enumerate() {
            let (from, to) = (self.topology.address(&traffic.from)?, self.topology.address(&traffic.to)?);
            if from.is_ipv4() != to.is_ipv4() {
                let message = format!("{from} and {to} are addresses of different IP versions");
                return Err(ConfigError::new("to", message)
                    .help("a live run needs the same IP version at both ends of traffic")
                    .within(index)
                    .within("traffic"));
            }
        }
        Ok(())
    }

    /// Refuses priority flow control, because a socket cannot pause a neighbor's interface.
    fn check_pauses(&self, link: &LinkConfig) -> Result<(), ConfigError> {
        for (node, interface) in &link.interfaces {
            let Some(name) = &interface.output else { continue };
            let queueing = self.policy(name, node, "output")?.queueing.as_ref();
            if queueing.is_some_and(|queueing| queueing.pauses().iter().any(Option::is_some)) {
                let message = "a live run has no priority flow control (`pause`)";
                let help = "remove `pause`, or use `perhop run`";
                return Err(ConfigError::new("queueing", message).help(help).within(name).within("policies"));
            }
        }
        Ok(())
    }

    /// Adds both directions of `link` to their forwarders, and its cables.
    fn lower(
        &self,
        link: &LinkConfig,
        forwarders: &mut Vec<ForwarderConfig>,
        cables: &mut Vec<Cable>,
        (seed, replication): (u64, u64),
    ) -> Result<(), ConfigError> {
        if !link.rate_changes.is_empty() {
            let message = "the rate of a link cannot change in a live run";
            return Err(
                ConfigError::new("rate-changes", message).help("remove `rate-changes`, or use `perhop run`")
            );
        }
        self.check_pauses(link)?;
        let [a, b] = &link.between;
        let end = |node: &str, device: &str| CableEnd { node: node.to_owned(), device: device.to_owned() };
        if self.topology.is_host(a) && self.topology.is_host(b) {
            let wire = wire_name(&link.between);
            for (host, other) in [(a, b), (b, a)] {
                cables.push(Cable { ends: [end(host, other), end(&wire, host)] });
            }
            forwarders.push(ForwarderConfig::new(wire, seed, replication));
        } else {
            cables.push(Cable { ends: [end(a, b), end(b, a)] });
        }
        for (from, to) in [(a, b), (b, a)] {
            let config = self.direction(link, from, to)?;
            let (input, input_overhead) = self.input(link, to)?;
            let input_interfaces = self.topology.interfaces(to).to_vec();
            let far_interface = self.topology.interface(to, from).0;
            let owner = match (self.topology.is_host(from), self.topology.is_host(to)) {
                (false, _) => from.clone(),
                (true, false) => to.clone(),
                (true, true) => wire_name(&link.between),
            };
            let conditions_elsewhere = !self.topology.is_host(from) && !self.topology.is_host(to);
            if conditions_elsewhere {
                forwarder(forwarders, to).inputs.push(InputConfig {
                    name: config.name.clone(),
                    device: from.clone(),
                    input: input.clone(),
                    input_overhead,
                    input_interfaces: input_interfaces.clone(),
                    far_interface,
                    leads_to: None,
                });
            }
            forwarder(forwarders, &owner).directions.push(DirectionConfig {
                sent_frames: if self.topology.is_host(to) { SentFrames::Plain } else { SentFrames::OfLink },
                input: (!conditions_elsewhere).then_some(input),
                input_overhead,
                input_interfaces,
                far_interface,
                receives_on: self.topology.is_host(from).then(|| from.clone()),
                sends_on: (owner != *to).then(|| to.clone()),
                ..config
            });
        }
        Ok(())
    }

    /// The direction from `from` to `to` with the settings of its near end.
    fn direction(&self, link: &LinkConfig, from: &str, to: &str) -> Result<DirectionConfig, ConfigError> {
        let plain = InterfaceConfig::default();
        let near = link.interfaces.get(from).unwrap_or(&plain);
        let policy = match &near.output {
            Some(policy) => self.policy(policy, from, "output")?.clone(),
            None => PolicyConfig::default(),
        };
        Ok(DirectionConfig {
            framing: link.framing(),
            headers: *link.headers,
            ring: near.ring,
            queueing: policy.queueing,
            output: policy.conditioners,
            overhead: policy.overhead,
            output_interfaces: self.topology.interfaces(from).to_vec(),
            delay: link.delay,
            loss: link.loss,
            ..DirectionConfig::new(from, to, near.rate.unwrap_or(link.rate))
        })
    }

    /// Conditioners and overhead of the input policy at the `to` end of `link`.
    fn input(
        &self,
        link: &LinkConfig,
        to: &str,
    ) -> Result<(Vec<perhop_qos::conditioner::ConditionerConfig>, i32), ConfigError> {
        let Some(policy) = link.interfaces.get(to).and_then(|far| far.input.as_ref()) else {
            return Ok((Vec::new(), 0));
        };
        let policy = self.policy(policy, to, "input")?;
        Ok((policy.conditioners.clone(), policy.overhead))
    }

    /// Routes from `router` to each reachable host.
    fn routes_of(&mut self, router: &str) -> Result<Vec<RouteConfig>, ConfigError> {
        let first = self.first_links(router)?.into_iter();
        Ok(first.map(|(to, [from, next])| RouteConfig { to, direction: format!("{from}->{next}") }).collect())
    }

    fn host(&mut self, name: &str) -> Result<HostPlan, ConfigError> {
        let devices = self.topology.interfaces(name).to_vec();
        let routes = if devices.len() > 1 {
            let first = self.first_links(name)?.into_iter();
            first.map(|(to, [_, next])| HostRoute { to, device: next.to_owned() }).collect()
        } else {
            Vec::new()
        };
        Ok(HostPlan { name: name.to_owned(), address: self.topology.address(name)?, devices, routes })
    }

    /// For each host except `from`: the address of the host, and the ends of the first link on the path to
    /// the host.
    fn first_links(&mut self, from: &str) -> Result<Vec<(Prefix, [&'a str; 2])>, ConfigError> {
        let mut found = Vec::new();
        for host in self.scenario.hosts.keys().filter(|host| *host != from) {
            let path = self.topology.path(from, host)?;
            let Some(first) = path.and_then(|path| path.first().copied()) else { continue };
            found.push((Prefix::from(self.topology.address(host)?), self.topology.ends(first)));
        }
        Ok(found)
    }

    fn policy(&self, name: &str, node: &str, side: &str) -> Result<&'a PolicyConfig, ConfigError> {
        self.scenario.policies.get(name).ok_or_else(|| {
            let at = format!("interfaces.{node}.{side}");
            ConfigError::new(&at, format!("there is no policy `{name}`"))
        })
    }
}

/// The forwarder of `node`.
fn forwarder<'f>(forwarders: &'f mut [ForwarderConfig], node: &str) -> &'f mut ForwarderConfig {
    let place = forwarders.iter().rposition(|forwarder| forwarder.node == node);
    &mut forwarders[place.expect("every router and every wire between hosts has a forwarder")]
}
