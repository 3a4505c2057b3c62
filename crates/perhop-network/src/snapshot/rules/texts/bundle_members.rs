//! Ports that are not in the bundle of their siblings, although the other end of their cable is in the bundle
//! of the neighbor.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// A cable to a bundle of a neighbor: the ports at both ends, and the bundle of the own port with the line
/// that assigns it.
struct Cable<'t> {
    port: PortId,
    far: PortId,
    bundle: Option<(usize, &'t str)>,
}

/// Reports ports that are not in the bundle of most other ports with cables to the same bundle of a neighbor.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut all: BTreeMap<(usize, usize, &str), Vec<Cable>> = BTreeMap::new();
    for [first, second] in snapshot.described_pairs() {
        for [port, far] in [[first, second], [second, first]] {
            let bundle = |id: PortId| bundle(&trees[id.device], snapshot.port(id).line);
            let Some((_, number)) = bundle(far) else { continue };
            let cable = Cable { port, far, bundle: bundle(port) };
            all.entry((port.device, far.device, number)).or_default().push(cable);
        }
    }
    for ((device, neighbor, number), cables) in &all {
        let Some(usual) = usual(&cables.iter().map(|own| own.bundle.map(|(_, own)| own)).collect::<Vec<_>>())
        else {
            continue;
        };
        for cable in cables.iter().filter(|own| own.bundle.is_none_or(|(_, own)| own != usual)) {
            let own = match cable.bundle {
                Some((_, own)) => format!("in bundle {own}"),
                None => "in no bundle".to_owned(),
            };
            let message = format!(
                "{} is {own}, but the other ports to bundle {number} of {} are in bundle {usual}, and {} at \
                 the other end of the cable is a member",
                snapshot.port_name(cable.port),
                snapshot.devices[*neighbor].name,
                snapshot.port_name(cable.far)
            );
            let effect = "the bundle has less rate than its classes were planned for, or the port loops or \
                          loses packets"
                .to_owned();
            let line = cable.bundle.map_or(snapshot.port(cable.port).line, |(line, _)| line);
            found.push(snapshot.finding(*device, &rules::NETWORK_SETTING_DIFFERS, line, (message, effect)));
        }
    }
}

/// Returns the bundle that most ports in a bundle have. `None` if two bundles have the same number of ports.
fn usual<'t>(bundles: &[Option<&'t str>]) -> Option<&'t str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for bundle in bundles.iter().flatten() {
        *counts.entry(bundle).or_default() += 1;
    }
    let most = counts.values().max().copied()?;
    let mut all = counts.iter().filter(|(_, count)| **count == most);
    match (all.next(), all.next()) {
        (Some((bundle, _)), None) => Some(*bundle),
        _ => None,
    }
}

/// Returns the bundle of the port whose block begins at a line, and the line that assigns the bundle.
fn bundle<'t>(nodes: &[Node<'t>], line: usize) -> Option<(usize, &'t str)> {
    let node = nodes.iter().find(|node| node.line.0 == line && node.begins_with("interface "))?;
    node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["channel-group", number, ..] | ["bundle", "id", number, ..] => Some((inner.line.0, number)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{bundle, usual};

    #[test]
    fn the_bundle_of_most_ports_prevails() {
        assert_eq!(usual(&[Some("1"), None, None]), Some("1"));
        assert_eq!(usual(&[Some("1"), Some("2")]), None);
        assert_eq!(usual(&[Some("1"), Some("2"), Some("1")]), Some("1"));
    }

    #[test]
    fn ports_of_each_language_have_a_bundle() {
        let text = "interface Te0/0\n bundle id 7 mode active\ninterface Gi0/1\n channel-group 3 mode on";
        let nodes = read(text);
        assert_eq!((bundle(&nodes, 1), bundle(&nodes, 3)), (Some((2, "7")), Some((4, "3"))));
    }
}
