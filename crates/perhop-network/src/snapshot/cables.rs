//! [`Cables`]: segments. A segment is a set of interfaces that cables, switches and bundles connect.
//!
//! A cable connects interfaces. A link connects the ports with addresses on these interfaces. An interface
//! without such a port counts as a switch, as does a device outside of the snapshot. A segment can contain
//! several VLANs. Links distinguish the VLANs by their subnets.

use std::collections::BTreeMap;

use perhop_device::Port;

use super::{PortId, SnapshotDevice, WrittenCable, carries_packets};
use crate::forwarding::addresses;

/// An end of cables: an interface of a device, the switch inside a device, or another device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Interface(usize, String),
    Switch(usize),
    Other(String),
}

/// The segments of a network.
pub(super) struct Cables {
    nodes: BTreeMap<Node, usize>,
    /// The parent of each node in its segment (disjoint-set forest). The root is its own parent.
    parents: Vec<usize>,
    /// The properties of each segment, by its root.
    segments: BTreeMap<usize, Segment>,
    pub(super) remarks: Vec<String>,
}

/// A segment with at least one cable.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    /// The file that names the first cable of the segment.
    pub(super) source: String,
    /// Whether the segment contains a switch or a device outside of the snapshot.
    pub(super) is_switched: bool,
}

impl Cables {
    /// Returns the segments of cables between devices.
    pub(super) fn new(devices: &[SnapshotDevice], cables: &[WrittenCable]) -> Cables {
        let mut own = Cables {
            nodes: BTreeMap::new(),
            parents: Vec::new(),
            segments: BTreeMap::new(),
            remarks: Vec::new(),
        };
        let by_name: BTreeMap<String, usize> =
            devices.iter().enumerate().map(|(place, device)| (device.name.to_lowercase(), place)).collect();
        let mut cabled = Vec::new();
        for cable in cables {
            let ends: Vec<Node> = cable.ends.iter().map(|end| node(devices, &by_name, end)).collect();
            let places: Vec<usize> = ends.iter().map(|end| own.place(end)).collect();
            for pair in places.windows(2) {
                own.join(pair[0], pair[1]);
            }
            cabled.push((ends, cable));
        }
        for (device, member) in devices.iter().enumerate() {
            own.join_inside(device, member, &cabled);
        }
        for (ends, cable) in &cabled {
            let Some(first) = ends.first() else { continue };
            let root = own.root_of(first).unwrap_or_default();
            let segment = own
                .segments
                .entry(root)
                .or_insert_with(|| Segment { source: cable.source.clone(), is_switched: false });
            segment.is_switched |= ends.iter().any(|end| matches!(end, Node::Other(_)));
            own.remarks.extend(ends.iter().filter_map(|end| unknown_interface(devices, end, cable)));
        }
        for device in 0..devices.len() {
            let root = own.root_of(&Node::Switch(device));
            if let Some(segment) = root.and_then(|root| own.segments.get_mut(&root)) {
                segment.is_switched = true;
            }
        }
        own
    }

    /// Joins each interface of a device with the ports that use this interface: bundles, sub-interfaces, and
    /// the virtual interfaces of a switch.
    fn join_inside(&mut self, device: usize, member: &SnapshotDevice, cabled: &[(Vec<Node>, &WrittenCable)]) {
        let ports = &member.device.router().ports;
        for port in ports {
            let own = self.place(&Node::Interface(device, port.interface.clone()));
            for lower in port.forwarding.below.iter().chain(&port.forwarding.parent) {
                let lower = self.place(&Node::Interface(device, lower.clone()));
                self.join(own, lower);
            }
        }
        let ends = cabled.iter().flat_map(|(ends, _)| ends);
        let switched: Vec<&String> = ends
            .filter_map(|end| match end {
                Node::Interface(place, name) if *place == device => Some(name),
                _ => None,
            })
            .filter(|name| ports.iter().any(|port| port.interface == **name))
            .filter(|name| !ports.iter().any(|port| is_routed(port) && uses(ports, port, name)))
            .collect();
        if switched.is_empty() {
            return;
        }
        let switch = self.place(&Node::Switch(device));
        let is_inside = |port: &&Port| {
            port.kind == Some(perhop_device::LineKind::Virtual)
                && port.forwarding.tunnel.is_none()
                && port.forwarding.below.is_empty()
        };
        let inside = ports.iter().filter(is_inside).map(|port| &port.interface);
        for name in switched.into_iter().chain(inside) {
            let place = self.place(&Node::Interface(device, name.clone()));
            self.join(switch, place);
        }
    }

    /// Returns the number and the properties of the segment of a port; `None` if no cable of the port is
    /// known.
    pub(super) fn segment(&self, devices: &[SnapshotDevice], id: PortId) -> Option<(usize, &Segment)> {
        let interface = devices[id.device].device.router().ports[id.port].interface.clone();
        let root = self.root_of(&Node::Interface(id.device, interface))?;
        self.segments.get(&root).map(|segment| (root, segment))
    }

    /// Returns, for each segment, the ports through which packets reach other devices.
    pub(super) fn ports(&self, devices: &[SnapshotDevice]) -> BTreeMap<usize, Vec<PortId>> {
        let mut found: BTreeMap<usize, Vec<PortId>> = BTreeMap::new();
        for (device, member) in devices.iter().enumerate() {
            let router = member.device.router();
            for (port, own) in router.ports.iter().enumerate() {
                let id = PortId { device, port };
                if is_routed(own)
                    && own.forwarding.tunnel.is_none()
                    && carries_packets(router, own)
                    && let Some((segment, _)) = self.segment(devices, id)
                {
                    found.entry(segment).or_default().push(id);
                }
            }
        }
        found
    }

    fn place(&mut self, node: &Node) -> usize {
        if let Some(place) = self.nodes.get(node) {
            return *place;
        }
        let place = self.parents.len();
        self.parents.push(place);
        self.nodes.insert(node.clone(), place);
        place
    }

    fn root_of(&self, node: &Node) -> Option<usize> {
        self.nodes.get(node).map(|place| self.root(*place))
    }

    fn root(&self, mut place: usize) -> usize {
        while self.parents[place] != place {
            place = self.parents[place];
        }
        place
    }

    fn join(&mut self, group: usize, other: usize) {
        let (group, other) = (self.root(group), self.root(other));
        let (first, second) = (group.min(other), group.max(other));
        self.parents[second] = first;
    }
}

/// Whether a port forwards packets to other routers: the port has an address, or sends through another port.
fn is_routed(port: &Port) -> bool {
    addresses(port).next().is_some()
        || (port.forwarding.parent.is_none() && !port.forwarding.below.is_empty())
}

/// Whether the packets of a port use the interface `name`.
fn uses(ports: &[Port], port: &Port, name: &str) -> bool {
    let forwarding = &port.forwarding;
    let parent = || ports.iter().find(|other| Some(&other.interface) == forwarding.parent.as_ref());
    port.interface == name
        || forwarding.parent.as_deref() == Some(name)
        || forwarding.below.iter().any(|lower| lower == name)
        || parent().is_some_and(|parent| parent.forwarding.below.iter().any(|lower| lower == name))
}

fn node(devices: &[SnapshotDevice], by_name: &BTreeMap<String, usize>, end: &str) -> Node {
    let (device, interface) = end.split_once(':').unwrap_or((end, ""));
    match by_name.get(&device.to_lowercase()) {
        None => Node::Other(device.to_owned()),
        Some(place) => {
            let port = devices[*place].device.port(interface);
            let name = port.map_or_else(|_| interface.to_owned(), |port| port.interface.clone());
            Node::Interface(*place, name)
        }
    }
}

fn unknown_interface(devices: &[SnapshotDevice], end: &Node, cable: &WrittenCable) -> Option<String> {
    let Node::Interface(device, name) = end else { return None };
    let member = &devices[*device];
    let is_known = member.device.router().ports.iter().any(|port| port.interface == *name);
    (!is_known).then(|| {
        format!(
            "the cable {} of {}: {} has no interface {name}",
            cable.ends.join(" - "),
            cable.source,
            member.name
        )
    })
}
