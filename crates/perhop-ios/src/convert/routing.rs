//! Conversion of routing protocols: the processes of the device, and their ports.

use perhop_device::intent::At;
use perhop_device::{
    AnnouncedSubnets, LinkSettingKind, PortRouting, RoutingProcess, RoutingProtocol, SharedAddress,
};
use perhop_qos::classifier::Prefix;

use super::context::Context;
use crate::ast::{
    BOTH_LEVELS, Configuration, Hardware, Interface, InterfaceAddress, Levels, ListSettings, ListedPort,
    Rank, RouterProcess,
};
use crate::grammar::Grammar;
use crate::syntax::levels_in;

/// The administrative distance of OSPF routes (Cisco, "What is administrative distance?").
const OSPF_DISTANCE: u8 = 110;
/// The administrative distance of IS-IS routes (same source).
const ISIS_DISTANCE: u8 = 115;
/// The distance of a protocol whose routes perhop does not compute.
const UNKNOWN_DISTANCE: u8 = u8::MAX;
/// The default metric of IS-IS (Cisco, "isis metric").
const ISIS_METRIC: u64 = 10;
/// The rate of a port with cost 1, megabits per second: Cisco, "ip ospf cost" for IOS, "auto-cost (OSPF)" for
/// IOS XR; for NX-OS Cisco Nexus 9000, "Unicast Routing Configuration Guide", default settings of OSPF, and
/// of IS-IS, which has a default metric for each rate only there.
const REFERENCE: u64 = 100;
const REFERENCE_OF_NX_OS: u64 = 40_000;
/// The bandwidth of virtual interfaces of IOS XR, kilobits per second (output of `show interfaces`).
const XR_BANDWIDTHS: [(&str, u64); 2] = [("BVI", 10_000_000), ("Tunnel-ip", 100)];
/// The default priority in HSRP and VRRP (RFC 5798 §5.2.4).
const PRIORITY: u8 = 100;

/// Returns the processes of the device.
pub(super) fn processes(configuration: &Configuration, has_groups: bool) -> Vec<RoutingProcess> {
    let bare: Vec<&Interface> = configuration.interfaces.iter().filter(|own| lacks_address(own)).collect();
    let converted = |own: &RouterProcess| {
        let mut converted = process(own, protocol(own, has_groups));
        converted
            .not_computed
            .extend(bare.iter().filter_map(|interface| line_without_address(interface, own)));
        converted
    };
    configuration.processes.iter().map(converted).collect()
}

fn lacks_address(interface: &Interface) -> bool {
    interface.addresses.is_empty() && interface.shutdown.is_none()
}

/// Returns the line by which an interface without an address of its own, such as `ip unnumbered`, takes part
/// in a process. perhop does not compute routes over it.
fn line_without_address(interface: &Interface, process: &RouterProcess) -> Option<usize> {
    let routing = &interface.routing;
    let is_own_table = interface.vrf.as_ref().map(|vrf| &vrf.value) == process.vrf.as_ref();
    if !is_own_table || process.is_off {
        return None;
    }
    let named = match process.protocol {
        RoutingProtocol::Ospf => {
            routing.ospf.as_ref().filter(|at| at.value.0 == process.name).map(|at| at.line)
        }
        RoutingProtocol::Isis => {
            routing.isis.as_ref().filter(|at| at.value == process.name).map(|at| at.line)
        }
        RoutingProtocol::Eigrp | RoutingProtocol::Other => return None,
    };
    named.or_else(|| process.list.ports.get(&interface.name).map(|port| port.line))
}

fn process(process: &RouterProcess, protocol: RoutingProtocol) -> RoutingProcess {
    RoutingProcess {
        line: process.line,
        protocol,
        vrf: process.vrf.clone(),
        distance: match protocol {
            RoutingProtocol::Ospf => OSPF_DISTANCE,
            RoutingProtocol::Isis => ISIS_DISTANCE,
            RoutingProtocol::Eigrp | RoutingProtocol::Other => UNKNOWN_DISTANCE,
        },
        identity: process.identity.clone(),
        redistributed: process.redistributed.clone(),
        default_route: process.default_route,
        not_computed: process.not_computed.clone(),
    }
}

/// Returns the protocol of a process; [`RoutingProtocol::Other`] if groups of lines can change its ports.
fn protocol(process: &RouterProcess, has_groups: bool) -> RoutingProtocol {
    match process.protocol {
        RoutingProtocol::Ospf | RoutingProtocol::Isis if has_groups => RoutingProtocol::Other,
        protocol => protocol,
    }
}

impl Context<'_> {
    /// Returns the routing protocols that run on `interface`. `kilobits` is the bandwidth to which the shares
    /// of its classes refer.
    pub(super) fn port_routing(&self, interface: &Interface, kilobits: u64) -> Vec<PortRouting> {
        if self.configuration.processes.is_empty() {
            return Vec::new();
        }
        let kilobits = self.routed_kilobits(interface, kilobits);
        let grammar = self.configuration.grammar;
        let processes = self.configuration.processes.iter().enumerate();
        let own = processes.filter(|(_, process)| {
            let vrf = interface.vrf.as_ref().map(|vrf| vrf.value.as_str());
            process.vrf.as_deref() == vrf && !process.is_off
        });
        own.filter_map(|(place, process)| match protocol(process, self.has_router_groups) {
            RoutingProtocol::Ospf => Member { interface, kilobits, grammar, place, process }.ospf(),
            RoutingProtocol::Isis => Member { interface, kilobits, grammar, place, process }.isis(),
            RoutingProtocol::Eigrp => eigrp(interface, place, process),
            RoutingProtocol::Other => None,
        })
        .collect()
    }

    /// Returns the bandwidth of `interface` in the costs of routing protocols. The bandwidth of a bundle is
    /// the sum of its members (output of `show interfaces`). `kilobits` is the bandwidth of other
    /// interfaces.
    fn routed_kilobits(&self, interface: &Interface, kilobits: u64) -> u64 {
        let own = interface.routing.kilobits.or(interface.bandwidth.map(|at| at.value));
        if let Some(own) = own {
            return own;
        }
        let interfaces = &self.configuration.interfaces;
        if let Some(parent) = interface.parent.as_ref().and_then(|name| interfaces.get(name)) {
            return self.routed_kilobits(parent, kilobits);
        }
        let is_xr = self.configuration.grammar == Grammar::IosXr;
        let of_kind = XR_BANDWIDTHS.iter().find(|(kind, _)| is_xr && interface.name.starts_with(kind));
        if let Some((_, kilobits)) = of_kind {
            return *kilobits;
        }
        if !interface.name.starts_with(self.configuration.bundle_name()) {
            return kilobits;
        }
        let members = self.lines_below(interface);
        let members = members.iter().filter_map(|name| interfaces.get(name));
        let rates: Vec<u64> =
            members.filter(|member| member.shutdown.is_none()).filter_map(member_kilobits).collect();
        if rates.is_empty() { kilobits } else { rates.iter().sum() }
    }

    /// Returns the line by which `interface` distributes labels: a line of the interface, a line of the block
    /// `mpls ldp` of IOS XR, or the line of a process that includes the interface (Cisco, "MPLS LDP
    /// Autoconfiguration").
    pub(super) fn label_line(&self, interface: &Interface, routing: &[PortRouting]) -> Option<usize> {
        let labels = &self.configuration.labels;
        if labels.off.is_some() {
            return None;
        }
        let by_block = || labels.ports.iter().find(|at| at.value == interface.name).map(|at| at.line);
        let by_process = || {
            let includes = |part: &PortRouting| {
                let line = self.configuration.processes[part.process].labels.as_ref()?;
                let is_meant = line.value.as_ref().is_none_or(|area| Some(area) == part.area.as_ref());
                is_meant.then_some(line.line)
            };
            routing.iter().find_map(includes).filter(|_| !interface.routing.refuses_labels)
        };
        let own = interface.routing.settings.get(&LinkSettingKind::Labels).map(|at| at.line);
        own.or_else(by_block).or_else(by_process)
    }
}

/// Returns the bandwidth of a member of a bundle.
fn member_kilobits(member: &Interface) -> Option<u64> {
    let speed = member.speed.map(|speed| speed.value.saturating_mul(1000));
    member.routing.kilobits.or(member.bandwidth.map(|at| at.value)).or(speed).or(member.nominal_kilobits)
}

/// An interface that may take part in a process.
struct Member<'c> {
    interface: &'c Interface,
    kilobits: u64,
    grammar: Grammar,
    place: usize,
    process: &'c RouterProcess,
}

impl<'c> Member<'c> {
    fn ospf(&self) -> Option<PortRouting> {
        let (interface, process) = (self.interface, self.process);
        let primary = primary(interface)?;
        let listed = self.listed();
        let (line, area) = self.ospf_area(primary, listed)?;
        let is_off = interface.routing.ospf_off.is_some() || self.inherited(listed).any(|own| own.is_off);
        let cost = interface.routing.ospf_cost.or_else(|| self.inherited(listed).find_map(|own| own.cost));
        let announces_host = is_loopback(interface) && !interface.routing.announces_loopback_subnet;
        let host = || Prefix::new(primary.address.into(), 32).ok().filter(|_| announces_host);
        (!is_off).then(|| PortRouting {
            line,
            process: self.place,
            area: Some(area),
            cost: narrow(cost.unwrap_or_else(|| At::new(process.line, self.cost_by_rate()))),
            passive: self.passive(listed, interface.routing.ospf_passive),
            announced: host().map_or(AnnouncedSubnets::OfAddresses, AnnouncedSubnets::Host),
        })
    }

    /// Returns the area of the interface in OSPF, with the line that names the interface.
    fn ospf_area(&self, primary: &InterfaceAddress, listed: Option<&ListedPort>) -> Option<(usize, String)> {
        let process = self.process;
        if self.grammar == Grammar::IosXr {
            let port = listed?;
            return Some((port.line, process.list.areas.at(port.area?)?.name.clone()));
        }
        if let Some(own) = self.interface.routing.ospf.as_ref().filter(|own| own.value.0 == process.name) {
            return Some((own.line, own.value.1.clone()));
        }
        let networks = process.networks.iter().filter(|network| network.contains(primary.address));
        // The most specific statement decides (Cisco, "network area").
        let network = networks.min_by_key(|network| network.wildcard.to_bits())?;
        Some((network.line, network.area.clone()))
    }

    fn isis(&self) -> Option<PortRouting> {
        let (interface, process) = (self.interface, self.process);
        let listed = self.listed().filter(|port| port.settings.has_family);
        // On IOS, IS-IS announces the subnet of a passive interface even without `ip router isis`.
        let announced = process.passive.get(&interface.name).filter(|at| at.value).map(|at| at.line);
        let own = interface.routing.isis.as_ref().filter(|isis| isis.value == process.name);
        let own = own.map(|isis| isis.line).or(announced).or(listed.map(|port| port.line));
        let line = own.filter(|_| interface.routing.isis_off.is_none())?;
        let settings = listed.map(|port| &port.settings);
        if settings.is_some_and(|own| own.is_off) {
            return None;
        }
        let passive = self.isis_passive(listed);
        let is_suppressed = interface.routing.isis_suppressed.is_some()
            || settings.is_some_and(|own| own.is_suppressed)
            || process.announces_passive_only && passive.is_none();
        Some(PortRouting {
            line,
            process: self.place,
            area: None,
            cost: narrow(self.isis_metric(listed)),
            passive,
            announced: if is_suppressed { AnnouncedSubnets::Nothing } else { AnnouncedSubnets::OfAddresses },
        })
    }

    /// Returns the metric of IS-IS in level 2 if the port uses this level, otherwise in level 1.
    fn isis_metric(&self, listed: Option<&ListedPort>) -> At<u64> {
        let level = usize::from(self.levels(listed)[1]);
        let of_port = self.interface.routing.isis_metrics[level];
        let written = || self.inherited(listed).find_map(|own| own.metrics[level]);
        of_port.or_else(written).or(self.process.metrics[level]).unwrap_or_else(|| {
            let usual = if self.grammar == Grammar::NxOs { self.cost_by_rate() } else { ISIS_METRIC };
            At::new(self.process.line, usual)
        })
    }

    /// Returns the levels of IS-IS that the port uses.
    fn levels(&self, listed: Option<&ListedPort>) -> Levels {
        let of_process = self.process.settings.get(&LinkSettingKind::IsisLevels);
        let of_list = self.inherited(listed).find_map(|own| own.settings.get(&LinkSettingKind::IsisLevels));
        let of_port = self.interface.routing.settings.get(&LinkSettingKind::IsisLevels).or(of_list);
        let levels = |at: Option<&At<String>>| at.map_or(BOTH_LEVELS, |at| levels_in(&at.value));
        let (outer, inner) = (levels(of_process), levels(of_port));
        let both = [outer[0] && inner[0], outer[1] && inner[1]];
        if both == [false; 2] { outer } else { both }
    }

    /// Returns the line that makes the port passive in all its levels of IS-IS.
    fn isis_passive(&self, listed: Option<&ListedPort>) -> Option<usize> {
        let levels = self.levels(listed);
        let contains = |passive: Levels| (0..2).all(|place| passive[place] || !levels[place]);
        if let Some(own) = self.interface.routing.isis_passive {
            return contains(own.value).then_some(own.line);
        }
        let is_usual = self.process.passive_by_default.is_none_or(|at| contains(at.value));
        self.passive(listed, None).filter(|_| is_usual || self.process.passive.contains_key(self.name()))
    }

    /// Returns the line that prevents neighbors on the interface. `own` is the setting of the interface. With
    /// `passive-interface default`, this is the first line of the process, because the process has no
    /// exception for this interface.
    fn passive(&self, listed: Option<&ListedPort>, own: Option<At<bool>>) -> Option<usize> {
        let of_list = || self.inherited(listed).find_map(|settings| settings.passive);
        let of_name = || self.process.passive.get(self.name()).copied();
        match own.or_else(of_list).or_else(of_name) {
            Some(at) => at.value.then_some(at.line),
            None => self.process.passive_by_default.map(|_| self.process.line),
        }
    }

    /// Returns the cost that follows from the bandwidth of the interface (Cisco, "OSPF cost"): the reference
    /// bandwidth divided by the bandwidth of the interface, at least 1.
    fn cost_by_rate(&self) -> u64 {
        let usual = if self.grammar == Grammar::NxOs { REFERENCE_OF_NX_OS } else { REFERENCE };
        let reference = self.process.reference_megabits.unwrap_or(usual);
        let cost = reference.saturating_mul(1000) / self.kilobits.max(1);
        if is_loopback(self.interface) { 1 } else { cost.max(1) }
    }

    fn name(&self) -> &str {
        &self.interface.name
    }

    /// Returns the port in the list of the process.
    fn listed(&self) -> Option<&'c ListedPort> {
        self.process.list.ports.get(&self.interface.name)
    }

    /// Returns the settings of a listed port and of the blocks around it, the settings of the port first.
    fn inherited(&self, listed: Option<&'c ListedPort>) -> impl Iterator<Item = &'c ListSettings> + use<'c> {
        let list = &self.process.list;
        listed.into_iter().flat_map(move |port| list.inherited(port))
    }
}

fn eigrp(interface: &Interface, place: usize, process: &RouterProcess) -> Option<PortRouting> {
    let primary = primary(interface)?;
    let network = process.networks.iter().find(|network| network.contains(primary.address))?;
    let passive = match process.passive.get(&interface.name) {
        Some(at) => at.value.then_some(at.line),
        None => process.passive_by_default.map(|_| process.line),
    };
    Some(PortRouting {
        line: network.line,
        process: place,
        area: None,
        cost: At::new(process.line, 0),
        passive,
        announced: AnnouncedSubnets::OfAddresses,
    })
}

fn primary(interface: &Interface) -> Option<&InterfaceAddress> {
    interface.addresses.iter().find(|address| address.rank == Rank::Primary)
}

fn narrow(cost: At<u64>) -> At<u32> {
    At::new(cost.line, u32::try_from(cost.value).unwrap_or(u32::MAX))
}

fn is_loopback(interface: &Interface) -> bool {
    interface.hardware == Hardware::Virtual && interface.name.starts_with("Loopback")
}

/// Returns the virtual addresses of the groups of routers that `interface` belongs to.
pub(super) fn shared_addresses(interface: &Interface) -> Vec<SharedAddress> {
    let groups = interface.routing.groups.iter().filter_map(|(number, group)| {
        let address = group.address?;
        Some(SharedAddress {
            line: address.line,
            group: *number,
            address: address.value.into(),
            priority: group.priority.map_or(PRIORITY, |priority| priority.value),
        })
    });
    groups.collect()
}
