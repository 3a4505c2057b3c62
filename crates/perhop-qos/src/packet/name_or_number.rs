//! The serde implementation and the schema of header fields that are written as a name or a number.

use std::fmt;

use serde::de;

/// A serde visitor that parses text, or the text of a number, with `parse`.
pub(crate) struct TextOrNumber<T> {
    pub(crate) expected: &'static str,
    pub(crate) parse: fn(&str) -> Result<T, String>,
}

impl<T> de::Visitor<'_> for TextOrNumber<T> {
    type Value = T;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.expected)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
    // The TOML parser passes every integer as a signed integer.
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Implements serde and the schema for a header field that is written as a name or a number.
macro_rules! name_or_number {
    ($type:ident, $maximum:literal, $description:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                deserializer.deserialize_any($crate::packet::TextOrNumber {
                    expected: $description,
                    parse: str::parse,
                })
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": $description,
                    "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": $maximum }],
                })
            }
        }
    };
}
pub(super) use name_or_number;
