//! Policies that a device does not use, although similar policies are attached at similar blocks, and one
//! such block has no policy.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// A place where a policy can be attached: the block and the direction.
struct Place<'n, 't> {
    node: &'n Node<'t>,
    /// The kind of the block: `interface`, `service instance`, `control-plane`.
    kind: &'t str,
    direction: &'static str,
    policy: Option<&'t str>,
}

/// Reports the only policy that a device does not use, if policies with a similar name are attached at blocks
/// of one kind, and a block of this kind has no policy.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, (nodes, parts)) in trees.iter().zip(devices).enumerate() {
        let mut unused = parts.policies.iter().filter(|(name, _)| !parts.used.contains(*name));
        let (Some((name, line)), None) = (unused.next(), unused.next()) else { continue };
        let places = places(nodes);
        let Some(place) = candidate(name, &places) else { continue };
        let message = format!(
            "{} uses all policies except {name}, and `{}` (line {}) has no {} policy",
            snapshot.devices[device].name,
            place.node.line.1.trim(),
            place.node.line.0,
            place.direction
        );
        let effect = "packets there get neither the marks nor the queues nor the limits of a policy";
        let rule = &rules::NETWORK_POLICY_MISSING;
        found.push(snapshot.finding(device, rule, *line, (message, effect.to_owned())));
    }
}

/// Returns a place without a policy at which a policy fits: the control plane for the only policy with its
/// name, otherwise a block of the kind and direction of the policies with a similar name. The block must have
/// the same commands as a block with such a policy.
fn candidate<'p, 'n, 't>(name: &str, places: &'p [Place<'n, 't>]) -> Option<&'p Place<'n, 't>> {
    let lower = name.to_ascii_lowercase();
    let control = ["copp", "cpp", "control-plane", "control_plane"].iter().any(|word| lower.contains(word));
    let empty = || places.iter().filter(|place| place.policy.is_none());
    if control {
        return empty().find(|place| place.kind == "control-plane" && place.direction == "input");
    }
    let is_similar = |place: &&Place| place.policy.is_some_and(|other| are_similar(name, other));
    empty().find(|place| {
        let twins = places.iter().filter(is_similar);
        let mut twins = twins.filter(|twin| twin.kind == place.kind && twin.direction == place.direction);
        twins.any(|twin| commands(twin.node) == commands(place.node))
    })
}

/// Whether two names of policies differ only in numbers and units, or in one part of several.
fn are_similar(name: &str, other: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        let upper = name.to_ascii_uppercase();
        upper
            .split(['-', '_'])
            .map(|part| part.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned())
            .collect()
    };
    let (own, other) = (parts(name), parts(other));
    own.len() == other.len()
        && own.len() > 1
        && own.iter().zip(&other).filter(|(letter, other)| letter != other).count() <= 1
}

/// Returns the number of lines in a block by their first word, without policies, descriptions and `shutdown`.
fn commands<'t>(node: &Node<'t>) -> BTreeMap<&'t str, usize> {
    let mut found = BTreeMap::new();
    for inner in &node.inner {
        match *inner.words().as_slice() {
            ["service-policy" | "description" | "shutdown", ..] | [] => {}
            [first, ..] => *found.entry(first).or_default() += 1,
        }
    }
    found
}

/// Returns the places of a device: ports that are up, their service instances, and the control plane.
fn places<'n, 't>(nodes: &'n [Node<'t>]) -> Vec<Place<'n, 't>> {
    let mut found = Vec::new();
    for node in nodes {
        add(node, &mut found);
    }
    found
}

fn add<'n, 't>(node: &'n Node<'t>, found: &mut Vec<Place<'n, 't>>) {
    let kind = match *node.words().as_slice() {
        ["interface", name, ..] if name.contains('.') => "sub-interface",
        ["interface", ..] => "interface",
        ["service", "instance", ..] => "service instance",
        ["control-plane"] => "control-plane",
        _ => return,
    };
    if node.inner.iter().any(|inner| inner.line.1.trim() == "shutdown") {
        return;
    }
    for direction in ["input", "output"] {
        let policy = node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["service-policy", own, name] if own == direction => Some(name),
            _ => None,
        });
        found.push(Place { node, kind, direction, policy });
    }
    for inner in &node.inner {
        add(inner, found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{are_similar, candidate, places};

    const PORTS: &str = "interface Gi0/1\n description one\n ip address 10.0.1.1 255.255.255.0\n service-policy input \
                         IN-20M\ninterface Gi0/2\n ip address 10.0.2.1 255.255.255.0\ninterface Gi0/3\n no ip \
                         address\ncontrol-plane\n";

    #[test]
    fn similar_names_differ_in_one_part() {
        assert!(are_similar("IN-50M", "IN-20M") && are_similar("UC-IN", "SRV-IN"));
        assert!(
            !are_similar("WAN", "LAN") && !are_similar("WAN-OUT", "LAN-IN") && !are_similar("A-B-C", "A-B")
        );
    }

    #[test]
    fn a_policy_fits_at_a_block_of_the_same_kind() {
        let nodes = read(PORTS);
        let line = |name: &str, nodes| candidate(name, &places(nodes)).map(|place| place.node.line.0);
        assert_eq!(line("IN-50M", &nodes), Some(5));
        assert_eq!(line("OUT-QUEUES", &nodes), None, "no similar policy is attached");
        assert_eq!(line("pm-copp", &nodes), Some(9));
        let down = PORTS.replace(" ip address 10.0.2.1 255.255.255.0\n", " shutdown\n");
        let nodes = read(&down);
        assert_eq!(line("IN-50M", &nodes), None, "the port is down");
    }
}
