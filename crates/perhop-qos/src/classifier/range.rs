//! [`PortRange`] and [`LengthRange`]: a number or a range of numbers, as written in a policy.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::packet::TextOrNumber;

/// A TCP or UDP port, or all ports of a range: `80`, `1024-65535`.
pub type PortRange = Range<Ports>;
/// A length in IP bytes, or all lengths of a range: `64`, `1000-65535`.
pub type LengthRange = Range<Lengths>;

/// The property whose values a [`Range`] contains.
pub trait Quantity {
    /// The name of a value, for error messages.
    const NAME: &'static str;
    /// The form of a valid value, for error messages.
    const EXPECTED: &'static str;
    /// The name of the type in the schema.
    const SCHEMA_NAME: &'static str;
    /// The description in the schema.
    const DESCRIPTION: &'static str;
}

/// Marks a [`Range`] of TCP or UDP ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports;
/// Marks a [`Range`] of packet lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths;

impl Quantity for Ports {
    const NAME: &'static str = "a port";
    const EXPECTED: &'static str = "a port from 0 to 65535 or a range such as 1024-65535";
    const SCHEMA_NAME: &'static str = "PortRange";
    const DESCRIPTION: &'static str = "a TCP or UDP port, or a range such as 1024-65535";
}
impl Quantity for Lengths {
    const NAME: &'static str = "a length of IP packets";
    const EXPECTED: &'static str = "a length of IP packets in bytes or a range such as 1024-65535";
    const SCHEMA_NAME: &'static str = "LengthRange";
    const DESCRIPTION: &'static str = "a length of IP packets in bytes, or a range such as 1024-65535";
}

/// A number from 0 to 65535, or all numbers of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<Q> {
    first: u16,
    last: u16,
    quantity: PhantomData<Q>,
}

impl<Q> Range<Q> {
    /// The numbers from `first` to `last`, both included.
    ///
    /// # Errors
    /// `last` is less than `first`.
    pub fn new(first: u16, last: u16) -> Result<Range<Q>, String> {
        if last < first {
            return Err(format!("the range {first}-{last} is empty: write {last}-{first}"));
        }
        Ok(Range { first, last, quantity: PhantomData })
    }
    /// The first number of the range.
    pub const fn first(&self) -> u16 {
        self.first
    }
    /// The last number of the range.
    pub const fn last(&self) -> u16 {
        self.last
    }
    /// Whether the range contains `number`.
    pub(super) fn contains(self, number: u32) -> bool
    where
        Q: Copy,
    {
        (u32::from(self.first)..=u32::from(self.last)).contains(&number)
    }
}

impl<Q: Quantity> FromStr for Range<Q> {
    type Err = String;
    fn from_str(text: &str) -> Result<Range<Q>, String> {
        let number = |number: &str| {
            number.trim().parse::<u16>().map_err(|_| {
                let name = Q::NAME;
                format!(
                    "`{text}` is not {name}: write a number from 0 to 65535 or a range such as 1024-65535"
                )
            })
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Range::new(number(first)?, number(last)?)
    }
}

impl<Q> fmt::Display for Range<Q> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Range { first, last, .. } = self;
        if first == last { write!(formatter, "{first}") } else { write!(formatter, "{first}-{last}") }
    }
}

impl<Q> Serialize for Range<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.first == self.last {
            serializer.serialize_u16(self.first)
        } else {
            serializer.collect_str(self)
        }
    }
}
impl<'de, Q: Quantity> Deserialize<'de> for Range<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Range<Q>, D::Error> {
        deserializer.deserialize_any(TextOrNumber { expected: Q::EXPECTED, parse: str::parse })
    }
}
impl<Q: Quantity> JsonSchema for Range<Q> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Q::SCHEMA_NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": Q::DESCRIPTION,
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 65535 },
                { "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_back_and_refused_when_reversed() {
        for text in ["80", "1024-65535"] {
            assert_eq!(text.parse::<PortRange>().unwrap().to_string(), text);
        }
        assert!("90-80".parse::<PortRange>().unwrap_err().contains("write 80-90"));
        assert!(
            "65536".parse::<PortRange>().unwrap_err().contains("not a port: write a number from 0 to 65535")
        );
        assert!("short".parse::<LengthRange>().unwrap_err().contains("not a length of IP packets"));
        let short: LengthRange = "20-64".parse().unwrap();
        assert_eq!([19, 20, 64, 65].map(|length| short.contains(length)), [false, true, true, false]);
    }
}
