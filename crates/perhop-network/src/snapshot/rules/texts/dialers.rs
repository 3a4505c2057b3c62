//! Dialers whose pool has no port, and ports whose pool has no dialer.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The beginnings of lines about pools and lists.
const COMMANDS: [&str; 2] = ["dialer", "pppoe-client"];

/// The lines of a device about dialer pools or about dialer lists, by number.
#[derive(Default)]
struct Uses<'t> {
    needed: BTreeMap<&'t str, usize>,
    offered: BTreeMap<&'t str, usize>,
}

/// Reports devices on which dialers use a pool but no port is a member of a pool, or the reverse. Also
/// reports dialer lists that are used but not defined. If a device has both dialers and ports in pools, the
/// rule about undefined names compares the numbers of the pools.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let (mut pools, mut lists) = (Uses::default(), Uses::default());
        for node in nodes {
            add(&mut pools, &mut lists, node);
        }
        let name = &snapshot.devices[device].name;
        let mut report = |line, message: String| {
            let effect = "the line of this site stays down, or carries no packets".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_PORT_INCOMPLETE, line, (message, effect)));
        };
        for (number, line) in pools.needed.iter().filter(|_| pools.offered.is_empty()) {
            report(*line, format!("no line of {name} is a member of dialer pool {number}"));
        }
        for (number, line) in pools.offered.iter().filter(|_| pools.needed.is_empty()) {
            report(
                *line,
                format!(
                    "this line is a member of dialer pool {number}, but no dialer of {name} uses the pool"
                ),
            );
        }
        for (number, line) in lists.needed.iter().filter(|(number, _)| !lists.offered.contains_key(*number)) {
            report(*line, format!("{name} does not have dialer-list {number}, so no packet dials"));
        }
    }
}

/// Adds the lines of a block at any depth, because a PVC inside an interface can be a member of a pool.
fn add<'t>(pools: &mut Uses<'t>, lists: &mut Uses<'t>, node: &Node<'t>) {
    let line = node.line.0;
    let words =
        if COMMANDS.iter().any(|command| node.begins_with(command)) { node.words() } else { Vec::new() };
    match *words.as_slice() {
        ["dialer", "pool", number] => _ = pools.needed.insert(number, line),
        ["dialer", "pool-member", number, ..] | ["pppoe-client", "dial-pool-number", number, ..] => {
            _ = pools.offered.insert(number, line);
        }
        ["dialer-group", number] => _ = lists.needed.insert(number, line),
        ["dialer-list", number, ..] => _ = lists.offered.insert(number, line),
        _ => {}
    }
    // A dialer for L2TP needs no port.
    let is_of_tunnel = |inner: &Node| inner.begins_with("dialer") && inner.words() == ["dialer", "vpdn"];
    let is_of_line = !node.inner.iter().any(is_of_tunnel);
    for inner in node.inner.iter().filter(|inner| is_of_line || !inner.line.1.contains("dialer pool ")) {
        add(pools, lists, inner);
    }
}
