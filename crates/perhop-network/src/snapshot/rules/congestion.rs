//! Ports whose line is so fast that no queue forms.

use std::collections::BTreeMap;

use perhop_device::{LineKind, Port};
use perhop_qos::Rate;

use super::treatment::queueing_policy;
use super::{PortId, Snapshot};
use crate::forwarding::addresses;
use crate::snapshot::carries_packets;

/// The minimum ratio of a port's rate to the sum of the rates of the ports that feed it.
const FAR_ABOVE: u64 = 2;

/// Whether the other lines of a device together are much slower than the line of a port, so that no queue
/// forms there. Lines with the same rate and without queues lead to the same network as the port, for example
/// to the other switch of a pair, so they do not feed the port.
pub(super) fn never_fills(snapshot: &Snapshot, id: PortId) -> bool {
    let router = snapshot.router(id.device);
    let own = snapshot.port(id);
    let Some(rate) = line_rate(own) else { return false };
    // A switch with interfaces of VLANs also receives packets at ports without addresses. The address of a
    // loopback interface has no subnet.
    let has_subnet = |port: &Port| addresses(port).any(|own| own.address.is_ipv4() && own.prefix_length < 31);
    let is_of_vlan = |port: &Port| port.kind == Some(LineKind::Virtual) && port.forwarding.tunnel.is_none();
    if router.ports.iter().any(|port| is_of_vlan(port) && has_subnet(port)) {
        return false;
    }
    let is_parallel = |port: &&Port| line_rate(port) == Some(rate) && queueing_policy(port).is_none();
    let is_other = |port: &&Port| {
        port.interface != own.interface
            && port.forwarding.tunnel.is_none()
            && port.kind.is_some_and(|kind| kind != LineKind::Virtual)
            && carries_packets(router, port)
            && !is_parallel(port)
    };
    // Sub-interfaces share the line of their interface.
    let mut lines: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for port in router.ports.iter().filter(is_other) {
        lines.insert(&port.interface, line_rate(port));
    }
    let sum = lines.values().try_fold(0_u64, |sum, line| Some(sum.saturating_add((*line)?)));
    !lines.is_empty() && sum.is_some_and(|sum| sum.saturating_mul(FAR_ABOVE) <= rate)
}

/// Returns the rate of a port's line, bits per second.
fn line_rate(port: &Port) -> Option<u64> {
    port.wire.rate.or(port.bandwidth).map(Rate::as_bits_per_second)
}
