//! What stands under `interface`.

use std::net::Ipv4Addr;

use super::command::{Command, irrelevant, modelled, not_modelled, not_modelled_block, noted};
use super::numbers::{KILOBITS, address};
use super::queueing::{fair_queue, optional, random_detect, service_policy};
use super::rate_limit::rate_limit;
use crate::ast::{At, Hardware, Interface, InterfaceAddress, LinkEncapsulation, Pvc, Rank};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Interface>] = &[
    modelled("bandwidth", bandwidth),
    modelled("clock rate", |interface, reader| number(&mut interface.clock_rate, reader, "bits per second")),
    modelled("encapsulation", encapsulation),
    modelled("fair-queue", |interface, reader| {
        let fair = if reader.negated() { None } else { Some(fair_queue(reader)?) };
        interface.fair_queue = Some(At::new(reader.line, fair));
        Ok(Finding::MODELLED)
    }),
    modelled("hold-queue", hold_queue),
    modelled("ip address", ip_address),
    modelled("max-reserved-bandwidth", |interface, reader| {
        percentage(&mut interface.max_reserved_bandwidth, reader)
    }),
    modelled("pvc", pvc),
    modelled("random-detect", |interface, reader| random_detect(&mut interface.random_detect, reader)),
    modelled("rate-limit", rate_limit),
    modelled("service-policy", |interface, reader| service_policy(&mut interface.service_policies, reader)),
    modelled("shutdown", |interface, reader| {
        interface.shutdown = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::MODELLED)
    }),
    modelled("speed", speed),
    modelled("tx-ring-limit", |interface, reader| {
        number(&mut interface.tx_ring_limit, reader, "particles or packets")
    }),
];

/// Commands that are known and not modelled, and those without influence.
pub(super) const OTHERS: &[Command<Interface>] = &[
    not_modelled("atm pvc", "a circuit of the old syntax: write it as `pvc`"),
    not_modelled("autodetect encapsulation", "the encapsulation is negotiated"),
    not_modelled("backup interface", "the interface carries traffic only when another fails"),
    not_modelled("channel-group", "the interface is a member of a bundle"),
    not_modelled("class-int", "parameters of circuits come from a class"),
    not_modelled("class-range", "parameters of circuits come from a class"),
    not_modelled("compress", "compression makes packets shorter"),
    not_modelled("crypto map", "encryption makes packets longer and hides their headers"),
    not_modelled("custom-queue-list", "custom queueing serves the queues in turn"),
    not_modelled("dialer", "the line is dialed on demand"),
    not_modelled("duplex half", "half duplex shares the wire with the other direction"),
    not_modelled_block("frame-relay interface-dlci", "frame relay shapes and fragments by circuit"),
    not_modelled("frame-relay", "frame relay shapes and fragments by circuit"),
    not_modelled("half-duplex", "half duplex shares the wire with the other direction"),
    not_modelled("ip access-group", "packets that the list denies are dropped here"),
    not_modelled("ip inspect", "sessions are inspected, and packets may be dropped"),
    not_modelled("ip mtu", "longer packets are fragmented"),
    not_modelled("ip nat", "addresses are translated, and access lists see the result"),
    not_modelled("ip policy", "packets are routed by policy, and may be marked"),
    not_modelled("ip rtp header-compression", "compressed headers make packets shorter"),
    not_modelled("ip rtp priority", "UDP ports have priority without a class"),
    not_modelled("ip rsvp", "bandwidth is reserved for flows that request it"),
    not_modelled("ip tcp adjust-mss", "TCP segments are shorter than the end systems' own"),
    not_modelled("ip tcp header-compression", "compressed headers make packets shorter"),
    not_modelled("ip unnumbered", "the address is that of another interface"),
    not_modelled("ip verify", "packets from unexpected sources are dropped"),
    not_modelled("ipv6", "IPv6 is not modelled"),
    not_modelled("mpls", "labels make packets longer and hide the DS field"),
    not_modelled("mtu", "longer packets are fragmented"),
    not_modelled("ppp multilink", "packets are fragmented and interleaved over several links"),
    not_modelled("ppp interleave", "packets are fragmented and interleaved"),
    not_modelled("priority-group", "legacy priority queueing"),
    not_modelled("qos pre-classify", "packets in a tunnel are classified by their inner headers"),
    not_modelled("switchport", "the port switches frames"),
    not_modelled("tag-switching", "labels make packets longer and hide the DS field"),
    not_modelled("traffic-shape", "generic traffic shaping holds packets back"),
    not_modelled("tunnel", "the tunnel's header makes packets longer"),
    not_modelled("wrr-queue", "the port's own queues are served in turn"),
    not_modelled("srr-queue", "the port's own queues are served in turn"),
    not_modelled("priority-queue", "the port has a priority queue of its own"),
    not_modelled("mls qos", "the port marks by its trust state"),
    not_modelled("auto qos", "the router applies policies that it generates"),
    not_modelled("ima-group", "the interface is a member of a bundle"),
    irrelevant("arp"),
    irrelevant("atm"),
    irrelevant("auto"),
    irrelevant("cablelength"),
    irrelevant("carrier-delay"),
    irrelevant("cdp"),
    irrelevant("clock source"),
    irrelevant("crc"),
    irrelevant("default-router"),
    irrelevant("delay"),
    irrelevant("description"),
    irrelevant("dsl"),
    irrelevant("dsu"),
    irrelevant("dce-terminal-timing-enable"),
    irrelevant("down-when-looped"),
    irrelevant("duplex"),
    irrelevant("framing"),
    irrelevant("full-duplex"),
    irrelevant("glbp"),
    irrelevant("h323-gateway"),
    irrelevant("ip accounting"),
    irrelevant("ip authentication"),
    irrelevant("ip bandwidth-percent"),
    irrelevant("ip bgp"),
    irrelevant("ip dhcp"),
    irrelevant("ip directed-broadcast"),
    irrelevant("ip flow"),
    irrelevant("ip hello-interval"),
    irrelevant("ip helper-address"),
    irrelevant("ip hold-time"),
    irrelevant("ip igmp"),
    irrelevant("ip irdp"),
    irrelevant("ip load-sharing"),
    irrelevant("ip mask-reply"),
    irrelevant("ip mroute-cache"),
    irrelevant("ip multicast"),
    irrelevant("ip nbar"),
    irrelevant("ip nhrp"),
    irrelevant("ip ospf"),
    irrelevant("ip pim"),
    irrelevant("ip proxy-arp"),
    irrelevant("ip rip"),
    irrelevant("ip redirects"),
    irrelevant("ip route-cache"),
    irrelevant("ip router"),
    irrelevant("ip split-horizon"),
    irrelevant("ip summary-address"),
    irrelevant("ip unreachables"),
    irrelevant("ip virtual-reassembly"),
    irrelevant("ip vrf"),
    noted("ip vrf forwarding", vrf),
    irrelevant("ip wccp"),
    irrelevant("ipx"),
    irrelevant("isdn"),
    irrelevant("isis"),
    irrelevant("keepalive"),
    irrelevant("lacp"),
    irrelevant("lldp"),
    irrelevant("load-interval"),
    irrelevant("logging"),
    irrelevant("loopback"),
    irrelevant("mac-address"),
    irrelevant("media-type"),
    irrelevant("mop"),
    irrelevant("name"),
    irrelevant("negotiation"),
    irrelevant("ntp"),
    irrelevant("peer"),
    irrelevant("physical-layer"),
    irrelevant("pos"),
    irrelevant("ppp"),
    irrelevant("pppoe"),
    irrelevant("serial"),
    irrelevant("service-module"),
    irrelevant("snmp"),
    irrelevant("spanning-tree"),
    irrelevant("standby"),
    irrelevant("storm-control"),
    irrelevant("timeslot"),
    irrelevant("timeout"),
    irrelevant("transmit-interface"),
    irrelevant("trust"),
    irrelevant("udld"),
    noted("vrf forwarding", vrf),
    irrelevant("vrrp"),
    irrelevant("x25"),
    irrelevant("zone-member"),
];

fn bandwidth(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.keyword(&["receive", "inherit", "qos-reference"]).is_some_and(|word| word != "qos-reference") {
        return Ok(Finding::IRRELEVANT);
    }
    if reader.negated() {
        interface.bandwidth = None;
        return Ok(Finding::MODELLED);
    }
    let bandwidth = reader.number("kilobits per second", KILOBITS)?;
    reader.end()?;
    interface.bandwidth = Some(At::new(reader.line, bandwidth));
    Ok(Finding::MODELLED)
}

/// A number that stands alone.
pub(super) fn number(value: &mut Option<At<u64>>, reader: &mut Reader, what: &str) -> Reading {
    if reader.negated() {
        *value = None;
        return Ok(Finding::MODELLED);
    }
    let number = reader.number(what, 1..=1_000_000_000)?;
    reader.end()?;
    *value = Some(At::new(reader.line, number));
    Ok(Finding::MODELLED)
}

fn percentage(value: &mut Option<At<u64>>, reader: &mut Reader) -> Reading {
    if reader.negated() {
        *value = None;
        return Ok(Finding::MODELLED);
    }
    let percent = reader.number("a percentage", 1..=100)?;
    reader.end()?;
    *value = Some(At::new(reader.line, percent));
    Ok(Finding::MODELLED)
}

fn encapsulation(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.negated() {
        interface.encapsulation = None;
        return Ok(Finding::MODELLED);
    }
    let keywords = ["hdlc", "ppp", "frame-relay", "dot1q", "isl", "aal5snap"];
    let (encapsulation, finding) = match reader.keyword(&keywords) {
        Some("hdlc") => (LinkEncapsulation::Hdlc, Finding::MODELLED),
        Some("ppp") => (LinkEncapsulation::Ppp, Finding::MODELLED),
        Some("dot1q") => {
            let vlan = reader.number("a VLAN", 1..=4094)?;
            reader.keyword(&["native"]);
            (LinkEncapsulation::Dot1q(vlan as u16), Finding::MODELLED)
        }
        Some("frame-relay") => {
            let finding = Finding::not_modelled("frame relay's header is not counted");
            (LinkEncapsulation::FrameRelay, finding)
        }
        _ => (LinkEncapsulation::Other, Finding::not_modelled("this encapsulation's header is not counted")),
    };
    interface.encapsulation = Some(At::new(reader.line, encapsulation));
    Ok(finding)
}

fn hold_queue(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let packets = optional(reader, "packets", 0..=240_000)?;
    if reader.eat("in") {
        return Ok(Finding::irrelevant("concerns packets that the router's processor handles"));
    }
    reader.eat("out");
    reader.end()?;
    let line = reader.line;
    interface.hold_queue = packets.filter(|_| !reader.negated()).map(|packets| At::new(line, packets));
    Ok(Finding::MODELLED)
}

fn ip_address(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let addresses = &mut interface.addresses;
    if reader.peek().is_none() && reader.negated() {
        addresses.clear();
        return Ok(Finding::MODELLED);
    }
    if reader.keyword(&["dhcp", "negotiated", "pool"]).is_some() {
        return Ok(Finding::not_modelled("an address assigned dynamically"));
    }
    let address = address(reader, "an address")?;
    let mask = super::numbers::address(reader, "a subnet mask")?;
    let prefix_length = prefix_length(mask).ok_or_else(|| {
        Finding::not_recognized(format!("{mask} is not a subnet mask: its one bits are not contiguous"))
    })?;
    let rank = if reader.eat("secondary") { Rank::Secondary } else { Rank::Primary };
    reader.end()?;
    // A new primary address takes the place of the old one.
    addresses.retain(|other| {
        other.address != address && (rank == Rank::Secondary || other.rank == Rank::Secondary)
    });
    if !reader.negated() {
        addresses.push(InterfaceAddress { line: reader.line, address, prefix_length, rank });
    }
    Ok(Finding::MODELLED)
}

fn vrf(interface: &mut Interface, reader: &mut Reader) {
    interface.vrf = reader.next().filter(|_| !reader.negated()).map(str::to_owned);
}

fn prefix_length(mask: Ipv4Addr) -> Option<u8> {
    let bits = mask.to_bits();
    (bits.leading_ones() + bits.trailing_zeros() == 32 || bits == 0).then(|| bits.leading_ones() as u8)
}

fn speed(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let line = reader.line;
    if reader.negated() || reader.eat("auto") {
        interface.speed = None;
        return Ok(Finding::MODELLED);
    }
    let megabits = reader.number("megabits per second", 10..=400_000)?;
    reader.end()?;
    interface.speed = Some(At::new(line, megabits));
    Ok(Finding::MODELLED)
}

/// `pvc [name] [vpi/]vci`
fn pvc(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let first = reader.word("a circuit")?;
    let (name, identifier) = if let Some(identifier) = identifier(first) {
        (None, identifier)
    } else {
        let number = reader.peek().and_then(identifier);
        let number = number.ok_or_else(|| reader.unexpected("a circuit as vpi/vci"))?;
        reader.next();
        (Some(first.to_owned()), number)
    };
    let pvcs = &mut interface.pvcs;
    if reader.negated() {
        pvcs.retain(|pvc| pvc.identifier != identifier);
        return Ok(Finding::MODELLED);
    }
    if reader.keyword(&["ilmi", "qsaal", "l2transport"]).is_some() {
        reader.opens = Some(Mode::NotModelled(NO_IP));
        return Ok(Finding::not_modelled(NO_IP));
    }
    let index = pvcs.iter().position(|pvc| pvc.identifier == identifier).unwrap_or_else(|| {
        pvcs.push(Pvc { line: reader.line, name, identifier, ..Pvc::default() });
        pvcs.len() - 1
    });
    if let Mode::Interface(number) = reader.mode {
        reader.opens = Some(Mode::Pvc(number, index));
    }
    if interface.hardware != Hardware::Atm {
        reader.error("a circuit on an interface that is not ATM", "the router refuses the line");
    }
    reader.end()?;
    Ok(Finding::MODELLED)
}

const NO_IP: &str = "a circuit that carries no IP";

fn identifier(word: &str) -> Option<(u16, u16)> {
    match word.split_once('/') {
        Some((path, channel)) => Some((path.parse().ok()?, channel.parse().ok()?)),
        None => Some((0, word.parse().ok()?)),
    }
}
