//! Pairs of route reflectors with the same neighbors, if one reflector does not have all of these neighbors
//! as clients.

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
    /// Whether the device configures a cluster ID (RFC 4456 §7), as route reflectors do.
    has_cluster: bool,
}

/// Reports devices that have all clients of a reflector as neighbors, but not as their clients. A device that
/// is a client of the reflector is not reported, because clients may have sessions with each other.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Internal> = trees.iter().map(|nodes| read(nodes)).collect();
    for (device, own) in all.iter().enumerate() {
        // A device without any client can be of another kind: a collector of routes, or the trigger router of
        // blackhole routes.
        if own.clients.is_empty() && !own.has_cluster {
            continue;
        }
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
        let is_cluster =
            |inner: &Node| inner.begins_with("bgp cluster-id ") || inner.begins_with("cluster-id ");
        found.has_cluster = process.inner.iter().any(is_cluster);
        if process.inner.iter().any(|inner| is_block(inner)) {
            read_blocks(process, number, &mut found);
        } else {
            read_lines(process, number, &mut found);
        }
    }
    if let Some(bgp) = braces::block(nodes, &["protocols", "bgp"]) {
        // Configuration groups can add a cluster, and this reader does not apply them.
        let groups = braces::block(nodes, &["groups"]);
        if groups.is_none_or(|groups| braces::inside(groups, "cluster").is_empty()) {
            read_groups(bgp, &mut found);
        }
    }
    found
}

/// Whether the lines about a neighbor are inside a block of the neighbor (IOS XR, NX-OS).
fn is_block(node: &Node) -> bool {
    node.begins_with("neighbor ") && !node.inner.is_empty()
}

/// Reads neighbors with blocks. Templates can have settings for several neighbors.
fn read_blocks(process: &Node, number: &str, found: &mut Internal) {
    for neighbor in process.inner.iter().filter(|inner| is_block(inner)) {
        let words = neighbor.words();
        let Some(address) = words.get(1).and_then(|word| word.parse().ok()) else { continue };
        let parts = inherited(process, neighbor);
        let is_internal = |inner: &Node| {
            matches!(
                *inner.words().as_slice(),
                ["remote-as", other] if other == number || other == "internal"
            )
        };
        let has_number = words.windows(2).any(|pair| pair[0] == "remote-as" && pair[1] == number);
        if !has_number && !parts.iter().any(|part| part.inner.iter().any(is_internal)) {
            continue;
        }
        found.lines.insert(address, parts.get(1).unwrap_or(&neighbor).line.0);
        if parts.iter().any(|part| has_client(part)) {
            found.clients.insert(address);
        }
    }
}

/// Returns a block and the templates that it uses, directly or by other templates: groups of IOS XR, and
/// templates of NX-OS.
fn inherited<'n, 't>(process: &'n Node<'t>, block: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    let mut found = vec![block];
    let mut next = 0;
    while let Some(own) = found.get(next).copied() {
        next += 1;
        for (kind, name) in uses(own) {
            let is_used = |node: &&Node| match *node.words().as_slice() {
                ["template", own, other] | [own, other, ..] => own == kind && other == name,
                _ => false,
            };
            let template = process.inner.iter().find(is_used);
            let is_new = |node: &&Node| found.iter().all(|own| own.line != node.line);
            let new = template.filter(is_new);
            found.extend(new);
        }
    }
    found
}

/// Returns the templates that the lines of a block use, at any depth: their kinds and names.
fn uses<'t>(node: &Node<'t>) -> Vec<(&'t str, &'t str)> {
    let own = node.inner.iter().filter_map(|inner| match *inner.words().as_slice() {
        ["use" | "inherit", kind, name, ..] => Some((kind, name)),
        _ => None,
    });
    own.chain(node.inner.iter().flat_map(uses)).collect()
}

fn has_client(node: &Node) -> bool {
    node.words() == ["route-reflector-client"] || node.inner.iter().any(has_client)
}

/// The lines about each neighbor, group or template: their numbers and words.
type Commands<'t> = BTreeMap<&'t str, Vec<(usize, Vec<&'t str>)>>;

/// Reads neighbors whose lines begin with `neighbor ADDRESS`.
fn read_lines(process: &Node, number: &str, found: &mut Internal) {
    let mut commands = Commands::new();
    let families = process.inner.iter().filter(|inner| !inner.words().contains(&"vrf"));
    for line in families.clone().flat_map(|inner| std::iter::once(inner).chain(&inner.inner)) {
        if let ["neighbor", name, ref rest @ ..] = *line.words().as_slice() {
            commands.entry(name).or_default().push((line.line.0, rest.to_vec()));
        }
    }
    let mut templates = Commands::new();
    for node in families {
        if let ["template", _, name] = *node.words().as_slice() {
            templates.insert(name, node.inner.iter().map(|inner| (inner.line.0, inner.words())).collect());
        }
    }
    for (name, own) in &commands {
        let Ok(address) = name.parse::<IpAddr>() else { continue };
        let parts = inherited_lines(&commands, &templates, own);
        let lines = || parts.iter().copied().flatten();
        if !lines().any(|(_, words)| words.starts_with(&["remote-as", number])) {
            continue;
        }
        let group = own.iter().find_map(|(_, words)| match *words.as_slice() {
            ["peer-group", group] | ["peer", "group", group] => commands.get(group),
            _ => None,
        });
        found.lines.insert(address, group.unwrap_or(own)[0].0);
        if lines().any(|(_, words)| words.as_slice() == ["route-reflector-client"]) {
            found.clients.insert(address);
        }
    }
}

/// Returns the lines of a neighbor, and the lines of its group and of the templates that it inherits.
fn inherited_lines<'c, 't>(
    commands: &'c Commands<'t>,
    templates: &'c Commands<'t>,
    own: &'c [(usize, Vec<&'t str>)],
) -> Vec<&'c [(usize, Vec<&'t str>)]> {
    let mut found = vec![own];
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while let Some(lines) = found.get(next).copied() {
        next += 1;
        for (_, words) in lines {
            let part = match *words.as_slice() {
                ["peer-group", group] | ["peer", "group", group] if seen.insert(group) => commands.get(group),
                ["inherit", _, name, ..] if seen.insert(name) => templates.get(name),
                _ => None,
            };
            found.extend(part.map(Vec::as_slice));
        }
    }
    found
}

/// Reads the internal neighbors of Junos. A neighbor is a client if it, its group or the process has a
/// cluster.
fn read_groups(bgp: &Node, found: &mut Internal) {
    let has =
        |node: &Node, text: &[&str]| node.inner.iter().any(|inner| braces::words(inner).starts_with(text));
    for group in &bgp.inner {
        let is_internal = [bgp, group].iter().any(|node| has(node, &["type", "internal"]));
        if braces::words(group).first() != Some(&"group") || !is_internal {
            continue;
        }
        for inner in &group.inner {
            if let ["neighbor", address, ..] = *braces::words(inner).as_slice()
                && let Ok(address) = address.parse::<IpAddr>()
            {
                found.lines.insert(address, group.line.0);
                if [bgp, group, inner].iter().any(|node| has(node, &["cluster"])) {
                    found.clients.insert(address);
                }
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

    #[test]
    fn clients_of_templates_are_read() {
        let ios = "router bgp 65000\n template peer-policy BASE\n  route-reflector-client\n template \
                   peer-policy RR\n  inherit peer-policy BASE 10\n template peer-session IN\n  remote-as \
                   65000\n neighbor 10.0.0.1 inherit peer-session IN\n address-family vpnv4\n  neighbor \
                   10.0.0.1 inherit peer-policy RR";
        assert_eq!(counts(ios), (1, 1, Some(8)));
        let xr = "router bgp 65000\n af-group RR address-family vpnv4 unicast\n  route-reflector-client\n \
                  session-group IN\n  remote-as 65000\n neighbor 10.0.0.1\n  use session-group IN\n  \
                  address-family vpnv4 unicast\n   use af-group RR";
        assert_eq!(counts(xr), (1, 1, Some(4)));
        let nexus = "router bgp 65000\n  template peer-policy RR\n    route-reflector-client\n  template \
                     peer PE\n    remote-as 65000\n    address-family vpnv4 unicast\n      inherit \
                     peer-policy RR 10\n  neighbor 10.0.0.1\n    inherit peer PE";
        assert_eq!(counts(nexus), (1, 1, Some(4)));
    }

    #[test]
    fn a_cluster_of_the_process_or_of_a_neighbor_makes_clients() {
        let text = "protocols {\n    bgp {\n        cluster 10.0.0.9;\n        group PE {\n            type \
                    internal;\n            neighbor 10.0.0.1;\n            neighbor 10.0.0.2;\n        \
                    }\n    }\n}";
        assert_eq!(counts(text), (2, 2, Some(4)));
        let own = text.replace("        cluster 10.0.0.9;\n", "");
        let own = own.replace("10.0.0.2;", "10.0.0.2 {\n                cluster 10.0.0.9;\n            }");
        assert_eq!(counts(&own), (2, 1, Some(3)));
    }
}
