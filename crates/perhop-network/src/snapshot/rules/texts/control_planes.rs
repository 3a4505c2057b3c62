//! Control planes with a policy that limits nothing.

use super::super::tree::Node;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::parts::Parts;
use crate::rules;

/// The minimum number of other control planes whose policies limit packets.
const LEAST_OTHERS: usize = 2;

/// Reports the only policy at a control plane without a policer. This policy is probably intended for another
/// place.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let mut others = 0;
    let mut odd = Vec::new();
    for (device, (nodes, own)) in trees.iter().zip(parts).enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.trim_end() == "control-plane") {
            for inner in &node.inner {
                let ["service-policy", "input", policy] = *inner.words().as_slice() else { continue };
                if !own.policies.contains_key(policy) {
                    continue;
                }
                let is_limit = |words: &[&str]| matches!(words.first(), Some(&"police" | &"drop"));
                let mut lines = own.classes_of(policy).flat_map(|class| &class.lines);
                if lines.any(|(_, words)| is_limit(words)) {
                    others += 1;
                } else {
                    odd.push((device, inner.line.0, policy));
                }
            }
        }
    }
    let [(device, line, policy)] = odd.as_slice() else { return };
    if others < LEAST_OTHERS {
        return;
    }
    let message = format!(
        "{policy} at the control plane of {} limits no class, but the policies of {others} other control \
         planes do",
        snapshot.devices[*device].name
    );
    let effect =
        "packets to the device itself can use its whole processor: it loses its neighbors".to_owned();
    let finding = snapshot.finding(*device, &rules::NETWORK_ATTACHMENT_UNUSUAL, *line, (message, effect));
    found.push(finding.about(Topic::Attachment, Precision::Exact));
}
