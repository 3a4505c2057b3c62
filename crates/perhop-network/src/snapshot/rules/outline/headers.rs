//! Lines outside of blocks that only one device of a kind lacks, and first lines of blocks that differ on
//! only one device.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Blocks, Defined, INTERFACE};
use super::form::{Deviation, DeviationKind, OTHER_INTERFACES, OTHER_NAMESAKES};
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
/// The first words of commands that affect all ports of a device. These commands are outside of blocks.
const OF_ALL_PORTS: &[&str] = &[
    "crypto isakmp key",
    "ip route 0.0.0.0 0.0.0.0",
    "mls qos",
    "mpls label protocol",
    "mpls ldp router-id",
    "qos",
];
const DEFAULT_ROUTE: &str = "ip route 0.0.0.0 0.0.0.0";
/// The command for encryption keys and methods, which must be equal at both ends.
const CRYPTO: &str = "crypto";
/// The interface line `mpls ip`, and the first word of the lines that all devices with this interface line
/// must share.
const OF_LABELS: (&str, &str) = ("mpls ip", "mpls ");
/// Words after `ip` or `ipv6` in commands about management.
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

/// Reports first lines of blocks that differ from the first line of the same block on all other devices, and
/// lines that only one device lacks.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let kinds: BTreeSet<usize> = blocks.kinds.iter().copied().collect();
    for kind in kinds {
        let members: Vec<usize> =
            (0..blocks.kinds.len()).filter(|device| blocks.kinds[*device] == kind).collect();
        check_presence(blocks, &members, |_| true, found);
    }
    let (line, commands) = OF_LABELS;
    let interfaces = blocks.by_path.iter().filter(|(path, _)| path.starts_with(INTERFACE));
    let with_labels = interfaces.flat_map(|(_, group)| group);
    let with_labels = with_labels.filter(|block| block.entries.iter().any(|entry| entry.text() == line));
    let members: BTreeSet<usize> = with_labels.map(|block| block.device).collect();
    check_presence(
        blocks,
        &members.into_iter().collect::<Vec<_>>(),
        |text| text.starts_with(commands),
        found,
    );
    check_words(blocks, found);
}

fn is_compared(entry: &Entry) -> bool {
    let second = entry.shape.split(' ').nth(1).unwrap_or_default();
    let is_ip = ["ip", "ipv6"].contains(&entry.command());
    !(OF_MANAGEMENT.contains(&entry.command()) || is_ip && OF_IP.contains(&second))
}

/// Whether a line affects all ports of a device.
fn is_of_all_ports(text: &str) -> bool {
    let begins = |command: &&str| {
        text.strip_prefix(*command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    // The rule `switch_maps` compares the maps of switches mark by mark.
    OF_ALL_PORTS.iter().any(begins) && !text.contains("map ")
}

/// Whether a device has another line with the first word of a command, so that it uses the function at all.
fn uses_commands_like(blocks: &Blocks, device: usize, text: &str) -> bool {
    let first = text.split(' ').next();
    let inside = blocks.by_path.values().flatten().filter(|block| block.device == device);
    let lines = inside.flat_map(|block| &block.entries).chain(&blocks.devices[device].top);
    lines.into_iter().any(|entry| Some(entry.command()) == first)
}

/// Reports lines outside of blocks that only one device of a kind lacks. The finding is at the line that
/// negates the missing line, otherwise at the line with the name of the device.
fn check_presence(
    blocks: &Blocks,
    members: &[usize],
    is_meant: impl Fn(&str) -> bool,
    found: &mut Vec<Deviation>,
) {
    let key = |entry: &Entry| match entry.shape.as_str() {
        // Static routes to the same destination count as equal lines, regardless of their next hops.
        shape if shape.starts_with("ip route ") => {
            let to = entry.values.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
            format!("ip route {to}")
        }
        _ => entry.text().to_owned(),
    };
    let mut holders: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for device in members {
        for entry in blocks.devices[*device].top.iter().filter(|entry| is_compared(entry)) {
            holders.entry(key(entry)).or_default().insert(*device);
            // Each site has its own next hop. An interface can have the same name at all sites, so it is
            // compared.
            let is_address = |word: &String| word.parse::<std::net::Ipv4Addr>().is_ok();
            if entry.values.last().is_some_and(|last| !is_address(last)) {
                holders.entry(entry.text().to_owned()).or_default().insert(*device);
            }
            if !entry.values.is_empty() {
                holders.entry(entry.shape.clone()).or_default().insert(*device);
            }
        }
    }
    for (text, holders) in holders.iter().filter(|(text, _)| is_meant(text)) {
        let mut lacking = members.iter().filter(|device| !holders.contains(device));
        let (Some(device), None) = (lacking.next(), lacking.next()) else { continue };
        let own = &blocks.devices[*device];
        let is_elsewhere =
            own.is_foreign(text.split(' ')) || text == DEFAULT_ROUTE && receives_addresses(blocks, *device);
        let (kind, least) = if is_of_all_ports(text) && uses_commands_like(blocks, *device, text) {
            (DeviationKind::Decisive, OTHER_NAMESAKES)
        } else {
            (DeviationKind::Missing, OTHER_INTERFACES)
        };
        let is_instead = |entry: &&Entry| {
            entry.text().strip_prefix("no ") == Some(text) || is_other_value(entry, text, members, blocks)
        };
        let negated = own.top.iter().find(is_instead);
        let line = negated.map(|entry| entry.line).or_else(|| name_line(own));
        let Some(line) = line.filter(|_| !is_elsewhere && holders.len() >= least) else { continue };
        let message = format!("no line `{text}`, which {} devices with the same task have", holders.len());
        found.push(Deviation { device: *device, line, kind, message });
    }
}

/// Whether a port of a device receives its address, and with it the default route (Cisco, "Configuring the
/// Cisco IOS DHCP Client").
fn receives_addresses(blocks: &Blocks, device: usize) -> bool {
    let inside = blocks.by_path.values().flatten().filter(|block| block.device == device);
    inside.flat_map(|block| &block.entries).any(|entry| {
        matches!(entry.text(), "ip address dhcp" | "ip address negotiated" | "ipv4 address dhcp")
    })
}

/// Whether `entry` is the line `text` with other values, and no other device has these values.
fn is_other_value(entry: &Entry, text: &str, members: &[usize], blocks: &Blocks) -> bool {
    let own = entry.text();
    let start = |text: &str| text.rsplit_once(' ').map(|(start, _)| start.to_owned());
    let is_alike = |other: &Entry| other.shape == entry.shape || start(text) == start(own);
    let is_same_line = |other: &Entry| other.text() == text && is_alike(other);
    let of_all = || members.iter().flat_map(|device| &blocks.devices[*device].top);
    own != text && of_all().any(is_same_line) && of_all().filter(|other| other.text() == own).count() == 1
}

fn name_line(own: &Defined) -> Option<usize> {
    own.top.iter().find(|entry| entry.command() == "hostname").map(|entry| entry.line)
}

/// Reports the first line of a named block, if the words after the name are different from the same block on
/// all other devices.
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
        let texts = lines.iter().map(|(_, entry)| entry.text());
        let Some((odd, usual)) = super::values::only_exception(texts) else {
            continue;
        };
        // If a device has several blocks with a name, the blocks are not compared. Other rules compare the
        // packets of classes.
        let is_class = lines[odd].1.command() == "class-map";
        if devices.len() < lines.len() || devices.len() < OTHER_INTERFACES || is_class {
            continue;
        }
        let (device, entry) = lines[odd];
        let message = format!("`{}`: {} devices have `{usual}`", entry.text(), lines.len() - 1);
        let is_key = entry.command() == CRYPTO;
        let kind = if is_key { DeviationKind::Decisive } else { DeviationKind::Unusual };
        found.push(Deviation { device, line: entry.line, kind, message });
    }
}
