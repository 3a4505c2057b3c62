//! Two route reflectors of the same routers, one of which does not have all of them as clients.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::braces;
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of clients that the two reflectors share.
const LEAST: usize = 2;

/// The internal neighbors of a device.
#[derive(Default)]
struct Internal {
    /// For each neighbor, the line of its group or its own line.
    lines: BTreeMap<IpAddr, usize>,
    clients: BTreeSet<IpAddr>,
}

/// Reports devices that have all clients of a reflector as neighbors, but not as their clients. A device that
/// is a client of the reflector is not reported, because clients may have sessions with each other.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Internal> = trees.iter().map(|nodes| read(nodes)).collect();
    for (device, own) in all.iter().enumerate() {
        let mut others = all.iter().enumerate().filter(|(far, other)| {
            let is_client = snapshot.router(device).ports.iter().flat_map(addresses);
            *far != device
                && other.clients.len() >= LEAST
                && other.clients.iter().all(|address| own.lines.contains_key(address))
                && !is_client.into_iter().any(|address| other.clients.contains(&address.address))
        });
        let lacking = others.find_map(|(far, other)| {
            let lines: BTreeMap<usize, IpAddr> = other
                .clients
                .difference(&own.clients)
                .map(|address| (own.lines[address], *address))
                .collect();
            (!lines.is_empty()).then_some((far, lines))
        });
        let Some((far, lines)) = lacking else { continue };
        for (line, address) in lines {
            let message = format!(
                "{address} is a client of the route reflector {}, but only a neighbor of {}, which has the same \
                 neighbors",
                snapshot.devices[far].name, snapshot.devices[device].name
            );
            let effect = "the device does not pass on the routes of such neighbors: without the other \
                          reflector, packets have no path"
                .to_owned();
            let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}

fn read(nodes: &[Node]) -> Internal {
    let mut found = Internal::default();
    if let Some(process) = nodes.iter().find(|node| node.line.1.starts_with("router bgp ")) {
        let number = process.words().get(2).copied().unwrap_or_default();
        if process.inner.iter().any(|inner| is_block(inner)) {
            read_blocks(process, number, &mut found);
        } else {
            read_lines(process, number, &mut found);
        }
    }
    let groups = braces::block(nodes, &["protocols", "bgp"]).map_or(&[][..], |node| &node.inner);
    for group in groups {
        read_group(group, &mut found);
    }
    found
}

/// Whether the lines about a neighbor are inside a block of the neighbor (IOS XR, NX-OS).
fn is_block(node: &Node) -> bool {
    node.begins_with("neighbor ") && !node.inner.is_empty()
}

/// Reads neighbors with blocks. Groups can have settings for several neighbors.
fn read_blocks(process: &Node, number: &str, found: &mut Internal) {
    let group_of = |name: &str| {
        process.inner.iter().find(|inner| {
            matches!(
                *inner.words().as_slice(),
                ["neighbor-group" | "session-group" | "af-group", own, ..] if own == name
            ) || matches!(*inner.words().as_slice(), ["template", _, own] if own == name)
        })
    };
    for neighbor in process.inner.iter().filter(|inner| is_block(inner)) {
        let words = neighbor.words();
        let Some(address) = words.get(1).and_then(|word| word.parse().ok()) else { continue };
        let group = neighbor.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["use" | "inherit", _, name] => group_of(name),
            _ => None,
        });
        let parts = || [Some(neighbor), group].into_iter().flatten();
        let is_internal = |inner: &Node| {
            matches!(
                *inner.words().as_slice(),
                ["remote-as", other] if other == number || other == "internal"
            )
        };
        let has_number = words.windows(2).any(|pair| pair[0] == "remote-as" && pair[1] == number);
        if !has_number && !parts().any(|part| part.inner.iter().any(is_internal)) {
            continue;
        }
        found.lines.insert(address, group.unwrap_or(neighbor).line.0);
        if parts().any(has_client) {
            found.clients.insert(address);
        }
    }
}

fn has_client(node: &Node) -> bool {
    node.words() == ["route-reflector-client"] || node.inner.iter().any(has_client)
}

/// Reads neighbors whose lines begin with `neighbor ADDRESS`.
fn read_lines(process: &Node, number: &str, found: &mut Internal) {
    let mut commands: BTreeMap<&str, Vec<(usize, Vec<&str>)>> = BTreeMap::new();
    let families = process.inner.iter().filter(|inner| !inner.words().contains(&"vrf"));
    for line in families.flat_map(|inner| std::iter::once(inner).chain(&inner.inner)) {
        if let ["neighbor", name, ref rest @ ..] = *line.words().as_slice() {
            commands.entry(name).or_default().push((line.line.0, rest.to_vec()));
        }
    }
    for (name, own) in &commands {
        let Ok(address) = name.parse::<IpAddr>() else { continue };
        let group = own.iter().find_map(|(_, words)| match words.as_slice() {
            ["peer-group", group] => commands.get(group),
            _ => None,
        });
        let lines = || own.iter().chain(group.into_iter().flatten());
        if !lines().any(|(_, words)| words.starts_with(&["remote-as", number])) {
            continue;
        }
        found.lines.insert(address, group.unwrap_or(own)[0].0);
        if lines().any(|(_, words)| words.as_slice() == ["route-reflector-client"]) {
            found.clients.insert(address);
        }
    }
}

/// Reads an internal group of Junos. Its neighbors are clients if it has a cluster.
fn read_group(group: &Node, found: &mut Internal) {
    let has = |text: &[&str]| group.inner.iter().any(|inner| braces::words(inner).starts_with(text));
    if braces::words(group).first() != Some(&"group") || !has(&["type", "internal"]) {
        return;
    }
    for inner in &group.inner {
        if let ["neighbor", address, ..] = *braces::words(inner).as_slice()
            && let Ok(address) = address.parse::<IpAddr>()
        {
            found.lines.insert(address, group.line.0);
            if has(&["cluster"]) {
                found.clients.insert(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read as tree;
    use super::read;

    /// Returns the number of internal neighbors, the number of clients and the line of the first neighbor.
    fn counts(text: &str) -> (usize, usize, Option<usize>) {
        let found = read(&tree(text));
        (found.lines.len(), found.clients.len(), found.lines.values().next().copied())
    }

    #[test]
    fn clients_are_read_in_each_syntax() {
        let xr = "router bgp 65000\n neighbor-group PE\n  remote-as 65000\n  address-family vpnv4 unicast\n   \
                  route-reflector-client\n neighbor 10.0.0.1\n  use neighbor-group PE\n neighbor 10.0.0.2\n  \
                  remote-as 65000\n neighbor 192.0.2.1\n  remote-as 65001";
        assert_eq!(counts(xr), (2, 1, Some(2)));
        let ios = "router bgp 65000\n neighbor PE peer-group\n neighbor PE remote-as 65000\n neighbor 10.0.0.1 peer-group \
                   PE\n neighbor 10.0.0.2 remote-as 65000\n neighbor 192.0.2.1 remote-as 65001\n address-family \
                   vpnv4\n  neighbor PE route-reflector-client";
        assert_eq!(counts(ios), (2, 1, Some(2)));
        let junos = "protocols {\n    bgp {\n        group PE {\n            type internal;\n            cluster \
                     10.0.0.9;\n            neighbor 10.0.0.1;\n            neighbor 10.0.0.2 {\n                description x;\n            \
                     }\n        }\n    }\n}";
        assert_eq!(counts(junos), (2, 2, Some(3)));
        assert_eq!(counts(&junos.replace("cluster", "# cluster")), (2, 0, Some(3)));
    }
}
