//! BGP sessions with devices whose neighbors are blocks (IOS XR): wrong AS numbers, and neighbors that only
//! one end configures.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// The BGP process of a device.
struct Process<'t> {
    line: usize,
    number: &'t str,
    has_blocks: bool,
    /// Whether neighbors may see another AS number.
    hides_number: bool,
    neighbors: Vec<Neighbor<'t>>,
    /// The subnets whose addresses may open sessions.
    ranges: Vec<Prefix>,
    /// Whether the process has neighbors without an address, such as the other end of a port.
    has_unknown: bool,
    /// The neighbors without an AS number in their block and in their groups, each with the line of the
    /// block.
    incomplete: Vec<(usize, &'t str)>,
}

/// A neighbor of a process.
struct Neighbor<'t> {
    line: usize,
    address: IpAddr,
    /// The AS number of the neighbor and the line with it; `None` if a template may contain the number.
    number: Option<(&'t str, usize)>,
    is_shut: bool,
}

/// Reports neighbors whose configured AS number is not the number of their process, and neighbors that do not
/// expect a session, if at least one of the two devices has blocks of neighbors. Another rule compares all
/// other sessions.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut processes: Vec<Option<Process>> = trees.iter().map(|nodes| process(nodes)).collect();
    for (process, nodes) in processes.iter_mut().zip(trees) {
        if let Some(process) = process.as_mut().filter(|_| can_inherit(nodes, "neighbor")) {
            process.incomplete.clear();
        }
    }
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
        for neighbor in own.neighbors.iter().filter(|neighbor| !neighbor.is_shut) {
            let Some(Some(other)) = owners.get(&neighbor.address) else { continue };
            let Some(far) = processes[*other].as_ref().filter(|far| own.has_blocks || far.has_blocks) else {
                continue;
            };
            let effect = "the session does not come up, so its routes are missing".to_owned();
            if let Some((number, line)) = neighbor.number
                && differ(number, far.number)
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
            if far.has_blocks && !expects(snapshot, far, device) {
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

/// Whether a process may have a session with an address of a device.
fn expects(snapshot: &Snapshot, process: &Process, device: usize) -> bool {
    let mut own = snapshot.router(device).ports.iter().flat_map(addresses).map(|own| own.address);
    let is_expected = |address: IpAddr| {
        process.neighbors.iter().any(|neighbor| neighbor.address == address)
            || process.ranges.iter().any(|range| range.contains(address.into()))
    };
    process.has_unknown || own.any(is_expected)
}

/// Whether two AS numbers differ. RFC 5396 defines three notations.
fn differ(first: &str, second: &str) -> bool {
    let number = |text: &str| match text.split_once('.') {
        Some((high, low)) => Some((high.parse::<u64>().ok()? << 16) + low.parse::<u64>().ok()?),
        None => text.parse().ok(),
    };
    matches!((number(first), number(second)), (Some(first), Some(second)) if first != second)
}

/// Reads the BGP process of a device; `None` if the device has several.
fn process<'t>(nodes: &[Node<'t>]) -> Option<Process<'t>> {
    let mut processes = nodes.iter().filter(|node| node.begins_with("router bgp "));
    if let Some(node) = processes.next() {
        return if processes.next().is_none() { of_lines(node) } else { None };
    }
    let options = block(nodes, &["routing-options"])?;
    let number = inside(options, "autonomous-system").first().and_then(|line| words(line).get(1).copied())?;
    let bgp = nodes.iter().flat_map(|node| inside(node, "bgp")).collect::<Vec<_>>();
    let neighbors = bgp.iter().flat_map(|bgp| inside(bgp, "neighbor")).filter_map(|node| {
        let own = inside(node, "peer-as").first().and_then(|line| Some((*words(line).get(1)?, line.line.0)));
        let address = words(node).get(1)?.parse().ok()?;
        Some(Neighbor {
            line: node.line.0,
            address,
            number: own,
            is_shut: !inside(node, "shutdown").is_empty(),
        })
    });
    // Each instance can have another number.
    let instances = block(nodes, &["routing-instances"]);
    let hides_number = bgp.iter().any(|bgp| !inside(bgp, "local-as").is_empty())
        || !inside(options, "confederation").is_empty()
        || instances.is_some_and(|node| !inside(node, "autonomous-system").is_empty());
    let line = bgp.first()?.line.0;
    Some(Process {
        line,
        number,
        has_blocks: false,
        hides_number,
        neighbors: neighbors.collect(),
        ranges: Vec::new(),
        has_unknown: false,
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
        ranges: Vec::new(),
        has_unknown: false,
        incomplete: Vec::new(),
    };
    read(node, &mut found);
    found.incomplete = if found.has_blocks { without_number(node, node) } else { Vec::new() };
    Some(found)
}

/// Returns the neighbors of IOS XR and NX-OS without an AS number in the block, its groups and its templates.
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
            ["neighbor", address, "remote-as", number, ..] if inner.inner.is_empty() => {
                let shut = ["neighbor", address, "shutdown"];
                let is_shut = node.inner.iter().any(|line| line.words().starts_with(&shut));
                let number = Some((number, line));
                let address = address.parse().ok();
                found.neighbors.extend(address.map(|address| Neighbor { line, address, number, is_shut }));
            }
            ["bgp", "listen", "range", range, ..] => found.ranges.extend(range.parse::<Prefix>().ok()),
            ["neighbor", range, ..] if range.contains('/') => {
                found.has_blocks = true;
                found.ranges.extend(range.parse::<Prefix>().ok());
            }
            ["neighbor", address] | ["neighbor", address, "remote-as", _] => {
                let own = inner.inner.iter().find_map(|part| match *part.words().as_slice() {
                    ["remote-as", number] => Some((number, part.line.0)),
                    _ => None,
                });
                let own = own.or_else(|| inner.words().get(3).map(|number| (*number, line)));
                let is_shut = inner.is_shut();
                let address = address.parse().ok();
                found.has_unknown |= address.is_none();
                found.has_blocks |= address.is_some() && !inner.inner.is_empty();
                found.neighbors.extend(address.map(|address| Neighbor {
                    line,
                    address,
                    number: own,
                    is_shut,
                }));
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
    use super::{differ, process, without_number};

    #[test]
    fn a_neighbor_or_its_group_has_a_number() {
        let text = "router bgp 1\n neighbor-group A\n  remote-as 1\n neighbor 10.0.0.2\n  use \
            neighbor-group A\n vrf \
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
        let text = "router bgp 1\n neighbor 10.0.0.2\n  remote-as 2\n vrf RED\n  rd 1:1\n  neighbor \
            10.0.0.6\n   use \
                    neighbor-group A\n";
        assert_eq!(numbers(text), (true, vec!["2".to_owned(), "?".to_owned()]));
        let text = "router bgp 1\n neighbor 10.0.0.2 remote-as 2\n";
        assert_eq!(numbers(text), (false, vec!["2".to_owned()]));
        let text = "routing-options {\n    autonomous-system 1;\n}\n\
            protocols {\n    bgp {\n        group A {\n            neighbor \
                    10.0.0.2 {\n                peer-as 2;\n            }\n        }\n    }\n}";
        assert_eq!(numbers(text), (false, vec!["2".to_owned()]));
        let text = "router bgp 1\n neighbor 10.0.0.2 remote-as 2\n  address-family ipv4 unicast\n";
        assert_eq!(numbers(text), (true, vec!["2".to_owned()]), "NX-OS");
    }

    #[test]
    fn subnets_may_open_sessions() {
        for line in ["bgp listen range 10.0.0.0/24 peer-group A", "neighbor 10.0.0.0/24\n  remote-as 2"] {
            let text = format!("router bgp 1\n {line}\n");
            let nodes = read(&text);
            assert_eq!(process(&nodes).unwrap().ranges.len(), 1, "{line}");
        }
    }

    #[test]
    fn numbers_have_three_forms() {
        assert!(!differ("1.10", "65546") && !differ("0.65000", "65000") && !differ("external", "1"));
        assert!(differ("65000", "65001"));
    }

    #[test]
    fn instances_and_confederations_hide_the_number() {
        let hides = |text: &str| process(&read(text)).unwrap().hides_number;
        let text = "routing-options {\n    autonomous-system 1;\n}\n\
            protocols {\n    bgp {\n        group A;\n    }\n}\n";
        assert!(!hides(text));
        assert!(hides(
            &text.replace("    autonomous", "    confederation 9 members [ 1 2 ];\n    autonomous")
        ));
        let instance = "routing-instances {\n    RED {\n        routing-options {\n            \
            autonomous-system 7;\n        \
                        }\n    }\n}\n";
        assert!(hides(&format!("{text}{instance}")));
    }
}
