//! Ends of links with different MTUs.
//!
//! A port without a line for its MTU can have the MTU of its switch (`system mtu`), and a unit of Junos can
//! have the MTU of its family.

use perhop_qos::ByteSize;

use super::super::super::peers::Peers;
use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::super::braces::{block, can_inherit, words};
use crate::forwarding::addresses;
use crate::rules;

/// The default MTU of Ethernet and of serial lines, IP bytes (RFC 894).
const USUAL_MTU: u64 = 1500;
/// The first version of IOS XE in which `system mtu` also applies to routed ports.
const FIRST_VERSION: u32 = 16;

/// The origin of the MTU of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The line of the port that sets the MTU.
    Line(usize),
    /// The MTU of the switch.
    System,
    Default,
}

/// The MTU of a port, IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mtu {
    bytes: u64,
    origin: Origin,
}

/// Reports links whose ends have different MTUs.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in &snapshot.links {
        let ends: Vec<PortId> = link.ends.iter().map(|end| end.id).collect();
        if let [first, second] = ends[..] {
            check_pair(snapshot, trees, [first, second], found);
            check_pair(snapshot, trees, [second, first], found);
        } else {
            check_several(snapshot, trees, &ends, found);
        }
    }
    for [first, second] in cables_of_frames(snapshot) {
        check_pair(snapshot, trees, [first, second], found);
        check_pair(snapshot, trees, [second, first], found);
    }
}

/// Returns the pairs of ports without addresses that are the ends of one cable according to their
/// descriptions.
fn cables_of_frames(snapshot: &Snapshot) -> Vec<[PortId; 2]> {
    let is_of_frames =
        |id: &PortId| snapshot.link_of(*id).is_none() && addresses(snapshot.port(*id)).next().is_none();
    snapshot.described_pairs().into_iter().filter(|ends| ends.iter().all(is_of_frames)).collect()
}

/// Reports both ends of a link with different MTUs. Packets above the smaller MTU are fragmented or dropped.
fn check_pair(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    [own, other]: [PortId; 2],
    found: &mut Vec<NetworkFinding>,
) {
    let mtu = |id: PortId| mtu(snapshot, &trees[id.device], id);
    let (Some(here), Some(there)) = (mtu(own), mtu(other)) else { return };
    let is_set = [here, there].iter().any(|mtu| mtu.origin != Origin::Default);
    if here.bytes == there.bytes || !is_set {
        return;
    }
    let message = format!(
        "the MTU of {} is {} bytes{}, but the MTU of {} at the other end of the link is {}",
        snapshot.port_name(own),
        here.bytes,
        if here.origin == Origin::System { " (`system mtu`)" } else { "" },
        snapshot.port_name(other),
        there.bytes
    );
    let (less, bytes) = if here.bytes < there.bytes { (own, here.bytes) } else { (other, there.bytes) };
    let effect = effect(&snapshot.port_name(less), bytes);
    let line = match here.origin {
        Origin::Line(line) => line,
        Origin::System | Origin::Default => snapshot.port(own).line,
    };
    found.push(snapshot.finding(own.device, &rules::NETWORK_MTU_DIFFERS, line, (message, effect)));
}

/// Reports the ends of a link with three or more ends whose MTU differs from the MTU of most ends.
fn check_several(snapshot: &Snapshot, trees: &[Vec<Node>], ends: &[PortId], found: &mut Vec<NetworkFinding>) {
    let written = |id: &PortId| match mtu(snapshot, &trees[id.device], *id)? {
        Mtu { bytes, origin: Origin::Line(line) } => Some((*id, line, bytes)),
        _ => None,
    };
    let written: Vec<(PortId, usize, u64)> = ends.iter().filter_map(written).collect();
    let peers: Peers<u64> = written.iter().map(|(.., mtu)| *mtu).collect();
    let Some(usual) = peers.usual() else { return };
    for (id, line, mtu) in written.iter().filter(|(.., mtu)| peers.is_exception(mtu)) {
        let message = format!(
            "the MTU of {} is {mtu} bytes, but most of the {} ends of its link have {usual}",
            snapshot.port_name(*id),
            written.len()
        );
        let effect = if mtu < usual {
            effect(&snapshot.port_name(*id), *mtu)
        } else {
            effect("each of the other ends", *usual)
        };
        let rule = &rules::NETWORK_MTU_DIFFERS;
        found.push(snapshot.finding(id.device, rule, *line, (message, effect)));
    }
}

/// Returns the effect of different MTUs, by the end with the smaller MTU.
fn effect(less: &str, bytes: u64) -> String {
    format!(
        "{less} fragments or drops packets above {bytes} bytes; OSPF, if the link has it, forms no adjacency"
    )
}

/// Returns the MTU of a port; `None` if the lines of the port do not determine it.
fn mtu(snapshot: &Snapshot, nodes: &[Node], id: PortId) -> Option<Mtu> {
    let port = snapshot.port(id);
    if let Some((line, bytes)) = of_family(nodes, &port.name) {
        return Some(Mtu { bytes, origin: Origin::Line(line) });
    }
    if let Some(line) = port.forwarding.mtu_line {
        let bytes = port.wire.mtu.map_or(USUAL_MTU, ByteSize::as_bytes);
        return Some(Mtu { bytes, origin: Origin::Line(line) });
    }
    // A subinterface has the MTU of its interface.
    if let Some(mtu) = port.wire.mtu {
        return Some(Mtu { bytes: mtu.as_bytes(), origin: Origin::Default });
    }
    // The MTU of a tunnel without an MTU line depends on the port below.
    if port.forwarding.tunnel.is_some() || can_inherit(nodes, "mtu") {
        return None;
    }
    let own = nodes.iter().find(|node| node.line.0 == port.line);
    of_system(nodes, own, addresses(port).next().is_some())
}

/// Returns the line and the MTU of the family of a unit (Junos).
fn of_family(nodes: &[Node], name: &str) -> Option<(usize, u64)> {
    let (port, unit) = name.rsplit_once('.')?;
    let port = block(nodes, &["interfaces", port])?;
    let unit = port.inner.iter().find(|inner| words(inner) == ["unit", unit])?;
    let family = unit.inner.iter().find(|inner| words(inner) == ["family", "inet"])?;
    family.inner.iter().find_map(|inner| match *words(inner).as_slice() {
        ["mtu", bytes] => Some((inner.line.0, bytes.parse().ok()?)),
        _ => None,
    })
}

/// Returns the MTU of a port without an MTU line: the MTU of its switch, or the default. `None` if perhop
/// does not know whether the MTU of the switch applies to the port. `own` is the block of the port.
fn of_system(nodes: &[Node], own: Option<&Node>, has_address: bool) -> Option<Mtu> {
    let mut system = nodes.iter().filter(|node| node.begins_with("system ")).peekable();
    let lines: Vec<Vec<&str>> = system.by_ref().map(Node::words).collect();
    let sets_mtu = |words: &Vec<&str>| matches!(words.get(1), Some(&("mtu" | "jumbomtu")));
    // The MTU of frames on NX-OS does not apply to ports with addresses.
    let is_nexus = |words: &Vec<&str>| words.get(1) == Some(&"jumbomtu");
    if !lines.iter().any(sets_mtu) || has_address && lines.iter().filter(|own| sets_mtu(own)).all(is_nexus) {
        return Some(Mtu { bytes: USUAL_MTU, origin: Origin::Default });
    }
    let own = own.filter(|_| has_address)?;
    let has = |text: &str| own.inner.iter().any(|inner| inner.begins_with(text));
    if !has("no switchport") || has("ip ospf mtu-ignore") {
        return None;
    }
    let routing = lines.iter().find_map(|words| match words.as_slice() {
        ["system", "mtu", "routing", bytes] => bytes.parse().ok(),
        _ => None,
    });
    let version = nodes.iter().find_map(|node| node.line.1.strip_prefix("version "));
    let main = version.and_then(|version| version.split('.').next()?.trim().parse::<u32>().ok());
    let all = lines.iter().find_map(|words| match words.as_slice() {
        ["system", "mtu", bytes] => bytes.parse().ok(),
        _ => None,
    });
    let bytes = routing.or(all.filter(|_| main.is_some_and(|main| main >= FIRST_VERSION)))?;
    Some(Mtu { bytes, origin: Origin::System })
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::{can_inherit, read};
    use super::{Mtu, Origin, of_family, of_system};

    fn systems(text: &str) -> [Option<Mtu>; 2] {
        let nodes = read(text);
        let own = |name: &str| nodes.iter().find(|node| node.words() == ["interface", name]);
        ["Te1/0/1", "Te1/0/2"].map(|name| of_system(&nodes, own(name), name == "Te1/0/1"))
    }

    #[test]
    fn routed_ports_have_the_mtu_of_the_switch() {
        let text = "version 17.9\nsystem mtu 9198\ninterface Te1/0/1\n no switchport\ninterface Te1/0/2\n \
                    switchport mode trunk";
        let own = |bytes| Some(Mtu { bytes, origin: Origin::System });
        let usual = Some(Mtu { bytes: 1500, origin: Origin::Default });
        assert_eq!(systems(text), [own(9198), None]);
        assert_eq!(systems(&text.replace("17.9", "15.2")), [None, None]);
        let routing = text.replace("17.9", "12.2").replace("mtu 9198", "mtu routing 1600");
        assert_eq!(systems(&routing), [own(1600), None]);
        assert_eq!(systems(&text.replace(" no switchport", " ip address dhcp")), [None, None]);
        assert_eq!(systems(&text.replace("mtu 9198", "jumbomtu 9216")), [usual, None]);
        assert_eq!(systems(&text.replace("system mtu 9198\n", "")), [usual, usual]);
    }

    #[test]
    fn units_can_have_the_mtu_of_their_family() {
        let text = "interfaces {\n    ge-0/0/0 {\n        mtu 9192;\n        unit 0 {\n            family \
                    inet {\n                mtu 1500;\n            }\n        }\n    }\n}";
        assert_eq!(of_family(&read(text), "ge-0/0/0.0"), Some((6, 1500)));
        assert_eq!(of_family(&read(text), "ge-0/0/0.1"), None);
        assert!(!can_inherit(&read(text), "mtu"));
        assert!(can_inherit(&read(&text.replace("ge-0/0/0 {", "interface-range CORE {")), "mtu"));
    }
}
