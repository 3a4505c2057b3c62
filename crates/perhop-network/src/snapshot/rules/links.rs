//! Ends of links with different settings, and routers that do not become neighbors.

use perhop_device::{Port, PortRouting, Router, RoutingProtocol};
use perhop_qos::framing::Header;

use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;
use crate::snapshot::shortest_paths::area_number;

/// The minimum number of links with a protocol at both ends. With fewer, the protocol is not used in the
/// whole network.
const LEAST_LINKS: usize = 2;

/// Reports links whose ends differ in a setting that must match.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        check_tags(snapshot, own, other, found);
        check_neighbors(snapshot, own, other, found);
    }
}

/// Returns the VLAN tags that a port adds to frames, the outermost last.
pub(super) fn tags(port: &Port) -> Vec<u16> {
    let headers = port.wire.headers.headers().iter();
    headers
        .filter_map(|header| match header {
            Header::Vlan(tag) => Some(tag.id),
            _ => None,
        })
        .collect()
}

fn check_tags(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let (here, there) = (tags(snapshot.port(own)), tags(snapshot.port(other)));
    let Some(line) = snapshot.port(own).forwarding.tag_line.filter(|_| here != there) else { return };
    // A switch between the ends can add or change tags, so the rule compares only ends that both tag frames.
    if here.is_empty() || there.is_empty() || adds_tag(snapshot, &here, &there) {
        return;
    }
    let message = format!(
        "{} tags frames with VLAN {}, but {} at the other end of the subnet with {}",
        snapshot.port_name(own),
        numbers(&here),
        snapshot.port_name(other),
        numbers(&there)
    );
    let effect = "the ends do not reach each other, unless a switch between them changes the tag".to_owned();
    let finding = snapshot.finding(own.device, &rules::NETWORK_TAG_DIFFERS, line, (message, effect));
    found.push(finding.about(Topic::Tag, Precision::Exact));
}

/// Whether the tags differ only by an outer tag that another device of the network adds.
fn adds_tag(snapshot: &Snapshot, here: &[u16], there: &[u16]) -> bool {
    let (short, long) = if here.len() < there.len() { (here, there) } else { (there, here) };
    let [outer] = long.strip_prefix(short).unwrap_or_default() else { return false };
    let pushes = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(3).any(|three| {
            let [command, kind, tag] = three else { return false };
            *command == "push" && kind.starts_with("dot1") && tag.parse() == Ok(*outer)
        })
    };
    let mut lines = snapshot.devices.iter().flat_map(|member| member.device.numbered_lines());
    lines.any(|(_, text)| pushes(text))
}

fn numbers(tags: &[u16]) -> String {
    tags.iter().map(u16::to_string).collect::<Vec<_>>().join(" in ")
}

/// Reports an end of a link whose settings prevent two routers with the same protocol from becoming
/// neighbors.
fn check_neighbors(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let protocols = [
        (RoutingProtocol::Ospf, "OSPF"),
        (RoutingProtocol::Isis, "IS-IS"),
        (RoutingProtocol::Eigrp, "EIGRP"),
    ];
    for (protocol, name) in protocols {
        let part = |id: PortId| {
            let processes = &snapshot.router(id.device).forwarding.processes;
            let parts = snapshot.port(id).forwarding.routing.iter();
            parts.filter(|part| processes[part.process].protocol == protocol).min_by_key(|part| part.process)
        };
        let Some((line, because)) = obstacle(part(own), part(other)) else { continue };
        let Some(theirs) = part(other) else { continue };
        let line = line.unwrap_or_else(|| line_without_part(snapshot.router(own.device), own.port, protocol));
        // A device without any process probably lacks the process of a protocol that runs on several links.
        let processes = &snapshot.router(own.device).forwarding.processes;
        let runs = processes.iter().any(|process| process.protocol == protocol)
            || processes.is_empty() && links_with(snapshot, protocol) >= LEAST_LINKS;
        let is_unread = part(own).is_none() && has_unread_line(snapshot, own, protocol);
        if !runs || theirs.passive.is_some() || is_unread {
            continue;
        }
        let message = format!(
            "{} and {} do not become neighbors in {name}: {because}",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        let effect = "packets take another path, or have no path".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_NEIGHBORS_MISSING, line, (message, effect)));
    }
}

/// Whether a line that the front end does not use enables a protocol at a port: a command of EOS in the block
/// of the port, EIGRP of NX-OS, or the name of the port in the block of a process (IOS XR), for example in a
/// process of IS-IS that lacks the address family of the port.
fn has_unread_line(snapshot: &Snapshot, id: PortId, protocol: RoutingProtocol) -> bool {
    let device = &snapshot.devices[id.device].device;
    let (router, port) = (snapshot.router(id.device), snapshot.port(id));
    let is_own = |place: usize| router.forwarding.processes[place].protocol == protocol;
    // If the front end reads the commands of IS-IS (IOS), the model has a port that runs IS-IS.
    let is_read =
        || router.ports.iter().flat_map(|port| &port.forwarding.routing).any(|part| is_own(part.process));
    let commands: &[&str] = match protocol {
        RoutingProtocol::Ospf => &["ip router ospf", "ip ospf area"],
        RoutingProtocol::Eigrp => &["ip router eigrp"],
        RoutingProtocol::Isis if !is_read() => &["ip router isis", "isis enable"],
        RoutingProtocol::Isis | RoutingProtocol::Other => &[],
    };
    let listed = format!("interface {}", port.name);
    let mut processes = router.forwarding.processes.iter().filter(|process| process.protocol == protocol);
    commands.iter().any(|command| device.line_in_block(port.line, command).is_some())
        || processes.any(|process| device.line_in_block(process.line, &listed).is_some())
}

/// Returns the number of links with a protocol at both ends.
fn links_with(snapshot: &Snapshot, protocol: RoutingProtocol) -> usize {
    let speaks = |id: PortId| {
        let processes = &snapshot.router(id.device).forwarding.processes;
        let mut parts = snapshot.port(id).forwarding.routing.iter();
        parts.any(|part| part.passive.is_none() && processes[part.process].protocol == protocol)
    };
    snapshot.wires().filter(|[own, other]| own < other && speaks(*own) && speaks(*other)).count()
}

/// Returns the line for a finding about a port that does not run a protocol: the line of the process if the
/// block of the process lists the subnets of ports, otherwise the line of the port.
pub(super) fn line_without_part(router: &Router, port: usize, protocol: RoutingProtocol) -> usize {
    let own = &router.ports[port];
    let processes = &router.forwarding.processes;
    let begins = || {
        let lines = router.ports.iter().map(|port| port.line);
        lines.chain(processes.iter().map(|process| process.line))
    };
    // A line belongs to the block that starts at the nearest earlier line that starts a block.
    let is_in_process = |part: &PortRouting| {
        let block = begins().filter(|line| *line <= part.line).max();
        block == Some(processes[part.process].line)
    };
    let parts = router.ports.iter().flat_map(|port| &port.forwarding.routing);
    let mut parts =
        parts.filter(|part| processes[part.process].protocol == protocol && part.passive.is_none());
    let named = parts.find(|part| is_in_process(part));
    named.map_or(own.line, |part| processes[part.process].line)
}

/// Returns the setting of the end `own` that prevents the adjacency, with its line, if the end `other`
/// expects a neighbor.
fn obstacle(own: Option<&PortRouting>, other: Option<&PortRouting>) -> Option<(Option<usize>, String)> {
    let theirs = other?;
    // An area can be written as a number or like an address: 0 and 0.0.0.0 are the same area (RFC 2328 §C.2).
    let number = |part: &PortRouting| part.area.as_deref().map(area_number);
    match own {
        None => Some((None, "the first port does not run the protocol on the link".to_owned())),
        Some(own) if own.passive.is_some() => Some((own.passive, "the first port is passive".to_owned())),
        Some(own) if number(own) != number(theirs) => {
            let area = |part: &PortRouting| part.area.clone().unwrap_or_default();
            Some((Some(own.line), format!("areas {} and {}", area(own), area(theirs))))
        }
        Some(_) => None,
    }
}
