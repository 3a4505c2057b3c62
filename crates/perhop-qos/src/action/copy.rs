//! [`CopyConfig`]: copies one mark of a packet to another, value by value (table-maps of routers).

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ConfigError;
use crate::packet::{Color, Dscp, IpPrecedence, LinkMark, Packet, TextOrNumber};

/// Copies a mark of the packet to another: `{from: dscp, to: cos, map: {ef: 5, af41: 4}, default: 0}`.
///
/// With `default: copy`, a value that is out of range for the target mark does not change that mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CopyConfig {
    /// The mark that is read. A packet without this mark is not changed.
    pub from: CopyField,
    /// The mark that is set.
    pub to: CopyField,
    /// The mapping of values, by number or name: `{46: 5, af41: 4}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<Value, Value>,
    /// The result for all other values: `copy` (the value itself), `ignore` (no change), or a value.
    #[serde(default)]
    pub default: CopyDefault,
}

/// A mark of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyField {
    /// The DSCP, 0 to 63.
    Dscp,
    /// The IP precedence, 0 to 7.
    Precedence,
    /// The class of service of the VLAN tag, 0 to 7.
    Cos,
    /// The traffic class (EXP) of the MPLS label, 0 to 7.
    MplsExp,
    /// The node's own label, 0 to 255.
    Label,
    /// The color (discard class), 0 to 7.
    Color,
}

/// A value of a mark as written in a policy: a number or a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(String);

/// The result for values that the map does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CopyDefault {
    /// The copied value is the value that was read.
    #[default]
    Copy,
    /// The mark does not change.
    Ignore,
    /// The mark is set to this value.
    Value(Value),
}

/// A [`CopyConfig`], compiled for the packet path.
#[derive(Clone, Debug)]
pub(super) struct CopyTable {
    from: CopyField,
    to: CopyField,
    /// The value to set, by the value that is read.
    values: Box<[Option<u8>; 256]>,
}

impl CopyConfig {
    /// Returns the value to set for each value that is read. `None` means that the mark does not change.
    ///
    /// # Errors
    /// A value is invalid for its mark.
    pub fn values(&self) -> Result<Box<[Option<u8>; 256]>, ConfigError> {
        self.build().map(|table| table.values)
    }
    /// Builds the table.
    ///
    /// # Errors
    /// A value is invalid for its mark.
    pub(super) fn build(&self) -> Result<CopyTable, ConfigError> {
        let CopyConfig { from, to, map, default } = self;
        let otherwise = match default {
            CopyDefault::Copy | CopyDefault::Ignore => None,
            CopyDefault::Value(value) => Some(to.read(value).map_err(|error| error.within("default"))?),
        };
        let copied = |value: usize| match default {
            CopyDefault::Copy => Some(value as u8).filter(|value| *value <= to.highest()),
            CopyDefault::Ignore | CopyDefault::Value(_) => otherwise,
        };
        let mut values = Box::new(std::array::from_fn(copied));
        for (read, set) in map {
            let at = |error: ConfigError| error.within(&read.0).within("map");
            values[usize::from(from.read(read).map_err(at)?)] = Some(to.read(set).map_err(at)?);
        }
        Ok(CopyTable { from: *from, to: *to, values })
    }
}

impl CopyTable {
    /// Copies the mark of `packet`.
    pub(super) fn apply(&self, packet: &mut Packet) {
        if let Some(read) = self.from.value_in(packet)
            && let Some(set) = self.values[usize::from(read)]
        {
            self.to.set(packet, set);
        }
    }
    /// Whether the copy reads a mark of the link layer.
    pub(super) fn reads_link_marks(&self) -> bool {
        matches!(self.from, CopyField::Cos | CopyField::MplsExp)
    }
}

impl CopyField {
    /// The highest value of this mark.
    const fn highest(self) -> u8 {
        match self {
            CopyField::Dscp => 63,
            CopyField::Precedence | CopyField::Cos | CopyField::MplsExp | CopyField::Color => 7,
            CopyField::Label => 255,
        }
    }
    /// Returns the number of `value`, which is a number or a name of this mark.
    fn read(self, Value(text): &Value) -> Result<u8, ConfigError> {
        let read = match self {
            CopyField::Dscp => text.parse().map(Dscp::value),
            CopyField::Precedence => text.parse().map(IpPrecedence::value),
            CopyField::Cos | CopyField::MplsExp => text.parse().map(LinkMark::value),
            CopyField::Label => text.parse().map_err(|_| format!("`{text}` is not a label: write 0 to 255")),
            CopyField::Color => match text.parse::<u8>() {
                Ok(level) if level <= self.highest() => Ok(level),
                _ => text.parse::<Color>().map(|color| color.index() as u8),
            },
        };
        read.map_err(|message| match message.split_once(": ") {
            Some((found, help)) => ConfigError::new("", found).help(help),
            None => ConfigError::new("", message),
        })
    }
    /// The value of this mark in `packet`.
    fn value_in(self, packet: &Packet) -> Option<u8> {
        match self {
            CopyField::Dscp => Some(packet.dscp.value()),
            CopyField::Precedence => Some(packet.dscp.precedence().value()),
            CopyField::Cos => packet.cos().map(LinkMark::value),
            CopyField::MplsExp => packet.exp().map(LinkMark::value),
            CopyField::Label => Some(packet.label),
            CopyField::Color => Some(packet.color.index() as u8),
        }
    }
    /// Sets this mark of `packet` to a valid value.
    fn set(self, packet: &mut Packet, value: u8) {
        match self {
            CopyField::Dscp => packet.mark(Dscp::new(value).unwrap_or_default()),
            CopyField::Precedence => {
                packet.dscp = IpPrecedence::new(value).unwrap_or_default().class_selector();
            }
            CopyField::Cos => packet.set_cos(LinkMark::new(value).unwrap_or_default()),
            CopyField::MplsExp => packet.set_exp(LinkMark::new(value).unwrap_or_default()),
            CopyField::Label => packet.label = value,
            CopyField::Color => packet.color = Color::new(usize::from(value)),
        }
    }
}

impl Value {
    /// Returns the number. Returns `None` if the value is written as a name.
    pub fn number(&self) -> Option<u8> {
        self.0.parse().ok()
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Value {
        Value(number.to_string())
    }
}
impl From<&str> for Value {
    fn from(name: &str) -> Value {
        Value(name.to_owned())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        let expected = "a number or a name such as ef, critical or yellow";
        deserializer.deserialize_any(TextOrNumber { expected, parse: |text| Ok(Value(text.to_owned())) })
    }
}
impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MarkValue".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

impl Serialize for CopyDefault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CopyDefault::Copy => serializer.serialize_str("copy"),
            CopyDefault::Ignore => serializer.serialize_str("ignore"),
            CopyDefault::Value(value) => value.serialize(serializer),
        }
    }
}
impl<'de> Deserialize<'de> for CopyDefault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CopyDefault, D::Error> {
        Value::deserialize(deserializer).map(|value| match value.0.as_str() {
            "copy" => CopyDefault::Copy,
            "ignore" => CopyDefault::Ignore,
            _ => CopyDefault::Value(value),
        })
    }
}
impl JsonSchema for CopyDefault {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CopyDefault".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "copy, ignore, or a value by number or name",
            "type": ["string", "integer"],
        })
    }
}
