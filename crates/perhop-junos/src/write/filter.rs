//! [`Filter`]: writing of the outcomes of a policy as a filter or a classifier, with policers and rewrite
//! rules.

use std::collections::BTreeMap;

use perhop_analysis::{Field, PacketSpace, Set};
use perhop_device::{Missing, NotesAt};
use perhop_qos::conditioner::ConditionerConfig;

use super::actions::{Term, classified, loss_of, marked};
use super::classes::ForwardingClasses;
use super::outcomes::{Metered, Outcome, Treatment, too_complex};
use super::policers::{Policer, policer};
use super::terms::{Conditions, From, Version};
use crate::cos::LossPriority;

/// The commands for one direction of an interface, by hierarchy.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// The statements below `[edit firewall]`.
    pub(super) firewall: Vec<String>,
    /// The statements below `[edit class-of-service]`.
    pub(super) cos: Vec<String>,
    /// The statements below the unit in `[edit interfaces]`.
    pub(super) unit: Vec<String>,
    /// The statements below the unit in `[edit class-of-service interfaces]`.
    pub(super) cos_unit: Vec<String>,
}

/// A policy whose filter is written.
pub(super) struct Filter<'f> {
    pub(super) space: &'f mut PacketSpace,
    pub(super) classes: &'f mut ForwardingClasses,
    /// A name that no other policy has.
    pub(super) name: &'f str,
    /// `input` or `output`.
    pub(super) direction: &'static str,
    pub(super) stages: &'f [ConditionerConfig],
    pub(super) outcomes: &'f [Outcome],
    /// The classes of its queues; empty for a policy without queues.
    pub(super) queues: &'f [String],
    /// The classes that were assigned to treatments so far.
    pub(super) treated: Vec<(Treatment, String)>,
    pub(super) written: Written,
}

/// The types of rewrite rules, the bits of their codepoints, and the mark that they set.
type Rewrite = (&'static [&'static str], usize, fn(&Treatment) -> Option<u8>);

/// The fields of packets.
const FIELDS: [Field; 15] = [
    Field::Family,
    Field::Protocol,
    Field::Destination,
    Field::Source,
    Field::DestinationPort,
    Field::SourcePort,
    Field::Dscp,
    Field::Length,
    Field::Input,
    Field::Color,
    Field::Label,
    Field::HasCos,
    Field::Cos,
    Field::HasExp,
    Field::Exp,
];

impl Filter<'_> {
    /// Writes the policy. Notes parts that Junos cannot express.
    pub(super) fn write(mut self, notes: &mut NotesAt) -> Result<Written, Missing> {
        if let Some(field) = self.only_field() {
            self.classifier(field)?;
            return Ok(self.written);
        }
        if self.keeps_classes()? {
            return Ok(self.written);
        }
        let classes: Vec<String> =
            self.outcomes.to_vec().iter().map(|outcome| self.class(&outcome.treatment)).collect();
        let policers = self.policers(&classes, notes)?;
        for version in Version::BOTH {
            let terms = self.terms(version, &classes, &policers, notes)?;
            self.add_terms(version, &terms);
        }
        if !self.queues.is_empty() {
            self.rewrites(&policers);
        }
        Ok(self.written)
    }

    /// Whether the policy keeps the class with which each packet arrives, and this class has the right queue.
    fn keeps_classes(&mut self) -> Result<bool, Missing> {
        if self.queues.is_empty() {
            return Ok(false);
        }
        for outcome in self.outcomes {
            let plain = Treatment { queue: outcome.treatment.queue, ..Treatment::default() };
            if outcome.treatment != plain || !self.depends_only_on(outcome.exact, &[Field::Label]) {
                return Ok(false);
            }
            let class = outcome.treatment.queue.and_then(|place| self.queues.get(place));
            for (label, name) in &self.classes.labels {
                let own = self.space.equals(Field::Label, u128::from(*label)).map_err(too_complex)?;
                let own = self.space.and(outcome.exact, own).map_err(too_complex)?;
                if own != Set::NONE && Some(name) != class {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether membership in a set depends only on `fields`.
    fn depends_only_on(&self, set: Set, fields: &[Field]) -> bool {
        !FIELDS.into_iter().any(|field| !fields.contains(&field) && self.space.asks(set, field))
    }

    /// Returns the only field that determines the treatment, if a classifier can replace the filter.
    fn only_field(&self) -> Option<Field> {
        let sets_marks = |outcome: &Outcome| {
            let Treatment { is_dropped, dscp, cos, exp, metered, .. } = &outcome.treatment;
            *is_dropped || dscp.is_some() || cos.is_some() || exp.is_some() || metered.is_some()
        };
        let sets_none =
            |outcome: &Outcome| outcome.treatment.label.is_none() && outcome.treatment.color.is_none();
        let is_input = self.direction == "input" && self.queues.is_empty();
        if !is_input || self.outcomes.iter().any(sets_marks) || self.outcomes.iter().all(sets_none) {
            return None;
        }
        for fields in [&[Field::Dscp][..], &[Field::Cos, Field::HasCos], &[Field::Exp, Field::HasExp]] {
            if self.outcomes.iter().all(|outcome| self.depends_only_on(outcome.exact, fields)) {
                return fields.first().copied();
            }
        }
        None
    }

    /// Writes a classifier of `field`.
    fn classifier(&mut self, field: Field) -> Result<(), Missing> {
        let (kinds, bits): (&[&str], usize) = match field {
            Field::Cos => (&["ieee-802.1"], 3),
            Field::Exp => (&["exp"], 3),
            _ => (&["dscp", "dscp-ipv6"], 6),
        };
        let mut lines = Vec::new();
        for outcome in self.outcomes {
            let class = self.classes.of_label(outcome.treatment.label.unwrap_or(0));
            let loss = loss_of(outcome.treatment.color.unwrap_or(0)).name();
            for point in 0..1u128 << bits {
                let value = self.space.equals(field, point).map_err(too_complex)?;
                if self.space.and(outcome.exact, value).map_err(too_complex)? != Set::NONE {
                    let point = format!("{point:0bits$b}");
                    lines.push(format!("forwarding-class {class} loss-priority {loss} code-points {point}"));
                }
            }
        }
        for kind in kinds {
            let name = self.name;
            self.written.cos.extend(lines.iter().map(|line| format!("classifiers {kind} {name} {line}")));
            self.written.cos_unit.push(format!("classifiers {kind} {name}"));
        }
        Ok(())
    }

    /// Returns the forwarding class of a treatment: the class of its queue, or a further class of that queue
    /// for other marks.
    fn class(&mut self, treatment: &Treatment) -> String {
        let Some(queue) = treatment.queue.and_then(|place| self.queues.get(place)).cloned() else {
            return treatment.label.map(|label| self.classes.of_label(label)).unwrap_or_default();
        };
        let key = Treatment { loss: None, label: None, color: None, ..treatment.clone() };
        if let Some((_, known)) = self.treated.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        let is_first = !self.treated.iter().any(|(_, class)| *class == queue);
        let number = self.classes.queue(&queue).unwrap_or(0);
        let class = if is_first { queue } else { self.classes.variant(&queue, number) };
        self.treated.push((key, class.clone()));
        class
    }

    /// Writes the policers of the stages with meters. Returns them by stage.
    fn policers(
        &mut self,
        classes: &[String],
        notes: &mut NotesAt,
    ) -> Result<BTreeMap<usize, Policer>, Missing> {
        let mut found = BTreeMap::new();
        for (outcome, class) in self.outcomes.iter().zip(classes) {
            let Some(metered) = &outcome.treatment.metered else { continue };
            if found.contains_key(&metered.stage) {
                continue;
            }
            let Some(stage) = self.stages.get(metered.stage) else { continue };
            let Some(meter) = &stage.meter else { continue };
            if stage.shared.is_some() {
                let reason = "perhop writes a policer for each of them";
                return Err(Missing::new("meter of several classes", reason));
            }
            let moved = metered.red.queue != outcome.treatment.queue && !metered.red.is_dropped;
            let red = moved.then(|| self.class(&metered.red)).filter(|red| red != class);
            let name = format!("{}-{}", self.name, found.len() + 1);
            let written = policer(&name, meter, metered, red.as_deref(), notes)?;
            self.written.firewall.extend(written.lines.clone());
            found.insert(metered.stage, written);
        }
        if !found.is_empty() {
            let reason = "the filter of each family has a bucket of its own";
            notes.report("a meter of IPv4 and IPv6 packets together", reason);
        }
        Ok(found)
    }

    /// Returns the terms of a family.
    fn terms(
        &mut self,
        version: Version,
        classes: &[String],
        policers: &BTreeMap<usize, Policer>,
        notes: &mut NotesAt,
    ) -> Result<Vec<Term>, Missing> {
        let mut conditions = Vec::new();
        for outcome in self.outcomes {
            conditions.push(self.conditions(outcome, version)?);
        }
        let apart = self.split_meters(&conditions);
        let goes_on = !apart.is_empty() && !self.queues.is_empty();
        if goes_on {
            // Packets continue to the policers, so each term must match only its own packets.
            conditions.clear();
            for outcome in self.outcomes {
                let mut own = Conditions { space: self.space, labels: &self.classes.labels };
                conditions.push(own.of_set(outcome.exact, version)?);
            }
        } else if let Some(last) = conditions.last_mut().filter(|last| !last.is_empty()) {
            *last = vec![Vec::new()];
        }
        let mut terms = Vec::new();
        for ((outcome, class), own) in self.outcomes.iter().zip(classes).zip(&conditions) {
            let policer = outcome.treatment.metered.as_ref().and_then(|own| policers.get(&own.stage));
            for from in own {
                if self.queues.is_empty() {
                    terms.extend(marked(version, from, &outcome.treatment, class, policer, notes));
                } else {
                    let is_apart =
                        outcome.treatment.metered.as_ref().is_some_and(|own| apart.contains(&own.stage));
                    let action = policer.filter(|_| !is_apart).map(|own| own.action.clone());
                    let then = classified(&outcome.treatment, class, action, is_apart);
                    terms.push((from.clone(), then));
                }
            }
        }
        if goes_on {
            terms.extend(self.shared_policers(&apart, classes, policers));
            terms.push((Vec::new(), vec!["accept".to_owned()]));
        } else if self.queues.is_empty() && !apart.is_empty() {
            notes.report("a meter of several terms", "a policer of Junos has a bucket for each term");
        }
        Ok(terms)
    }

    /// Returns the conditions of an outcome with the fewest terms and conditions.
    fn conditions(&mut self, outcome: &Outcome, version: Version) -> Result<Vec<From>, Missing> {
        let mut own = Conditions { space: self.space, labels: &self.classes.labels };
        let loose = own.of_set(outcome.loose, version);
        let exact = own.of_set(outcome.exact, version);
        let size = |terms: &Vec<From>| terms.iter().map(|from| from.len() + 1).sum::<usize>();
        match (loose, exact) {
            // If no packet of the family has this outcome, no term is needed.
            (_, Ok(exact)) if exact.is_empty() => Ok(exact),
            (Ok(loose), Ok(exact)) if size(&exact) < size(&loose) => Ok(exact),
            (Ok(loose), _) => Ok(loose),
            (Err(_), exact) => exact,
        }
    }

    /// Returns the stages whose meters measure packets of several terms.
    fn split_meters(&self, conditions: &[Vec<From>]) -> Vec<usize> {
        let mut terms: BTreeMap<usize, usize> = BTreeMap::new();
        for (outcome, own) in self.outcomes.iter().zip(conditions) {
            if let Some(metered) = &outcome.treatment.metered {
                *terms.entry(metered.stage).or_default() += own.len();
            }
        }
        terms.into_iter().filter(|(_, count)| *count > 1).map(|(stage, _)| stage).collect()
    }

    /// Returns the terms that police the packets of several classes together.
    fn shared_policers(
        &self,
        stages: &[usize],
        classes: &[String],
        policers: &BTreeMap<usize, Policer>,
    ) -> Vec<Term> {
        let mut terms = Vec::new();
        for stage in stages {
            let Some(policer) = policers.get(stage) else { continue };
            let is_own = |metered: &Metered| metered.stage == *stage;
            let own = self.outcomes.iter().zip(classes);
            let own = own.filter(|(outcome, _)| outcome.treatment.metered.as_deref().is_some_and(is_own));
            let mut from: From = own.map(|(_, class)| format!("forwarding-class {class}")).collect();
            from.sort_unstable();
            from.dedup();
            terms.push((from, vec![policer.action.clone(), "accept".to_owned()]));
        }
        terms
    }

    fn add_terms(&mut self, version: Version, terms: &[Term]) {
        let head = format!("family {} filter {}", version.family(), self.name);
        for (number, (from, then)) in (1..).zip(terms) {
            let term = format!("{head} term {number}");
            self.written.firewall.extend(from.iter().map(|line| format!("{term} from {line}")));
            self.written.firewall.extend(then.iter().map(|line| format!("{term} then {line}")));
        }
        let (family, direction, name) = (version.family(), self.direction, self.name);
        self.written.unit.push(format!("family {family} filter {direction} {name}"));
    }

    /// Writes the rewrite rules for the marks of treatments, by class and loss priority.
    fn rewrites(&mut self, policers: &BTreeMap<usize, Policer>) {
        let mut rows: BTreeMap<(String, &'static str), Treatment> = BTreeMap::new();
        for outcome in self.outcomes {
            let treatment = &outcome.treatment;
            if treatment.is_dropped {
                continue;
            }
            let class = self.class(treatment);
            let Some(metered) = &treatment.metered else {
                let losses = match treatment.loss {
                    Some(loss) => vec![loss_of(loss)],
                    None => LossPriority::ALL.to_vec(),
                };
                for loss in losses {
                    rows.insert((class.clone(), loss.name()), treatment.clone());
                }
                continue;
            };
            rows.insert((class.clone(), LossPriority::Low.name()), treatment.clone());
            let Some(policer) = policers.get(&metered.stage) else { continue };
            let yellow = metered.yellow.as_ref().zip(policer.yellow);
            let red = policer.red.map(|loss| (&metered.red, loss));
            for (other, loss) in yellow.into_iter().chain(red).filter(|(other, _)| !other.is_dropped) {
                let moved = other.queue != treatment.queue;
                let class = if moved { self.class(other) } else { class.clone() };
                rows.insert((class, loss.name()), other.clone());
            }
        }
        let kinds: [Rewrite; 3] = [
            (&["dscp", "dscp-ipv6"], 6, |own| own.dscp),
            (&["ieee-802.1"], 3, |own| own.cos),
            (&["exp"], 3, |own| own.exp),
        ];
        for (words, bits, mark) in kinds {
            let marks: Vec<String> = rows
                .iter()
                .filter_map(|((class, loss), own)| {
                    let value = mark(own)?;
                    Some(format!("forwarding-class {class} loss-priority {loss} code-point {value:0bits$b}"))
                })
                .collect();
            if marks.is_empty() {
                continue;
            }
            let name = self.name;
            for kind in words {
                self.written
                    .cos
                    .extend(marks.iter().map(|mark| format!("rewrite-rules {kind} {name} {mark}")));
                self.written.cos_unit.push(format!("rewrite-rules {kind} {name}"));
            }
        }
    }
}
