//! Tunnels with an unusual ratio of their bandwidth to the bandwidth of their source.

use perhop_device::TunnelSource;
use perhop_qos::Rate;

use super::peers::Peers;
use super::{NetworkFinding, PortId, Snapshot};
use crate::rules;
use crate::snapshot::carries_packets;

/// A tunnel with its configured bandwidth, and the bandwidth of the port that is its source, bit/s.
struct Part {
    id: PortId,
    line: usize,
    bandwidth: u64,
    circuit: u64,
}

impl Part {
    fn thousandths(&self) -> u64 {
        self.bandwidth.saturating_mul(1000) / self.circuit.max(1)
    }
}

/// Reports the only tunnel with a different ratio of its bandwidth to the bandwidth of its source. The tunnel
/// of a hub has the rate of the site at the other end, so a tunnel whose ends agree is not reported.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let parts: Vec<Part> = (0..snapshot.devices.len()).flat_map(|device| parts(snapshot, device)).collect();
    let peers: Peers<u64> = parts.iter().map(Part::thousandths).collect();
    let is_odd = |part: &&Part| peers.is_exception(&part.thousandths()) && !agrees(snapshot, part);
    for part in parts.iter().filter(is_odd) {
        let rate = Rate::from_bits_per_second;
        let message = format!(
            "{} has a bandwidth of {}, and its source has {}; the ratio is different for most of {} tunnels",
            snapshot.port_name(part.id),
            rate(part.bandwidth),
            rate(part.circuit),
            parts.len()
        );
        let effect = "routing protocols and shares in percent use a rate that the tunnel does not have";
        let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
        found.push(snapshot.finding(part.id.device, rule, part.line, (message, effect.to_owned())));
    }
}

/// Whether another end of a tunnel has the same configured bandwidth.
fn agrees(snapshot: &Snapshot, part: &Part) -> bool {
    let is_equal = |id: PortId| {
        let own = snapshot.port(id);
        let is_written = snapshot.devices[id.device].device.line_in_block(own.line, "bandwidth").is_some();
        is_written && own.bandwidth == Some(Rate::from_bits_per_second(part.bandwidth))
    };
    let link = snapshot.link_of(part.id);
    link.is_some_and(|link| link.ends.iter().any(|end| end.id != part.id && is_equal(end.id)))
}

/// Returns the tunnels of a device for which the bandwidths of the tunnel and of its source are configured.
fn parts(snapshot: &Snapshot, device: usize) -> Vec<Part> {
    let (router, member) = (snapshot.router(device), &snapshot.devices[device].device);
    let written = |port: &perhop_device::Port| {
        let line = member.line_in_block(port.line, "bandwidth")?;
        Some((line, port.bandwidth?.as_bits_per_second()))
    };
    let mut found = Vec::new();
    for (port, own) in router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port)) {
        let source = own.forwarding.tunnel.as_ref().and_then(|tunnel| tunnel.source.as_ref());
        let Some(TunnelSource::Interface(name)) = source.map(|at| &at.value) else { continue };
        let below = router.ports.iter().find(|port| port.name == *name);
        if let (Some((line, bandwidth)), Some((_, circuit))) = (written(own), below.and_then(written)) {
            found.push(Part { id: PortId { device, port }, line, bandwidth, circuit });
        }
    }
    found
}
