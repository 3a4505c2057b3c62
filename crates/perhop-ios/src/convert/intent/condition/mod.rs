//! Conversion of class-maps and access lists to conditions.

mod access_list;
mod family;

use perhop_device::intent::Condition;
use perhop_qos::Color;
use perhop_qos::classifier::{LengthRange, MatchConfig, OneOrMany, PortRange};
use perhop_qos::packet::{LinkMark, Protocol};

use crate::ast::{
    CLASS_DEFAULT, ClassMap, Combination, Configuration, Criterion, LabelUse, Polarity, RateLimitMatch,
    Statement,
};
use crate::convert::wire::Tags;
use crate::syntax::application::{application, ip_protocol};
use access_list::of_access_list;
pub(in crate::convert) use access_list::of_entry;
use family::of_family;

/// Returns the condition of the class `name` on a port with these `tags`; `None` if the class-map is
/// undefined.
pub(in crate::convert) fn of_class(
    configuration: &Configuration,
    name: &str,
    tags: Tags,
) -> Option<Condition> {
    if name == CLASS_DEFAULT {
        return Some(Condition::Always);
    }
    let classes = Classes { configuration, tags };
    configuration.class_maps.get(name).map(|map| classes.of_class_map(map))
}

/// Returns the condition of one line of a class-map, without its `not`.
pub(in crate::convert) fn of_statement(configuration: &Configuration, statement: &Statement) -> Condition {
    Classes { configuration, tags: Tags::default() }.of_statement(statement)
}

/// The class-maps of a configuration, for a port with these tags.
#[derive(Clone, Copy)]
struct Classes<'a> {
    configuration: &'a Configuration,
    tags: Tags,
}

impl Classes<'_> {
    fn of_class_map(self, map: &ClassMap) -> Condition {
        let conditions = map.statements.iter().map(|statement| {
            let condition = self.of_statement(statement);
            match statement.polarity {
                Polarity::Is => condition,
                Polarity::Not => condition.negated(),
            }
        });
        let conditions: Vec<Condition> = conditions.collect();
        match map.combination {
            // No packet matches an empty class-map.
            _ if conditions.is_empty() => Condition::Never,
            Combination::MatchAll => Condition::all(conditions),
            Combination::MatchAny => Condition::any(conditions),
        }
    }

    fn of_statement(self, statement: &Statement) -> Condition {
        let condition = self.of_criterion(&statement.criterion);
        match of_family(self.configuration, statement.family) {
            Condition::Always => condition,
            family => Condition::all(vec![family, condition]),
        }
    }

    fn of_criterion(self, criterion: &Criterion) -> Condition {
        let configuration = self.configuration;
        match criterion {
            Criterion::Any => Condition::Always,
            Criterion::AccessGroup(name) => of_access_group(configuration, name),
            Criterion::Precedence(values) => Condition::when(MatchConfig {
                precedence: Some(OneOrMany(values.clone())),
                ..MatchConfig::default()
            }),
            Criterion::Dscp(values) => Condition::when(MatchConfig {
                dscp: Some(OneOrMany(values.clone())),
                ..MatchConfig::default()
            }),
            Criterion::InputInterface(name) if configuration.interfaces.get(name).is_none() => {
                Condition::Never
            }
            Criterion::InputInterface(name) => {
                Condition::when(MatchConfig { input: Some(name.clone().into()), ..MatchConfig::default() })
            }
            Criterion::Protocol(name) => of_protocol(name),
            Criterion::Rtp(first, last) => Condition::any(
                PortRange::new(*first, *last).ok().map(|range| udp_to(vec![range])).into_iter().collect(),
            ),
            Criterion::ClassMap(name) => match configuration.class_maps.get(name) {
                Some(map) => self.of_class_map(map),
                None => Condition::Never,
            },
            Criterion::QosGroup(group) if configuration.marks.label == LabelUse::Both => {
                of_labels((0..8).map(|class| combined_label(*group, class)).collect())
            }
            Criterion::QosGroup(group) => of_labels(u8::try_from(*group).ok().into_iter().collect()),
            // perhop has one label for both fields. In this configuration the label contains the group, so a
            // traffic class matches no packet.
            Criterion::TrafficClass(_) if configuration.marks.label == LabelUse::GroupOfBoth => {
                Condition::Never
            }
            Criterion::TrafficClass(classes) if configuration.marks.label == LabelUse::Both => {
                let of_class =
                    |class: &u8| (0..=11).map(|group| combined_label(group, *class)).collect::<Vec<_>>();
                of_labels(classes.iter().flat_map(of_class).collect())
            }
            Criterion::TrafficClass(classes) => of_labels(classes.clone()),
            // Both tags of a double-tagged frame have the same class of service.
            Criterion::Cos(values) | Criterion::CosInner(values) => {
                Condition::when(MatchConfig { cos: Some(link_marks(values)), ..MatchConfig::default() })
            }
            Criterion::MplsTopmost(values) => {
                Condition::when(MatchConfig { mpls_exp: Some(link_marks(values)), ..MatchConfig::default() })
            }
            Criterion::DiscardClass(values) => of_discard_classes(values),
            Criterion::PacketLength { min, max } => of_lengths(*min, *max),
            Criterion::Vlan(ranges) => of_vlan(self.tags.outer, ranges),
            Criterion::VlanInner(ranges) => of_vlan(self.tags.inner, ranges),
            // No packet in perhop has the field (`Criterion::unseen`).
            Criterion::Application(_) | Criterion::NotModelled(_) => Condition::Never,
        }
    }
}

fn link_marks(values: &[u8]) -> OneOrMany<LinkMark> {
    OneOrMany(values.iter().copied().filter_map(LinkMark::new).collect())
}

/// Returns the condition of `match discard-class`, as a condition on the color. Discard class and color exist
/// only inside the node.
fn of_discard_classes(values: &[u8]) -> Condition {
    let colors = values.iter().map(|value| Color::new((*value).into())).collect();
    Condition::when(MatchConfig { color: Some(OneOrMany(colors)), ..MatchConfig::default() })
}

/// Returns the condition for IP lengths from `min` to `max`. An empty range matches no packet.
fn of_lengths(min: Option<u32>, max: Option<u32>) -> Condition {
    let bound = |bytes: u32| u16::try_from(bytes).unwrap_or(u16::MAX);
    let range = LengthRange::new(bound(min.unwrap_or(0)), bound(max.unwrap_or(u32::MAX)));
    range.map_or(Condition::Never, |range| {
        Condition::when(MatchConfig { length: Some(range.into()), ..MatchConfig::default() })
    })
}

/// Returns a condition that all packets or no packets match, because all packets of a port have the same tag.
fn of_vlan(tag: Option<u16>, ranges: &[(u16, u16)]) -> Condition {
    let holds = |tag: u16| ranges.iter().any(|(first, last)| (*first..=*last).contains(&tag));
    if tag.is_some_and(holds) { Condition::Always } else { Condition::Never }
}

pub(in crate::convert) fn of_access_group(configuration: &Configuration, name: &str) -> Condition {
    configuration.access_lists.get(name).map_or(Condition::Never, |list| of_access_list(configuration, list))
}

/// Returns the label of packets in a group and a traffic class, for labels that contain both.
pub(in crate::convert) fn combined_label(group: u32, class: u8) -> u8 {
    u8::try_from(group * 8).unwrap_or(u8::MAX).saturating_add(class)
}

/// Returns a condition on the label, which perhop has in place of groups and traffic classes. All three exist
/// only inside the node.
fn of_labels(labels: Vec<u8>) -> Condition {
    if labels.is_empty() {
        return Condition::Never;
    }
    Condition::when(MatchConfig { label: Some(OneOrMany(labels)), ..MatchConfig::default() })
}

fn udp_to(ports: Vec<PortRange>) -> Condition {
    Condition::when(MatchConfig {
        protocol: Some(Protocol::UDP.into()),
        destination_port: Some(OneOrMany(ports)),
        ..MatchConfig::default()
    })
}

/// Returns the condition of `match protocol`: an IP protocol, or the well-known ports of an application as
/// source or destination.
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

/// Returns the condition of a `rate-limit` line.
pub(in crate::convert) fn of_rate_limit(
    configuration: &Configuration,
    matches: &RateLimitMatch,
) -> Condition {
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
        RateLimitMatch::QosGroup(group) => of_labels(u8::try_from(*group).ok().into_iter().collect()),
    }
}
