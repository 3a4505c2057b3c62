//! [`flow_hash`]: what a flow's queue is found by.

use crate::FlowKey;
use crate::packet::Address;
use crate::random::mix;

/// A number that is the same for all packets of a flow under the same `key`, and looks random otherwise.
pub(crate) fn flow_hash(flow: &FlowKey, key: u64) -> u64 {
    let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
    let rest = (ports << 16 | u64::from(flow.protocol.0) << 8) ^ key;
    let words = [flow.source, flow.destination].map(Address::to_bits);
    let words = words.iter().flat_map(|bits| [(bits >> 64) as u64, *bits as u64]);
    mix(words.fold(rest, |hash, word| mix(hash ^ word)))
}
