//! [`CakeIsolation`]: the flows or hosts that share the bandwidth of a tin fairly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Packet;
use crate::packet::Address;
use crate::queue::FlowHasher;
use crate::random::mix;

/// The flows or hosts that share the bandwidth of a tin fairly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeIsolation {
    /// No isolation: all packets are in one queue.
    Flowblind,
    /// Hosts that send. Each has one queue.
    Srchost,
    /// Hosts that receive. Each has one queue.
    Dsthost,
    /// Pairs of a sending and a receiving host. Each has one queue.
    Hosts,
    /// Flows: the packets with the same five-tuple.
    Flows,
    /// Flows. The quantum of a flow is divided by the number of bulk flows of its sending host.
    DualSrchost,
    /// Flows. The quantum of a flow is divided by the number of bulk flows of its receiving host.
    DualDsthost,
    /// Flows. The quantum of a flow is divided by the number of bulk flows of its sending host or of its
    /// receiving host, whichever number is larger.
    #[default]
    TripleIsolate,
}

impl CakeIsolation {
    /// Whether the flows of a sending host share the bandwidth of this host.
    pub(super) fn counts_sources(self) -> bool {
        matches!(self, CakeIsolation::DualSrchost | CakeIsolation::TripleIsolate)
    }
    /// Whether the flows of a receiving host share the bandwidth of this host.
    pub(super) fn counts_destinations(self) -> bool {
        matches!(self, CakeIsolation::DualDsthost | CakeIsolation::TripleIsolate)
    }

    /// Returns the tag that selects the queue of `packet`. All packets of one flow or host have the same tag.
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
/// The tag of the receiving host. The tag of the same host as a sender is different.
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

    /// After a timeout, the packets of a flow join another queue if queues belong to flows and sockets
    /// distinguish flows. They join the same queue if queues belong to hosts.
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
