//! A call in the default class, for policies without a class for EF in networks with telephony.

use std::collections::BTreeSet;

use perhop_qos::classifier::MatchConfig;

use crate::header::Header;
use crate::marks::has_property;
use crate::network::Network;
use crate::role::{Kind, SIGNALING_ROLE, VOICE_ROLE};
use crate::shares::Leaf;
use crate::sources::sending;
use crate::targets::Hit;
use crate::traffic::{Flow, entry, unlike};
use crate::trial::{Place, Trial};
use crate::words::rate_in_words;

/// The rate of one direction of a G.711 call: 160 bytes of speech and 40 of headers, 50 times a second.
const CALL_BPS: f64 = 80e3;
/// The codepoint of telephony (RFC 4594 §4.1).
const EF: &str = "ef";
/// A port of RTP.
const RTP_PORT: u16 = 16384;

/// Returns a call that waits with unclassified traffic, and the remark about it. `None` if a class matches
/// calls, or if the policy is not for a network with telephony.
pub(crate) fn call_without_class(
    network: &Network,
    trial: &mut Trial,
    hits: &[Hit],
    others: &[Flow],
) -> Option<(Flow, String)> {
    let is_for_calls = |hit: &Hit| hit.role.name == VOICE_ROLE.name || hit.header.dscp.as_deref() == Some(EF);
    if hits.iter().any(is_for_calls) || !is_for_telephony(network, hits) {
        return None;
    }
    // The call uses the hosts of the traffic without a class.
    let rest = hits.iter().find(|hit| {
        hit.leaf(network).is_some_and(|leaf| leaf.matches.is_empty())
            && hit.target.name == hit.target.own_name
    })?;
    let header = Header {
        dscp: Some(EF.to_owned()),
        protocol: Some("udp".to_owned()),
        destination_port: Some(RTP_PORT),
        source_port: None,
        packet_bytes: None,
        ..rest.header.clone()
    };
    let queue = &rest.leaf(network)?.path;
    if !trial.places_of(network, &header).contains(&Place::Queue(queue.clone())) {
        return None;
    }
    let names: BTreeSet<String> = others.iter().map(|flow| flow.class().to_owned()).collect();
    let name = unlike(VOICE_ROLE.name, &names);
    let sent = sending(Kind::Constant, CALL_BPS, VOICE_ROLE.packet_bytes);
    let rate = rate_in_words(CALL_BPS);
    let class = &rest.target.name;
    let remark = format!(
        "no class matches EF, the codepoint of telephony (RFC 4594): perhop adds `{name}`, a call of {rate}, \
         which waits in {class}"
    );
    let words = format!("voice, EF (one call, in {class}): {}", sent.words);
    let flow = Flow {
        entry: entry(&name, &header, VOICE_ROLE, &sent),
        header,
        queue: Some(queue.clone()),
        offered: [rate, words],
        rate: CALL_BPS,
    };
    Some((flow, remark))
}

/// Whether the policy is for a network with telephony: it distinguishes several classes by codepoints, or has
/// a class for signaling.
fn is_for_telephony(network: &Network, hits: &[Hit]) -> bool {
    let asks = |condition: &MatchConfig| condition.dscp.is_some() || condition.precedence.is_some();
    let by_codepoint = |leaf: &&Leaf| leaf.matches.iter().any(|condition| has_property(condition, &asks));
    match network.leaves.iter().filter(by_codepoint).count() {
        0 => false,
        1 => hits.iter().any(|hit| hit.role.name == SIGNALING_ROLE.name),
        _ => true,
    }
}
