//! [`Circuit`]: an output path of packets: an interface, one circuit of an ATM interface, or the peers of a
//! tunnel.

use perhop_qos::Rate;

use super::tags::Tags;
use crate::ast::{
    At, AtmService, Configuration, Hardware, Interface, PeerPolicy, Pvc, ServiceInstance, ServicePolicies,
};

/// An output path of packets.
pub(in crate::convert) struct Circuit<'a> {
    pub(in crate::convert) name: String,
    pub(in crate::convert) line: usize,
    pub(in crate::convert) pvc: Option<&'a Pvc>,
    /// The policies of the circuit itself; `None` if only the interface has policies.
    pub(in crate::convert) policies: Option<&'a ServicePolicies>,
    /// The policy for the peers of a group (`nhrp map group`).
    pub(in crate::convert) peer: Option<&'a PeerPolicy>,
    /// The rate that shares and percentages refer to.
    pub(in crate::convert) bandwidth: Rate,
    /// The VLAN tags of packets on the circuit.
    pub(in crate::convert) tags: Tags,
}

/// The default `bandwidth` of an interface, kilobits per second, which is the rate of a T1 line.
const T1: u64 = 1544;

impl<'a> Circuit<'a> {
    /// Returns the circuits of `interface`, or the interface itself if it has none.
    pub(in crate::convert) fn of_interface(
        interface: &'a Interface,
        configuration: &'a Configuration,
    ) -> Vec<Circuit<'a>> {
        if interface.pvcs.is_empty() {
            return Circuit::of_peers(interface, configuration);
        }
        let name = |pvc: &Pvc| match interface.pvcs.len() {
            1 => interface.name.clone(),
            _ => format!("{} {}/{}", interface.name, pvc.identifier.0, pvc.identifier.1),
        };
        let circuit = |pvc: &'a Pvc| Circuit {
            name: name(pvc),
            line: pvc.line,
            pvc: Some(pvc),
            policies: Some(&pvc.service_policies),
            peer: None,
            bandwidth: cell_rate(pvc).unwrap_or_else(|| interface_bandwidth(interface, configuration)),
            tags: Tags::default(),
        };
        interface.pvcs.iter().map(circuit).collect()
    }

    /// Returns a circuit for the interface itself, for each service instance with a policy, and for the peers
    /// of each group. For a tunnel with one group and no policy of its own, returns only the circuit of the
    /// group.
    fn of_peers(interface: &'a Interface, configuration: &'a Configuration) -> Vec<Circuit<'a>> {
        let circuit = |name: String, line: usize, peer: Option<&'a PeerPolicy>| Circuit {
            name,
            line,
            pvc: None,
            policies: None,
            peer,
            bandwidth: interface_bandwidth(interface, configuration),
            tags: Tags::of_interface(interface),
        };
        let own = |peer| circuit(interface.name.clone(), interface.line, peer);
        let has_policy = |instance: &&ServiceInstance| {
            instance.service_policies.input.is_some() || instance.service_policies.output.is_some()
        };
        let instances = interface.service_instances.iter().filter(has_policy).map(|instance| Circuit {
            policies: Some(&instance.service_policies),
            tags: Tags::of_instance(instance),
            ..circuit(format!("{} EFP {}", interface.name, instance.number), instance.line, None)
        });
        match interface.peer_policies.as_slice() {
            [] => std::iter::once(own(None)).chain(instances).collect(),
            [only] if interface.service_policies.output.is_none() => vec![own(Some(only))],
            groups => {
                let of_group = |peer: &'a PeerPolicy| {
                    circuit(format!("{} {}", interface.name, peer.group), peer.line, Some(peer))
                };
                std::iter::once(own(None)).chain(groups.iter().map(of_group)).collect()
            }
        }
    }
}

/// Whether the configuration determines the physical interface through which packets of `interface` leave.
pub(in crate::convert) fn has_known_line(interface: &Interface, configuration: &Configuration) -> bool {
    !interface.name.starts_with("Tunnel") || configuration.underlay(interface).is_some()
}

/// Returns the bandwidth of the physical interface below a tunnel. `None` for other interfaces, if the
/// physical interface is unknown, and for a virtual interface without a configured bandwidth, because its
/// default is not a line rate.
pub(in crate::convert) fn rate_below(interface: &Interface, configuration: &Configuration) -> Option<Rate> {
    let below = configuration.underlay(interface)?;
    let is_wire = !matches!(below.hardware, Hardware::Virtual | Hardware::Other | Hardware::Unknown);
    let is_written = below.bandwidth_reference.or(below.bandwidth).is_some();
    (is_wire || is_written).then(|| interface_bandwidth(below, configuration))
}

/// Returns the sustained rate of the cells of a circuit, bits per second; `None` if the circuit has the line
/// rate.
pub(in crate::convert) fn cell_rate(pvc: &Pvc) -> Option<Rate> {
    match pvc.service?.value {
        AtmService::Cbr(rate) | AtmService::Ubr(Some(rate)) | AtmService::VbrNrt { sustained: rate, .. } => {
            Some(kilobits(rate))
        }
        AtmService::Ubr(None) | AtmService::Unspecified => None,
    }
}

fn interface_bandwidth(interface: &Interface, configuration: &Configuration) -> Rate {
    let written: Option<At<u64>> = interface.bandwidth_reference.or(interface.bandwidth);
    if let Some(bandwidth) = written {
        return kilobits(bandwidth.value);
    }
    let parent = interface.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    if let Some(parent) = parent {
        return interface_bandwidth(parent, configuration);
    }
    // The rate of a tunnel is the rate of the physical interface below the tunnel. The bandwidth of the
    // tunnel is used only for routing. Source: output of a hub.
    if let Some(below) = configuration.underlay(interface) {
        return interface_bandwidth(below, configuration);
    }
    let clock = interface.clock_rate.filter(|_| interface.hardware == Hardware::Serial);
    let speed = interface.speed.map(|speed| kilobits(speed.value.saturating_mul(1000)));
    clock
        .map(|clock| Rate::from_bits_per_second(clock.value))
        .or(speed)
        .unwrap_or_else(|| kilobits(interface.nominal_kilobits.or(interface.default_kilobits).unwrap_or(T1)))
}

pub(in crate::convert) fn kilobits(kilobits: u64) -> Rate {
    Rate::from_bits_per_second(kilobits.saturating_mul(1000))
}
