//! BGP sessions that only one end configures, or that both ends configure differently.
//!
//! The rule reads lines of the text, as [`bgp`](super::bgp) does. It skips ends with `local-as` and
//! confederations, because their neighbors see another AS number.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use perhop_device::Port;
use rayon::prelude::*;

use super::bgp_process::{End, Process};
use super::tree::{Numbered, tree};
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::carries_packets;

/// The shortest prefix of a link between two devices.
const OF_LINKS: u8 = 30;
/// Ports whose subnets are not in the configuration.
const DYNAMIC: &[&str] = &["ip address dhcp", "ip address negotiated", "ip unnumbered", "unnumbered-address"];
/// The length of the address of a host.
const WHOLE: u8 = 32;

/// Reports the sessions whose ends do not match.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let read = |device: usize| {
        let lines: Vec<Numbered> = snapshot.devices[device].device.numbered_lines().collect();
        Process::read(&tree(&lines))
    };
    let processes: Vec<Option<Process>> = (0..snapshot.devices.len()).into_par_iter().map(read).collect();
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
            let Some(far) = snapshot.owner(address.into()).map(|id| id.device) else {
                check_link(snapshot, (device, process), end, address.into(), found);
                continue;
            };
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

/// Reports a neighbor whose address belongs to a link between two devices, and that neither of them has, or
/// an external neighbor on no link of the device (RFC 4271 §5.1.3: external neighbors share a subnet).
fn check_link(
    snapshot: &Snapshot,
    (device, process): (usize, &Process),
    end: &End,
    address: IpAddr,
    found: &mut Vec<NetworkFinding>,
) {
    let End { line, number, is_far, .. } = process.settings(end);
    let is_external = number.is_some_and(|(_, number)| number != process.number);
    let mut known = snapshot.router(device).ports.iter().flat_map(addresses);
    let is_dynamic = snapshot.devices[device]
        .device
        .numbered_lines()
        .any(|(_, text)| DYNAMIC.iter().any(|start| text.trim_start().starts_with(start)));
    if is_external && !is_far && !is_dynamic && !known.any(|own| own.is_neighbor(address)) {
        let message = format!("no subnet of the device contains the external neighbor {address}");
        let effect = "the routers have no session and exchange no routes".to_owned();
        found.push(snapshot.finding(device, &rules::NETWORK_SESSION_DIFFERS, line, (message, effect)));
        return;
    }
    let router = snapshot.router(device);
    let is_near = |port: &Port| {
        let mut own = addresses(port);
        own.any(|own| own.prefix_length >= OF_LINKS && own.is_neighbor(address))
    };
    let port = router.ports.iter().position(|port| carries_packets(router, port) && is_near(port));
    let Some(link) = port.and_then(|port| snapshot.link_of(PortId { device, port })) else { return };
    let Some(far) = link.ends.iter().find(|end| end.id.device != device) else { return };
    let message = format!("no device has {address}: {} is the other end of the link", far.device);
    let effect = "the routers have no session and exchange no routes".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_SESSION_DIFFERS, line, (message, effect)));
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
        let End { number, password, source, has_own_number, .. } = self.process.settings(end);
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
        self.check_source(end.line, source.as_ref(), found);
        let End { password: back_password, has_own_number: back_has_own_number, .. } =
            self.other.settings(back);
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

    /// Reports an end that connects from an address which the other end does not configure.
    fn check_source(&self, line: usize, source: Option<&(usize, String)>, found: &mut Vec<NetworkFinding>) {
        let device = &self.snapshot.devices[self.device].device;
        let ports = &self.snapshot.router(self.device).ports;
        let own: BTreeSet<IpAddr> = ports.iter().flat_map(addresses).map(|own| own.address).collect();
        let named = self.other.ends.keys().filter_map(|name| name.parse::<IpAddr>().ok());
        let named: BTreeSet<IpAddr> = named.filter(|name| name.is_ipv4() && own.contains(name)).collect();
        let from: BTreeSet<IpAddr> = match source {
            Some((_, name)) => match name.parse::<IpAddr>() {
                Ok(address) => [address].into(),
                // An undefined interface has no address.
                Err(_) => device.port(name).map_or_else(|_| BTreeSet::new(), |port| of_port(port).collect()),
            },
            None => self.addresses_towards(),
        };
        let (Some(first), Some(expected)) = (from.first(), named.first()) else { return };
        if !from.is_disjoint(&named) {
            return;
        }
        let far = &self.snapshot.devices[self.far].name;
        let message =
            format!("the device connects to {far} from {first}, but {far} has {expected} as its neighbor");
        let line = source.map_or(line, |(line, _)| *line);
        let effect = "the other end refuses the connection; there is a session only if it connects itself";
        let rule = &rules::NETWORK_SESSION_DIFFERS;
        found.push(self.snapshot.finding(self.device, rule, line, (message, effect.to_owned())));
    }

    /// Returns the addresses from which a device connects without a configured source: those of the port
    /// towards the other end, or of any port that can be one.
    fn addresses_towards(&self) -> BTreeSet<IpAddr> {
        let to = IpAddr::from(self.address);
        let router = self.snapshot.router(self.device);
        let up = || router.ports.iter().filter(|port| carries_packets(router, port));
        if let Some(port) = up().find(|port| addresses(port).any(|own| own.is_neighbor(to))) {
            return of_port(port).collect();
        }
        let table = self.snapshot.devices[self.device].device.table();
        if let Decision::Leaves(exit) = table.decide(None, to) {
            return of_port(exit.port).collect();
        }
        // Packets do not leave by a port without other hosts.
        let has_others = |port: &&Port| addresses(port).all(|own| own.prefix_length < WHOLE);
        up().filter(has_others).flat_map(of_port).collect()
    }

    fn report(&self, device: usize, line: usize, message: String, found: &mut Vec<NetworkFinding>) {
        let effect = "the routers have no session and exchange no routes".to_owned();
        let rule = &rules::NETWORK_SESSION_DIFFERS;
        found.push(self.snapshot.finding(device, rule, line, (message, effect)));
    }
}

/// Generates the addresses of a port for IPv4.
fn of_port(port: &Port) -> impl Iterator<Item = IpAddr> {
    addresses(port).map(|own| own.address).filter(IpAddr::is_ipv4)
}
