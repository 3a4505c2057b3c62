//! Classes of policies that get no packet, because those before them take all that they match.
//!
//! Exact, by sets of packets (`perhop_analysis`), where perhop's packets show all that the classes ask for.

use std::collections::BTreeMap;

use perhop_analysis::{PacketSpace, Set, TooComplex};

use super::Context;
use super::condition::{Condition, DEEPEST, Tags, of_class};
use crate::ast::{
    AccessList, AclAction, AclEntry, CLASS_DEFAULT, Configuration, Criterion, Polarity, PolicyMap,
};
use crate::diagnostic::Diagnostic;
use crate::syntax::application::ip_protocol;

/// Classes named in a message; more make it no clearer.
const MOST_NAMED: usize = 3;

impl Context<'_> {
    /// Warns of classes that get no packet.
    pub(super) fn shadowed_classes(&mut self) {
        let names: Vec<String> =
            self.configuration.interfaces.iter().map(|interface| interface.name.clone()).collect();
        let mut classes = Classes {
            configuration: self.configuration,
            space: PacketSpace::new(&names),
            matching: BTreeMap::new(),
        };
        for policy in self.configuration.policy_maps.iter() {
            let Ok(found) = classes.shadowed(policy) else {
                self.found.push(Diagnostic::warning(
                    policy.line,
                    format!("policy-map {} and those after it: {TooComplex}", policy.name),
                    "perhop runs them, and does not check whether a class hides a later one",
                ));
                return;
            };
            self.found.extend(found);
        }
    }
}

/// The class-maps of a configuration as sets of packets.
struct Classes<'a> {
    configuration: &'a Configuration,
    space: PacketSpace,
    /// By name, as policies share them.
    matching: BTreeMap<&'a str, Set>,
}

impl<'a> Classes<'a> {
    fn shadowed(&mut self, policy: &'a PolicyMap) -> Result<Vec<Diagnostic>, TooComplex> {
        let mut found = Vec::new();
        let mut earlier: Vec<(&str, Set)> = Vec::new();
        let mut left = Set::ALL;
        for class in &policy.classes {
            if class.name == CLASS_DEFAULT || !is_shown(self.configuration, &class.name) {
                continue;
            }
            let matches = self.matches(&class.name)?;
            if matches != Set::NONE && self.space.and(matches, left)? == Set::NONE {
                let by = self.hiding(matches, &earlier)?;
                let witness = self.space.witness(matches)?;
                let example = witness.map_or_else(String::new, |packet| format!("; for example {packet}"));
                found.push(Diagnostic::warning(
                    class.line,
                    format!(
                        "class {} of policy-map {} gets no packet: {by} before it takes all that it matches{example}",
                        class.name, policy.name
                    ),
                    "a packet belongs to the first class that matches; put the narrower class first",
                ));
            }
            left = self.space.minus(left, matches)?;
            earlier.push((&class.name, matches));
        }
        Ok(found)
    }

    fn matches(&mut self, name: &'a str) -> Result<Set, TooComplex> {
        if let Some(known) = self.matching.get(name) {
            return Ok(*known);
        }
        let set = match of_class(self.configuration, name, Tags::default()) {
            Some(Condition::Always) => Set::ALL,
            None | Some(Condition::Never) => Set::NONE,
            Some(Condition::When(config)) => self.space.taken_by(&config)?,
        };
        self.matching.insert(name, set);
        Ok(set)
    }

    /// Which of the `earlier` classes take packets of `matches`, in words.
    fn hiding(&mut self, matches: Set, earlier: &[(&str, Set)]) -> Result<String, TooComplex> {
        let mut names = Vec::new();
        for (name, set) in earlier {
            if self.space.minus(matches, *set)? == Set::NONE {
                return Ok((*name).to_owned());
            }
            if self.space.and(matches, *set)? != Set::NONE {
                names.push(*name);
            }
        }
        let more = if names.len() > MOST_NAMED { " and others" } else { "" };
        names.truncate(MOST_NAMED);
        Ok(format!("what stands ({}{more})", names.join(", ")))
    }
}

/// Whether what class `name` matches is known exactly, whatever the interface: otherwise its set may be too
/// large, and hide others by mistake.
fn is_shown(configuration: &Configuration, name: &str) -> bool {
    is_shown_to(configuration, name, DEEPEST)
}

fn is_shown_to(configuration: &Configuration, name: &str, depth: usize) -> bool {
    let Some(map) = configuration.class_maps.get(name) else { return false };
    map.statements.iter().all(|statement| match &statement.criterion {
        Criterion::ClassMap(inner) => depth > 0 && is_shown_to(configuration, inner, depth - 1),
        // By the tags of an interface; by content, of which ports are a guess.
        Criterion::Vlan(_) | Criterion::VlanInner(_) | Criterion::CosInner(_) => false,
        Criterion::Protocol(name) => ip_protocol(name).is_some(),
        Criterion::AccessGroup(list) => {
            configuration.access_lists.get(list).is_some_and(|list| is_known(list, statement.polarity))
        }
        criterion => statement.polarity == Polarity::Is || criterion.unseen().is_none(),
    })
}

/// Whether perhop finds no packet in a statement with this list that the router does not.
fn is_known(list: &AccessList, polarity: Polarity) -> bool {
    let narrows = |entry: &AclEntry| entry.action == AclAction::Deny || polarity == Polarity::Not;
    list.entries.iter().all(|entry| entry.unseen.is_none() || !narrows(entry))
}
