//! The next place of a packet that leaves a device: a port of another device, a host, or a router outside of
//! the snapshot.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_device::Port;

use super::{Link, PortId, Snapshot, carries_packets};
use crate::forwarding::{Decision, Exit, Origin, addresses};
use crate::trace::{Path, RouteKind, Stage};

/// Maximum number of devices on a path: the time to live of a packet (RFC 1700).
pub(super) const MOST_HOPS: usize = 64;
/// The next place of a packet.
pub(super) enum Onward {
    /// A port of another device.
    Device(PortId),
    /// A host in the subnet of the port.
    Host,
    /// A router outside of the snapshot; `None` if the route does not contain its address.
    Elsewhere(Option<IpAddr>),
}

/// The owner of an address in a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// No device of the snapshot has the address.
    None,
    /// Devices have the address only in other tables.
    OtherTable,
    /// A port of the only device with the address.
    Single(PortId),
    /// Several devices have the address.
    Several,
}

/// The target of a packet, as a forwarding decision determines it.
#[derive(Clone, Copy)]
pub(super) struct Target {
    destination: IpAddr,
    /// Whether the destination is in the subnet of the port.
    is_connected: bool,
    next_hop: Option<IpAddr>,
}

impl Target {
    /// Returns the target of packets that leave via `exit`.
    pub(super) fn from_exit(destination: IpAddr, exit: &Exit) -> Target {
        let is_connected = exit.origin == Origin::Connected;
        Target { destination, is_connected, next_hop: exit.next_hop }
    }
}

impl Snapshot<'_> {
    /// Returns the next place of a packet that leaves through `port`, according to the last forwarding
    /// decision of its path.
    pub(super) fn onward(&self, port: PortId, path: &Path) -> Onward {
        let decision = path.stages.iter().rev().find_map(|stage| match stage {
            Stage::Forwarding { destination, route, next_hop, .. } => Some(Target {
                destination: *destination,
                is_connected: *route == RouteKind::Connected,
                next_hop: *next_hop,
            }),
            _ => None,
        });
        decision.map_or(Onward::Elsewhere(None), |target| self.onward_to(port, target))
    }

    /// Returns the next place of a packet that leaves through `port` to a target.
    pub(super) fn onward_to(&self, port: PortId, target: Target) -> Onward {
        let Target { destination, is_connected, next_hop } = target;
        // A route through a port can have a destination in the subnet of the port, for example a route of
        // another routing table.
        let is_near = || addresses(self.port(port)).any(|own| own.is_neighbor(destination));
        let is_host = next_hop.is_none() && (is_connected || is_near());
        let wanted = next_hop.or(is_host.then_some(destination));
        let Some(link) = self.link_of(port) else {
            return if is_host { Onward::Host } else { Onward::Elsewhere(wanted) };
        };
        if let Some(id) = wanted.and_then(|address| self.owner_at(link, address)) {
            return Onward::Device(id);
        }
        // A route through a port with one neighbor needs no next-hop address: the neighbor receives the
        // packets.
        let mut others = link.ends.iter().filter(|end| end.id != port);
        match (others.next(), others.next()) {
            (Some(only), None) if wanted.is_none() => Onward::Device(only.id),
            _ if is_host => Onward::Host,
            _ => Onward::Elsewhere(wanted),
        }
    }

    /// Returns the output port of packets from a device to an address, and the port of the next device on
    /// which they arrive; `None` if the path ends or enters a tunnel.
    pub(super) fn next_device(&self, device: usize, to: IpAddr) -> Option<(PortId, PortId)> {
        self.next_device_by(device, &self.devices[device].device.table().decide(None, to))
    }

    /// Returns the output port of a forwarding decision, and the port of the next device on which the packets
    /// arrive; `None` if the path ends or enters a tunnel.
    pub(super) fn next_device_by(&self, device: usize, decision: &Decision) -> Option<(PortId, PortId)> {
        let Decision::Leaves(exit) = decision else { return None };
        let port = self.router(device).ports.iter().position(|port| std::ptr::eq(port, exit.port))?;
        let leaves = PortId { device, port };
        let link = self.link_of(leaves).filter(|link| !link.is_tunnel)?;
        let next = match exit.next_hop {
            Some(address) => self.owner_at(link, address)?,
            None => link.ends.iter().map(|end| end.id).find(|id| id.device != device)?,
        };
        (exit.origin != Origin::Connected).then_some((leaves, next))
    }

    /// Returns the indexes of `port`, and of the port on the same link that has `address`; `None` for a
    /// tunnel.
    pub(super) fn neighbor_with(
        &self,
        device: usize,
        port: &Port,
        address: IpAddr,
    ) -> Option<(PortId, PortId)> {
        let port = self.router(device).ports.iter().position(|own| std::ptr::eq(own, port))?;
        let leaves = PortId { device, port };
        let link = self.link_of(leaves).filter(|link| !link.is_tunnel)?;
        Some((leaves, self.owner_at(link, address)?))
    }

    /// Returns the end of a link that receives packets for an address: the port with the address, or the
    /// active router of a group with this virtual address.
    fn owner_at(&self, link: &Link, address: IpAddr) -> Option<PortId> {
        let has_own = |id: PortId| addresses(self.port(id)).any(|own| own.address == address);
        let own = link.ends.iter().map(|end| end.id).find(|id| has_own(*id));
        own.or_else(|| self.first_of_group(link.ends.iter().map(|end| end.id), address))
    }

    /// Returns the port with the highest priority among ports with the same virtual address. If priorities
    /// are equal, returns the port with the highest address (RFC 5798 §6.4.3).
    pub(super) fn first_of_group(
        &self,
        ports: impl Iterator<Item = PortId>,
        address: IpAddr,
    ) -> Option<PortId> {
        let rank = |id: &PortId| {
            let port = self.port(*id);
            let shared = port.forwarding.shared_addresses.iter().find(|shared| shared.address == address)?;
            Some((shared.priority, addresses(port).next().map(|own| own.address)))
        };
        ports.filter_map(|id| Some((rank(&id)?, id))).max().map(|(_, id)| id)
    }

    /// Returns the ports whose subnet contains an address, except tunnels and loopback addresses.
    pub(super) fn ports_near(&self, address: IpAddr) -> Vec<PortId> {
        let mut found = Vec::new();
        for device in 0..self.devices.len() {
            let router = self.router(device);
            for (port, own) in router.ports.iter().enumerate() {
                let is_near = addresses(own).any(|own| own.is_neighbor(address) && own.address != address);
                if is_near && carries_packets(router, own) && own.forwarding.tunnel.is_none() {
                    found.push(PortId { device, port });
                }
            }
        }
        found
    }

    /// Returns the first port with an address.
    pub(super) fn owner(&self, address: IpAddr) -> Option<PortId> {
        self.owners(address).first().copied()
    }

    /// Returns all ports with an address.
    pub(super) fn owners(&self, address: IpAddr) -> &[PortId] {
        self.owners.get_or_init(|| self.find_owners()).get(&address).map_or(&[], Vec::as_slice)
    }

    /// Returns the owner of an address in a routing table. `vrf` is `None` for the global table. Several
    /// devices can have the address of a service, and VRFs can have the same addresses.
    pub(super) fn owner_in(&self, vrf: Option<&str>, address: IpAddr) -> Owner {
        let is_in = |id: &&PortId| {
            let own = self.port(**id).forwarding.vrf.as_ref();
            own.map(|at| at.value.as_str()) == vrf
        };
        let all = self.owners(address);
        let mut own = all.iter().filter(is_in);
        match own.next() {
            None if all.is_empty() => Owner::None,
            None => Owner::OtherTable,
            Some(first) if own.all(|id| id.device == first.device) => Owner::Single(*first),
            Some(_) => Owner::Several,
        }
    }

    fn find_owners(&self) -> BTreeMap<IpAddr, Vec<PortId>> {
        let mut found: BTreeMap<IpAddr, Vec<PortId>> = BTreeMap::new();
        for device in 0..self.devices.len() {
            let router = self.router(device);
            for (port, own) in
                router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port))
            {
                for address in addresses(own) {
                    found.entry(address.address).or_default().push(PortId { device, port });
                }
            }
        }
        found
    }
}
