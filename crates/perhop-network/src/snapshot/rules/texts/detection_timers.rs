//! BFD that does not start: sessions without timers, and timers without a session.

use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{can_inherit, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// The timers of BFD in the block of a port or neighbor of IOS XR.
const TIMERS: [&str; 2] = ["minimum-interval", "multiplier"];

/// Reports BFD timers without a session, and BFD sessions without timers. Timers are not reported if no
/// device of the network uses BFD.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let uses_blocks = trees.iter().flatten().any(starts_detection);
    let uses_lines = trees.iter().flatten().any(uses_detection);
    for (device, nodes) in trees.iter().enumerate() {
        let mut incomplete = Vec::new();
        if uses_lines && !nodes.iter().any(|node| node.begins_with("feature ")) {
            check_lines(snapshot, device, nodes, &mut incomplete);
        }
        for node in nodes {
            if uses_blocks && node.begins_with("router ") && !can_inherit(nodes, "fast-detect") {
                add_unstarted(node, false, &mut incomplete);
            }
            if can_inherit(nodes, "bfd-liveness-detection") {
                continue;
            }
            for session in inside(node, "bfd-liveness-detection") {
                incomplete.extend(without_interval(session));
            }
        }
        for (line, what) in incomplete {
            let message = format!("{}: {what}", snapshot.devices[device].name);
            let effect = "BFD does not start: packets are lost until the hold time of the protocol ends";
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Adds ports of IOS whose timers no protocol uses, and neighbors with BFD at ports without timers (Cisco,
/// "IP Routing: BFD Configuration Guide").
fn check_lines(snapshot: &Snapshot, device: usize, nodes: &[Node], found: &mut Vec<(usize, String)>) {
    let neighbors = neighbors(nodes);
    for port in &snapshot.router(device).ports {
        let Ok(place) = nodes.binary_search_by_key(&port.line, |node| node.line.0) else { continue };
        let node = &nodes[place];
        if !node.begins_with("interface ") || node.is_shut() {
            continue;
        }
        let timers = node
            .inner
            .iter()
            .find(|inner| inner.begins_with("bfd interval ") || inner.begins_with("bfd template "));
        let is_at_port = |(_, address): &&(usize, IpAddr)| {
            addresses(port).any(|own| own.subnet().is_some_and(|subnet| subnet.contains((*address).into())))
        };
        let mut own = neighbors.iter().filter(is_at_port).peekable();
        match timers {
            Some(timers) if own.peek().is_none() && !is_used(nodes, node, &port.name) => {
                found.push((
                    timers.line.0,
                    format!("no protocol uses BFD at {}, which has timers", port.name),
                ));
            }
            None if !has_template(nodes) => {
                let name = &port.name;
                found.extend(own.map(|(line, address)| {
                    (*line, format!("neighbor {address} uses BFD, but its port {name} has no `bfd interval`"))
                }));
            }
            _ => {}
        }
    }
}

/// Returns the lines and addresses of BGP neighbors with BFD.
fn neighbors(nodes: &[Node]) -> Vec<(usize, IpAddr)> {
    let processes = nodes.iter().filter(|node| node.begins_with("router bgp "));
    let lines =
        processes.flat_map(|node| &node.inner).flat_map(|line| std::iter::once(line).chain(&line.inner));
    let detection = lines.filter_map(|line| match *line.words().as_slice() {
        // Sessions over several hops have the timers of a template.
        ["neighbor", address, "fall-over", "bfd", ..] if !line.line.1.contains("multi-hop") => {
            Some((line.line.0, address.parse().ok()?))
        }
        _ => None,
    });
    detection.collect()
}

/// Whether a device has templates for BFD. This rule does not follow the use of templates.
fn has_template(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| node.begins_with("bfd-template ") || node.begins_with("template peer-"))
}

/// Whether a protocol uses BFD at a port.
fn is_used(nodes: &[Node], port: &Node, name: &str) -> bool {
    let at_port = |inner: &Node| {
        let own = inner.words();
        own.contains(&"bfd") && !matches!(own.as_slice(), ["bfd" | "no", ..])
    };
    // Cisco, "HSRP BFD Peering": HSRP uses BFD without a further line.
    let has_group = port.inner.iter().any(|inner| inner.begins_with("standby "));
    has_group || port.inner.iter().any(at_port) || nodes.iter().any(|node| uses(node, name))
}

/// Whether a statement, or a statement in its block, uses BFD at all ports, at the port `name`, or for
/// neighbors without a named address.
fn uses(node: &Node, name: &str) -> bool {
    let words = node.words();
    let own = match words.as_slice() {
        ["bfd", "all-interfaces", ..] | ["neighbor", _, "fall-over", "bfd", ..] if !is_address(&words) => {
            true
        }
        ["bfd", "interface", port] => *port == name,
        ["ip" | "ipv6", "route", "static", "bfd", rest @ ..] => rest.contains(&name),
        // The second form belongs to RIP.
        ["fall-over", "bfd", ..] | ["neighbor", _, "bfd"] => true,
        ["af-interface", port] if *port == name || *port == "default" => {
            node.inner.iter().any(|inner| inner.words() == ["bfd"])
        }
        _ => false,
    };
    own || (!node.begins_with("interface ") && node.inner.iter().any(|inner| uses(inner, name)))
}

/// Whether a process or a port of IOS or NX-OS, or a neighbor of Junos, uses BFD.
fn uses_detection(node: &Node) -> bool {
    let own = node.words();
    let is_use = match own.as_slice() {
        ["neighbor", _, "fall-over", "bfd", ..]
        | ["fall-over", "bfd", ..]
        | ["bfd"]
        | ["bfd-liveness-detection", ..] => true,
        ["bfd", what, ..] => ["all-interfaces", "interface"].contains(what),
        ["ip" | "ipv6" | "isis" | "ospfv3", ..] => own.contains(&"bfd"),
        _ => false,
    };
    is_use || node.inner.iter().any(uses_detection)
}

/// Whether a block of IOS XR starts BFD.
fn starts_detection(node: &Node) -> bool {
    node.begins_with("bfd fast-detect") || node.inner.iter().any(starts_detection)
}

fn is_address(words: &[&str]) -> bool {
    words.first() == Some(&"neighbor") && words[1].parse::<IpAddr>().is_ok()
}

/// Adds blocks of IOS XR with timers of BFD, but without the line that starts BFD. A block inherits this line
/// from the blocks around it.
fn add_unstarted(node: &Node, inherits: bool, found: &mut Vec<(usize, String)>) {
    let starts = |inner: &Node| inner.begins_with("bfd fast-detect") || inner.begins_with("use ");
    let starts = inherits || node.inner.iter().any(starts);
    // The groups of VRRP start BFD in their own blocks.
    let inner_starts = node.inner.iter().any(starts_detection);
    let is_timer =
        |inner: &&Node| matches!(inner.words().as_slice(), ["bfd", timer, ..] if TIMERS.contains(timer));
    let is_end = ["interface", "neighbor"].contains(&node.words().first().copied().unwrap_or_default());
    if let Some(timer) = node.inner.iter().find(is_timer).filter(|_| is_end && !starts && !inner_starts) {
        let what = format!("`{}` has timers of BFD, but no `bfd fast-detect`", node.line.1.trim());
        found.push((timer.line.0, what));
    }
    for inner in &node.inner {
        add_unstarted(inner, starts, found);
    }
}

/// Returns the line of a session of Junos without an interval (Juniper, `bfd-liveness-detection`: either the
/// interval or both of its parts are mandatory).
fn without_interval(session: &Node) -> Option<(usize, String)> {
    let has = |command: &str| !inside(session, command).is_empty();
    let is_whole = words(session).contains(&"minimum-interval")
        || has("minimum-interval")
        || (has("transmit-interval") && has("minimum-receive-interval"));
    (!is_whole).then(|| (session.line.0, "`bfd-liveness-detection` has no `minimum-interval`".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{add_unstarted, is_used, neighbors, without_interval};

    #[test]
    fn timers_are_used_by_processes_and_ports() {
        let used = |text: &str| {
            let nodes = read(text);
            is_used(&nodes, &nodes[0], "Gi0/0")
        };
        let port = "interface Gi0/0\n bfd interval 50 min_rx 50 multiplier 3\n";
        assert!(!used(&format!("{port}router ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n")));
        assert!(used(&format!("{port}router ospf 1\n bfd all-interfaces\n")));
        assert!(used(&format!("{port} ip ospf bfd\n")));
        assert!(used(&format!("{port} standby 1 ip 10.0.0.1\n")), "HSRP uses BFD by default");
        assert!(used(&format!("{port}router eigrp A\n address-family ipv4\n  af-interface Gi0/0\n   bfd\n")));
        assert!(!used(&format!("{port}router eigrp 1\n bfd interface Gi0/1\n")));
        assert!(!used(&format!("{port}router bgp 1\n neighbor 10.0.0.2 fall-over bfd\n")), "another subnet");
        assert!(used(&format!("{port}router bgp 1\n neighbor PEERS fall-over bfd\n")));
    }

    #[test]
    fn sessions_over_several_hops_need_no_port() {
        let text =
            "router bgp 1\n neighbor 10.0.0.2 fall-over bfd\n neighbor 10.0.0.9 fall-over bfd multi-hop\n";
        assert_eq!(neighbors(&read(text)), [(2, "10.0.0.2".parse().unwrap())]);
    }

    #[test]
    fn timers_need_the_line_that_starts_bfd() {
        let lines = |text: &str| {
            let mut found = Vec::new();
            add_unstarted(&read(text)[0], false, &mut found);
            found.into_iter().map(|(line, _)| line).collect::<Vec<_>>()
        };
        let text = "router isis A\n interface Te0/0\n  bfd minimum-interval 150\n  bfd multiplier 3\n";
        assert_eq!(lines(text), [3]);
        assert!(lines(&format!("{text}  bfd fast-detect ipv4\n")).is_empty());
        assert!(lines(&text.replace(" interface", " bfd fast-detect\n interface")).is_empty());
        let group = "  address-family ipv4\n   vrrp 1\n    bfd fast-detect peer ipv4 10.0.0.2\n";
        assert!(lines(&format!("{text}{group}")).is_empty());
    }

    #[test]
    fn a_session_with_braces_needs_an_interval() {
        let line = |text: &str| without_interval(&read(text)[0]).map(|(line, _)| line);
        assert_eq!(line("bfd-liveness-detection {\n    multiplier 3;\n}"), Some(1));
        assert_eq!(line("bfd-liveness-detection {\n    minimum-interval 300;\n}"), None);
        assert_eq!(line("bfd-liveness-detection minimum-interval 300;"), None);
    }
}
