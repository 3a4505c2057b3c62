//! [`Interface`]: what stands under `interface`, and [`Pvc`], what stands under `pvc`.

use std::net::{Ipv4Addr, Ipv6Addr};

use perhop_device::intent::{At, Direction, DropProfile as RandomDetect, FairQueue};

pub use perhop_device::LineKind as Hardware;
use serde::Serialize;

use super::class_map::Family;
use super::link::{Multilink, PeerPolicy, ServiceInstance, Tunnel};
use super::policy_map::ServicePolicies;
use super::rate_limit::RateLimit;

/// Whether an address is the interface's first.
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
    /// The line.
    pub line: usize,
    /// The address.
    pub address: Ipv4Addr,
    /// Length of the subnet's prefix.
    pub prefix_length: u8,
    /// First or further.
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
    /// IEEE 802.1Q with a VLAN.
    Dot1q(u16),
    /// Another.
    Other,
}

/// `encapsulation` of a virtual circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellEncapsulation {
    /// LLC/SNAP: the router's default.
    #[default]
    Snap,
    /// The circuit carries IP alone.
    Mux,
    /// The circuit carries PPP alone (PPPoA).
    MuxPpp,
    /// Another.
    Other,
}

/// Service category of a virtual circuit; rates in kilobits per second of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtmService {
    /// Unspecified bit rate, with an optional peak.
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
    /// Another.
    #[default]
    Unspecified,
}

/// An IPv6 address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceAddress6 {
    /// The line.
    pub line: usize,
    /// The address, or the part of it that the interface completes by itself.
    pub address: Ipv6Addr,
    /// Length of the subnet's prefix.
    pub prefix_length: u8,
}

/// `ip access-group` and `ipv6 traffic-filter`: packets that a list denies go no further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketFilter {
    /// The line.
    pub line: usize,
    /// The access list.
    pub list: String,
    /// For what comes in or for what goes out.
    pub direction: Direction,
    /// Which packets it looks at.
    pub family: Family,
}

/// `interface`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interface {
    /// Its name in full, without spaces: `ATM1/0.8`.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// What kind of wire it has.
    pub hardware: Hardware,
    /// Bits per second of that kind of wire, where the name says it; kilobits.
    pub nominal_kilobits: Option<u64>,
    /// Kilobits per second that the router calculates with where `bandwidth` does not say, on interfaces
    /// whose name says nothing of a wire: tunnels, dialers, serial lines.
    pub default_kilobits: Option<u64>,
    /// The interface it is a sub-interface of.
    pub parent: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `bandwidth`: kilobits per second, for arithmetic; the wire does not change.
    pub bandwidth: Option<At<u64>>,
    /// `max-reserved-bandwidth`: percent that classes may reserve.
    pub max_reserved_bandwidth: Option<At<u64>>,
    /// `clock rate`, bits per second.
    pub clock_rate: Option<At<u64>>,
    /// `speed`, megabits per second.
    pub speed: Option<At<u64>>,
    /// `ip vrf forwarding`: the table of routes that its addresses are in, where it is not the general one.
    pub vrf: Option<At<String>>,
    /// `ip address`
    pub addresses: Vec<InterfaceAddress>,
    /// `ipv6 address`
    pub addresses6: Vec<InterfaceAddress6>,
    /// `encapsulation`
    pub encapsulation: Option<At<LinkEncapsulation>>,
    /// `second-dot1q` of `encapsulation dot1q`: the inner tag.
    pub second_vlan: Option<At<u16>>,
    /// `native` of `encapsulation dot1q`: its frames have no tag.
    pub native_vlan: Option<At<()>>,
    /// `bandwidth qos-reference`: kilobits per second that percentages in policies refer to.
    pub bandwidth_reference: Option<At<u64>>,
    /// `mtu`: bytes of IP and MPLS in a frame.
    pub mtu: Option<At<u64>>,
    /// `ip mtu`: bytes of an IP packet.
    pub ip_mtu: Option<At<u64>>,
    /// `ip tcp adjust-mss`: bytes of a TCP segment, written into the connection requests that pass.
    pub adjust_mss: Option<At<u64>>,
    /// `load-interval`: seconds over which rates are averaged for display.
    pub load_interval: Option<At<u64>>,
    /// `tunnel …`
    pub tunnel: Option<Tunnel>,
    /// `qos pre-classify`: packets are classified by the header that a tunnel hides.
    pub pre_classify: Option<At<()>>,
    /// `crypto map`
    pub crypto_map: Option<At<String>>,
    /// `nhrp map group … service-policy output …`: what a hub does with what goes to the spokes of a group.
    pub peer_policies: Vec<PeerPolicy>,
    /// `nhrp group`: what a spoke tells the hub.
    pub nhrp_group: Option<At<String>>,
    /// `channel-group`: the Port-channel that it is a member of.
    pub channel_group: Option<At<u64>>,
    /// `ppp multilink group`: the Multilink that it is a member of or, there, its own number.
    pub multilink_group: Option<At<u64>>,
    /// `ppp multilink …`: fragments and what they are interleaved with.
    pub multilink: Option<Multilink>,
    /// `pppoe enable`, `pppoe-client`: packets travel in frames of a PPP session.
    pub pppoe: Option<At<()>>,
    /// `dialer pool`, `pppoe-client dial-pool-number`, `dialer pool-member`: a Dialer sends by the member of
    /// its pool.
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
    /// `shutdown`
    pub shutdown: Option<At<()>>,
    /// `pvc`, in order.
    pub pvcs: Vec<Pvc>,
}

/// `pvc`: a permanent virtual circuit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pvc {
    /// The line that opened it first.
    pub line: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Virtual path and virtual channel.
    pub identifier: (u16, u16),
    /// Service category and rates.
    pub service: Option<At<AtmService>>,
    /// `encapsulation`
    pub encapsulation: Option<At<CellEncapsulation>>,
    /// `pppoe-client`: packets travel in bridged frames of a PPP session.
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
