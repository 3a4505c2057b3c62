//! [`Snapshot::walk`]: the paths of a packet through the network, device by device.

use std::collections::BTreeSet;
use std::net::IpAddr;

use perhop_analysis::Witness;
use perhop_device::{RoutingProtocol, TunnelEnds, TunnelSource};
use perhop_qos::{ConfigError, Dscp, Packet};
use serde::Serialize;

use super::hops::Onward;
use super::{PortId, Snapshot};
use crate::forwarding::{Decision, Origin, addresses};
use crate::trace::{Cause, End, HeaderName, LineText, OwnPackets, Path, Stage, TraceOptions};

/// Maximum number of devices on a path: the time to live of a packet (RFC 1700).
pub(super) const MOST_HOPS: usize = 64;
/// Maximum number of followed paths of a packet.
const MOST_PATHS: usize = 64;

/// The paths of a packet from its sender to its receiver.
#[derive(Clone, Debug, Serialize)]
pub struct Walk {
    /// The packet as it is sent.
    pub packet: String,
    /// Its paths: several if meters can give the packet different colors.
    pub paths: Vec<WalkPath>,
    /// The assumptions behind the paths.
    pub assumed: Vec<String>,
    /// Ignored parts of the configurations that can change the paths.
    pub not_looked_at: Vec<String>,
}

/// One path of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct WalkPath {
    /// The devices in order.
    pub hops: Vec<Hop>,
    /// Its end.
    #[serde(flatten)]
    pub end: WalkEnd,
    /// The codepoint of the innermost header at the end of the path.
    pub dscp: Dscp,
    /// The places where a codepoint changes.
    pub changes: Vec<Change>,
}

/// A device that a packet passes.
#[derive(Clone, Debug, Serialize)]
pub struct Hop {
    /// The device.
    pub device: String,
    /// The path of its configuration.
    pub file: String,
    /// The interface on which the packet arrives; `None` at its sender.
    pub arrives: Option<String>,
    /// The interface through which the packet leaves; `None` if its path ends here.
    pub leaves: Option<String>,
    /// The queue that it joins; `None` for a single queue without a name.
    pub queue: Option<String>,
    /// The packet as it leaves.
    pub packet: String,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The port through which the packet leaves.
    #[serde(skip)]
    pub(crate) port: Option<PortId>,
}

/// A place where a codepoint changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The device.
    pub device: String,
    /// The path of its configuration.
    pub file: String,
    /// The codepoint before.
    pub from: Dscp,
    /// The codepoint afterwards.
    pub to: Dscp,
    /// The lines that change it.
    pub lines: Vec<LineText>,
}

/// The end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum WalkEnd {
    /// The packet reaches its destination: a host behind an interface, or a device.
    Delivered {
        /// The last device.
        device: String,
        /// The interface that leads to the host; `None` if the device itself is the destination.
        interface: Option<String>,
    },
    /// A device drops the packet.
    Dropped {
        /// The device.
        device: String,
        /// The stage that drops it.
        cause: Cause,
    },
    /// The packet leaves the devices of the snapshot.
    LeavesSnapshot {
        /// The last device.
        device: String,
        /// The interface.
        interface: String,
        /// The next router, if the route names it.
        next_hop: Option<IpAddr>,
    },
    /// perhop does not know the next hop of the packet.
    PathUnknown {
        /// The device.
        device: String,
        /// The reason.
        because: String,
        /// The facts that would answer the question.
        help: String,
    },
    /// The packet returns to a device with the same headers.
    Loop {
        /// The device.
        device: String,
    },
}

/// A packet, and its path so far.
#[derive(Clone)]
struct Walker {
    packet: Packet,
    /// The inner packets of tunnels that the packet is in, the innermost first.
    inside: Vec<Packet>,
    hops: Vec<Hop>,
    changes: Vec<Change>,
}

/// The assumptions and ignored parts that a walk has found.
#[derive(Default)]
pub(super) struct Remarks {
    assumed: BTreeSet<String>,
    not_looked_at: BTreeSet<String>,
}

impl Snapshot<'_> {
    /// Returns the paths of a packet from the host or device with its source address.
    ///
    /// # Errors
    /// No device is near the source, or the policies of a device cannot be built.
    pub fn walk(&self, packet: &Packet) -> Result<Walk, ConfigError> {
        let source = packet.source.to_ip();
        let mut remarks = Remarks::default();
        let (device, port) = self.first_device(source, &mut remarks)?;
        self.follow(packet, device, port, remarks)
    }

    /// Returns the paths of a packet that arrives at a port of a device, or that the device itself sends.
    pub(super) fn walk_from(
        &self,
        packet: &Packet,
        device: usize,
        port: Option<PortId>,
    ) -> Result<Walk, ConfigError> {
        self.follow(packet, device, port, Remarks::default())
    }

    fn follow(
        &self,
        packet: &Packet,
        device: usize,
        port: Option<PortId>,
        mut remarks: Remarks,
    ) -> Result<Walk, ConfigError> {
        let walker = Walker { packet: *packet, inside: Vec::new(), hops: Vec::new(), changes: Vec::new() };
        let mut open = vec![(walker, device, port)];
        let mut paths = Vec::new();
        while let Some((walker, device, port)) = open.pop() {
            if paths.len() + open.len() >= MOST_PATHS {
                remarks.not_looked_at.insert(format!("more than {MOST_PATHS} paths of the packet"));
                break;
            }
            for step in self.step(walker, device, port, &mut remarks)? {
                match step {
                    Step::Goes(walker, device, port) => open.push((walker, device, port)),
                    Step::Ends(path) => paths.push(path),
                }
            }
        }
        let packet = written(packet);
        let Remarks { assumed, not_looked_at } = remarks;
        let (assumed, not_looked_at) = (assumed.into_iter().collect(), not_looked_at.into_iter().collect());
        Ok(Walk { packet, paths, assumed, not_looked_at })
    }

    /// Returns the first device of a packet, and the port on which the packet arrives; no port if this device
    /// is the sender.
    pub(super) fn first_device(
        &self,
        source: IpAddr,
        remarks: &mut Remarks,
    ) -> Result<(usize, Option<PortId>), ConfigError> {
        if let Some(id) = self.owner(source) {
            return Ok((id.device, None));
        }
        let near = self.ports_near(source);
        match near.as_slice() {
            [] => {
                Err(ConfigError::new("from", format!("no device has an interface in the subnet of {source}"))
                    .help("give the address of a host in the subnet of an interface"))
            }
            [only] => Ok((only.device, Some(*only))),
            several => {
                let gateways = several.iter().flat_map(|id| &self.port(*id).forwarding.shared_addresses);
                let first = gateways.map(|shared| shared.address).next();
                let first = first.and_then(|address| self.first_of_group(several.iter().copied(), address));
                let chosen = first.unwrap_or(several[0]);
                let names: Vec<&str> =
                    several.iter().map(|id| self.devices[id.device].name.as_str()).collect();
                let because = if first.is_some() { "the first of its group" } else { "the first by name" };
                remarks.assumed.insert(format!(
                    "{source} sends to {}, {because} of {}",
                    self.devices[chosen.device].name,
                    names.join(", ")
                ));
                Ok((chosen.device, Some(chosen)))
            }
        }
    }

    /// Follows a packet through one device.
    fn step(
        &self,
        walker: Walker,
        device: usize,
        arrives: Option<PortId>,
        remarks: &mut Remarks,
    ) -> Result<Vec<Step>, ConfigError> {
        let member = &self.devices[device];
        let destination = walker.packet.destination.to_ip();
        let table = member.device.table();
        let vrf = arrives.and_then(|id| self.port(id).forwarding.vrf.as_ref()).map(|vrf| vrf.value.as_str());
        let decision = table.decide(vrf, destination);
        if let Some(end) = self.unknown(device, vrf, &decision, destination) {
            return Ok(vec![walker.ends(end)]);
        }
        if walker.hops.len() >= MOST_HOPS {
            return Ok(vec![walker.ends(WalkEnd::Loop { device: member.name.clone() })]);
        }
        let is_own = matches!(decision, Decision::Own { .. });
        let own = if is_own && !walker.inside.is_empty() {
            OwnPackets::Decapsulated
        } else {
            OwnPackets::ControlPlane
        };
        let options = TraceOptions { arrives: arrives.map(|id| self.port(id)), leaves: None, own };
        let answer = member.device.trace_packet(&walker.packet, options)?;
        let name = |text: String| format!("{}: {text}", member.name);
        remarks.assumed.extend(answer.assumed.into_iter().map(name));
        remarks.not_looked_at.extend(answer.not_looked_at.into_iter().map(name));
        let mut steps = Vec::new();
        let mut seen = BTreeSet::new();
        for path in answer.paths {
            let key =
                (path.packet.clone(), path.leaves.clone(), path.queue.clone(), format!("{:?}", path.end));
            if seen.insert(key) {
                let mut next = walker.clone();
                next.pass(self, device, arrives, &path);
                steps.push(self.after(next, device, arrives, &path));
            }
        }
        Ok(steps)
    }

    /// Returns the end of a path at a device that has no certain route for the packet; `None` if it has one.
    pub(super) fn unknown(
        &self,
        device: usize,
        vrf: Option<&str>,
        decision: &Decision,
        destination: IpAddr,
    ) -> Option<WalkEnd> {
        let member = &self.devices[device];
        let stop = |because: String| WalkEnd::PathUnknown {
            device: member.name.clone(),
            because,
            help: format!(
                "give the routes of {}: `show ip route{}`, or `routes` in network.yaml",
                member.name,
                vrf.map_or(String::new(), |vrf| format!(" vrf {vrf}"))
            ),
        };
        let of_table = vrf.map_or(String::new(), |vrf| format!(" in the VRF {vrf}"));
        match decision {
            Decision::Unknown(_) => {
                if let Some(end) = self.labeled(device, vrf, destination) {
                    return Some(end);
                }
                let protocol = self.line_not_computed(device, vrf).map_or(String::new(), |line| {
                    let text = member.device.line_text(line);
                    format!(", and perhop does not compute the routes of line {line}, `{text}`")
                });
                Some(stop(format!("no route to {destination} is known{of_table}{protocol}")))
            }
            Decision::Leaves(exit) if !matches!(exit.origin, Origin::Connected | Origin::Given) => {
                // A protocol whose routes perhop does not compute can have a more specific route than the
                // default route.
                let is_default = exit.prefix.as_deref().is_some_and(|prefix| prefix.ends_with("/0"));
                let line = self.line_not_computed(device, vrf).filter(|_| is_default)?;
                let text = member.device.line_text(line);
                Some(stop(format!(
                    "only the default route leads to {destination}, and line {line}, `{text}`, may add a better route that perhop does not compute"
                )))
            }
            _ => None,
        }
    }

    /// Returns the end of a path whose route in a VRF has a next hop in the global table. The packets then
    /// leave with labels (RFC 4364 §4.3.2), which perhop does not follow.
    fn labeled(&self, device: usize, vrf: Option<&str>, destination: IpAddr) -> Option<WalkEnd> {
        let member = &self.devices[device];
        let table = member.device.table();
        let (prefix, next_hop) = table.given.far_next_hop(Some(vrf?), destination)?;
        let Decision::Leaves(exit) = table.decide(None, next_hop) else { return None };
        let far = self.owner(next_hop).map(|id| self.devices[id.device].name.clone());
        Some(WalkEnd::PathUnknown {
            device: member.name.clone(),
            because: format!(
                "{prefix} in the VRF {} is behind {next_hop}{}: the packets leave via {} with labels, which \
                 perhop does not follow",
                vrf?,
                far.as_ref().map_or(String::new(), |far| format!(" of {far}")),
                exit.port.name
            ),
            help: format!(
                "trace the core with the codepoint that the labels carry, then continue from {}",
                far.unwrap_or_else(|| next_hop.to_string())
            ),
        })
    }

    /// Returns the line of a protocol whose routes are not computed, unless the user gave the routes.
    pub(super) fn line_not_computed(&self, device: usize, vrf: Option<&str>) -> Option<usize> {
        if self.devices[device].device.table().given.is_given(vrf) {
            return None;
        }
        let processes = &self.router(device).forwarding.processes;
        processes.iter().find_map(|process| match process.protocol {
            RoutingProtocol::Eigrp | RoutingProtocol::Other => Some(process.line),
            _ => process.not_computed.first().copied(),
        })
    }

    /// Returns the next step of a packet that has passed a device.
    fn after(&self, mut walker: Walker, device: usize, arrives: Option<PortId>, path: &Path) -> Step {
        let name = self.devices[device].name.clone();
        match &path.end {
            End::Dropped { cause } => {
                let cause = *cause;
                return walker.ends(WalkEnd::Dropped { device: name, cause });
            }
            End::Delivered => {
                let Some(inner) = walker.inside.pop() else {
                    return walker.ends(WalkEnd::Delivered { device: name, interface: None });
                };
                let tunnel = self.tunnel_of(device, &walker.packet).or(arrives);
                // The inner header keeps its codepoint (RFC 2983 §4.2: the pipe model).
                walker.packet = inner;
                return Step::Goes(walker, device, tunnel);
            }
            End::Queued | End::NoQueue | End::Leaves => {}
        }
        let Some(port) = walker.hops.last().and_then(|hop| hop.port) else {
            let because = "the interface through which the packet leaves is not known".to_owned();
            let help = "give the route, or the destination of the tunnel".to_owned();
            return walker.ends(WalkEnd::PathUnknown { device: name, because, help });
        };
        let interface = self.port(port).name.clone();
        match self.onward(port, path) {
            Onward::Device(next) => {
                let is_back = walker.hops.iter().rev().skip(1).any(|hop| {
                    hop.device == self.devices[next.device].name && hop.packet == written(&walker.packet)
                });
                if is_back {
                    return walker.ends(WalkEnd::Loop { device: self.devices[next.device].name.clone() });
                }
                Step::Goes(walker, next.device, Some(next))
            }
            Onward::Host => walker.ends(WalkEnd::Delivered { device: name, interface: Some(interface) }),
            Onward::Elsewhere(next_hop) => {
                walker.ends(WalkEnd::LeavesSnapshot { device: name, interface, next_hop })
            }
        }
    }

    /// Returns the port of a device that is the end of a tunnel with the addresses of `packet`.
    fn tunnel_of(&self, device: usize, packet: &Packet) -> Option<PortId> {
        let router = self.router(device);
        let (far, near) = (packet.source.to_ip(), packet.destination.to_ip());
        let is_end = |port: &perhop_device::Port| {
            let Some(tunnel) = &port.forwarding.tunnel else { return false };
            let source = tunnel.source.as_ref().map(|source| &source.value);
            let has_source = match source {
                Some(TunnelSource::Address(address)) => *address == near,
                Some(TunnelSource::Interface(name)) => {
                    let mut ports = router.ports.iter();
                    ports
                        .any(|port| port.interface == *name && addresses(port).any(|own| own.address == near))
                }
                None => false,
            };
            let has_far = match &tunnel.destination {
                Some(destination) => destination.value == far,
                None => tunnel.ends == TunnelEnds::Several,
            };
            has_source && has_far && tunnel.protocol == packet.protocol
        };
        router.ports.iter().position(is_end).map(|port| PortId { device, port })
    }
}

/// The next step of a packet.
enum Step {
    Goes(Walker, usize, Option<PortId>),
    Ends(WalkPath),
}

impl Walker {
    /// Takes the packet through a device.
    fn pass(&mut self, snapshot: &Snapshot, device: usize, arrives: Option<PortId>, path: &Path) {
        let member = &snapshot.devices[device];
        let mut before = self.packet.dscp;
        for stage in &path.stages {
            if let Stage::Conditioner { dscp, lines, .. } = stage {
                if *dscp != before {
                    self.changes.push(Change {
                        device: member.name.clone(),
                        file: member.file.clone(),
                        from: before,
                        to: *dscp,
                        lines: lines.clone(),
                    });
                }
                before = *dscp;
            }
        }
        self.packet = path.last;
        for header in &path.added_headers {
            self.inside.push(header.inner);
            self.packet = match header.classified_by {
                HeaderName::Outer => path.last,
                // The port below classifies by the inner header, but marks the outer one.
                HeaderName::Inner => Packet { dscp: path.last.dscp, ..header.outer },
            };
        }
        let router = snapshot.router(device);
        let place = path.leaves.as_ref().and_then(|name| {
            let port = router.ports.iter().position(|port| port.name == *name)?;
            Some(PortId { device, port })
        });
        self.hops.push(Hop {
            device: member.name.clone(),
            file: member.file.clone(),
            arrives: arrives.map(|id| snapshot.port(id).name.clone()),
            leaves: path.leaves.clone(),
            queue: path.queue.clone(),
            packet: written(&self.packet),
            stages: path.stages.clone(),
            port: place,
        });
    }

    fn ends(self, end: WalkEnd) -> Step {
        let dscp = self.inside.first().map_or(self.packet.dscp, |inner| inner.dscp);
        Step::Ends(WalkPath { hops: self.hops, end, dscp, changes: self.changes })
    }
}

fn written(packet: &Packet) -> String {
    let plain = Packet { color: perhop_qos::Color::GREEN, label: 0, ..*packet };
    Witness { packet: plain, input: None }.to_string()
}
