//! Routers with internal BGP neighbors (IOS XR) that have no session with each other and are not clients.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of internal neighbors that need each other's routes.
const LEAST: usize = 2;

/// The internal neighbors of a device: their addresses, the line for findings, and whether any is a client.
#[derive(Default)]
struct Internal {
    neighbors: BTreeSet<IpAddr>,
    line: usize,
    has_client: bool,
}

/// Reports devices whose internal neighbors have sessions only with this device, if none of the neighbors is
/// a client. Such a device does not announce the routes of one internal neighbor to another (RFC 4456 §6).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Option<Internal>> = trees.iter().map(|nodes| internal(nodes)).collect();
    for (device, own) in all.iter().enumerate() {
        let Some(own) = own.as_ref().filter(|own| !own.has_client && own.neighbors.len() >= LEAST) else {
            continue;
        };
        let owner = |address: &IpAddr| snapshot.owner(*address).map(|id| id.device);
        let is_leaf = |far: usize| {
            all[far].as_ref().is_some_and(|other| {
                !other.has_client && other.neighbors.iter().all(|address| owner(address) == Some(device))
            })
        };
        let far: Option<BTreeSet<usize>> = own.neighbors.iter().map(owner).collect();
        let Some(far) = far.filter(|far| far.len() >= LEAST && far.iter().all(|far| is_leaf(*far))) else {
            continue;
        };
        let names: Vec<&str> = far.iter().map(|far| snapshot.devices[*far].name.as_str()).collect();
        let message = format!(
            "{} are internal neighbors of {} only, but no line makes them its clients",
            names.join(" and "),
            snapshot.devices[device].name
        );
        let effect =
            "the device does not announce their routes to each other: packets have no path".to_owned();
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, own.line, (message, effect)));
    }
}

/// Returns the internal neighbors of a process in the global table, if each neighbor has its own block.
fn internal(nodes: &[Node]) -> Option<Internal> {
    let process = nodes.iter().find(|node| node.line.1.starts_with("router bgp "))?;
    let number = *process.words().get(2)?;
    let mut groups: BTreeMap<&str, &Node> = BTreeMap::new();
    for inner in &process.inner {
        if let [kind, name] = *inner.words().as_slice()
            && ["neighbor-group", "session-group", "af-group"].contains(&kind)
        {
            groups.insert(name, inner);
        }
    }
    let mut found = Internal::default();
    for neighbor in process.inner.iter().filter(|inner| !inner.inner.is_empty()) {
        let ["neighbor", address] = *neighbor.words().as_slice() else { continue };
        let group = neighbor.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["use", _, name] => groups.get(name).copied(),
            _ => None,
        });
        let parts = || [Some(neighbor), group].into_iter().flatten();
        let is_internal = parts().any(|part| {
            part.inner.iter().any(|inner| {
                matches!(*inner.words().as_slice(), ["remote-as", other] if other == number || other == "internal")
            })
        });
        if let Ok(address) = address.parse()
            && is_internal
        {
            found.neighbors.insert(address);
            found.has_client |= parts().any(is_client);
            if found.line == 0 {
                found.line = group.unwrap_or(neighbor).line.0;
            }
        }
    }
    Some(found).filter(|found| !found.neighbors.is_empty())
}

fn is_client(node: &Node) -> bool {
    node.words() == ["route-reflector-client"] || node.inner.iter().any(is_client)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::internal;

    const TEXT: &str = "router bgp 65000\n neighbor-group PE\n  remote-as 65000\n  address-family vpnv4 unicast\n   \
        route-reflector-client\n neighbor 10.0.0.1\n  use neighbor-group PE\n neighbor 10.0.0.2\n  remote-as 65000\n \
        neighbor 192.0.2.1\n  remote-as 65001";

    #[test]
    fn neighbors_have_the_settings_of_their_group() {
        let found = internal(&read(TEXT)).unwrap();
        assert_eq!((found.neighbors.len(), found.line, found.has_client), (2, 2, true));
        let without = TEXT.replace("   route-reflector-client\n", "");
        assert!(!internal(&read(&without)).unwrap().has_client);
    }
}
