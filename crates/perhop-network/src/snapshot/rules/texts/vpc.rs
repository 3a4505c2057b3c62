//! Settings that must be equal on the two switches of a virtual port channel (vPC, NX-OS).

use std::collections::BTreeMap;

use super::super::tree::{Node, policy_map};
use super::super::{NetworkFinding, Snapshot};
use super::vlan_ports::{Trunk, read_allowed};
use crate::rules;

/// A value, and the line that sets it.
type Setting = (usize, String);
/// The settings of a block that differ from their default.
type Settings = BTreeMap<&'static str, Setting>;

/// The value of [`Channel::vpc`] for the peer link.
const PEER_LINK: &str = "peer-link";
/// The name of the setting for the mode of a bundle.
const MODE: &str = "the mode of the bundle";

/// A port channel.
struct Channel<'t> {
    name: &'t str,
    line: usize,
    /// The number of the channel's vPC, or [`PEER_LINK`].
    vpc: Option<&'t str>,
    /// The line of the vPC, otherwise the first line of the port channel.
    vpc_line: usize,
    settings: Settings,
    /// The member ports by name, each with its line.
    members: BTreeMap<&'t str, (usize, Settings)>,
}

/// A switch of a vPC domain.
struct Switch<'t> {
    device: usize,
    domain: &'t str,
    line: usize,
    /// The destination and the source of the keepalives.
    keepalive: Option<[&'t str; 2]>,
    /// The settings of the domain and of the switch's queues.
    common: Settings,
    channels: Vec<Channel<'t>>,
}

/// Reports settings of a switch, of its peer link and of its vPCs that differ from the settings of its peer.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let switches: Vec<Switch> =
        trees.iter().enumerate().filter_map(|(device, nodes)| read(device, nodes)).collect();
    for own in &switches {
        let Some(other) = peer(own, &switches) else { continue };
        let nodes = [own.device, other.device].map(|device| trees[device].as_slice());
        let pair = Pair { snapshot, device: own.device, far: other.device, nodes };
        pair.compare("the switch", (own.line, &own.common), (other.line, &other.common), found);
        for far in other.channels.iter().filter(|far| far.vpc.is_some()) {
            match own.channels.iter().find(|near| near.vpc == far.vpc) {
                Some(near) => pair.compare_channels(near, far, found),
                None => pair.check_missing(own, (far, other), found),
            }
        }
    }
}

/// Returns the peer of a switch. Two domains of a network can have the same number. The addresses of the
/// keepalives then identify the peer.
fn peer<'s, 't>(own: &Switch, switches: &'s [Switch<'t>]) -> Option<&'s Switch<'t>> {
    let all = switches.iter().filter(|other| other.device != own.device && other.domain == own.domain);
    let all: Vec<&Switch> = all.collect();
    let answers =
        |other: &&&Switch| own.keepalive.is_some_and(|[to, from]| other.keepalive == Some([from, to]));
    match all.as_slice() {
        [other] => Some(other),
        _ => all.iter().find(answers).copied(),
    }
}

/// A switch and its peer.
struct Pair<'s, 't> {
    snapshot: &'s Snapshot<'s>,
    device: usize,
    far: usize,
    /// The statements of both switches.
    nodes: [&'s [Node<'t>]; 2],
}

impl Pair<'_, '_> {
    fn compare_channels(&self, near: &Channel, far: &Channel, found: &mut Vec<NetworkFinding>) {
        let what = |name: &str| match near.vpc {
            Some(PEER_LINK) => format!("{name} (peer link)"),
            number => format!("{name} (vPC {})", number.unwrap_or_default()),
        };
        self.compare(&what(near.name), (near.line, &near.settings), (far.line, &far.settings), found);
        for (name, (line, settings)) in &near.members {
            if let Some((there, theirs)) = far.members.get(name) {
                self.compare(&what(name), (*line, settings), (*there, theirs), found);
            }
        }
    }

    fn compare(
        &self,
        what: &str,
        (line, near): (usize, &Settings),
        (there, far): (usize, &Settings),
        found: &mut Vec<NetworkFinding>,
    ) {
        for name in near.keys().chain(far.keys().filter(|name| !near.contains_key(*name))) {
            let (own, other) = (near.get(name), far.get(name));
            if own.map(|(_, value)| value) == other.map(|(_, value)| value) {
                continue;
            }
            if let (Some((_, own)), Some((_, other))) = (own, other)
                && self.are_equal_policies(own, other)
            {
                continue;
            }
            let value = |setting: Option<&Setting>| {
                setting.map_or_else(|| "the default".to_owned(), |(_, value)| format!("`{value}`"))
            };
            let line_of = |setting: Option<&Setting>, block: usize| setting.map_or(block, |(line, _)| *line);
            let message = format!(
                "{name} of {what} is {} at {}, but {} at the other switch of the vPC domain ({})",
                value(own),
                self.snapshot.devices[self.device].name,
                value(other),
                self.snapshot.place(self.far, line_of(other, there))
            );
            let effect =
                "one of the two switches stops the port or some of its VLANs, or packets have other \
                          queues at one of the two"
                    .to_owned();
            self.report(line_of(own, line), (message, effect), found);
        }
    }

    /// Whether the policies `own` of this switch and `other` of its peer have the same lines.
    fn are_equal_policies(&self, own: &str, other: &str) -> bool {
        let [own, other] =
            [(self.nodes[0], own), (self.nodes[1], other)].map(|(nodes, name)| policy(nodes, name));
        own.is_some() && own == other
    }

    /// Reports a port channel that is not in the vPC of the port channel with the same name on the peer: it
    /// is in no vPC, or in a vPC that the peer does not have.
    fn check_missing(
        &self,
        own: &Switch,
        (far, other): (&Channel, &Switch),
        found: &mut Vec<NetworkFinding>,
    ) {
        let namesake = own.channels.iter().find(|near| near.name == far.name);
        if let Some(near) = namesake
            && let [Some(here), Some(there)] = [near.vpc, far.vpc]
            && ![here, there].contains(&PEER_LINK)
            && !other.channels.iter().any(|channel| channel.vpc == near.vpc)
        {
            let message = format!(
                "{} of {} is in vPC {here}, but in vPC {there} on the other switch of the vPC domain ({}); \
                 neither switch has the vPC of the other",
                near.name,
                self.snapshot.devices[self.device].name,
                self.snapshot.place(self.far, far.vpc_line)
            );
            let effect = "the neighbor does not form one bundle to both switches: one of its ports is down";
            self.report(near.vpc_line, (message, effect.to_owned()), found);
            return;
        }
        let bare = own.channels.iter().find(|near| near.vpc.is_none() && near.name == far.name);
        let (Some(near), Some(number)) = (bare, far.vpc) else { return };
        let message = format!(
            "{} of {} has no `vpc {number}`, but the other switch of the vPC domain has it ({})",
            near.name,
            self.snapshot.devices[self.device].name,
            self.snapshot.place(self.far, far.line)
        );
        let effect = "the neighbor does not form one bundle to both switches".to_owned();
        self.report(near.line, (message, effect), found);
    }

    fn report(&self, line: usize, texts: (String, String), found: &mut Vec<NetworkFinding>) {
        found.push(self.snapshot.finding(self.device, &rules::NETWORK_SETTING_DIFFERS, line, texts));
    }
}

/// Reads the settings of a switch that has a vPC domain and a peer link.
fn read<'t>(device: usize, nodes: &[Node<'t>]) -> Option<Switch<'t>> {
    let block = nodes.iter().find(|node| node.begins_with("vpc domain "))?;
    let domain = *block.words().get(2)?;
    let keepalive = block.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["peer-keepalive", "destination", to, "source", from, ..] => Some([to, from]),
        _ => None,
    });
    let mut common = Settings::new();
    for inner in &block.inner {
        let name = match inner.line.1.trim() {
            "peer-switch" => "peer-switch",
            "peer-gateway" => "peer-gateway",
            _ => continue,
        };
        common.insert(name, (inner.line.0, name.to_owned()));
    }
    read_queues(nodes, &mut common);
    let up = || nodes.iter().filter(|node| !node.is_shut());
    let mut channels: Vec<Channel> = up().filter_map(read_channel).collect();
    for node in up().filter(|node| node.begins_with("interface Ethernet")) {
        read_member(node, &mut channels);
    }
    let has_link = channels.iter().any(|channel| channel.vpc == Some(PEER_LINK));
    has_link.then_some(Switch { device, domain, line: block.line.0, keepalive, common, channels })
}

/// Adds the policies that apply to the whole switch, and the content of the network-qos policy.
fn read_queues(nodes: &[Node], common: &mut Settings) {
    let Some(system) = nodes.iter().find(|node| node.line.1.trim() == "system qos") else { return };
    for inner in &system.inner {
        match *inner.words().as_slice() {
            ["service-policy", "type", "network-qos", policy] => {
                common.insert("the network-qos policy", (inner.line.0, policy.to_owned()));
                let start = format!("policy-map type network-qos {policy}");
                let Some(own) = nodes.iter().find(|node| node.line.1.trim() == start) else { continue };
                let classes = own.inner.iter().map(|class| {
                    let mut lines: Vec<&str> = class.inner.iter().map(|line| line.line.1.trim()).collect();
                    lines.sort_unstable();
                    format!("{}: {}", class.line.1.trim(), lines.join(", "))
                });
                let mut classes: Vec<String> = classes.collect();
                classes.sort_unstable();
                common.insert("the content of the network-qos policy", (own.line.0, classes.join("; ")));
            }
            ["service-policy", "type", "queuing", "output", policy] => {
                common.insert("the output policy", (inner.line.0, policy.to_owned()));
            }
            ["service-policy", "type", "queuing", "input", policy] => {
                common.insert("the input policy", (inner.line.0, policy.to_owned()));
            }
            _ => {}
        }
    }
}

/// Returns the lines of a policy with their depth; `None` if the switch does not define it.
fn policy<'t>(nodes: &[Node<'t>], name: &str) -> Option<Vec<(usize, &'t str)>> {
    let mut lines = Vec::new();
    add_lines(policy_map(nodes, name)?, 0, &mut lines);
    Some(lines)
}

fn add_lines<'t>(node: &Node<'t>, depth: usize, lines: &mut Vec<(usize, &'t str)>) {
    for inner in &node.inner {
        lines.push((depth, inner.line.1.trim()));
        add_lines(inner, depth + 1, lines);
    }
}

fn read_channel<'t>(node: &Node<'t>) -> Option<Channel<'t>> {
    let ["interface", name] = *node.words().as_slice() else { return None };
    name.strip_prefix("port-channel")?.parse::<u16>().ok()?;
    let vpc = node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["vpc", number] => Some((number, inner.line.0)),
        _ => None,
    });
    let vpc_line = vpc.map_or(node.line.0, |(_, line)| line);
    Some(Channel {
        name,
        line: node.line.0,
        vpc: vpc.map(|(number, _)| number),
        vpc_line,
        settings: settings(node),
        members: BTreeMap::new(),
    })
}

/// Adds a member port to its port channel. The mode of the member becomes a setting of the channel.
fn read_member<'t>(node: &Node<'t>, channels: &mut [Channel<'t>]) {
    let ["interface", name] = *node.words().as_slice() else { return };
    for inner in &node.inner {
        let words = inner.words();
        let ["channel-group", number, rest @ ..] = words.as_slice() else { continue };
        let is_own = |channel: &&mut Channel| channel.name.strip_prefix("port-channel") == Some(number);
        let Some(channel) = channels.iter_mut().find(is_own) else { continue };
        let protocol = match rest {
            ["mode", "active" | "passive"] => "LACP",
            _ => "on",
        };
        channel.settings.entry(MODE).or_insert((inner.line.0, protocol.to_owned()));
        channel.members.insert(name, (node.line.0, settings(node)));
    }
}

/// Returns the settings of a port that must be equal on both switches, except default values.
fn settings(node: &Node) -> Settings {
    let mut found = Settings::new();
    let mut trunk = Trunk::default();
    for inner in &node.inner {
        let words = inner.words();
        let (name, value, usual) = match words.as_slice() {
            ["mtu", bytes] => ("the MTU", (*bytes).to_owned(), "1500"),
            ["speed", speed] => ("the speed", (*speed).to_owned(), "auto"),
            ["duplex", duplex] => ("the duplex mode", (*duplex).to_owned(), "auto"),
            ["switchport", "mode", mode] => ("the mode", (*mode).to_owned(), "access"),
            ["switchport", "access", "vlan", vlan] => ("the access VLAN", (*vlan).to_owned(), "1"),
            ["switchport", "trunk", "native", "vlan", vlan] => ("the native VLAN", (*vlan).to_owned(), "1"),
            ["spanning-tree", "port", "type", kind @ ..] => ("the type", kind.join(" "), "normal"),
            ["spanning-tree", "guard", guard] => ("the guard", (*guard).to_owned(), "none"),
            ["priority-flow-control", "mode", mode] => ("the flow control", (*mode).to_owned(), "auto"),
            ["service-policy", "type", "qos", "input", policy] => {
                ("the input policy", (*policy).to_owned(), "")
            }
            ["switchport", "trunk", "allowed", "vlan", list @ ..] => {
                read_allowed(&mut trunk, list);
                let Some(allowed) = &trunk.allowed else { continue };
                let numbers: Vec<String> = allowed.iter().map(u16::to_string).collect();
                ("the allowed VLANs", numbers.join(","), "")
            }
            _ => continue,
        };
        if value != usual {
            found.insert(name, (inner.line.0, value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces;
    use super::{MODE, peer, read};

    fn text(domain: u8, own: u8, far: u8) -> String {
        format!(
            "vpc domain {domain}\n  peer-keepalive destination 192.0.2.{far} source 192.0.2.{own}\ninterface \
             port-channel1\n  switchport trunk allowed vlan 7\n  switchport trunk allowed vlan add 8-9\n  mtu \
             1500\n  vpc peer-link\ninterface Ethernet1/1\n  channel-group 1 mode passive"
        )
    }

    #[test]
    fn defaults_and_modes_of_one_protocol_are_equal() {
        let own = text(3, 1, 2);
        let nodes = braces::read(&own);
        let found = read(0, &nodes).unwrap();
        let settings = &found.channels[0].settings;
        assert_eq!(settings["the allowed VLANs"], (5, "7,8,9".to_owned()));
        assert_eq!(settings[MODE].1, "LACP");
        assert!(!settings.contains_key("the MTU"), "1500 is the default");
    }

    #[test]
    fn keepalives_tell_pairs_of_one_domain_apart() {
        let texts = [text(3, 1, 2), text(3, 2, 1), text(3, 3, 4), text(4, 5, 6)];
        let trees: Vec<_> = texts.iter().map(|text| braces::read(text)).collect();
        let all: Vec<_> = trees.iter().enumerate().filter_map(|(place, nodes)| read(place, nodes)).collect();
        assert_eq!(peer(&all[0], &all).map(|other| other.device), Some(1));
        assert!(peer(&all[2], &all).is_none() && peer(&all[3], &all).is_none());
    }
}
