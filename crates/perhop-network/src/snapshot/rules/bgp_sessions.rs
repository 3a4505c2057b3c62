//! BGP sessions that only one end configures, or that both ends configure differently.
//!
//! The rule reads lines of the text, as [`bgp`](super::bgp) does. It skips ends with `local-as` and
//! confederations, because their neighbors see another AS number.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_qos::classifier::Prefix;

use super::{NetworkFinding, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// The BGP process of a device.
#[derive(Debug, Default)]
struct Process {
    line: usize,
    number: String,
    /// The settings, by the address of a neighbor or the name of a peer group.
    ends: BTreeMap<String, End>,
    /// The subnets from which the device accepts sessions (`bgp listen range`).
    listens: Vec<Prefix>,
    /// Whether neighbors can see another AS number than that of the process.
    hides_number: bool,
}

/// The settings of a neighbor or of a peer group.
#[derive(Debug, Default)]
struct End {
    line: usize,
    group: Option<String>,
    number: Option<(usize, String)>,
    password: Option<usize>,
    has_own_number: bool,
}

/// Reads the BGP process of a device.
fn process<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Option<Process> {
    let mut found: Option<Process> = None;
    let mut is_inside = false;
    for (line, text) in lines {
        let words: Vec<&str> = text.split_whitespace().collect();
        if !text.starts_with(' ') {
            is_inside = words.starts_with(&["router", "bgp"]);
            if is_inside {
                let number = words.get(2).map_or_else(String::new, ToString::to_string);
                found = Some(Process { line, number, ..Process::default() });
            }
            continue;
        }
        if let Some(process) = found.as_mut().filter(|_| is_inside) {
            process.read(line, &words);
        }
    }
    found
}

impl Process {
    fn read(&mut self, line: usize, words: &[&str]) {
        match words {
            ["bgp", "confederation", ..] => self.hides_number = true,
            ["bgp", "listen", "range", subnet, ..] => self.listens.extend(subnet.parse::<Prefix>()),
            ["neighbor", name, setting @ ..] => {
                let end = self.ends.entry((*name).to_owned()).or_insert(End { line, ..End::default() });
                match setting {
                    ["remote-as", number, ..] => end.number = Some((line, (*number).to_owned())),
                    ["peer-group", group, ..] => end.group = Some((*group).to_owned()),
                    ["password", ..] => end.password = Some(line),
                    // A neighbor with its own block (NX-OS, IOS XR) has settings that this function does not
                    // read.
                    [] => self.hides_number = true,
                    ["local-as", ..] => end.has_own_number = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the settings of a neighbor, completed with those of its peer group.
    fn settings(&self, end: &End) -> (Option<(usize, String)>, Option<usize>, bool) {
        let group = end.group.as_ref().and_then(|group| self.ends.get(group));
        let number = end.number.clone().or_else(|| group.and_then(|group| group.number.clone()));
        let password = end.password.or_else(|| group.and_then(|group| group.password));
        (number, password, end.has_own_number || group.is_some_and(|group| group.has_own_number))
    }

    fn listens_to(&self, addresses: &BTreeSet<IpAddr>) -> bool {
        self.listens.iter().any(|range| addresses.iter().any(|address| range.contains((*address).into())))
    }
}

/// Reports the sessions whose ends do not match.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Option<Process>> =
        snapshot.devices.iter().map(|member| process(member.device.numbered_lines())).collect();
    let own: Vec<BTreeSet<IpAddr>> = (0..snapshot.devices.len())
        .map(|device| {
            let ports = snapshot.router(device).ports.iter();
            ports.flat_map(|port| addresses(port).map(|own| own.address)).collect()
        })
        .collect();
    for (device, process) in processes.iter().enumerate() {
        let Some(process) = process.as_ref().filter(|process| !process.hides_number) else { continue };
        for (name, end) in &process.ends {
            let Ok(address) = name.parse::<Ipv4Addr>() else { continue };
            let Some(far) = snapshot.owner(address.into()).map(|id| id.device) else { continue };
            let Some(other) = processes[far].as_ref().filter(|other| !other.hides_number) else { continue };
            if far != device {
                let back = other.ends.iter().find(|(name, _)| {
                    name.parse::<IpAddr>().is_ok_and(|address| own[device].contains(&address))
                });
                let session = Session { snapshot, device, far, process, other, address };
                let far_end = match back {
                    Some((_, end)) => FarEnd::Configured(end),
                    None if other.listens_to(&own[device]) => FarEnd::Listening,
                    None => FarEnd::Absent,
                };
                session.check(end, far_end, found);
            }
        }
    }
}

/// The settings of the far end of a session.
#[derive(Clone, Copy)]
enum FarEnd<'e> {
    Configured(&'e End),
    /// The far end accepts sessions from a subnet that contains the neighbor.
    Listening,
    Absent,
}

/// A session as one end configures it.
struct Session<'s, 'a> {
    snapshot: &'s Snapshot<'a>,
    device: usize,
    far: usize,
    process: &'s Process,
    other: &'s Process,
    address: Ipv4Addr,
}

impl Session<'_, '_> {
    fn check(&self, end: &End, far_end: FarEnd, found: &mut Vec<NetworkFinding>) {
        let (number, password, has_own_number) = self.process.settings(end);
        let near = &self.snapshot.devices[self.device].name;
        let far = &self.snapshot.devices[self.far].name;
        let back = match far_end {
            FarEnd::Configured(back) => back,
            FarEnd::Listening => return,
            FarEnd::Absent => {
                let message = format!("{far} does not configure {near} as a neighbor");
                self.report(self.device, end.line, message, found);
                let message =
                    format!("{near} configures {far} as a neighbor, but {far} does not configure {near}");
                self.report(self.far, self.other.line, message, found);
                return;
            }
        };
        let (_, back_password, back_has_own_number) = self.other.settings(back);
        if let Some((line, number)) = number
            && number != self.other.number
            && !has_own_number
            && !back_has_own_number
        {
            let message = format!(
                "the neighbor {} has AS number {number} here, but {far} is in AS {} ({})",
                self.address,
                self.other.number,
                self.snapshot.place(self.far, self.other.line)
            );
            self.report(self.device, line, message, found);
        }
        if let (Some(line), None) = (password, back_password) {
            let message = format!(
                "the session with {far} has a password here, but none there ({})",
                self.snapshot.place(self.far, back.line)
            );
            self.report(self.device, line, message.clone(), found);
            self.report(
                self.far,
                back.line,
                format!("the session with {near} has a password there, but none here"),
                found,
            );
        }
    }

    fn report(&self, device: usize, line: usize, message: String, found: &mut Vec<NetworkFinding>) {
        let effect = "the routers have no session and exchange no routes".to_owned();
        let rule = &rules::NETWORK_SESSION_DIFFERS;
        found.push(self.snapshot.finding(device, rule, line, (message, effect)));
    }
}

#[cfg(test)]
mod tests {
    use super::process;

    #[test]
    fn a_group_gives_its_settings_to_its_neighbors() {
        let text = "router bgp 65000\n neighbor SPOKES peer-group\n neighbor SPOKES remote-as 65001\n \
                    neighbor SPOKES password x\n neighbor 192.0.2.1 peer-group SPOKES\n \
                    bgp listen range 10.0.0.0/24 peer-group SPOKES\nrouter ospf 1\n neighbor 192.0.2.9";
        let found = process(text.lines().enumerate().map(|(place, line)| (place + 1, line))).unwrap();
        let (number, password, _) = found.settings(&found.ends["192.0.2.1"]);
        assert_eq!((number, password), (Some((3, "65001".to_owned())), Some(4)));
        assert!(found.listens_to(&["10.0.0.7".parse().unwrap()].into()));
        assert!(!found.ends.contains_key("192.0.2.9"), "a neighbor of another protocol");
    }
}
