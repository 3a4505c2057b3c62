//! [`Condition`]: class-maps and access lists as conditions on packets.

mod access_list;
mod algebra;

use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange};
use perhop_qos::packet::Protocol;

use crate::ast::{
    CLASS_DEFAULT, ClassMap, Combination, Configuration, Criterion, Polarity, RateLimitMatch, Statement,
};
use crate::syntax::application::{application, ip_protocol};
use access_list::of_access_list;
pub(crate) use algebra::Condition;
use algebra::of_family;
pub(super) use algebra::{looks_at_codepoint, looks_at_label};

/// Class-maps inside class-maps go no deeper.
const DEEPEST: usize = 16;

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
