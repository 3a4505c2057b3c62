//! The output format of markings and actions in `show policy-map interface`.

use std::fmt;

use perhop_qos::Dscp;

use crate::ast::{Action, Field, Marking, Then};

/// Writes the mark in the section `QoS Set` of `show policy-map interface`.
impl fmt::Display for Marking {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Marking::Precedence(precedence) => write!(formatter, "precedence {}", precedence.value()),
            Marking::Dscp(dscp) => write!(formatter, "dscp {}", word(*dscp)),
            Marking::QosGroup(group) => write!(formatter, "qos-group {group}"),
            Marking::Number(field, value) => write!(formatter, "{field} {value}"),
            Marking::Copy { to, from, table } => {
                write!(formatter, "{to} {from}")?;
                table.iter().try_for_each(|table| write!(formatter, " table {table}"))
            }
            Marking::NotModelled(word) => formatter.write_str(word),
        }
    }
}

/// Returns the router's word for a codepoint; routers have none for NQB (RFC 9956).
fn word(dscp: Dscp) -> String {
    if dscp.value() == 45 { "45".to_owned() } else { dscp.to_string() }
}

/// Writes the router's name of the field.
impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Field::Precedence => "precedence",
            Field::Dscp => "dscp",
            Field::TunnelPrecedence => "precedence tunnel",
            Field::TunnelDscp => "dscp tunnel",
            Field::Cos => "cos",
            Field::CosInner => "cos-inner",
            Field::MplsImposition => "mpls experimental imposition",
            Field::MplsTopmost => "mpls experimental topmost",
            Field::QosGroup => "qos-group",
            Field::DiscardClass => "discard-class",
            Field::TrafficClass => "traffic-class",
        })
    }
}

/// Writes the action in the lines of a policer color of `show policy-map interface`.
impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match (&self.marking, self.then) {
            (None, Then::Transmit) => formatter.write_str("transmit"),
            (None, Then::Drop) => formatter.write_str("drop"),
            (None, Then::Continue) => formatter.write_str("continue"),
            (Some(Marking::Precedence(value)), _) => write!(formatter, "set-prec-transmit {}", value.value()),
            (Some(Marking::Dscp(value)), _) => write!(formatter, "set-dscp-transmit {}", word(*value)),
            (Some(Marking::QosGroup(value)), _) => write!(formatter, "set-qos-transmit {value}"),
            (Some(Marking::Number(field, value)), _) => {
                write!(formatter, "{}-transmit {value}", setting(*field))
            }
            (Some(Marking::Copy { to, from, table }), _) => {
                write!(formatter, "{}-transmit {from}", setting(*to))?;
                table.iter().try_for_each(|table| write!(formatter, " table {table}"))
            }
            (Some(Marking::NotModelled(word)), _) => formatter.write_str(word),
        }
    }
}

/// Returns the start of a policer action that sets `field`.
fn setting(field: Field) -> &'static str {
    match field {
        Field::Precedence => "set-prec",
        Field::Dscp => "set-dscp",
        Field::TunnelPrecedence => "set-prec-tunnel",
        Field::TunnelDscp => "set-dscp-tunnel",
        Field::Cos => "set-cos",
        Field::CosInner => "set-cos-inner",
        Field::MplsImposition => "set-mpls-exp-imposition",
        Field::MplsTopmost => "set-mpls-exp-topmost",
        Field::QosGroup => "set-qos",
        Field::DiscardClass => "set-discard-class",
        Field::TrafficClass => "set-traffic-class",
    }
}
