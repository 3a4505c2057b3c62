//! Reports classes that no packet reaches, because earlier classes match all packets of the class. The search
//! uses sets of packets (`perhop_analysis`). Its result is exact if packets in perhop have all fields that
//! the classes match.

use std::collections::BTreeMap;

use perhop_analysis::{FirstMatch, PacketSpace, Set, TooComplex};
use perhop_device::intent::Condition;
use perhop_lint::Diagnostic;

use super::reached::are_all_reached;
use crate::ast::{
    AccessList, AclAction, AclEntry, CLASS_DEFAULT, Configuration, Criterion, Polarity, PolicyClass,
    PolicyMap,
};
use crate::convert::context::Context;
use crate::convert::intent::condition::{of_class, of_entry};
use crate::convert::wire::Tags;
use crate::rules;
use crate::syntax::application::ip_protocol;

/// Limit on the classes named in a message.
const MOST_NAMED: usize = 3;
/// Limit on the nodes of the sets that are kept for the next policy: half a megabyte.
const MOST_KEPT: usize = 20_000;
/// Limit on the compared pairs of classes in one policy: enough for 2,000 classes, twice the limit of IOS-XE.
const MOST_PAIRS: usize = 2_000_000;
/// Limit on the overlaps for which the simplest packet is searched as an example.
const MOST_PLAIN: usize = 50;

impl Context<'_> {
    /// Reports classes that no packet reaches.
    pub(in crate::convert) fn shadowed_classes(&mut self) {
        let names: Vec<String> =
            self.configuration.interfaces.iter().map(|interface| interface.name.clone()).collect();
        let mut classes = Classes {
            configuration: self.configuration,
            space: PacketSpace::new(&names),
            matching: BTreeMap::new(),
            overlaps: 0,
            comparisons: 0,
        };
        self.found.extend(classes.hidden_parts());
        self.set_comparisons = classes.comparisons;
    }
}

fn too_complex(line: usize, what: &str) -> Diagnostic {
    Diagnostic::new(
        &rules::CONDITIONS_TOO_COMPLEX,
        line,
        format!("{what} and later ones: {TooComplex}"),
        "perhop runs the policy, but does not check whether an earlier class or entry hides a later class or \
         entry",
    )
}

/// The class-maps of a configuration as sets of packets.
pub(super) struct Classes<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) space: PacketSpace,
    /// The sets by class name; policies share classes.
    matching: BTreeMap<&'a str, Set>,
    /// Number of overlaps so far.
    overlaps: usize,
    /// Number of comparisons so far.
    comparisons: u64,
}

impl<'a> Classes<'a> {
    /// Returns findings for hidden classes of policies and hidden entries of access lists. If the sets become
    /// too complex, reports this and ends the search.
    fn hidden_parts(&mut self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for policy in self.configuration.policy_maps.iter() {
            self.make_room();
            if let Ok(hidden) = self.shadowed(policy) {
                found.extend(hidden);
            } else {
                found.push(too_complex(policy.line, &format!("policy-map {}", policy.name)));
                return found;
            }
        }
        for list in self.configuration.access_lists.iter() {
            if are_all_reached(self.configuration, list) {
                continue;
            }
            self.make_room();
            if let Ok(hidden) = self.unreached_entries(list) {
                found.extend(hidden);
            } else {
                found.push(too_complex(list.line, &format!("access list {}", list.name)));
                return found;
            }
        }
        found
    }

    /// Discards the sets if they have many nodes. Small sets fit into the processor's cache, and most
    /// policies share no set.
    fn make_room(&mut self) {
        if self.space.nodes() > MOST_KEPT {
            self.space = PacketSpace::new(self.space.interfaces());
            self.matching.clear();
        }
    }

    fn shadowed(&mut self, policy: &'a PolicyMap) -> Result<Vec<Diagnostic>, TooComplex> {
        let mut found = Vec::new();
        let (mut earlier, mut first): (Vec<(&str, Set)>, _) = (Vec::new(), FirstMatch::new());
        let mut hidden = Vec::new();
        if policy.classes.len().pow(2) / 2 > MOST_PAIRS {
            return Err(TooComplex);
        }
        for class in &policy.classes {
            if class.name == CLASS_DEFAULT {
                continue;
            }
            if !is_shown(self.configuration, &class.name) {
                found.extend(self.hidden_entries(class, &earlier, &mut first)?);
                continue;
            }
            let matches = self.matches(&class.name)?;
            let is_hidden = matches != Set::NONE && first.covers(&mut self.space, matches)?;
            if !is_hidden && let Some(overlap) = self.overlap(class, matches, &earlier)? {
                found.push(overlap);
            }
            if !is_hidden {
                found.extend(self.hidden_entries(class, &earlier, &mut first)?);
            }
            if is_hidden {
                hidden.push((class.name.as_str(), matches));
                let by = self.hiding(matches, &earlier)?;
                let witness = self.space.witness(matches)?;
                let example = witness.map_or_else(String::new, |packet| format!(", for example {packet}"));
                found.push(Diagnostic::new(
                    &rules::CLASS_SHADOWED,
                    class.line,
                    format!(
                        "no packet reaches class {name} of policy-map {}: {by} all packets that class {name} \
                         matches{example}",
                        policy.name,
                        name = class.name
                    ),
                    "a packet belongs to the first class that matches; put the narrower class first",
                ));
            }
            earlier.push((&class.name, matches));
            first.push(&self.space, matches);
        }
        self.comparisons += first.comparisons();
        found.extend(self.wide_class(policy, &hidden, &earlier)?);
        Ok(found)
    }

    /// Reports a class that alone hides several other classes. Such a class is at the wrong place or matches
    /// too many packets.
    fn wide_class(
        &mut self,
        policy: &PolicyMap,
        hidden: &[(&str, Set)],
        earlier: &[(&str, Set)],
    ) -> Result<Option<Diagnostic>, TooComplex> {
        for (name, set) in earlier {
            let mut behind = Vec::new();
            for (other, matches) in hidden.iter().filter(|(other, _)| other != name) {
                if self.space.minus(*matches, *set)? == Set::NONE {
                    behind.push(*other);
                }
            }
            let class = policy.classes.iter().find(|class| class.name == *name);
            if let Some(class) = class.filter(|_| behind.len() > 1) {
                return Ok(Some(Diagnostic::new(
                    &rules::CLASS_SHADOWED,
                    class.line,
                    format!(
                        "class {name} of policy-map {} matches all packets of {} later classes: {}",
                        policy.name,
                        behind.len(),
                        behind.join(", ")
                    ),
                    "a packet belongs to the first class that matches; put the narrower classes first",
                )));
            }
        }
        Ok(None)
    }

    /// Reports an earlier class that matches some packets of `class`, if neither class matches all packets of
    /// the other.
    fn overlap(
        &mut self,
        class: &PolicyClass,
        matches: Set,
        earlier: &[(&str, Set)],
    ) -> Result<Option<Diagnostic>, TooComplex> {
        self.comparisons += earlier.len() as u64;
        for (other, set) in earlier {
            let both = self.space.and(matches, *set)?;
            if both == Set::NONE || both == *set || both == matches {
                continue;
            }
            // The search for the simplest packet takes time, so it is limited to the first overlaps.
            self.overlaps += 1;
            let witness = match self.overlaps {
                ..=MOST_PLAIN => self.space.witness(both)?,
                _ => self.space.any_packet(both)?,
            };
            if let Some(witness) = witness {
                return Ok(Some(Diagnostic::new(
                    &rules::CLASSES_OVERLAP,
                    class.line,
                    format!("classes {other} and {} both match {witness}", class.name),
                    format!("the packet belongs to {other}, because {other} is before {}", class.name),
                )));
            }
        }
        Ok(None)
    }

    /// Reports entries of `list` that no packet reaches.
    fn unreached_entries(&mut self, list: &AccessList) -> Result<Vec<Diagnostic>, TooComplex> {
        let (mut found, mut earlier) = (Vec::new(), FirstMatch::new());
        for entry in &list.entries {
            let set = self.set(of_entry(self.configuration, entry))?;
            if set != Set::NONE && earlier.covers(&mut self.space, set)? {
                found.extend(self.unreached_entry(list, entry.line, set, &mut earlier)?);
            }
            earlier.push(&self.space, set);
        }
        self.comparisons += earlier.comparisons();
        Ok(found)
    }

    fn unreached_entry(
        &mut self,
        list: &AccessList,
        line: usize,
        set: Set,
        earlier: &mut FirstMatch,
    ) -> Result<Option<Diagnostic>, TooComplex> {
        let Some(witness) = self.space.witness(set)? else { return Ok(None) };
        let takes = earlier.first_with(&self.space, &witness.packet)?;
        let by = takes.map_or(0, |place| list.entries[place].line);
        Ok(Some(Diagnostic::new(
            &rules::ACCESS_ENTRY_SHADOWED,
            line,
            format!(
                "no packet reaches this entry of access list {}: a packet such as `{witness}` matches line {by} \
                 first",
                list.name
            ),
            "the router applies the first entry that matches; put the narrower entry first",
        )))
    }

    pub(super) fn set(&mut self, condition: Condition) -> Result<Set, TooComplex> {
        match condition {
            Condition::Always => Ok(Set::ALL),
            Condition::Never => Ok(Set::NONE),
            Condition::When(config) => self.space.taken_by(&config),
        }
    }

    fn matches(&mut self, name: &'a str) -> Result<Set, TooComplex> {
        if let Some(known) = self.matching.get(name) {
            return Ok(*known);
        }
        let condition = of_class(self.configuration, name, Tags::default());
        let set = self.set(condition.unwrap_or(Condition::Never))?;
        self.matching.insert(name, set);
        Ok(set)
    }

    /// Returns the beginning of a sentence about the `earlier` classes that match packets of `matches`:
    /// subject and verb.
    fn hiding(&mut self, matches: Set, earlier: &[(&str, Set)]) -> Result<String, TooComplex> {
        let mut names = Vec::new();
        for (name, set) in earlier {
            if self.space.minus(matches, *set)? == Set::NONE {
                return Ok(format!("the earlier class {name} matches"));
            }
            if self.space.and(matches, *set)? != Set::NONE {
                names.push(*name);
            }
        }
        let more = if names.len() > MOST_NAMED { " and others" } else { "" };
        names.truncate(MOST_NAMED);
        Ok(format!("the earlier classes {}{more} together match", names.join(", ")))
    }
}

/// Whether the set of the packets of class `name` is exact for every interface. A set that is not exact may
/// be too large, and would then hide other classes wrongly.
fn is_shown(configuration: &Configuration, name: &str) -> bool {
    let Some(map) = configuration.class_maps.get(name) else { return false };
    map.statements.iter().all(|statement| match &statement.criterion {
        Criterion::ClassMap(inner) => is_shown(configuration, inner),
        // A VLAN criterion matches on some interfaces only. The router recognizes applications by their
        // content, but perhop recognizes them by their ports.
        Criterion::Vlan(_) | Criterion::VlanInner(_) | Criterion::CosInner(_) => false,
        Criterion::Protocol(name) => ip_protocol(name).is_some(),
        Criterion::AccessGroup(list) => {
            configuration.access_lists.get(list).is_some_and(|list| is_known(list, statement.polarity))
        }
        criterion => statement.polarity == Polarity::Is || criterion.unseen().is_none(),
    })
}

/// Whether every packet that matches a statement with this list in perhop also matches it on the router.
pub(super) fn is_known(list: &AccessList, polarity: Polarity) -> bool {
    let narrows = |entry: &AclEntry| entry.action == AclAction::Deny || polarity == Polarity::Not;
    list.entries.iter().all(|entry| entry.unseen.is_none() || !narrows(entry))
}
