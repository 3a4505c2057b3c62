//! [`RouterProcess`] and [`InterfaceRouting`]: routing protocols, and groups of routers that share a virtual
//! address.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use perhop_device::intent::At;
use perhop_device::{LinkSettingKind, RoutingProtocol};

/// `router …`
#[derive(Clone, Debug, PartialEq)]
pub struct RouterProcess {
    /// The line.
    pub line: usize,
    /// The protocol; [`RoutingProtocol::Other`] for every protocol of IPv6.
    pub protocol: RoutingProtocol,
    /// The number or tag of the process.
    pub name: String,
    /// The VRF whose table contains the routes.
    pub vrf: Option<String>,
    /// `network`
    pub networks: Vec<Network>,
    /// The last line of `passive-interface default`.
    pub passive_by_default: Option<usize>,
    /// `passive-interface NAME` and `no passive-interface NAME`, by the full name of the interface.
    pub passive: BTreeMap<String, At<bool>>,
    /// `auto-cost reference-bandwidth`, megabits per second.
    pub reference_megabits: u64,
    /// `metric` of IS-IS.
    pub metric: Option<At<u64>>,
    /// `router-id` of OSPF, `net` of IS-IS.
    pub identity: Option<At<String>>,
    /// `redistribute`: the protocols whose routes the process announces.
    pub redistributed: Vec<At<String>>,
    /// `is-type`, `metric-style`: the settings that apply to all ports of the process.
    pub settings: BTreeMap<LinkSettingKind, At<String>>,
    /// `default-information originate`
    pub default_route: Option<usize>,
    /// `mpls ldp autoconfig`: all interfaces of the process, or the interfaces of an area, distribute labels.
    pub labels: Option<At<Option<String>>>,
    /// The lines that perhop does not use for routes: redistribution, filters, summaries, and areas that do
    /// not receive all routes.
    pub not_computed: Vec<usize>,
}

/// `network ADDRESS WILDCARD area AREA`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The line.
    pub line: usize,
    /// The address.
    pub address: Ipv4Addr,
    /// The wildcard: a bit with value 1 may differ.
    pub wildcard: Ipv4Addr,
    /// The area.
    pub area: String,
}

impl Network {
    /// Whether the network contains `other`.
    pub fn contains(&self, other: Ipv4Addr) -> bool {
        (self.address.to_bits() ^ other.to_bits()) & !self.wildcard.to_bits() == 0
    }
}

/// The commands of an interface that concern routing protocols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterfaceRouting {
    /// `ip ospf PROCESS area AREA`
    pub ospf: Option<At<(String, String)>>,
    /// `ip ospf cost`
    pub ospf_cost: Option<At<u64>>,
    /// `ip router isis [TAG]`
    pub isis: Option<At<String>>,
    /// `isis metric`
    pub isis_metric: Option<At<u64>>,
    /// `isis passive`
    pub isis_passive: Option<usize>,
    /// `ip ospf hello-interval` and other settings that must match the other end of a link, as written.
    pub settings: BTreeMap<LinkSettingKind, At<String>>,
    /// `no mpls ldp igp autoconfig`: `mpls ldp autoconfig` of a process does not apply.
    pub refuses_labels: bool,
    /// `ip nhrp map` and `ip nhrp nhs … nbma`: for each address in the tunnel, the address of the outer
    /// header.
    pub nhrp_maps: Vec<At<(Ipv4Addr, Ipv4Addr)>>,
    /// `standby` and `vrrp`, by the number of the group.
    pub groups: BTreeMap<u16, RouterGroup>,
}

/// `standby GROUP …` or `vrrp GROUP …`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterGroup {
    /// The address of the group.
    pub address: Option<At<Ipv4Addr>>,
    /// `priority`
    pub priority: Option<At<u8>>,
}
