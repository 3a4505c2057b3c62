//! Names of interfaces, and what they say of the wire.

use crate::ast::{Hardware, Interface, ServicePolicies};
use crate::words::choose;

/// Kinds of interfaces: name, wire, nominal kilobits per second.
const KINDS: &[(&str, Hardware, Option<u64>)] = &[
    ("ATM", Hardware::Atm, Some(149_760)),
    ("Async", Hardware::Other, None),
    ("BRI", Hardware::Other, Some(64)),
    ("BVI", Hardware::Virtual, None),
    ("Bundle", Hardware::Virtual, None),
    ("Cellular", Hardware::Other, None),
    ("Dialer", Hardware::Virtual, None),
    ("Ethernet", Hardware::Ethernet, Some(10_000)),
    ("FastEthernet", Hardware::Ethernet, Some(100_000)),
    ("Fddi", Hardware::Other, Some(100_000)),
    ("FortyGigabitEthernet", Hardware::Ethernet, Some(40_000_000)),
    ("GigabitEthernet", Hardware::Ethernet, Some(1_000_000)),
    ("Group-Async", Hardware::Other, None),
    ("Hssi", Hardware::Serial, Some(45_045)),
    ("HundredGigE", Hardware::Ethernet, Some(100_000_000)),
    ("Loopback", Hardware::Virtual, None),
    ("Management", Hardware::Ethernet, None),
    ("Multilink", Hardware::Virtual, None),
    ("Null", Hardware::Virtual, None),
    ("POS", Hardware::PacketOverSonet, Some(155_000)),
    ("Port-channel", Hardware::Virtual, None),
    ("Serial", Hardware::Serial, None),
    ("TenGigabitEthernet", Hardware::Ethernet, Some(10_000_000)),
    ("TokenRing", Hardware::Other, Some(16_000)),
    ("Tunnel", Hardware::Virtual, None),
    ("TwentyFiveGigE", Hardware::Ethernet, Some(25_000_000)),
    ("Virtual-Access", Hardware::Virtual, None),
    ("Virtual-Template", Hardware::Virtual, None),
    ("VirtualPortGroup", Hardware::Virtual, None),
    ("Vlan", Hardware::Virtual, None),
];

/// The name in full, and what kind of wire it means: `fa0/0` is `FastEthernet0/0`.
pub(super) fn full_name(written: &str) -> (String, Hardware, Option<u64>) {
    let letters = written.find(|character: char| character.is_ascii_digit()).unwrap_or(written.len());
    let (kind, number) = written.split_at(letters);
    let names: Vec<&'static str> = KINDS.iter().map(|(name, ..)| *name).collect();
    let short = [
        ("fa", "FastEthernet"),
        ("gi", "GigabitEthernet"),
        ("te", "TenGigabitEthernet"),
        ("se", "Serial"),
        ("lo", "Loopback"),
        ("tu", "Tunnel"),
        ("et", "Ethernet"),
        ("po", "Port-channel"),
    ];
    let short = short.iter().find(|(short, _)| short.eq_ignore_ascii_case(kind)).map(|(_, name)| *name);
    let chosen = short.or_else(|| choose(kind, &names));
    match KINDS.iter().find(|(name, ..)| Some(*name) == chosen) {
        Some((name, hardware, nominal)) => (format!("{name}{number}"), *hardware, *nominal),
        None => (written.to_owned(), Hardware::Other, None),
    }
}

/// An interface called `name`, with nothing said about it.
pub(super) fn new(name: &str, line: usize) -> Interface {
    let (name, hardware, nominal_kilobits) = full_name(name);
    let parent = name.rsplit_once('.').map(|(parent, _)| parent.to_owned());
    Interface {
        name,
        line,
        hardware,
        nominal_kilobits,
        parent,
        description: None,
        bandwidth: None,
        max_reserved_bandwidth: None,
        clock_rate: None,
        speed: None,
        vrf: None,
        addresses: Vec::new(),
        encapsulation: None,
        rate_limits: Vec::new(),
        service_policies: ServicePolicies::default(),
        fair_queue: None,
        random_detect: None,
        hold_queue: None,
        tx_ring_limit: None,
        shutdown: None,
        pvcs: Vec::new(),
    }
}
