//! [`ClassMap`]: which packets a class takes.

use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;
use serde::Serialize;

/// How the statements of a class-map are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// All must hold: the router's default.
    #[default]
    MatchAll,
    /// One must hold.
    MatchAny,
}

/// Whether a criterion must hold or must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Polarity {
    /// `match …`
    Is,
    /// `match not …`
    Not,
}

/// `class-map`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMap {
    /// Its name.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// How its statements are taken together.
    pub combination: Combination,
    /// `match` lines in order.
    pub statements: Vec<Statement>,
}

/// One `match` line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The line.
    pub line: usize,
    /// Whether the criterion must hold or must not.
    pub polarity: Polarity,
    /// What is looked at.
    pub criterion: Criterion,
}

/// What a `match` line looks at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// `match any`
    Any,
    /// `match access-group …`: an access list by number or name.
    AccessGroup(String),
    /// `match ip precedence …`: any of them.
    Precedence(Vec<IpPrecedence>),
    /// `match ip dscp …`: any of them.
    Dscp(Vec<Dscp>),
    /// `match input-interface …`
    InputInterface(String),
    /// `match protocol …`, with what follows the protocol's name.
    Protocol(String),
    /// `match ip rtp …`: UDP destination ports, from the first to the last.
    Rtp(u16, u16),
    /// `match qos-group …`
    QosGroup(u32),
    /// `match class-map …`
    ClassMap(String),
    /// A criterion that perhop cannot see: no packet meets it.
    NotModelled(String),
}
