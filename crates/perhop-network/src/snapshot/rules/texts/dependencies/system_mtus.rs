//! Routed ports of Catalyst 9000 switches whose MTU is that of the switch (`system mtu`).

use perhop_qos::ByteSize;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The default MTU of routed ports.
const USUAL_MTU: u64 = 1500;
/// The first version of IOS XE in which `system mtu` also applies to routed ports.
const FIRST_VERSION: u32 = 16;

/// Reports routed ports without a line for their MTU, if the MTU of the switch differs from the MTU at the
/// other end of the link.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let systems: Vec<Option<u64>> = trees.iter().map(|nodes| of_system(nodes)).collect();
    if systems.iter().all(Option::is_none) {
        return;
    }
    let inherited = |id: PortId| {
        let name = snapshot.port(id).name.as_str();
        systems[id.device].and_then(|mtu| Some((mtu, inheriting(&trees[id.device], name)?)))
    };
    for [own, other] in snapshot.wires() {
        let Some((here, line)) = inherited(own) else { continue };
        let written = || snapshot.port(other).wire.mtu.map_or(USUAL_MTU, ByteSize::as_bytes);
        let there = inherited(other).map_or_else(written, |(mtu, _)| mtu);
        if here == there {
            continue;
        }
        let message = format!(
            "{} accepts packets of {here} bytes (`system mtu`), and {} at the other end of the link accepts \
             {there}",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        let effect =
            "one end fragments or drops long packets of the other end; OSPF forms no adjacency".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_MTU_DIFFERS, line, (message, effect)));
    }
}

/// Returns the MTU of a switch that applies it to routed ports.
fn of_system(nodes: &[Node]) -> Option<u64> {
    let version = nodes.iter().find_map(|node| node.line.1.strip_prefix("version "))?;
    let main: u32 = version.split('.').next()?.trim().parse().ok()?;
    let mtu = nodes.iter().find_map(|node| match *node.words().as_slice() {
        ["system", "mtu", bytes] => bytes.parse().ok(),
        _ => None,
    });
    mtu.filter(|_| main >= FIRST_VERSION)
}

/// Returns the line of a routed port without a line for its MTU.
fn inheriting(nodes: &[Node], name: &str) -> Option<usize> {
    let port = nodes.iter().find(|node| node.words() == ["interface", name])?;
    let has = |start: &str| port.inner.iter().any(|inner| inner.begins_with(start));
    let is_set = has("ip mtu ") || has("mtu ") || has("ip ospf mtu-ignore");
    (has("no switchport") && !is_set).then_some(port.line.0)
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::{inheriting, of_system};

    #[test]
    fn routed_ports_inherit_the_mtu_of_the_switch() {
        let text = "version 17.9\nsystem mtu 9198\ninterface Te1/0/1\n no switchport\ninterface Te1/0/2\n no \
                    switchport\n ip mtu 1500\ninterface Te1/0/3\n switchport mode trunk";
        let nodes = read(text);
        assert_eq!(of_system(&nodes), Some(9198));
        let found: Vec<_> = ["Te1/0/1", "Te1/0/2", "Te1/0/3"].map(|name| inheriting(&nodes, name)).to_vec();
        assert_eq!(found, [Some(3), None, None]);
        assert_eq!(of_system(&read(&text.replace("17.9", "15.2"))), None);
    }
}
