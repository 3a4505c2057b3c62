//! `ip route` and `ipv6 route`.

use std::net::{IpAddr, Ipv6Addr};

use perhop_device::{InterfaceAddress, Route, RouteOrigin, RouteTarget};
use perhop_qos::classifier::Prefix;

use super::interface::prefix_length;
use super::interface_name::full_name;
use super::numbers::address;
use crate::ast::Configuration;
use crate::words::{Finding, Reader, Reading};

/// The default administrative distance of a static route.
pub(super) const STATIC: u8 = 1;

/// Reads `ip route [vrf NAME] PREFIX MASK TARGET …`.
pub(super) fn ipv4(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.keyword(&["profile", "static"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    let vrf = vrf(reader)?;
    let network = address(reader, "a prefix")?;
    let mask = address(reader, "a mask")?;
    let length = prefix_length(mask).ok_or_else(|| {
        Finding::not_recognized(format!("{mask} is not a mask: its 1-bits are not contiguous"))
    })?;
    let prefix = Prefix::new(network.into(), length).map_err(Finding::not_recognized)?;
    route(configuration, reader, vrf, prefix)
}

/// Reads `ipv6 route [vrf NAME] PREFIX/LENGTH TARGET …`.
pub(super) fn ipv6(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.keyword(&["profile", "static"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    let vrf = vrf(reader)?;
    ipv6_in(configuration, reader, vrf)
}

/// Reads `10.0.0.0/8 TARGET …`, after `ip route`, in the table `vrf`.
pub(super) fn prefix_route(
    configuration: &mut Configuration,
    reader: &mut Reader,
    vrf: Option<String>,
) -> Reading {
    let parts = reader.peek().and_then(|word| word.split_once('/'));
    let parts = parts.and_then(|(network, length)| {
        Some((network.parse::<std::net::Ipv4Addr>().ok()?, length.parse::<u8>().ok()?))
    });
    let (network, prefix_length) = parts.ok_or_else(|| reader.unexpected("a prefix as network/length"))?;
    let subnet = InterfaceAddress { line: reader.line, address: network.into(), prefix_length }.subnet();
    let prefix = subnet.ok_or_else(|| reader.unexpected("a prefix of at most 32 bits"))?;
    reader.next();
    if reader.rest().contains(&"vrf") {
        return Ok(Finding::not_modelled(
            "the next hop is in another routing table: in perhop packets of this route have no route there",
        ));
    }
    route(configuration, reader, vrf, prefix)
}

/// Reads `2001:db8::/32 TARGET …`, after `ipv6 route`, in the table `vrf`.
pub(super) fn ipv6_in(
    configuration: &mut Configuration,
    reader: &mut Reader,
    vrf: Option<String>,
) -> Reading {
    let written = reader.peek().and_then(|word| word.split_once('/'));
    let parts = written
        .and_then(|(network, length)| Some((network.parse::<Ipv6Addr>().ok()?, length.parse::<u8>().ok()?)));
    let (network, prefix_length) = parts.ok_or_else(|| reader.unexpected("a prefix as network/length"))?;
    let line = reader.line;
    let subnet = InterfaceAddress { line, address: network.into(), prefix_length }.subnet();
    let prefix = subnet.ok_or_else(|| reader.unexpected("a prefix of at most 128 bits"))?;
    reader.next();
    route(configuration, reader, vrf, prefix)
}

fn vrf(reader: &mut Reader) -> Result<Option<String>, Finding> {
    if reader.eat("vrf") { Ok(Some(reader.word("a VRF")?.to_owned())) } else { Ok(None) }
}

pub(super) fn route(
    configuration: &mut Configuration,
    reader: &mut Reader,
    vrf: Option<String>,
    prefix: Prefix,
) -> Reading {
    let line = reader.line;
    let target = if reader.negated() && reader.peek().is_none() { None } else { Some(target(reader)?) };
    let (mut distance, mut is_conditional) = (STATIC, false);
    while let Some(word) = reader.next() {
        match word {
            "name" | "tag" => _ = reader.next(),
            "track" => {
                is_conditional = true;
                reader.next();
            }
            other => distance = other.parse().unwrap_or(distance),
        }
    }
    let routes = &mut configuration.routes;
    match target {
        Some(via) if !reader.negated() => {
            routes.retain(|other| (&other.vrf, other.prefix, &other.via) != (&vrf, prefix, &via));
            routes.push(Route {
                line,
                vrf,
                prefix,
                via,
                distance,
                is_conditional,
                origin: RouteOrigin::Configured,
            });
        }
        target => routes.retain(|other| {
            (&other.vrf, other.prefix) != (&vrf, prefix)
                || target.as_ref().is_some_and(|target| *target != other.via)
        }),
    }
    Ok(Finding::MODELLED)
}

fn target(reader: &mut Reader) -> Result<RouteTarget, Finding> {
    let word = reader.word("a next hop or an interface")?.to_owned();
    if let Ok(next_hop) = word.parse::<IpAddr>() {
        return Ok(RouteTarget::NextHop(next_hop));
    }
    if word == "dhcp" {
        return Ok(RouteTarget::Learned);
    }
    let mut name = word;
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    // A space may precede the number: `Serial 0/0`.
    if !name.ends_with(|last: char| last.is_ascii_digit()) && reader.peek().is_some_and(is_number) {
        name.push_str(reader.next().unwrap_or_default());
    }
    let name = full_name(&name).full;
    if name == "Null0" {
        return Ok(RouteTarget::Discard);
    }
    let next_hop = reader.peek().and_then(|word| word.parse().ok());
    if next_hop.is_some() {
        reader.next();
    }
    Ok(RouteTarget::Interface { name: name.into(), next_hop })
}
