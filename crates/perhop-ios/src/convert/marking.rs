//! What is written into packets: `set` and the markings of policers as actions.

use std::collections::BTreeMap;

use perhop_qos::Color;
use perhop_qos::action::{self, CopyConfig, CopyDefault, CopyField, Value};
use perhop_qos::packet::LinkMark;

use crate::ast::{Action, Configuration, Direction, Field, Marking, TableDefault, Then};

/// What is written at one side of a port.
#[derive(Clone, Copy)]
pub(super) struct Markings<'a> {
    configuration: &'a Configuration,
    direction: Direction,
    /// A router, and no switch.
    is_router: bool,
    /// Whether packets have discard class 0 after this side unless a class sets one: something asks for it.
    resets: bool,
}

/// What a class does with its packets besides sending them on.
#[derive(Clone, Copy, Default)]
pub(super) struct Treatment<'a> {
    /// The label by which its queue, or its own stage, knows them.
    pub(super) label: Option<u8>,
    /// What it sets.
    pub(super) marks: &'a [Marking],
    /// Whether a policer gives them colors.
    pub(super) metered: bool,
    /// Whether WRED tells them by their class of service: perhop's by their color.
    pub(super) by_cos: bool,
}

impl<'a> Markings<'a> {
    pub(super) fn at(
        configuration: &'a Configuration,
        direction: Direction,
        is_router: bool,
    ) -> Markings<'a> {
        let resets = direction == Direction::Input && configuration.marks.discard_class;
        Markings { configuration, direction, is_router, resets }
    }

    /// `set` first, then the policer's own marking, then the label by which a queue takes the packet, then
    /// where the packet goes. Where packets arrive no queue follows: the label that brought them here goes.
    pub(super) fn actions(&self, treatment: Treatment, own: &[Action]) -> Vec<action::Action> {
        let Treatment { label, marks, metered, by_cos } = treatment;
        let then = own.last().map_or(Then::Transmit, |action| action.then);
        let mut list = Vec::new();
        // A policer's colors are no discard class of the router.
        if self.resets && metered && then != Then::Drop {
            list.push(action::Action::Color(Color::GREEN));
        }
        if self.direction == Direction::Input {
            list.extend(label.map(|_| action::Action::Label(0)));
        }
        let markings = || marks.iter().chain(own.iter().filter_map(|action| action.marking.as_ref()));
        let of_field = |field| markings().filter(move |marking| marking.field() == Some(field));
        let mut all: Vec<&Marking> = markings().collect();
        // Before the router pushes labels it writes those that are there.
        all.sort_by_key(|marking| marking.field() == Some(Field::MplsImposition));
        list.extend(all.into_iter().filter_map(|marking| self.action(marking)));
        // An AF codepoint is a color here, and none of the router's discard classes.
        if of_field(Field::Dscp).next().is_some() && then != Then::Drop {
            let colors: Vec<_> =
                of_field(Field::DiscardClass).filter_map(|marking| self.action(marking)).collect();
            list.extend((self.resets && colors.is_empty()).then_some(action::Action::Color(Color::GREEN)));
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

    /// Whether the router writes `field` on this side. Cisco, "set cos" and "set mpls experimental
    /// imposition" (command reference): tags are written on the way out, labels pushed between the
    /// two sides.
    pub(super) fn writes(&self, field: Field) -> bool {
        match field {
            Field::Cos => self.direction == Direction::Output || !self.is_router,
            Field::MplsImposition => self.direction == Direction::Input,
            Field::TrafficClass => !self.configuration.marks.both_groups,
            // Both tags have one class of service, and perhop's tunnels copy the DSCP.
            Field::CosInner | Field::TunnelDscp | Field::TunnelPrecedence => false,
            _ => true,
        }
    }

    fn action(&self, marking: &Marking) -> Option<action::Action> {
        if !self.writes(marking.field()?) {
            return None;
        }
        Some(match marking {
            Marking::Precedence(precedence) => action::Action::MarkPrecedence(*precedence),
            Marking::Dscp(dscp) => action::Action::Mark(*dscp),
            Marking::QosGroup(group) => action::Action::Label(u8::try_from(*group).ok()?),
            Marking::Number(Field::Cos, value) => action::Action::MarkCos(LinkMark::new(*value)?),
            Marking::Number(Field::MplsImposition, value) => action::Action::MarkExp(LinkMark::new(*value)?),
            // Only where there is a label: what has none to read is not written.
            Marking::Number(Field::MplsTopmost, value) => {
                copy(CopyField::MplsExp, CopyField::MplsExp, CopyDefault::Value((*value).into()))
            }
            Marking::Number(Field::DiscardClass, value) => action::Action::Color(Color::new((*value).into())),
            Marking::Number(Field::TrafficClass, value) => action::Action::Label(*value),
            Marking::Copy { to, from, table } => self.table(*to, *from, table.as_deref())?,
            Marking::Number(..) | Marking::NotModelled(_) => return None,
        })
    }

    /// `set TO FROM table NAME`, or without a table.
    fn table(&self, to: Field, from: Field, name: Option<&str>) -> Option<action::Action> {
        let target = copied(to)?;
        let Some(name) = name else {
            // Cisco, "set cos": of a DSCP the three bits of the class selector are copied.
            let source = match copied(from)? {
                CopyField::Dscp if highest(target) == 7 => CopyField::Precedence,
                other => other,
            };
            return Some(copy(source, target, CopyDefault::Copy));
        };
        let (source, table) = (copied(from)?, self.configuration.table_maps.get(name)?);
        let is_value = |(from, to): &(&u8, &u8)| **from <= highest(source) && **to <= highest(target);
        let map = table.entries.iter().filter(is_value);
        let map = map.map(|(from, to)| (Value::from(*from), Value::from(*to))).collect();
        let default = match table.default {
            TableDefault::Copy => CopyDefault::Copy,
            TableDefault::Value(value) if value <= highest(target) => CopyDefault::Value(value.into()),
            TableDefault::Value(_) | TableDefault::Ignore => CopyDefault::Ignore,
        };
        Some(action::Action::Copy(CopyConfig { from: source, to: target, map, default }))
    }
}

fn copy(from: CopyField, to: CopyField, default: CopyDefault) -> action::Action {
    action::Action::Copy(CopyConfig { from, to, map: BTreeMap::new(), default })
}

/// A field as perhop's packets have it.
fn copied(field: Field) -> Option<CopyField> {
    Some(match field {
        Field::Precedence => CopyField::Precedence,
        Field::Dscp => CopyField::Dscp,
        // With two tags both have the same class of service.
        Field::Cos | Field::CosInner => CopyField::Cos,
        Field::MplsImposition | Field::MplsTopmost => CopyField::MplsExp,
        Field::QosGroup | Field::TrafficClass => CopyField::Label,
        Field::DiscardClass => CopyField::Color,
        Field::TunnelPrecedence | Field::TunnelDscp => return None,
    })
}

/// The highest value of a field; values of the router's groups end below.
fn highest(field: CopyField) -> u8 {
    match field {
        CopyField::Dscp => 63,
        CopyField::Label => 99,
        CopyField::Precedence | CopyField::Cos | CopyField::MplsExp | CopyField::Color => 7,
    }
}
