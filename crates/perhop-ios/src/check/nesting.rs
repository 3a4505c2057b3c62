//! Checks class-maps inside class-maps for cycles and excessive size.

use std::collections::{BTreeMap, BTreeSet};

use perhop_lint::Diagnostic;

use crate::ast::{Configuration, Criterion};
use crate::rules;

/// Limit on the nesting of class-maps.
const DEEPEST: usize = 16;
/// Limit on the criteria of a class-map. The criteria of inner class-maps count once per reference.
const MOST: usize = 4096;

/// Removes criteria that form a cycle or exceed the limits, so that later traversals of class-maps terminate.
pub(super) fn check(configuration: &mut Configuration, found: &mut Vec<Diagnostic>) {
    let mut walk = Walk { configuration, known: BTreeMap::new(), open: Vec::new(), refused: BTreeSet::new() };
    for map in configuration.class_maps.iter() {
        walk.extent(&map.name, found);
    }
    let refused: BTreeSet<(String, usize)> =
        walk.refused.into_iter().map(|(name, index)| (name.to_owned(), index)).collect();
    for (name, index) in refused.iter().rev() {
        let place = configuration.class_maps.index(name);
        if let Some(map) = place.and_then(|place| configuration.class_maps.at_mut(place)) {
            map.statements.remove(*index);
        }
    }
}

/// The size of a class-map.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// The number of levels of inner class-maps.
    depth: usize,
    criteria: usize,
}

/// A depth-first traversal of the class-maps.
struct Walk<'a> {
    configuration: &'a Configuration,
    known: BTreeMap<&'a str, Extent>,
    /// The class-maps on the current path, outermost first.
    open: Vec<&'a str>,
    /// Refused statements: class-map and index.
    refused: BTreeSet<(&'a str, usize)>,
}

impl Walk<'_> {
    /// Returns the size of the class-map `name` without refused statements; zero if no such class-map is
    /// defined.
    fn extent(&mut self, name: &str, found: &mut Vec<Diagnostic>) -> Extent {
        let Some(map) = self.configuration.class_maps.get(name) else { return Extent::default() };
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.open.push(&map.name);
        let mut extent = Extent::default();
        for (index, statement) in map.statements.iter().enumerate() {
            let (inner, refusal) = match &statement.criterion {
                Criterion::ClassMap(inner) => self.inside(inner, extent, found),
                _ => (Extent { depth: 0, criteria: 1 }, None),
            };
            if let Some((what, then)) = refusal {
                let rule = &rules::CLASS_MAP_NESTING;
                found.push(Diagnostic::new(rule, statement.line, format!("class-map {name} {what}"), then));
                self.refused.insert((&map.name, index));
                continue;
            }
            extent.depth = extent.depth.max(inner.depth);
            extent.criteria += inner.criteria;
        }
        self.open.pop();
        self.known.insert(&map.name, extent);
        extent
    }

    /// Returns the size that `match class-map inner` adds to a class-map of size `so_far`, or the reason to
    /// refuse the statement.
    fn inside(
        &mut self,
        inner: &str,
        so_far: Extent,
        found: &mut Vec<Diagnostic>,
    ) -> (Extent, Option<(String, &'static str)>) {
        const LACKS: &str = "perhop ignores this criterion of the class-map";
        if self.open.contains(&inner) {
            let what = format!("would contain itself through class-map {inner}");
            return (
                so_far,
                Some((what, "the router refuses the line, so the class-map has no such criterion")),
            );
        }
        let is_deep = self.open.len() > DEEPEST;
        let extent = if is_deep { so_far } else { self.extent(inner, found) };
        if is_deep || extent.depth >= DEEPEST {
            return (
                so_far,
                Some((format!("has more than {DEEPEST} levels of class-maps inside it"), LACKS)),
            );
        }
        if so_far.criteria + extent.criteria > MOST {
            return (
                so_far,
                Some((format!("has more than {MOST} criteria through class-map {inner}"), LACKS)),
            );
        }
        (Extent { depth: extent.depth + 1, criteria: extent.criteria }, None)
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::Configuration;
    use crate::{Profile, convert, parse};

    fn refused(text: &str) -> (Configuration, Vec<usize>) {
        let mut configuration = parse(text);
        convert(&mut configuration, &crate::Platform::for_profile(Profile::Hqf));
        let of_nesting =
            configuration.diagnostics.iter().filter(|diagnostic| diagnostic.rule.id == "class-map-nesting");
        let lines = of_nesting.map(|diagnostic| diagnostic.line).collect();
        (configuration, lines)
    }

    #[test]
    fn cycles_are_broken_where_they_close() {
        let text = "class-map a\n match class-map b\n match dscp ef\nclass-map b\n match class-map c\n\
                    class-map c\n match class-map c\n match class-map a\n match class-map b\n match dscp 1\n";
        let (configuration, lines) = refused(text);
        assert_eq!(lines, [7, 8, 9]);
        let statements = |name: &str| configuration.class_maps.get(name).unwrap().statements.len();
        assert_eq!(["a", "b", "c"].map(statements), [2, 1, 1]);
    }

    /// Each level names the level below twice, so the last level has 2^17 criteria.
    #[test]
    fn doubling_at_each_level_terminates() {
        let map = |level: usize| {
            let below = level - 1;
            format!("class-map m{level}\n match class-map m{below}\n match class-map m{below}\n")
        };
        let maps: String = (1..18).map(map).collect();
        let (_, lines) = refused(&format!(
            "class-map m0\n match dscp ef\n{maps}\
             policy-map p\n class m17\n  bandwidth 10\ninterface Serial0/0\n service-policy output p\n"
        ));
        assert!(!lines.is_empty());
    }

    #[test]
    fn levels_are_counted_in_any_order_of_the_file() {
        let map = |level: usize| format!("class-map m{level}\n match class-map m{}\n", level + 1);
        let last = "class-map m40\n match dscp ef\n";
        let downwards: String = (0..40).map(map).chain([last.to_owned()]).collect();
        let upwards: String = [last.to_owned()].into_iter().chain((0..40).rev().map(map)).collect();
        assert_eq!(refused(&downwards).1.len(), 2);
        assert_eq!(refused(&upwards).1.len(), 2);
    }
}
