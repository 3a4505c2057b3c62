//! [`FlowHash`]: the key that selects the queue of a flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Address;
use crate::random::mix;
use crate::{FlowKey, Packet};

/// The key of a flow, whose hash selects its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowHash {
    /// The headers: addresses, ports and protocol.
    #[default]
    Headers,
    /// The socket of the sender, which takes a new hash after each retransmission timeout, so that later
    /// packets wait in another queue. Linux uses this hash if packets come from the same machine, from its
    /// own processes or over veth from its containers and namespaces.
    Socket,
}

impl FlowHash {
    /// Whether this is the default, which policies omit.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
    pub(crate) fn is_default(&self) -> bool {
        *self == FlowHash::default()
    }
    /// The number of `packet`'s flow under `key`.
    // Sources, Linux 6.1: `skb_set_hash_from_sk`, and `sk_rethink_txhash` of `tcp_write_timeout`.
    // `sch_cake.c` uses `skb->l4_hash`; `sch_fq_codel.c` and `sch_fq_pie.c` use `skb_get_hash`.
    #[inline]
    pub(crate) fn hash_packet(self, packet: &Packet, key: u64) -> u64 {
        let rehashes = match self {
            FlowHash::Headers => 0,
            FlowHash::Socket => u64::from(packet.rehashes()),
        };
        flow_hash(&packet.flow_key(), key ^ rehashes)
    }
}

/// A number that is the same for all packets of a flow under the same `key`. Different flows or keys have
/// pseudorandom numbers.
pub(crate) fn flow_hash(flow: &FlowKey, key: u64) -> u64 {
    let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
    let rest = (ports << 16 | u64::from(flow.protocol.0) << 8) ^ key;
    let words = [flow.source, flow.destination].map(Address::to_bits);
    let words = words.iter().flat_map(|bits| [(bits >> 64) as u64, *bits as u64]);
    mix(words.fold(rest, |hash, word| mix(hash ^ word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a timeout the packets of a flow have another number if sockets identify flows.
    #[test]
    fn a_socket_that_chooses_another_hash_is_another_flow() {
        let mut packet = Packet { payload: 7 << 40 | 3, source_port: 1000, ..Packet::default() };
        let numbers = |packet: &Packet| {
            [FlowHash::Headers, FlowHash::Socket]
                .map(|flow_hash| flow_hash.hash_packet(packet, 0x1234_5678_9abc_def0))
        };
        let before = numbers(&packet);
        assert_eq!(before[0], before[1]);
        packet.rehash();
        let after = numbers(&packet);
        assert_eq!(after[0], before[0]);
        assert_ne!(after[1], before[1]);
        assert_eq!((packet.rehashes(), packet.payload & !(0xff << 32)), (1, 7 << 40 | 3));
        for _ in 0..255 {
            packet.rehash();
        }
        assert_eq!(numbers(&packet), before, "the count has eight bits");
    }
}
