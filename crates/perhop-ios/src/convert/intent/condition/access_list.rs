//! Conversion of access lists to conditions on packets.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::intent::Condition;
use perhop_qos::Dscp;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};

use super::family::of_family;
use crate::ast::{
    AccessList, AclAction, AclEntry, AclKind, AddressMatch, Configuration, Family, PortMatch, PrefixMatch,
    ServiceMatch,
};
use crate::object_group::{Addresses, of_prefix};

/// Limit on the nesting depth of alternations of permit and deny, because recursion and JSON parsers limit
/// the depth. perhop divides a longer list into halves, so the depth is at most logarithmic in the length.
const MOST_NESTED: usize = 8;

/// Returns the condition for the packets that `list` permits.
pub(super) fn of_access_list(configuration: &Configuration, list: &AccessList) -> Condition {
    let runs = list.entries.chunk_by(|a, b| a.action == b.action);
    let runs: Vec<Run> = runs
        .map(|entries| Run {
            action: entries[0].action,
            conditions: entries.iter().map(|entry| of_entry(configuration, entry)).collect(),
        })
        .collect();
    let permitted = permitted(&runs);
    match list.kind {
        AclKind::Ipv6 => permitted,
        _ => match of_family(configuration, Family::Ipv4) {
            Condition::Always => permitted,
            family => Condition::all(vec![family, permitted]),
        },
    }
}

/// Consecutive entries with the same action.
struct Run {
    action: AclAction,
    conditions: Vec<Condition>,
}

/// Returns the condition for the packets whose first matching run permits them. A packet that matches no
/// entry is denied.
fn permitted(runs: &[Run]) -> Condition {
    if runs.len() <= MOST_NESTED {
        return runs.iter().rev().fold(Condition::Never, |rest, run| match run.action {
            AclAction::Permit => Condition::any(run.conditions.iter().cloned().chain([rest]).collect()),
            AclAction::Deny => rest.but_not(&run.conditions),
        });
    }
    // The first half decides about every packet that matches one of its deny entries, so the second half
    // excludes these packets.
    let (first, second) = runs.split_at(runs.len() / 2);
    let denies = first.iter().filter(|run| run.action == AclAction::Deny);
    let denied: Vec<Condition> = denies.flat_map(|run| run.conditions.iter().cloned()).collect();
    Condition::any(vec![permitted(first), permitted(second).but_not(&denied)])
}

/// Returns the condition for the packets that match `entry`.
pub(in crate::convert) fn of_entry(configuration: &Configuration, entry: &AclEntry) -> Condition {
    if entry.unseen.is_some() {
        return Condition::Never;
    }
    let (from, to) = (entry.prefixes.map(|(source, _)| source), entry.prefixes.map(|(_, to)| to));
    // The condition on the source already requires IPv6, so `any` as the destination needs no condition.
    let to = to.filter(|to| *to != PrefixMatch::ANY);
    let source = addresses(configuration, entry.source_group.as_deref(), entry.source, from);
    let destination = addresses(configuration, entry.destination_group.as_deref(), entry.destination, to);
    let (Some(source), Some(destination)) = (source, destination) else { return Condition::Never };
    let config = MatchConfig {
        source,
        destination,
        precedence: entry.precedence.map(OneOrMany::from),
        dscp: dscps(entry),
        ..MatchConfig::default()
    };
    if matches!(&config.dscp, Some(OneOrMany(none)) if none.is_empty()) {
        return Condition::Never;
    }
    let own = ServiceMatch {
        protocols: entry.protocol.into_iter().collect(),
        source_ports: entry.source_ports.clone(),
        destination_ports: entry.destination_ports.clone(),
    };
    let services = match &entry.service_group {
        Some(group) => configuration.services_of(group),
        None => vec![&own],
    };
    match services.as_slice() {
        [service] => with_service(&config, service),
        // One condition on the addresses with a disjunction of the services is smaller than one complete
        // condition for each service.
        services => {
            let alone = MatchConfig::default();
            let services = services.iter().map(|service| with_service(&alone, service)).collect();
            let rest = if config == alone { Condition::Always } else { Condition::when(config) };
            Condition::all(vec![rest, Condition::any(services)])
        }
    }
}

/// Returns the prefixes of an entry's source or destination: `Some(None)` for any address, `None` for no
/// address. An undefined or too large group has no address.
#[allow(clippy::option_option)] // "any address" and "no address" are different results
fn addresses(
    configuration: &Configuration,
    group: Option<&str>,
    address: AddressMatch,
    prefix: Option<PrefixMatch>,
) -> Option<Option<OneOrMany<Prefix>>> {
    let Some(group) = group else {
        return Some(match prefix {
            // In an IPv6 list, `any` matches only IPv6 addresses.
            Some(prefix) => of_prefix(prefix).map(OneOrMany::from),
            None => prefixes(address),
        });
    };
    match configuration.addresses_of(group) {
        Addresses::Any => Some(prefix.and_then(of_prefix).map(OneOrMany::from)),
        Addresses::Of(prefixes) => (!prefixes.is_empty()).then_some(Some(OneOrMany(prefixes))),
        Addresses::TooMany => None,
    }
}

fn with_service(config: &MatchConfig, service: &ServiceMatch) -> Condition {
    let config = MatchConfig {
        protocol: (!service.protocols.is_empty()).then(|| OneOrMany(service.protocols.clone())),
        source_port: ports(&service.source_ports),
        destination_port: ports(&service.destination_ports),
        ..config.clone()
    };
    if config == MatchConfig::default() {
        return Condition::Always;
    }
    Condition::all(vec![Condition::when(config)])
}

/// Returns the codepoints of `dscp` and `tos`; `None` for any.
fn dscps(entry: &AclEntry) -> Option<OneOrMany<Dscp>> {
    // RFC 1349: the type of service is in bits 3 to 6 of the octet, so the codepoint contains its three high
    // bits.
    let of_type = entry.type_of_service.map(|tos| {
        (0..8u8).filter_map(|precedence| Dscp::new(precedence << 3 | tos >> 1)).collect::<Vec<_>>()
    });
    match (entry.dscp, of_type) {
        (Some(dscp), None) => Some(dscp.into()),
        (Some(dscp), Some(list)) => {
            Some(OneOrMany(list.into_iter().filter(|other| *other == dscp).collect()))
        }
        (None, list) => list.map(OneOrMany),
    }
}

fn ports(ports: &[PortMatch]) -> Option<OneOrMany<PortRange>> {
    let ranges = ports.iter().filter_map(|port| PortRange::new(port.first, port.last).ok());
    (!ports.is_empty()).then(|| OneOrMany(ranges.collect()))
}

/// Returns the prefixes that are equivalent to `address`; `None` for any address.
fn prefixes(address: AddressMatch) -> Option<OneOrMany<Prefix>> {
    let wildcard = address.wildcard.to_bits();
    if wildcard == u32::MAX {
        return None;
    }
    // Trailing 1-bits shorten the prefix. Each other 1-bit doubles the number of prefixes.
    let trailing = wildcard.trailing_ones();
    let scattered = wildcard & u32::MAX.checked_shl(trailing).unwrap_or(0);
    let base = address.address.to_bits() & !wildcard;
    let mut all = Vec::new();
    let mut subset = 0;
    loop {
        let network = IpAddr::V4(Ipv4Addr::from_bits(base | subset));
        all.extend(Prefix::new(network, 32 - trailing as u8).ok());
        // The next subset of the scattered bits.
        subset = subset.wrapping_sub(scattered) & scattered;
        if subset == 0 {
            break;
        }
    }
    Some(OneOrMany(all))
}
