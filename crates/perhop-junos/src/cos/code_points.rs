//! Codepoints and their aliases.

use std::collections::BTreeMap;

use crate::context::Context;
use crate::tree::NodeId;
use crate::values::binary;

/// The field that a classifier reads or a rewrite rule writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CodePoints {
    Dscp,
    DscpIpv6,
    InetPrecedence,
    Ieee8021,
    Ieee8021ad,
    Exp,
}

impl CodePoints {
    pub(crate) const ALL: [CodePoints; 6] = [
        CodePoints::Dscp,
        CodePoints::DscpIpv6,
        CodePoints::InetPrecedence,
        CodePoints::Ieee8021,
        CodePoints::Ieee8021ad,
        CodePoints::Exp,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            CodePoints::Dscp => "dscp",
            CodePoints::DscpIpv6 => "dscp-ipv6",
            CodePoints::InetPrecedence => "inet-precedence",
            CodePoints::Ieee8021 => "ieee-802.1",
            CodePoints::Ieee8021ad => "ieee-802.1ad",
            CodePoints::Exp => "exp",
        }
    }

    /// Returns the number of bits.
    pub(crate) fn bits(self) -> usize {
        match self {
            CodePoints::Dscp | CodePoints::DscpIpv6 => 6,
            CodePoints::Ieee8021ad => 4,
            CodePoints::InetPrecedence | CodePoints::Ieee8021 | CodePoints::Exp => 3,
        }
    }

    /// Whether a codepoint has the drop eligible bit of IEEE 802.1ad, the last of four.
    pub(crate) fn is_drop_eligible(self, value: u8) -> bool {
        self == CodePoints::Ieee8021ad && value & 1 == 1
    }

    /// The built-in aliases (`show class-of-service code-point-aliases`; Juniper techpost, "Wholistic Design
    /// Approach for MPLS Backbone CoS").
    fn built_in(self, name: &str) -> Option<u8> {
        let table: &[(&str, u8)] = match self {
            CodePoints::Dscp | CodePoints::DscpIpv6 => &DSCP,
            CodePoints::Exp | CodePoints::Ieee8021 => &LINK,
            CodePoints::InetPrecedence => &PRECEDENCE,
            CodePoints::Ieee8021ad => &[],
        };
        table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// The reason why codepoints with the drop eligible bit are not modeled.
pub(super) const NO_DROP_ELIGIBLE: &str = "perhop has no drop eligible bit in tags";

const DSCP: [(&str, u8); 23] = [
    ("be", 0),
    ("ef", 46),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("nc1", 48),
    ("nc2", 56),
];
/// The aliases of EXP and IEEE 802.1 (source for IEEE 802.1: the topic
/// `cos-qfx-series-code-points-understanding`).
const LINK: [(&str, u8); 10] = [
    ("be", 0),
    ("be1", 1),
    ("ef", 2),
    ("ef1", 3),
    ("af11", 4),
    ("af12", 5),
    ("nc1", 6),
    ("cs6", 6),
    ("nc2", 7),
    ("cs7", 7),
];
const PRECEDENCE: [(&str, u8); 9] = [
    ("be", 0),
    ("af11", 1),
    ("af21", 2),
    ("af31", 3),
    ("af41", 4),
    ("ef", 5),
    ("cs6", 6),
    ("nc1", 6),
    ("nc2", 7),
];
/// The aliases of the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aliases(BTreeMap<(CodePoints, String), u8>);

impl Aliases {
    /// Parses a codepoint: bits, a configured alias or a built-in alias.
    pub(crate) fn parse(&self, kind: CodePoints, text: &str) -> Option<u8> {
        let own = self.0.get(&(kind, text.to_owned())).copied();
        own.or_else(|| binary(text, kind.bits())).or_else(|| kind.built_in(text))
    }
}

pub(super) fn read(context: &mut Context, cos: NodeId) -> Aliases {
    let mut aliases = Aliases::default();
    let Some(node) = context.tree.child(cos, "code-point-aliases") else { return aliases };
    context.modeled(node);
    for kind in CodePoints::ALL {
        for name in context.items(node, kind.word()) {
            let Some(bits) = context.names(name.node).into_iter().next_back() else { continue };
            match binary(&bits.text, kind.bits()) {
                Some(value) => {
                    aliases.0.insert((kind, name.text), value);
                }
                None => context.invalid(&bits, kind.word()),
            }
        }
    }
    aliases
}
