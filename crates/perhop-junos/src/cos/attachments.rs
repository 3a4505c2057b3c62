//! `[edit class-of-service interfaces]`: the attachments to ports and units.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::At;

use super::classes::Classes;
use super::classifiers::Classifiers;
use super::code_points::CodePoints;
use super::profiles::Profile;
use super::rewrites::Rewrites;
use super::schedulers::Schedulers;
use crate::context::{Context, Word};
use crate::tree::NodeId;
use crate::values::number;
use crate::wildcard::{fits, is_pattern, literal_beginning, specificity};

/// The attachments of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attachments {
    /// The attachments, by the part of the interface name before the first wildcard. This index limits the
    /// comparisons, because there can be as many attachments as interfaces and units.
    entries: BTreeMap<String, Entries>,
    /// The names of interfaces without wildcards.
    names: BTreeSet<String>,
    /// The attachments to sets of units.
    sets: BTreeMap<String, Attached>,
}

/// The attachments whose interfaces begin with the same characters.
#[derive(Clone, Debug, Default)]
struct Entries {
    interfaces: Vec<Entry>,
    units: BTreeMap<String, Vec<Entry>>,
    /// The attachments to units whose number has wildcards.
    unit_patterns: Vec<Entry>,
}

impl Entries {
    /// Iterates over the attachments that can apply to an interface, or to a unit.
    fn candidates(&self, unit: Option<&str>) -> impl Iterator<Item = &Entry> {
        let (interfaces, patterns) = match unit {
            None => (Some(&self.interfaces), None),
            Some(_) => (None, Some(&self.unit_patterns)),
        };
        let own = unit.and_then(|unit| self.units.get(unit));
        [interfaces, own, patterns].into_iter().flatten().flatten()
    }

    fn all(&self) -> impl Iterator<Item = &Entry> {
        self.interfaces.iter().chain(self.units.values().flatten()).chain(&self.unit_patterns)
    }
}

/// The definitions that attachments name.
#[derive(Clone, Copy)]
pub(super) struct Defined<'d> {
    pub(super) classes: &'d Classes,
    pub(super) classifiers: &'d Classifiers,
    pub(super) rewrites: &'d Rewrites,
    pub(super) schedulers: &'d Schedulers,
    pub(super) profiles: &'d BTreeMap<String, Profile>,
}

/// The attachments to the interfaces that match a name or a pattern.
#[derive(Clone, Debug)]
struct Entry {
    /// Its place in the text.
    place: usize,
    interface: String,
    /// `None` for the interface itself.
    unit: Option<String>,
    attached: Attached,
}

/// Attachments to one interface or unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attached {
    pub(crate) scheduler_map: Option<At<String>>,
    /// Bits per second.
    pub(crate) shaping_rate: Option<At<u64>>,
    /// Bytes.
    pub(crate) shaping_burst: Option<At<u64>>,
    pub(crate) classifiers: Vec<(CodePoints, At<String>)>,
    pub(crate) rewrites: Vec<(CodePoints, At<String>)>,
    /// The class of all packets.
    pub(crate) forwarding_class: Option<At<String>>,
    /// The profile with the rates and queues of the node.
    pub(crate) profile: Option<At<String>>,
    /// The profile with the rates and queues of units that have no profile.
    pub(crate) remaining: Option<At<String>>,
    /// A statement that changes the scheduling and that perhop does not model.
    pub(crate) hierarchy: Option<At<String>>,
}

impl Attached {
    /// Returns the lines of the attachments.
    pub(crate) fn lines(&self) -> Vec<usize> {
        let names = [&self.scheduler_map, &self.forwarding_class, &self.profile, &self.remaining];
        let names = names.into_iter().flatten().map(|at| at.line);
        let lists = self.classifiers.iter().chain(&self.rewrites).map(|(_, at)| at.line);
        let rates = [self.shaping_rate, self.shaping_burst].into_iter().flatten().map(|at| at.line);
        names.chain(lists).chain(rates).collect()
    }

    /// Reports attachments of undefined names, and removes them.
    fn keep_defined(&mut self, context: &mut Context, node: NodeId, defined: Defined) {
        let mut is_defined = |at: &At<String>, path: &[&str], kind: &str, exists: bool| {
            if !exists {
                let of_name = [path, &[at.value.as_str()]].concat();
                context.undefined(context.tree.at(node, &of_name).unwrap_or(node), kind, &at.value);
            }
            exists
        };
        self.scheduler_map.take_if(|at| {
            let exists = defined.schedulers.maps.contains_key(&at.value);
            !is_defined(at, &["scheduler-map"], "scheduler map", exists)
        });
        self.forwarding_class.take_if(|at| {
            let exists = defined.classes.label(&at.value).is_some();
            !is_defined(at, &["forwarding-class"], "forwarding class", exists)
        });
        for (key, own) in [
            ("output-traffic-control-profile", &mut self.profile),
            ("output-traffic-control-profile-remaining", &mut self.remaining),
        ] {
            own.take_if(|at| {
                let exists = defined.profiles.contains_key(&at.value);
                !is_defined(at, &[key], "traffic-control profile", exists)
            });
        }
        self.classifiers.retain(|(kind, at)| {
            let exists = defined.classifiers.exists(*kind, &at.value);
            is_defined(at, &["classifiers", kind.word()], "classifier", exists)
        });
        self.rewrites.retain(|(kind, at)| {
            let exists = defined.rewrites.table(*kind, &at.value, defined.classes).is_some();
            is_defined(at, &["rewrite-rules", kind.word()], "rewrite rule", exists)
        });
    }

    /// Returns these attachments, completed by the attachments of `other`.
    pub(crate) fn or(self, other: &Attached) -> Attached {
        let list = |own: Vec<(CodePoints, At<String>)>, others: &[(CodePoints, At<String>)]| {
            let mut list = own;
            for (kind, name) in others {
                if !list.iter().any(|(known, _)| known == kind) {
                    list.push((*kind, name.clone()));
                }
            }
            list
        };
        Attached {
            scheduler_map: self.scheduler_map.or_else(|| other.scheduler_map.clone()),
            shaping_rate: self.shaping_rate.or(other.shaping_rate),
            shaping_burst: self.shaping_burst.or(other.shaping_burst),
            classifiers: list(self.classifiers, &other.classifiers),
            rewrites: list(self.rewrites, &other.rewrites),
            forwarding_class: self.forwarding_class.or_else(|| other.forwarding_class.clone()),
            profile: self.profile.or_else(|| other.profile.clone()),
            remaining: self.remaining.or_else(|| other.remaining.clone()),
            hierarchy: self.hierarchy.or_else(|| other.hierarchy.clone()),
        }
    }
}

impl Attachments {
    /// Returns the attachments of an interface, or of a unit. If several entries set the same statement, the
    /// entry with the most specific name applies.
    pub(crate) fn applied(&self, interface: &str, unit: Option<&str>) -> Attached {
        let is_meant = |entry: &&Entry| {
            let is_interface = entry.interface == "all" || fits(&entry.interface, interface);
            let is_unit = match (&entry.unit, unit) {
                (None, None) => true,
                (Some(pattern), Some(unit)) => fits(pattern, unit),
                _ => false,
            };
            is_interface && is_unit
        };
        let rank = |entry: &&Entry| {
            let letters = if entry.interface == "all" { 0 } else { 1 + specificity(&entry.interface) };
            (entry.interface == interface, letters, entry.unit.as_deref().map_or(0, specificity))
        };
        let beginnings = (0..=interface.len()).filter_map(|end| self.entries.get(interface.get(..end)?));
        let mut entries: Vec<&Entry> =
            beginnings.flat_map(|entries| entries.candidates(unit)).filter(is_meant).collect();
        entries.sort_by_key(|entry| (std::cmp::Reverse(rank(entry)), entry.place));
        entries.into_iter().fold(Attached::default(), |found, entry| found.or(&entry.attached))
    }

    /// Returns the attachments to an interface and its units, without entries whose names have wildcards.
    pub(crate) fn of_name(&self, interface: &str) -> Attached {
        let all = self.entries.get(interface).into_iter().flat_map(Entries::all);
        let mut own: Vec<&Entry> = all.filter(|entry| entry.interface == interface).collect();
        own.sort_by_key(|entry| entry.place);
        own.into_iter().fold(Attached::default(), |found, entry| found.or(&entry.attached))
    }

    /// Returns the attachments to a set of units.
    pub(crate) fn of_set(&self, name: &str) -> Option<&Attached> {
        self.sets.get(name)
    }

    /// Iterates over all attachments.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Attached> {
        let entries = self.entries.values().flat_map(Entries::all).map(|entry| &entry.attached);
        entries.chain(self.sets.values())
    }

    /// Iterates over the names of interfaces without wildcards.
    pub(crate) fn named_interfaces(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn add(&mut self, entry: Entry) {
        let is_named = entry.interface != "all" && !is_pattern(&entry.interface);
        if is_named {
            self.names.insert(entry.interface.clone());
        }
        let beginning = if entry.interface == "all" { "" } else { literal_beginning(&entry.interface) };
        let entries = self.entries.entry(beginning.to_owned()).or_default();
        match &entry.unit {
            None => entries.interfaces.push(entry),
            Some(unit) if is_pattern(unit) => entries.unit_patterns.push(entry),
            Some(unit) => entries.units.entry(unit.clone()).or_default().push(entry),
        }
    }
}

pub(super) fn read(context: &mut Context, cos: NodeId, defined: Defined) -> Attachments {
    let mut found = Attachments::default();
    let mut places = 0..;
    let mut entry = |interface: &str, unit: Option<String>, attached: Attached| Entry {
        place: places.next().unwrap_or_default(),
        interface: interface.to_owned(),
        unit,
        attached,
    };
    for interface in context.items(cos, "interfaces") {
        if interface.text == "interface-set" {
            for set in context.names(interface.node) {
                let attached = attached(context, set.node, defined);
                found.sets.insert(set.text, attached);
            }
            continue;
        }
        let attached = attached(context, interface.node, defined);
        let (name, unit) = split_unit(&interface.text);
        found.add(entry(name, unit.map(str::to_owned), attached));
        for unit in context.items(interface.node, "unit") {
            let attached = self::attached(context, unit.node, defined);
            found.add(entry(&interface.text, Some(unit.text), attached));
        }
    }
    found
}

/// Splits `ge-0/0/0.5` into interface and unit.
pub(crate) fn split_unit(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('.') {
        Some((interface, unit)) if unit == "*" || unit.chars().all(|c| c.is_ascii_digit()) => {
            (interface, Some(unit))
        }
        _ => (name, None),
    }
}

fn attached(context: &mut Context, node: NodeId, defined: Defined) -> Attached {
    let mut found = Attached::default();
    for word in context.keywords(node) {
        match word.text.as_str() {
            "scheduler-map" => found.scheduler_map = name(context, node, "scheduler-map"),
            "shaping-rate" => shaping(context, &word, &mut found),
            "classifiers" => {
                context.modeled(word.node);
                found.classifiers = by_kind(context, &word);
            }
            "rewrite-rules" => {
                context.modeled(word.node);
                found.rewrites = by_kind(context, &word);
            }
            "forwarding-class" => found.forwarding_class = name(context, node, "forwarding-class"),
            key @ "output-traffic-control-profile" => found.profile = name(context, node, key),
            key @ "output-traffic-control-profile-remaining" => found.remaining = name(context, node, key),
            "slice" | "forwarding-class-set" => {
                let note = "hierarchical scheduling";
                context.not_modeled(word.node, note);
                found.hierarchy = Some(At::new(word.line, word.text.clone()));
            }
            "input-traffic-control-profile"
            | "input-traffic-control-profile-remaining"
            | "input-scheduler-map"
            | "input-shaping-rate" => {
                context.not_modeled(word.node, "scheduling of arriving packets");
            }
            "scheduler-map-chassis" => context.not_modeled(word.node, "scheduling towards the fabric"),
            "member-link-scheduler" => context.not_modeled(word.node, "scheduling of the links of a bundle"),
            "congestion-notification-profile" => context.not_modeled(word.node, "priority flow control"),
            "excess-bandwidth-share" | "internal-node" => {
                context.not_modeled(word.node, "hierarchical scheduling");
            }
            "loss-priority-maps"
            | "loss-priority-rewrites"
            | "translation-table"
            | "fragmentation-map"
            | "forwarding-class-exp" => {
                context.not_modeled(word.node, "maps of loss priorities, ToS translation and fragments");
            }
            "no-rewrite" => context.not_modeled(word.node, "interfaces without rewrite rules"),
            "logical-interface-aggregate-statistics" | "exclude-queue-overhead-bytes" | "irb" => {
                context.irrelevant(word.node, "counters");
            }
            "description" => context.irrelevant(word.node, ""),
            _ => {}
        }
    }
    found.keep_defined(context, node, defined);
    found
}

fn name(context: &mut Context, node: NodeId, key: &str) -> Option<At<String>> {
    context.value(node, key).map(|word| At::new(word.line, word.text))
}

fn shaping(context: &mut Context, word: &Word, found: &mut Attached) {
    context.modeled(word.node);
    let words = context.flat(word.node);
    let mut is_burst = false;
    for value in &words {
        context.modeled(value.node);
        match value.text.as_str() {
            "burst-size" => is_burst = true,
            "rate" => {}
            text => match number(text).filter(|number| *number > 0) {
                Some(number) if std::mem::take(&mut is_burst) => {
                    found.shaping_burst = Some(At::new(value.line, number));
                }
                Some(number) => found.shaping_rate = Some(At::new(value.line, number)),
                None => context.invalid(value, "shaping-rate"),
            },
        }
    }
}

fn by_kind(context: &mut Context, word: &Word) -> Vec<(CodePoints, At<String>)> {
    let mut found = Vec::new();
    for kind in CodePoints::ALL {
        let Some(statement) = context.tree.child(word.node, kind.word()) else { continue };
        context.modeled(statement);
        let Some(value) = context.value(word.node, kind.word()) else { continue };
        for option in context.keywords(value.node) {
            match option.text.as_str() {
                "protocol" => protocols(context, kind, option.node),
                "vlan-tag" => context.not_modeled(option.node, "rewriting of several tags"),
                _ => {}
            }
        }
        found.push((kind, At::new(value.line, value.text)));
    }
    found
}

/// Reads the protocols to which a rewrite rule applies. `mpls-any` means all packets with labels, and is the
/// default (printed by `show class-of-service interface`: `exp (mpls-any)`).
fn protocols(context: &mut Context, kind: CodePoints, node: NodeId) {
    let names = context.keywords(node);
    if kind == CodePoints::Exp && names.iter().all(|name| name.text == "mpls-any") {
        context.tree.mark_deep(node, perhop_lint::LineState::Modelled, "");
    } else {
        context.not_modeled(node, "rewrite rules of single protocols");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(interface: &str, map: &str) -> Entry {
        let scheduler_map = Some(At::new(1, map.to_owned()));
        let attached = Attached { scheduler_map, ..Attached::default() };
        Entry { place: 0, interface: interface.to_owned(), unit: None, attached }
    }

    #[test]
    fn the_most_specific_name_wins() {
        let mut all = Attachments::default();
        for (interface, map) in [("all", "a"), ("ge-*", "b"), ("ge-0/0/*", "c"), ("ge-0/0/1", "d")] {
            all.add(entry(interface, map));
        }
        for (interface, map) in [("xe-0/0/0", "a"), ("ge-1/0/0", "b"), ("ge-0/0/0", "c"), ("ge-0/0/1", "d")] {
            assert_eq!(all.applied(interface, None).scheduler_map.unwrap().value, map, "{interface}");
        }
    }
}
