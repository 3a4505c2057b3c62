//! [`wire_of`]: the configured properties of the wire of a port.

use perhop_device::Wire;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::ring::RingConfig;
use perhop_qos::{ByteSize, Rate};

use super::circuit::{Circuit, cell_rate, kilobits};
use crate::ast::{CellEncapsulation, Configuration, Hardware, Interface, LinkEncapsulation};
use crate::platform::Platform;

/// Returns the configured properties of the wire of an interface or circuit.
pub(in crate::convert) fn wire_of(
    interface: &Interface,
    configuration: &Configuration,
    circuit: &Circuit,
    platform: &Platform,
) -> Wire {
    let parent = interface.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    match circuit.pvc {
        Some(pvc) => {
            let limit = pvc.tx_ring_limit.or(interface.tx_ring_limit);
            let count = limit.map_or(platform.circuit_ring, |limit| limit.value.min(u32::MAX.into()) as u32);
            let encapsulation = pvc.encapsulation.map(|encapsulation| encapsulation.value);
            let framing = match encapsulation.unwrap_or_default() {
                CellEncapsulation::Snap => Framing::Aal5Snap,
                // Other encapsulations of a circuit have no LLC/SNAP header.
                CellEncapsulation::Mux | CellEncapsulation::MuxPpp | CellEncapsulation::Other => {
                    Framing::Aal5Mux
                }
            };
            let (size, admission) = (platform.particle, platform.ring_admission);
            let release = platform.ring_release;
            Wire {
                rate: cell_rate(pvc).or(interface.nominal_kilobits.map(kilobits)),
                framing: Some(framing),
                headers: HeaderStack::EMPTY,
                ring: Some(RingConfig::Particles { count, size, admission, release }),
                mtu: mtu(interface, parent),
                adjust_mss: interface.adjust_mss.map(|mss| ByteSize::from_bytes(mss.value)),
            }
        }
        None => Wire {
            rate: physical_rate(line_of(interface, parent, configuration))
                .or_else(|| dialed_rate(interface, configuration)),
            framing: framing(line_of(interface, None, configuration), parent),
            headers: HeaderStack::EMPTY,
            ring: interface
                .tx_ring_limit
                .map(|limit| RingConfig::Packets(limit.value.min(u32::MAX.into()) as u32)),
            mtu: mtu(interface, parent),
            adjust_mss: interface.adjust_mss.map(|mss| ByteSize::from_bytes(mss.value)),
        },
    }
}

/// Returns the IP MTU: `ip mtu`, otherwise the MTU of the interface or of its parent. `None` means no limit,
/// because hosts respect the MTU of their own links.
fn mtu(interface: &Interface, parent: Option<&Interface>) -> Option<ByteSize> {
    let of_line = interface.mtu.or(parent.and_then(|parent| parent.mtu));
    interface.ip_mtu.or(of_line).map(|mtu| ByteSize::from_bytes(mtu.value))
}

/// Returns the interface with the hardware: the parent of a sub-interface, or the physical interface below a
/// tunnel.
fn line_of<'a>(
    interface: &'a Interface,
    parent: Option<&'a Interface>,
    configuration: &'a Configuration,
) -> &'a Interface {
    let below = configuration.underlay(interface);
    let line = below.or(parent).unwrap_or(interface);
    let around = line.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    around.filter(|_| below.is_some()).unwrap_or(line)
}

/// Returns the rate of the hardware, if the configuration determines it.
fn physical_rate(interface: &Interface) -> Option<Rate> {
    let clock = interface.clock_rate.map(|clock| Rate::from_bits_per_second(clock.value));
    let speed = interface.speed.map(|speed| kilobits(speed.value.saturating_mul(1000)));
    let nominal = interface.nominal_kilobits.map(kilobits);
    match interface.hardware {
        Hardware::Serial => clock,
        Hardware::Ethernet => speed.or(nominal),
        // A bundle, or an interface of a bridge or a switch.
        Hardware::Virtual if is_ethernet(interface) => nominal.or(interface.default_kilobits.map(kilobits)),
        _ => nominal,
    }
}

/// Returns the rate of the line of a dialer's pool, if the pool has one line. The default `bandwidth` of a
/// dialer, 56 kb/s, is only the base of percentages. A written `bandwidth` takes precedence over the line,
/// because it usually states the rate that the provider sells.
fn dialed_rate(interface: &Interface, configuration: &Configuration) -> Option<Rate> {
    let pool = interface.dialer_pool.filter(|_| interface.bandwidth.is_none())?;
    let is_line = |other: &&Interface| {
        !other.name.starts_with("Dialer") && other.dialer_pool.is_some_and(|at| at.value == pool.value)
    };
    let mut lines = configuration.interfaces.iter().filter(is_line);
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let parent = line.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    physical_rate(line_of(line, parent, configuration)).or_else(|| parent.and_then(physical_rate))
}

/// Whether a virtual interface sends Ethernet frames.
fn is_ethernet(interface: &Interface) -> bool {
    ["Vlan", "BDI", "BVI"].iter().any(|kind| interface.name.starts_with(kind))
}

fn framing(interface: &Interface, parent: Option<&Interface>) -> Option<Framing> {
    let of_parent = || parent.and_then(|parent| parent.encapsulation);
    let encapsulation = interface.encapsulation.or_else(of_parent).map(|encapsulation| encapsulation.value);
    match (interface.hardware, encapsulation) {
        (Hardware::Ethernet, _) => Some(Framing::EthernetWire),
        (Hardware::Virtual, _) if is_ethernet(interface) => Some(Framing::EthernetWire),
        (_, Some(LinkEncapsulation::Ppp)) => Some(Framing::Ppp),
        _ if interface.name.starts_with("Multilink") => Some(Framing::Ppp),
        // The headers contain the frame relay header and its check sequence.
        (Hardware::Serial, Some(LinkEncapsulation::FrameRelay)) => Some(Framing::Raw),
        (Hardware::Serial | Hardware::PacketOverSonet, None | Some(LinkEncapsulation::Hdlc)) => {
            Some(Framing::Hdlc)
        }
        _ => None,
    }
}
