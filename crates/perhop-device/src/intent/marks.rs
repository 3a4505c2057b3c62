//! Marks: the fields of a packet that a policy writes, and the actions of policers.

use std::collections::BTreeMap;

use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;
use serde::{Deserialize, Serialize};

use super::fields::Fields;

/// The direction of packets at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Packets that arrive.
    Input,
    /// Packets that leave.
    Output,
}

/// The next step of a packet after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The packet is forwarded and skips the later limiters.
    Transmit,
    /// The packet goes to the next limiter.
    Continue,
    /// The packet is dropped.
    Drop,
}

/// A field that a device reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The IP precedence.
    Precedence,
    /// The DSCP.
    Dscp,
    /// The precedence or DSCP in the header of the tunnel that the packet enters.
    TunnelHeader,
    /// The class of service of the outer 802.1Q tag.
    Cos,
    /// The class of service of the inner 802.1Q tag.
    CosInner,
    /// The experimental bits of labels that the device pushes.
    ExpOfNewLabels,
    /// The experimental bits of the topmost label.
    ExpOfTopLabel,
    /// The forwarding class: a number that exists only inside the device.
    ForwardingClass,
    /// A second number that exists only inside the device.
    TrafficClass,
    /// The drop precedence, which exists only inside the device.
    DropPrecedence,
}

/// The map from values of one field to values of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The new value of each listed value.
    pub entries: BTreeMap<u8, u8>,
    /// The new value of all values that are not listed.
    pub default: TableDefault,
}

/// The new value of values that a table does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableDefault {
    /// The value does not change.
    #[default]
    Copy,
    /// One value for all.
    Value(u8),
    /// The field is not written.
    Ignore,
}

/// The conversion of one field to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Translation {
    /// The number is copied. Between a DSCP and a field of three bits, the number of the class selector is
    /// copied.
    Direct,
    /// The conversion follows a table.
    Table(Table),
    /// The conversion follows a table that the configuration does not define.
    Undefined,
}

/// The value that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The IP precedence.
    Precedence(IpPrecedence),
    /// The DSCP.
    Dscp(Dscp),
    /// The forwarding class.
    ForwardingClass(u32),
    /// A number that is written to another field.
    Number(Field, u8),
    /// The value of another field.
    Copy {
        /// The field that is written.
        to: Field,
        /// The field whose value is copied or translated.
        from: Field,
        /// The conversion.
        by: Translation,
    },
    /// A value of a field that the model does not have.
    NotModeled,
}

/// A mark: a value that a policy writes into a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The value.
    pub written: Written,
    /// The words that the device prints for the mark.
    pub printed: String,
}

impl Mark {
    /// Returns the field that is written; `None` for a field outside the model.
    pub fn field(&self) -> Option<Field> {
        match &self.written {
            Written::Precedence(_) => Some(Field::Precedence),
            Written::Dscp(_) => Some(Field::Dscp),
            Written::ForwardingClass(_) => Some(Field::ForwardingClass),
            Written::Number(field, _) | Written::Copy { to: field, .. } => Some(*field),
            Written::NotModeled => None,
        }
    }

    /// Returns the fields of perhop's packets that the mark writes.
    pub fn fields(&self) -> Fields {
        match self.field() {
            Some(Field::Precedence) => Fields::CODEPOINT,
            // An AF codepoint also sets the color to its drop precedence.
            Some(Field::Dscp) => Fields::CODEPOINT.and(Fields::COLOR),
            Some(Field::Cos) => Fields::COS,
            Some(Field::ExpOfNewLabels | Field::ExpOfTopLabel) => Fields::EXP,
            Some(Field::DropPrecedence) => Fields::COLOR,
            Some(Field::ForwardingClass | Field::TrafficClass) => Fields::LABEL,
            Some(Field::CosInner | Field::TunnelHeader) | None => Fields::default(),
        }
    }
}

/// An action of a policer or limiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The mark that the action writes.
    pub mark: Option<Mark>,
    /// The next step of the packet.
    pub then: Then,
    /// The words that the device prints for the action.
    pub printed: String,
}

impl Action {
    /// Returns the action that forwards the packet unchanged.
    pub fn transmit() -> Action {
        Action { mark: None, then: Then::Transmit, printed: "transmit".to_owned() }
    }

    /// Returns the action that drops the packet.
    pub fn drop() -> Action {
        Action { mark: None, then: Then::Drop, printed: "drop".to_owned() }
    }
}
