//! Members of a bundle with different negotiation protocols.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// A member of a bundle: the name of the port, the line that makes it a member, the mode and the protocol.
type Member<'t> = (&'t str, usize, &'t str, &'static str);

/// Reports the members of a bundle whose protocol differs from the protocol of most members. If no protocol
/// prevails, reports all members.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for (number, members) in bundles(nodes) {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for (.., protocol) in &members {
                *counts.entry(protocol).or_default() += 1;
            }
            if counts.len() < 2 {
                continue;
            }
            let most = counts.values().max().copied().unwrap_or(0);
            let prevails = |protocol: &str| {
                counts[protocol] == most && counts.values().filter(|count| **count == most).count() == 1
            };
            for (name, line, mode, _) in members.iter().filter(|(.., protocol)| !prevails(protocol)) {
                let other = members.iter().find(|(.., other, _)| other != mode);
                let Some((far, _, other, _)) = other else { continue };
                let message = format!(
                    "{name} of {} joins bundle {number} in mode {mode}, but {far} in mode {other}",
                    snapshot.devices[device].name
                );
                let effect =
                    "ports with different protocols do not form one bundle, so the bundle has a lower rate";
                let rule = &rules::NETWORK_SETTING_DIFFERS;
                found.push(snapshot.finding(device, rule, *line, (message, effect.to_owned())));
            }
        }
    }
}

/// Returns the members of each bundle of a device.
fn bundles<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, Vec<Member<'t>>> {
    let mut found: BTreeMap<&str, Vec<Member>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.is_shut()) {
        let ["interface", name] = *node.words().as_slice() else { continue };
        for inner in &node.inner {
            if let ["channel-group", number, "mode", mode, ..] = *inner.words().as_slice()
                && let Some(protocol) = protocol(mode)
            {
                found.entry(number).or_default().push((name, inner.line.0, mode, protocol));
            }
        }
    }
    found
}

/// Returns the negotiation protocol of a mode (Cisco, "`EtherChannel` Modes").
fn protocol(mode: &str) -> Option<&'static str> {
    match mode {
        "on" => Some("none"),
        "active" | "passive" => Some("LACP"),
        "auto" | "desirable" => Some("PAgP"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::bundles;

    #[test]
    fn modes_of_one_protocol_agree() {
        let text = "interface Gi0/1\n channel-group 1 mode active\ninterface Gi0/2\n channel-group 1 mode \
                    passive\ninterface Gi0/3\n channel-group 2 mode on\ninterface Gi0/4\n channel-group 2";
        let nodes = read(text);
        let found = bundles(&nodes);
        assert_eq!(found["1"].iter().map(|own| own.3).collect::<Vec<_>>(), ["LACP", "LACP"]);
        assert_eq!(found["2"].len(), 1, "a port without a mode is not compared");
    }
}
