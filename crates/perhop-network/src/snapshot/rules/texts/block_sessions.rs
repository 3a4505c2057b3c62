//! BGP sessions with devices whose neighbors are blocks (IOS XR): numbers of autonomous systems, and
//! neighbors of which only one end knows.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// The BGP process of a device.
struct Process<'t> {
    line: usize,
    number: &'t str,
    has_blocks: bool,
    /// Whether neighbors may see another number.
    hides_number: bool,
    neighbors: Vec<Neighbor<'t>>,
    /// The blocks of neighbors without a number, also in their groups.
    incomplete: Vec<(usize, &'t str)>,
}

/// A neighbor of a process.
struct Neighbor<'t> {
    line: usize,
    address: IpAddr,
    /// The number of its autonomous system with the line; `None` if a template may have it.
    number: Option<(&'t str, usize)>,
}

/// Reports neighbors with another number than the process of their device, and neighbors that do not expect a
/// session, if at least one of both devices has blocks. Another rule compares all other sessions.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Option<Process>> = trees.iter().map(|nodes| process(nodes)).collect();
    let mut owners: BTreeMap<IpAddr, Option<usize>> = BTreeMap::new();
    for device in 0..trees.len() {
        for own in snapshot.router(device).ports.iter().flat_map(addresses) {
            let owner = owners.entry(own.address).or_insert(Some(device));
            // Several devices can have one address, in different VRFs.
            if *owner != Some(device) {
                *owner = None;
            }
        }
    }
    for (device, own) in processes.iter().enumerate() {
        let Some(own) = own else { continue };
        for (line, address) in &own.incomplete {
            let message = format!(
                "neighbor {address} of {} and its groups have no `remote-as`",
                snapshot.devices[device].name
            );
            let effect = "the session does not come up, so its routes are missing".to_owned();
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, *line, (message, effect)));
        }
        for neighbor in &own.neighbors {
            let Some(Some(other)) = owners.get(&neighbor.address) else { continue };
            let Some(far) = processes[*other].as_ref().filter(|far| own.has_blocks || far.has_blocks) else {
                continue;
            };
            let effect = "the session does not come up, so its routes are missing".to_owned();
            if let Some((number, line)) = neighbor.number
                && number != far.number
                && !far.hides_number
            {
                let message = format!(
                    "{} expects AS {number} at {}, but {} is in AS {} ({})",
                    snapshot.devices[device].name,
                    neighbor.address,
                    snapshot.devices[*other].name,
                    far.number,
                    snapshot.place(*other, far.line)
                );
                let rule = &rules::NETWORK_SESSION_DIFFERS;
                found.push(snapshot.finding(device, rule, line, (message, effect.clone())));
            }
            let is_own = |address: &IpAddr| owners.get(address) == Some(&Some(device));
            if far.has_blocks && !far.neighbors.iter().any(|back| is_own(&back.address)) {
                let message = format!(
                    "{} has no neighbor at an address of {}, which has the neighbor {} ({})",
                    snapshot.devices[*other].name,
                    snapshot.devices[device].name,
                    neighbor.address,
                    snapshot.place(device, neighbor.line)
                );
                let rule = &rules::NETWORK_SESSION_DIFFERS;
                found.push(snapshot.finding(*other, rule, far.line, (message, effect)));
            }
        }
    }
}

/// Reads the BGP process of a device.
fn process<'t>(nodes: &[Node<'t>]) -> Option<Process<'t>> {
    if let Some(node) = nodes.iter().find(|node| node.begins_with("router bgp ")) {
        return of_lines(node);
    }
    let options = block(nodes, &["routing-options"])?;
    let number = inside(options, "autonomous-system").first().and_then(|line| words(line).get(1).copied())?;
    let bgp = nodes.iter().flat_map(|node| inside(node, "bgp")).collect::<Vec<_>>();
    let neighbors = bgp.iter().flat_map(|bgp| inside(bgp, "neighbor")).filter_map(|node| {
        let own = inside(node, "peer-as").first().and_then(|line| Some((*words(line).get(1)?, line.line.0)));
        Some(Neighbor { line: node.line.0, address: words(node).get(1)?.parse().ok()?, number: own })
    });
    let hides_number = bgp.iter().any(|bgp| !inside(bgp, "local-as").is_empty());
    let line = bgp.first()?.line.0;
    Some(Process {
        line,
        number,
        has_blocks: false,
        hides_number,
        neighbors: neighbors.collect(),
        incomplete: Vec::new(),
    })
}

fn of_lines<'t>(node: &Node<'t>) -> Option<Process<'t>> {
    let ["router", "bgp", number] = *node.words().as_slice() else { return None };
    let mut found = Process {
        line: node.line.0,
        number,
        has_blocks: false,
        hides_number: false,
        neighbors: Vec::new(),
        incomplete: Vec::new(),
    };
    read(node, &mut found);
    found.incomplete = if found.has_blocks { without_number(node, node) } else { Vec::new() };
    Some(found)
}

/// Returns the neighbors of IOS XR and NX-OS whose block has no number, and whose groups or templates have
/// none either.
fn without_number<'t>(process: &Node<'t>, node: &Node<'t>) -> Vec<(usize, &'t str)> {
    let has_number = |part: &Node| part.inner.iter().any(|line| line.begins_with("remote-as "));
    let group_has = |name: &str| {
        let mut groups = process.inner.iter().filter(|group| {
            matches!(
                *group.words().as_slice(),
                ["neighbor-group" | "session-group", own] | ["template", _, own] if own == name
            )
        });
        // A group can use another group, and a template can inherit from another template.
        let has_other = |group: &Node| {
            group.inner.iter().any(|line| ["use ", "inherit "].iter().any(|start| line.begins_with(start)))
        };
        groups.any(|group| has_number(group) || has_other(group))
    };
    let mut found = Vec::new();
    for inner in &node.inner {
        if let ["neighbor", address] = *inner.words().as_slice() {
            let mut groups = inner.inner.iter().filter_map(|line| match *line.words().as_slice() {
                ["use" | "inherit", _, name, ..] => Some(name),
                _ => None,
            });
            if !has_number(inner) && !groups.any(group_has) {
                found.push((inner.line.0, address));
            }
        } else if inner.begins_with("vrf ") {
            found.extend(without_number(process, inner));
        }
    }
    found
}

/// Adds the neighbors of a block and of the blocks inside it.
fn read<'t>(node: &Node<'t>, found: &mut Process<'t>) {
    for inner in &node.inner {
        let line = inner.line.0;
        match *inner.words().as_slice() {
            ["neighbor", address, "remote-as", number, ..] => {
                found.neighbors.extend(address.parse().ok().map(|address| Neighbor {
                    line,
                    address,
                    number: Some((number, line)),
                }));
            }
            ["neighbor", address] => {
                let own = inner.inner.iter().find_map(|part| match *part.words().as_slice() {
                    ["remote-as", number] => Some((number, part.line.0)),
                    _ => None,
                });
                let address = address.parse().ok();
                found.has_blocks |= address.is_some() && !inner.inner.is_empty();
                found.neighbors.extend(address.map(|address| Neighbor { line, address, number: own }));
            }
            [_, _, "local-as", ..] | ["local-as" | "confederation" | "bgp", ..] => {
                found.hides_number |=
                    inner.line.1.contains("local-as") || inner.line.1.contains("confederation");
            }
            _ => {}
        }
        if inner.begins_with("neighbor ") {
            found.hides_number |= inner.inner.iter().any(|part| part.begins_with("local-as"));
        } else {
            read(inner, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{process, without_number};

    #[test]
    fn a_neighbor_or_its_group_has_a_number() {
        let text = "router bgp 1\n neighbor-group A\n  remote-as 1\n neighbor 10.0.0.2\n  use neighbor-group A\n vrf \
                    RED\n  neighbor 10.0.0.6\n   description customer\n";
        let lines = |text: &str| {
            let nodes = read(text);
            without_number(&nodes[0], &nodes[0]).into_iter().map(|(line, _)| line).collect::<Vec<_>>()
        };
        assert_eq!(lines(text), [7]);
        assert_eq!(lines(&text.replace("  remote-as 1\n", "  timers 10 30\n")), [4, 7]);
        let text = "router bgp 1\n template peer A\n  remote-as 1\n neighbor 10.0.0.2\n  inherit peer A\n";
        assert_eq!(lines(text).len(), 0);
    }

    #[test]
    fn neighbors_can_be_lines_or_blocks() {
        let numbers = |text: &str| {
            let nodes = read(text);
            let found = process(&nodes).unwrap();
            let numbers: Vec<String> = found
                .neighbors
                .iter()
                .map(|own| own.number.map_or("?", |(number, _)| number).to_owned())
                .collect();
            (found.has_blocks, numbers)
        };
        let text = "router bgp 1\n neighbor 10.0.0.2\n  remote-as 2\n vrf RED\n  rd 1:1\n  neighbor 10.0.0.6\n   use \
                    neighbor-group A\n";
        assert_eq!(numbers(text), (true, vec!["2".to_owned(), "?".to_owned()]));
        let text = "router bgp 1\n neighbor 10.0.0.2 remote-as 2\n";
        assert_eq!(numbers(text), (false, vec!["2".to_owned()]));
        let text = "routing-options {\n    autonomous-system 1;\n}\nprotocols {\n    bgp {\n        group A {\n            neighbor \
                    10.0.0.2 {\n                peer-as 2;\n            }\n        }\n    }\n}";
        assert_eq!(numbers(text), (false, vec!["2".to_owned()]));
    }
}
