//! [`Snapshot::walk`]: the paths of a packet through the network, device by device.

use std::collections::BTreeSet;
use std::net::IpAddr;

use perhop_analysis::Witness;
use perhop_device::{TunnelEnds, TunnelSource};
use perhop_qos::{ConfigError, Dscp, Packet};
use serde::Serialize;

use super::hops::{MOST_HOPS, Onward};
use super::labels::{AtDevice, ExpChange, HopLabel, Label};
use super::{PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::trace::{Cause, End, HeaderName, LabelSwitching, LineText, OwnPackets, Path, Stage, TraceOptions};

/// Limit on the number of paths of a packet.
const MOST_PATHS: usize = 64;

/// The paths of a packet from its sender to its receiver.
#[derive(Clone, Debug, Serialize)]
pub struct Walk {
    /// The packet as the sender sends it.
    pub packet: String,
    /// The paths. There are several if meters can give the packet different colors.
    pub paths: Vec<WalkPath>,
    /// The assumptions behind the paths.
    pub assumed: Vec<String>,
    /// The ignored parts of the configurations that can change the paths.
    pub not_looked_at: Vec<String>,
}

/// One path of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct WalkPath {
    /// The devices, in the order in which the packet passes them.
    pub hops: Vec<Hop>,
    /// The end of the path.
    #[serde(flatten)]
    pub end: WalkEnd,
    /// The codepoint of the innermost header at the end of the path.
    pub dscp: Dscp,
    /// The places where a codepoint changes.
    pub changes: Vec<Change>,
    /// The places where the EXP of the top label changes after a router added the label.
    pub exp_changes: Vec<ExpChange>,
}

/// A device that a packet passes.
#[derive(Clone, Debug, Serialize)]
pub struct Hop {
    /// The name of the device.
    pub device: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The interface on which the packet arrives; `None` at the sender.
    pub arrives: Option<String>,
    /// The interface through which the packet leaves; `None` if the path ends at this device.
    pub leaves: Option<String>,
    /// The queue that the packet joins; `None` for a single queue without a name.
    pub queue: Option<String>,
    /// The packet as it leaves the device.
    pub packet: String,
    /// The MPLS labels with which the packet leaves, the outermost first.
    pub labels: Vec<HopLabel>,
    /// The stages of the packet in the device.
    pub stages: Vec<Stage>,
    /// The port through which the packet leaves.
    #[serde(skip)]
    pub(crate) port: Option<PortId>,
}

/// A place where a codepoint changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The name of the device.
    pub device: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The codepoint before the change.
    pub from: Dscp,
    /// The codepoint after the change.
    pub to: Dscp,
    /// The lines that change the codepoint.
    pub lines: Vec<LineText>,
}

/// The end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum WalkEnd {
    /// The packet reaches its destination: a host behind an interface, or a device.
    Delivered {
        /// The name of the last device.
        device: String,
        /// The interface behind which the host is; `None` if the device itself is the destination.
        interface: Option<String>,
    },
    /// A device drops the packet.
    Dropped {
        /// The name of the device.
        device: String,
        /// The stage that drops the packet.
        cause: Cause,
    },
    /// The packet leaves to a router outside of the snapshot.
    LeavesSnapshot {
        /// The name of the last device.
        device: String,
        /// The interface through which the packet leaves.
        interface: String,
        /// The next router, if the route names it.
        next_hop: Option<IpAddr>,
    },
    /// perhop does not know the next hop of the packet.
    PathUnknown {
        /// The name of the device.
        device: String,
        /// The reason why the next hop is unknown.
        because: String,
        /// The facts that the user can add so that perhop knows the next hop.
        help: String,
    },
    /// The packet returns to a device with the same headers, or the path is longer than the time to live.
    Loop {
        /// The name of the device.
        device: String,
    },
}

/// A packet, and its path so far.
#[derive(Clone)]
pub(super) struct Walker {
    pub(super) packet: Packet,
    /// The packets inside the current packet, if it is a tunnel packet, the innermost first.
    inside: Vec<Packet>,
    /// The labels of the packet, from the bottom.
    pub(super) labels: Vec<Label>,
    pub(super) hops: Vec<Hop>,
    changes: Vec<Change>,
    pub(super) exp_changes: Vec<ExpChange>,
}

/// The assumptions and the ignored parts of a walk.
#[derive(Default)]
pub(super) struct Remarks {
    assumed: BTreeSet<String>,
    not_looked_at: BTreeSet<String>,
}

impl Snapshot<'_> {
    /// Returns the paths of a packet from the host or device that has the source address.
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
        let walker = Walker {
            packet: *packet,
            inside: Vec::new(),
            labels: Vec::new(),
            hops: Vec::new(),
            changes: Vec::new(),
            exp_changes: Vec::new(),
        };
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

    /// Returns the first device of a packet, and the port on which the packet arrives. Returns no port if
    /// this device sends the packet.
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
                    .help("write the address of a host in the subnet of an interface"))
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
        let at = AtDevice { device, vrf, packet: &walker.packet, labels: &walker.labels };
        let plan = match self.label_plan(at) {
            Ok(plan) => plan,
            Err(end) => return Ok(vec![walker.ends(end)]),
        };
        let without_labels = LabelSwitching::default();
        let switching = plan.as_ref().map_or(&without_labels, |plan| &plan.switching);
        let vrf = switching.table.vrf(vrf);
        let decision = table.decide(vrf, destination);
        let onward = plan.as_ref().and_then(|plan| plan.onward);
        if let Some(end) = self.unknown(device, vrf, &decision, destination).filter(|_| onward.is_none()) {
            return Ok(vec![walker.ends(end)]);
        }
        if walker.hops.len() >= MOST_HOPS {
            return Ok(vec![walker.ends(WalkEnd::Loop { device: member.name.clone() })]);
        }
        let is_own = matches!(decision, Decision::Own { .. }) && onward.is_none();
        let own = if is_own && !walker.inside.is_empty() {
            OwnPackets::Decapsulated
        } else {
            OwnPackets::ControlPlane
        };
        let options = TraceOptions {
            arrives: arrives.map(|id| self.port(id)),
            leaves: onward.map(|(leaves, _)| self.port(leaves)),
            own,
            labels: Some(switching),
        };
        let answer = member.device.trace_packet(&walker.packet, options)?;
        let name = |text: String| format!("{}: {text}", member.name);
        let of_labels = plan.as_ref().map_or(&[][..], |plan| &plan.assumed);
        remarks.assumed.extend(answer.assumed.into_iter().chain(of_labels.iter().cloned()).map(name));
        remarks.not_looked_at.extend(answer.not_looked_at.into_iter().map(name));
        let mut steps = Vec::new();
        let mut seen = BTreeSet::new();
        for path in answer.paths {
            let key =
                (path.packet.clone(), path.leaves.clone(), path.queue.clone(), format!("{:?}", path.end));
            if seen.insert(key) {
                let mut next = walker.clone();
                next.pass(self, device, arrives, &path);
                next.relabel(self, device, plan.as_ref(), &path);
                let to = onward.map(|(_, next)| next);
                steps.push(self.after(next, (device, arrives), &path, to));
            }
        }
        Ok(steps)
    }

    /// Returns the next step of a packet after a device.
    fn after(
        &self,
        mut walker: Walker,
        (device, arrives): (usize, Option<PortId>),
        path: &Path,
        by_label: Option<PortId>,
    ) -> Step {
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
                // The inner header does not receive the codepoint of the outer header (RFC 2983 §4.2: the
                // pipe model).
                walker.packet = inner;
                return Step::Goes(walker, device, tunnel);
            }
            End::Queued | End::NoQueue | End::Leaves => {}
        }
        let Some(port) = walker.hops.last().and_then(|hop| hop.port) else {
            let because = "the interface through which the packet leaves is not known".to_owned();
            let help = "add the route, or the destination of the tunnel".to_owned();
            return walker.ends(WalkEnd::PathUnknown { device: name, because, help });
        };
        let interface = self.port(port).name.clone();
        match by_label.map_or_else(|| self.onward(port, path), Onward::Device) {
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

    /// Returns the port of a device that is the end of a tunnel whose outer addresses are the addresses of
    /// `packet`.
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
    /// Updates the state of the packet with the path through a device.
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
                // The port below classifies by the inner header, but its marks change the outer header.
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
            labels: Vec::new(),
            stages: path.stages.clone(),
            port: place,
        });
    }

    fn ends(self, end: WalkEnd) -> Step {
        let dscp = self.inside.first().map_or(self.packet.dscp, |inner| inner.dscp);
        Step::Ends(WalkPath {
            hops: self.hops,
            end,
            dscp,
            changes: self.changes,
            exp_changes: self.exp_changes,
        })
    }
}

pub(super) fn written(packet: &Packet) -> String {
    let plain = Packet { color: perhop_qos::Color::GREEN, label: 0, ..*packet };
    Witness { packet: plain, input: None }.to_string()
}
