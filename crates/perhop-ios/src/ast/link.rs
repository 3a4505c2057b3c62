//! Parts of interfaces: tunnels, bundles, service instances, channelized lines.

use std::net::Ipv4Addr;

use perhop_device::intent::At;

use serde::Serialize;

use super::policy_map::ServicePolicies;

/// `tunnel …` of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tunnel {
    /// `tunnel mode`, as written: `gre multipoint`; by default GRE over IPv4.
    pub mode: Option<At<String>>,
    /// `tunnel source`: the full name of an interface, or an address.
    pub source: Option<At<String>>,
    /// `tunnel destination`
    pub destination: Option<At<String>>,
    /// `tunnel key`: four more bytes in the GRE header.
    pub key: Option<At<u64>>,
    /// `tunnel checksum`: four more bytes in the GRE header.
    pub checksum: Option<At<()>>,
    /// `tunnel sequence-datagrams`: four more bytes in the GRE header.
    pub sequence: Option<At<()>>,
    /// `tunnel protection ipsec profile`: the profile.
    pub protection: Option<At<String>>,
    /// `tunnel vrf`: the routing table for the tunnel destination.
    pub vrf: Option<At<String>>,
    /// `tunnel path-mtu-discovery`
    pub path_mtu_discovery: Option<At<()>>,
}

/// `nhrp map group … service-policy output …`
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerPolicy {
    /// The number of the line in the file.
    pub line: usize,
    /// The group that spokes report.
    pub group: String,
    /// The policy for packets to each spoke of the group.
    pub policy: String,
}

/// `ppp multilink …`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Multilink {
    /// `ppp multilink interleave`: the bundle sends small packets between the fragments of large ones.
    pub interleave: Option<At<()>>,
    /// `ppp multilink fragment delay`: transmission time of a fragment, microseconds.
    pub fragment_microseconds: Option<At<u64>>,
    /// `ppp multilink fragment size`: bytes of a fragment.
    pub fragment_bytes: Option<At<u64>>,
    /// `ppp multilink fragment disable`
    pub unfragmented: Option<At<()>>,
}

/// `service instance … ethernet`: frames of some VLANs on a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceInstance {
    /// The first line that opens the block.
    pub line: usize,
    /// The number of the service instance on the port.
    pub number: u64,
    /// `encapsulation`, as written: `dot1q 10 second-dot1q 20`.
    pub encapsulation: Option<At<String>>,
    /// `rewrite …`, as written: `ingress tag pop 1 symmetric`.
    pub rewrite: Option<At<String>>,
    /// `bridge-domain`
    pub bridge_domain: Option<At<u64>>,
    /// `service-policy`
    pub service_policies: ServicePolicies,
}

/// `controller`: a physical line with time slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Controller {
    /// The kind and the number of the line: `T1 0/0/0`.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// The channel groups of the line.
    pub groups: Vec<ChannelGroup>,
    /// The path of the SONET tributary to which the following lines apply.
    #[serde(skip)]
    pub(crate) path: Vec<u64>,
}

/// `channel-group … timeslots …`: time slots that form a serial interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelGroup {
    /// The number of the line in the file.
    pub line: usize,
    /// The interface: `Serial0/0/0:1`.
    pub interface: String,
    /// The sum of the rates of the time slots, kilobits per second.
    pub kilobits: u64,
}

/// `crypto ipsec transform-set`: the encryption of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransformSet {
    /// The name of the transform set.
    pub name: String,
    /// The number of the line in the file.
    pub line: usize,
    /// Ciphers and authentication, as written: `esp-aes 256 esp-sha256-hmac`.
    pub transforms: String,
    /// `mode transport`: the IP header of the packet is not encrypted.
    pub transport: Option<At<()>>,
}

/// `crypto ipsec profile` of a protected tunnel, or `crypto map` of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IpsecProfile {
    /// The name of the profile or crypto map.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// `set transform-set`: the names of the sets. The first set that the peer accepts applies.
    pub transform_sets: Vec<String>,
    /// `match address` of crypto maps: access lists of the packets to encrypt.
    pub lists: Vec<String>,
    /// `set peer` of crypto maps: destinations of encrypted packets.
    pub peers: Vec<Ipv4Addr>,
    /// `qos pre-classify` of crypto maps.
    pub pre_classify: Option<At<()>>,
}

/// `control-plane`: policies for packets to the router itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControlPlane {
    /// The first line that opens the block.
    pub line: usize,
    /// `service-policy`
    pub service_policies: ServicePolicies,
}
