//! [`Condition`]: class-maps and access lists as conditions on packets.

mod access_list;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::Dscp;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::Protocol;

use crate::ast::{
    CLASS_DEFAULT, ClassMap, Combination, Configuration, Criterion, Family, Polarity, RateLimitMatch,
    Statement,
};
use crate::syntax::application::{application, ip_protocol};
use access_list::of_access_list;

/// Which packets meet something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Always,
    Never,
    When(Box<MatchConfig>),
}

/// Class-maps inside class-maps go no deeper.
const DEEPEST: usize = 16;

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
        let condition = of_statement(configuration, statement, depth);
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

fn of_statement(configuration: &Configuration, statement: &Statement, depth: usize) -> Condition {
    let condition = of_criterion(configuration, &statement.criterion, depth);
    match of_family(configuration, statement.family) {
        Condition::Always => condition,
        family => Condition::all(vec![family, condition]),
    }
}

/// The packets of `family`. Where a configuration says nothing of IPv6, the router passes IPv4 packets only,
/// and the condition would cost time for nothing.
fn of_family(configuration: &Configuration, family: Family) -> Condition {
    let all = |address: IpAddr| {
        let all = Prefix::new(address, 0).ok().map(OneOrMany::from);
        Condition::when(MatchConfig { source: all, ..MatchConfig::default() })
    };
    match family {
        Family::Ipv4 if configuration.speaks_ipv6 => all(Ipv4Addr::UNSPECIFIED.into()),
        Family::Any | Family::Ipv4 => Condition::Always,
        Family::Ipv6 => all(Ipv6Addr::UNSPECIFIED.into()),
    }
}

fn of_criterion(configuration: &Configuration, criterion: &Criterion, depth: usize) -> Condition {
    match criterion {
        Criterion::Any => Condition::Always,
        Criterion::AccessGroup(name) => of_access_group(configuration, name),
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
        // Perhop's packets do not show it (`Criterion::unseen`).
        Criterion::Cos(_)
        | Criterion::CosInner(_)
        | Criterion::MplsTopmost(_)
        | Criterion::DiscardClass(_)
        | Criterion::TrafficClass(_)
        | Criterion::PacketLength { .. }
        | Criterion::Vlan(_)
        | Criterion::VlanInner(_)
        | Criterion::Application(_)
        | Criterion::NotModelled(_) => Condition::Never,
    }
}

fn of_access_group(configuration: &Configuration, name: &str) -> Condition {
    configuration.access_lists.get(name).map_or(Condition::Never, |list| of_access_list(configuration, list))
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
    if name == "ip" || name == "ipv6" {
        return Condition::Always;
    }
    if let Some(protocol) = ip_protocol(name) {
        return Condition::when(MatchConfig { protocol: Some(protocol.into()), ..MatchConfig::default() });
    }
    application(name).map_or(Condition::Never, |(_, protocols, ports)| of_application(protocols, ports))
}

fn of_application(protocols: &[Protocol], ports: &[(u16, u16)]) -> Condition {
    let ranges: Vec<PortRange> =
        ports.iter().filter_map(|(first, last)| PortRange::new(*first, *last).ok()).collect();
    let base = MatchConfig { protocol: Some(OneOrMany(protocols.to_vec())), ..MatchConfig::default() };
    let source = MatchConfig { source_port: Some(OneOrMany(ranges.clone())), ..base.clone() };
    let destination = MatchConfig { destination_port: Some(OneOrMany(ranges)), ..base };
    Condition::any(vec![Condition::when(source), Condition::when(destination)])
}

/// The packets that a `rate-limit` line takes.
pub(super) fn of_rate_limit(configuration: &Configuration, matches: &RateLimitMatch) -> Condition {
    match matches {
        RateLimitMatch::All => Condition::Always,
        RateLimitMatch::AccessGroup(name) => of_access_group(configuration, name),
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
