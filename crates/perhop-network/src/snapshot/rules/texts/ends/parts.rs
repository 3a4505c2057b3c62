//! [`Part`]: the settings of a port in a protocol between neighbors, including its credential.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use perhop_device::RoutingProtocol;

use super::super::super::secrets::Secret;
use super::super::super::tree::Node;
use super::super::super::{PortId, Snapshot};
use super::super::braces::{block, words};
use super::text::Text;

/// The method of a credential with a key chain.
pub(super) const KEY_CHAIN: &str = "a key chain";

/// A key of a credential.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) line: usize,
    pub(super) secret: Option<Secret>,
    pub(super) algorithm: Option<String>,
}

/// The credential with which a port authenticates the packets of a protocol.
#[derive(Debug)]
pub(super) struct Credential {
    pub(super) line: usize,
    /// The name of the method in messages.
    pub(super) method: &'static str,
    /// The keys by number.
    pub(super) keys: BTreeMap<String, Key>,
}

/// The settings of a port in a protocol: the line for findings, and the credential.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) line: usize,
    pub(super) credential: Option<Credential>,
}

/// The settings of a port, by the name of the protocol in messages.
pub(super) type Parts = BTreeMap<String, Part>;

/// Returns the settings of a port in each protocol.
pub(super) fn parts(snapshot: &Snapshot, texts: &[Text], id: PortId) -> Parts {
    let text = &texts[id.device];
    match text.interface(snapshot, id) {
        Some(node) => interface_parts(snapshot, text, id, node),
        None => statement_parts(text, &snapshot.port(id).name),
    }
}

fn interface_parts(snapshot: &Snapshot, text: &Text, id: PortId, node: &Node) -> Parts {
    let lines: Vec<(usize, Vec<&str>)> =
        node.inner.iter().map(|inner| (inner.line.0, inner.words())).collect();
    let mut found = Parts::new();
    let processes = &snapshot.router(id.device).forwarding.processes;
    let routing = &snapshot.port(id).forwarding.routing;
    let mut active = routing.iter().filter(|part| part.passive.is_none());
    let of_ospf = active.find(|part| processes[part.process].protocol == RoutingProtocol::Ospf);
    if let Some(part) = of_ospf {
        let credential = ospf(text, &lines, (processes[part.process].line, part.area.as_deref()));
        found.insert("OSPF".to_owned(), Part { line: node.line.0, credential });
    }
    for (_, words) in &lines {
        if let [kind @ ("standby" | "vrrp"), group, "ip", ..] = words.as_slice() {
            let name = format!("{kind} group {group}");
            let credential = group_credential(text, &lines, kind, group);
            found.insert(name, Part { line: node.line.0, credential });
        }
    }
    found
}

/// Returns the OSPF credential of an interface or of its area. `area` is the line where the block of the
/// process begins, and the number of the area.
fn ospf(text: &Text, lines: &[(usize, Vec<&str>)], area: (usize, Option<&str>)) -> Option<Credential> {
    let mut method: Option<(&'static str, usize)> = None;
    let mut keys = BTreeMap::new();
    for (line, words) in lines {
        match words.as_slice() {
            ["ip", "ospf", "authentication", "null"] => return None,
            ["ip", "ospf", "authentication", "key-chain", name] => {
                method = Some((KEY_CHAIN, *line));
                keys = chain(text, name);
            }
            ["ip", "ospf", "authentication", "message-digest"] => method = Some(("MD5", *line)),
            ["ip", "ospf", "authentication"] => method = Some(("a password", *line)),
            ["ip", "ospf", "message-digest-key", number, "md5", secret @ ..] => {
                let key = Key { line: *line, secret: Secret::read(secret), algorithm: None };
                keys.insert((*number).to_owned(), key);
            }
            ["ip", "ospf", "authentication-key", secret @ ..] => {
                let key = Key { line: *line, secret: Secret::read(secret), algorithm: None };
                keys.insert("0".to_owned(), key);
            }
            _ => {}
        }
    }
    let (method, line) = method.or_else(|| method_in_area(text, area))?;
    Some(Credential { line, method, keys })
}

/// Returns the authentication method that an OSPF process sets for an area.
fn method_in_area(text: &Text, (process, area): (usize, Option<&str>)) -> Option<(&'static str, usize)> {
    let node = text.nodes.iter().find(|node| node.line.0 == process)?;
    let own = area_number(area?)?;
    node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["area", area, "authentication", ref rest @ ..] if area_number(area) == Some(own) => {
            let method = if rest.first() == Some(&"message-digest") { "MD5" } else { "a password" };
            Some((method, inner.line.0))
        }
        _ => None,
    })
}

/// Returns the number of an area, which can be written like an IPv4 address (RFC 2328 §C.2).
fn area_number(word: &str) -> Option<u32> {
    word.parse().ok().or_else(|| word.parse::<Ipv4Addr>().ok().map(Ipv4Addr::to_bits))
}

/// Returns the credential of a group of routers with a common virtual address.
fn group_credential(
    text: &Text,
    lines: &[(usize, Vec<&str>)],
    kind: &str,
    group: &str,
) -> Option<Credential> {
    lines.iter().find_map(|(line, words)| {
        let [own, number, "authentication", rest @ ..] = words.as_slice() else { return None };
        if *own != kind || *number != group {
            return None;
        }
        let (method, keys) = match rest {
            ["md5", "key-chain", name, ..] => ("MD5", chain(text, name)),
            ["md5", "key-string", secret @ ..] | ["text", secret @ ..] | secret => {
                let method = if rest.first() == Some(&"md5") { "MD5" } else { "a password" };
                let key = Key { line: *line, secret: Secret::read(secret), algorithm: None };
                (method, BTreeMap::from([("0".to_owned(), key)]))
            }
        };
        Some(Credential { line: *line, method, keys })
    })
}

/// Returns the keys of a key chain.
pub(super) fn chain(text: &Text, name: &str) -> BTreeMap<String, Key> {
    let mut found = BTreeMap::new();
    for node in text.nodes.iter().filter(|node| node.words() == ["key", "chain", name]) {
        for key in &node.inner {
            let ["key", number] = *key.words().as_slice() else { continue };
            let mut own = Key { line: key.line.0, secret: None, algorithm: None };
            for inner in &key.inner {
                match inner.words().as_slice() {
                    ["key-string", secret @ ..] => {
                        own.line = inner.line.0;
                        own.secret = Secret::read(secret);
                    }
                    ["cryptographic-algorithm", algorithm] => own.algorithm = Some((*algorithm).to_owned()),
                    _ => {}
                }
            }
            found.insert(number.to_owned(), own);
        }
    }
    found
}

/// Returns the OSPF settings of a port that `protocols ospf` lists.
fn statement_parts(text: &Text, name: &str) -> Parts {
    let mut found = Parts::new();
    let areas = block(text.nodes, &["protocols", "ospf"]).map_or(&[][..], |node| &node.inner);
    for area in areas {
        for interface in area.inner.iter().filter(|inner| words(inner) == ["interface", name]) {
            let is_passive = |inner: &Node| words(inner).first() == Some(&"passive");
            if interface.inner.iter().any(is_passive) {
                continue;
            }
            let credential = interface.inner.iter().find(|inner| words(inner) == ["authentication"]);
            let part = Part { line: interface.line.0, credential: credential.map(statement) };
            found.insert("OSPF".to_owned(), part);
        }
    }
    found
}

/// Returns the credential of an `authentication` statement.
fn statement(node: &Node) -> Credential {
    let mut found = Credential { line: node.line.0, method: "MD5", keys: BTreeMap::new() };
    for inner in &node.inner {
        let line = inner.line.0;
        match words(inner).as_slice() {
            ["md5", number, "key", secret @ ..] => {
                let key = Key { line, secret: Secret::read(secret), algorithm: None };
                found.keys.insert((*number).to_owned(), key);
            }
            ["simple-password", secret @ ..] => {
                found.method = "a password";
                let key = Key { line, secret: Secret::read(secret), algorithm: None };
                found.keys.insert("0".to_owned(), key);
            }
            _ => {}
        }
    }
    found
}
