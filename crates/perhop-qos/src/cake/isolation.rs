//! [`CakeIsolation`]: the units that share a tin fairly, flows or hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Packet;
use crate::packet::Address;
use crate::queue::FlowHasher;
use crate::random::mix;

/// The units that share a tin fairly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeIsolation {
    /// No isolation: all packets are in one queue.
    Flowblind,
    /// Hosts that send.
    Srchost,
    /// Hosts that receive.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Flows, each of the same five-tuple.
    Flows,
    /// Flows, with the quantum divided by the bulk flows of the sending host.
    DualSrchost,
    /// Flows, with the quantum divided by the bulk flows of the receiving host.
    DualDsthost,
    /// Flows, with the quantum divided by the bulk flows of the sending or of the receiving host, the larger
    /// number of both.
    #[default]
    TripleIsolate,
}

impl CakeIsolation {
    /// Whether flows of one sending host share its part.
    pub(super) fn counts_sources(self) -> bool {
        matches!(self, CakeIsolation::DualSrchost | CakeIsolation::TripleIsolate)
    }
    /// Whether flows of one receiving host share its part.
    pub(super) fn counts_destinations(self) -> bool {
        matches!(self, CakeIsolation::DualDsthost | CakeIsolation::TripleIsolate)
    }

    /// The tag that selects the queue of `packet`; equal for all packets of a unit.
    #[inline]
    pub(super) fn tag(self, packet: &Packet, key: u64, hasher: &mut FlowHasher) -> u32 {
        match self {
            CakeIsolation::Flowblind => 0,
            CakeIsolation::Srchost => source_tag(packet, key),
            CakeIsolation::Dsthost => destination_tag(packet, key),
            CakeIsolation::Hosts => source_tag(packet, key) ^ destination_tag(packet, key),
            CakeIsolation::Flows
            | CakeIsolation::DualSrchost
            | CakeIsolation::DualDsthost
            | CakeIsolation::TripleIsolate => (hasher.hash_packet(packet) >> 32) as u32,
        }
    }
}

pub(super) fn source_tag(packet: &Packet, key: u64) -> u32 {
    host_tag(packet.source, !key)
}
/// The tag of the receiving host. It differs from the tag of the same host as a source.
pub(super) fn destination_tag(packet: &Packet, key: u64) -> u32 {
    host_tag(packet.destination, key.rotate_left(32))
}
fn host_tag(host: Address, key: u64) -> u32 {
    let bits = host.to_bits();
    (mix(mix(key ^ (bits >> 64) as u64) ^ bits as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::FlowHash;

    /// After a timeout a flow waits in a different queue if sockets distinguish flows, but not if queues
    /// belong to hosts.
    #[test]
    fn sockets_take_another_queue_after_a_timeout() {
        let moves = |isolation: CakeIsolation, flow_hash| {
            let mut packet = Packet { source_port: 1005, ..Packet::default() };
            let hasher = &mut FlowHasher::new(flow_hash, 7);
            let before = isolation.tag(&packet, 7, hasher);
            packet.rehash();
            isolation.tag(&packet, 7, hasher) != before
        };
        assert!(!moves(CakeIsolation::TripleIsolate, FlowHash::Headers));
        assert!(moves(CakeIsolation::TripleIsolate, FlowHash::Socket));
        assert!(!moves(CakeIsolation::Hosts, FlowHash::Socket));
    }
}
