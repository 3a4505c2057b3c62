//! [`Dscp`] and [`IpPrecedence`]: the two interpretations of the DS field.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Color;
use super::name_or_number::name_or_number;

/// A differentiated services codepoint, 0 to 63 (RFC 2474).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// The names of codepoints: class selectors (RFC 2474), AF (RFC 2597), EF (RFC 3246), voice-admit (RFC 5865),
/// lower effort (RFC 8622), non-queue-building (RFC 9956).
const DSCP_NAMES: &[(&str, u8)] = &[
    ("default", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
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
    ("ef", 46),
    ("va", 44),
    ("le", 1),
    ("nqb", 45),
    ("cs0", 0),
];

impl Dscp {
    /// The codepoint of best effort.
    pub const DEFAULT: Dscp = Dscp(0);
    /// The codepoint of expedited forwarding (RFC 3246).
    pub const EF: Dscp = Dscp(46);

    /// Returns the codepoint with this `value`, or `None` if the value is above 63.
    pub const fn new(value: u8) -> Option<Dscp> {
        if value < 64 { Some(Dscp(value)) } else { None }
    }
    /// The value, 0 to 63.
    #[inline]
    pub const fn value(self) -> u8 {
        // All codepoints are below 64. With this remainder, the compiler omits the bounds checks of tables
        // that a codepoint indexes.
        self.0 % 64
    }
    /// The IP precedence: the three high bits of the codepoint (RFC 791, RFC 2474 §4.2.2).
    pub const fn precedence(self) -> IpPrecedence {
        IpPrecedence(self.0 >> 3)
    }
    /// Whether the codepoint is one of the twelve AF codepoints (RFC 2597 §6).
    pub const fn is_assured_forwarding(self) -> bool {
        matches!((self.0 >> 3, self.0 & 7), (1..=4, 2 | 4 | 6))
    }
    /// The color that the codepoint carries. It is the drop precedence of an AF codepoint (RFC 2597 §6: AFx1
    /// green, AFx2 yellow, AFx3 red), and green for all other codepoints.
    #[inline]
    pub const fn color(self) -> Color {
        COLORS[(self.0 & 63) as usize]
    }
}

/// The color of each codepoint. A table is used because the color of each packet is needed twice: when it is
/// sent and when it arrives.
const COLORS: [Color; 64] = {
    let mut colors = [Color::GREEN; 64];
    let mut class = 1;
    while class <= 4 {
        colors[class << 3 | 4] = Color::YELLOW;
        colors[class << 3 | 6] = Color::RED;
        class += 1;
    }
    colors
};

impl FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Dscp, String> {
        let lower = text.to_ascii_lowercase();
        let named = DSCP_NAMES.iter().find(|(name, _)| *name == lower).map(|(_, value)| Dscp(*value));
        let numbered = || lower.parse::<u8>().ok().and_then(Dscp::new);
        named.or_else(numbered).ok_or_else(|| {
            format!(
                "`{text}` is not a DSCP: write a number from 0 to 63 or a name such as ef, af11, cs6, default"
            )
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match DSCP_NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => formatter.pad(name),
            None => formatter.pad(&self.0.to_string()),
        }
    }
}

/// An IP precedence, 0 to 7 (RFC 791).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrecedence(u8);

/// The names of RFC 791 in the spelling of routers, indexed by value.
const PRECEDENCE_NAMES: [&str; 8] =
    ["routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network"];

impl IpPrecedence {
    /// Returns the precedence with this `value`, or `None` if the value is above 7.
    pub const fn new(value: u8) -> Option<IpPrecedence> {
        if value < 8 { Some(IpPrecedence(value)) } else { None }
    }
    /// The value, 0 to 7.
    pub const fn value(self) -> u8 {
        self.0
    }
    /// The class selector codepoint with this precedence (RFC 2474 §4.2.2.2).
    pub const fn class_selector(self) -> Dscp {
        Dscp(self.0 << 3)
    }
}

impl FromStr for IpPrecedence {
    type Err = String;
    fn from_str(text: &str) -> Result<IpPrecedence, String> {
        let lower = text.to_ascii_lowercase();
        let named =
            PRECEDENCE_NAMES.iter().position(|name| *name == lower).map(|index| IpPrecedence(index as u8));
        let numbered = || lower.parse::<u8>().ok().and_then(IpPrecedence::new);
        named.or_else(numbered).ok_or_else(|| {
            format!(
                "`{text}` is not an IP precedence: write a number from 0 to 7 or one of {}",
                PRECEDENCE_NAMES.join(", ")
            )
        })
    }
}

impl fmt::Display for IpPrecedence {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(PRECEDENCE_NAMES[usize::from(self.0)])
    }
}

name_or_number!(Dscp, 63, "a DSCP: a number from 0 to 63 or a name such as ef, af11, cs6, default");
name_or_number!(
    IpPrecedence,
    7,
    "an IP precedence: a number from 0 to 7 or a name such as routine or critical"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn af_codepoints_carry_their_drop_precedence() {
        let color = |name: &str| name.parse::<Dscp>().unwrap().color();
        for class in 1..=4 {
            assert_eq!(color(&format!("af{class}1")), Color::GREEN);
            assert_eq!(color(&format!("af{class}2")), Color::YELLOW);
            assert_eq!(color(&format!("af{class}3")), Color::RED);
        }
        assert_eq!(color("ef"), Color::GREEN);
        assert_eq!(color("cs4"), Color::GREEN);
    }

    #[test]
    fn names_read_back() {
        for value in 0..64 {
            let dscp = Dscp::new(value).unwrap();
            assert_eq!(dscp.to_string().parse(), Ok(dscp));
        }
        for value in 0..8 {
            let precedence = IpPrecedence::new(value).unwrap();
            assert_eq!(precedence.to_string().parse(), Ok(precedence));
            assert_eq!(precedence.class_selector().precedence(), precedence);
        }
        for (name, value) in [("le", 1), ("va", 44), ("nqb", 45), ("ef", 46)] {
            assert_eq!(name.parse::<Dscp>().map(Dscp::value), Ok(value));
        }
        assert!("af14".parse::<Dscp>().is_err());
        assert!("64".parse::<Dscp>().is_err());
    }
}
