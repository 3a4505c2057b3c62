//! Marks of classes and policers as actions of conditioners.

use std::collections::BTreeMap;

use perhop_qos::Color;
use perhop_qos::action::{self, CopyConfig, CopyDefault, CopyField, Value};
use perhop_qos::packet::LinkMark;

use crate::intent::{Action, Direction, Field, Mark, Table, TableDefault, Then, Translation, Written};

/// The kind of device that writes marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A router. Departing frames get new tags. The device pushes labels after the input policy and before
    /// the output policy.
    Router,
    /// A switch. Frames keep their tags.
    Switch,
}

/// The fields that a device writes on one side of a port.
#[derive(Clone, Copy, Debug)]
pub struct Markings {
    /// The direction of the packets.
    pub direction: Direction,
    /// The kind of the device.
    pub writer: Writer,
    /// Whether packets leave this side with drop precedence 0 unless a class sets another value, because a
    /// policy needs it.
    pub resets_drop_precedence: bool,
    /// Whether output policies write the experimental bits of labels that the device has pushed.
    pub writes_pushed_labels: bool,
    /// Whether the device uses both forwarding classes and traffic classes. The label of a simulated packet
    /// then has the forwarding class.
    pub label_is_taken: bool,
}

/// The effects of a class on its packets, before the packets continue.
#[derive(Clone, Copy, Default)]
pub(super) struct Treatment<'a> {
    /// The label by which the queue or the stage of the class selects the packets.
    pub(super) label: Option<u8>,
    /// The marks of the class.
    pub(super) marks: &'a [Mark],
    /// Whether a policer colors the packets.
    pub(super) metered: bool,
    /// Whether WRED reads the class of service of the packets. WRED of perhop reads the color instead.
    pub(super) by_cos: bool,
}

impl Markings {
    /// Returns the actions in order: the marks of the class, the mark of the policer, the label for the
    /// queue, the outcome. On input, no queue follows, so the label is removed.
    pub(super) fn actions(self, treatment: Treatment, own: &[Action]) -> Vec<action::Action> {
        let Treatment { label, marks, metered, by_cos } = treatment;
        let then = own.last().map_or(Then::Transmit, |action| action.then);
        let mut list = Vec::new();
        // A policer sets the color in perhop, but not the drop precedence in the device. The color is
        // therefore reset.
        if self.resets_drop_precedence && metered && then != Then::Drop {
            list.push(action::Action::Color(Color::GREEN));
        }
        if self.direction == Direction::Input {
            list.extend(label.map(|_| action::Action::Label(0)));
        }
        let markings = || marks.iter().chain(own.iter().filter_map(|action| action.mark.as_ref()));
        let of_field = |field| markings().filter(move |mark: &&Mark| mark.field() == Some(field));
        let mut all: Vec<&Mark> = markings().collect();
        // The device writes labels of the arriving packet before it pushes new labels.
        all.sort_by_key(|mark| mark.field() == Some(Field::ExpOfNewLabels));
        list.extend(all.into_iter().filter_map(|marking| self.action(marking)));
        // An AF codepoint sets the color in perhop, but not the drop precedence in the device. The color is
        // therefore set again.
        if of_field(Field::Dscp).next().is_some() && then != Then::Drop {
            let colors: Vec<_> =
                of_field(Field::DropPrecedence).filter_map(|marking| self.action(marking)).collect();
            list.extend(
                (self.resets_drop_precedence && colors.is_empty())
                    .then_some(action::Action::Color(Color::GREEN)),
            );
            list.extend(colors);
        }
        if by_cos && then != Then::Drop {
            list.push(action::Action::Color(Color::GREEN));
            list.push(copy(CopyField::Cos, CopyField::Color, CopyDefault::Copy));
        }
        if self.direction == Direction::Output && then != Then::Drop {
            list.extend(label.map(action::Action::Label));
        }
        list.push(match then {
            Then::Drop => action::Action::Drop,
            Then::Continue => action::Action::Continue,
            Then::Transmit => action::Action::Transmit,
        });
        list
    }

    /// Whether the device writes `field` on this side.
    pub fn writes(self, field: Field) -> bool {
        match field {
            Field::Cos => self.direction == Direction::Output || self.writer == Writer::Switch,
            Field::ExpOfNewLabels => self.direction == Direction::Input || self.writes_pushed_labels,
            Field::TrafficClass => !self.label_is_taken,
            // perhop cannot write these fields: it has one class of service for both tags, and its tunnels
            // copy the DSCP.
            Field::CosInner | Field::TunnelHeader => false,
            _ => true,
        }
    }

    fn action(self, mark: &Mark) -> Option<action::Action> {
        if !self.writes(mark.field()?) {
            return None;
        }
        Some(match &mark.written {
            Written::Precedence(precedence) => action::Action::MarkPrecedence(*precedence),
            Written::Dscp(dscp) => action::Action::Mark(*dscp),
            Written::ForwardingClass(class) => action::Action::Label(u8::try_from(*class).ok()?),
            Written::Number(Field::Cos, value) => action::Action::MarkCos(LinkMark::new(*value)?),
            Written::Number(Field::ExpOfNewLabels, value) if self.direction == Direction::Output => {
                copy(CopyField::MplsExp, CopyField::MplsExp, CopyDefault::Value((*value).into()))
            }
            Written::Number(Field::ExpOfNewLabels, value) => action::Action::MarkExp(LinkMark::new(*value)?),
            // The action copies the mark to the same field, because a copy has no effect on packets without a
            // label.
            Written::Number(Field::ExpOfTopLabel, value) => {
                copy(CopyField::MplsExp, CopyField::MplsExp, CopyDefault::Value((*value).into()))
            }
            Written::Number(Field::DropPrecedence, value) => {
                action::Action::Color(Color::new((*value).into()))
            }
            Written::Number(Field::TrafficClass, value) => action::Action::Label(*value),
            Written::Copy { to, from, by } => translated(*to, *from, by)?,
            Written::Number(..) | Written::NotModeled => return None,
        })
    }
}

/// Returns the action that writes `to` according to the value of `from`.
fn translated(to: Field, from: Field, by: &Translation) -> Option<action::Action> {
    let target = copied(to)?;
    match by {
        Translation::Undefined => None,
        Translation::Direct => {
            // Cisco, "set cos": the device copies the three bits of the class selector of a DSCP.
            let source = match copied(from)? {
                CopyField::Dscp if highest(target) == 7 => CopyField::Precedence,
                other => other,
            };
            Some(copy(source, target, CopyDefault::Copy))
        }
        Translation::Table(Table { entries, default }) => {
            let source = copied(from)?;
            let is_value = |(from, to): &(&u8, &u8)| **from <= highest(source) && **to <= highest(target);
            let map = entries.iter().filter(is_value);
            let map = map.map(|(from, to)| (Value::from(*from), Value::from(*to))).collect();
            let default = match default {
                TableDefault::Copy => CopyDefault::Copy,
                TableDefault::Value(value) if *value <= highest(target) => {
                    CopyDefault::Value((*value).into())
                }
                TableDefault::Value(_) | TableDefault::Ignore => CopyDefault::Ignore,
            };
            Some(action::Action::Copy(CopyConfig { from: source, to: target, map, default }))
        }
    }
}

fn copy(from: CopyField, to: CopyField, default: CopyDefault) -> action::Action {
    action::Action::Copy(CopyConfig { from, to, map: BTreeMap::new(), default })
}

/// Returns the corresponding field of perhop's packets.
fn copied(field: Field) -> Option<CopyField> {
    Some(match field {
        Field::Precedence => CopyField::Precedence,
        Field::Dscp => CopyField::Dscp,
        // perhop has one class of service for both tags.
        Field::Cos | Field::CosInner => CopyField::Cos,
        Field::ExpOfNewLabels | Field::ExpOfTopLabel => CopyField::MplsExp,
        Field::ForwardingClass | Field::TrafficClass => CopyField::Label,
        Field::DropPrecedence => CopyField::Color,
        Field::TunnelHeader => return None,
    })
}

/// Returns the highest value of a field. The highest forwarding class is below the highest label.
fn highest(field: CopyField) -> u8 {
    match field {
        CopyField::Dscp => 63,
        CopyField::Label => 99,
        CopyField::Precedence | CopyField::Cos | CopyField::MplsExp | CopyField::Color => 7,
    }
}
