//! Reports an entry in an access list of a class if all packets of the entry belong to earlier classes of the
//! policy.

use perhop_analysis::{FirstMatch, Set, TooComplex};
use perhop_lint::Diagnostic;

use super::shadows::{Classes, is_known};
use perhop_device::Combination;

use crate::ast::{AccessList, AclAction, Criterion, Polarity, PolicyClass};
use crate::convert::intent::condition::of_entry;
use crate::rules;

/// Limit on the entries of a list. Longer lists are tables of addresses, whose overlaps are rarely faults.
const MOST_ENTRIES: usize = 64;

/// An access list entry whose packets all belong to earlier classes.
struct Hidden {
    line: usize,
    set: Set,
}

impl<'a> Classes<'a> {
    /// Reports the entries of the lists of `class` whose packets all belong to earlier classes. One finding
    /// is at the class. Another is at the entry of an earlier class that matches all packets of the first
    /// hidden entry, if there is one.
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
        let by = taker.map_or("the earlier classes match".to_owned(), |name| format!("class {name} matches"));
        let mut found = vec![Diagnostic::new(
            &rules::CRITERION_SHADOWED,
            class.line,
            format!(
                "no packet of line{s} {lines} of its access list reaches class {}: {by} all these packets",
                class.name
            ),
            "a packet belongs to the first class that matches",
        )];
        if let Some(wide) = taker.map(|name| self.entry_with(name, *set)).transpose()?.flatten() {
            found.push(Diagnostic::new(
                &rules::CRITERION_SHADOWED,
                wide,
                format!(
                    "this entry of an earlier class matches all packets of line {line}, so none of them \
                     reaches class {}",
                    class.name
                ),
                "a packet belongs to the first class that matches",
            ));
        }
        Ok(found)
    }

    /// Returns the short access lists of `class`, if each packet that one of the lists permits belongs to the
    /// class.
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

    /// Returns the line of the entry in the lists of `class` that matches all packets in `set`.
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
