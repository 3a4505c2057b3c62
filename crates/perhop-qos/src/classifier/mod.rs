//! Classifiers, which assign packets to classes (RFC 3290 §4).
//!
//! A [`MatchConfig`] is a condition as written in a policy. A [`Match`] is its compiled form. Conditions that
//! read only the DS field (a behavior aggregate) are compiled to one set of 64 bits. If a port has only such
//! conditions, its [`PortClassifier`](crate::port::PortClassifier) combines them into a table.

mod behavior_aggregate;
mod multi_field;
mod one_or_many;
mod range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use multi_field::Prefix;
pub use one_or_many::OneOrMany;
pub use range::{LengthRange, PortRange, Range};

use crate::error::ConfigError;
use crate::packet::{Color, Dscp, Ingress, InterfaceId, IpPrecedence, LinkMark, Packet, Protocol};
pub(crate) use behavior_aggregate::DscpSet;
use multi_field::{Field, LinkMarks, has_ports};

/// A condition on one packet, as written in a policy. A packet matches if it meets all keys. It meets a key
/// with a list if it meets any value of the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MatchConfig {
    /// The DSCP, by number or name: `ef`, `[af11, af12]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<OneOrMany<Dscp>>,
    /// The IP precedence, by number or name: `5`, `[routine, priority]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precedence: Option<OneOrMany<IpPrecedence>>,
    /// The color that the packet's AF codepoint carries, or that an earlier conditioner has set: `[yellow,
    /// red]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<OneOrMany<Color>>,
    /// The label that an earlier conditioner of this node has set, 0 to 255. It is 0 if no conditioner has
    /// set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<OneOrMany<u8>>,
    /// The class of service of the VLAN tag, 0 to 7: `5`, `[6, 7]`. At an output, it is read from the tag
    /// with which the packet leaves. On a link without `vlan`, no packet has a class of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos: Option<OneOrMany<LinkMark>>,
    /// The traffic class (EXP) of the topmost MPLS label, 0 to 7. At an output, it is read from the label
    /// with which the packet leaves. On a link without `mpls`, no packet has a traffic class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpls_exp: Option<OneOrMany<LinkMark>>,
    /// The length of the IP packet in bytes, or a range: `40`, `[40-64, 1000-65535]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<OneOrMany<LengthRange>>,
    /// The source address: a prefix such as `10.0.0.0/8` or `2001:db8::/32`, or one address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<OneOrMany<Prefix>>,
    /// The destination address: a prefix such as `10.0.0.0/8` or `2001:db8::/32`, or one address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<OneOrMany<Prefix>>,
    /// The IP protocol, by number or name: `udp`, `[tcp, udp]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<OneOrMany<Protocol>>,
    /// The source port, or a range: `80`, `[80, 443, 1024-65535]`. Only TCP and UDP packets have ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_port: Option<OneOrMany<PortRange>>,
    /// The destination port, or a range: `80`, `[80, 443, 1024-65535]`. Only TCP and UDP packets have ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<OneOrMany<PortRange>>,
    /// The interface on which the packet arrived. An interface has the name of the neighbor at the other end
    /// of its link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<OneOrMany<String>>,
    /// Conditions that the packet must all meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Vec<MatchConfig>>,
    /// Conditions of which the packet must meet at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<Vec<MatchConfig>>,
    /// A condition that the packet must not meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<MatchConfig>>,
}

/// A compiled condition.
#[derive(Clone, Debug)]
pub struct Match(Condition);

#[derive(Clone, Debug)]
enum Condition {
    BehaviorAggregate(DscpSet),
    MultiField(Field),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

impl MatchConfig {
    /// Compiles the condition for a node with the interfaces `interfaces`, listed in the order of their
    /// [`InterfaceId`]s.
    ///
    /// # Errors
    /// The condition is empty, no packet can match it, or it names an interface that does not exist.
    pub fn build(&self, interfaces: &[String]) -> Result<Match, ConfigError> {
        self.condition(interfaces).map(Match)
    }

    fn condition(&self, interfaces: &[String]) -> Result<Condition, ConfigError> {
        let mut conditions = Vec::new();
        self.behavior_aggregate(&mut conditions)?;
        self.multi_field(interfaces, &mut conditions)?;
        if let Some(all) = &self.all {
            conditions.extend(build_list("all", all, interfaces)?);
        }
        if let Some(any) = &self.any {
            conditions.push(any_of(build_list("any", any, interfaces)?));
        }
        if let Some(not) = &self.not {
            conditions.push(negated(not.condition(interfaces).map_err(|error| error.within("not"))?));
        }
        if conditions.is_empty() {
            return Err(ConfigError::new("", "a match without conditions")
                .help("leave `match` out to match every packet, or write a condition such as `dscp: ef`"));
        }
        all_of(conditions)
    }

    fn behavior_aggregate(&self, conditions: &mut Vec<Condition>) -> Result<(), ConfigError> {
        if let Some(codepoints) = values("dscp", self.dscp.as_ref())? {
            conditions.push(Condition::BehaviorAggregate(DscpSet::from_codepoints(codepoints)));
        }
        if let Some(precedences) = values("precedence", self.precedence.as_ref())? {
            conditions.push(Condition::BehaviorAggregate(DscpSet::of_precedences(precedences)));
        }
        Ok(())
    }

    fn multi_field(&self, interfaces: &[String], conditions: &mut Vec<Condition>) -> Result<(), ConfigError> {
        let protocols = values("protocol", self.protocol.as_ref())?;
        let source_ports = values("source-port", self.source_port.as_ref())?;
        let destination_ports = values("destination-port", self.destination_port.as_ref())?;
        if let Some(protocols) = protocols
            && (source_ports.is_some() || destination_ports.is_some())
            && !protocols.iter().copied().any(has_ports)
        {
            return Err(ConfigError::new("protocol", format!("{} packets have no ports", protocols[0]))
                .help("only tcp and udp packets have ports"));
        }
        let input = values("input", self.input.as_ref())?
            .map(|names| names.iter().map(|name| interface(name, interfaces)).collect::<Result<_, _>>())
            .transpose()
            .map_err(|error| error.within("input"))?;
        let fields = [
            input.map(Field::Input),
            protocols.map(|values| Field::Protocol(values.to_vec())),
            values("source", self.source.as_ref())?.map(|values| Field::Source(values.to_vec())),
            values("destination", self.destination.as_ref())?
                .map(|values| Field::Destination(values.to_vec())),
            source_ports.map(|values| Field::SourcePort(values.to_vec())),
            destination_ports.map(|values| Field::DestinationPort(values.to_vec())),
            values("color", self.color.as_ref())?.map(|values| Field::Color(values.to_vec())),
            values("label", self.label.as_ref())?.map(|values| Field::Label(values.to_vec())),
            values("cos", self.cos.as_ref())?.map(|values| Field::Cos(LinkMarks::from_marks(values))),
            values("mpls-exp", self.mpls_exp.as_ref())?
                .map(|values| Field::Exp(LinkMarks::from_marks(values))),
            values("length", self.length.as_ref())?.map(|values| Field::Length(values.to_vec())),
        ];
        conditions.extend(fields.into_iter().flatten().map(Condition::MultiField));
        Ok(())
    }
}

/// Returns the values of the key `key`, at least one, or `None` if the key is absent.
fn values<'a, T>(key: &str, list: Option<&'a OneOrMany<T>>) -> Result<Option<&'a [T]>, ConfigError> {
    match list {
        None => Ok(None),
        Some(OneOrMany(values)) if values.is_empty() => Err(empty(key)),
        Some(OneOrMany(values)) => Ok(Some(values)),
    }
}

fn build_list(key: &str, list: &[MatchConfig], interfaces: &[String]) -> Result<Vec<Condition>, ConfigError> {
    if list.is_empty() {
        return Err(empty(key));
    }
    let build = |(index, config): (usize, &MatchConfig)| {
        config.condition(interfaces).map_err(|error| error.within(index).within(key))
    };
    list.iter().enumerate().map(build).collect()
}

fn empty(key: &str) -> ConfigError {
    ConfigError::new(key, "the list is empty").help("name at least one, or leave the key out")
}

/// Returns a condition that holds if all `conditions` hold. Its test of the DS field combines all conditions
/// on the DS field. This test is the first one, because it is the cheapest.
fn all_of(conditions: Vec<Condition>) -> Result<Condition, ConfigError> {
    let mut dscps = DscpSet::ALL;
    let mut others = Vec::new();
    let flattened = conditions.into_iter().flat_map(|condition| match condition {
        Condition::All(inner) => inner,
        other => vec![other],
    });
    for condition in flattened {
        match condition {
            Condition::BehaviorAggregate(set) => dscps = dscps.intersection(set),
            other => others.push(other),
        }
    }
    if dscps.is_empty() {
        return Err(ConfigError::new("", "no packet can match: no DSCP meets all of the conditions")
            .help("all keys of a match must match; to match either of them, write `any: [...]`"));
    }
    Ok(match (dscps == DscpSet::ALL, others.len()) {
        (_, 0) => Condition::BehaviorAggregate(dscps),
        (true, 1) => others.remove(0),
        (true, _) => Condition::All(others),
        (false, _) => {
            others.insert(0, Condition::BehaviorAggregate(dscps));
            Condition::All(others)
        }
    })
}

/// Returns a condition that holds if any of `conditions` holds. If all of them test the DS field, it has only
/// one test.
fn any_of(conditions: Vec<Condition>) -> Condition {
    let union = conditions.iter().try_fold(DscpSet::ALL.complement(), |union, condition| match condition {
        Condition::BehaviorAggregate(set) => Some(union.union(*set)),
        _ => None,
    });
    union.map_or(Condition::Any(conditions), Condition::BehaviorAggregate)
}

fn negated(condition: Condition) -> Condition {
    match condition {
        Condition::BehaviorAggregate(set) => Condition::BehaviorAggregate(set.complement()),
        other => Condition::Not(Box::new(other)),
    }
}

/// Returns the number of the interface with the name `name`.
fn interface(name: &str, interfaces: &[String]) -> Result<InterfaceId, ConfigError> {
    if let Some(index) = interfaces.iter().position(|known| known == name) {
        if index >= Ingress::INTERFACES {
            let message =
                format!("only the first {} interfaces can be matched, not `{name}`", Ingress::INTERFACES);
            return Err(ConfigError::new("", message));
        }
        return Ok(InterfaceId(index as u16));
    }
    let error = ConfigError::new("", format!("no interface `{name}` on this node"));
    let nearest = interfaces.iter().min_by_key(|known| edit_distance(name, known));
    Err(match nearest {
        Some(nearest) if edit_distance(name, nearest) <= name.chars().count() / 2 => {
            error.help(format!("did you mean {nearest}?"))
        }
        Some(_) => error.help(format!("the node has interfaces to {}", interfaces.join(", "))),
        None => error,
    })
}

/// The Levenshtein distance: the smallest number of insertions, deletions and substitutions that change `a`
/// into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}

impl Match {
    /// Whether the condition holds for `packet`.
    pub fn matches(&self, packet: &Packet) -> bool {
        self.0.matches(packet)
    }
    /// Whether the condition reads a mark of the link layer.
    pub fn reads_link_marks(&self) -> bool {
        self.0.reads_link_marks()
    }
    /// Returns the codepoints that the condition matches, or `None` if the condition also reads other fields.
    pub(crate) fn dscps(&self) -> Option<DscpSet> {
        match self.0 {
            Condition::BehaviorAggregate(set) => Some(set),
            _ => None,
        }
    }
}

impl Condition {
    fn matches(&self, packet: &Packet) -> bool {
        match self {
            Condition::BehaviorAggregate(set) => set.contains(packet.dscp),
            Condition::MultiField(field) => field.matches(packet),
            Condition::All(conditions) => conditions.iter().all(|condition| condition.matches(packet)),
            Condition::Any(conditions) => conditions.iter().any(|condition| condition.matches(packet)),
            Condition::Not(condition) => !condition.matches(packet),
        }
    }
    fn reads_link_marks(&self) -> bool {
        match self {
            Condition::BehaviorAggregate(_) => false,
            Condition::MultiField(field) => field.reads_link_marks(),
            Condition::All(conditions) | Condition::Any(conditions) => {
                conditions.iter().any(Condition::reads_link_marks)
            }
            Condition::Not(condition) => condition.reads_link_marks(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn edit_distances() {
        for (a, b, distance) in
            [("", "abc", 3), ("H1", "H1", 0), ("H1", "H2", 1), ("core", "cor", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }
}
