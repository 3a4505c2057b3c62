//! The conditions of a term.

use perhop_qos::Dscp;
use perhop_qos::classifier::{LengthRange, MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::{IpPrecedence, LinkMark, Protocol};

use super::frames::{self, any};
use super::names;
use super::prefixes::{PrefixLists, prefix};
use crate::context::{Context, Word};
use crate::cos::{ClassOfService, CodePoints, LossPriority};
use crate::tree::NodeId;
use crate::values::number;

/// The packets of a term.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// All packets.
    All,
    /// The packets that meet the conditions.
    When(Vec<MatchConfig>),
    /// The term has a condition that perhop does not model.
    Unknown,
}

impl Condition {
    /// Whether the condition reads the loss priority of a packet.
    pub(crate) fn reads_loss_priority(&self) -> bool {
        fn reads_color(condition: &MatchConfig) -> bool {
            let inner = condition.all.iter().chain(&condition.any).flatten();
            condition.color.is_some() || inner.chain(condition.not.as_deref()).any(reads_color)
        }
        matches!(self, Condition::When(conditions) if conditions.iter().any(reads_color))
    }
}

/// Reads `from`. A packet must meet all conditions, each by one of its values.
pub(super) fn read(
    context: &mut Context,
    term: NodeId,
    cos: &ClassOfService,
    lists: &PrefixLists,
) -> Condition {
    let Some(from) = context.tree.child(term, "from") else { return Condition::All };
    context.modeled(from);
    let (mut conditions, mut is_known) = (Vec::new(), true);
    for word in context.keywords(from) {
        let address = address_key(&word.text);
        let has_own = address.is_some_and(|key| context.tree.child(from, key).is_some());
        // `condition` reads a prefix list together with the address statement that it belongs to.
        if word.text.starts_with("apply-groups") || address.is_some_and(|key| has_own && key != word.text) {
            continue;
        }
        match condition(context, (from, &word), cos, lists) {
            Some(found) => conditions.push(found),
            None => is_known = false,
        }
    }
    match (is_known, conditions.is_empty()) {
        (false, _) => Condition::Unknown,
        (true, true) => Condition::All,
        (true, false) => Condition::When(conditions),
    }
}

/// Returns the address statement that a prefix list belongs to, or an address statement itself.
fn address_key(word: &str) -> Option<&'static str> {
    Some(match word {
        "source-address" | "source-prefix-list" => "source-address",
        "destination-address" | "destination-prefix-list" => "destination-address",
        "address" | "prefix-list" => "address",
        _ => return None,
    })
}

fn condition(
    context: &mut Context,
    (from, word): (NodeId, &Word),
    cos: &ClassOfService,
    lists: &PrefixLists,
) -> Option<MatchConfig> {
    if let Some(key) = word.text.strip_suffix("-except").filter(|key| NEGATED.contains(key)) {
        let word = Word { text: key.to_owned(), ..word.clone() };
        let found = condition(context, (from, &word), cos, lists)?;
        return Some(MatchConfig { not: Some(Box::new(found)), ..MatchConfig::default() });
    }
    match word.text.as_str() {
        "source-address" | "source-prefix-list" => {
            addresses(context, from, &["source-address", "source-prefix-list"], lists, &[source])
        }
        "destination-address" | "destination-prefix-list" => {
            let keys = ["destination-address", "destination-prefix-list"];
            addresses(context, from, &keys, lists, &[destination])
        }
        "address" | "prefix-list" => {
            addresses(context, from, &["address", "prefix-list"], lists, &[source, destination])
        }
        // Filters of frames have these names for the fields of the IP header.
        key @ ("ip-source-address" | "ipv6-source-address") => {
            addresses(context, from, &[key], lists, &[source])
        }
        key @ ("ip-destination-address" | "ipv6-destination-address") => {
            addresses(context, from, &[key], lists, &[destination])
        }
        key @ ("ip-address" | "ipv6-address") => {
            addresses(context, from, &[key], lists, &[source, destination])
        }
        "protocol"
        | "next-header"
        | "payload-protocol"
        | "ip-protocol"
        | "ipv6-next-header"
        | "ipv6-payload-protocol" => {
            let protocols = parsed(context, word, |text| {
                names::protocol(text).and_then(|number| number.to_string().parse::<Protocol>().ok())
            })?;
            Some(MatchConfig { protocol: Some(protocols), ..MatchConfig::default() })
        }
        "source-port" | "source-port-range-optimize" => {
            Some(MatchConfig { source_port: Some(ports(context, word)?), ..MatchConfig::default() })
        }
        "destination-port" | "destination-port-range-optimize" => {
            Some(MatchConfig { destination_port: Some(ports(context, word)?), ..MatchConfig::default() })
        }
        "port" => {
            let ranges = ports(context, word)?;
            let from = MatchConfig { source_port: Some(ranges.clone()), ..MatchConfig::default() };
            let to = MatchConfig { destination_port: Some(ranges), ..MatchConfig::default() };
            Some(any(vec![from, to]))
        }
        "ether-type" => frames::ether_type(context, word),
        "destination-mac-address" => frames::destinations(context, word),
        "is-fragment" | "first-fragment" => Some(frames::fragments(context, word)),
        _ => mark_condition(context, word, cos),
    }
}

/// Reads a condition on a codepoint, on a mark of the device, or on the length.
fn mark_condition(context: &mut Context, word: &Word, cos: &ClassOfService) -> Option<MatchConfig> {
    match word.text.as_str() {
        "dscp" | "traffic-class" | "ipv6-traffic-class" => {
            let points =
                parsed(context, word, |text| codepoint(cos, CodePoints::Dscp, text).and_then(Dscp::new))?;
            Some(MatchConfig { dscp: Some(points), ..MatchConfig::default() })
        }
        "precedence" | "ip-precedence" => {
            let points = parsed(context, word, |text| {
                precedence(text)
                    .or_else(|| codepoint(cos, CodePoints::InetPrecedence, text))
                    .and_then(IpPrecedence::new)
            })?;
            Some(MatchConfig { precedence: Some(points), ..MatchConfig::default() })
        }
        "learn-vlan-1p-priority" | "user-vlan-1p-priority" | "dot1q-user-priority" => {
            let marks = parsed(context, word, |text| {
                codepoint(cos, CodePoints::Ieee8021, text).and_then(LinkMark::new)
            })?;
            Some(MatchConfig { cos: Some(marks), ..MatchConfig::default() })
        }
        "exp" => {
            let marks =
                parsed(context, word, |text| codepoint(cos, CodePoints::Exp, text).and_then(LinkMark::new))?;
            Some(MatchConfig { mpls_exp: Some(marks), ..MatchConfig::default() })
        }
        "forwarding-class" => {
            let labels = parsed(context, word, |text| cos.classes.label(text))?;
            Some(MatchConfig { label: Some(labels), ..MatchConfig::default() })
        }
        "loss-priority" => {
            let colors = parsed(context, word, |text| LossPriority::named(text).map(LossPriority::color))?;
            Some(MatchConfig { color: Some(colors), ..MatchConfig::default() })
        }
        "packet-length" => {
            let lengths = parsed(context, word, |text| text.parse::<LengthRange>().ok())?;
            Some(MatchConfig { length: Some(lengths), ..MatchConfig::default() })
        }
        key => {
            if is_known(key) {
                context.not_modeled(word.node, "perhop skips a term with this condition");
            }
            None
        }
    }
}

/// The conditions with a negation, `…-except` (Junos Routing Policies and Firewall Filters User Guide,
/// "Firewall Filter Match Conditions for IPv4 Traffic").
const NEGATED: [&str; 17] = [
    "destination-port",
    "dscp",
    "ether-type",
    "exp",
    "forwarding-class",
    "ip-protocol",
    "learn-vlan-1p-priority",
    "loss-priority",
    "next-header",
    "packet-length",
    "payload-protocol",
    "port",
    "precedence",
    "protocol",
    "source-port",
    "traffic-class",
    "user-vlan-1p-priority",
];

/// Whether `key` is a condition of Junos that perhop does not model.
fn is_known(key: &str) -> bool {
    let exceptions =
        ["-except", "-flags", "-type", "-code", "-established", "-initial", "-fragment", "-address"];
    exceptions.iter().any(|end| key.ends_with(end)) || OTHERS.contains(&key)
}

/// The names of conditions that perhop does not model, without suffixes.
const OTHERS: [&str; 33] = [
    "fragment-offset",
    "fragment-flags",
    "icmp-type",
    "icmp-code",
    "tcp-flags",
    "ttl",
    "hop-limit",
    "ip-options",
    "interface",
    "interface-group",
    "interface-set",
    "vlan",
    "vlan-id",
    "dot1q-tag",
    "user-vlan-id",
    "learn-vlan-id",
    "extension-headers",
    "service-filter-hit",
    "rat-type",
    "policy-map",
    "flexible-match-mask",
    "flexible-match-range",
    "gre-key",
    "ah-spi",
    "esp-spi",
    "source-class",
    "destination-class",
    "l2-token",
    "ip-version",
    "source-mac-address",
    "traffic-type",
    "label",
    "redirect-reason",
];

/// Returns a codepoint as bits, an alias, or a decimal number.
fn codepoint(cos: &ClassOfService, kind: CodePoints, text: &str) -> Option<u8> {
    let most = 1u64 << kind.bits();
    let decimal = || number(text).filter(|value| *value < most).map(|value| value as u8);
    cos.aliases.parse(kind, text).or_else(decimal)
}

/// The names of precedences in filters.
fn precedence(name: &str) -> Option<u8> {
    let names = [
        "routine",
        "priority",
        "immediate",
        "flash",
        "flash-override",
        "critical-ecp",
        "internet-control",
        "net-control",
    ];
    names.iter().position(|known| *known == name).map(|value| value as u8)
}

fn parsed<T>(context: &mut Context, word: &Word, parse: impl Fn(&str) -> Option<T>) -> Option<OneOrMany<T>> {
    context.modeled(word.node);
    let mut found = Vec::new();
    for value in context.names(word.node) {
        let Some(parsed) = parse(&value.text) else {
            context.invalid(&value, &word.text);
            return None;
        };
        found.push(parsed);
    }
    (!found.is_empty()).then(|| OneOrMany(found))
}

fn ports(context: &mut Context, word: &Word) -> Option<OneOrMany<PortRange>> {
    parsed(context, word, |text| {
        let number = |text: &str| names::port(text).or_else(|| text.parse().ok());
        match text.split_once('-').filter(|(first, _)| first.chars().all(|c| c.is_ascii_digit())) {
            Some((first, last)) => PortRange::new(number(first)?, number(last)?).ok(),
            None => number(text).and_then(|port| PortRange::new(port, port).ok()),
        }
    })
}

type Field = fn(Vec<Prefix>) -> MatchConfig;

fn source(prefixes: Vec<Prefix>) -> MatchConfig {
    MatchConfig { source: Some(OneOrMany(prefixes)), ..MatchConfig::default() }
}

fn destination(prefixes: Vec<Prefix>) -> MatchConfig {
    MatchConfig { destination: Some(OneOrMany(prefixes)), ..MatchConfig::default() }
}

/// Returns the condition of addresses and prefix lists. They form one list, in which the longest matching
/// prefix applies, and `except` negates it (Junos Routing Policies and Firewall Filters User Guide, "Firewall
/// Filter Match Conditions Based on Address").
fn addresses(
    context: &mut Context,
    from: NodeId,
    keys: &[&str],
    lists: &PrefixLists,
    fields: &[Field],
) -> Option<MatchConfig> {
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    let mut is_known = true;
    for key in keys.iter().copied() {
        for value in context.items(from, key) {
            let except = context.tree.child(value.node, "except");
            if let Some(except) = except {
                context.modeled(except);
            }
            let Some(prefixes) = prefixes(context, key, &value, lists) else {
                is_known = false;
                continue;
            };
            if except.is_some() { excluded.extend(prefixes) } else { included.extend(prefixes) }
        }
    }
    if !is_known || included.is_empty() && excluded.is_empty() {
        return None;
    }
    let each = fields.iter().map(|field| longest(&included, &excluded, *field));
    let mut conditions: Vec<MatchConfig> = each.collect();
    Some(if conditions.len() == 1 { conditions.remove(0) } else { any(conditions) })
}

/// Returns the prefixes of an address or of a prefix list.
fn prefixes(context: &mut Context, key: &str, value: &Word, lists: &PrefixLists) -> Option<Vec<Prefix>> {
    if key.ends_with("list") {
        let found = lists.get(&value.text).cloned();
        if found.is_none() {
            context.undefined(value.node, "prefix list", &value.text);
        }
        return found;
    }
    let found = prefix(&value.text).map(|prefix| vec![prefix]);
    if found.is_none() {
        context.invalid(value, key);
    }
    found
}

fn longest(included: &[Prefix], excluded: &[Prefix], field: Field) -> MatchConfig {
    let is_inside = |inner: &&Prefix, outer: &Prefix| {
        inner.length() > outer.length() && outer.contains(inner.address().into())
    };
    let without = |prefixes: Vec<Prefix>| Some(Box::new(field(prefixes)));
    if included.is_empty() {
        // Each list ends with an implicit `0/0 except`: a list that has only exceptions matches no packet.
        let all = ["0.0.0.0/0", "::/0"].into_iter().filter_map(prefix).collect();
        return MatchConfig { not: without(all), ..MatchConfig::default() };
    }
    let mut whole = Vec::new();
    let mut conditions = Vec::new();
    for prefix in included {
        let holes: Vec<Prefix> = excluded.iter().filter(|hole| is_inside(hole, prefix)).copied().collect();
        if holes.is_empty() {
            whole.push(*prefix);
        } else {
            conditions.push(MatchConfig { not: without(holes), ..field(vec![*prefix]) });
        }
    }
    if !whole.is_empty() {
        conditions.push(field(whole));
    }
    if conditions.len() == 1 { conditions.remove(0) } else { any(conditions) }
}
