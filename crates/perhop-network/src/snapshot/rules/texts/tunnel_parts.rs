//! Missing lines without which a tunnel does not work or its packets are in the wrong class.

use std::collections::{BTreeMap, BTreeSet};

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::{Parts, list_of};
use crate::rules;

/// The lines of an interface that affect tunnels.
#[derive(Default)]
struct Interface<'t> {
    line: usize,
    vrf: Option<&'t str>,
    address: Option<&'t str>,
    output: Option<&'t str>,
    /// The source of a tunnel: an interface or an address.
    source: Option<&'t str>,
    outer_vrf: Option<&'t str>,
    is_multipoint: bool,
    /// The encryption profile, whether it is shared, and the line.
    profile: Option<(&'t str, bool, usize)>,
    pre_classify: Option<usize>,
}

type Interfaces<'t> = BTreeMap<&'t str, Interface<'t>>;

/// Reports tunnels that must share their profile but do not, tunnels that lack the VRF of their source,
/// tunnels with `qos pre-classify` whose packets classes match by outer addresses, and devices whose replay
/// window differs from the window of the other devices.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let devices: Vec<Interfaces> = trees.iter().map(|nodes| interfaces(nodes)).collect();
    let outer = outer_addresses(&devices);
    for (device, own) in devices.iter().enumerate() {
        check_shared(snapshot, device, own, found);
        check_vrfs(snapshot, device, own, found);
        check_classes(snapshot, (device, own), &parts[device], &outer, found);
    }
    check_windows(snapshot, trees, found);
}

/// Returns the interfaces that are not shut down, by name.
fn interfaces<'t>(nodes: &[Node<'t>]) -> Interfaces<'t> {
    let mut found = Interfaces::new();
    for node in nodes {
        let ["interface", name, ..] = *node.words().as_slice() else { continue };
        if node.inner.iter().any(|inner| inner.words() == ["shutdown"]) {
            continue;
        }
        let mut own = Interface { line: node.line.0, ..Interface::default() };
        for inner in &node.inner {
            match *inner.words().as_slice() {
                ["vrf", "forwarding", vrf] | ["ip", "vrf", "forwarding", vrf] => own.vrf = Some(vrf),
                ["ip", "address", address, _] => own.address = Some(address),
                ["service-policy", "output", policy] => own.output = Some(policy),
                ["tunnel", "source", source] => own.source = Some(source),
                ["tunnel", "vrf", vrf] => own.outer_vrf = Some(vrf),
                ["tunnel", "mode", "gre", "multipoint", ..] => own.is_multipoint = true,
                ["tunnel", "protection", "ipsec", "profile", profile, ref rest @ ..] => {
                    own.profile = Some((profile, rest.contains(&"shared"), inner.line.0));
                }
                ["qos", "pre-classify"] => own.pre_classify = Some(inner.line.0),
                _ => {}
            }
        }
        found.insert(name, own);
    }
    found
}

/// Returns the source addresses of encrypted tunnels.
fn outer_addresses<'t>(devices: &[Interfaces<'t>]) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    for own in devices {
        for source in
            own.values().filter(|tunnel| tunnel.profile.is_some()).filter_map(|tunnel| tunnel.source)
        {
            found.extend(own.get(source).map_or(Some(source), |port| port.address));
        }
    }
    found
}

/// Reports encrypted tunnels that must share their profile, because another tunnel has the same source.
fn check_shared(snapshot: &Snapshot, device: usize, own: &Interfaces, found: &mut Vec<NetworkFinding>) {
    let mut by_source: BTreeMap<(&str, &str), Vec<(bool, usize)>> = BTreeMap::new();
    for tunnel in own.values().filter(|tunnel| tunnel.is_multipoint) {
        if let (Some(source), Some((profile, is_shared, line))) = (tunnel.source, tunnel.profile) {
            by_source.entry((source, profile)).or_default().push((is_shared, line));
        }
    }
    for ((source, profile), tunnels) in by_source.iter().filter(|(_, tunnels)| tunnels.len() > 1) {
        for (_, line) in tunnels.iter().filter(|(is_shared, _)| !is_shared) {
            let message = format!(
                "{} tunnels of {} from {source} have the profile {profile}, but this tunnel does not share \
                 it",
                tunnels.len(),
                snapshot.devices[device].name
            );
            let effect = "only one of the tunnels decrypts its packets".to_owned();
            let rule = &rules::NETWORK_TUNNEL_INCOMPLETE;
            found.push(snapshot.finding(device, rule, *line, (message, effect)));
        }
    }
}

/// Reports tunnels whose outer packets use another routing table than the table of their source interface.
fn check_vrfs(snapshot: &Snapshot, device: usize, own: &Interfaces, found: &mut Vec<NetworkFinding>) {
    for (name, tunnel) in own {
        let source = tunnel.source.and_then(|source| Some((source, own.get(source)?)));
        let Some((source, port)) = source.filter(|(_, port)| port.vrf != tunnel.outer_vrf) else { continue };
        let table = |vrf: Option<&str>| vrf.map_or("the global table".to_owned(), |vrf| format!("VRF {vrf}"));
        let message = format!(
            "{}:{name} sends outer packets in {}, but its source {source} (line {}) is in {}",
            snapshot.devices[device].name,
            table(tunnel.outer_vrf),
            port.line,
            table(port.vrf)
        );
        let effect = "the tunnel is down, or its packets leave by another port".to_owned();
        let rule = &rules::NETWORK_TUNNEL_INCOMPLETE;
        found.push(snapshot.finding(device, rule, tunnel.line, (message, effect)));
    }
}

/// Reports tunnels with `qos pre-classify` whose source port has classes that match outer addresses.
fn check_classes(
    snapshot: &Snapshot,
    (device, own): (usize, &Interfaces),
    parts: &Parts,
    outer: &BTreeSet<&str>,
    found: &mut Vec<NetworkFinding>,
) {
    // Tunnels with the same source have the same output policy.
    let mut known: BTreeMap<&str, Option<(&str, &str)>> = BTreeMap::new();
    for (name, tunnel) in own {
        let Some(line) = tunnel.pre_classify else { continue };
        let Some(policy) = tunnel.source.and_then(|source| own.get(source)?.output) else { continue };
        let of_policy = known.entry(policy).or_insert_with(|| outer_class(parts, policy, outer));
        let Some((class, address)) = *of_policy else { continue };
        let message = format!(
            "{}:{name} classifies packets by their inner header, but class {class} matches the outer \
             address {address}",
            snapshot.devices[device].name
        );
        let effect = "no packet of the tunnel is in the class, so its shaper and its queues have no effect";
        let rule = &rules::NETWORK_TUNNEL_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Returns a class of a policy or of a nested policy that matches the outer address of a tunnel end.
fn outer_class<'p>(parts: &'p Parts, policy: &'p str, outer: &BTreeSet<&str>) -> Option<(&'p str, &'p str)> {
    let mut open = vec![policy];
    let mut seen = BTreeSet::new();
    while let Some(policy) = open.pop() {
        if !seen.insert(policy) {
            continue;
        }
        for class in parts.classes_of(policy) {
            open.extend(class.lines.iter().filter_map(|(_, words)| match *words.as_slice() {
                ["service-policy", inner] => Some(inner),
                _ => None,
            }));
            let criteria = parts.class_maps.get(class.name).map_or(&[][..], |own| &own.lines);
            for list in criteria.iter().filter_map(|(_, words)| list_of(words)) {
                let entries = parts.lists.get(list).map_or(&[][..], Vec::as_slice);
                let to = entries.iter().filter_map(|(_, words)| match *words.as_slice() {
                    ["permit", .., "host", to] => Some(to),
                    _ => None,
                });
                if let Some(address) = to.into_iter().find(|to| outer.contains(to)) {
                    return Some((class.name, address));
                }
            }
        }
    }
    None
}

/// Reports the only device with encryption whose replay window differs from the window of the other devices.
fn check_windows(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut windows: Vec<(usize, Option<&str>, usize)> = Vec::new();
    for (device, nodes) in trees.iter().enumerate() {
        let profile = nodes.iter().find(|node| node.line.1.starts_with("crypto ipsec profile "));
        let Some(profile) = profile else { continue };
        let lines = nodes.iter().chain(nodes.iter().flat_map(|node| &node.inner));
        let mut window = lines.filter_map(|node| match *node.words().as_slice() {
            ["crypto", "ipsec", "security-association", "replay", "window-size", size]
            | ["set", "security-association", "replay", "window-size", size] => Some((size, node.line.0)),
            _ => None,
        });
        let window = window.next_back();
        windows.push((device, window.map(|(size, _)| size), window.map_or(profile.line.0, |(_, line)| line)));
    }
    let peers: Peers<Option<&str>> = windows.iter().map(|(_, size, _)| *size).collect();
    let Some(Some(usual)) = peers.usual() else { return };
    for (device, size, line) in windows.iter().filter(|(_, size, _)| peers.is_exception(size)) {
        let own = size.map_or("the default window".to_owned(), |size| format!("a window of {size} packets"));
        let message = format!(
            "{} has {own} against replays, but most of {} devices with encryption have a window of \
             {usual} packets",
            snapshot.devices[*device].name,
            windows.len()
        );
        // RFC 4303 §3.4.3: the receiver discards packets that are older than the window. Queues delay the
        // packets of some classes by more than the window.
        let effect =
            "the device drops encrypted packets that waited behind those of other classes".to_owned();
        let rule = &rules::NETWORK_TUNNEL_INCOMPLETE;
        found.push(snapshot.finding(*device, rule, *line, (message, effect)));
    }
}
