//! Conversion of routes, access lists, tunnels and encryption to the device model.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use perhop_device::intent::{At, Condition, Direction};
use perhop_device::{
    AccessDecision, AccessEntry, AccessGroup, AccessList, ClassifiedHeader, Encryption, Forwarding,
    InterfaceAddress, PortForwarding, PortRole, Tunnel, TunnelEnds, TunnelMap, TunnelSource,
};
use perhop_qos::Rate;
use perhop_qos::framing::{Header, IpVersion};
use perhop_qos::packet::Protocol;

use super::context::Context;
use super::intent::condition::{of_access_group, of_entry};
use super::link_settings::link_settings;
use super::routing::{processes, shared_addresses};
use super::wire::Circuit;
use crate::ast::{self, AclAction, Family, Interface};

/// An IPv4 packet in an IP packet (RFC 2003).
const IPIP: Protocol = Protocol(4);
/// An IPv6 packet in an IP packet (RFC 4213).
const IPV6: Protocol = Protocol(41);
/// Generic routing encapsulation (RFC 2784).
const GRE: Protocol = Protocol(47);
/// Encapsulating security payload (RFC 4303).
const ESP: Protocol = Protocol(50);

impl<'a> Context<'a> {
    /// Returns the routes and access lists of the router.
    pub(super) fn forwarding(&self) -> Forwarding {
        let configuration = self.configuration;
        let filters = configuration.interfaces.iter().flat_map(|interface| &interface.filters);
        let names: BTreeSet<&str> = filters.map(|filter| filter.list.as_str()).collect();
        let list = |name: &str| (name.to_owned(), self.access_list(name));
        Forwarding {
            routes: configuration.routes.clone(),
            access_lists: names.into_iter().map(list).collect(),
            processes: processes(configuration, self.has_router_groups),
            labels: configuration.labels.distribution.clone(),
        }
    }

    fn access_list(&self, name: &str) -> AccessList {
        let Some(list) = self.configuration.access_lists.get(name).filter(|list| !list.entries.is_empty())
        else {
            // Cisco, "Access control lists: overview and guidelines": an empty list permits all packets.
            return AccessList { rest: AccessDecision::Permit, ..AccessList::default() };
        };
        let entries = list.entries.iter().map(|entry| AccessEntry {
            line: entry.line,
            decision: match entry.action {
                AclAction::Permit => AccessDecision::Permit,
                AclAction::Deny => AccessDecision::Deny,
            },
            condition: of_entry(self.configuration, entry),
        });
        AccessList { line: list.line, entries: entries.collect(), rest: AccessDecision::Deny }
    }

    /// Returns the properties of `interface` that determine the paths of packets.
    pub(super) fn port_forwarding(&self, interface: &Interface, bandwidth: Rate) -> PortForwarding {
        let routing = self.port_routing(interface, bandwidth.as_bits_per_second() / 1000);
        PortForwarding {
            role: PortRole::Interface,
            vrf: interface.vrf.clone(),
            addresses6: addresses6(interface),
            parent: interface.parent.clone(),
            description: interface.description.clone(),
            below: self.lines_below(interface),
            access_groups: interface.filters.iter().map(access_group).collect(),
            tunnel: interface.tunnel.as_ref().map(|tunnel| self.tunnel(interface, tunnel)),
            encryption: self.encryption(interface),
            settings: link_settings(interface, &routing, self.configuration),
            ldp: self.label_line(interface, &routing),
            routing,
            shared_addresses: shared_addresses(interface),
            input_line: None,
            output_line: None,
            mtu_line: interface.ip_mtu.or(interface.mtu).map(|mtu| mtu.line),
            tag_line: interface.encapsulation.map(|encapsulation| encapsulation.line),
            shutdown_line: interface.shutdown.map(|at| at.line),
        }
    }

    fn tunnel(&self, interface: &Interface, tunnel: &ast::Tunnel) -> Tunnel {
        let mode = tunnel.mode.as_ref().map_or("", |mode| mode.value.as_str());
        let headers = self.tunnel_headers(tunnel);
        // A virtual tunnel interface and a protected tunnel encrypt packets even if the profile is unknown.
        let encrypts = mode.starts_with("ipsec") || self.unknown_protection(tunnel).is_some();
        let protocol = match headers.last() {
            _ if encrypts => ESP,
            Some(Header::Esp(_)) | None => ESP,
            Some(Header::Gre(_)) => GRE,
            Some(_) if mode.starts_with("ipv6") => IPV6,
            Some(_) => IPIP,
        };
        let source = |at: &At<String>| {
            let address = at.value.parse().map(TunnelSource::Address);
            At::new(at.line, address.unwrap_or_else(|_| TunnelSource::Interface(at.value.clone())))
        };
        let address = |at: &At<String>| at.value.parse().ok().map(|address| At::new(at.line, address));
        Tunnel {
            source: tunnel.source.as_ref().map(source),
            destination: tunnel.destination.as_ref().and_then(address),
            vrf: tunnel.vrf.clone(),
            maps: interface.routing.nhrp_maps.iter().map(tunnel_map).collect(),
            ends: if mode.contains("multipoint") { TunnelEnds::Several } else { TunnelEnds::One },
            protocol,
            headers,
            classified_by: classified_by(interface.pre_classify),
        }
    }

    /// Returns the names of the physical interfaces that transmit the packets of `interface`: the members of
    /// a bundle or of a dialer's pool.
    pub(super) fn lines_below(&self, interface: &Interface) -> Vec<String> {
        let bundle = interface
            .name
            .strip_prefix(self.configuration.bundle_name())
            .and_then(|number| number.parse().ok());
        let others = self.configuration.interfaces.iter().filter(|other| other.name != interface.name);
        let number = |at: Option<At<u64>>| at.map(|at| at.value);
        let is_below = |other: &&Interface| {
            let is_member = bundle.is_some() && number(other.channel_group) == bundle;
            let is_link = interface.name.starts_with("Multilink")
                && interface.multilink_group.is_some()
                && number(other.multilink_group) == number(interface.multilink_group);
            let is_dialed = interface.name.starts_with("Dialer")
                && interface.dialer_pool.is_some()
                && number(other.dialer_pool) == number(interface.dialer_pool);
            // A PPPoE server has a template for the sessions on its physical interfaces.
            let is_served = interface.name.starts_with("Virtual-Template")
                && other.pppoe.is_some()
                && other.dialer_pool.is_none();
            is_member || is_link || is_dialed || is_served
        };
        let has_members = [self.configuration.bundle_name(), "Multilink", "Dialer", "Virtual-Template"];
        if !has_members.iter().any(|kind| interface.name.starts_with(kind)) {
            return Vec::new();
        }
        others.filter(is_below).map(|other| other.name.clone()).collect()
    }

    fn encryption(&self, interface: &Interface) -> Option<Encryption> {
        let at = interface.crypto_map.as_ref()?;
        let map = self.configuration.crypto_maps.get(&at.value)?;
        let lists = map.lists.iter().map(|list| of_access_group(self.configuration, list));
        Some(Encryption {
            line: at.line,
            name: map.name.clone(),
            encrypts: Condition::any(lists.collect()),
            peers: map.peers.clone(),
            classified_by: classified_by(interface.pre_classify.or(map.pre_classify)),
        })
    }

    /// Returns the line that attaches the policy of one direction to `circuit`.
    pub(super) fn attachment_line(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
        direction: Direction,
    ) -> Option<usize> {
        let peer = circuit.peer.filter(|_| direction == Direction::Output).map(|peer| peer.line);
        peer.or_else(|| self.attached(interface, circuit, direction).map(|(_, line)| line))
    }
}

fn tunnel_map(map: &At<(Ipv4Addr, Ipv4Addr)>) -> TunnelMap {
    TunnelMap { line: map.line, inside: map.value.0.into(), outside: map.value.1.into() }
}

fn classified_by(pre_classify: Option<At<()>>) -> ClassifiedHeader {
    pre_classify.map_or(ClassifiedHeader::Outer, |at| ClassifiedHeader::Inner(at.line))
}

fn access_group(filter: &ast::PacketFilter) -> AccessGroup {
    AccessGroup {
        line: filter.line,
        list: filter.list.clone(),
        direction: filter.direction,
        version: if filter.family == Family::Ipv6 { IpVersion::Ipv6 } else { IpVersion::Ipv4 },
    }
}

fn addresses6(interface: &Interface) -> Vec<InterfaceAddress> {
    let address = |own: &ast::InterfaceAddress6| InterfaceAddress {
        line: own.line,
        address: own.address.into(),
        prefix_length: own.prefix_length,
    };
    interface.addresses6.iter().map(address).collect()
}
