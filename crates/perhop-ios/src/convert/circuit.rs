//! [`Circuit`]: what packets leave by: an interface without circuits, or one circuit of an ATM interface.

use perhop_qos::Rate;

use crate::ast::{AtmService, Configuration, Hardware, Interface, Pvc};

/// What packets leave by.
pub(super) struct Circuit<'a> {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) pvc: Option<&'a Pvc>,
    /// What shares and percentages refer to.
    pub(super) bandwidth: Rate,
}

/// The router's `bandwidth` of an interface where nothing else is known: that of a T1 line, kilobits per
/// second.
const T1: u64 = 1544;

impl<'a> Circuit<'a> {
    /// The circuits of `interface`, or the interface itself where it has none.
    pub(super) fn of(interface: &'a Interface, configuration: &'a Configuration) -> Vec<Circuit<'a>> {
        if interface.pvcs.is_empty() {
            let bandwidth = interface_bandwidth(interface, configuration);
            return vec![Circuit {
                name: interface.name.clone(),
                line: interface.line,
                pvc: None,
                bandwidth,
            }];
        }
        let name = |pvc: &Pvc| match interface.pvcs.len() {
            1 => interface.name.clone(),
            _ => format!("{} {}/{}", interface.name, pvc.identifier.0, pvc.identifier.1),
        };
        let circuit = |pvc: &'a Pvc| Circuit {
            name: name(pvc),
            line: pvc.line,
            pvc: Some(pvc),
            bandwidth: cell_rate(pvc).unwrap_or_else(|| interface_bandwidth(interface, configuration)),
        };
        interface.pvcs.iter().map(circuit).collect()
    }
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
    if let Some(bandwidth) = interface.bandwidth_reference.or(interface.bandwidth) {
        return kilobits(bandwidth.value);
    }
    let parent = interface.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    if let Some(parent) = parent {
        return interface_bandwidth(parent, configuration);
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
