//! Conversion of `set` and of policer actions to marks.

use perhop_device::intent::{Action, Field, Mark, Table, Translation, Written};

use crate::ast::{self, Configuration, Marking};
use crate::mls;

/// Returns the mark of a `set` line or of an action.
pub(super) fn mark(configuration: &Configuration, marking: &Marking) -> Mark {
    let written = match marking {
        Marking::Precedence(precedence) => Written::Precedence(*precedence),
        Marking::Dscp(dscp) => Written::Dscp(*dscp),
        Marking::QosGroup(group) => Written::ForwardingClass(*group),
        Marking::Number(to, value) => Written::Number(field(*to), *value),
        Marking::Copy { to, from, table } => Written::Copy {
            to: field(*to),
            from: field(*from),
            by: translation(configuration, table.as_deref()),
        },
        Marking::NotModelled(_) => mls::marked_down(configuration, marking).unwrap_or(Written::NotModeled),
    };
    Mark { written, printed: marking.to_string() }
}

/// Returns the action of a policer or of a `rate-limit` line.
pub(super) fn action(configuration: &Configuration, action: &ast::Action) -> Action {
    Action {
        mark: action.marking.as_ref().map(|marking| mark(configuration, marking)),
        then: action.then,
        printed: action.to_string(),
    }
}

/// Returns the actions of one color.
pub(super) fn actions(configuration: &Configuration, actions: &[ast::Action]) -> Vec<Action> {
    actions.iter().map(|written| action(configuration, written)).collect()
}

fn translation(configuration: &Configuration, table: Option<&str>) -> Translation {
    let Some(name) = table else { return Translation::Direct };
    configuration.table_maps.get(name).map_or(Translation::Undefined, |map| {
        Translation::Table(Table { entries: map.entries.clone(), default: map.default })
    })
}

fn field(field: ast::Field) -> Field {
    match field {
        ast::Field::Precedence => Field::Precedence,
        ast::Field::Dscp => Field::Dscp,
        ast::Field::TunnelPrecedence | ast::Field::TunnelDscp => Field::TunnelHeader,
        ast::Field::Cos => Field::Cos,
        ast::Field::CosInner => Field::CosInner,
        ast::Field::MplsImposition => Field::ExpOfNewLabels,
        ast::Field::MplsTopmost => Field::ExpOfTopLabel,
        ast::Field::QosGroup => Field::ForwardingClass,
        ast::Field::DiscardClass => Field::DropPrecedence,
        ast::Field::TrafficClass => Field::TrafficClass,
    }
}
