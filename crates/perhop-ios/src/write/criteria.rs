//! The keys of a condition.

use perhop_qos::classifier::MatchConfig;

/// A key of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Dscp,
    Precedence,
    Color,
    Label,
    Cos,
    MplsExp,
    Length,
    Source,
    Destination,
    Protocol,
    SourcePort,
    DestinationPort,
    Input,
    All,
    Any,
    Not,
}

impl Key {
    /// Whether an access list entry can match this key.
    pub(super) fn is_of_list(self) -> bool {
        self.is_address() || matches!(self, Key::Dscp | Key::Precedence)
    }
    /// Whether this key requires an access list. Codepoints do not, because they have their own `match` line.
    pub(super) fn is_address(self) -> bool {
        use Key::{Destination, DestinationPort, Protocol, Source, SourcePort};
        matches!(self, Source | Destination | Protocol | SourcePort | DestinationPort)
    }
}

/// Returns a condition's keys, each with the condition reduced to this key.
pub(super) fn parts(condition: &MatchConfig) -> Vec<(Key, MatchConfig)> {
    let none = MatchConfig::default;
    let MatchConfig {
        dscp,
        precedence,
        color,
        label,
        cos,
        mpls_exp,
        length,
        source,
        destination,
        protocol,
        source_port,
        destination_port,
        input,
        all,
        any,
        not,
    } = condition.clone();
    let found = [
        dscp.map(|dscp| (Key::Dscp, MatchConfig { dscp: Some(dscp), ..none() })),
        precedence.map(|value| (Key::Precedence, MatchConfig { precedence: Some(value), ..none() })),
        color.map(|color| (Key::Color, MatchConfig { color: Some(color), ..none() })),
        label.map(|label| (Key::Label, MatchConfig { label: Some(label), ..none() })),
        cos.map(|cos| (Key::Cos, MatchConfig { cos: Some(cos), ..none() })),
        mpls_exp.map(|exp| (Key::MplsExp, MatchConfig { mpls_exp: Some(exp), ..none() })),
        length.map(|length| (Key::Length, MatchConfig { length: Some(length), ..none() })),
        source.map(|source| (Key::Source, MatchConfig { source: Some(source), ..none() })),
        destination.map(|to| (Key::Destination, MatchConfig { destination: Some(to), ..none() })),
        protocol.map(|protocol| (Key::Protocol, MatchConfig { protocol: Some(protocol), ..none() })),
        source_port.map(|port| (Key::SourcePort, MatchConfig { source_port: Some(port), ..none() })),
        destination_port
            .map(|port| (Key::DestinationPort, MatchConfig { destination_port: Some(port), ..none() })),
        input.map(|input| (Key::Input, MatchConfig { input: Some(input), ..none() })),
        all.map(|all| (Key::All, MatchConfig { all: Some(all), ..none() })),
        any.map(|any| (Key::Any, MatchConfig { any: Some(any), ..none() })),
        not.map(|not| (Key::Not, MatchConfig { not: Some(not), ..none() })),
    ];
    found.into_iter().flatten().collect()
}

/// Returns a condition's keys, and the keys of the conditions that it requires together.
fn parts_inside(condition: &MatchConfig) -> Vec<(Key, MatchConfig)> {
    let inside = |(key, part): (Key, MatchConfig)| match &part.all {
        Some(all) if key == Key::All => all.iter().flat_map(parts_inside).collect(),
        _ => vec![(key, part)],
    };
    parts(condition).into_iter().flat_map(inside).collect()
}

/// Returns the conditions, without the conditions that another condition implies.
pub(super) fn independent(all: &[MatchConfig]) -> Vec<MatchConfig> {
    let every: Vec<Vec<(Key, MatchConfig)>> = all.iter().map(parts_inside).collect();
    let is_implied = |index: usize| {
        let implies = |other: usize| {
            let has_all = every[index].iter().all(|part| every[other].contains(part));
            // The first of several equal conditions is kept.
            has_all && (every[index].len() < every[other].len() || other < index)
        };
        (0..every.len()).any(implies)
    };
    let kept = all.iter().enumerate().filter(|(index, _)| !is_implied(*index));
    kept.map(|(_, condition)| condition.clone()).collect()
}

/// Returns the keys of a condition.
pub(super) fn keys(condition: &MatchConfig) -> Vec<Key> {
    parts(condition).into_iter().map(|(key, _)| key).collect()
}

/// Returns `condition` and `refused` for a condition of the form `all: [condition, {not: refused}]`.
pub(super) fn but_not(condition: &MatchConfig) -> Option<(&MatchConfig, &MatchConfig)> {
    let [kept, excluding] = condition.all.as_deref()? else { return None };
    let refused = excluding.not.as_deref()?;
    let is_alone = keys(condition) == [Key::All] && keys(excluding) == [Key::Not];
    is_alone.then_some((kept, refused))
}

/// Returns the JSON of a condition.
pub(super) fn text(condition: &MatchConfig) -> String {
    serde_json::to_string(condition).unwrap_or_default()
}
