//! [`Condition`]: class-maps and access lists as conditions on packets.

use std::net::{IpAddr, Ipv4Addr};

use perhop_qos::Dscp;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::Protocol;

use crate::ast::{
    AccessList, AclAction, AclEntry, AddressMatch, CLASS_DEFAULT, ClassMap, Combination, Configuration,
    Criterion, Polarity, PortMatch, RateLimitMatch,
};

/// Which packets meet something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Always,
    Never,
    When(Box<MatchConfig>),
}

/// Class-maps inside class-maps go no deeper.
const DEEPEST: usize = 16;

/// Changes between permit and deny in one access list that are followed.
const MOST_TURNS: usize = 200;

impl Condition {
    pub(super) fn when(config: MatchConfig) -> Condition {
        Condition::When(Box::new(config))
    }
    /// All of them.
    pub(super) fn all(conditions: Vec<Condition>) -> Condition {
        let mut together = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Always => {}
                Condition::Never => return Condition::Never,
                Condition::When(config) => together.push(*config),
            }
        }
        let together = match together.len() {
            0 => return Condition::Always,
            1 => Condition::when(together.remove(0)),
            _ => Condition::when(MatchConfig { all: Some(together), ..MatchConfig::default() }),
        };
        // Conditions that exclude each other: `dscp ef` and `precedence 1`.
        if together.may_hold_at_all() { together } else { Condition::Never }
    }
    /// At least one of them.
    pub(super) fn any(conditions: Vec<Condition>) -> Condition {
        let mut either = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Always => return Condition::Always,
                Condition::Never => {}
                Condition::When(config) => either.push(*config),
            }
        }
        match either.len() {
            0 => Condition::Never,
            1 => Condition::when(either.remove(0)),
            _ => Condition::when(MatchConfig { any: Some(either), ..MatchConfig::default() }),
        }
    }
    /// The contrary.
    pub(super) fn negated(self) -> Condition {
        match self {
            Condition::Always => Condition::Never,
            Condition::Never => Condition::Always,
            Condition::When(config) => match config.not {
                // Only a condition made here is a bare negation.
                Some(not)
                    if *config == (MatchConfig { not: Some(not.clone()), ..MatchConfig::default() }) =>
                {
                    Condition::When(not)
                }
                not => {
                    let config = MatchConfig { not, ..*config };
                    Condition::when(MatchConfig { not: Some(Box::new(config)), ..MatchConfig::default() })
                }
            },
        }
    }
    /// This and none of `others`.
    pub(super) fn but_not(self, others: &[Condition]) -> Condition {
        if others.is_empty() {
            return self;
        }
        Condition::all(vec![self, Condition::any(others.to_vec()).negated()])
    }
}

impl Condition {
    /// Whether a packet with this codepoint may meet it, as far as the codepoint alone tells.
    pub(super) fn may_hold(&self, dscp: Dscp) -> bool {
        match self {
            Condition::Always => true,
            Condition::Never => false,
            Condition::When(config) => holds(config, dscp) != Some(false),
        }
    }
    fn may_hold_at_all(&self) -> bool {
        let Condition::When(config) = self else { return true };
        !looks_at_codepoint(config) || (0..64).filter_map(Dscp::new).any(|dscp| self.may_hold(dscp))
    }
}

/// Whether a packet with this codepoint meets `config`; `None` where more than the codepoint decides.
fn holds(config: &MatchConfig, dscp: Dscp) -> Option<bool> {
    let MatchConfig { dscp: codepoints, precedence, all, any, not, .. } = config;
    let own = [
        codepoints.as_ref().map(|list| Some(list.0.contains(&dscp))),
        precedence.as_ref().map(|list| Some(list.0.contains(&dscp.precedence()))),
        all.as_ref().map(|list| every(list.iter().map(|config| holds(config, dscp)))),
        any.as_ref().map(|list| {
            // At least one holds unless all of them do not.
            every(list.iter().map(|config| holds(config, dscp).map(|holds| !holds))).map(|none| !none)
        }),
        not.as_ref().map(|config| holds(config, dscp).map(|holds| !holds)),
    ];
    let of_codepoint = MatchConfig {
        dscp: codepoints.clone(),
        precedence: precedence.clone(),
        all: all.clone(),
        any: any.clone(),
        not: not.clone(),
        ..MatchConfig::default()
    };
    let others = (*config != of_codepoint).then_some(None);
    every(own.into_iter().flatten().chain(others))
}

/// Whether the codepoint of a packet matters to `config`.
pub(super) fn looks_at_codepoint(config: &MatchConfig) -> bool {
    let inside = [&config.all, &config.any].into_iter().flatten().flatten();
    config.dscp.is_some()
        || config.precedence.is_some()
        || inside.chain(config.not.as_deref()).any(looks_at_codepoint)
}

/// Whether the label of a packet matters to `config`.
pub(super) fn looks_at_label(config: &MatchConfig) -> bool {
    let inside = [&config.all, &config.any].into_iter().flatten().flatten();
    config.label.is_some() || inside.chain(config.not.as_deref()).any(looks_at_label)
}

/// Whether all hold: one that does not is enough to say no.
fn every(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for part in parts {
        match part {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// The packets of the class called `name`; `None` where there is no such class-map.
pub(super) fn of_class(configuration: &Configuration, name: &str) -> Option<Condition> {
    if name == CLASS_DEFAULT {
        return Some(Condition::Always);
    }
    configuration.class_maps.get(name).map(|map| of_class_map(configuration, map, 0))
}

fn of_class_map(configuration: &Configuration, map: &ClassMap, depth: usize) -> Condition {
    let conditions = map.statements.iter().map(|statement| {
        let condition = of_criterion(configuration, &statement.criterion, depth);
        match statement.polarity {
            Polarity::Is => condition,
            Polarity::Not => condition.negated(),
        }
    });
    let conditions: Vec<Condition> = conditions.collect();
    match map.combination {
        // The router lets no packet match a class-map that says nothing.
        _ if conditions.is_empty() => Condition::Never,
        Combination::MatchAll => Condition::all(conditions),
        Combination::MatchAny => Condition::any(conditions),
    }
}

fn of_criterion(configuration: &Configuration, criterion: &Criterion, depth: usize) -> Condition {
    match criterion {
        Criterion::Any => Condition::Always,
        Criterion::AccessGroup(name) => {
            configuration.access_lists.get(name).map_or(Condition::Never, of_access_list)
        }
        Criterion::Precedence(values) => Condition::when(MatchConfig {
            precedence: Some(OneOrMany(values.clone())),
            ..MatchConfig::default()
        }),
        Criterion::Dscp(values) => {
            Condition::when(MatchConfig { dscp: Some(OneOrMany(values.clone())), ..MatchConfig::default() })
        }
        Criterion::InputInterface(name) if configuration.interfaces.get(name).is_none() => Condition::Never,
        Criterion::InputInterface(name) => {
            Condition::when(MatchConfig { input: Some(name.clone().into()), ..MatchConfig::default() })
        }
        Criterion::Protocol(name) => of_protocol(name),
        Criterion::Rtp(first, last) => Condition::any(
            PortRange::new(*first, *last).ok().map(|range| udp_to(vec![range])).into_iter().collect(),
        ),
        Criterion::ClassMap(name) => match configuration.class_maps.get(name) {
            Some(map) if depth < DEEPEST => of_class_map(configuration, map, depth + 1),
            _ => Condition::Never,
        },
        Criterion::QosGroup(group) => of_group(*group),
        Criterion::NotModelled(_) => Condition::Never,
    }
}

/// The router's groups are labels here: both are forgotten when the packet leaves.
fn of_group(group: u32) -> Condition {
    let label = u8::try_from(group).map(OneOrMany::from);
    label.map_or(Condition::Never, |label| {
        Condition::when(MatchConfig { label: Some(label), ..MatchConfig::default() })
    })
}

fn udp_to(ports: Vec<PortRange>) -> Condition {
    Condition::when(MatchConfig {
        protocol: Some(Protocol::UDP.into()),
        destination_port: Some(OneOrMany(ports)),
        ..MatchConfig::default()
    })
}

/// `match protocol`: by IP protocol, or by the well-known ports of an application on either side.
fn of_protocol(name: &str) -> Condition {
    let word = name.split(' ').next().unwrap_or_default();
    let number = |protocol: u8| {
        Condition::when(MatchConfig { protocol: Some(Protocol(protocol).into()), ..MatchConfig::default() })
    };
    if word == "ip" {
        return Condition::Always;
    }
    if let Some((_, protocol)) = crate::ast::IP_PROTOCOLS.iter().find(|(known, _)| *known == word) {
        return number(*protocol);
    }
    match crate::ast::APPLICATIONS.iter().find(|(known, ..)| *known == word) {
        Some((_, protocols, ports)) => of_application(protocols, ports),
        None => Condition::Never,
    }
}

fn of_application(protocols: &[Protocol], ports: &[(u16, u16)]) -> Condition {
    let ranges: Vec<PortRange> =
        ports.iter().filter_map(|(first, last)| PortRange::new(*first, *last).ok()).collect();
    let base = MatchConfig { protocol: Some(OneOrMany(protocols.to_vec())), ..MatchConfig::default() };
    let source = MatchConfig { source_port: Some(OneOrMany(ranges.clone())), ..base.clone() };
    let destination = MatchConfig { destination_port: Some(OneOrMany(ranges)), ..base };
    Condition::any(vec![Condition::when(source), Condition::when(destination)])
}

/// The packets that `list` permits.
pub(super) fn of_access_list(list: &AccessList) -> Condition {
    // Runs of entries with the same action, the last first: what meets no entry is denied.
    let mut rest = Condition::Never;
    let runs: Vec<&[AclEntry]> = list.entries.chunk_by(|a, b| a.action == b.action).collect();
    for run in runs.iter().take(MOST_TURNS).rev() {
        let conditions: Vec<Condition> = run.iter().map(of_entry).collect();
        rest = match run[0].action {
            AclAction::Permit => Condition::any(conditions.into_iter().chain([rest]).collect()),
            AclAction::Deny => rest.but_not(&conditions),
        };
    }
    rest
}

fn of_entry(entry: &AclEntry) -> Condition {
    if entry.unseen.is_some() {
        return Condition::Never;
    }
    let config = MatchConfig {
        protocol: entry.protocol.map(OneOrMany::from),
        source: prefixes(entry.source),
        destination: prefixes(entry.destination),
        source_port: ports(&entry.source_ports),
        destination_port: ports(&entry.destination_ports),
        precedence: entry.precedence.map(OneOrMany::from),
        dscp: dscps(entry),
        ..MatchConfig::default()
    };
    match config.dscp {
        Some(OneOrMany(ref none)) if none.is_empty() => Condition::Never,
        _ if config == MatchConfig::default() => Condition::Always,
        _ => Condition::all(vec![Condition::when(config)]),
    }
}

/// The codepoints of `dscp` and `tos`; `None` where any will do.
fn dscps(entry: &AclEntry) -> Option<OneOrMany<Dscp>> {
    // RFC 1349: the type of service is bits 3 to 6 of the octet, so that the codepoint holds its three high
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

/// The prefixes that `address` stands for; `None` where any address will do.
fn prefixes(address: AddressMatch) -> Option<OneOrMany<Prefix>> {
    let wildcard = address.wildcard.to_bits();
    if wildcard == u32::MAX {
        return None;
    }
    // The ones at the end make the prefix shorter; each one further up doubles the prefixes.
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

/// The packets that a `rate-limit` line takes.
pub(super) fn of_rate_limit(configuration: &Configuration, matches: &RateLimitMatch) -> Condition {
    match matches {
        RateLimitMatch::All => Condition::Always,
        RateLimitMatch::AccessGroup(name) => {
            configuration.access_lists.get(name).map_or(Condition::Never, of_access_list)
        }
        RateLimitMatch::RateLimitList(name) => match configuration.rate_limit_lists.get(name) {
            Some(list) if !list.precedences.is_empty() => Condition::when(MatchConfig {
                precedence: Some(OneOrMany(list.precedences.clone())),
                ..MatchConfig::default()
            }),
            _ => Condition::Never,
        },
        RateLimitMatch::Dscp(dscp) => {
            Condition::when(MatchConfig { dscp: Some((*dscp).into()), ..MatchConfig::default() })
        }
        RateLimitMatch::QosGroup(group) => of_group(*group),
    }
}
