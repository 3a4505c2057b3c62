//! Policies for labeled packets at ports without labels.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The first words of lines with which a port in the VRF of a customer sends labeled packets.
const OF_LABELS: &[&str] = &["mpls"];

/// Reports output policies whose classes match only labeled packets, at ports in the VRF of a customer. Such
/// ports send packets without labels.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, nodes) in trees.iter().enumerate() {
        for port in nodes.iter().filter(|node| node.line.1.starts_with("interface ")) {
            let words: Vec<Vec<&str>> = port.inner.iter().map(Node::words).collect();
            let is_of_customer = words.iter().any(|own| {
                matches!(own.as_slice(), ["vrf", _] | ["vrf", "forwarding" | "member", _] | ["ip", "vrf", ..])
            });
            let has_labels = words.iter().any(|own| OF_LABELS.contains(own.first().unwrap_or(&"")));
            if !is_of_customer || has_labels {
                continue;
            }
            for (inner, own) in port.inner.iter().zip(&words) {
                let ["service-policy", "output", policy] = *own.as_slice() else { continue };
                if !selects_labels_only(&devices[device], policy) {
                    continue;
                }
                let message = format!(
                    "all classes of {policy} match only labeled packets, but {} of {} belongs to a customer's VRF and \
                     sends packets without labels",
                    port.line.1.trim_start_matches("interface "),
                    snapshot.devices[device].name
                );
                let effect = "all packets wait in the default class".to_owned();
                let rule = &rules::NETWORK_ATTACHMENT_UNUSUAL;
                found.push(snapshot.finding(device, rule, inner.line.0, (message, effect)));
            }
        }
    }
}

/// Whether a policy has classes with criteria, and all criteria match marks of labels.
fn selects_labels_only(parts: &Parts, policy: &str) -> bool {
    let classes: Vec<_> = parts.classes_of(policy).filter(|class| class.name != "class-default").collect();
    let has_child = parts
        .classes_of(policy)
        .any(|class| class.lines.iter().any(|(_, words)| words.first() == Some(&"service-policy")));
    let is_of_labels = |words: &[&str]| words.starts_with(&["match", "mpls", "experimental"]);
    !classes.is_empty()
        && !has_child
        && classes.iter().all(|class| {
            parts.class_maps.get(class.name).is_some_and(|map| {
                !map.lines.is_empty() && map.lines.iter().all(|(_, words)| is_of_labels(words))
            })
        })
}
