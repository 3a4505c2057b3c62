//! Links whose ends run PTP in different domains.

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The domain of a device without a line for it (Cisco Nexus 9000, "Configuring PTP").
const USUAL: u8 = 0;

/// Reports both ends of links with PTP whose devices have different domains. A clock ignores messages of
/// other domains (IEEE 1588-2019 §7.1).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let domains: Vec<Option<(usize, u8)>> = trees.iter().map(|nodes| domain(nodes)).collect();
    let runs = |id: PortId| {
        let line = snapshot.port(id).line;
        let block = trees[id.device].iter().find(|node| node.line.0 == line);
        block.is_some_and(|block| block.inner.iter().any(|inner| inner.line.1.trim() == "ptp"))
    };
    for [own, other] in snapshot.wires() {
        let (Some((line, near)), Some((there, far))) = (domains[own.device], domains[other.device]) else {
            continue;
        };
        if near == far || !runs(own) || !runs(other) {
            continue;
        }
        // Of two devices, the one that agrees with more neighbors is probably right.
        let agree = |id: PortId, domain: u8| {
            let wires = snapshot.wires().filter(|[from, _]| from.device == id.device);
            wires.filter(|[_, to]| domains[to.device].is_some_and(|(_, theirs)| theirs == domain)).count()
        };
        if agree(own, near) > agree(other, far) {
            continue;
        }
        let message = format!(
            "{} has the PTP domain {near}, but its neighbor {} has the domain {far} ({})",
            snapshot.devices[own.device].name,
            snapshot.devices[other.device].name,
            snapshot.place(other.device, there)
        );
        let effect = "the clocks of the two devices do not synchronize".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_SETTING_DIFFERS, line, (message, effect)));
    }
}

/// Returns the line and the domain of a device with PTP (NX-OS). Without a line for the domain, the line is
/// that of the source. `None` for a device whose ports can have their own domains.
fn domain(nodes: &[Node]) -> Option<(usize, u8)> {
    let is_of_port = |node: &Node| {
        node.begins_with("ptp multi-domain") || node.inner.iter().any(|inner| inner.begins_with("ptp domain"))
    };
    if nodes.iter().any(is_of_port) {
        return None;
    }
    let words =
        || nodes.iter().filter(|node| node.begins_with("ptp ")).map(|node| (node.line.0, node.words()));
    let written = words().find_map(|(line, words)| match words.as_slice() {
        ["ptp", "domain", number] => Some((line, number.parse().ok()?)),
        _ => None,
    });
    let source = || words().find(|(_, words)| words.get(1) == Some(&"source"));
    written.or_else(|| source().map(|(line, _)| (line, USUAL)))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::domain;

    #[test]
    fn the_domain_has_a_default() {
        assert_eq!(domain(&read("ptp source 192.0.2.1\nptp domain 5\n")), Some((2, 5)));
        assert_eq!(domain(&read("feature ptp\nptp source 192.0.2.1\n")), Some((2, 0)));
        assert_eq!(domain(&read("feature lldp\n")), None);
        assert_eq!(domain(&read("ptp source 192.0.2.1\nptp domain 0\nptp multi-domain\n")), None);
    }
}
