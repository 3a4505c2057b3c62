//! Ports towards a gateway that a switch does not trust for DHCP or ARP.

use std::collections::BTreeSet;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::super::vlan_ports::{Switch, vlans};
use super::super::vlans::cables;
use crate::rules;

/// A check of packets at ports that are not trusted.
struct Feature {
    /// The command that names the checked VLANs.
    vlans: &'static str,
    /// The line without which the check is off.
    switch: Option<&'static str>,
    /// The commands that permit packets in their VLANs without trust.
    exceptions: &'static [&'static str],
    /// The line of a trusted port.
    trust: &'static str,
    /// The line of a virtual interface whose packets the check drops.
    source: &'static str,
    /// The dropped packets.
    packets: &'static str,
}

const FEATURES: [Feature; 2] = [
    Feature {
        vlans: "ip dhcp snooping vlan ",
        // Cisco, "Configuring DHCP Features": snooping also needs the global command.
        switch: Some("ip dhcp snooping"),
        exceptions: &[],
        trust: "ip dhcp snooping trust",
        source: "ip helper-address ",
        packets: "answers of DHCP servers",
    },
    Feature {
        vlans: "ip arp inspection vlan ",
        switch: None,
        // Cisco, "Configuring Dynamic ARP Inspection": lists and static bindings permit ARP packets.
        exceptions: &["ip arp inspection filter ", "ip source binding ", "ip dhcp snooping binding "],
        trust: "ip arp inspection trust",
        source: "ip address ",
        packets: "ARP packets of the gateway",
    },
];

/// Reports trunks without trust whose other end has the gateway of a checked VLAN.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let checks = |nodes: &[Node]| {
        FEATURES.iter().any(|feature| nodes.iter().any(|node| node.line.1.starts_with(feature.vlans)))
    };
    if !trees.iter().any(|nodes| checks(nodes)) {
        return;
    }
    for [first, second] in cables(snapshot) {
        for [own, other] in [[first, second], [second, first]] {
            for feature in &FEATURES {
                check_end(snapshot, trees, [own, other], feature, found);
            }
        }
    }
}

fn check_end(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    [own, other]: [PortId; 2],
    feature: &Feature,
    found: &mut Vec<NetworkFinding>,
) {
    let checked = checked(&trees[own.device], feature);
    let name = snapshot.port(own).name.as_str();
    let Some(line) = untrusted(&trees[own.device], name, feature) else { return };
    let switch = Switch::read(&trees[own.device]);
    let Some(trunk) = switch.trunks.get(name) else { return };
    let near = gateways(&trees[own.device], feature);
    let far = gateways(&trees[other.device], feature);
    let lost =
        far.iter().find(|vlan| checked.contains(vlan) && trunk.carries(**vlan) && !near.contains(vlan));
    let Some(vlan) = lost else { return };
    let message = format!(
        "{} has no `{}`, but {} at the other end has the gateway of VLAN {vlan}, which the switch checks",
        snapshot.port_name(own),
        feature.trust,
        snapshot.devices[other.device].name
    );
    let effect = format!("the switch drops {} that arrive at this port", feature.packets);
    found.push(snapshot.finding(own.device, &rules::NETWORK_PORT_INCOMPLETE, line, (message, effect)));
}

/// Returns the VLANs in which a switch checks packets and permits none without trust.
fn checked(nodes: &[Node], feature: &Feature) -> BTreeSet<u16> {
    let is_on = |line: &str| nodes.iter().any(|node| node.line.1.trim_end() == line);
    if !feature.switch.is_none_or(is_on) {
        return BTreeSet::new();
    }
    let lists = nodes.iter().filter_map(|node| node.line.1.strip_prefix(feature.vlans));
    let mut found: BTreeSet<u16> = lists.filter_map(|list| vlans(list.trim())).flatten().collect();
    let is_exception = |node: &&Node| feature.exceptions.iter().any(|start| node.line.1.starts_with(start));
    for node in nodes.iter().filter(is_exception) {
        let mut words = node.words().into_iter().skip_while(|word| *word != "vlan");
        // An exception without readable VLANs can be for all VLANs.
        match words.nth(1).and_then(vlans) {
            Some(permitted) => found.retain(|vlan| !permitted.contains(vlan)),
            None => found.clear(),
        }
    }
    found
}

/// Returns the line of a port that is not trusted. The members of a bundle have the trust of the bundle.
fn untrusted(nodes: &[Node], name: &str, feature: &Feature) -> Option<usize> {
    let port = nodes.iter().find(|node| node.words() == ["interface", name])?;
    let has = |start: &str| port.inner.iter().any(|inner| inner.begins_with(start));
    (!has(feature.trust) && !has("channel-group ")).then_some(port.line.0)
}

/// Returns the VLANs whose virtual interface is up and has the line `source` of a feature.
fn gateways(nodes: &[Node], feature: &Feature) -> BTreeSet<u16> {
    let is_source = |node: &&Node| {
        let has = |start: &str| node.inner.iter().any(|inner| inner.begins_with(start));
        has(feature.source) && !has("shutdown")
    };
    let names = nodes.iter().filter(is_source).filter_map(|node| node.line.1.strip_prefix("interface Vlan"));
    names.filter_map(|vlan| vlan.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::{FEATURES, checked, gateways, untrusted};

    #[test]
    fn trust_is_a_line_of_the_port() {
        let text = "ip dhcp snooping\nip dhcp snooping vlan 10,20-21\nip arp inspection vlan 10\n\
                    interface Gi0/1\n switchport mode trunk\n ip dhcp snooping trust\n\
                    interface Gi0/2\n channel-group 1 mode active\n\
                    interface Vlan10\n ip address 192.0.2.1 255.255.255.0\n ip helper-address 192.0.2.99";
        let nodes = read(text);
        let [dhcp, arp] = &FEATURES;
        assert_eq!(checked(&nodes, dhcp).into_iter().collect::<Vec<u16>>(), [10, 20, 21]);
        assert_eq!((untrusted(&nodes, "Gi0/1", dhcp), untrusted(&nodes, "Gi0/1", arp)), (None, Some(4)));
        assert_eq!(untrusted(&nodes, "Gi0/2", arp), None, "the bundle has the trust");
        assert!(
            gateways(&nodes, dhcp).contains(&10) && gateways(&read("interface Vlan10\n"), arp).is_empty()
        );
    }

    #[test]
    fn a_check_can_be_off_or_have_exceptions() {
        let [dhcp, arp] = &FEATURES;
        assert!(checked(&read("ip dhcp snooping vlan 10"), dhcp).is_empty());
        let lines = [
            "ip arp inspection filter A vlan 10",
            "ip source binding 0000.5e00.5301 vlan 10 192.0.2.1 interface Gi0/1",
        ];
        for line in lines {
            let text = format!("ip arp inspection vlan 10,20\n{line}");
            assert_eq!(checked(&read(&text), arp).into_iter().collect::<Vec<u16>>(), [20], "{line}");
        }
    }
}
