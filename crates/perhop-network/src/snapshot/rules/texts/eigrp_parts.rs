//! Missing lines in EIGRP processes of the named form: mandatory lines of a block, and lines that similar
//! ports of other devices have.

use std::collections::{BTreeMap, BTreeSet};

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other ports on a link with several ends that have a command.
const LEAST_OTHERS: usize = 2;
/// The commands that let a hub pass on the routes of its spokes.
const OF_HUBS: [&str; 2] = ["no split-horizon", "no next-hop-self"];
/// The commands of ports that sites do not choose.
const COMPARED: [&str; 8] = [
    "authentication key-chain",
    "authentication mode",
    "bandwidth-percent",
    "hello-interval",
    "hold-time",
    "no next-hop-self",
    "no split-horizon",
    "summary-address",
];

/// The timers by which neighbors detect failures.
const TIMERS: [&str; 2] = ["hello-interval", "hold-time"];

/// The block of a port in an address family.
struct PortOf<'n, 't> {
    node: &'n Node<'t>,
    /// The block for all ports, `af-interface default`.
    usual: Option<&'n Node<'t>>,
    is_stub: bool,
}

impl<'n, 't> PortOf<'n, 't> {
    /// Generates the lines about the port, its own lines first.
    fn lines(&self) -> impl Iterator<Item = &'n Node<'t>> {
        self.node.inner.iter().chain(self.usual.into_iter().flat_map(|usual| &usual.inner))
    }
}

/// Reports incomplete blocks, and ports that lack a line of the other ports on their link.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut by_port: BTreeMap<(usize, &str), PortOf> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            for (line, what) in incomplete(node) {
                let message = format!("{}: {what}", snapshot.devices[device].name);
                let effect = "the routers do not become neighbors: packets take another path, or have none";
                let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
                found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
            }
            if node.begins_with("router eigrp ") {
                for (name, port) in ports(node) {
                    by_port.insert((device, name), port);
                }
            }
        }
    }
    for link in snapshot.links.iter().filter(|link| link.ends.len() > 2) {
        let own = |id: PortId| by_port.get(&(id.device, snapshot.port(id).name.as_str()));
        let ends: Vec<(PortId, &PortOf)> =
            link.ends.iter().filter_map(|end| Some((end.id, own(end.id)?))).collect();
        for is_stub in [false, true] {
            let alike: Vec<_> = ends.iter().copied().filter(|(_, own)| own.is_stub == is_stub).collect();
            check_group(snapshot, &alike, &COMPARED, LEAST_OTHERS, found);
        }
        for timer in TIMERS {
            check_timer(snapshot, &ends, timer, found);
        }
    }
    let mut hubs: BTreeMap<usize, (PortId, &PortOf)> = BTreeMap::new();
    for link in snapshot.links.iter().filter(|link| link.is_tunnel && link.ends.len() > 2) {
        for end in &link.ends {
            let own = by_port.get(&(end.id.device, snapshot.port(end.id).name.as_str()));
            let is_hub =
                snapshot.port(end.id).forwarding.tunnel.as_ref().is_some_and(|tunnel| tunnel.maps.is_empty());
            if let Some(own) = own.filter(|own| is_hub && !own.is_stub) {
                hubs.insert(end.id.device, (end.id, own));
            }
        }
    }
    let hubs: Vec<_> = hubs.into_values().collect();
    check_group(snapshot, &hubs, &OF_HUBS, 1, found);
}

/// Reports the only port of a group without a command that all others have.
fn check_group(
    snapshot: &Snapshot,
    ports: &[(PortId, &PortOf)],
    commands: &[&str],
    least_others: usize,
    found: &mut Vec<NetworkFinding>,
) {
    for command in commands {
        let has = |own: &PortOf| own.lines().any(|inner| inner.begins_with(command));
        let mut lacking = ports.iter().filter(|(_, own)| !has(own));
        let (Some((id, own)), None) = (lacking.next(), lacking.next()) else { continue };
        if ports.len() <= least_others {
            continue;
        }
        let message = format!(
            "{} has no `{command}` in `{}`, which the {} similar ports of other devices have",
            snapshot.port_name(*id),
            own.node.line.1.trim(),
            ports.len() - 1
        );
        let effect = "EIGRP loses the neighbors or the routes of this port, or receives them later than the \
            other ports do";
        let rule = &rules::NETWORK_PORT_INCOMPLETE;
        found.push(snapshot.finding(id.device, rule, own.node.line.0, (message, effect.to_owned())));
    }
}

/// Reports the only port of a link with another timer than all others.
fn check_timer(
    snapshot: &Snapshot,
    ports: &[(PortId, &PortOf)],
    timer: &str,
    found: &mut Vec<NetworkFinding>,
) {
    let value = |own: &PortOf| {
        own.lines().find_map(|inner| {
            let value = inner.line.1.trim().strip_prefix(timer)?.trim();
            Some((value.to_owned(), inner.line.0))
        })
    };
    let values: Option<Vec<(PortId, String, usize)>> =
        ports.iter().map(|(id, own)| value(own).map(|(value, line)| (*id, value, line))).collect();
    let values = values.unwrap_or_default();
    let peers: Peers<&str> = values.iter().map(|(_, value, _)| value.as_str()).collect();
    let Some(usual) = peers.usual() else { return };
    for (id, value, line) in values.iter().filter(|(_, value, _)| peers.is_exception(&value.as_str())) {
        let message = format!(
            "{} has `{timer} {value}`, but the other ports of its link have `{timer} {usual}`",
            snapshot.port_name(*id)
        );
        let effect =
            "EIGRP finds the failure of a neighbor at another time than the other routers".to_owned();
        found.push(snapshot.finding(id.device, &rules::NETWORK_SETTING_DIFFERS, *line, (message, effect)));
    }
}

/// Returns the blocks of ports in a process, by the names of the ports.
fn ports<'n, 't>(process: &'n Node<'t>) -> Vec<(&'t str, PortOf<'n, 't>)> {
    let mut found = Vec::new();
    for family in process.inner.iter().filter(|inner| inner.begins_with("address-family ")) {
        let is_stub = family.inner.iter().any(|inner| inner.begins_with("eigrp stub"));
        let usual = usual(family);
        for node in &family.inner {
            if let ["af-interface", name] = *node.words().as_slice()
                && name != "default"
            {
                found.push((name, PortOf { node, usual, is_stub }));
            }
        }
    }
    found
}

/// Returns the block for all ports of an address family.
fn usual<'n, 't>(family: &'n Node<'t>) -> Option<&'n Node<'t>> {
    family.inner.iter().find(|inner| inner.words() == ["af-interface", "default"])
}

/// Returns the blocks that lack a mandatory line: the line of the block, and the problem.
fn incomplete(node: &Node) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if node.begins_with("router eigrp ") {
        let words = node.words();
        let is_named = words.get(2).is_some_and(|name| name.parse::<u32>().is_err());
        let families: Vec<_> =
            node.inner.iter().filter(|inner| inner.begins_with("address-family ")).collect();
        if is_named && families.is_empty() {
            found.push((node.line.0, format!("`{}` has no `address-family`", words.join(" "))));
        }
        for family in families {
            let ports: Vec<&Node> =
                family.inner.iter().filter(|inner| inner.begins_with("af-interface ")).collect();
            let usual = usual(family);
            for part in &ports {
                // Each port can complete the block for all ports. Passive ports do not need the other half.
                let is_usual = part.words() == ["af-interface", "default"];
                let is_own = part.inner.iter().any(|inner| inner.begins_with("authentication "));
                if is_usual && ports.len() > 1 || !is_own {
                    continue;
                }
                let lines = || part.inner.iter().chain(usual.into_iter().flat_map(|usual| &usual.inner));
                let [mode, chain] = ["authentication mode md5", "authentication key-chain"]
                    .map(|command| lines().any(|inner| inner.begins_with(command)));
                found.extend(without_half(part, [mode, chain]));
            }
        }
    } else if node.begins_with("interface ") {
        let systems = |words: [&str; 4]| -> BTreeSet<String> {
            let lines = node.inner.iter().map(Node::words);
            lines
                .filter(|own| own.starts_with(&words))
                .filter_map(|own| Some((*own.get(4)?).to_owned()))
                .collect()
        };
        let modes = systems(["ip", "authentication", "mode", "eigrp"]);
        let chains = systems(["ip", "authentication", "key-chain", "eigrp"]);
        for system in modes.union(&chains) {
            found.extend(without_half(node, [modes.contains(system), chains.contains(system)]));
        }
    }
    found
}

/// Returns a block with only the mode or only the keys of the authentication (Cisco, "IP Routing: EIGRP
/// Configuration Guide": EIGRP needs both).
fn without_half(node: &Node, [mode, chain]: [bool; 2]) -> Option<(usize, String)> {
    let missing = match (mode, chain) {
        (true, false) => "authentication key-chain",
        (false, true) => "authentication mode",
        _ => return None,
    };
    Some((node.line.0, format!("`{}` authenticates EIGRP, but has no `{missing}`", node.line.1.trim())))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{incomplete, ports};

    const NAMED: &str = "router eigrp NET\n address-family ipv4 unicast autonomous-system 1\n  af-interface Tunnel1\n   \
                         authentication mode md5\n   authentication key-chain K\n  eigrp stub connected\n";

    #[test]
    fn a_named_process_needs_a_family() {
        let lines =
            |text: &str| incomplete(&read(text)[0]).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert!(lines(NAMED).is_empty());
        assert_eq!(lines("router eigrp NET\n shutdown\n"), [1]);
        assert!(lines("router eigrp 100\n network 10.0.0.0\n").is_empty());
    }

    #[test]
    fn authentication_needs_a_mode_and_keys() {
        let lines =
            |text: &str| incomplete(&read(text)[0]).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(lines(&NAMED.replace("   authentication mode md5\n", "")), [3]);
        assert_eq!(lines(&NAMED.replace("   authentication key-chain K\n", "")), [3]);
        assert_eq!(lines("interface Gi0/0\n ip authentication mode eigrp 1 md5\n"), [1]);
        let other =
            "interface Gi0/0\n ip authentication mode eigrp 1 md5\n ip authentication key-chain eigrp 1 K\n";
        assert!(lines(other).is_empty());
    }

    #[test]
    fn a_port_has_the_lines_for_all_ports() {
        let text = NAMED.replace("   authentication mode md5\n", "").replace(
            "  eigrp stub connected\n",
            "  af-interface default\n   authentication mode md5\n   hello-interval 20\n",
        );
        let nodes = read(&text);
        assert!(incomplete(&nodes[0]).is_empty());
        let found = ports(&nodes[0]);
        assert_eq!(
            found.iter().map(|(name, own)| (*name, own.lines().count())).collect::<Vec<_>>(),
            [("Tunnel1", 3)]
        );
    }

    #[test]
    fn a_stub_marks_all_ports_of_its_family() {
        let nodes = read(NAMED);
        let found = ports(&nodes[0]);
        assert_eq!(
            found.iter().map(|(name, own)| (*name, own.is_stub)).collect::<Vec<_>>(),
            [("Tunnel1", true)]
        );
    }
}
