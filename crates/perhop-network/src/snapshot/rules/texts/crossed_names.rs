//! References that lead to the object of another class, as names show: a scheduler map that gives the class
//! `VOICE` the scheduler `S-DATA`, although `S-VOICE` exists.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use super::parts::{Parts, list_of};
use crate::rules;

/// The beginning of the first line of a list.
const ACCESS_LIST: &str = "ip access-list ";
/// The minimum number of other references whose names fit.
const LEAST_OTHERS: usize = 3;
/// The minimum length of a part of a name that is the beginning of a part of the other name.
const LEAST_LETTERS: usize = 3;
/// Maximum number of references whose names do not fit. Two exchanged references are one typing error; more
/// are another scheme of names.
const MOST_ODD: usize = 2;

/// A class, the object that it refers to, and the line.
type Reference<'t> = (&'t str, &'t str, usize);

/// Reports one or two references whose object has the name of another class of the block.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, (nodes, own)) in trees.iter().zip(parts).enumerate() {
        let schedulers = blocks(nodes, "schedulers").map(|(name, _)| name).collect();
        for (map, node) in blocks(nodes, "scheduler-maps") {
            let references: Vec<Reference> = node.inner.iter().filter_map(scheduler_of_class).collect();
            report(snapshot, (device, &format!("scheduler map {map}")), &references, &schedulers, found);
        }
        let named = nodes.iter().filter(|node| node.line.1.starts_with(ACCESS_LIST));
        let lists: BTreeSet<&str> = named.filter_map(|node| node.words().last().copied()).collect();
        let of_lists: Vec<Reference> = own
            .class_maps
            .iter()
            .filter_map(|(class, part)| match part.lines.as_slice() {
                [(line, words)] => Some((*class, list_of(words)?, *line)),
                _ => None,
            })
            .collect();
        report(snapshot, (device, "its class-maps"), &of_lists, &lists, found);
    }
}

/// Returns the class and the scheduler of an entry of a scheduler map.
fn scheduler_of_class<'t>(node: &Node<'t>) -> Option<Reference<'t>> {
    match *words(node).as_slice() {
        ["forwarding-class", class, "scheduler", scheduler] => Some((class, scheduler, node.line.0)),
        _ => None,
    }
}

/// Generates the blocks in the block `part` of `class-of-service`, each with its name.
fn blocks<'n, 't>(nodes: &'n [Node<'t>], part: &str) -> impl Iterator<Item = (&'t str, &'n Node<'t>)> {
    let inner = block(nodes, &["class-of-service", part]).map_or(&[][..], |node| &node.inner);
    inner.iter().filter_map(|node| Some((*words(node).first()?, node)))
}

fn report(
    snapshot: &Snapshot,
    (device, place): (usize, &str),
    references: &[Reference],
    objects: &BTreeSet<&str>,
    found: &mut Vec<NetworkFinding>,
) {
    for (class, object, line, other, own) in crossed(references, objects) {
        let message = format!(
            "{}: in {place}, class {class} refers to {object}, whose name belongs to class {other}; {own} exists, and the \
             names of all other references fit",
            snapshot.devices[device].name
        );
        let effect = format!("packets of {class} get the treatment or the criteria of {other}");
        found.push(snapshot.finding(device, &rules::NETWORK_NAME_CROSSED, line, (message, effect)));
    }
}

/// Returns the references that lead to the object of another class, with this class and the object that fits.
fn crossed<'t>(
    references: &[Reference<'t>],
    objects: &BTreeSet<&'t str>,
) -> Vec<(&'t str, &'t str, usize, &'t str, &'t str)> {
    let classes = Names::new(references.iter().map(|(class, ..)| *class));
    let all = Names::new(objects.iter().copied());
    let fit = |class: &str, object: &str| do_fit(&classes.parts(class), &all.parts(object));
    let odd: Vec<&Reference> = references.iter().filter(|(class, object, _)| !fit(class, object)).collect();
    if odd.len() > MOST_ODD || references.len() < odd.len() + LEAST_OTHERS {
        return Vec::new();
    }
    let explained = |(class, object, line): &&Reference<'t>| {
        let mut others = references.iter().map(|(other, ..)| *other).filter(|other| other != class);
        let other = others.find(|other| fit(other, object))?;
        let own = objects.iter().find(|own| fit(class, own))?;
        Some((*class, *object, *line, other, *own))
    };
    // One reference that does not fit without a reason shows another scheme.
    let named: Vec<_> = odd.iter().filter_map(explained).collect();
    if named.len() == odd.len() { named } else { Vec::new() }
}

/// The parts of names that distinguish them.
struct Names<'t> {
    common: BTreeSet<&'t str>,
}

impl<'t> Names<'t> {
    /// Excludes parts that two or more of the names share, such as prefixes.
    fn new(names: impl Iterator<Item = &'t str>) -> Names<'t> {
        let (mut seen, mut common) = (BTreeSet::new(), BTreeSet::new());
        for name in names {
            let own: BTreeSet<&str> = split(name).collect();
            common.extend(own.into_iter().filter(|part| !seen.insert(*part)));
        }
        Names { common }
    }

    fn parts(&self, name: &str) -> Vec<String> {
        split(name).filter(|part| !self.common.contains(part)).map(str::to_lowercase).collect()
    }
}

fn split(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// Whether two names share a part, or a part of one begins with a part of the other.
fn do_fit(class: &[String], object: &[String]) -> bool {
    let begins = |word: &str, other: &str| other.len() >= LEAST_LETTERS && word.starts_with(other);
    class
        .iter()
        .any(|word| object.iter().any(|other| word == other || begins(word, other) || begins(other, word)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::crossed;

    fn names(pairs: &[(&'static str, &'static str)], objects: &[&'static str]) -> Vec<(&'static str, usize)> {
        let references: Vec<_> =
            pairs.iter().enumerate().map(|(place, (class, object))| (*class, *object, place)).collect();
        let objects: BTreeSet<&str> = objects.iter().copied().collect();
        crossed(&references, &objects).into_iter().map(|(_, object, line, ..)| (object, line)).collect()
    }

    const OBJECTS: [&str; 4] = ["S-RT", "S-NC", "S-CRIT", "S-BE"];

    #[test]
    fn an_object_of_another_class_is_crossed() {
        let pairs = [("RT", "S-BE"), ("NC", "S-NC"), ("CRITICAL", "S-CRIT"), ("BE", "S-BE")];
        assert_eq!(names(&pairs, &OBJECTS), [("S-BE", 0)]);
        let pairs = [("RT", "S-BE"), ("NC", "S-NC"), ("CRITICAL", "S-CRIT"), ("BE", "S-RT")];
        assert!(names(&pairs, &OBJECTS).is_empty(), "only two others fit");
    }

    #[test]
    fn names_of_another_scheme_are_not_crossed() {
        let pairs = [("RT", "S-RT"), ("NC", "S-NC"), ("CRIT", "S-CRIT"), ("BE", "S-BE")];
        assert!(names(&pairs, &OBJECTS).is_empty());
        let pairs = [("VOICE", "S-RT"), ("NC", "S-NC"), ("CRIT", "S-CRIT"), ("BE", "S-BE")];
        assert!(names(&pairs, &OBJECTS).is_empty(), "no class has the name of S-RT");
        let pairs = [("BULK", "S-BE"), ("NC", "S-NC"), ("CRIT", "S-CRIT"), ("BE", "S-BE")];
        assert!(names(&pairs, &OBJECTS).is_empty(), "the class has no object of its own");
    }
}
