//! [`Color`]: a drop precedence level.

use std::fmt;
use std::hint::select_unpredictable;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name_or_number::name_or_number;

/// A drop precedence level, the result of a meter. Packets of level 0 are dropped last.
///
/// Three levels have names (RFC 2697). Markers of the research literature use up to eight levels. Only the
/// node that has set the color can read it, because packets carry only the DSCP to the next node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Color(Level);

/// All levels. The enum has no other values, so the compiler omits the bounds checks of tables that a level
/// indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
enum Level {
    #[default]
    L0,
    L1,
    L2,
    L3,
    L4,
    L5,
    L6,
    L7,
}

impl Level {
    const ALL: [Level; 8] =
        [Level::L0, Level::L1, Level::L2, Level::L3, Level::L4, Level::L5, Level::L6, Level::L7];
}

impl Color {
    /// The number of levels.
    pub const COUNT: usize = Level::ALL.len();
    /// The color of conforming packets: drop precedence 0.
    pub const GREEN: Color = Color(Level::L0);
    /// The color of drop precedence 1.
    pub const YELLOW: Color = Color(Level::L1);
    /// The color of drop precedence 2, which packets that exceed the profile of a two-color meter have.
    pub const RED: Color = Color(Level::L2);

    /// Returns level `index`. If `index` is above the last level, returns the last level.
    pub const fn new(index: usize) -> Color {
        if index < Color::COUNT { Color(Level::ALL[index]) } else { Color(Level::L7) }
    }
    /// Returns the result of a three color marker for a packet of this color: green if `green` is true,
    /// otherwise yellow if `yellow` is true, otherwise red, or this color if it is above red.
    #[inline]
    pub(crate) fn judged(self, green: bool, yellow: bool) -> Color {
        // The code selects by arithmetic instead of branches, because the processor cannot predict the color.
        let otherwise = self.max(Color::RED).0;
        let yellow = select_unpredictable(yellow, Color::YELLOW.0, otherwise);
        Color(select_unpredictable(green, Color::GREEN.0, yellow))
    }
    /// The level, 0 to 7.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FromStr for Color {
    type Err = String;
    fn from_str(text: &str) -> Result<Color, String> {
        match text {
            "green" => Ok(Color::GREEN),
            "yellow" => Ok(Color::YELLOW),
            "red" => Ok(Color::RED),
            _ => text
                .strip_prefix("dp")
                .unwrap_or(text)
                .parse::<usize>()
                .ok()
                .filter(|index| *index < Color::COUNT)
                .map(Color::new)
                .ok_or_else(|| format!("`{text}` is not a color: write green, yellow, red or dp0 to dp7")),
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.index() {
            0 => formatter.pad("green"),
            1 => formatter.pad("yellow"),
            2 => formatter.pad("red"),
            level => formatter.pad(&format!("dp{level}")),
        }
    }
}

name_or_number!(Color, 7, "a color: green, yellow, red, or a drop precedence dp0 to dp7");
