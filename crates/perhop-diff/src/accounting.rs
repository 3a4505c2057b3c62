//! [`account`]: finds every changed line and its relation to the model.

use std::collections::BTreeSet;

use perhop_lint::LineState;

use crate::answer::{Changed, LineChange, LineEffect, LineText, Moved, PartName};
use crate::compare::Comparison;
use crate::effects::Ablation;
use crate::lines::{Change, Entry};
use crate::parts::{MATCH, Property, QUEUE};

/// The changed properties and parts. Parts have the names of the new configuration.
pub(crate) struct ChangedProperties<'a> {
    comparison: &'a Comparison,
    properties: BTreeSet<Property>,
    /// Parts that exist in one configuration only, or whose order differs.
    parts: BTreeSet<PartName>,
    /// The interfaces to compare; `None` for all.
    only: Option<&'a [String]>,
    /// Whether all packets were compared.
    precision: Precision,
}

/// The precision of the comparison of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// All sets of packets were compared.
    Exact,
    /// Some sets were too complex. Matches with different texts can match different packets.
    Partial,
}

impl<'a> ChangedProperties<'a> {
    pub(crate) fn collect(
        comparison: &'a Comparison,
        moved: &[Moved],
        only: Option<&'a [String]>,
        precision: Precision,
    ) -> ChangedProperties<'a> {
        let mut properties = BTreeSet::new();
        let mut parts = BTreeSet::new();
        for Changed { interface, part, what, .. } in &comparison.changed {
            if what.is_empty() || what == "order" {
                parts.insert(PartName { interface: interface.clone(), part: part.clone() });
            } else {
                properties.insert((interface.clone(), part.clone(), what.clone()));
            }
        }
        for moved_part in moved {
            for queue in [&moved_part.before, &moved_part.after].into_iter().flatten() {
                let part = comparison.new_name(&moved_part.interface, &format!("{QUEUE}{queue}"));
                properties.insert((moved_part.interface.clone(), part, MATCH.to_owned()));
            }
        }
        ChangedProperties { comparison, properties, parts, only, precision }
    }

    fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.parts.is_empty()
    }

    /// Returns the changed parts among the parts that a line affects.
    fn affected_parts(&self, effect: &BTreeSet<Property>) -> Vec<PartName> {
        let mut found = BTreeSet::new();
        for (interface, part, what) in effect {
            let part = self.comparison.new_name(interface, part);
            let name = PartName { interface: interface.clone(), part };
            let property = (name.interface.clone(), name.part.clone(), what.clone());
            let may_take_others = what == MATCH && self.precision == Precision::Partial;
            let is_changed = self.parts.contains(&name) || self.properties.contains(&property);
            if is_changed || may_take_others || self.has_order(&name) {
                found.insert(name);
            }
        }
        found.into_iter().collect()
    }

    /// Whether the order of the part and its siblings differs.
    fn has_order(&self, name: &PartName) -> bool {
        let around = match name.part.strip_prefix(QUEUE) {
            Some(queue) => match queue.rsplit_once('/') {
                Some((around, _)) => format!("queues of {around}"),
                None => "queues".to_owned(),
            },
            None => match name.part.split_once(" conditioner ") {
                Some((side, _)) => format!("{side} policy"),
                None => return false,
            },
        };
        let ordered = self.comparison.changed.iter().filter(|change| change.what == "order");
        ordered.into_iter().any(|change| change.interface == name.interface && change.part == around)
    }

    /// Whether a line affects only interfaces that are not compared.
    fn is_elsewhere(&self, effect: &BTreeSet<Property>) -> bool {
        let Some(only) = self.only else { return false };
        !effect.iter().any(|(interface, ..)| interface.is_empty() || only.contains(interface))
    }
}

/// Returns every change of a line with its relation to the model, and the number of lines whose effect was
/// not determined.
///
/// A line that only moved and has the same effect is omitted.
pub(crate) fn account(
    changes: Vec<Change>,
    ablations: &mut [Ablation; 2],
    changed: &ChangedProperties,
) -> (Vec<LineChange>, usize) {
    let mut unread = 0;
    let mut found = Vec::new();
    for change in changes {
        let mut whole = Relation { effect: LineEffect::Irrelevant, parts: BTreeSet::new(), reason: None };
        let sides = [&change.old, &change.new];
        for (side, entry) in sides.into_iter().enumerate() {
            let Some(entry) = entry else { continue };
            let relation = if change.is_moved && changed.is_empty() && !entry.state.differs() {
                Some(Relation::with_effect(LineEffect::Same))
            } else {
                relation(entry, &mut ablations[side], changed)
            };
            unread += usize::from(relation.is_none());
            whole.join(relation.unwrap_or_else(|| Relation::unread(entry, changed)));
        }
        if change.is_moved && whole.effect < LineEffect::Compared {
            continue;
        }
        if change.is_moved && whole.reason.is_some() {
            whole.reason = whole.reason.map(|reason| format!("the line moved; {reason}"));
        }
        let text =
            |entry: Option<Entry>| entry.map(|entry| LineText { line: entry.number, text: entry.text });
        found.push(LineChange {
            section: change.section,
            old: text(change.old),
            new: text(change.new),
            effect: whole.effect,
            parts: whole.parts.into_iter().collect(),
            reason: whole.reason,
        });
    }
    (found, unread)
}

/// The relation of a changed line, or of a pair of corresponding lines, to the model.
struct Relation {
    effect: LineEffect,
    parts: BTreeSet<PartName>,
    reason: Option<String>,
}

impl Relation {
    fn with_effect(effect: LineEffect) -> Relation {
        Relation { effect, parts: BTreeSet::new(), reason: None }
    }

    fn not_compared(entry: &Entry, reason: &str) -> Relation {
        let reason =
            entry.note.as_ref().map_or_else(|| reason.to_owned(), |note| format!("{reason}: {note}"));
        Relation { reason: Some(reason), ..Relation::with_effect(LineEffect::NotCompared) }
    }

    /// Returns the relation of a line whose effect is unknown.
    fn unread(entry: &Entry, changed: &ChangedProperties) -> Relation {
        if entry.state == LineState::Suspicious {
            Relation::not_compared(entry, "suspicious")
        } else {
            Relation::with_effect(if changed.is_empty() { LineEffect::Same } else { LineEffect::Compared })
        }
    }

    fn join(&mut self, other: Relation) {
        self.effect = self.effect.max(other.effect);
        self.parts.extend(other.parts);
        self.reason = self.reason.take().or(other.reason);
    }
}

/// Returns the relation of a line to the model, or `None` if its effect cannot be determined.
fn relation(entry: &Entry, ablation: &mut Ablation, changed: &ChangedProperties) -> Option<Relation> {
    match entry.state {
        LineState::Irrelevant => return Some(Relation::with_effect(LineEffect::Irrelevant)),
        LineState::NotModelled => {
            // The effect is also determined for a line that is not modeled, because the model can contain a
            // part of its effect.
            let effect = ablation.effect(entry.number).unwrap_or_default();
            let parts = changed.affected_parts(&effect).into_iter().collect();
            return Some(Relation { parts, ..Relation::not_compared(entry, "not modeled") });
        }
        LineState::NotRecognized => return Some(Relation::not_compared(entry, "not recognized")),
        LineState::Modelled | LineState::Suspicious => {}
    }
    let effect = ablation.effect(entry.number)?;
    if effect.is_empty() {
        let reason = match entry.state {
            LineState::Suspicious => "suspicious",
            _ => "no interface in the model depends on the line",
        };
        return Some(Relation::not_compared(entry, reason));
    }
    let parts = changed.affected_parts(&effect);
    Some(if !parts.is_empty() {
        Relation { parts: parts.into_iter().collect(), ..Relation::with_effect(LineEffect::Compared) }
    } else if changed.is_elsewhere(&effect) {
        Relation::with_effect(LineEffect::Elsewhere)
    } else {
        Relation::with_effect(LineEffect::Same)
    })
}
