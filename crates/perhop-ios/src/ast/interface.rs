//! [`Interface`]: the block `interface`, and [`Pvc`], the block `pvc`.

use std::net::{Ipv4Addr, Ipv6Addr};

use perhop_device::intent::{At, Direction, DropProfile as RandomDetect, FairQueue};

pub use perhop_device::LineKind as Hardware;
use serde::Serialize;

use super::class_map::Family;
use super::link::{Multilink, PeerPolicy, ServiceInstance, Tunnel};
use super::mls::PortQos;
use super::nx_os::FlowControlMode;
use super::policy_map::ServicePolicies;
use super::rate_limit::RateLimit;
use super::routing::InterfaceRouting;

/// Whether an address is the primary or a secondary address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// `ip address …`
    Primary,
    /// `ip address … secondary`
    Secondary,
}

/// `ip address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceAddress {
    /// The number of the line in the file.
    pub line: usize,
    /// The address.
    pub address: Ipv4Addr,
    /// Length of the subnet's prefix.
    pub prefix_length: u8,
    /// Primary or secondary.
    pub rank: Rank,
}

/// `encapsulation` of a serial line or an Ethernet sub-interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkEncapsulation {
    /// Cisco HDLC.
    Hdlc,
    /// PPP.
    Ppp,
    /// Frame relay.
    FrameRelay,
    /// IEEE 802.1Q, with the VLAN.
    Dot1q(u16),
    /// Another encapsulation.
    Other,
}

/// `encapsulation` of a virtual circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellEncapsulation {
    /// LLC/SNAP: the router's default.
    #[default]
    Snap,
    /// The circuit carries only IP.
    Mux,
    /// The circuit carries only PPP (PPPoA).
    MuxPpp,
    /// Another encapsulation.
    Other,
}

/// The service category of a virtual circuit. Rates are kilobits per second and count whole cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtmService {
    /// Unspecified bit rate, with an optional peak rate.
    Ubr(Option<u64>),
    /// Constant bit rate.
    Cbr(u64),
    /// Variable bit rate, not real-time.
    VbrNrt {
        /// Peak cell rate.
        peak: u64,
        /// Sustained cell rate.
        sustained: u64,
        /// Cells in a burst at the peak rate.
        burst: Option<u64>,
    },
    /// No category is configured, or the router refuses the configured rates.
    #[default]
    Unspecified,
}

/// An IPv6 address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceAddress6 {
    /// The number of the line in the file.
    pub line: usize,
    /// The address, or a prefix that the interface completes with its identifier.
    pub address: Ipv6Addr,
    /// Length of the subnet's prefix.
    pub prefix_length: u8,
}

/// `ip access-group` and `ipv6 traffic-filter`: drops packets that a list denies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketFilter {
    /// The number of the line in the file.
    pub line: usize,
    /// The access list.
    pub list: String,
    /// Inbound or outbound.
    pub direction: Direction,
    /// The address family of the filtered packets.
    pub family: Family,
}

/// `interface`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interface {
    /// Full name, without spaces: `ATM1/0.8`.
    pub name: String,
    /// The first line that opens the block.
    pub line: usize,
    /// The kind of hardware.
    pub hardware: Hardware,
    /// The nominal rate of the hardware, kilobits per second, if the name of the interface implies a rate.
    pub nominal_kilobits: Option<u64>,
    /// Default `bandwidth`, kilobits per second, for interfaces whose name implies no line rate: tunnels,
    /// dialers, serial lines.
    pub default_kilobits: Option<u64>,
    /// The parent interface of a sub-interface.
    pub parent: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `bandwidth`: kilobits per second for calculations; does not change the line rate.
    pub bandwidth: Option<At<u64>>,
    /// `max-reserved-bandwidth`: percent that classes may reserve.
    pub max_reserved_bandwidth: Option<At<u64>>,
    /// `clock rate`, bits per second.
    pub clock_rate: Option<At<u64>>,
    /// `speed`, megabits per second.
    pub speed: Option<At<u64>>,
    /// `ip vrf forwarding`: the routing table of the interface's addresses; `None` for the global table.
    pub vrf: Option<At<String>>,
    /// `ip address`
    pub addresses: Vec<InterfaceAddress>,
    /// `ipv6 address`
    pub addresses6: Vec<InterfaceAddress6>,
    /// `encapsulation`
    pub encapsulation: Option<At<LinkEncapsulation>>,
    /// `second-dot1q` of `encapsulation dot1q`: the inner tag.
    pub second_vlan: Option<At<u16>>,
    /// `native` of `encapsulation dot1q`: frames without a tag.
    pub native_vlan: Option<At<()>>,
    /// `bandwidth qos-reference`: the rate that percentages in policies refer to, kilobits per second.
    pub bandwidth_reference: Option<At<u64>>,
    /// `mtu`: bytes of IP and MPLS in a frame.
    pub mtu: Option<At<u64>>,
    /// `ip mtu`: bytes of an IP packet.
    pub ip_mtu: Option<At<u64>>,
    /// `ip tcp adjust-mss`: maximum segment size, bytes, written into forwarded SYNs.
    pub adjust_mss: Option<At<u64>>,
    /// `load-interval`: seconds over which rates are averaged for display.
    pub load_interval: Option<At<u64>>,
    /// `tunnel …`
    pub tunnel: Option<Tunnel>,
    /// `qos pre-classify`: classification by the header that a tunnel hides.
    pub pre_classify: Option<At<()>>,
    /// `crypto map`
    pub crypto_map: Option<At<String>>,
    /// `nhrp map group … service-policy output …`: the policy of a hub towards the spokes of a group.
    pub peer_policies: Vec<PeerPolicy>,
    /// `nhrp group`: the group that a spoke reports to the hub.
    pub nhrp_group: Option<At<String>>,
    /// `channel-group`: the number of the Port-channel that the interface belongs to.
    pub channel_group: Option<At<u64>>,
    /// `ppp multilink group`: the number of the Multilink that the interface belongs to; for a Multilink, its
    /// own number.
    pub multilink_group: Option<At<u64>>,
    /// `ppp multilink …`: fragmentation and interleaving.
    pub multilink: Option<Multilink>,
    /// `pppoe enable`, `pppoe-client`: packets are sent in PPPoE frames.
    pub pppoe: Option<At<()>>,
    /// `dialer pool`, `pppoe-client dial-pool-number`, `dialer pool-member`: the pool of a Dialer or of a
    /// member. A Dialer sends packets through the member of its pool.
    pub dialer_pool: Option<At<u64>>,
    /// `service instance`, in order.
    pub service_instances: Vec<ServiceInstance>,
    /// `ip access-group` and `ipv6 traffic-filter`, in order.
    pub filters: Vec<PacketFilter>,
    /// `rate-limit`, in order.
    pub rate_limits: Vec<RateLimit>,
    /// `service-policy`
    pub service_policies: ServicePolicies,
    /// `fair-queue`, or `no fair-queue`.
    pub fair_queue: Option<At<Option<FairQueue>>>,
    /// `random-detect`
    pub random_detect: Option<At<RandomDetect>>,
    /// `hold-queue … out`, packets.
    pub hold_queue: Option<At<u64>>,
    /// `tx-ring-limit`
    pub tx_ring_limit: Option<At<u64>>,
    /// `mls qos` and the queues of a port of a Catalyst 2960, 3560 or 3750.
    #[serde(skip)]
    pub mls: PortQos,
    /// Routing protocols, and groups of routers with a virtual address.
    #[serde(skip)]
    pub routing: InterfaceRouting,
    /// `priority-flow-control mode` of NX-OS.
    #[serde(skip)]
    pub flow_control: Option<At<FlowControlMode>>,
    /// `switchport mode private-vlan` of NX-OS.
    #[serde(skip)]
    pub private_vlan: Option<At<()>>,
    /// `shutdown`
    pub shutdown: Option<At<()>>,
    /// `pvc`, in order.
    pub pvcs: Vec<Pvc>,
}

/// `pvc`: a permanent virtual circuit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pvc {
    /// The first line that opens the block.
    pub line: usize,
    /// The name of the circuit, if any.
    pub name: Option<String>,
    /// Virtual path and virtual channel.
    pub identifier: (u16, u16),
    /// Service category and rates.
    pub service: Option<At<AtmService>>,
    /// `encapsulation`
    pub encapsulation: Option<At<CellEncapsulation>>,
    /// `pppoe-client`: packets are sent in bridged PPPoE frames.
    pub pppoe: Option<At<()>>,
    /// `tx-ring-limit`
    pub tx_ring_limit: Option<At<u64>>,
    /// `vc-hold-queue`, packets.
    pub hold_queue: Option<At<u64>>,
    /// `service-policy`
    pub service_policies: ServicePolicies,
    /// `fair-queue`, or `no fair-queue`.
    pub fair_queue: Option<At<Option<FairQueue>>>,
    /// `random-detect`
    pub random_detect: Option<At<RandomDetect>>,
}
