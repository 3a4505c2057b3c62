//! [`Circuit`]: what packets leave by: an interface, one circuit of an ATM interface, or one peer of a
//! tunnel.

use perhop_lint::Diagnostic;
use perhop_qos::Rate;

use super::condition::Tags;
use crate::ast::{
    At, AtmService, Configuration, Hardware, Interface, PeerPolicy, Pvc, ServiceInstance, ServicePolicies,
};
use crate::rules;

/// What packets leave by.
pub(super) struct Circuit<'a> {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) pvc: Option<&'a Pvc>,
    /// Policies of its own.
    pub(super) policies: Option<&'a ServicePolicies>,
    /// The policy for the peers of a group (`nhrp map group`).
    pub(super) peer: Option<&'a PeerPolicy>,
    /// What shares and percentages refer to.
    pub(super) bandwidth: Rate,
    /// The VLAN tags of its packets.
    pub(super) tags: Tags,
}

/// The router's `bandwidth` of an interface where nothing else is known: that of a T1 line, kilobits per
/// second.
const T1: u64 = 1544;

impl<'a> Circuit<'a> {
    /// The circuits of `interface`, or the interface itself where it has none.
    pub(super) fn of(interface: &'a Interface, configuration: &'a Configuration) -> Vec<Circuit<'a>> {
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

    /// The interface itself, one for each of its service instances with a policy, and one for the peers of
    /// each of its groups. A tunnel with one group and no policy of its own is that group's.
    fn of_peers(interface: &'a Interface, configuration: &'a Configuration) -> Vec<Circuit<'a>> {
        let circuit = |name: String, line: usize, peer: Option<&'a PeerPolicy>| Circuit {
            name,
            line,
            pvc: None,
            policies: None,
            peer,
            bandwidth: interface_bandwidth(interface, configuration),
            tags: Tags::of(interface),
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

/// The interface that the packets of a tunnel leave by, as far as the configuration says; `None` where that
/// is a tunnel again, or a part of one.
pub(crate) fn underlay<'a>(interface: &Interface, configuration: &'a Configuration) -> Option<&'a Interface> {
    let source = interface.tunnel.as_ref()?.source.as_ref()?;
    let by_name = configuration.interfaces.get(&crate::interface_name(&source.value));
    let below = by_name.or_else(|| {
        let address: std::net::Ipv4Addr = source.value.parse().ok()?;
        configuration.owner_of(address)
    })?;
    let mut line = Some(below);
    while let Some(part) = line {
        if part.tunnel.is_some() {
            return None;
        }
        line = part.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    }
    Some(below)
}

/// Whether the configuration names the line by which the packets of `interface` leave.
pub(super) fn has_known_line(interface: &Interface, configuration: &Configuration) -> bool {
    !interface.name.starts_with("Tunnel") || underlay(interface, configuration).is_some()
}

/// The finding on a policy of a tunnel whose line is not known.
pub(super) fn without_line(interface: &Interface) -> Diagnostic {
    let name = &interface.name;
    Diagnostic::new(
        &rules::BANDWIDTH_UNKNOWN,
        interface.line,
        format!("the line below {name} is unknown: `tunnel source` names no wire of this configuration"),
        "name an interface of this configuration, or its address, by `tunnel source`; until then only shapers \
         limit the rate",
    )
}

/// The bandwidth of the line below a tunnel; `None` for other interfaces, and where that line is unknown or
/// has no wire of its own: the default of a Dialer or a Loopback is not the rate of a line.
pub(super) fn rate_below(interface: &Interface, configuration: &Configuration) -> Option<Rate> {
    let below = underlay(interface, configuration)?;
    let is_wire = !matches!(below.hardware, Hardware::Virtual | Hardware::Other | Hardware::Unknown);
    let is_written = below.bandwidth_reference.or(below.bandwidth).is_some();
    (is_wire || is_written).then(|| interface_bandwidth(below, configuration))
}

/// The sustained rate of a circuit, bits per second of cells; `None` where it is that of the line.
pub(super) fn cell_rate(pvc: &Pvc) -> Option<Rate> {
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
    // On a tunnel the line below counts, not the bandwidth that routing calculates with: output of a hub.
    if let Some(below) = underlay(interface, configuration) {
        return interface_bandwidth(below, configuration);
    }
    let clock = interface.clock_rate.filter(|_| interface.hardware == Hardware::Serial);
    let speed = interface.speed.map(|speed| kilobits(speed.value.saturating_mul(1000)));
    clock
        .map(|clock| Rate::from_bits_per_second(clock.value))
        .or(speed)
        .unwrap_or_else(|| kilobits(interface.nominal_kilobits.or(interface.default_kilobits).unwrap_or(T1)))
}

pub(super) fn kilobits(kilobits: u64) -> Rate {
    Rate::from_bits_per_second(kilobits.saturating_mul(1000))
}
