//! [`RouterProcess`] and [`InterfaceRouting`]: routing protocols, and groups of routers that share a virtual
//! address.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use perhop_device::intent::At;
use perhop_device::{LinkSettingKind, RoutingProtocol};

use super::Named;

/// `router …`
#[derive(Clone, Debug, PartialEq)]
pub struct RouterProcess {
    /// The number of the line in the file.
    pub line: usize,
    /// The protocol; [`RoutingProtocol::Other`] for every protocol of IPv6.
    pub protocol: RoutingProtocol,
    /// The number or tag of the process.
    pub name: String,
    /// The VRF whose table contains the routes.
    pub vrf: Option<String>,
    /// `network`
    pub networks: Vec<Network>,
    /// The last line of `passive-interface default`, and the levels of IS-IS to which it applies.
    pub passive_by_default: Option<At<Levels>>,
    /// `passive-interface NAME` and `no passive-interface NAME`, by the full name of the interface.
    pub passive: BTreeMap<String, At<bool>>,
    /// `auto-cost reference-bandwidth` of OSPF, `reference-bandwidth` of IS-IS, megabits per second.
    pub reference_megabits: Option<u64>,
    /// `metric` of IS-IS, for each level.
    pub metrics: LevelMetrics,
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
    /// `advertise passive-only` of IS-IS: the process announces only the subnets of passive ports.
    pub announces_passive_only: bool,
    /// `shutdown` of NX-OS: the process does not run.
    pub is_off: bool,
    /// The ports that the block lists, on IOS XR.
    pub list: PortList,
    /// The lines that perhop does not use for routes: redistribution, filters, summaries, and areas that do
    /// not receive all routes.
    pub not_computed: Vec<usize>,
}

/// Whether something applies to level 1 and to level 2 of IS-IS.
pub type Levels = [bool; 2];

/// Both levels of IS-IS.
pub const BOTH_LEVELS: Levels = [true; 2];

/// A metric for level 1 and for level 2 of IS-IS.
pub type LevelMetrics = [Option<At<u64>>; 2];

/// The ports that a process of IOS XR lists. A port inherits the settings that it lacks from its area, and an
/// area from the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortList {
    /// The settings of the process.
    pub settings: ListSettings,
    /// `area`
    pub areas: Named<ListedArea>,
    /// `interface`
    pub ports: Named<ListedPort>,
}

/// `area` of IOS XR.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedArea {
    /// The number, which can be written like an address.
    pub name: String,
    /// The settings of its ports.
    pub settings: ListSettings,
}

/// `interface` in the block of a routing process.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedPort {
    /// The line.
    pub line: usize,
    /// The index of the area of OSPF.
    pub area: Option<usize>,
    /// The settings of the port.
    pub settings: ListSettings,
}

/// The settings of a process, an area or a port of IOS XR.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListSettings {
    /// `cost` of OSPF.
    pub cost: Option<At<u64>>,
    /// `passive`
    pub passive: Option<At<bool>>,
    /// `shutdown`: the protocol does not run on the port.
    pub is_off: bool,
    /// `metric` of IS-IS.
    pub metrics: LevelMetrics,
    /// `suppressed`: IS-IS does not announce the subnet of the port.
    pub is_suppressed: bool,
    /// `address-family ipv4 unicast`, without which IS-IS does not route IPv4 packets over the port.
    pub has_family: bool,
    /// `hello-interval` and other settings that must match the other end of a link.
    pub settings: BTreeMap<LinkSettingKind, At<String>>,
}

impl PortList {
    /// Returns the settings of a port, of its area and of the process, in the order of their precedence.
    pub(crate) fn inherited<'s>(
        &'s self,
        port: &'s ListedPort,
    ) -> impl Iterator<Item = &'s ListSettings> + Clone {
        let area = port.area.and_then(|area| self.areas.at(area)).map(|area| &area.settings);
        [Some(&port.settings), area, Some(&self.settings)].into_iter().flatten()
    }
}

/// `network ADDRESS WILDCARD area AREA`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The number of the line in the file.
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
    /// `ip ospf PROCESS area AREA`, `ip router ospf TAG area AREA` of NX-OS.
    pub ospf: Option<At<(String, String)>>,
    /// `ip ospf cost`
    pub ospf_cost: Option<At<u64>>,
    /// `ip router isis [TAG]`
    pub isis: Option<At<String>>,
    /// `isis metric`
    pub isis_metrics: LevelMetrics,
    /// `isis passive`, `isis passive-interface` of NX-OS: the levels in which the port is passive.
    pub isis_passive: Option<At<Levels>>,
    /// `ip ospf passive-interface` of NX-OS, and the same command after `no`.
    pub ospf_passive: Option<At<bool>>,
    /// The line of `ip ospf shutdown` of NX-OS.
    pub ospf_off: Option<usize>,
    /// The line of `isis shutdown` of NX-OS.
    pub isis_off: Option<usize>,
    /// The line of `isis suppressed` of NX-OS, or of `no isis advertise prefix` of IOS.
    pub isis_suppressed: Option<usize>,
    /// `ip ospf advertise-subnet` of NX-OS: OSPF announces the whole subnet of a loopback interface.
    pub announces_loopback_subnet: bool,
    /// `bandwidth` of IOS XR, kilobits per second, which only determines costs.
    pub kilobits: Option<u64>,
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
