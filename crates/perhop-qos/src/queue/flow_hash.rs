//! [`FlowHash`]: the header fields or the socket whose hash selects the queue of a flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Address;
use crate::random::mix;
use crate::{FlowKey, Packet};

/// The data that identify a flow. Their hash selects the queue of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowHash {
    /// The addresses, the ports and the protocol in the headers.
    #[default]
    Headers,
    /// The socket of the sender. The socket chooses a new hash after each retransmission timeout, so that
    /// later packets join another queue. Linux uses this hash for packets that were created on the same
    /// machine: by its own processes, or by its containers and namespaces and received over veth.
    Socket,
}

impl FlowHash {
    /// Whether the value is the default, which policies omit.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
    pub(crate) fn is_default(&self) -> bool {
        *self == FlowHash::default()
    }
    /// The hash of the packet's flow with `key`.
    // Sources in Linux 6.1: `skb_set_hash_from_sk`, and `sk_rethink_txhash` of `tcp_write_timeout`.
    // `sch_cake.c` uses `skb->l4_hash`; `sch_fq_codel.c` and `sch_fq_pie.c` use `skb_get_hash`.
    #[inline]
    pub(crate) fn hash_packet(self, packet: &Packet, key: u64) -> u64 {
        flow_hash(&packet.flow_key(), key ^ u64::from(self.rehashes(packet)))
    }
    /// The number of new hashes that the socket of the sender has chosen, or 0 if headers identify flows.
    #[inline]
    fn rehashes(self, packet: &Packet) -> u8 {
        match self {
            FlowHash::Headers => 0,
            FlowHash::Socket => packet.rehashes(),
        }
    }
}

/// The hash of a flow with `key`. All packets of the flow have this hash. Hashes of other flows or with other
/// keys are pseudorandom.
pub(crate) fn flow_hash(flow: &FlowKey, key: u64) -> u64 {
    let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
    let rest = (ports << 16 | u64::from(flow.protocol.0) << 8) ^ key;
    let words = [flow.source, flow.destination].map(Address::to_bits);
    let words = words.iter().flat_map(|bits| [(bits >> 64) as u64, *bits as u64]);
    mix(words.fold(rest, |hash, word| mix(hash ^ word)))
}

/// Computes the hashes of packets with one key. The hashes of recent flows are stored, because a hash is a
/// long chain of multiplications.
#[derive(Clone, Debug)]
pub(crate) struct FlowHasher {
    flow_hash: FlowHash,
    key: u64,
    /// The recent flows. The header fields of a flow determine its index.
    known: Box<[KnownFlow; KNOWN_FLOWS]>,
}

/// A recent flow and its hash.
#[derive(Clone, Copy, Debug)]
struct KnownFlow {
    flow: FlowKey,
    rehashes: u8,
    hash: u64,
}

/// The number of stored flows.
const KNOWN_FLOWS: usize = 256;
/// 2⁶⁴ divided by the golden ratio. Its multiples spread consecutive numbers evenly (Knuth, "The Art of
/// Computer Programming", volume 3, §6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl KnownFlow {
    #[inline(never)]
    fn new(flow: FlowKey, rehashes: u8, key: u64) -> KnownFlow {
        KnownFlow { flow, rehashes, hash: flow_hash(&flow, key ^ u64::from(rehashes)) }
    }
}

impl FlowHasher {
    pub(crate) fn new(flow_hash: FlowHash, key: u64) -> FlowHasher {
        let known = vec![KnownFlow::new(FlowKey::default(), 0, key); KNOWN_FLOWS]
            .try_into()
            .expect("the vector has that length");
        FlowHasher { flow_hash, key, known }
    }
    /// Returns the same hash as [`FlowHash::hash_packet`].
    #[expect(clippy::inline_always, reason = "every packet calls it")]
    #[inline(always)]
    pub(crate) fn hash_packet(&mut self, packet: &Packet) -> u64 {
        let (flow, rehashes) = (packet.flow_key(), self.flow_hash.rehashes(packet));
        let addresses = flow.source.to_bits() as u64 ^ (flow.destination.to_bits() as u64).rotate_left(32);
        let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
        let place = (addresses ^ ports).wrapping_mul(GOLDEN) >> 56;
        let known = &mut self.known[place as usize % KNOWN_FLOWS];
        if known.flow != flow || known.rehashes != rehashes {
            *known = KnownFlow::new(flow, rehashes, self.key);
        }
        known.hash
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_remembered_hash_is_the_hash_of_the_flow(
            flows in prop::collection::vec((0u32..3, 0u32..3, 0u16..40, 0u16..3, 0u64..3), 1..300),
            flow_hash in prop::sample::select(vec![FlowHash::Headers, FlowHash::Socket]),
        ) {
            let mut hasher = FlowHasher::new(flow_hash, 7);
            for (source, destination, source_port, destination_port, rehashes) in flows {
                let [source, destination] = [source, destination].map(|bits| Address::from_ipv4(bits.into()));
                let payload = rehashes << 32;
                let packet =
                    Packet { source, destination, payload, source_port, destination_port, ..Packet::default() };
                prop_assert_eq!(hasher.hash_packet(&packet), flow_hash.hash_packet(&packet, 7));
            }
        }
    }

    /// After a timeout, the packets of a flow have another hash if sockets identify flows.
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
