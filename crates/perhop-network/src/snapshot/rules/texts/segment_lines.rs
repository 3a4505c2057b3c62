//! The MTU that one end of a link with several ends lacks, such as a hub or a spoke of tunnels. A limit for
//! segments of TCP (`ip tcp adjust-mss`) at one end is sufficient, because it applies in both directions.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other ends that agree on a value.
const LEAST_OTHERS: usize = 2;
const COMMAND: &str = "ip mtu";

/// Reports the only end of a link without an MTU that all others have. An MTU that differs is a finding of
/// the rule about links.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in snapshot.links.iter().filter(|link| link.ends.len() > LEAST_OTHERS) {
        let ends = link.ends.iter().map(|end| end.id);
        let blocks: Vec<(PortId, &Node)> =
            ends.filter_map(|id| Some((id, block(&trees[id.device], snapshot.port(id).line)?))).collect();
        check_ends(snapshot, &blocks, found);
    }
}

fn check_ends(snapshot: &Snapshot, blocks: &[(PortId, &Node)], found: &mut Vec<NetworkFinding>) {
    let values: Vec<_> = blocks.iter().map(|(id, node)| (*id, *node, value(node, COMMAND))).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (value, _) in values.iter().filter_map(|(.., own)| *own) {
        *counts.entry(value).or_default() += 1;
    }
    let usual = counts.iter().find(|(_, count)| **count >= LEAST_OTHERS && **count + 1 == values.len());
    let Some((usual, agreeing)) = usual else { return };
    for (id, node, _) in values.iter().filter(|(.., own)| own.is_none()) {
        let message = format!(
            "{} has no `{COMMAND}`, but the {agreeing} other ends of its link have `{COMMAND} {usual}`",
            snapshot.port_name(*id)
        );
        let effect = "long packets of this end are fragmented, or dropped on the way".to_owned();
        let rule = &rules::NETWORK_MTU_DIFFERS;
        found.push(snapshot.finding(id.device, rule, node.line.0, (message, effect)));
    }
}

fn block<'n, 't>(nodes: &'n [Node<'t>], line: usize) -> Option<&'n Node<'t>> {
    let place = nodes.binary_search_by_key(&line, |node| node.line.0).ok()?;
    Some(&nodes[place]).filter(|node| node.begins_with("interface "))
}

/// Returns the value of a command in the block of a port, and its line.
fn value<'t>(node: &Node<'t>, command: &str) -> Option<(&'t str, usize)> {
    node.inner.iter().find_map(|inner| {
        let rest = inner.line.1.trim_start().strip_prefix(command)?.strip_prefix(' ')?;
        Some((rest.trim_end(), inner.line.0))
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{block, value};

    #[test]
    fn a_value_follows_its_command() {
        let nodes = read("hostname A\ninterface Tunnel1\n ip mtu 1400\n");
        let node = block(&nodes, 2).unwrap();
        assert_eq!(value(node, "ip mtu"), Some(("1400", 3)));
        assert_eq!(value(node, "ip tcp adjust-mss"), None);
        assert!(block(&nodes, 1).is_none(), "no port starts at the line");
    }
}
