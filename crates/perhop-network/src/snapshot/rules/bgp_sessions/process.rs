//! [`Process`]: the neighbors of a BGP process, as its lines configure them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::secrets::Secret;

/// The address family that neighbors exchange by default.
pub(super) const IPV4: &str = "ipv4";

/// The routing table of a neighbor or peer group (VRF; `None` for the global table), and its address or name.
pub(super) type Name = (Option<String>, String);

/// The BGP process of a device.
#[derive(Debug, Default)]
pub(in crate::snapshot) struct Process {
    pub(super) line: usize,
    pub(in crate::snapshot) number: String,
    /// The line with the AS number.
    pub(super) number_line: usize,
    /// The settings of neighbors and peer groups.
    pub(in crate::snapshot) ends: BTreeMap<Name, End>,
    /// The subnets from which the device accepts sessions (`bgp listen range`).
    pub(super) listens: Vec<Prefix>,
    /// Whether neighbors can see an AS number other than the number of the process.
    pub(in crate::snapshot) hides_number: bool,
    /// Whether neighbors exchange routes only if a line activates them.
    pub(super) has_no_default: bool,
}

/// The settings of a neighbor or of a peer group.
#[derive(Clone, Debug, Default)]
pub(in crate::snapshot) struct End {
    pub(in crate::snapshot) line: usize,
    pub(super) vrf: Option<String>,
    pub(in crate::snapshot) group: Option<String>,
    pub(in crate::snapshot) number: Option<(usize, String)>,
    pub(super) password: Option<(usize, Option<Secret>)>,
    pub(in crate::snapshot) has_own_number: bool,
    /// The address families that the session exchanges.
    pub(in crate::snapshot) families: BTreeSet<String>,
    /// The address families that a line deactivates.
    pub(super) removed: BTreeSet<String>,
    /// The interface or address from which the session starts, with its line.
    pub(in crate::snapshot) source: Option<(usize, String)>,
    /// The first line of the last address-family block that names the neighbor.
    pub(super) block: Option<usize>,
    /// Whether a template may contain further settings of the neighbor.
    pub(in crate::snapshot) inherits: bool,
    /// The line that enables the detection of failures (BFD).
    pub(super) detection: Option<usize>,
    /// Whether the neighbor may have an address that is on no link of the device.
    pub(super) is_far: bool,
}

/// Reads the BGP process of a device.
pub(in crate::snapshot) fn process<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Option<Process> {
    let mut found: Option<Process> = None;
    let mut is_inside = false;
    let mut block = Block::default();
    // The indentation of the previous line, if that line is about a neighbor.
    let mut depth_of_neighbor = None;
    for (line, text) in lines {
        if !text.starts_with(' ') {
            let mut words = text.split_whitespace();
            is_inside = words.by_ref().take(2).eq(["router", "bgp"]);
            if is_inside {
                let number = words.next().map_or_else(String::new, system_number);
                found = Some(Process { line, number, number_line: line, ..Process::default() });
                block = Block::default();
            }
            continue;
        }
        let depth = text.len() - text.trim_start().len();
        let words = text.split_whitespace();
        let is_about_neighbor = words.clone().next() == Some("neighbor");
        let Some(process) = found.as_mut().filter(|_| is_inside) else {
            depth_of_neighbor = is_about_neighbor.then_some(depth);
            continue;
        };
        let words: Vec<&str> = words.collect();
        match words.as_slice() {
            ["address-family", name, rest @ ..] => {
                let is_plain = rest.first().is_none_or(|word| ["unicast", "vrf"].contains(word));
                let family = if is_plain { (*name).to_owned() } else { format!("{name} {}", rest[0]) };
                let vrf = rest.iter().skip_while(|word| **word != "vrf").nth(1).map(ToString::to_string);
                block = Block { line: Some(line), family, vrf };
            }
            ["exit-address-family"] => block = Block::default(),
            _ => {}
        }
        process.read(line, &words, &block);
        // The reader skips settings in the block of a neighbor (NX-OS, IOS XR), so the AS number can be
        // hidden.
        process.hides_number |= depth_of_neighbor.is_some_and(|outer| outer < depth);
        depth_of_neighbor = is_about_neighbor.then_some(depth);
    }
    found
}

/// Returns an AS number as one decimal number: `65546` for `1.10` (RFC 5396).
fn system_number(word: &str) -> String {
    let parts =
        word.split_once('.').and_then(|(high, low)| Some((high.parse::<u16>().ok()?, low.parse().ok()?)));
    parts.map_or_else(
        || word.to_owned(),
        |(high, low): (u16, u16)| (u32::from(high) << 16 | u32::from(low)).to_string(),
    )
}

/// The address-family block that contains a line.
struct Block {
    /// The first line of the block; `None` outside of such blocks.
    line: Option<usize>,
    family: String,
    vrf: Option<String>,
}

impl Default for Block {
    fn default() -> Block {
        Block { line: None, family: IPV4.to_owned(), vrf: None }
    }
}

impl Process {
    fn read(&mut self, line: usize, words: &[&str], block: &Block) {
        match words {
            ["no", "bgp", "default", "ipv4-unicast"] => self.has_no_default = true,
            ["bgp", "confederation", ..] => self.hides_number = true,
            ["bgp", "listen", "range", subnet, ..] => self.listens.extend(subnet.parse::<Prefix>()),
            ["no", "neighbor", name, "activate"] => {
                if let Some(end) = self.ends.get_mut(&(block.vrf.clone(), (*name).to_owned())) {
                    end.removed.insert(block.family.clone());
                }
            }
            ["neighbor", name, setting @ ..] => {
                let vrf = block.vrf.clone();
                let name = (vrf.clone(), (*name).to_owned());
                let end = self.ends.entry(name).or_insert(End { line, vrf, ..End::default() });
                end.block = block.line.or(end.block);
                match setting {
                    ["remote-as", "internal", ..] => end.number = Some((line, self.number.clone())),
                    // `external` means any number except the number of the device.
                    ["inherit", ..] | ["remote-as", "external", ..] => end.inherits = true,
                    ["remote-as", number, ..] => end.number = Some((line, system_number(number))),
                    // EOS writes two words.
                    ["peer-group", group, ..] | ["peer", "group", group, ..] => {
                        end.group = Some((*group).to_owned());
                    }
                    ["password", secret @ ..] => end.password = Some((line, Secret::read(secret))),
                    ["activate"] => _ = end.families.insert(block.family.clone()),
                    ["update-source", source, ..] => end.source = Some((line, (*source).to_owned())),
                    ["disable-connected-check" | "ebgp-multihop" | "ttl-security", ..] => end.is_far = true,
                    [] => self.hides_number = true,
                    ["fall-over", "bfd", ..] => end.detection = Some(line),
                    ["local-as", ..] => end.has_own_number = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the settings of a neighbor, with the settings of its peer group where its own are missing.
    pub(in crate::snapshot) fn settings(&self, end: &End) -> End {
        let mut found = end.clone();
        let group = end.group.as_ref().and_then(|group| {
            let in_table = self.ends.get(&(end.vrf.clone(), group.clone()));
            in_table.or_else(|| self.ends.get(&(None, group.clone())))
        });
        if let Some(group) = group {
            found.number = found.number.or_else(|| group.number.clone());
            found.password = found.password.or_else(|| group.password.clone());
            found.source = found.source.or_else(|| group.source.clone());
            found.detection = found.detection.or(group.detection);
            found.has_own_number |= group.has_own_number;
            found.inherits |= group.inherits;
            found.is_far |= group.is_far;
            found.families.extend(group.families.iter().cloned());
        }
        if !self.has_no_default {
            found.families.insert(IPV4.to_owned());
        }
        for removed in &end.removed {
            found.families.remove(removed);
        }
        found
    }

    pub(super) fn listens_to(&self, addresses: &BTreeSet<IpAddr>) -> bool {
        self.listens.iter().any(|range| addresses.iter().any(|address| range.contains((*address).into())))
    }
}

#[cfg(test)]
mod tests {
    use super::process;

    fn read(text: &str) -> super::Process {
        process(text.lines().enumerate().map(|(place, line)| (place + 1, line))).unwrap()
    }

    #[test]
    fn a_group_gives_its_settings_to_its_neighbors() {
        let text = "router bgp 65000\n neighbor SPOKES peer-group\n neighbor SPOKES remote-as 65001\n \
                    neighbor SPOKES password x\n neighbor 192.0.2.1 peer-group SPOKES\n \
                    bgp listen range 10.0.0.0/24 peer-group SPOKES\nrouter ospf 1\n neighbor 192.0.2.9";
        let found = read(text);
        let own = found.settings(&found.ends[&(None, "192.0.2.1".to_owned())]);
        assert_eq!(
            (own.number, own.password.map(|(line, _)| line)),
            (Some((3, "65001".to_owned())), Some(4))
        );
        assert!(found.listens_to(&["10.0.0.7".parse().unwrap()].into()));
        let is_known = found.ends.keys().any(|(_, name)| name == "192.0.2.9");
        assert!(!is_known, "a neighbor of another protocol");
    }

    #[test]
    fn a_neighbor_exchanges_the_families_that_activate_it() {
        let text = "router bgp 65000\n no bgp default ipv4-unicast\n neighbor 192.0.2.1 remote-as 65000\n \
                    neighbor 192.0.2.2 remote-as 65000\n address-family vpnv4\n  neighbor 192.0.2.1 activate\n \
                    exit-address-family\n address-family ipv4 vrf A\n  neighbor 10.0.0.1 remote-as 65001\n  \
                    neighbor 10.0.0.1 activate";
        let found = read(text);
        let families = |vrf: Option<&str>, name: &str| {
            let end = &found.ends[&(vrf.map(str::to_owned), name.to_owned())];
            found.settings(end).families.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(families(None, "192.0.2.1"), ["vpnv4"]);
        assert!(families(None, "192.0.2.2").is_empty());
        assert_eq!(families(Some("A"), "10.0.0.1"), ["ipv4"]);
    }

    #[test]
    fn numbers_have_one_form() {
        let text =
            "router bgp 1.10\n neighbor 192.0.2.1 remote-as 1.11\n neighbor 192.0.2.2 remote-as internal";
        let found = read(text);
        let number = |name: &str| found.ends[&(None, name.to_owned())].number.clone().unwrap().1;
        assert_eq!(found.number, "65546");
        assert_eq!((number("192.0.2.1"), number("192.0.2.2")), ("65547".to_owned(), "65546".to_owned()));
    }

    #[test]
    fn a_block_of_a_neighbor_can_change_every_setting() {
        let text = "router bgp 65001\n  neighbor 192.0.2.1 remote-as 65009\n    ebgp-multihop 2";
        assert!(read(text).hides_number);
        let flat =
            "router bgp 65001\n  neighbor 192.0.2.1 remote-as 65009\n  neighbor 192.0.2.1 ebgp-multihop 2";
        assert!(!read(flat).hides_number);
    }
}
