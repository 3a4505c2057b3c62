//! Lines outside of blocks, and first lines of blocks, that all devices of one kind except one have.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Blocks, Defined};
use super::form::{Deviation, DeviationKind, OTHER_INTERFACES};
use super::words::Entry;

/// Commands about the management of a device.
const OF_MANAGEMENT: &[&str] = &[
    "aaa",
    "access-list",
    "alias",
    "archive",
    "banner",
    "boot",
    "boot-end-marker",
    "boot-start-marker",
    "call-home",
    "clock",
    "enable",
    "end",
    "errdisable",
    "event",
    "hostname",
    "license",
    "line",
    "lldp",
    "logging",
    "login",
    "memory",
    "multilink",
    "no",
    "ntp",
    "parser",
    "platform",
    "privilege",
    "radius",
    "redundancy",
    "scheduler",
    "service",
    "snmp-server",
    "spanning-tree",
    "tacacs",
    "tacacs-server",
    "transport",
    "username",
    "version",
    "vtp",
];
/// Commands about management that begin with `ip` or `ipv6`.
const OF_IP: &[&str] = &[
    "bootp",
    "classless",
    "dhcp",
    "domain",
    "domain-lookup",
    "domain-name",
    "finger",
    "forward-protocol",
    "ftp",
    "host",
    "http",
    "name-server",
    "radius",
    "rcmd",
    "scp",
    "sla",
    "source-route",
    "ssh",
    "subnet-zero",
    "tacacs",
    "tftp",
];

/// Reports first lines of blocks whose words differ from those of all other devices, and lines that only one
/// device lacks.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let kinds: BTreeSet<usize> = blocks.kinds.iter().copied().collect();
    for kind in kinds {
        let members: Vec<usize> =
            (0..blocks.kinds.len()).filter(|device| blocks.kinds[*device] == kind).collect();
        if members.len() > OTHER_INTERFACES {
            check_presence(blocks, &members, found);
        }
    }
    check_words(blocks, found);
}

fn is_compared(entry: &Entry) -> bool {
    let second = entry.shape.split(' ').nth(1).unwrap_or_default();
    let is_ip = ["ip", "ipv6"].contains(&entry.command());
    !(OF_MANAGEMENT.contains(&entry.command()) || is_ip && OF_IP.contains(&second))
}

/// Reports lines outside of blocks that one device of a kind lacks, at the line of its host name.
fn check_presence(blocks: &Blocks, members: &[usize], found: &mut Vec<Deviation>) {
    let key = |entry: &Entry| match entry.shape.as_str() {
        // Default routes are equal lines, regardless of their next hops.
        shape if shape.starts_with("ip route ") => {
            let to = entry.values.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
            format!("ip route {to}")
        }
        _ => entry.text(),
    };
    let mut holders: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for device in members {
        for entry in blocks.devices[*device].top.iter().filter(|entry| is_compared(entry)) {
            holders.entry(key(entry)).or_default().insert(*device);
            if !entry.values.is_empty() {
                holders.entry(entry.shape.clone()).or_default().insert(*device);
            }
        }
    }
    for (text, holders) in &holders {
        let mut lacking = members.iter().filter(|device| !holders.contains(device));
        let (Some(device), None) = (lacking.next(), lacking.next()) else { continue };
        let own = &blocks.devices[*device];
        let is_elsewhere = own.is_foreign(text.split(' '));
        let Some(line) = name_line(own).filter(|_| !is_elsewhere) else { continue };
        let count = holders.len();
        let message = format!("the line `{text}` is missing, which {count} devices with the same task have");
        found.push(Deviation { device: *device, line, kind: DeviationKind::Missing, message });
    }
}

fn name_line(own: &Defined) -> Option<usize> {
    own.top.iter().find(|entry| entry.command() == "hostname").map(|entry| entry.line)
}

/// Reports the one first line of a named block whose other words differ from those of all devices with the
/// name.
fn check_words(blocks: &Blocks, found: &mut Vec<Deviation>) {
    // The first lines by command and name.
    let mut by_name: BTreeMap<(&str, &str), Vec<(usize, &Entry)>> = BTreeMap::new();
    let inside = blocks.by_path.values().flatten().filter(|block| !block.path.contains('/'));
    for block in inside.filter(|block| is_compared(&block.header) && !block.is_of_interface()) {
        if let Some(name) = block.header.values.first() {
            let key = (block.header.command(), name.as_str());
            by_name.entry(key).or_default().push((block.device, &block.header));
        }
    }
    for lines in by_name.values() {
        let devices: BTreeSet<usize> = lines.iter().map(|(device, _)| *device).collect();
        let texts: Vec<String> = lines.iter().map(|(_, entry)| entry.text()).collect();
        let Some((odd, usual)) = super::values::only_exception(texts.iter().map(String::as_str)) else {
            continue;
        };
        // A device can have several blocks with a name. Other rules compare values, and the packets of
        // classes.
        let is_value = lines.iter().all(|(_, entry)| entry.shape == lines[odd].1.shape);
        let is_value = is_value || lines[odd].1.command() == "class-map";
        if devices.len() < lines.len() || devices.len() < OTHER_INTERFACES || is_value {
            continue;
        }
        let (device, entry) = lines[odd];
        let message = format!("`{}`: {} devices have `{usual}`", entry.text(), lines.len() - 1);
        found.push(Deviation { device, line: entry.line, kind: DeviationKind::Unusual, message });
    }
}
