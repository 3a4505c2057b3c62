//! Commands of the block `interface` about tunnels, bundles, packet sizes and encapsulations.

use std::net::Ipv6Addr;

use super::command::{Command, modelled, not_modelled, recorded};
use super::criterion::interface_name;
use super::service_instance::{self, text};
use crate::ast::{
    At, Direction, Family, Interface, InterfaceAddress6, Multilink, PacketFilter, PeerPolicy, Tunnel,
};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Interface>] = &[
    modelled("channel-group", |interface, reader| {
        interface.channel_group = number(reader, 1..=65535)?;
        Ok(Finding::modelled(
            "the interface is a member of a bundle; the rate of the bundle includes its rate",
        ))
    }),
    modelled("ppp multilink group", group),
    modelled("multilink-group", group),
    modelled("service instance", service_instance::open),
    recorded("crypto map", "encryption makes packets longer", |interface, reader| {
        text(&mut interface.crypto_map, reader)
    }),
    recorded("dialer pool", "the line is dialed on demand", pool),
    recorded("dialer pool-member", "a dialer sends its packets through this interface", pool),
    recorded("ip access-group", FILTER, |interface, reader| filter(interface, Family::Ipv4, reader)),
    recorded("ipv6 traffic-filter", FILTER, |interface, reader| filter(interface, Family::Ipv6, reader)),
    modelled("ip mtu", |interface, reader| {
        interface.ip_mtu = number(reader, MTU)?;
        Ok(Finding::MODELLED)
    }),
    recorded("ip nhrp group", GROUP, |interface, reader| text(&mut interface.nhrp_group, reader)),
    recorded("nhrp group", GROUP, |interface, reader| text(&mut interface.nhrp_group, reader)),
    modelled("ip nhrp map group", peer_policy),
    modelled("nhrp map group", peer_policy),
    modelled("ip tcp adjust-mss", |interface, reader| {
        interface.adjust_mss = number(reader, 500..=65535)?;
        Ok(Finding::MODELLED)
    }),
    modelled("mtu", |interface, reader| {
        interface.mtu = number(reader, MTU)?;
        Ok(Finding::MODELLED)
    }),
    modelled("ppp multilink", multilink),
    modelled("ppp interleave", |interface, reader| {
        let set = flag(reader);
        interface.multilink.get_or_insert_with(Multilink::default).interleave = set;
        Ok(of_bundle(interface))
    }),
    modelled("pppoe", pppoe),
    modelled("pppoe-client", pppoe),
    modelled("qos pre-classify", |interface, reader| {
        interface.pre_classify = flag(reader);
        Ok(Finding::MODELLED)
    }),
    modelled("tunnel", tunnel),
    modelled("ipv6 address", ipv6_address),
    modelled("ipv6 enable", |_, _| Ok(Finding::IRRELEVANT)),
    not_modelled("ipv6 verify", "packets from unexpected sources are dropped"),
    not_modelled("ipv6 policy", "a route-map selects the next hop of packets, and may mark them"),
    not_modelled(
        "ipv6 nat",
        "the device translates addresses, and access lists match the translated addresses",
    ),
    not_modelled("ipv6 unnumbered", "the interface uses the address of another interface"),
];

/// Accepted values of `mtu` and `ip mtu`, bytes. Routers also accept values from 64 or 68 to 127, which are
/// not used in practice.
const MTU: std::ops::RangeInclusive<u64> = 128..=65535;
const FILTER: &str = "packets that the list denies are dropped here";
const GROUP: &str = "the hub applies the policy of the group to packets that it sends here";

pub(super) fn flag(reader: &mut Reader) -> Option<At<()>> {
    while reader.next().is_some() {}
    (!reader.negated()).then(|| At::new(reader.line, ()))
}

fn number(reader: &mut Reader, range: std::ops::RangeInclusive<u64>) -> Result<Option<At<u64>>, Finding> {
    if reader.negated() {
        return Ok(None);
    }
    let number = reader.number("a number", range)?;
    while reader.next().is_some() {}
    Ok(Some(At::new(reader.line, number)))
}

/// Reads the number of the Multilink: in a member, its bundle; in a Multilink, its own number.
fn group(interface: &mut Interface, reader: &mut Reader) -> Reading {
    interface.multilink_group = number(reader, 1..=2_147_483_647)?;
    Ok(Finding::modelled("the interface is a member of a bundle; the rate of the bundle includes its rate"))
}

fn pool(interface: &mut Interface, reader: &mut Reader) -> Result<(), Finding> {
    interface.dialer_pool = number(reader, 1..=255)?;
    Ok(())
}

fn filter(interface: &mut Interface, family: Family, reader: &mut Reader) -> Result<(), Finding> {
    let list = reader.word("an access list")?.to_owned();
    let direction = match reader.keyword(&["in", "out"]) {
        Some("in") => Direction::Input,
        _ => Direction::Output,
    };
    let line = reader.line;
    interface.filters.retain(|filter| (filter.direction, filter.family) != (direction, family));
    if !reader.negated() {
        interface.filters.push(PacketFilter { line, list, direction, family });
    }
    Ok(())
}

/// Reads `nhrp map group GROUP service-policy output POLICY`.
fn peer_policy(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let group = reader.word("a group")?.to_owned();
    let line = reader.line;
    interface.peer_policies.retain(|policy| policy.group != group);
    if reader.negated() {
        return Ok(Finding::MODELLED);
    }
    reader.one_of(&["service-policy"])?;
    reader.one_of(&["output"])?;
    let policy = reader.word("a policy-map")?.to_owned();
    reader.end()?;
    interface.peer_policies.push(PeerPolicy { line, group, policy });
    Ok(Finding::MODELLED)
}

/// Reads `ppp multilink`, `ppp multilink interleave`, `ppp multilink fragment …`.
fn multilink(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let multilink = interface.multilink.get_or_insert_with(Multilink::default);
    if reader.peek().is_none() {
        return Ok(Finding::modelled("packets of a Multilink interface have a multilink header"));
    }
    match reader.keyword(&["interleave", "fragment", "fragment-delay"]) {
        Some("interleave") => multilink.interleave = flag(reader),
        Some(fragment) => {
            let how =
                if fragment == "fragment" { reader.keyword(&["delay", "size", "disable"]) } else { None };
            match how {
                Some("disable") => multilink.unfragmented = flag(reader),
                Some("size") => multilink.fragment_bytes = number(reader, 1..=65535)?,
                _ => multilink.fragment_microseconds = delay(reader)?,
            }
        }
        None => {
            while reader.next().is_some() {}
            return Ok(Finding::not_modelled("the negotiation and reordering of a bundle"));
        }
    }
    Ok(of_bundle(interface))
}

/// Returns the finding for a line about fragmentation or interleaving. Only a Multilink interface has both.
fn of_bundle(interface: &Interface) -> Finding {
    if interface.name.starts_with("Multilink") {
        Finding::MODELLED
    } else {
        Finding::not_modelled(
            "the Multilink interface configures fragmentation; without such an interface, packets are not \
             fragmented",
        )
    }
}

/// Parses a delay in milliseconds and an optional addition in microseconds. Returns microseconds.
fn delay(reader: &mut Reader) -> Result<Option<At<u64>>, Finding> {
    if reader.negated() {
        return Ok(None);
    }
    let milliseconds = reader.number("milliseconds", 0..=1000)?;
    let microseconds = reader.maybe_number().unwrap_or(0).min(1_000_000);
    Ok(Some(At::new(reader.line, milliseconds * 1000 + microseconds)))
}

/// Reads `pppoe enable`, `pppoe-client dial-pool-number 1`.
fn pppoe(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.eat("dial-pool-number") {
        interface.dialer_pool = number(reader, 1..=255)?;
    }
    interface.pppoe = flag(reader);
    Ok(Finding::MODELLED)
}

pub(super) fn tunnel(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let tunnel = interface.tunnel.get_or_insert_with(Tunnel::default);
    let keywords = [
        "source",
        "destination",
        "mode",
        "key",
        "checksum",
        "sequence-datagrams",
        "protection",
        "vrf",
        "path-mtu-discovery",
    ];
    match reader.keyword(&keywords) {
        Some("source") => {
            let (line, named) = (reader.line, reader.peek().is_some_and(is_interface));
            let source = if named { interface_name(reader)? } else { reader.word("an address")?.to_owned() };
            tunnel.source = (!reader.negated()).then(|| At::new(line, source));
        }
        Some("destination") => text(&mut tunnel.destination, reader)?,
        Some("mode") => text(&mut tunnel.mode, reader)?,
        Some("vrf") => text(&mut tunnel.vrf, reader)?,
        Some("key") => tunnel.key = number(reader, 0..=u64::from(u32::MAX))?,
        Some("checksum") => tunnel.checksum = flag(reader),
        Some("sequence-datagrams") => tunnel.sequence = flag(reader),
        Some("path-mtu-discovery") => {
            tunnel.path_mtu_discovery = flag(reader);
            return Ok(Finding::not_modelled("hosts send shorter packets"));
        }
        Some(_) => {
            reader.one_of(&["ipsec"])?;
            reader.keyword(&["profile", "policy"]);
            let profile = reader.word("a profile")?.to_owned();
            while reader.next().is_some() {}
            tunnel.protection = (!reader.negated()).then(|| At::new(reader.line, profile));
        }
        None => {
            while reader.next().is_some() {}
            return Ok(Finding::IRRELEVANT);
        }
    }
    Ok(Finding::MODELLED)
}

/// Whether a word is an interface name, not an address.
fn is_interface(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.parse::<Ipv6Addr>().is_err()
}

pub(super) fn ipv6_address(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let addresses = &mut interface.addresses6;
    let Some(word) = reader.peek() else {
        addresses.clear();
        return Ok(Finding::MODELLED);
    };
    let (address, length) = word.split_once('/').unwrap_or((word, "128"));
    let (Ok(address), Ok(prefix_length)) = (address.parse::<Ipv6Addr>(), length.parse::<u8>()) else {
        // The address is `autoconfig`, `dhcp`, or part of a named prefix.
        return Ok(Finding::not_modelled("an address assigned dynamically"));
    };
    if prefix_length > 128 {
        return Err(reader.unexpected("an address with a prefix of at most 128 bits"));
    }
    addresses.retain(|other| other.address != address);
    if !reader.negated() {
        addresses.push(InterfaceAddress6 { line: reader.line, address, prefix_length });
    }
    Ok(Finding::not_modelled("perhop's ports have IPv4 addresses only"))
}
