//! Label switched paths: the labels that routers announce to each other for destinations (LDP, RFC 5036), and
//! the treatment of the top label of a packet.
//!
//! A forwarding equivalence class (FEC) is a prefix of the global routing table. A router uses the label of a
//! FEC only if its routing table has a route with exactly the prefix of the FEC (RFC 5036 §3.5.7.1).

use std::net::IpAddr;

use perhop_device::{InterfaceAddress, LabeledDestinations};
use perhop_qos::Packet;
use perhop_qos::classifier::Prefix;
use perhop_qos::packet::LinkMark;
use serde::Serialize;

use super::hops::MOST_HOPS;
use super::{PortId, Snapshot, carries_packets};
use crate::forwarding::{Decision, Origin, addresses};
use crate::trace::LineText;

/// Limit on the recursion along a path: the label of a router can depend on the label of the next router.
const MOST_ROUTERS: usize = MOST_HOPS;

/// The meaning of a label. perhop does not know the number of the label, because routers choose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Packets of a FEC.
    Destination(Prefix),
    /// Packets for the IP or VPN lookup of the next router (RFC 3032 §2.1).
    ExplicitNull,
    /// Packets for a routing table of a provider edge router (RFC 4364 §4.3.2).
    Vpn {
        /// The index of the router.
        device: usize,
        /// The name of the routing table on the router.
        vrf: String,
    },
}

/// A label of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) meaning: Meaning,
    pub(super) exp: LinkMark,
}

/// A packet at a device.
#[derive(Clone, Copy)]
pub(super) struct AtDevice<'p> {
    pub(super) device: usize,
    /// The routing table of the port on which the packet arrives.
    pub(super) vrf: Option<&'p str>,
    pub(super) packet: &'p Packet,
    /// The labels of the packet, from the bottom.
    pub(super) labels: &'p [Label],
}

/// An MPLS label of a packet. perhop does not know the number of the label, because devices choose it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopLabel {
    /// The meaning: a destination, a VRF of a device, or `explicit null`.
    pub label: String,
    /// The EXP (traffic class).
    pub exp: u8,
}

/// A place where the EXP of the top label changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpChange {
    /// The name of the device.
    pub device: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The EXP before the change.
    pub from: u8,
    /// The EXP after the change.
    pub to: u8,
    /// The lines that change the EXP; empty if the device removes the top label, so that the next label is
    /// the top.
    pub lines: Vec<LineText>,
}

/// The announcement of a router to a neighbor for a FEC.
enum Announced {
    /// A label.
    Label,
    /// Null label: the neighbor removes the label (implicit null), or sends label 0 because a line requests
    /// it (explicit null).
    Null { explicit: Option<usize> },
    /// No label. Contains the reason.
    Nothing(String),
}

/// The next step of packets of a FEC.
pub(super) struct TowardFec {
    pub(super) leaves: PortId,
    pub(super) next: PortId,
    pub(super) label: NextLabel,
}

/// The label of a FEC with which a packet leaves a router.
pub(super) enum NextLabel {
    /// A label.
    Some(Meaning),
    /// No label, because the next router is the last router and requests packets without this label.
    Penultimate,
    /// No label, because the next router does not announce one. Contains the reason.
    Missing(String),
}

impl Snapshot<'_> {
    /// Returns the next step of packets of a FEC that leave a device; `None` if the device has no route to
    /// another device.
    pub(super) fn toward_fec(&self, device: usize, fec: Prefix) -> Option<TowardFec> {
        self.toward(device, fec, MOST_ROUTERS)
    }

    /// Returns the FEC of the route to a next hop, and the next step of its packets; `None` if the global
    /// table has no such route.
    pub(super) fn toward_next_hop(&self, device: usize, next_hop: IpAddr) -> Option<(Prefix, TowardFec)> {
        let decision = self.devices[device].device.table().decide(None, next_hop);
        let Decision::Leaves(exit) = &decision else { return None };
        let fec: Prefix = exit.prefix.as_ref()?.parse().ok()?;
        let onward = match exit.origin {
            Origin::Connected => self.neighbor_with(device, exit.port, next_hop),
            _ => self.next_device_by(device, &decision),
        };
        let (leaves, next) = onward.filter(|_| fec.length() > 0 && fec.network().is_ipv4())?;
        Some((fec, self.with_label(leaves, next, fec, MOST_ROUTERS)))
    }

    fn toward(&self, device: usize, fec: Prefix, routers: usize) -> Option<TowardFec> {
        let decision = self.devices[device].device.table().decide_prefix(fec);
        let (leaves, next) = self.next_device_by(device, &decision)?;
        Some(self.with_label(leaves, next, fec, routers.checked_sub(1)?))
    }

    fn with_label(&self, leaves: PortId, next: PortId, fec: Prefix, routers: usize) -> TowardFec {
        let label = match self.no_session(leaves, next) {
            Some(reason) => NextLabel::Missing(reason),
            None => match self.announced(next.device, fec, routers) {
                Announced::Label => NextLabel::Some(Meaning::Destination(fec)),
                Announced::Null { explicit: Some(_) } => NextLabel::Some(Meaning::ExplicitNull),
                Announced::Null { explicit: None } => NextLabel::Penultimate,
                Announced::Nothing(reason) => NextLabel::Missing(reason),
            },
        };
        TowardFec { leaves, next, label }
    }

    /// Returns the reason why two ports do not exchange labels. Both ports need LDP (RFC 5036 §2.4.1).
    fn no_session(&self, near: PortId, far: PortId) -> Option<String> {
        let without = [near, far].into_iter().find(|id| self.port(*id).forwarding.ldp.is_none())?;
        let (device, interface) = self.names_of(without);
        Some(format!("{interface} of {device} has no LDP"))
    }

    /// Returns the announcement of a device for a FEC.
    fn announced(&self, device: usize, fec: Prefix, routers: usize) -> Announced {
        let name = &self.devices[device].name;
        let labels = &self.router(device).forwarding.labels;
        if let Some(is_loopback) = self.own_fec(device, fec) {
            return match labels.destinations {
                LabeledDestinations::Loopbacks if !is_loopback => {
                    Announced::Nothing(format!("{name} announces only labels of its loopback addresses"))
                }
                _ => Announced::Null { explicit: labels.explicit_null },
            };
        }
        if !self.has_exactly(device, fec) {
            return Announced::Nothing(format!("{name} has no route to exactly {fec}"));
        }
        match labels.destinations {
            LabeledDestinations::AllInterior => Announced::Label,
            LabeledDestinations::Loopbacks => match self.toward(device, fec, routers) {
                Some(TowardFec { label: NextLabel::Missing(reason), .. }) => Announced::Nothing(format!(
                    "{name} announces no label without a label of its next hop, and {reason}"
                )),
                Some(_) => Announced::Label,
                None => Announced::Nothing(format!("the next hop of {name} to {fec} is unknown")),
            },
        }
    }

    /// Whether the global table of a device has a route with exactly this prefix.
    fn has_exactly(&self, device: usize, fec: Prefix) -> bool {
        let decision = self.devices[device].device.table().decide_prefix(fec);
        matches!(decision, Decision::Leaves(exit) if exit.prefix == Some(fec.to_string()))
    }

    /// Whether a FEC is a loopback address (`Some(true)`) or another subnet (`Some(false)`) of a device;
    /// `None` if it is neither.
    pub(super) fn own_fec(&self, device: usize, fec: Prefix) -> Option<bool> {
        let router = self.router(device);
        let ports = router.ports.iter().enumerate();
        let own = ports.filter(|(_, port)| carries_packets(router, port) && port.forwarding.vrf.is_none());
        let has_fec = |own: InterfaceAddress| own.subnet() == Some(fec);
        let (place, _) = own.filter(|(_, port)| addresses(port).any(has_fec)).min_by_key(|(place, _)| {
            // A loopback interface has no link.
            self.link_of(PortId { device, port: *place }).is_some()
        })?;
        Some(fec.host().is_some() && self.link_of(PortId { device, port: place }).is_none())
    }

    /// Returns the FEC of packets that leave a device with a decision of its global table. The FEC is the
    /// route to a next hop that is not a neighbor, otherwise the route itself if the device binds labels to
    /// all routes.
    pub(super) fn fec_of(&self, device: usize, decision: &Decision) -> Option<Prefix> {
        let Decision::Leaves(exit) = decision else { return None };
        if let Some(far) = exit.far {
            return Some(self.toward_next_hop(device, far)?.0);
        }
        let is_bound = self.router(device).forwarding.labels.destinations == LabeledDestinations::AllInterior;
        let prefix: Prefix = exit.prefix.as_ref().filter(|_| is_bound)?.parse().ok()?;
        (exit.origin != Origin::Connected && prefix.length() > 0 && prefix.network().is_ipv4())
            .then_some(prefix)
    }

    /// Returns the number and text of the line that enables LDP on a port.
    pub(super) fn ldp_line(&self, id: PortId) -> Option<LineText> {
        let line = self.port(id).forwarding.ldp?;
        let text = self.devices[id.device].device.line_text(line).to_owned();
        Some(LineText { line, text })
    }

    /// Returns the text of a label.
    pub(super) fn label_text(&self, meaning: &Meaning) -> String {
        match meaning {
            Meaning::Destination(prefix) => prefix.to_string(),
            Meaning::ExplicitNull => "explicit null".to_owned(),
            Meaning::Vpn { device, vrf } => format!("VRF {vrf} of {}", self.devices[*device].name),
        }
    }
}
