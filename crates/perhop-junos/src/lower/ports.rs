//! Ports of interfaces and their units.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use perhop_device::lower::Links;
use perhop_device::{CountedBytes, LineKind, Port, PortForwarding, Wire};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{ByteSize, Rate};

use super::device::{Device, Findings};
use super::meters::Accepted;
use super::nodes::{Guarantees, Mode, Node, Nodes, REMAINING, TAG};
use super::shared_memory::memory;
use crate::cos::Attached;
use crate::interfaces::{Interface, Scheduling, Unit};
use crate::rules;

/// The assumed rate of a port if neither its name nor a statement defines the rate, bits per second.
const ASSUMED: u64 = 100_000_000_000;
/// Bytes of an Ethernet header in the MTU of an interface.
pub(super) const ETHERNET: u64 = 14;

/// Returns the ports of a device.
pub(crate) fn ports(device: Device, interfaces: &[Interface], findings: &mut Findings) -> Vec<Port> {
    let mut all = interfaces.to_vec();
    let known: BTreeSet<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    for name in device.cos.attachments.named_interfaces().filter(|name| !known.contains(name)) {
        let attached = device.cos.attachments.applied(name, None);
        let line = attached.scheduler_map.map_or(1, |map| map.line);
        all.push(Interface { name: name.to_owned(), line, ..Interface::default() });
    }
    let bundles = bundles(&all);
    let mut ports = Vec::new();
    for interface in &all {
        let bundled = bundles.get(interface.name.as_str()).copied().flatten();
        let line =
            LineOf { device, interface, bundled, nodes: OnceCell::new(), named_lines: OnceCell::new() };
        line.ports(&mut ports, findings);
    }
    ports
}

/// Returns the sum of the link rates of each bundle; `None` for a bundle with a link of unknown rate.
/// Disabled links do not count.
fn bundles(interfaces: &[Interface]) -> BTreeMap<&str, Option<u64>> {
    let mut found = BTreeMap::new();
    for interface in interfaces.iter().filter(|candidate| candidate.disabled.is_none()) {
        if let Some(bundle) = &interface.bundle {
            let sum = found.entry(bundle.as_str()).or_insert(Some(0u64));
            *sum = sum.zip(rate_of(interface)).and_then(|(sum, rate)| sum.checked_add(rate));
        }
    }
    found
}

/// Returns the rate of an interface by its speed or its name.
fn rate_of(interface: &Interface) -> Option<u64> {
    let by_name = || {
        Some(match interface.name.get(..3)? {
            "fe-" => 100_000_000,
            "ge-" => 1_000_000_000,
            "xe-" => 10_000_000_000,
            // ITU-T G.703: the bit rates of the hierarchy that starts with 1544 kb/s.
            "t1-" => 1_544_000,
            "t3-" => 44_736_000,
            _ => return None,
        })
    };
    interface.speed.map(|speed| speed.value.as_bits_per_second()).or_else(by_name)
}

/// Whether an interface has queues.
pub(crate) fn has_queues(name: &str) -> bool {
    let media =
        ["fe-", "ge-", "xe-", "et-", "mge-", "reth", "ae", "so-", "t1-", "t3-", "e1-", "e3-", "se-", "at-"];
    media.iter().any(|prefix| name.starts_with(prefix))
}

/// An interface whose ports are lowered, with its line.
pub(super) struct LineOf<'l> {
    pub(super) device: Device<'l>,
    pub(super) interface: &'l Interface,
    bundled: Option<u64>,
    /// The guarantees of the nodes under the port, computed on first use.
    pub(super) nodes: OnceCell<Guarantees>,
    /// The lines that attach class of service to this interface by name, computed on first use.
    pub(super) named_lines: OnceCell<Vec<usize>>,
}

impl LineOf<'_> {
    fn ports(&self, ports: &mut Vec<Port>, findings: &mut Findings) {
        let interface = self.interface;
        if interface.bundle.is_some() {
            return self.note_link(findings);
        }
        let physical = self.device.cos.attachments.applied(&interface.name, None);
        let whole = Unit { number: String::new(), line: interface.line, ..Unit::default() };
        match interface.units.as_slice() {
            [] => ports.push(self.port(&interface.name, &whole, (&physical, None), findings)),
            [unit] => {
                let own = self.device.cos.attachments.applied(&interface.name, Some(&unit.number));
                let name = format!("{}.{}", interface.name, unit.number);
                ports.push(self.port(&name, unit, (&physical, Some(&own)), findings));
            }
            units => {
                ports.push(self.port(&interface.name, &whole, (&physical, None), findings));
                for unit in units {
                    let own = self.device.cos.attachments.applied(&interface.name, Some(&unit.number));
                    ports.push(self.unit_port(unit, (&physical, &own), findings));
                }
            }
        }
    }

    /// Reports class of service at the name of a link of a bundle. It must be at the bundle (Junos System Log
    /// Reference, COSD messages). A name with wildcards that matches the link is valid.
    fn note_link(&self, findings: &mut Findings) {
        let attached = self.device.cos.attachments.of_name(&self.interface.name);
        for line in attached.lines() {
            let message = format!("{} is a link of a bundle", self.interface.name);
            let router = "the device does not apply class of service to links, but to the bundle";
            findings.found(&rules::JUNOS_VALUE_INVALID, line, message, router);
        }
    }

    pub(super) fn line_rate(&self) -> Option<Rate> {
        rate_of(self.interface).or(self.bundled).map(Rate::from_bits_per_second)
    }

    /// Returns the port of an interface, with its queues and the conditioners of a unit.
    fn port(
        &self,
        name: &str,
        unit: &Unit,
        (physical, own): (&Attached, Option<&Attached>),
        findings: &mut Findings,
    ) -> Port {
        let assumed = self.line_rate().unwrap_or(Rate::from_bits_per_second(ASSUMED));
        let mut port = self.unit_named(name, unit);
        port.forwarding.parent = None;
        let attached = own.map_or_else(|| physical.clone(), |own| own.clone().or(physical));
        self.condition(&mut port, unit, &attached, findings);
        if !has_queues(&self.interface.name) {
            return port;
        }
        let chain = self.chain(unit, (physical, own), findings);
        self.add_line(&mut port, (unit, &attached, physical), chain, findings);
        Self::buildable(port, assumed, findings)
    }

    /// Adds the queues of the port along `chain`, and its line.
    fn add_line(
        &self,
        port: &mut Port,
        (unit, attached, physical): (&Unit, &Attached, &Attached),
        chain: Vec<Node>,
        findings: &mut Findings,
    ) {
        let rate = self.line_rate();
        let assumed = rate.unwrap_or(Rate::from_bits_per_second(ASSUMED));
        let map = chain.last().and_then(|node| node.scheduler_map.clone());
        let output_line = output_line(&chain);
        let shaped = chain.first().and_then(|node| node.shaping).map(Rate::from_bits_per_second);
        if rate.is_none() && map.is_some() && shaped.is_none() {
            let message = format!("the configuration does not state the rate of {}", self.interface.name);
            let router = "perhop assumes 100 Gb/s; `speed` states another rate";
            findings.found(&rules::JUNOS_RATE_ASSUMED, self.interface.line, message, router);
        }
        // If a hierarchy that perhop does not model replaces the default schedulers, the port has no queues
        // here.
        if map.is_some() || physical.hierarchy.is_none() {
            self.add_queues(port, (unit, attached, physical), chain, findings);
        }
        port.bandwidth = Some(shaped.map_or(assumed, |shaped| shaped.min(assumed)));
        port.assumed_rate = rate.is_none().then_some(assumed);
        port.forwarding.output_line = output_line;
        port.wire = Wire {
            rate,
            framing: Some(Framing::EthernetWire).filter(|_| port.kind == Some(LineKind::Ethernet)),
            mtu: self.mtu(),
            ..Wire::default()
        };
    }

    fn add_queues(
        &self,
        port: &mut Port,
        (unit, attached, physical): (&Unit, &Attached, &Attached),
        chain: Vec<Node>,
        findings: &mut Findings,
    ) {
        let mut chain = chain;
        let mode = match chain.as_slice() {
            [only] if only.is_port => Mode::Flat,
            _ => self.scale_guarantees(physical, &mut chain),
        };
        let has_port = chain.first().is_some_and(|node| node.is_port);
        let tags = self.tags(unit, findings);
        let counted = self.counted(tags);
        port.counted_bytes = Some(CountedBytes { classes: 0, queues: i32::from(counted) });
        let nodes = Nodes {
            port: &self.interface.name,
            line: self.interface.line,
            line_rate: self.line_rate().unwrap_or(Rate::from_bits_per_second(ASSUMED)),
            around: if has_port { self.line_bits() } else { self.inside(physical) },
            counted,
            has_accepted: accepted(unit, attached) == Accepted::Label,
            mode,
            chain,
        };
        let mut found = nodes.queues(self.device, findings);
        found.config.memory = memory(self.device);
        port.output.queueing = Some(found.config);
        if !self.device.rules.has_known_buffers {
            port.unmodeled_queues = Some("the buffers of the device are not published".to_owned());
        }
        let offset = port.links.output.classes.len();
        port.links.output.classes.extend(found.links.into_iter().map(|mut link| {
            link.class.0 += offset;
            link
        }));
    }

    /// Returns the bits per second of the line.
    pub(super) fn line_bits(&self) -> u64 {
        self.line_rate().map_or(ASSUMED, Rate::as_bits_per_second)
    }

    /// Returns the bytes that queues count for a packet with `tags` in addition to its IP bytes.
    fn counted(&self, tags: u16) -> u16 {
        let own = self.interface.shaping_overhead.map(|at| ETHERNET as i32 + at.value);
        let own = own.and_then(|bytes| u16::try_from(bytes).ok());
        own.unwrap_or(self.device.rules.overhead) + TAG * tags
    }

    /// Returns the number of tags of packets of the port, which is the maximum over its units.
    fn tags(&self, unit: &Unit, findings: &mut Findings) -> u16 {
        let units = if unit.number.is_empty() { self.interface.units.as_slice() } else { &[] };
        let most = units.iter().map(|unit| unit.tags).max().unwrap_or(unit.tags);
        for other in units.iter().filter(|unit| unit.tags != most) {
            findings.not_modeled(
                other.line,
                "units with fewer tags: the queues count the tags of the other units",
            );
        }
        most
    }

    fn mtu(&self) -> Option<ByteSize> {
        let mtu = self.interface.mtu?.value;
        let tag = if self.interface.is_tagged { 4 } else { 0 };
        mtu.checked_sub(ETHERNET + tag).filter(|mtu| *mtu >= 68).map(ByteSize::from_bytes)
    }

    /// Returns the port of one of several units. Its packets leave through the port of the interface. The
    /// returned port has only the nodes of this unit. If units have no schedulers, it has the queues of the
    /// port of the interface, as if the other units sent no packets.
    fn unit_port(
        &self,
        unit: &Unit,
        (physical, own): (&Attached, &Attached),
        findings: &mut Findings,
    ) -> Port {
        let mut port = self.unit_named(&format!("{}.{}", self.interface.name, unit.number), unit);
        let attached = own.clone().or(physical);
        self.condition(&mut port, unit, &attached, findings);
        let assumed = self.line_rate().unwrap_or(Rate::from_bits_per_second(ASSUMED));
        if !has_queues(&self.interface.name) {
            return Self::buildable(port, assumed, findings);
        }
        let chain = self.chain(unit, (physical, Some(own)), findings);
        let inside = self.inside(physical);
        let nodes: Vec<Node> = chain.iter().filter(|node| !node.is_port).cloned().collect();
        if let Some(innermost) = nodes.last() {
            // Equal output lines show that the remaining units use the queues of the port.
            port.forwarding.output_line = match innermost.name.as_str() {
                REMAINING => output_line(&chain),
                _ => innermost.scheduler_map.as_ref().map(|map| map.line),
            };
            port.bandwidth = Some(Rate::from_bits_per_second(inside));
            self.add_queues(&mut port, (unit, &attached, physical), nodes, findings);
        } else if self.interface.scheduling == Scheduling::Port && chain.iter().any(Node::is_written) {
            self.add_line(&mut port, (unit, &attached, physical), chain, findings);
        }
        Self::buildable(port, assumed, findings)
    }

    fn unit_named(&self, name: &str, unit: &Unit) -> Port {
        let interface = self.interface;
        let disabled = interface.disabled.or(unit.disabled);
        let kind = match interface.name.get(..2) {
            Some("fe" | "ge" | "xe" | "et" | "mg" | "re" | "ae") => LineKind::Ethernet,
            Some("so") => LineKind::PacketOverSonet,
            Some("t1" | "t3" | "e1" | "e3" | "se") => LineKind::Serial,
            Some("at") => LineKind::Atm,
            _ => LineKind::Virtual,
        };
        Port {
            interface: interface.name.clone(),
            kind: Some(kind),
            addresses: unit.addresses.clone(),
            shutdown: disabled.is_some(),
            counted_bytes: Some(CountedBytes { classes: 0, queues: i32::from(self.counted(unit.tags)) }),
            forwarding: PortForwarding {
                addresses6: unit.addresses6.clone(),
                parent: Some(interface.name.clone()),
                description: unit.description.clone().or_else(|| interface.description.clone()),
                shutdown_line: disabled,
                mtu_line: interface.mtu.map(|mtu| mtu.line),
                tag_line: unit.vlan.map(|vlan| vlan.line),
                input_line: unit.sides.input.filters.first().map(|(_, at)| at.line),
                output_line: unit.sides.output.filters.first().map(|(_, at)| at.line),
                ..PortForwarding::default()
            },
            ..Port::new(name, unit.line)
        }
    }

    /// Returns the port. Removes a policy that perhop cannot build, and reports all its statements.
    fn buildable(port: Port, rate: Rate, findings: &mut Findings) -> Port {
        let wire = WireConfig {
            rate,
            framing: Framing::default(),
            headers: HeaderStack::EMPTY,
            ring: RingConfig::default(),
        };
        let streams = Streams::new(0, 0);
        let build = |policy: &PolicyConfig| {
            policy.build_conditioner(&[], &streams).map(|_| ())?;
            policy.build_port(&wire, &[], &streams).map(|_| ())
        };
        let mut port = port;
        let Port { name, line, input, output, links, .. } = &mut port;
        for (policy, links) in [(input, &mut links.input), (output, &mut links.output)] {
            let Err(error) = build(policy) else { continue };
            let note = format!("{name}: {error}");
            findings.not_modeled(*line, &note);
            for line in links.classes.iter().flat_map(|class| &class.lines) {
                findings.not_modeled(*line, &note);
            }
            (*policy, *links) = (PolicyConfig::default(), Links::default());
        }
        port
    }
}

/// Returns the line of the scheduler map of nodes, otherwise of the first statement about their rates.
fn output_line(chain: &[Node]) -> Option<usize> {
    let map = chain.last().and_then(|node| node.scheduler_map.as_ref());
    map.map(|map| map.line).or_else(|| chain.iter().find_map(Node::first_line))
}

/// Whether conditioners follow the output filters of a unit.
pub(super) fn accepted(unit: &Unit, attached: &Attached) -> Accepted {
    let follow = !attached.rewrites.is_empty() || !unit.sides.output.policers.is_empty();
    if follow && !unit.sides.output.filters.is_empty() { Accepted::Label } else { Accepted::Transmit }
}
