//! Route targets that do not match between VRFs with the same name on several devices.

use std::collections::{BTreeMap, BTreeSet};

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The direction of a route target: it selects the routes that a VRF imports, or marks the routes that it
/// exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Import,
    Export,
}

/// The name of a VRF, and the AS number of its device.
type Name<'t> = (&'t str, Option<&'t str>);

/// A VRF of a device with its route targets.
#[derive(Default)]
struct Vrf<'t> {
    line: usize,
    targets: Vec<(Way, &'t str, usize)>,
    /// The directions in which a policy can add further targets.
    by_policy: BTreeSet<Way>,
}

impl<'t> Vrf<'t> {
    fn targets_in(&self, way: Way) -> BTreeSet<&'t str> {
        self.targets.iter().filter(|(own, ..)| *own == way).map(|(_, target, _)| *target).collect()
    }

    fn add(&mut self, ways: &[Way], target: &'t str, line: usize) {
        self.targets.extend(ways.iter().map(|way| (*way, target, line)));
    }
}

/// Reports VRFs that exchange no route with the VRFs of the same name on other devices. Also reports targets
/// that all of these VRFs except one have.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    // The VRFs of two providers exchange no routes, although both providers can use the name of the same
    // customer.
    let mut by_name: BTreeMap<Name, Vec<(usize, Vrf)>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        let number = number_of_system(nodes);
        report_bare(snapshot, device, nodes, found);
        for (name, vrf) in vrfs(nodes) {
            if !vrf.targets.is_empty() {
                by_name.entry((name, number)).or_default().push((device, vrf));
            }
        }
    }
    for ((name, _), members) in by_name.iter().filter(|(_, members)| members.len() > 1) {
        let named_otherwise = by_name.iter().filter(|((other, _), _)| other != name);
        let targets = named_otherwise.flat_map(|(_, others)| others).flat_map(|(_, vrf)| &vrf.targets);
        let elsewhere: BTreeSet<(Way, &str)> = targets.map(|(way, target, _)| (*way, *target)).collect();
        for way in [Way::Import, Way::Export] {
            for (device, vrf) in members {
                if is_spoke(vrf, way, members, &elsewhere) {
                    continue;
                }
                check_vrf(snapshot, name, members, (*device, vrf), way, found);
            }
        }
    }
}

/// Whether a VRF exchanges routes with VRFs of another name, such as the VRFs of a hub: one of these has a
/// target of the VRF, or all VRFs of the name have the same targets.
fn is_spoke(vrf: &Vrf, way: Way, members: &[(usize, Vrf)], elsewhere: &BTreeSet<(Way, &str)>) -> bool {
    let back = if way == Way::Import { Way::Export } else { Way::Import };
    let has_same = |(_, other): &(usize, Vrf)| {
        [way, back].into_iter().all(|way| other.targets_in(way) == vrf.targets_in(way))
    };
    let own = vrf.targets_in(way);
    let is_disjoint = members.iter().all(|(_, other)| other.targets_in(back).is_disjoint(&own));
    let is_matched = own.iter().any(|target| elsewhere.contains(&(back, *target)));
    is_disjoint && !own.is_empty() && (is_matched || members.iter().all(has_same))
}

/// Checks the targets of a VRF in one direction. If no other VRF of the same name has any of the targets in
/// the other direction, reports all of them. Otherwise reports a target that only this VRF lacks.
fn check_vrf(
    snapshot: &Snapshot,
    name: &str,
    members: &[(usize, Vrf)],
    (device, vrf): (usize, &Vrf),
    way: Way,
    found: &mut Vec<NetworkFinding>,
) {
    let (own, back, words) = match way {
        Way::Import => (vrf.targets_in(way), Way::Export, ["imports", "exports"]),
        Way::Export => (vrf.targets_in(way), Way::Import, ["exports", "imports"]),
    };
    let others = || members.iter().filter(|(other, _)| *other != device);
    let uses_targets = |(_, other): &(usize, Vrf)| !other.targets_in(way).is_empty();
    let far: BTreeSet<&str> = others().flat_map(|(_, other)| other.targets_in(back)).collect();
    let lines: Vec<(usize, String)> = if !own.is_empty() && !far.is_empty() && own.is_disjoint(&far) {
        let lines = vrf.targets.iter().filter(|(one, ..)| *one == way);
        let message = |target: &str| {
            format!(
                "VRF {name} of {} {} {target}, which no VRF of this name on another device {}",
                snapshot.devices[device].name, words[0], words[1]
            )
        };
        lines.map(|(_, target, line)| (*line, message(target))).collect()
    } else if own.is_empty() && !vrf.by_policy.contains(&way) && others().all(uses_targets) {
        let message = format!(
            "VRF {name} of {} {} no route target, but all {} other VRFs of this name do",
            snapshot.devices[device].name,
            words[0],
            others().count()
        );
        vec![(vrf.line, message)]
    } else {
        let lacks = |target: &&&str| {
            let peers: Peers<bool> =
                members.iter().map(|(_, other)| other.targets_in(way).contains(**target)).collect();
            peers.usual() == Some(&true) && peers.is_exception(&false) && !own.contains(**target)
        };
        let all: BTreeSet<&str> = others().flat_map(|(_, other)| other.targets_in(way)).collect();
        let message = |target: &&str| {
            let text = format!(
                "VRF {name} of {} lacks {target}, which the other VRFs of this name {}",
                snapshot.devices[device].name,
                words[0].trim_end_matches('s')
            );
            (vrf.line, text)
        };
        all.iter().filter(lacks).map(message).collect()
    };
    for (line, message) in lines {
        let effect = "the sites of this device and the other sites do not learn each other's routes";
        let rule = &rules::NETWORK_ROUTE_TARGET_DIFFERS;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Reports VRFs of Junos that have neither route targets nor policies that set them.
fn report_bare(snapshot: &Snapshot, device: usize, nodes: &[Node], found: &mut Vec<NetworkFinding>) {
    for (name, line) in bare_instances(nodes) {
        let message = format!(
            "VRF {name} of {} has neither `vrf-target` nor `vrf-import` and `vrf-export`",
            snapshot.devices[device].name
        );
        let effect = "the device refuses the configuration: the VRF exchanges no routes".to_owned();
        found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_TARGET_DIFFERS, line, (message, effect)));
    }
}

/// Returns the routing instances of Junos with the type `vrf` and without route targets, with their lines.
/// Returns an empty list if the device has groups with routing instances, because the groups can contain the
/// targets.
fn bare_instances<'t>(nodes: &[Node<'t>]) -> Vec<(&'t str, usize)> {
    let Some(instances) = block(nodes, &["routing-instances"]) else { return Vec::new() };
    if block(nodes, &["groups"]).is_some_and(|groups| !inside(groups, "routing-instances").is_empty()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for node in &instances.inner {
        let [name] = *words(node).as_slice() else { continue };
        let is_vrf = node.inner.iter().any(|inner| words(inner) == ["instance-type", "vrf"]);
        let has_targets = |inner: &Node| {
            matches!(words(inner).first(), Some(&("vrf-target" | "vrf-import" | "vrf-export")))
        };
        if is_vrf && !node.inner.iter().any(has_targets) {
            found.push((name, node.line.0));
        }
    }
    found
}

/// Returns the number of the autonomous system of a device.
fn number_of_system<'t>(nodes: &[Node<'t>]) -> Option<&'t str> {
    let of_lines = nodes.iter().find_map(|node| match *node.words().as_slice() {
        ["router", "bgp", number] => Some(number),
        _ => None,
    });
    let options = block(nodes, &["routing-options"]).map_or(&[][..], |node| &node.inner);
    of_lines.or_else(|| {
        options.iter().find_map(|inner| match *words(inner).as_slice() {
            ["autonomous-system", number, ..] => Some(number),
            _ => None,
        })
    })
}

/// Returns the VRFs of a device whose targets are values and not policies.
fn vrfs<'t>(nodes: &[Node<'t>]) -> Vec<(&'t str, Vrf<'t>)> {
    let mut found = Vec::new();
    for node in nodes {
        if !["ip vrf ", "vrf "].iter().any(|start| node.line.1.starts_with(start)) {
            continue;
        }
        // The line that begins a VRF is `vrf definition NAME` or `ip vrf NAME` (IOS), `vrf context NAME`
        // (NX-OS) or `vrf NAME` (IOS XR).
        if let ["vrf", "definition" | "context", name] | ["ip", "vrf", name] | ["vrf", name] =
            *node.words().as_slice()
        {
            let mut vrf = Vrf { line: node.line.0, ..Vrf::default() };
            node.inner.iter().for_each(|inner| add_line(&mut vrf, inner));
            found.push((name, vrf));
        }
    }
    for node in block(nodes, &["routing-instances"]).map_or(&[][..], |node| &node.inner) {
        let [name] = *words(node).as_slice() else { continue };
        let mut vrf = Vrf { line: node.line.0, ..Vrf::default() };
        let is_policy = |inner: &Node| matches!(words(inner).first(), Some(&"vrf-import" | &"vrf-export"));
        if !node.inner.iter().any(is_policy) {
            node.inner.iter().for_each(|inner| add_statement(&mut vrf, inner));
            found.push((name, vrf));
        }
    }
    found
}

fn add_line<'t>(vrf: &mut Vrf<'t>, node: &Node<'t>) {
    match node.words().as_slice() {
        ["route-target", "import", target] => vrf.add(&[Way::Import], target, node.line.0),
        ["route-target", "export", target] => vrf.add(&[Way::Export], target, node.line.0),
        ["route-target", "both", target] => vrf.add(&[Way::Import, Way::Export], target, node.line.0),
        ["import", "route-target", targets @ ..] => add_block(vrf, Way::Import, targets, node),
        ["export", "route-target", targets @ ..] => add_block(vrf, Way::Export, targets, node),
        ["import", "map" | "route-policy", ..] => _ = vrf.by_policy.insert(Way::Import),
        ["export", "map" | "route-policy", ..] => _ = vrf.by_policy.insert(Way::Export),
        _ => node.inner.iter().for_each(|inner| add_line(vrf, inner)),
    }
}

/// Adds the targets of a block of IOS XR. The targets are on lines of the block, or one target follows the
/// command.
fn add_block<'t>(vrf: &mut Vrf<'t>, way: Way, targets: &[&'t str], node: &Node<'t>) {
    for target in targets {
        vrf.add(&[way], target, node.line.0);
    }
    for inner in &node.inner {
        if let [target, ..] = *inner.words().as_slice()
            && target.contains(':')
        {
            vrf.add(&[way], target, inner.line.0);
        }
    }
}

fn add_statement<'t>(vrf: &mut Vrf<'t>, node: &Node<'t>) {
    let target = |word: &&'t str| word.strip_prefix("target:");
    let line = node.line.0;
    match words(node).as_slice() {
        ["vrf-target"] => {
            for inner in &node.inner {
                match words(inner).as_slice() {
                    ["import", word] => vrf.add(&[Way::Import], target(word).unwrap_or(word), inner.line.0),
                    ["export", word] => vrf.add(&[Way::Export], target(word).unwrap_or(word), inner.line.0),
                    _ => {}
                }
            }
        }
        ["vrf-target", word] => {
            vrf.add(&[Way::Import, Way::Export], target(word).unwrap_or(word), line);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Way, bare_instances, vrfs};

    #[test]
    fn both_languages_name_targets() {
        let text = "vrf definition A\n rd 1:1\n address-family ipv4\n  route-target export 1:1\n  route-target \
                    import 1:2\nip vrf B\n route-target both 1:3\nrouting-instances {\n    C {\n        \
                    vrf-target target:1:4;\n    }\n    D {\n        vrf-import POLICY;\n        vrf-target \
                    target:1:5;\n    }\n}";
        let nodes = read(text);
        let shown: Vec<(&str, Vec<&str>, Vec<&str>)> = vrfs(&nodes)
            .iter()
            .map(|(name, vrf)| {
                let targets = |way| vrf.targets_in(way).into_iter().collect();
                (*name, targets(Way::Import), targets(Way::Export))
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("A", vec!["1:2"], vec!["1:1"]),
                ("B", vec!["1:3"], vec!["1:3"]),
                ("C", vec!["1:4"], vec!["1:4"])
            ]
        );
    }

    #[test]
    fn targets_of_ios_xr_are_in_blocks() {
        let text = "vrf E\n address-family ipv4 unicast\n  import route-target\n   1:6\n   1:7\n  !\n  export \
                    route-target\n   1:8\n  !\n  export route-policy TAGS";
        let nodes = read(text);
        let found = vrfs(&nodes);
        let (name, vrf) = &found[0];
        assert_eq!(*name, "E");
        assert_eq!(vrf.targets, [(Way::Import, "1:6", 4), (Way::Import, "1:7", 5), (Way::Export, "1:8", 8)]);
        assert!(vrf.by_policy.iter().eq(&[Way::Export]));
    }

    #[test]
    fn only_a_vrf_needs_targets() {
        let text = "routing-instances {\n    A {\n        instance-type vrf;\n    }\n    B {\n        \
                    instance-type virtual-router;\n    }\n    C {\n        instance-type vrf;\n        \
                    vrf-export P;\n    }\n}";
        assert_eq!(bare_instances(&read(text)), [("A", 2)]);
        let groups =
            format!("groups {{\n    G {{\n        routing-instances {{\n        }}\n    }}\n}}\n{text}");
        assert!(bare_instances(&read(&groups)).is_empty());
    }
}
