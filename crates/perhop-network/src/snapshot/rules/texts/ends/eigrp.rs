//! EIGRP at both ends of a link, read from the text. The device model does not contain the named form and
//! tunnels.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::parts::chain;
use super::text::Text;
use crate::forwarding::addresses;
use crate::rules;

/// The EIGRP settings of an interface, or the default for all interfaces.
#[derive(Clone, Default)]
pub(super) struct Interface {
    line: usize,
    pub(super) passive: Option<(bool, usize)>,
    chain: Option<(String, usize)>,
}

impl Interface {
    /// Returns an interface without settings, whose block starts at a line.
    pub(super) fn at(line: usize) -> Interface {
        Interface { line, ..Interface::default() }
    }
}

/// A process. Only processes with the same number become neighbors.
pub(super) struct Process {
    pub(super) line: usize,
    pub(super) number: String,
    pub(super) vrf: Option<String>,
    /// The networks, each as an address and the bits that must match.
    pub(super) networks: Vec<(u32, u32)>,
    /// Whether the process announces routes of other origins.
    pub(super) redistributes: bool,
    pub(super) usual: Interface,
    pub(super) interfaces: BTreeMap<String, Interface>,
}

/// Reports links of which only one end is ready for a neighbor, and links whose ends have different keys.
pub(super) fn check(snapshot: &Snapshot, texts: &[Text], found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Vec<Process>> = texts.iter().map(|text| processes(text.nodes)).collect();
    for link in snapshot.links.iter().filter(|link| link.ends.len() == 2) {
        let [first, second] = [link.ends[0].id, link.ends[1].id];
        for [own, other] in [[first, second], [second, first]] {
            for process in processes[own.device].iter().filter(|process| process.is_of(snapshot, own)) {
                let is_same = |far: &&Process| {
                    far.number == process.number && far.is_of(snapshot, other) && far.has(snapshot, other)
                };
                let Some(far) = processes[other.device].iter().find(is_same) else { continue };
                check_end(snapshot, texts, [(own, process), (other, far)], found);
            }
        }
    }
}

/// Reports the first end if it is passive, does not run EIGRP on the link, or has another key than the second
/// end.
fn check_end(
    snapshot: &Snapshot,
    texts: &[Text],
    [(own, process), (other, far)]: [(PortId, &Process); 2],
    found: &mut Vec<NetworkFinding>,
) {
    let [name, far_name] = [own, other].map(|id| snapshot.port(id).name.clone());
    if far.passive(&far_name).is_some() {
        return;
    }
    let mut report = |rule, line, problem: &str| {
        let message = format!(
            "{} and {} do not become neighbors in EIGRP {}: {problem}",
            snapshot.port_name(own),
            snapshot.port_name(other),
            process.number
        );
        let effect = "packets take another path, or have no path".to_owned();
        found.push(snapshot.finding(own.device, rule, line, (message, effect)));
    };
    if let Some(line) = process.passive(&name).filter(|_| process.has(snapshot, own)) {
        report(&rules::NETWORK_NEIGHBORS_MISSING, line, "the first port is passive");
        return;
    }
    if !process.has(snapshot, own) {
        report(
            &rules::NETWORK_NEIGHBORS_MISSING,
            process.line,
            "the first port does not run the protocol on the link",
        );
        return;
    }
    let keys = |process: &Process, device: usize, name: &str| {
        let (chain_name, line) = process.chain(name)?;
        Some((chain(&texts[device], &chain_name), line))
    };
    match (keys(process, own.device, &name), keys(far, other.device, &far_name)) {
        (Some((_, line)), None) => report(&rules::NETWORK_KEY_DIFFERS, line, "only the first port has a key"),
        (None, Some(_)) => {
            let line = process.interfaces.get(&name).map_or(process.line, |interface| interface.line);
            report(&rules::NETWORK_KEY_DIFFERS, line, "only the second port has a key");
        }
        (Some((own_keys, line)), Some((far_keys, _))) if !own_keys.is_empty() && !far_keys.is_empty() => {
            let fits = own_keys.iter().any(|(number, key)| {
                far_keys.get(number).is_some_and(|other| match (&key.secret, &other.secret) {
                    (Some(one), Some(two)) => !one.differs(two),
                    _ => true,
                })
            });
            if !fits {
                let line = own_keys.values().next().map_or(line, |key| key.line);
                report(&rules::NETWORK_KEY_DIFFERS, line, "the keys of their key chains differ");
            }
        }
        _ => {}
    }
}

impl Process {
    /// Whether a port is in the routing table of the process.
    pub(super) fn is_of(&self, snapshot: &Snapshot, id: PortId) -> bool {
        self.vrf == snapshot.port(id).forwarding.vrf.as_ref().map(|vrf| vrf.value.clone())
    }

    /// Whether a network of the process contains the address of a port.
    pub(super) fn has(&self, snapshot: &Snapshot, id: PortId) -> bool {
        let is_inside = |address: Ipv4Addr| {
            self.networks.iter().any(|(network, mask)| address.to_bits() & mask == network & mask)
        };
        addresses(snapshot.port(id)).any(|own| match own.address {
            std::net::IpAddr::V4(address) => is_inside(address),
            std::net::IpAddr::V6(_) => false,
        })
    }

    /// Returns the line that disables neighbors on an interface.
    pub(super) fn passive(&self, name: &str) -> Option<usize> {
        let own = self.interfaces.get(name);
        match own.and_then(|own| own.passive).or(self.usual.passive) {
            Some((true, line)) => Some(own.map_or(line, |own| own.line)),
            _ => None,
        }
    }

    fn chain(&self, name: &str) -> Option<(String, usize)> {
        self.interfaces.get(name).and_then(|own| own.chain.clone()).or_else(|| self.usual.chain.clone())
    }
}

/// Returns the processes in the named form.
pub(super) fn processes(nodes: &[Node]) -> Vec<Process> {
    let mut found = Vec::new();
    for family in
        nodes.iter().filter(|node| node.line.1.starts_with("router eigrp ")).flat_map(|node| &node.inner)
    {
        let words = family.words();
        let ["address-family", "ipv4", rest @ ..] = words.as_slice() else { continue };
        let [.., "autonomous-system", number] = rest else { continue };
        let vrf = rest.iter().skip_while(|word| **word != "vrf").nth(1);
        let mut own = Process {
            line: family.line.0,
            number: (*number).to_owned(),
            vrf: vrf.map(ToString::to_string),
            networks: Vec::new(),
            redistributes: family.inner.iter().flat_map(|part| &part.inner).any(is_redistribution),
            usual: Interface::default(),
            interfaces: BTreeMap::new(),
        };
        own.read(&family.inner);
        found.push(own);
    }
    found
}

/// Whether a line in a topology announces routes of other origins.
fn is_redistribution(node: &Node) -> bool {
    node.begins_with("redistribute ")
}

impl Process {
    fn read(&mut self, nodes: &[Node]) {
        for node in nodes {
            match *node.words().as_slice() {
                ["network", address, ref rest @ ..] => self.networks.extend(network(address, rest.first())),
                ["af-interface", "default"] => self.usual = interface(node),
                ["af-interface", name] => _ = self.interfaces.insert(name.to_owned(), interface(node)),
                _ => {}
            }
        }
    }
}

/// Returns an address, with the bits that must match according to its wildcard or its address class.
pub(super) fn network(address: &str, wildcard: Option<&&str>) -> Option<(u32, u32)> {
    let address: Ipv4Addr = address.parse().ok()?;
    let of_class = match address.octets()[0] {
        0..128 => 0xFF00_0000,
        128..192 => 0xFFFF_0000,
        _ => 0xFFFF_FF00,
    };
    let mask = match wildcard {
        Some(wildcard) => !wildcard.parse::<Ipv4Addr>().ok()?.to_bits(),
        None => of_class,
    };
    Some((address.to_bits(), mask))
}

fn interface(node: &Node) -> Interface {
    let mut found = Interface::at(node.line.0);
    for inner in &node.inner {
        let line = inner.line.0;
        match *inner.words().as_slice() {
            ["passive-interface" | "shutdown"] => found.passive = Some((true, line)),
            ["no", "passive-interface" | "shutdown"] => found.passive = Some((false, line)),
            ["authentication", "key-chain", name] => found.chain = Some((name.to_owned(), line)),
            _ => {}
        }
    }
    found
}
