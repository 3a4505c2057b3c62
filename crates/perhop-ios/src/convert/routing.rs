//! Conversion of routing protocols: the processes of the device, and their ports.

use perhop_device::intent::At;
use perhop_device::{LinkSettingKind, PortRouting, RoutingProcess, RoutingProtocol, SharedAddress};
use perhop_qos::classifier::Prefix;

use super::context::Context;
use crate::ast::{Hardware, Interface, Rank, RouterProcess};

/// The administrative distance of OSPF routes (Cisco, "What is administrative distance?").
const OSPF_DISTANCE: u8 = 110;
const ISIS_DISTANCE: u8 = 115;
/// The distance of a protocol whose routes perhop does not compute.
const UNKNOWN_DISTANCE: u8 = u8::MAX;
/// The default metric of IS-IS (Cisco, "isis metric").
const ISIS_METRIC: u64 = 10;
/// The default priority in HSRP and VRRP (RFC 5798 §5.2.4).
const PRIORITY: u8 = 100;

/// Converts the process to the form of the device model.
pub(super) fn process(process: &RouterProcess) -> RoutingProcess {
    RoutingProcess {
        line: process.line,
        protocol: process.protocol,
        vrf: process.vrf.clone(),
        distance: match process.protocol {
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

impl Context<'_> {
    /// Returns the routing protocols that run on `interface`. `kilobits` is the bandwidth of the interface.
    pub(super) fn port_routing(&self, interface: &Interface, kilobits: u64) -> Vec<PortRouting> {
        let processes = self.configuration.processes.iter().enumerate();
        let own = processes.filter(|(_, process)| {
            let vrf = interface.vrf.as_ref().map(|vrf| vrf.value.as_str());
            process.vrf.as_deref() == vrf
        });
        own.filter_map(|(place, process)| match process.protocol {
            RoutingProtocol::Ospf => ospf(interface, kilobits, place, process),
            RoutingProtocol::Isis => isis(interface, place, process),
            RoutingProtocol::Eigrp => eigrp(interface, place, process),
            RoutingProtocol::Other => None,
        })
        .collect()
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

fn ospf(interface: &Interface, kilobits: u64, place: usize, process: &RouterProcess) -> Option<PortRouting> {
    let primary = interface.addresses.iter().find(|address| address.rank == Rank::Primary)?;
    let own = interface.routing.ospf.as_ref().filter(|ospf| ospf.value.0 == process.name);
    let (line, area) = if let Some(own) = own {
        (own.line, own.value.1.clone())
    } else {
        let networks = process.networks.iter().filter(|network| network.contains(primary.address));
        // The most specific statement decides (Cisco, "network area").
        let network = networks.min_by_key(|network| network.wildcard.to_bits())?;
        (network.line, network.area.clone())
    };
    let is_loopback = is_loopback(interface);
    let cost = interface.routing.ospf_cost.unwrap_or_else(|| {
        // Cisco, "OSPF cost": the reference bandwidth divided by the bandwidth of the interface, at least 1.
        let cost = if is_loopback { 1 } else { process.reference_megabits * 1000 / kilobits.max(1) };
        At::new(process.line, cost.max(1))
    });
    Some(PortRouting {
        line,
        process: place,
        area: Some(area),
        cost: narrow(cost),
        passive: passive(interface, process),
        announced: is_loopback.then(|| Prefix::new(primary.address.into(), 32).ok()).flatten(),
    })
}

fn isis(interface: &Interface, place: usize, process: &RouterProcess) -> Option<PortRouting> {
    // IS-IS announces the subnet of a passive interface even without `ip router isis`.
    let announced = process.passive.get(&interface.name).filter(|at| at.value).map(|at| at.line);
    let own = interface.routing.isis.as_ref().filter(|isis| isis.value == process.name);
    let line = own.map(|isis| isis.line).or(announced)?;
    let usual = process.metric.unwrap_or(At::new(process.line, ISIS_METRIC));
    Some(PortRouting {
        line,
        process: place,
        area: None,
        cost: narrow(interface.routing.isis_metric.unwrap_or(usual)),
        passive: interface.routing.isis_passive.or_else(|| passive(interface, process)),
        announced: None,
    })
}

fn eigrp(interface: &Interface, place: usize, process: &RouterProcess) -> Option<PortRouting> {
    let primary = interface.addresses.iter().find(|address| address.rank == Rank::Primary)?;
    let network = process.networks.iter().find(|network| network.contains(primary.address))?;
    Some(PortRouting {
        line: network.line,
        process: place,
        area: None,
        cost: At::new(process.line, 0),
        passive: passive(interface, process),
        announced: None,
    })
}

/// Returns the line that prevents neighbors on the interface. With `passive-interface default`, this is the
/// first line of the process, because the process has no exception for this interface.
fn passive(interface: &Interface, process: &RouterProcess) -> Option<usize> {
    match process.passive.get(&interface.name) {
        Some(at) => at.value.then_some(at.line),
        None => process.passive_by_default.map(|_| process.line),
    }
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
