//! Queue limits and WRED thresholds that differ much from the values for the same packets on other devices.

use std::collections::BTreeMap;

use perhop_qos::Dscp;

use super::super::{NetworkFinding, Snapshot};
use super::parts::{ClassPart, Parts};
use crate::rules;

/// The minimum factor between two queue lengths for a finding. Smaller differences are common, because
/// operators choose queue lengths by experience.
const FAR: u64 = 8;
/// The minimum number of other queue lengths for the same packets.
const OTHERS: usize = 2;

/// A queue limit or a threshold, packets.
struct Length<'d> {
    device: usize,
    class: &'d ClassPart<'d>,
    line: usize,
    packets: u64,
}

/// Reports a queue limit, or a maximum threshold of a codepoint, that differs much from all other values for
/// the same packets.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut by_packets: BTreeMap<(&str, Vec<u8>), Vec<Length>> = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for class in &parts.classes {
            for (line, words) in &class.lines {
                let length = |packets| Length { device, class, line: *line, packets };
                match words.as_slice() {
                    ["queue-limit", packets] | ["queue-limit", packets, "packets"] => {
                        let codepoints = match class.name {
                            "class-default" => Some(Vec::new()),
                            name => parts.codepoints(name),
                        };
                        if let (Some(key), Ok(packets)) = (codepoints, packets.parse()) {
                            by_packets.entry(("queue limit", key)).or_default().push(length(packets));
                        }
                    }
                    ["random-detect", "dscp", dscp, _, packets, ..] => {
                        if let (Ok(dscp), Ok(packets)) = (dscp.parse::<Dscp>(), packets.parse()) {
                            let key = ("maximum threshold", vec![dscp.value()]);
                            by_packets.entry(key).or_default().push(length(packets));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    for parts in devices.iter().enumerate() {
        check_thresholds(snapshot, parts, found);
    }
    for ((what, _), mut lengths) in by_packets {
        lengths.sort_by_key(|own| own.packets);
        if lengths.len() <= OTHERS {
            continue;
        }
        let (low, high) = (lengths[1].packets, lengths[lengths.len() - 2].packets);
        let (shortest, longest) = (&lengths[0], &lengths[lengths.len() - 1]);
        if shortest.packets * FAR <= low {
            report(snapshot, what, shortest, [low, longest.packets], found);
        }
        if longest.packets >= high * FAR {
            report(snapshot, what, longest, [shortest.packets, high], found);
        }
    }
}

/// Reports a maximum threshold that is far below the thresholds of the other codepoints in its class. These
/// codepoints share one queue, so their thresholds should be similar.
fn check_thresholds(snapshot: &Snapshot, (device, parts): (usize, &Parts), found: &mut Vec<NetworkFinding>) {
    for class in &parts.classes {
        let mut lengths: Vec<Length> = class
            .lines
            .iter()
            .filter_map(|(line, words)| match words.as_slice() {
                ["random-detect", "dscp", _, _, packets, ..] => {
                    Some(Length { device, class, line: *line, packets: packets.parse().ok()? })
                }
                _ => None,
            })
            .collect();
        lengths.sort_by_key(|own| own.packets);
        if let [shortest, next, .., longest] = lengths.as_slice()
            && shortest.packets * FAR <= next.packets
        {
            let range = [next.packets, longest.packets];
            report(snapshot, "maximum threshold", shortest, range, found);
        }
    }
}

fn report(
    snapshot: &Snapshot,
    what: &str,
    own: &Length,
    [least, most]: [u64; 2],
    found: &mut Vec<NetworkFinding>,
) {
    let others = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let message = format!(
        "class {} of {} has a {what} of {} packets, but the value is {others} in all similar classes",
        own.class.name, own.class.policy, own.packets
    );
    let effect = if own.packets < least {
        "the class drops bursts that the other classes queue"
    } else {
        "packets of the class wait longer than packets of the other classes before one is dropped"
    };
    let rule = &rules::NETWORK_QUEUE_DIFFERS;
    found.push(snapshot.finding(own.device, rule, own.line, (message, effect.to_owned())));
}
