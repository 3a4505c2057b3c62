//! Commands of NX-OS whose feature is off.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The features and the beginnings of the lines that need them: at the top level, and inside blocks (Cisco
/// Nexus, "Configuration Guides": without `feature`, the device rejects the commands of a feature).
const FEATURES: [(&str, &[&str], &[&str]); 9] = [
    ("bfd", &["bfd "], &["bfd ", "ip ospf bfd", "isis bfd", "ip eigrp bfd"]),
    ("bgp", &["router bgp "], &[]),
    ("eigrp", &["router eigrp "], &["ip router eigrp "]),
    ("hsrp", &[], &["hsrp "]),
    ("interface-vlan", &["interface vlan"], &[]),
    ("isis", &["router isis "], &["ip router isis "]),
    ("ospf", &["router ospf "], &["ip router ospf "]),
    ("vpc", &["vpc domain "], &["vpc "]),
    ("vrrp", &[], &["vrrp "]),
];

/// Reports lines of a device with features that need another feature.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let on: Vec<&str> =
            nodes.iter().filter_map(|node| node.line.1.strip_prefix("feature ")).map(str::trim).collect();
        if on.is_empty() {
            continue;
        }
        for (feature, outside, inside) in FEATURES.iter().filter(|(feature, ..)| !on.contains(feature)) {
            let Some((line, text)) = user(nodes, outside, inside) else { continue };
            let message =
                format!("{} has no `feature {feature}`, which `{text}` needs", snapshot.devices[device].name);
            let effect = "the device rejects these lines: the protocol, the group or the port does not work";
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Returns the first line that needs a feature.
fn user<'t>(nodes: &[Node<'t>], outside: &[&str], inside: &[&str]) -> Option<(usize, &'t str)> {
    let begins = |node: &Node, starts: &[&str]| {
        let text = node.line.1.trim().to_ascii_lowercase();
        // VLAN 1 has an interface without the feature.
        text != "interface vlan1" && starts.iter().any(|start| text.starts_with(start))
    };
    let needs = |node: &&Node| begins(node, outside);
    let own = nodes.iter().find(needs);
    let inner = || nodes.iter().flat_map(|node| &node.inner).find(|inner| begins(inner, inside));
    own.or_else(inner).map(|node| (node.line.0, node.line.1.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{FEATURES, user};

    #[test]
    fn lines_need_their_feature() {
        let line = |feature: &str, text: &str| {
            let (_, outside, inside) = FEATURES.iter().find(|(name, ..)| *name == feature).unwrap();
            user(&read(text), outside, inside).map(|(line, _)| line)
        };
        assert_eq!(line("ospf", "router ospf 1\n"), Some(1));
        assert_eq!(line("bfd", "interface Ethernet1/1\n  no switchport\n  ip ospf bfd\n"), Some(3));
        assert_eq!(line("interface-vlan", "interface Vlan1\ninterface Vlan10\n"), Some(2));
        assert_eq!(line("hsrp", "interface Vlan10\n  ip address 10.0.0.1/24\n"), None);
    }
}
