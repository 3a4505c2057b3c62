//! Terms with the same name in the filters of a network that match different codepoints.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other terms with the same name that have the same codepoints.
const LEAST_OTHERS: usize = 3;

/// A term: its device, the line of its codepoints, the codepoints, and the name of its filter.
type Term<'t> = (usize, usize, Vec<&'t str>, &'t str);

/// Reports the only term that matches other codepoints than all other terms with the same name.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut by_name: BTreeMap<&str, Vec<Term>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        let Some(firewall) = block(nodes, &["firewall"]) else { continue };
        for filter in inside(firewall, "filter") {
            let filter_name = words(filter).get(1).copied().unwrap_or_default();
            for term in &filter.inner {
                let ["term", name] = *words(term).as_slice() else { continue };
                if let Some((line, marks)) = codepoints(term) {
                    by_name.entry(name).or_default().push((device, line, marks, filter_name));
                }
            }
        }
    }
    for (name, terms) in &by_name {
        let mut counts: BTreeMap<&[&str], usize> = BTreeMap::new();
        for (_, _, marks, _) in terms {
            *counts.entry(marks).or_default() += 1;
        }
        let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
        let odd: Vec<&Term> = terms.iter().filter(|(_, _, marks, _)| marks != usual).collect();
        let [(device, line, marks, filter)] = odd.as_slice() else { continue };
        if *count < LEAST_OTHERS {
            continue;
        }
        let message = format!(
            "the term {name} of the filter {filter} of {} matches {}, but all {count} other terms of this name match \
             {}",
            snapshot.devices[*device].name,
            marks.join(" "),
            usual.join(" ")
        );
        let effect = "packets of the usual codepoint get the treatment of another term".to_owned();
        found.push(snapshot.finding(*device, &rules::NETWORK_MAP_DIFFERS, *line, (message, effect)));
    }
}

/// Returns the sorted codepoints of a term and their line, if the term has no other criteria.
fn codepoints<'t>(term: &Node<'t>) -> Option<(usize, Vec<&'t str>)> {
    let from = term.inner.iter().find(|inner| words(inner) == ["from"])?;
    let [only] = from.inner.iter().filter(|inner| !words(inner).is_empty()).collect::<Vec<_>>()[..] else {
        return None;
    };
    let own = words(only);
    let (command, values) = own.split_first()?;
    let mut values = values.to_vec();
    values.sort_unstable();
    (*command == "dscp" && !values.is_empty()).then_some((only.line.0, values))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::codepoints;

    #[test]
    fn a_term_with_another_criterion_is_not_compared() {
        let text = "term A {\n    from {\n        dscp [ ef cs5 ];\n    }\n    then accept;\n}";
        assert_eq!(codepoints(&read(text)[0]), Some((3, vec!["cs5", "ef"])));
        let text = text.replace("    dscp", "    protocol udp;\n        dscp");
        assert_eq!(codepoints(&read(&text)[0]), None);
    }
}
