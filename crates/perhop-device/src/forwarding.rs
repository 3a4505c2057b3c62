//! The parts of a device that determine the path of a packet: addresses, routes, access lists, tunnels and
//! encryption.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use perhop_qos::Packet;
use perhop_qos::classifier::Prefix;
use perhop_qos::framing::{Header, IpVersion};
use perhop_qos::packet::Protocol;
use serde::{Serialize, Serializer};

use crate::intent::{At, Condition, Direction};
use crate::labels::LabelDistribution;
use crate::link_setting::LinkSetting;
use crate::routing::{PortRouting, RoutingProcess, RoutingProtocol};

/// The parts of a device that determine the path of packets, without its ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forwarding {
    /// Static routes, in the order of the file.
    pub routes: Vec<Route>,
    /// The access lists that ports apply to packets, by name.
    pub access_lists: BTreeMap<String, AccessList>,
    /// The routing protocols. Configurations do not contain their routes.
    pub processes: Vec<RoutingProcess>,
    /// The distribution of MPLS labels.
    pub labels: LabelDistribution,
}

/// A static route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The line of the route in the configuration, from 1.
    pub line: usize,
    /// The routing table (VRF); `None` for the global one.
    pub vrf: Option<String>,
    /// The destinations.
    pub prefix: Prefix,
    /// The next hop or the interface of packets to these destinations.
    pub via: RouteTarget,
    /// Administrative distance. The device uses the route with the smallest distance among the routes to one
    /// prefix.
    pub distance: u8,
    /// Whether the route depends on a test (object tracking).
    pub is_conditional: bool,
    /// The origin: the configuration, the caller, a routing protocol or a VPN.
    pub origin: RouteOrigin,
}

/// The origin of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteOrigin {
    /// A line of the configuration.
    #[default]
    Configured,
    /// The caller.
    Given,
    /// The shortest path of a routing protocol. [`Route::line`] is the line of the protocol's process.
    Computed(RoutingProtocol),
    /// A route of an MPLS VPN (RFC 4364). The next hop is looked up in the global routing table.
    Vpn,
}

/// The next hop or interface of the packets of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteTarget {
    /// The packet goes to this router. Other routes or subnets determine the port.
    NextHop(IpAddr),
    /// The packet leaves through an interface, optionally to this router.
    Interface {
        /// The name of the interface. The routes through the interface share this string.
        name: Arc<str>,
        /// The next hop; `None` if the route has only an interface.
        next_hop: Option<IpAddr>,
    },
    /// The device drops the packets.
    Discard,
    /// A next hop that the device learns at run time.
    Learned,
}

/// An address of an interface with the length of its subnet's prefix. It serializes as a pair of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The line that configures the address, from 1.
    pub line: usize,
    /// The address.
    pub address: IpAddr,
    /// The prefix length of the subnet, bits.
    pub prefix_length: u8,
}

impl InterfaceAddress {
    /// Returns the subnet of the address; `None` if the prefix is longer than the address.
    pub fn subnet(&self) -> Option<Prefix> {
        let length = u32::from(self.prefix_length);
        let network = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32_u32.saturating_sub(length)).unwrap_or(0);
                IpAddr::from(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128_u32.saturating_sub(length)).unwrap_or(0);
                IpAddr::from(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Prefix::new(network, self.prefix_length).ok()
    }
    /// Whether `other` is in the subnet of this address.
    pub fn is_neighbor(&self, other: IpAddr) -> bool {
        self.subnet().is_some_and(|subnet| subnet.contains(other.into()))
    }
    /// Whether `other` is the first or the last address of this subnet. The device accepts packets to both
    /// (RFC 1812 §4.2.2.11, §5.3.5.2). A subnet of two addresses has neither (RFC 3021).
    pub fn is_broadcast(&self, other: IpAddr) -> bool {
        let (IpAddr::V4(own), IpAddr::V4(other)) = (self.address, other) else { return false };
        let hosts = u32::MAX.checked_shr(self.prefix_length.into()).unwrap_or_default();
        let has_both = hosts > 1 && own.to_bits() & !hosts == other.to_bits() & !hosts;
        has_both && [0, hosts].contains(&(other.to_bits() & hosts))
    }
}

impl Serialize for InterfaceAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.address, self.prefix_length).serialize(serializer)
    }
}

/// The purpose of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortRole {
    /// Packets arrive and leave through the port.
    #[default]
    Interface,
    /// The port receives packets whose destination is the device itself.
    ControlPlane,
}

/// Serializes only whether packets of the port go to the device itself.
impl Serialize for PortForwarding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(!self.is_of_interface())
    }
}

impl PortForwarding {
    /// Whether packets arrive and leave through the port.
    pub fn is_of_interface(&self) -> bool {
        self.role == PortRole::Interface
    }
}

/// The parts of a port that determine the path of its packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortForwarding {
    /// Whether packets pass through the port or go to the device itself.
    pub role: PortRole,
    /// The routing table (VRF); `None` for the global one.
    pub vrf: Option<At<String>>,
    /// IPv6 addresses.
    pub addresses6: Vec<InterfaceAddress>,
    /// The name of its parent interface.
    pub parent: Option<String>,
    /// The description of the interface.
    pub description: Option<String>,
    /// The names of the interfaces that carry the packets of the port: the members of a bundle, or the
    /// physical interface of a dialer.
    pub below: Vec<String>,
    /// The access lists that packets of the port must pass.
    pub access_groups: Vec<AccessGroup>,
    /// The tunnel that starts at this port.
    pub tunnel: Option<Tunnel>,
    /// The encryption of packets that leave.
    pub encryption: Option<Encryption>,
    /// The routing protocols that run on the port.
    pub routing: Vec<PortRouting>,
    /// The line that enables LDP on the port. The port then distributes labels, and sends and receives
    /// packets with labels.
    pub ldp: Option<usize>,
    /// Virtual addresses of groups of routers (HSRP, VRRP).
    pub shared_addresses: Vec<SharedAddress>,
    /// The settings that must match the other end of its link.
    pub settings: Vec<LinkSetting>,
    /// The line that attaches the policy for arriving packets.
    pub input_line: Option<usize>,
    /// The line that attaches the policy for departing packets.
    pub output_line: Option<usize>,
    /// The line that sets the MTU.
    pub mtu_line: Option<usize>,
    /// The line that sets the VLAN tags of frames.
    pub tag_line: Option<usize>,
    /// The line that shuts the port down.
    pub shutdown_line: Option<usize>,
}

/// A virtual address of a group of routers. The router with the highest priority uses it (RFC 5798 §6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAddress {
    /// The line that sets the address.
    pub line: usize,
    /// The number of the group.
    pub group: u16,
    /// The address.
    pub address: IpAddr,
    /// The priority of this router in the group.
    pub priority: u8,
}

/// An access list that a port applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessGroup {
    /// The line that applies the list to the port.
    pub line: usize,
    /// The name of the list.
    pub list: String,
    /// The direction of the packets to which it applies.
    pub direction: Direction,
    /// The IP version of the packets to which it applies.
    pub version: IpVersion,
}

/// The decision of an access list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessDecision {
    /// The packet passes.
    Permit,
    /// The packet is dropped.
    #[default]
    Deny,
}

/// A list whose first matching entry applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessList {
    /// The first line of the list; 0 if the configuration does not define it.
    pub line: usize,
    /// The entries in order.
    pub entries: Vec<AccessEntry>,
    /// The decision for packets that match no entry.
    pub rest: AccessDecision,
}

/// An entry of an access list.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessEntry {
    /// The line of the entry.
    pub line: usize,
    /// The decision for packets that match.
    pub decision: AccessDecision,
    /// The packets that the entry matches.
    pub condition: Condition,
}

impl AccessList {
    /// Returns the decision on a packet and the line of the deciding entry; `None` if no entry matches.
    /// Interfaces are numbered by their index in `interfaces`.
    pub fn decide(&self, interfaces: &[String], packet: &Packet) -> (AccessDecision, Option<usize>) {
        let entry = self.entries.iter().find(|entry| entry.condition.matches(interfaces, packet));
        entry.map_or((self.rest, None), |entry| (entry.decision, Some(entry.line)))
    }
}

/// The start of a tunnel: packets get a second header and are forwarded again.
#[derive(Clone, Debug, PartialEq)]
pub struct Tunnel {
    /// The source of the outer header.
    pub source: Option<At<TunnelSource>>,
    /// The destination of the outer header; `None` if the configuration has no address for it.
    pub destination: Option<At<IpAddr>>,
    /// The routing table (VRF) of the outer header; `None` for the global one.
    pub vrf: Option<At<String>>,
    /// Whether the tunnel has one other end or several.
    pub ends: TunnelEnds,
    /// The outer destinations that the configuration states for next hops inside the tunnel (RFC 2332).
    pub maps: Vec<TunnelMap>,
    /// The protocol in the outermost IP header.
    pub protocol: Protocol,
    /// The headers that the tunnel adds, the innermost first.
    pub headers: Vec<Header>,
    /// The header by which policies of the port below the tunnel classify its packets.
    pub classified_by: ClassifiedHeader,
}

/// The outer destination of packets to a next hop inside a tunnel with several ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelMap {
    /// The line of the mapping; 0 if the device learns the destination.
    pub line: usize,
    /// The next hop inside the tunnel.
    pub inside: IpAddr,
    /// The destination of the outer header.
    pub outside: IpAddr,
}

/// The source of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TunnelSource {
    /// The first address of an interface.
    Interface(String),
    /// An address.
    Address(IpAddr),
}

/// Whether a tunnel has one other end or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TunnelEnds {
    /// One end, whose address the configuration states.
    #[default]
    One,
    /// Several ends, which the device learns at run time.
    Several,
}

/// The header by which a policy classifies packets with two headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassifiedHeader {
    /// The outer header.
    #[default]
    Outer,
    /// The inner header; the value is the line that selects it.
    Inner(usize),
}

/// The encryption of packets that leave via a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Encryption {
    /// The line that applies the encryption to the port.
    pub line: usize,
    /// The configured name of the rules that select packets for encryption.
    pub name: String,
    /// The packets that the port encrypts.
    pub encrypts: Condition,
    /// The destinations of encrypted packets.
    pub peers: Vec<Ipv4Addr>,
    /// The header by which the port classifies encrypted packets.
    pub classified_by: ClassifiedHeader,
}

#[cfg(test)]
mod tests {
    use super::InterfaceAddress;

    #[test]
    fn a_subnet_ends_at_its_prefix() {
        let own = |address: &str, prefix_length| InterfaceAddress {
            line: 1,
            address: address.parse().unwrap(),
            prefix_length,
        };
        for (address, length, other, is_neighbor) in [
            ("192.0.2.1", 30, "192.0.2.2", true),
            ("192.0.2.1", 30, "192.0.2.4", false),
            ("192.0.2.1", 32, "192.0.2.1", true),
            ("192.0.2.1", 32, "192.0.2.2", false),
            ("192.0.2.1", 0, "203.0.113.9", true),
            ("192.0.2.1", 0, "2001:db8::1", false),
            ("2001:db8::1", 64, "2001:db8::ffff", true),
            ("2001:db8::1", 64, "2001:db8:0:1::1", false),
        ] {
            let found = own(address, length).is_neighbor(other.parse().unwrap());
            assert_eq!(found, is_neighbor, "{address}/{length} and {other}");
        }
    }
}
