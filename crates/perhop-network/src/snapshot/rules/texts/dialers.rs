//! Dialers without a line, and lines without a dialer.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The lines of a device about dialer pools, or about lists of packets that dial, by number.
#[derive(Default)]
struct Uses<'t> {
    needed: BTreeMap<&'t str, usize>,
    offered: BTreeMap<&'t str, usize>,
}

/// Reports dialer pools without a line, and lines in pools that no dialer uses.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let (mut pools, mut lists) = (Uses::default(), Uses::default());
        for node in nodes {
            if let ["dialer-list", number, ..] = *node.words().as_slice() {
                lists.offered.insert(number, node.line.0);
            }
            for inner in &node.inner {
                let line = inner.line.0;
                match *inner.words().as_slice() {
                    ["dialer", "pool", number] => _ = pools.needed.insert(number, line),
                    ["dialer", "pool-member", number, ..]
                    | ["pppoe-client", "dial-pool-number", number, ..] => {
                        _ = pools.offered.insert(number, line);
                    }
                    ["dialer-group", number] => _ = lists.needed.insert(number, line),
                    _ => {}
                }
            }
        }
        let name = &snapshot.devices[device].name;
        let mut report = |line, message: String| {
            let effect = "the line of this site stays down, or carries no packets".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_PORT_INCOMPLETE, line, (message, effect)));
        };
        for (number, line) in pools.needed.iter().filter(|(number, _)| !pools.offered.contains_key(*number)) {
            report(*line, format!("no line of {name} is a member of dialer pool {number}"));
        }
        for (number, line) in pools.offered.iter().filter(|(number, _)| !pools.needed.contains_key(*number)) {
            report(*line, format!("no dialer of {name} uses pool {number}, of which this line is a member"));
        }
        for (number, line) in lists.needed.iter().filter(|(number, _)| !lists.offered.contains_key(*number)) {
            report(*line, format!("{name} does not have dialer-list {number}, so no packet dials"));
        }
    }
}
