//! Commands of the block `interface`.

use std::net::Ipv4Addr;

use super::command::{Command, modelled, noted};
use super::numbers::{KILOBITS, address};
use super::queueing::{fair_queue, optional, service_policy};
use super::random_detect::random_detect;
use super::rate_limit::rate_limit;
use crate::ast::{At, Hardware, Interface, InterfaceAddress, LinkEncapsulation, Pvc, Rank};
use crate::mode::Mode;
use crate::rules;
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
    modelled("ip vrf forwarding", vrf),
    modelled("vrf forwarding", vrf),
    noted("description", |interface, reader| {
        interface.description = (!reader.negated()).then(|| reader.rest().join(" "));
    }),
    noted("load-interval", |interface, reader| {
        let seconds = reader.maybe_number().filter(|_| !reader.negated());
        interface.load_interval = seconds.map(|seconds| At::new(reader.line, seconds));
    }),
    modelled("tx-ring-limit", |interface, reader| {
        number(&mut interface.tx_ring_limit, reader, "particles or packets")
    }),
];

fn bandwidth(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let line = reader.line;
    let word = reader.keyword(&["receive", "inherit", "qos-reference"]);
    match word {
        Some("receive" | "inherit") => return Ok(Finding::IRRELEVANT),
        Some(_) if reader.negated() => interface.bandwidth_reference = None,
        Some(_) => {
            let reference = reader.number("kilobits per second", KILOBITS)?;
            reader.end()?;
            interface.bandwidth_reference = Some(At::new(line, reference));
        }
        None if reader.negated() => interface.bandwidth = None,
        None => {
            let bandwidth = reader.number("kilobits per second", KILOBITS)?;
            reader.end()?;
            interface.bandwidth = Some(At::new(line, bandwidth));
        }
    }
    Ok(Finding::MODELLED)
}

/// Stores the number of the line in `value`; a `no` line clears `value`.
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
        (interface.second_vlan, interface.native_vlan) = (None, None);
        return Ok(Finding::MODELLED);
    }
    let keywords = ["hdlc", "ppp", "frame-relay", "dot1q", "isl", "aal5snap"];
    let (encapsulation, finding) = match reader.keyword(&keywords) {
        Some("hdlc") => (LinkEncapsulation::Hdlc, Finding::MODELLED),
        Some("ppp") => (LinkEncapsulation::Ppp, Finding::MODELLED),
        Some("dot1q") => (LinkEncapsulation::Dot1q(tags(interface, reader)?), Finding::MODELLED),
        Some("frame-relay") => (LinkEncapsulation::FrameRelay, Finding::MODELLED),
        _ => (
            LinkEncapsulation::Other,
            Finding::not_modelled("perhop does not count the header of this encapsulation"),
        ),
    };
    interface.encapsulation = Some(At::new(reader.line, encapsulation));
    Ok(finding)
}

/// Reads the tags after `dot1q`, for example `10 native` or `10 second-dot1q 20`, and returns the outer VLAN.
pub(super) fn tags(interface: &mut Interface, reader: &mut Reader) -> Result<u16, Finding> {
    let vlan = reader.number("a VLAN", 1..=4094)?;
    let line = reader.line;
    interface.native_vlan = reader.eat("native").then(|| At::new(line, ()));
    interface.second_vlan = None;
    if reader.eat("second-dot1q") {
        // `any` and lists have no single inner tag, so they are not recorded.
        let inner = reader.maybe_number().filter(|vlan| (1..=4094).contains(vlan));
        interface.second_vlan = inner.map(|vlan| At::new(line, vlan as u16));
    }
    Ok(vlan as u16)
}

fn hold_queue(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let packets = optional(reader, "packets", 0..=240_000)?;
    if reader.eat("in") {
        return Ok(Finding::irrelevant("the line affects only packets that the router's processor handles"));
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
        Finding::not_recognized(format!("{mask} is not a subnet mask: its 1-bits are not contiguous"))
    })?;
    let rank = if reader.eat("secondary") { Rank::Secondary } else { Rank::Primary };
    reader.end()?;
    // A new primary address replaces the old one.
    addresses.retain(|other| {
        other.address != address && (rank == Rank::Secondary || other.rank == Rank::Secondary)
    });
    if !reader.negated() {
        addresses.push(InterfaceAddress { line: reader.line, address, prefix_length, rank });
    }
    Ok(Finding::MODELLED)
}

#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
pub(super) fn vrf(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let line = reader.line;
    let name = reader.next().filter(|_| !reader.negated());
    interface.vrf = name.map(|name| At::new(line, name.to_owned()));
    Ok(Finding::MODELLED)
}

pub(super) fn prefix_length(mask: Ipv4Addr) -> Option<u8> {
    let bits = mask.to_bits();
    (bits.leading_ones() + bits.trailing_zeros() == 32 || bits == 0).then(|| bits.leading_ones() as u8)
}

pub(super) fn speed(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let line = reader.line;
    if reader.negated() || reader.keyword(&["auto"]).is_some() {
        interface.speed = None;
        return Ok(Finding::MODELLED);
    }
    // With `nonegotiate` and several possible speeds, the rate follows from the name of the interface.
    let megabits = match reader.peek() {
        Some("nonegotiate") => return Ok(Finding::IRRELEVANT),
        _ => reader.number("megabits per second", 10..=400_000)?,
    };
    reader.end()?;
    interface.speed = Some(At::new(line, megabits));
    Ok(Finding::MODELLED)
}

/// Reads `pvc [name] [vpi/]vci`.
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
        reader.report(
            &rules::CIRCUIT_NOT_ATM,
            "a circuit on an interface that is not ATM",
            "the router refuses the line",
        );
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
