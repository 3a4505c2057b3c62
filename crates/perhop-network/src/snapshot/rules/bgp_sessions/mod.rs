//! BGP sessions that only one end configures, or whose ends have different settings.
//!
//! The rule reads lines of the text, as [`bgp`](super::bgp) does. It skips devices with `local-as` or a
//! confederation, because their neighbors see another AS number.

pub(in crate::snapshot) mod process;
mod statements;
mod strangers;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_device::{LineKind, Port};
use process::{End, Process, process};

use super::tree::{Numbered, tree};
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::carries_packets;

/// Reports sessions whose ends have different settings.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let processes: Vec<Option<Process>> = (0..snapshot.devices.len())
        .map(|device| {
            let lines = || snapshot.devices[device].device.numbered_lines();
            process(lines()).or_else(|| statements::process(&tree(&lines().collect::<Vec<Numbered>>())))
        })
        .collect();
    let own: Vec<BTreeSet<IpAddr>> = (0..snapshot.devices.len())
        .map(|device| {
            let ports = snapshot.router(device).ports.iter();
            ports.flat_map(|port| addresses(port).map(|own| own.address)).collect()
        })
        .collect();
    let owners = owners(snapshot);
    for (device, process) in processes.iter().enumerate() {
        let Some(process) = process.as_ref().filter(|process| !process.hides_number) else { continue };
        for ((_, name), end) in &process.ends {
            let Ok(address) = name.parse::<Ipv4Addr>() else { continue };
            report_without_number(snapshot, device, (name, &process.settings(end)), found);
            let Some(devices) = owners.get(&address.into()) else {
                strangers::check(snapshot, (device, process), end, address.into(), found);
                continue;
            };
            // In different routing tables, several devices can have the same address.
            let only = devices.first().copied().filter(|_| devices.len() == 1);
            let far = only.or_else(|| owner_on_link(snapshot, device, end, address.into()));
            let Some(far) = far else { continue };
            let Some(other) = processes[far].as_ref().filter(|other| !other.hides_number) else { continue };
            if far == device {
                continue;
            }
            let session = Session { snapshot, device, far, other, address, end: process.settings(end) };
            let back = other.ends.iter().filter_map(|((_, name), end)| {
                let address: IpAddr = name.parse().ok()?;
                own[device].contains(&address).then_some((address, end))
            });
            let back: Vec<(IpAddr, &End)> = back.collect();
            match session.best(&back) {
                Some((address, end)) => session.check(address, &other.settings(end), found),
                None if other.listens_to(&own[device]) => {}
                None => session.report_absent(found),
            }
        }
    }
}

/// Returns, for each address, the devices that have it.
fn owners(snapshot: &Snapshot) -> BTreeMap<IpAddr, BTreeSet<usize>> {
    let mut found: BTreeMap<IpAddr, BTreeSet<usize>> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        let up = router.ports.iter().filter(|port| carries_packets(router, port));
        for own in up.flat_map(addresses) {
            found.entry(own.address).or_default().insert(device);
        }
    }
    found
}

/// Returns the device that has an address, if the address is on a link of `device` and the port is in the
/// routing table of the neighbor.
fn owner_on_link(snapshot: &Snapshot, device: usize, end: &End, address: IpAddr) -> Option<usize> {
    let router = snapshot.router(device);
    let is_near = |port: &&Port| {
        carries_packets(router, port)
            && port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str()) == end.vrf.as_deref()
            && addresses(port).any(|own| own.is_neighbor(address))
    };
    let port = router.ports.iter().position(|port| is_near(&port))?;
    let link = snapshot.link_of(PortId { device, port })?;
    let has = |id: PortId| addresses(snapshot.port(id)).any(|own| own.address == address);
    link.ends.iter().map(|end| end.id).find(|id| id.device != device && has(*id)).map(|id| id.device)
}

/// Reports lines about a neighbor without an AS number. The device refuses these lines.
fn report_without_number(
    snapshot: &Snapshot,
    device: usize,
    (name, end): (&str, &End),
    found: &mut Vec<NetworkFinding>,
) {
    if end.number.is_some() || end.inherits {
        return;
    }
    let message = format!("the neighbor {name} of {} has no AS number", snapshot.devices[device].name);
    let effect = "the device refuses the line, so it has no effect on the intended neighbor".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_SESSION_DIFFERS, end.line, (message, effect)));
}

/// A session as one end configures it.
struct Session<'s, 'a> {
    snapshot: &'s Snapshot<'a>,
    device: usize,
    far: usize,
    other: &'s Process,
    address: Ipv4Addr,
    end: End,
}

impl Session<'_, '_> {
    /// Returns the settings of the far end for this session. Prefers the settings for the address from which
    /// this end starts the session.
    fn best<'e>(&self, back: &[(IpAddr, &'e End)]) -> Option<(IpAddr, &'e End)> {
        let sources = self.sources().unwrap_or_default();
        let fitting = back.iter().find(|(address, _)| sources.contains(address));
        fitting.or_else(|| back.first()).copied()
    }

    /// Returns the addresses from which this end starts the session; `None` if perhop does not know the route
    /// to the neighbor.
    fn sources(&self) -> Option<BTreeSet<IpAddr>> {
        let ports = &self.snapshot.router(self.device).ports;
        if let Some((_, source)) = &self.end.source {
            if let Ok(address) = source.parse() {
                return Some(BTreeSet::from([address]));
            }
            let port = self.snapshot.devices[self.device].device.port(source).ok()?;
            return Some(addresses(port).map(|own| own.address).collect());
        }
        let near: BTreeSet<IpAddr> = ports
            .iter()
            .flat_map(addresses)
            .filter(|own| own.is_neighbor(self.address.into()))
            .map(|own| own.address)
            .collect();
        if !near.is_empty() {
            return Some(near);
        }
        let table = self.snapshot.devices[self.device].device.table();
        let Decision::Leaves(exit) = table.decide(None, self.address.into()) else { return None };
        let is_up = carries_packets(self.snapshot.router(self.device), exit.port);
        is_up.then(|| addresses(exit.port).map(|own| own.address).collect())
    }

    fn names(&self) -> [&str; 2] {
        [self.device, self.far].map(|device| self.snapshot.devices[device].name.as_str())
    }

    fn report_absent(&self, found: &mut Vec<NetworkFinding>) {
        let [near, far] = self.names();
        let message = format!("{far} does not configure {near} as a neighbor");
        self.report(self.device, self.end.line, message, found);
        let message = format!("{near} configures {far} as a neighbor, but {far} does not configure {near}");
        self.report(self.far, self.other.line, message, found);
    }

    /// Compares the settings of both ends. `own` is the address that the far end configures for this end.
    fn check(&self, own: IpAddr, back: &End, found: &mut Vec<NetworkFinding>) {
        let [near, far] = self.names();
        if let Some((line, number)) = &self.end.number
            && *number != self.other.number
            && !self.end.has_own_number
            && !back.has_own_number
        {
            let message = format!(
                "the neighbor {} is in AS {number} here, but {far} is in AS {} ({})",
                self.address,
                self.other.number,
                self.snapshot.place(self.far, self.other.number_line)
            );
            self.report(self.device, *line, message, found);
        }
        if let Some((line, _)) =
            self.end.password.as_ref().filter(|_| back.password.is_none() && !back.inherits)
        {
            let message = format!(
                "the session with {far} has a password here, but none at the other end ({})",
                self.snapshot.place(self.far, back.line)
            );
            self.report(self.device, *line, message, found);
            let block = in_block(back);
            let message =
                format!("the session with {near} has a password at the other end, but none here{block}");
            self.report(self.far, back.line, message, found);
        }
        if let (Some((line, Some(secret))), Some((far_line, Some(other)))) =
            (&self.end.password, &back.password)
            && secret.differs(other)
        {
            let place = self.snapshot.place(self.far, *far_line);
            let message =
                format!("the password for {far} differs from the password of {far} for {near} ({place})");
            self.report(self.device, *line, message, found);
        }
        if !self.end.inherits && !back.inherits {
            self.check_detection(back, found);
            self.check_families(back, found);
            self.check_source(own, found);
        }
    }

    /// Reports both ends of a session if only this end has BFD. A BFD session needs BFD at both ends (RFC
    /// 5880 §6.1).
    fn check_detection(&self, back: &End, found: &mut Vec<NetworkFinding>) {
        let (Some(line), None) = (self.end.detection, back.detection) else { return };
        let [near, far] = self.names();
        let effect = "BFD does not come up: packets are lost until the hold time of BGP ends".to_owned();
        let rule = &rules::NETWORK_SESSION_DIFFERS;
        let place = self.snapshot.place(self.far, back.line);
        let message = format!("only this end of the session with {far} has BFD (the other end: {place})");
        found.push(self.snapshot.finding(self.device, rule, line, (message, effect.clone())));
        let place = self.snapshot.place(self.device, line);
        let message = format!("only the other end of the session with {near} has BFD ({place})");
        found.push(self.snapshot.finding(self.far, rule, back.line, (message, effect)));
    }

    /// Reports a session whose ends have no common address family.
    fn check_families(&self, back: &End, found: &mut Vec<NetworkFinding>) {
        if !self.end.families.is_disjoint(&back.families) {
            return;
        }
        let [_, far] = self.names();
        let words = |families: &BTreeSet<String>| {
            let all = families.iter().cloned().collect::<Vec<_>>().join(", ");
            if all.is_empty() { "no address family".to_owned() } else { all }
        };
        let message = format!(
            "the session with {far} exchanges {} here{}, but {} at the other end ({})",
            words(&self.end.families),
            in_block(&self.end),
            words(&back.families),
            self.snapshot.place(self.far, back.line)
        );
        self.report(self.device, self.end.line, message, found);
    }

    /// Whether an address of this end is the address of a virtual port, such as a loopback.
    fn is_of_loopback(&self, own: IpAddr) -> bool {
        let mut ports = self.snapshot.router(self.device).ports.iter();
        let has = |port: &&Port| addresses(port).any(|address| address.address == own);
        ports.find(has).is_some_and(|port| port.kind == Some(LineKind::Virtual))
    }

    /// Reports a session if this end starts it from another address than the far end configures for this end.
    fn check_source(&self, own: IpAddr, found: &mut Vec<NetworkFinding>) {
        let [near, far] = self.names();
        let line = self.end.source.as_ref().map_or(self.end.line, |(line, _)| *line);
        let starts = match self.sources() {
            Some(sources) if sources.contains(&own) => return,
            Some(sources) => {
                let all: Vec<String> = sources.iter().map(IpAddr::to_string).collect();
                if all.is_empty() { "an interface without an address".to_owned() } else { all.join(" or ") }
            }
            None if self.is_of_loopback(own) => "the port towards the neighbor".to_owned(),
            // perhop does not compute the route to the neighbor, so any port can be the source.
            None => return,
        };
        let message =
            format!("the session with {far} starts from {starts}, but {far} expects {near} at {own}");
        self.report(self.device, line, message, found);
    }

    fn report(&self, device: usize, line: usize, message: String, found: &mut Vec<NetworkFinding>) {
        let effect = "the routers have no session and exchange no routes".to_owned();
        let rule = &rules::NETWORK_SESSION_DIFFERS;
        found.push(self.snapshot.finding(device, rule, line, (message, effect)));
    }
}

/// Returns text that names the address-family block of a neighbor.
fn in_block(end: &End) -> String {
    end.block.map_or_else(String::new, |line| format!(" (its block begins in line {line})"))
}
