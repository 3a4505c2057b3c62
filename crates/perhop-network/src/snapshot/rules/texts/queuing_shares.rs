//! Queuing policies (NX-OS) whose shares add up to more than 100 %.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The rate of a port, percent.
const WHOLE: u64 = 100;

/// Reports policies whose shares of the same kind add up to more than 100 %. The device refuses such policies
/// (Cisco, "Nexus 9000 Series NX-OS Quality of Service Configuration Guide").
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("policy-map type queuing ")) {
            for (kind, (sum, largest, line)) in sums(node) {
                if sum <= WHOLE {
                    continue;
                }
                let message = format!(
                    "`{kind}` of {} of {} adds up to {sum} %; the largest share is {largest} %",
                    node.words().last().copied().unwrap_or_default(),
                    snapshot.devices[device].name
                );
                let effect =
                    "the device refuses the policy, and the port keeps its default queues".to_owned();
                found.push(snapshot.finding(device, &rules::NETWORK_QUEUE_DIFFERS, line, (message, effect)));
            }
        }
    }
}

/// Returns, for each kind of share, the sum of the shares, the largest share, and the line of the largest
/// share.
fn sums(node: &Node) -> BTreeMap<&'static str, (u64, u64, usize)> {
    let mut found: BTreeMap<&str, (u64, u64, usize)> = BTreeMap::new();
    for inner in node.inner.iter().flat_map(|class| &class.inner) {
        let (kind, share) = match *inner.words().as_slice() {
            ["bandwidth", "remaining", "percent", share] => ("bandwidth remaining percent", share),
            ["bandwidth", "percent", share] => ("bandwidth percent", share),
            _ => continue,
        };
        let Ok(share) = share.parse::<u64>() else { continue };
        let (sum, largest, line) = found.entry(kind).or_default();
        *sum = sum.saturating_add(share);
        if share > *largest {
            (*largest, *line) = (share, inner.line.0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::sums;

    #[test]
    fn shares_of_a_kind_have_a_sum() {
        let text = "policy-map type queuing OUT\n  class type queuing c-out-q3\n    priority level 1\n  class type \
                    queuing c-out-q2\n    bandwidth remaining percent 70\n  class type queuing c-out-q1\n    bandwidth \
                    remaining percent 40";
        let found = sums(&read(text)[0]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("bandwidth remaining percent", (110, 70, 5))]);
    }
}
