//! [`Process`]: the neighbors of BGP of a device with their settings, in both kinds of configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::texts::braces::{block, inside, words};
use super::tree::Node;

/// The BGP process of a device.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) line: usize,
    pub(super) number: String,
    /// The line of its number, if it is apart from the neighbors.
    number_line: Option<usize>,
    /// By the address or the name of a group of neighbors.
    pub(super) ends: BTreeMap<String, End>,
    /// The subnets whose routers may connect.
    listens: Vec<Prefix>,
    /// Whether neighbors may see another number.
    pub(super) hides_number: bool,
}

/// The settings of a neighbor or of a group of neighbors.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    pub(super) line: usize,
    group: Option<String>,
    pub(super) number: Option<(usize, String)>,
    pub(super) password: Option<usize>,
    /// The interface or the address from which the device connects.
    pub(super) source: Option<(usize, String)>,
    pub(super) has_own_number: bool,
    /// Whether the neighbor may be on no link of the device.
    pub(super) is_far: bool,
}

impl Process {
    /// Reads the process of a device.
    pub(super) fn read(nodes: &[Node]) -> Option<Process> {
        let lines = nodes.iter().rfind(|node| node.line.1.starts_with("router bgp "));
        lines.map(Process::of_lines).or_else(|| Process::of_braces(nodes))
    }

    fn of_lines(node: &Node) -> Process {
        let number = node.words().get(2).map_or_else(String::new, ToString::to_string);
        let mut found = Process { line: node.line.0, number, ..Process::default() };
        let families = node.inner.iter().flat_map(|inner| &inner.inner);
        let mut all: Vec<&Node> = node.inner.iter().chain(families).collect();
        all.sort_by_key(|inner| inner.line.0);
        for inner in all {
            found.add_line(inner.line.0, &inner.words());
        }
        found
    }

    fn add_line(&mut self, line: usize, words: &[&str]) {
        match words {
            ["bgp", "confederation", ..] => self.hides_number = true,
            ["bgp", "listen", "range", subnet, ..] => self.listens.extend(subnet.parse::<Prefix>()),
            ["neighbor", name, setting @ ..] => {
                let end = self.ends.entry((*name).to_owned()).or_insert(End { line, ..End::default() });
                match setting {
                    ["remote-as", number, ..] => end.number = Some((line, (*number).to_owned())),
                    ["peer-group", group, ..] => end.group = Some((*group).to_owned()),
                    ["password", ..] => end.password = Some(line),
                    ["update-source", source] => end.source = Some((line, (*source).to_owned())),
                    // Settings in a block of their own (NX-OS, IOS XR) are not read.
                    [] => self.hides_number = true,
                    ["local-as", ..] => end.has_own_number = true,
                    ["disable-connected-check" | "ebgp-multihop" | "ttl-security", ..] => end.is_far = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn of_braces(nodes: &[Node]) -> Option<Process> {
        let options = block(nodes, &["routing-options"])?;
        let (number, number_line) =
            options.inner.iter().find_map(|inner| match *words(inner).as_slice() {
                ["autonomous-system", number, ..] => Some((number.to_owned(), inner.line.0)),
                _ => None,
            })?;
        let instances = block(nodes, &["routing-instances"]).map_or(&[][..], |node| &node.inner);
        let own = block(nodes, &["protocols", "bgp"]);
        let own = own.into_iter().map(|bgp| (bgp, false));
        let of_instances = instances.iter().filter_map(|instance| {
            let has_number = block(&instance.inner, &["routing-options"]).is_some_and(|options| {
                options.inner.iter().any(|inner| words(inner).first() == Some(&"autonomous-system"))
            });
            Some((block(&instance.inner, &["protocols", "bgp"])?, has_number))
        });
        let all: Vec<(&Node, bool)> = own.chain(of_instances).collect();
        let line = all.first()?.0.line.0;
        // Groups of statements may add neighbors and settings, and are not applied here.
        let hides_number = block(nodes, &["groups"]).is_some_and(|groups| !inside(groups, "bgp").is_empty());
        let mut found =
            Process { line, number, number_line: Some(number_line), hides_number, ..Process::default() };
        for (bgp, has_own_number) in all {
            let of_process = End { has_own_number, ..End::default() };
            let of_process = found.settings_of(bgp, of_process);
            for group in &bgp.inner {
                let ["group", _] = *words(group).as_slice() else { continue };
                let of_group = found.settings_of(group, of_process.clone());
                for neighbor in &group.inner {
                    let ["neighbor", address] = *words(neighbor).as_slice() else { continue };
                    let end = End { line: neighbor.line.0, ..of_group.clone() };
                    let end = found.settings_of(neighbor, end);
                    found.ends.insert(address.to_owned(), end);
                }
            }
        }
        Some(found)
    }

    /// Returns the settings of a block, where those of the block around it apply otherwise.
    fn settings_of(&mut self, node: &Node, around: End) -> End {
        let mut end = around;
        for inner in &node.inner {
            let line = inner.line.0;
            match *words(inner).as_slice() {
                ["type", "internal"] => {
                    end.number = Some((self.number_line.unwrap_or(line), self.number.clone()));
                }
                ["type", "external"] => end.number = None,
                ["peer-as", number] => end.number = Some((line, number.to_owned())),
                ["local-address", address] => end.source = Some((line, address.to_owned())),
                ["authentication-key" | "authentication-key-chain", ..] => end.password = Some(line),
                ["local-as", ..] => end.has_own_number = true,
                ["multihop", ..] => end.is_far = true,
                ["allow", ref subnets @ ..] => {
                    self.listens.extend(subnets.iter().filter_map(|subnet| subnet.parse::<Prefix>().ok()));
                }
                ["confederation", ..] => self.hides_number = true,
                _ => {}
            }
        }
        end
    }

    /// Returns the settings of a neighbor, with those of its group.
    pub(super) fn settings(&self, end: &End) -> End {
        let group = end.group.as_ref().and_then(|group| self.ends.get(group));
        let Some(group) = group else { return end.clone() };
        End {
            line: end.line,
            group: None,
            number: end.number.clone().or_else(|| group.number.clone()),
            password: end.password.or(group.password),
            source: end.source.clone().or_else(|| group.source.clone()),
            has_own_number: end.has_own_number || group.has_own_number,
            is_far: end.is_far || group.is_far,
        }
    }

    pub(super) fn listens_to(&self, addresses: &BTreeSet<IpAddr>) -> bool {
        self.listens.iter().any(|range| addresses.iter().any(|address| range.contains((*address).into())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts::braces::read;
    use super::Process;

    #[test]
    fn a_group_gives_its_settings_to_its_neighbors() {
        let text = "router bgp 65000\n neighbor SPOKES peer-group\n neighbor SPOKES remote-as 65001\n \
                    neighbor SPOKES password x\n neighbor SPOKES update-source Loopback0\n \
                    neighbor 192.0.2.1 peer-group SPOKES\n \
                    bgp listen range 10.0.0.0/24 peer-group SPOKES\nrouter ospf 1\n neighbor 192.0.2.9";
        let found = Process::read(&read(text)).unwrap();
        let end = found.settings(&found.ends["192.0.2.1"]);
        assert_eq!((end.number, end.password), (Some((3, "65001".to_owned())), Some(4)));
        assert_eq!(end.source, Some((5, "Loopback0".to_owned())));
        assert!(found.listens_to(&["10.0.0.7".parse().unwrap()].into()));
        assert!(!found.ends.contains_key("192.0.2.9"), "a neighbor of another protocol");
    }

    #[test]
    fn groups_with_braces_have_neighbors() {
        let text = "routing-options {\n    autonomous-system 65000;\n}\nprotocols {\n    bgp {\n        group \
                    INSIDE {\n            type internal;\n            local-address 10.0.0.1;\n            \
                    neighbor 10.0.0.2;\n            neighbor 10.0.0.3 {\n                local-address 10.0.0.9;\n            \
                    }\n        }\n    }\n}\nrouting-instances {\n    RED {\n        protocols {\n            bgp {\n                \
                    group CE {\n                    neighbor 192.0.2.1 {\n                        peer-as 65001;\n                    \
                    }\n                }\n            }\n        }\n    }\n}";
        let found = Process::read(&read(text)).unwrap();
        let shown: Vec<_> = found.ends.iter().map(|(name, end)| {
            let number = end.number.as_ref().map(|(_, number)| number.as_str());
            (name.as_str(), end.line, number, end.source.as_ref().map(|(line, _)| *line))
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(
            shown,
            [
                ("10.0.0.2", 9, Some("65000"), Some(8)),
                ("10.0.0.3", 10, Some("65000"), Some(11)),
                ("192.0.2.1", 21, Some("65001"), None)
            ]
        );
    }
}
