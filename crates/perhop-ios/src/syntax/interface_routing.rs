//! Commands under `interface` that concern routing protocols and groups of routers with a virtual address.

use std::net::Ipv4Addr;

use perhop_device::LinkSettingKind;
use perhop_device::intent::At;

use super::command::{Command, modelled, noted, recorded};
use super::labels::LABELS;
use super::numbers::address;
use super::router::metric;
use crate::ast::{BOTH_LEVELS, Interface};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Interface>] = &[
    noted("ip ospf", |interface, reader| {
        let process = reader.next().filter(|word| word.parse::<u16>().is_ok());
        let area = process.and_then(|_| if reader.eat("area") { reader.next() } else { None });
        if let (Some(process), Some(area)) = (process, area) {
            let named = (process.to_owned(), area.to_owned());
            interface.routing.ospf = (!reader.negated()).then(|| At::new(reader.line, named));
        }
    }),
    noted("ip ospf cost", |interface, reader| cost(&mut interface.routing.ospf_cost, reader)),
    noted("ip ospf network", |interface, reader| setting(interface, LinkSettingKind::OspfNetwork, reader)),
    noted("ip ospf hello-interval", |interface, reader| {
        setting(interface, LinkSettingKind::OspfHello, reader);
    }),
    noted("ip ospf dead-interval", |interface, reader| {
        setting(interface, LinkSettingKind::OspfDead, reader);
    }),
    noted("ip router isis", isis),
    noted("isis circuit-type", |interface, reader| {
        setting(interface, LinkSettingKind::IsisLevels, reader);
    }),
    noted("isis network", |interface, reader| setting(interface, LinkSettingKind::IsisNetwork, reader)),
    noted("isis metric", |interface, reader| metric(&mut interface.routing.isis_metrics, reader)),
    noted("isis passive", |interface, reader| {
        interface.routing.isis_passive = (!reader.negated()).then(|| At::new(reader.line, BOTH_LEVELS));
    }),
    noted("isis advertise prefix", |interface, reader| {
        interface.routing.isis_suppressed = reader.negated().then_some(reader.line);
    }),
    recorded("mpls ip", LABELS, |interface, reader| {
        setting(interface, LinkSettingKind::Labels, reader);
        Ok(())
    }),
    noted("mpls ldp igp autoconfig", |interface, reader| {
        interface.routing.refuses_labels = reader.negated();
    }),
    noted("ip nhrp map", nhrp_map),
    noted("ip nhrp nhs", nhrp_server),
    modelled("standby", group),
    modelled("vrrp", group),
];

/// Reads `ip router isis [TAG]`.
pub(super) fn isis(interface: &mut Interface, reader: &mut Reader) {
    let tag = reader.next().unwrap_or_default().to_owned();
    interface.routing.isis = (!reader.negated()).then(|| At::new(reader.line, tag));
}

/// Records a setting whose value is the rest of the line.
pub(super) fn setting(interface: &mut Interface, kind: LinkSettingKind, reader: &mut Reader) {
    let value = reader.rest().join(" ");
    if reader.negated() {
        interface.routing.settings.remove(&kind);
    } else {
        interface.routing.settings.insert(kind, At::new(reader.line, value));
    }
}

pub(super) fn cost(cost: &mut Option<At<u64>>, reader: &mut Reader) {
    let value = reader.maybe_number().filter(|_| !reader.negated());
    *cost = value.map(|value| At::new(reader.line, value));
}

/// Reads `ip nhrp map ADDRESS OUTER-ADDRESS`.
fn nhrp_map(interface: &mut Interface, reader: &mut Reader) {
    if let (Ok(inside), Ok(outside)) = (address(reader, "an address"), address(reader, "an address")) {
        set_map(interface, reader, inside, outside);
    }
}

/// Reads `ip nhrp nhs ADDRESS nbma OUTER-ADDRESS`.
fn nhrp_server(interface: &mut Interface, reader: &mut Reader) {
    let Ok(inside) = address(reader, "an address") else { return };
    if reader.eat("nbma")
        && let Ok(outside) = address(reader, "an address")
    {
        set_map(interface, reader, inside, outside);
    }
}

fn set_map(interface: &mut Interface, reader: &Reader, inside: Ipv4Addr, outside: Ipv4Addr) {
    let maps = &mut interface.routing.nhrp_maps;
    maps.retain(|map| map.value.0 != inside);
    if !reader.negated() {
        maps.push(At::new(reader.line, (inside, outside)));
    }
}

/// Reads `standby [GROUP] ip ADDRESS`, `standby [GROUP] priority NUMBER`.
#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
fn group(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let number = reader.maybe_number().and_then(|number| u16::try_from(number).ok()).unwrap_or(0);
    let (line, is_set) = (reader.line, !reader.negated());
    let group = interface.routing.groups.entry(number).or_default();
    match reader.next() {
        Some("ip") => {
            let own = address(reader, "an address").ok();
            if reader.peek() == Some("secondary") {
                return Ok(Finding::not_modelled("further addresses of a group"));
            }
            group.address = own.filter(|_| is_set).map(|own| At::new(line, own));
            if is_set && own.is_none() {
                return Ok(Finding::not_modelled("an address that the other routers of the group announce"));
            }
        }
        Some("priority") => {
            let value = reader.maybe_number().filter(|_| is_set);
            group.priority =
                value.and_then(|value| u8::try_from(value).ok()).map(|value| At::new(line, value));
        }
        _ => return Ok(Finding::IRRELEVANT),
    }
    Ok(Finding::MODELLED)
}
