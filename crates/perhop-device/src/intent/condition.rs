//! [`Condition`]: conditions on packets, and how they combine.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::{Dscp, Packet};

use super::fields::Fields;

/// A set of packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All packets.
    Always,
    /// No packet.
    Never,
    /// The packets that match.
    When(Box<MatchConfig>),
}

impl Condition {
    /// Creates the condition for packets that match `config`.
    pub fn when(config: MatchConfig) -> Condition {
        Condition::When(Box::new(config))
    }
    /// Returns the conjunction of `conditions`.
    pub fn all(conditions: Vec<Condition>) -> Condition {
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
        // Conditions can exclude each other, for example `dscp ef` and `precedence 1`.
        if together.can_match() { together } else { Condition::Never }
    }
    /// Returns the disjunction of `conditions`.
    pub fn any(conditions: Vec<Condition>) -> Condition {
        let mut either = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Always => return Condition::Always,
                Condition::Never => {}
                Condition::When(config) => either.push(*config),
            }
        }
        let either = match either.len() {
            0 => return Condition::Never,
            1 => Condition::when(either.remove(0)),
            _ => Condition::when(MatchConfig { any: Some(either), ..MatchConfig::default() }),
        };
        // Conditions can be complementary, for example `dscp ef` and `not dscp ef`.
        if either.always_matches() { Condition::Always } else { either }
    }
    /// Returns the negation.
    pub fn negated(self) -> Condition {
        match self {
            Condition::Always => Condition::Never,
            Condition::Never => Condition::Always,
            Condition::When(config) => match config.not {
                // A configuration that consists only of a negation was created here, so it can be unwrapped.
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
    /// Returns the condition for the packets of `self` that none of `others` matches.
    pub fn but_not(self, others: &[Condition]) -> Condition {
        if others.is_empty() {
            return self;
        }
        Condition::all(vec![self, Condition::any(others.to_vec()).negated()])
    }
}

impl Condition {
    /// Returns the match of a conditioner or queue: `Some(None)` for all packets, `None` for no packet.
    #[allow(clippy::option_option)] // "no condition" and "no packet" are different results
    pub fn into_match(self) -> Option<Option<MatchConfig>> {
        match self {
            Condition::Always => Some(None),
            Condition::Never => None,
            Condition::When(config) => Some(Some(*config)),
        }
    }
    /// Whether `packet` matches. Interfaces are numbered by their places in `interfaces`.
    pub fn matches(&self, interfaces: &[String], packet: &Packet) -> bool {
        match self {
            Condition::Always => true,
            Condition::Never => false,
            Condition::When(config) => config.build(interfaces).is_ok_and(|matches| matches.matches(packet)),
        }
    }
    /// Whether a packet with this codepoint may match, judged by the codepoint alone.
    pub fn may_match(&self, dscp: Dscp) -> bool {
        match self {
            Condition::Always => true,
            Condition::Never => false,
            Condition::When(config) => matches_codepoint(config, dscp) != Some(false),
        }
    }
    fn always_matches(&self) -> bool {
        let Condition::When(config) = self else { return *self == Condition::Always };
        fields_of_match(config).intersects(Fields::CODEPOINT)
            && (0..64).filter_map(Dscp::new).all(|dscp| matches_codepoint(config, dscp) == Some(true))
    }
    fn can_match(&self) -> bool {
        let Condition::When(config) = self else { return true };
        !fields_of_match(config).intersects(Fields::CODEPOINT)
            || (0..64).filter_map(Dscp::new).any(|dscp| self.may_match(dscp))
    }
}

/// Whether a packet with this codepoint matches `config`; `None` if other fields decide.
fn matches_codepoint(config: &MatchConfig, dscp: Dscp) -> Option<bool> {
    let MatchConfig { dscp: codepoints, precedence, all, any, not, .. } = config;
    let own = [
        codepoints.as_ref().map(|list| Some(list.0.contains(&dscp))),
        precedence.as_ref().map(|list| Some(list.0.contains(&dscp.precedence()))),
        all.as_ref().map(|list| every(list.iter().map(|config| matches_codepoint(config, dscp)))),
        any.as_ref().map(|list| {
            // At least one condition matches unless every condition fails.
            every(list.iter().map(|config| matches_codepoint(config, dscp).map(|is_met| !is_met)))
                .map(|none| !none)
        }),
        not.as_ref().map(|config| matches_codepoint(config, dscp).map(|is_met| !is_met)),
    ];
    let others = matches_more_than_codepoints(config).then_some(None);
    every(own.into_iter().flatten().chain(others))
}

/// Whether `config` matches more than the codepoint, without nested conditions.
fn matches_more_than_codepoints(config: &MatchConfig) -> bool {
    let MatchConfig {
        dscp: _,
        precedence: _,
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
        all: _,
        any: _,
        not: _,
    } = config;
    let marks = color.is_some() || label.is_some() || cos.is_some() || mpls_exp.is_some();
    let addresses = source.is_some() || destination.is_some() || input.is_some();
    let ports = protocol.is_some() || source_port.is_some() || destination_port.is_some();
    marks || addresses || ports || length.is_some()
}

/// Returns the fields that `config` matches, among those that policies write.
pub fn fields_of_match(config: &MatchConfig) -> Fields {
    let inside = [&config.all, &config.any].into_iter().flatten().flatten();
    let own = [
        (config.dscp.is_some() || config.precedence.is_some(), Fields::CODEPOINT),
        (config.cos.is_some(), Fields::COS),
        (config.mpls_exp.is_some(), Fields::EXP),
        (config.color.is_some(), Fields::COLOR),
        (config.label.is_some(), Fields::LABEL),
    ];
    let own = own.into_iter().filter(|(looks, _)| *looks).map(|(_, field)| field);
    own.chain(inside.chain(config.not.as_deref()).map(fields_of_match)).collect()
}

/// Whether all parts match. If one part does not match, the result is false, even if other parts are unknown.
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
