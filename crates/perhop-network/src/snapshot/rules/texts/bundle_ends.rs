//! Bundles whose ends negotiate with different protocols, and ports in no bundle whose other end is in a
//! bundle, if one of the two configurations has braces (Junos).

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::rules;

/// The commands that contain the bundle of a port with braces.
const OPTIONS: [&str; 3] = ["ether-options", "gigether-options", "fastether-options"];

/// The membership of a port in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    /// In no bundle, with the line of the port.
    None { line: usize, has_braces: bool },
    /// In a bundle, with the line that sets the mode.
    In { line: usize, mode: Mode, has_braces: bool },
}

/// The protocol that forms a bundle, and whether this end sends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The bundle uses no protocol.
    On,
    Active,
    Passive,
}

impl Mode {
    const fn words(self) -> &'static str {
        match self {
            Mode::On => "no protocol",
            Mode::Active => "active LACP",
            Mode::Passive => "passive LACP",
        }
    }
}

/// A port with its description.
struct Port<'t> {
    name: &'t str,
    member: Member,
    description: Vec<&'t str>,
}

/// Reports both ends of a cable whose bundles do not come up, and ports in no bundle whose other end is in a
/// bundle.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Vec<Port>> = trees.iter().map(|nodes| ports(nodes)).collect();
    let far: BTreeMap<(usize, usize), (usize, usize)> = devices
        .iter()
        .enumerate()
        .flat_map(|(device, ports)| (0..ports.len()).map(move |port| (device, port)))
        .filter_map(|(device, port)| Some(((device, port), far_end(snapshot, &devices, device, port)?)))
        .collect();
    for (own, other) in far.iter().filter(|(own, other)| far.get(*other) == Some(*own)) {
        let [near, far] = [own, other].map(|(device, port)| &devices[*device][*port]);
        let Some((line, problem)) = problem(near.member, far.member) else { continue };
        let [here, there] = [own.0, other.0].map(|device| &snapshot.devices[device].name);
        let message = format!("{here}:{} {problem}, {there}:{}", near.name, far.name);
        let effect = "the cable carries no packets of the bundle: its classes share less rate, or none";
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.0, rule, line, (message, effect.to_owned())));
    }
}

/// Returns the port at the other end of a cable, if the description names one other device and one of its
/// ports.
fn far_end(snapshot: &Snapshot, devices: &[Vec<Port>], device: usize, port: usize) -> Option<(usize, usize)> {
    let words = &devices[device][port].description;
    let names =
        |other: &usize| words.iter().any(|word| word.eq_ignore_ascii_case(&snapshot.devices[*other].name));
    let mut others = (0..devices.len()).filter(|other| *other != device).filter(names);
    let (Some(other), None) = (others.next(), others.next()) else { return None };
    let place = devices[other].iter().position(|far| words.iter().any(|word| abbreviates(word, far.name)))?;
    Some((other, place))
}

/// Whether a word is the name of a port, or its first letters with the same number.
fn abbreviates(word: &str, name: &str) -> bool {
    let split = |text: &str| text.find(|letter: char| letter.is_ascii_digit());
    let (Some(own), Some(whole)) = (split(word), split(name)) else { return false };
    let letters = name.get(..own).is_some_and(|start| start.eq_ignore_ascii_case(&word[..own]));
    word == name || (own > 1 && own <= whole && letters && word[own..] == name[whole..])
}

/// Returns the line and the problem of an end. Another rule reports ports in no bundle if neither
/// configuration has braces.
fn problem(own: Member, far: Member) -> Option<(usize, String)> {
    match (own, far) {
        (Member::In { line, mode, .. }, Member::In { mode: other, .. }) => {
            // IEEE 802.1AX §6.4.1: LACP needs both ends, and at least one must be active.
            let fits = match (mode, other) {
                (Mode::On, Mode::On) => true,
                (Mode::On, _) | (_, Mode::On) | (Mode::Passive, Mode::Passive) => false,
                _ => true,
            };
            let problem = if (mode, other) == (Mode::Passive, Mode::Passive) {
                "has passive LACP in its bundle, so neither end starts: passive LACP is also at the other end"
                    .to_owned()
            } else {
                let [own, other] = [mode, other].map(Mode::words);
                format!("has {own} in its bundle, but {other} is at the other end")
            };
            (!fits).then_some((line, problem))
        }
        (Member::None { line, has_braces: own }, Member::In { has_braces: other, .. }) if own || other => {
            Some((line, "is in no bundle, but a bundle is at the other end".to_owned()))
        }
        _ => None,
    }
}

/// Whether a name is the name of a bundle. A bundle is not a member of another bundle.
fn is_bundle(name: &str) -> bool {
    let kinds = ["ae", "reth", "port-channel", "bundle-", "po", "be"];
    kinds.iter().any(|kind| {
        let number = name.get(..kind.len()).filter(|start| start.eq_ignore_ascii_case(kind));
        let is_number = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
        number.is_some() && (kind.ends_with('-') || is_number(&name[kind.len()..]))
    })
}

/// Returns the physical ports of a device that have a description.
fn ports<'t>(nodes: &[Node<'t>]) -> Vec<Port<'t>> {
    if let Some(interfaces) = block(nodes, &["interfaces"]) {
        // Any port can inherit the bundle or its mode from a group or a range.
        let is_shared = ["802.3ad", "lacp"].iter().any(|word| can_inherit(nodes, word));
        return if is_shared { Vec::new() } else { with_braces(interfaces) };
    }
    let mut found = Vec::new();
    for node in nodes {
        let ["interface", name] = *node.words().as_slice() else { continue };
        let Some(description) = node.inner.iter().find(|inner| inner.begins_with("description ")) else {
            continue;
        };
        let is_left_out = node.is_shut() || name.contains('.') || is_bundle(name);
        if let Some(member) = of_lines(node).filter(|_| !is_left_out) {
            found.push(Port { name, member, description: description.words() });
        }
    }
    found
}

/// Returns the membership of a port in a bundle; `None` if the mode is missing or belongs to another
/// protocol, or if the port inherits lines.
fn of_lines(node: &Node) -> Option<Member> {
    let inherits = ["apply-group ", "inherit port-profile ", "source template ", "inherit "];
    if node.inner.iter().any(|inner| inherits.iter().any(|start| inner.begins_with(start))) {
        return None;
    }
    let mode = node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["channel-group", _, "mode", mode, ..] | ["bundle", "id", _, "mode", mode] => {
            Some((inner.line.0, parse(mode)?))
        }
        _ => None,
    });
    let is_member =
        node.inner.iter().any(|inner| inner.begins_with("channel-group ") || inner.begins_with("bundle id "));
    match mode {
        Some((line, mode)) => Some(Member::In { line, mode, has_braces: false }),
        None => (!is_member).then_some(Member::None { line: node.line.0, has_braces: false }),
    }
}

/// Returns the mode of a word; `None` for the protocol of a vendor.
fn parse(word: &str) -> Option<Mode> {
    match word {
        "on" => Some(Mode::On),
        "active" => Some(Mode::Active),
        "passive" => Some(Mode::Passive),
        _ => None,
    }
}

/// Returns the ports with braces, except those that inherit statements or have a redundant parent.
fn with_braces<'t>(interfaces: &Node<'t>) -> Vec<Port<'t>> {
    let mut modes: BTreeMap<&str, (usize, Mode)> = BTreeMap::new();
    for node in &interfaces.inner {
        let [name] = *words(node).as_slice() else { continue };
        if !inside(node, "apply-groups").is_empty() {
            continue;
        }
        let options = node.inner.iter().find(|inner| words(inner) == ["aggregated-ether-options"]);
        let lacp = options.and_then(|options| inside(options, "lacp").into_iter().next());
        let mode = match lacp {
            None => (options.unwrap_or(node).line.0, Mode::On),
            Some(lacp) => {
                let is_active = words(lacp).contains(&"active") || !inside(lacp, "active").is_empty();
                // Without a mode, Junos is passive (Juniper, `lacp`).
                (lacp.line.0, if is_active { Mode::Active } else { Mode::Passive })
            }
        };
        modes.insert(name, mode);
    }
    let inherits = |node: &Node| !inside(node, "apply-groups").is_empty();
    let is_redundant = |node: &Node| !inside(node, "redundant-parent").is_empty();
    let is_left_out = |node: &Node, name: &str| is_bundle(name) || inherits(node) || is_redundant(node);
    let mut found = Vec::new();
    for node in interfaces.inner.iter().filter(|node| !node.is_shut()) {
        let [name] = *words(node).as_slice() else { continue };
        if is_left_out(node, name) {
            continue;
        }
        let description = node.inner.iter().find(|inner| words(inner).first() == Some(&"description"));
        let Some(description) = description.map(|inner| words(inner)) else { continue };
        let options = node
            .inner
            .iter()
            .filter(|inner| words(inner).first().is_some_and(|first| OPTIONS.contains(first)));
        let bundle = options.flat_map(|inner| std::iter::once(inner).chain(&inner.inner)).find_map(|inner| {
            let own = words(inner);
            let place = own.iter().position(|word| *word == "802.3ad")?;
            own.get(place + 1).copied()
        });
        let member = match bundle.map(|bundle| modes.get(bundle)) {
            Some(Some((line, mode))) => Member::In { line: *line, mode: *mode, has_braces: true },
            // The bundle is not in the text, or inherits its mode.
            Some(None) => continue,
            None => Member::None { line: node.line.0, has_braces: true },
        };
        found.push(Port { name, member, description });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Member, Mode, abbreviates, is_bundle, ports, problem};

    const TEXT: &str = "interfaces {\n    xe-0/0/0 {\n        description \"to sw1 Te1/0/1\";\n        gigether-options {\n            \
                        802.3ad ae0;\n        }\n    }\n    xe-0/0/1 {\n        description spare;\n    }\n    ae0 {\n        \
                        aggregated-ether-options {\n            lacp {\n                active;\n            }\n        }\n    \
                        }\n}";

    #[test]
    fn ports_with_braces_are_in_bundles() {
        let members =
            |text: &str| -> Vec<Member> { ports(&read(text)).into_iter().map(|port| port.member).collect() };
        let inside = |mode| Member::In { line: 13, mode, has_braces: true };
        assert_eq!(members(TEXT), [inside(Mode::Active), Member::None { line: 8, has_braces: true }]);
        assert_eq!(members(&TEXT.replace("active", "periodic fast"))[0], inside(Mode::Passive));
        let without = TEXT.replace("            lacp {\n                active;\n            }\n", "");
        assert_eq!(members(&without)[0], Member::In { line: 12, mode: Mode::On, has_braces: true });
    }

    #[test]
    fn ports_can_inherit_their_bundle() {
        let count = |text: &str| ports(&read(text)).len();
        let group = "groups {\n    G {\n        xe-0/0/1 {\n            802.3ad ae0;\n";
        assert_eq!(count(&format!("{group}{TEXT}")), 0);
        assert_eq!(
            count(&TEXT.replace("description spare;", "description spare;\n        apply-groups G;")),
            1
        );
        let range =
            "    interface-range R {\n        member xe-0/0/1;\n        802.3ad ae0;\n    }\n    ae0 {";
        assert_eq!(count(&TEXT.replace("    ae0 {", range)), 0);
        assert_eq!(
            count(&TEXT.replace("        aggregated", "        description x;\n        aggregated")),
            2
        );
        assert_eq!(count("interface Te1/0/1\n description x\n apply-group G\n"), 0);
    }

    #[test]
    fn bundles_are_no_members() {
        for name in ["ae0", "reth1", "Port-channel1", "port-channel20", "Bundle-Ether5", "Po1", "BE7"] {
            assert!(is_bundle(name), "{name}");
        }
        assert!(!is_bundle("aex") && !is_bundle("Te1/0/1") && !is_bundle("xe-0/0/0"));
    }

    #[test]
    fn ports_with_lines_are_in_bundles() {
        let text = "interface Te1/0/1\n description to r1 xe-0/0/0\n channel-group 1 mode on\ninterface Te1/0/2\n \
                    description to r1 xe-0/0/1\n channel-group 1 mode desirable\n";
        let nodes = read(text);
        let found = ports(&nodes);
        assert_eq!(found.len(), 1, "PAgP is another protocol");
        assert_eq!(found[0].member, Member::In { line: 3, mode: Mode::On, has_braces: false });
        assert_eq!(found[0].description, ["description", "to", "r1", "xe-0/0/0"]);
    }

    #[test]
    fn names_of_ports_are_abbreviated() {
        assert!(abbreviates("Te1/0/1", "TenGigabitEthernet1/0/1") && abbreviates("xe-0/0/1", "xe-0/0/1"));
        assert!(!abbreviates("Te1/0/2", "TenGigabitEthernet1/0/1") && !abbreviates("1/0/1", "Te1/0/1"));
        assert!(!abbreviates("20Mbit", "Te1/0/1") && !abbreviates("to", "Te1/0/1"));
    }

    #[test]
    fn one_end_of_a_bundle_is_active() {
        let end = |mode| Member::In { line: 3, mode, has_braces: false };
        let fits = |own, far| problem(end(own), end(far)).is_none();
        assert!(
            fits(Mode::On, Mode::On) && fits(Mode::Active, Mode::Passive) && fits(Mode::Active, Mode::Active)
        );
        assert!(
            !fits(Mode::On, Mode::Active)
                && !fits(Mode::Passive, Mode::On)
                && !fits(Mode::Passive, Mode::Passive)
        );
    }

    #[test]
    fn a_port_outside_of_a_bundle_is_reported_for_braces() {
        let far = |has_braces| Member::In { line: 3, mode: Mode::Active, has_braces };
        let near = |has_braces| Member::None { line: 7, has_braces };
        assert_eq!(problem(near(false), far(true)).map(|(line, _)| line), Some(7));
        assert_eq!(problem(near(true), far(false)).map(|(line, _)| line), Some(7));
        assert_eq!(problem(near(false), far(false)), None, "another rule compares such ports");
    }
}
