//! Missing settings of ports with PPP: the encapsulation, credentials, and settings that similar dialers
//! have.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// Settings of dialers for PPPoE, each with the beginnings of its lines.
const SETTINGS: [(&str, &[&str]); 2] =
    [("ip mtu", &["ip mtu ", "mtu "]), ("ip tcp adjust-mss", &["ip tcp adjust-mss "])];

/// A dialer whose pool has a client of PPPoE.
struct Dialer<'n, 't> {
    device: usize,
    node: &'n Node<'t>,
}

/// Reports dialers for PPPoE that lack PPP or a setting of all other dialers. Also reports ports that lack a
/// secret, although the other end requires one or the port has a CHAP host name.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all: Vec<Dialer> = trees
        .iter()
        .enumerate()
        .flat_map(|(device, nodes)| dialers(nodes).into_iter().map(move |node| Dialer { device, node }))
        .collect();
    for own in &all {
        let nodes = &trees[own.device];
        let mut report = |message: String| {
            let name = &snapshot.devices[own.device].name;
            let message = format!("{} of {name} {message}", own.node.words()[1..].join(" "));
            add(snapshot, (own.device, own.node.line.0), message, found);
        };
        if !has(own.node, &["encapsulation ppp"]) {
            report("is a dialer for PPPoE, but lacks `encapsulation ppp`".to_owned());
        }
        if has(own.node, &["ppp chap hostname "]) && !has_secret(nodes, own.node) {
            report("has `ppp chap hostname`, but no password".to_owned());
        }
        let others = || all.iter().filter(|other| !std::ptr::eq(other.node, own.node));
        for (setting, starts) in SETTINGS {
            // A port towards hosts can limit the segment size of all TCP sessions, so the setting can be at
            // another port.
            let is_elsewhere = || nodes.iter().any(|node| has(node, starts));
            let is_missing = if setting == "ip mtu" { !has(own.node, starts) } else { !is_elsewhere() };
            if is_missing && others().count() > 0 && others().all(|other| has(other.node, starts)) {
                report(format!("lacks `{setting}`, which all other dialers for PPPoE have"));
            }
        }
    }
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| lacks_encapsulation(node)) {
            let name = &snapshot.devices[device].name;
            let port = node.words()[1..].join(" ");
            let message = format!("{port} of {name} has lines about PPP, but lacks `encapsulation ppp`");
            add(snapshot, (device, node.line.0), message, found);
        }
    }
    check_far_ends(snapshot, trees, found);
}

/// Whether a serial port has lines about PPP, but the default encapsulation, HDLC.
fn lacks_encapsulation(node: &Node) -> bool {
    node.begins_with("interface Serial") && has(node, &["ppp "]) && !has(node, &["encapsulation "])
}

/// Reports ports without a secret, if the other end of their link requires a secret.
fn check_far_ends(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let node = |id: PortId| {
            let line = snapshot.port(id).line;
            trees[id.device].iter().find(|node| node.line.0 == line)
        };
        let (Some(near), Some(far)) = (node(own), node(other)) else { continue };
        if requires_secret(near) && has(far, &["encapsulation ppp"]) && !has_secret(&trees[other.device], far)
        {
            let message = format!(
                "{} requires authentication with PPP, but {} has no password",
                snapshot.port_name(own),
                snapshot.port_name(other)
            );
            add(snapshot, (other.device, far.line.0), message, found);
        }
    }
}

fn add(
    snapshot: &Snapshot,
    (device, line): (usize, usize),
    message: String,
    found: &mut Vec<NetworkFinding>,
) {
    let effect = "the session of PPP stays down, or drops large packets".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_PORT_INCOMPLETE, line, (message, effect)));
}

/// Whether a block has a line with one of these beginnings.
fn has(node: &Node, starts: &[&str]) -> bool {
    node.inner.iter().any(|inner| starts.iter().any(|start| inner.begins_with(start)))
}

/// Whether a port authenticates its neighbor, including on calls that the port itself makes.
fn requires_secret(node: &Node) -> bool {
    node.inner.iter().any(|inner| {
        inner.begins_with("ppp authentication ") && {
            let words = inner.words();
            !words.contains(&"callin") && words.iter().any(|word| *word == "chap" || *word == "pap")
        }
    })
}

/// Whether a port has a password for PPP, or its device has user passwords that PPP can use.
fn has_secret(nodes: &[Node], node: &Node) -> bool {
    has(node, &["ppp chap password ", "ppp pap sent-username "])
        || nodes.iter().any(|node| node.begins_with("username ") && node.words().contains(&"password"))
}

/// Returns the dialers of a device whose pool has a client of PPPoE.
fn dialers<'n, 't>(nodes: &'n [Node<'t>]) -> Vec<&'n Node<'t>> {
    let mut pools = BTreeSet::new();
    for node in nodes {
        add_pools(&mut pools, node);
    }
    let is_client = |node: &&Node| {
        node.inner.iter().any(|inner| {
            inner.begins_with("dialer pool ")
                && inner.words().get(2).is_some_and(|number| pools.contains(number))
        })
    };
    nodes.iter().filter(|node| node.begins_with("interface ")).filter(is_client).collect()
}

/// Adds the pools of a block at any depth, because a PVC inside an interface can be a client.
fn add_pools<'t>(pools: &mut BTreeSet<&'t str>, node: &Node<'t>) {
    if node.begins_with("pppoe-client dial-pool-number ") {
        pools.extend(node.words().get(2));
    }
    for inner in &node.inner {
        add_pools(pools, inner);
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{dialers, has_secret, requires_secret};

    #[test]
    fn a_dialer_belongs_to_a_client() {
        let text = "interface ATM0.1\n pvc 8/35\n  pppoe-client dial-pool-number 2\ninterface Dialer1\n dialer pool \
                    1\ninterface Dialer2\n dialer pool 2";
        let nodes = read(text);
        let lines: Vec<usize> = dialers(&nodes).iter().map(|node| node.line.0).collect();
        assert_eq!(lines, [6]);
    }

    #[test]
    fn secrets_belong_to_the_port_or_to_users() {
        let text = "interface A\n ppp authentication chap callin\n ppp chap password 0 x\ninterface B\n ppp \
                    authentication pap chap\nusername admin secret 9 y";
        let nodes = read(text);
        assert!(!requires_secret(&nodes[0]) && requires_secret(&nodes[1]));
        assert!(has_secret(&nodes, &nodes[0]) && !has_secret(&nodes, &nodes[1]));
    }
}
