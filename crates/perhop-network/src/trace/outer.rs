//! Outer headers of tunnels, and of packets that a port encrypts.

use std::net::IpAddr;

use perhop_device::{
    ClassifiedHeader, Encryption, Port, Router, Tunnel, TunnelEnds, TunnelMap, TunnelSource,
};
use perhop_qos::Packet;
use perhop_qos::framing::HeaderStack;
use perhop_qos::packet::{Address, Protocol};

use super::Tracer;
use crate::forwarding::addresses;

/// Encapsulating security payload (RFC 4303).
pub(super) const ESP: Protocol = Protocol(50);

/// Returns the interface that is the source of a tunnel, or that has its source address.
fn source_port<'a>(router: &'a Router, tunnel: &Tunnel) -> Option<&'a Port> {
    let mut ports = router.ports.iter();
    match &tunnel.source.as_ref()?.value {
        TunnelSource::Interface(name) => ports.find(|port| port.interface == *name),
        TunnelSource::Address(own) => {
            ports.find(|port| addresses(port).any(|address| address.address == *own))
        }
    }
}

/// Returns the source address of the outer header of a tunnel.
pub(crate) fn source_address(router: &Router, tunnel: &Tunnel) -> Option<IpAddr> {
    match &tunnel.source.as_ref()?.value {
        TunnelSource::Address(address) => Some(*address),
        TunnelSource::Interface(_) => addresses(source_port(router, tunnel)?).next().map(|own| own.address),
    }
}

impl<'a> Tracer<'a> {
    /// Returns the interface that is the source of a tunnel, or that has its source address.
    pub(super) fn source_port(&self, tunnel: &Tunnel) -> Option<&'a Port> {
        source_port(self.device.router, tunnel)
    }

    /// Returns the source address of the outer header of a tunnel.
    pub(super) fn source_of(&self, tunnel: &Tunnel) -> Option<IpAddr> {
        source_address(self.device.router, tunnel)
    }

    /// Returns the outer destination of packets to a next hop in a tunnel with several ends. The destination
    /// is configured, or the device learns it when the other end registers.
    pub(super) fn tunnel_map(&mut self, port: &Port, tunnel: &Tunnel, next_hop: IpAddr) -> Option<TunnelMap> {
        if tunnel.ends == TunnelEnds::One {
            return None;
        }
        if let Some(map) = tunnel.maps.iter().find(|map| map.inside == next_hop) {
            return Some(*map);
        }
        let map = self.device.given.tunnel_map(&port.name, next_hop)?;
        self.assumed.insert(format!(
            "{} learns that {next_hop} is at {}, the source of the tunnel on that device",
            port.name, map.outside
        ));
        Some(map)
    }
}

/// Returns the lines that determine the outer header of a tunnel.
pub(super) fn lines_of(tunnel: &Tunnel) -> Vec<usize> {
    let asking = match tunnel.classified_by {
        ClassifiedHeader::Outer => None,
        ClassifiedHeader::Inner(line) => Some(line),
    };
    let source = tunnel.source.as_ref().map(|source| source.line);
    let destination = tunnel.destination.as_ref().map(|destination| destination.line);
    source.into_iter().chain(destination).chain(asking).collect()
}

/// Returns the packet with the outer header of a tunnel. The DS field is copied to the outer header (RFC 2983
/// §3.1).
pub(super) fn outer_packet(
    packet: &Packet,
    tunnel: &Tunnel,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
) -> Packet {
    let length = u64::from(packet.length);
    let length = HeaderStack::new(&tunnel.headers).map_or(length, |stack| stack.bytes(length));
    let address = |address: Option<IpAddr>| address.map_or_else(Address::default, Address::from);
    Packet {
        source: address(source),
        destination: address(destination),
        protocol: tunnel.protocol,
        source_port: 0,
        destination_port: 0,
        length: u32::try_from(length).unwrap_or(u32::MAX),
        ..*packet
    }
}

/// Returns the packet with the outer header of a port that encrypts, in tunnel mode. The length is the length
/// of the inner packet, because the overhead depends on the ciphers that both ends negotiate.
pub(super) fn encrypted(packet: &Packet, port: &Port, encryption: &Encryption) -> Packet {
    let source = addresses(port).next().map(|own| own.address);
    let address = |address: Option<IpAddr>| address.map_or_else(Address::default, Address::from);
    Packet {
        source: address(source),
        destination: address(encryption.peers.first().map(|peer| IpAddr::from(*peer))),
        protocol: ESP,
        source_port: 0,
        destination_port: 0,
        ..*packet
    }
}
