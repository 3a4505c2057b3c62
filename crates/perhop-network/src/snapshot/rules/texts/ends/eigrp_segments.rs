//! EIGRP on links with several ends: the only end that expects no neighbors.

use std::collections::BTreeMap;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::eigrp::{Interface, Process, network, processes};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of ends that expect neighbors.
const LEAST_OTHERS: usize = 2;
/// The maximum prefix length of a subnet of hosts.
const OF_HOSTS: u8 = 28;

/// Reports the only end of a link that does not run EIGRP, or is passive, if all other ends expect neighbors.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Vec<Process>> = trees
        .iter()
        .map(|nodes| processes(nodes).into_iter().chain(nodes.iter().filter_map(classic)).collect())
        .collect();
    for link in snapshot.links.iter().filter(|link| link.ends.len() > 1) {
        let ends: Vec<PortId> = link.ends.iter().map(|end| end.id).collect();
        check_numbers(snapshot, &ends, &all, found);
    }
    for link in snapshot.links.iter().filter(|link| link.ends.len() > LEAST_OTHERS) {
        let ends: Vec<PortId> = link.ends.iter().map(|end| end.id).collect();
        let mut numbers: Vec<&String> =
            ends.iter().flat_map(|id| &all[id.device]).map(|process| &process.number).collect();
        numbers.sort();
        numbers.dedup();
        for number in numbers {
            let own = |id: &PortId| {
                all[id.device]
                    .iter()
                    .find(|process| process.number == *number && process.is_of(snapshot, *id))
            };
            let all_ends: Vec<(PortId, &Process)> =
                ends.iter().filter_map(|id| Some((*id, own(id)?))).collect();
            check_sites(snapshot, &all_ends, found);
            let silent: Vec<(PortId, &Process)> = ends
                .iter()
                .filter_map(|id| Some((*id, own(id)?)))
                .filter(|(id, process)| obstacle(snapshot, *id, process).is_some())
                .collect();
            let speaking = ends
                .iter()
                .filter(|id| own(id).is_some_and(|process| obstacle(snapshot, **id, process).is_none()))
                .count();
            if let [(id, process)] = silent.as_slice()
                && speaking >= LEAST_OTHERS
                && speaking + 1 == ends.len()
            {
                report(snapshot, *id, process, speaking, found);
            }
        }
    }
}

/// Reports ends of a link whose processes have another number than the processes of the other ends, if these
/// agree on one number. On a link with two ends, both are reported.
fn check_numbers(
    snapshot: &Snapshot,
    ends: &[PortId],
    all: &[Vec<Process>],
    found: &mut Vec<NetworkFinding>,
) {
    let numbers: Vec<(PortId, &Process)> = ends
        .iter()
        .filter_map(|id| {
            let mut own = all[id.device]
                .iter()
                .filter(|process| process.is_of(snapshot, *id) && obstacle(snapshot, *id, process).is_none());
            // If a device has several processes, any of them may have neighbors on the link.
            let process = own.next()?;
            own.next().is_none().then_some((*id, process))
        })
        .collect();
    let of = |number: &str| numbers.iter().filter(|(_, process)| process.number == number).count();
    let is_pair = ends.len() == 2;
    if numbers.len() != ends.len() {
        return;
    }
    for (id, process) in &numbers {
        let other = numbers.iter().find(|(_, far)| far.number != process.number);
        let Some((far, other)) = other else { continue };
        if !is_pair && (of(&process.number) > 1 || of(&other.number) + 1 != numbers.len()) {
            continue;
        }
        let message = format!(
            "{} is in EIGRP {}, but {} in EIGRP {}",
            snapshot.port_name(*id),
            process.number,
            snapshot.port_name(*far),
            other.number
        );
        let effect = "the two do not become neighbors: packets take another path, or have none".to_owned();
        let rule = &rules::NETWORK_NEIGHBORS_MISSING;
        found.push(snapshot.finding(id.device, rule, process.line, (message, effect)));
    }
}

/// Reports the only end of a link whose process announces no subnet of hosts, if the processes of all other
/// ends, at least two, announce one.
fn check_sites(snapshot: &Snapshot, ends: &[(PortId, &Process)], found: &mut Vec<NetworkFinding>) {
    let (mut announcing, mut silent) = (0, Vec::new());
    for (id, process) in ends {
        let ports = snapshot.router(id.device).ports.iter().enumerate();
        let sites: Vec<PortId> = ports
            .filter(|(_, port)| {
                port.forwarding.tunnel.is_none() && !port.name.starts_with("Lo") && !port.shutdown
            })
            .map(|(port, _)| PortId { device: id.device, port })
            .filter(|site| snapshot.link_of(*site).is_none() && has_hosts(snapshot, *site))
            .filter(|site| process.is_of(snapshot, *site))
            .collect();
        if sites.iter().any(|site| process.has(snapshot, *site)) || process.redistributes {
            announcing += 1;
        } else if !sites.is_empty() {
            silent.push((*id, *process));
        }
    }
    let [(id, process)] = silent.as_slice() else { return };
    if announcing < LEAST_OTHERS || announcing + 1 != ends.len() {
        return;
    }
    let message = format!(
        "EIGRP {} of {} announces no subnet of its hosts, but the {announcing} other devices of the link do",
        process.number, snapshot.devices[id.device].name
    );
    let effect = "the other sites have no route to its hosts".to_owned();
    found.push(snapshot.finding(id.device, &rules::NETWORK_ROUTE_MISSING, process.line, (message, effect)));
}

/// Whether a port has a subnet of hosts.
fn has_hosts(snapshot: &Snapshot, id: PortId) -> bool {
    addresses(snapshot.port(id)).any(|own| own.address.is_ipv4() && own.prefix_length <= OF_HOSTS)
}

fn report(
    snapshot: &Snapshot,
    id: PortId,
    process: &Process,
    others: usize,
    found: &mut Vec<NetworkFinding>,
) {
    let Some((line, problem)) = obstacle(snapshot, id, process) else { return };
    let message = format!(
        "{} {problem} in EIGRP {}, but the {others} other ends of its link expect neighbors",
        snapshot.port_name(id),
        process.number
    );
    let effect = "packets take another path, or have none".to_owned();
    found.push(snapshot.finding(id.device, &rules::NETWORK_NEIGHBORS_MISSING, line, (message, effect)));
}

/// Returns the reason why a port expects no neighbors, with its line.
fn obstacle(snapshot: &Snapshot, id: PortId, process: &Process) -> Option<(usize, &'static str)> {
    if !process.has(snapshot, id) {
        return Some((process.line, "does not take part"));
    }
    process.passive(&snapshot.port(id).name).map(|line| (line, "is passive"))
}

/// Reads a process in the classic form.
fn classic(node: &Node) -> Option<Process> {
    let ["router", "eigrp", number] = *node.words().as_slice() else { return None };
    number.parse::<u32>().ok()?;
    let mut found = Process {
        line: node.line.0,
        number: number.to_owned(),
        vrf: None,
        networks: Vec::new(),
        redistributes: node.inner.iter().any(|inner| inner.begins_with("redistribute ")),
        usual: Interface::default(),
        interfaces: BTreeMap::new(),
    };
    for inner in &node.inner {
        let words = inner.words();
        let (is_on, words) = match words.as_slice() {
            ["no", rest @ ..] => (false, rest),
            all => (true, all),
        };
        match words {
            ["network", address, rest @ ..] if is_on => found.networks.extend(network(address, rest.first())),
            ["passive-interface", "default"] => found.usual.passive = Some((is_on, inner.line.0)),
            ["passive-interface", name] => {
                let mut port = Interface::at(inner.line.0);
                port.passive = Some((is_on, inner.line.0));
                found.interfaces.insert((*name).to_owned(), port);
            }
            _ => {}
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::classic;

    #[test]
    fn a_classic_process_has_passive_ports() {
        let text =
            "router eigrp 7\n network 10.0.0.0\n passive-interface default\n no passive-interface Tunnel1\n";
        let process = classic(&read(text)[0]).unwrap();
        assert_eq!((process.passive("Tunnel1"), process.passive("Gi0/0")), (None, Some(3)));
        assert_eq!(process.networks, [(0x0A00_0000, 0xFF00_0000)]);
        assert!(classic(&read("router eigrp NET\n")[0]).is_none());
    }
}
