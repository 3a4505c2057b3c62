//! Passwords in IS-IS hellos that the block of the process sets (IOS XR).

use std::collections::BTreeMap;

use super::super::secrets::Secret;
use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The line of a port; and the line, method and secret of the password of the port.
struct PortOf<'t> {
    line: usize,
    password: Option<(usize, &'t str, Option<Secret>)>,
}

/// Reports links whose ends have different passwords, and links of which only one end has a password.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let processes: Vec<BTreeMap<&str, PortOf>> = trees.iter().map(|nodes| ports(nodes)).collect();
    for [own, other] in snapshot.wires() {
        let part = |id: PortId| processes[id.device].get(snapshot.port(id).name.as_str());
        let (Some(near), Some(far)) = (part(own), part(other)) else { continue };
        let words = match (&near.password, &far.password) {
            (Some((_, method, secret)), Some((_, theirs, other))) => {
                let is_other = matches!((secret, other), (Some(one), Some(two)) if one.differs(two));
                if method == theirs && !is_other {
                    continue;
                }
                "their passwords differ"
            }
            (None, None) => continue,
            _ => "only one of the two ports has a password",
        };
        let line = |part: &PortOf| part.password.as_ref().map_or(part.line, |(line, ..)| *line);
        let message = format!(
            "{} and {} ({}) do not accept each other's hellos of IS-IS: {words}",
            snapshot.port_name(own),
            snapshot.port_name(other),
            snapshot.place(other.device, line(far))
        );
        let effect =
            "the two routers do not become neighbors: packets take another path, or have no path".to_owned();
        let rule = &rules::NETWORK_KEY_DIFFERS;
        found.push(snapshot.finding(own.device, rule, line(near), (message, effect)));
    }
}

/// Returns the ports that the blocks of a process list, except passive ports.
fn ports<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, PortOf<'t>> {
    let processes = nodes.iter().filter(|node| node.line.1.starts_with("router isis"));
    let mut found = BTreeMap::new();
    for port in processes.flat_map(|node| &node.inner) {
        let ["interface", name] = *port.words().as_slice() else { continue };
        if port.inner.iter().any(|inner| ["passive", "shutdown"].contains(&inner.line.1.trim())) {
            continue;
        }
        let password = port.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["hello-password", "keychain", ..] => Some((inner.line.0, "keychain", None)),
            ["hello-password", method @ ("hmac-md5" | "text"), ref secret @ ..] => {
                Some((inner.line.0, method, read(secret)))
            }
            _ => None,
        });
        found.insert(name, PortOf { line: port.line.0, password });
    }
    found
}

/// Reads a password of IOS XR. The word `encrypted` means type 7 (Cisco, "IS-IS Commands on Cisco IOS XR":
/// the password follows in encrypted form).
fn read(words: &[&str]) -> Option<Secret> {
    match words {
        ["encrypted", hidden] => Secret::read(&["7", hidden]),
        ["clear", plain] => Secret::read(&["0", plain]),
        other => Secret::read(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces;
    use super::ports;

    #[test]
    fn only_the_text_of_a_password_counts() {
        let text = "router isis A\n interface Te0/0\n  hello-password hmac-md5 encrypted 02050D480809\n interface \
                    Te0/1\n  hello-password hmac-md5 encrypted 070C285F4D06\n interface Lo0\n  passive";
        let nodes = braces::read(text);
        let found = ports(&nodes);
        let secret =
            |name: &str| found[name].password.as_ref().and_then(|(.., secret)| secret.clone()).unwrap();
        assert_eq!(found.len(), 2);
        assert!(!secret("Te0/0").differs(&secret("Te0/1")), "two texts of one password");
    }
}
