//! [`Switch`]: the VLANs of the ports of a device, read from the text.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;

/// The VLAN of a port without a configured VLAN (IEEE 802.1Q, default PVID).
pub(super) const USUAL: u16 = 1;

/// A VLAN, and the line that configures it.
pub(super) type At = (u16, usize);

/// A trunk: a port that carries several VLANs.
#[derive(Clone, Debug, Default)]
pub(super) struct Trunk {
    /// The line that limits the VLANs of the trunk, otherwise the first line of the port.
    pub(super) line: usize,
    /// The VLANs that the trunk carries; `None` for all VLANs.
    pub(super) allowed: Option<BTreeSet<u16>>,
    /// The native VLAN, whose frames have no tag.
    pub(super) native: Option<At>,
}

impl Trunk {
    pub(super) fn carries(&self, vlan: u16) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&vlan))
    }
}

/// The VLANs of the ports of a device.
#[derive(Default)]
pub(super) struct Switch<'t> {
    pub(super) trunks: BTreeMap<&'t str, Trunk>,
    /// The VLANs of access ports that are up.
    pub(super) access: Vec<At>,
    /// The voice VLANs of access ports that are up.
    pub(super) voice: Vec<At>,
    /// The VLANs in which the device has a virtual interface (SVI).
    pub(super) own: BTreeSet<u16>,
    /// The VLANs of sub-interfaces, by the port of the sub-interface.
    pub(super) tags: BTreeMap<&'t str, Vec<At>>,
}

impl<'t> Switch<'t> {
    pub(super) fn read(nodes: &[Node<'t>]) -> Switch<'t> {
        let mut found = Switch::default();
        for node in nodes {
            let ["interface", name, ..] = *node.words().as_slice() else { continue };
            let lines: Vec<(usize, Vec<&str>)> =
                node.inner.iter().map(|inner| (inner.line.0, inner.words())).collect();
            if lines.iter().any(|(_, words)| *words == ["shutdown"]) {
                continue;
            }
            found.read_port(name, node.line.0, &lines);
        }
        found
    }

    fn read_port(&mut self, name: &'t str, first: usize, lines: &[(usize, Vec<&str>)]) {
        let mut trunk = Trunk { line: first, ..Trunk::default() };
        let mut is_trunk = false;
        for (line, words) in lines {
            let number = |word: &str| Some((word.parse::<u16>().ok()?, *line));
            match words.as_slice() {
                ["switchport", "access", "vlan", vlan] => self.access.extend(number(vlan)),
                ["switchport", "voice", "vlan", vlan] => self.voice.extend(number(vlan)),
                ["switchport", "mode", "trunk"] => is_trunk = true,
                ["switchport", "trunk", "native", "vlan", vlan] => trunk.native = number(vlan),
                ["switchport", "trunk", "allowed", "vlan", rest @ ..] => {
                    is_trunk = true;
                    trunk.line = *line;
                    read_allowed(&mut trunk, rest);
                }
                ["encapsulation", "dot1Q" | "dot1q", vlan, rest @ ..] if !rest.contains(&"native") => {
                    let port = name.split('.').next().unwrap_or(name);
                    self.tags.entry(port).or_default().extend(number(vlan));
                }
                ["ip", "address", ..] => {
                    self.own.extend(name.strip_prefix("Vlan").and_then(|vlan| vlan.parse::<u16>().ok()));
                }
                _ => {}
            }
        }
        if is_trunk {
            self.trunks.insert(name, trunk);
        }
    }

    /// Whether an access port or a virtual interface of the device is in a VLAN.
    pub(super) fn uses(&self, vlan: u16) -> bool {
        self.own.contains(&vlan) || self.access.iter().chain(&self.voice).any(|(own, _)| *own == vlan)
    }
}

/// Reads `[add] LIST`, `all`, `none` or `except LIST` into a trunk. A list that cannot be read means `all`.
pub(super) fn read_allowed(trunk: &mut Trunk, words: &[&str]) {
    trunk.allowed = match words {
        ["none"] => Some(BTreeSet::new()),
        ["add", list] => match (trunk.allowed.take(), vlans(list)) {
            (Some(own), Some(more)) => Some(own.into_iter().chain(more).collect()),
            _ => None,
        },
        [list] => vlans(list),
        _ => None,
    };
}

/// Returns the VLANs of a list such as `10,20-22`.
pub(super) fn vlans(list: &str) -> Option<BTreeSet<u16>> {
    let mut found = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        found.extend(first.parse::<u16>().ok()?..=last.parse().ok()?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::super::tree::{Numbered, tree};
    use super::Switch;

    #[test]
    fn ports_have_vlans() {
        let text = [
            "interface Gi0/1",
            " switchport access vlan 10",
            " switchport voice vlan 20",
            "interface Gi0/2",
            " switchport trunk allowed vlan 10,30-32",
            " switchport trunk allowed vlan add 40",
            "interface Gi0/3",
            " switchport mode trunk",
            "interface Gi0/4",
            " switchport access vlan 99",
            " shutdown",
            "interface Vlan30",
            " ip address 192.0.2.1 255.255.255.0",
        ];
        let lines: Vec<Numbered> = text.iter().enumerate().map(|(place, line)| (place + 1, *line)).collect();
        let found = Switch::read(&tree(&lines));
        assert_eq!((found.access.clone(), found.voice.clone()), (vec![(10, 2)], vec![(20, 3)]));
        let carried: Vec<u16> = (1..50).filter(|vlan| found.trunks["Gi0/2"].carries(*vlan)).collect();
        assert_eq!(carried, [10, 30, 31, 32, 40]);
        assert!(found.trunks["Gi0/3"].carries(7) && found.uses(30) && !found.uses(99));
    }
}
