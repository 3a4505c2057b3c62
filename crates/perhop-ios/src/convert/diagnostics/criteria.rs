//! Reports access list entries of a class whose packets all belong to earlier classes of the policy.

use perhop_analysis::{FirstMatch, Set, TooComplex};
use perhop_lint::Diagnostic;

use super::shadows::{Classes, is_known};
use perhop_device::Combination;

use crate::ast::{AccessList, AclAction, Criterion, Polarity, PolicyClass};
use crate::convert::intent::condition::of_entry;
use crate::rules;

/// Limit on the entries of a list: longer lists are tables of addresses, and their overlaps are rarely
/// faults.
const MOST_ENTRIES: usize = 64;

/// An entry whose packets all belong to earlier classes.
struct Hidden {
    line: usize,
    set: Set,
}

impl<'a> Classes<'a> {
    /// Reports the entries of the lists of `class` whose packets all belong to earlier classes. The finding
    /// is at the class, or at an entry that takes all packets of the first hidden entry.
    pub(super) fn hidden_entries(
        &mut self,
        class: &PolicyClass,
        earlier: &[(&str, Set)],
        first: &mut FirstMatch,
    ) -> Result<Vec<Diagnostic>, TooComplex> {
        let mut hidden = Vec::new();
        for list in self.lists(&class.name) {
            hidden.extend(self.hidden_in(list, first)?);
        }
        let Some(Hidden { line, set }) = hidden.first() else { return Ok(Vec::new()) };
        let mut taker = None;
        for (name, taken) in earlier {
            if self.space.minus(*set, *taken)? == Set::NONE {
                taker = Some(*name);
                break;
            }
        }
        let lines: Vec<String> = hidden.iter().map(|entry| entry.line.to_string()).collect();
        let (s, lines) = (if lines.len() == 1 { "" } else { "s" }, lines.join(", "));
        let by = taker.map_or("the classes before it take".to_owned(), |name| format!("class {name} takes"));
        let mut found = vec![Diagnostic::new(
            &rules::CRITERION_SHADOWED,
            class.line,
            format!(
                "class {} gets no packet of line{s} {lines} of its access list: {by} all these packets",
                class.name
            ),
            "a packet belongs to the first class that matches",
        )];
        if let Some(wide) = taker.map(|name| self.entry_with(name, *set)).transpose()?.flatten() {
            found.push(Diagnostic::new(
                &rules::CRITERION_SHADOWED,
                wide,
                format!(
                    "this entry, in an earlier class, takes all packets of line {line}, which class {} \
                         matches",
                    class.name
                ),
                "a packet belongs to the first class that matches",
            ));
        }
        Ok(found)
    }

    /// Returns the lists in which each matching entry alone puts a packet into the class.
    fn lists(&self, class: &str) -> Vec<&'a AccessList> {
        let configuration = self.configuration;
        let Some(map) = configuration.class_maps.get(class) else { return Vec::new() };
        if map.combination != Combination::MatchAny && map.statements.len() > 1 {
            return Vec::new();
        }
        let lists = map.statements.iter().filter_map(|statement| match &statement.criterion {
            Criterion::AccessGroup(name) if statement.polarity == Polarity::Is => {
                configuration.access_lists.get(name).filter(|list| is_known(list, statement.polarity))
            }
            _ => None,
        });
        lists.filter(|list| list.entries.len() <= MOST_ENTRIES).collect()
    }

    fn hidden_in(&mut self, list: &AccessList, first: &mut FirstMatch) -> Result<Vec<Hidden>, TooComplex> {
        let mut found = Vec::new();
        for entry in list.entries.iter().filter(|entry| entry.action == AclAction::Permit) {
            let set = self.set(of_entry(self.configuration, entry))?;
            if set != Set::NONE && first.covers(&mut self.space, set)? {
                found.push(Hidden { line: entry.line, set });
            }
        }
        Ok(found)
    }

    /// Returns the entry of the lists of a class that takes all packets of a set.
    fn entry_with(&mut self, class: &str, set: Set) -> Result<Option<usize>, TooComplex> {
        for list in self.lists(class) {
            for entry in list.entries.iter().filter(|entry| entry.action == AclAction::Permit) {
                let own = self.set(of_entry(self.configuration, entry))?;
                if self.space.minus(set, own)? == Set::NONE {
                    return Ok(Some(entry.line));
                }
            }
        }
        Ok(None)
    }
}
