//! Rewrite rules that write the codepoint of one forwarding class into packets of another class.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The minimum number of other classes that write their own codepoint. With fewer, the rule reports no class.
const LEAST_OTHERS: usize = 2;

/// A forwarding class, a codepoint, and the line that assigns it.
type Entry<'t> = (&'t str, &'t str, usize);

/// Reports the only class of a rewrite rule that writes a codepoint which the classifiers of the device
/// assign to another class.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for (kind, entries) in blocks(nodes, "rewrite-rules", "code-point") {
            let mut read: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            let classifiers = blocks(nodes, "classifiers", "code-points");
            for (class, value, _) in
                classifiers.iter().filter(|(other, _)| *other == kind).flat_map(|(_, entries)| entries)
            {
                read.entry(value).or_default().insert(class);
            }
            // A class without codepoints in the classifiers can use the codepoint of another class.
            let is_read = |class: &str| read.values().any(|classes| classes.contains(class));
            let known: Vec<&Entry> = entries
                .iter()
                .filter(|(class, value, _)| is_read(class) && read.contains_key(value))
                .collect();
            let odd: Vec<&&Entry> =
                known.iter().filter(|(class, value, _)| !read[value].contains(class)).collect();
            let [(class, value, line)] = odd.as_slice() else { continue };
            if known.len() <= LEAST_OTHERS {
                continue;
            }
            let theirs: Vec<&str> = read[value].iter().copied().collect();
            let message = format!(
                "{} writes the codepoint {value} into packets of the class {class}, but its classifiers assign it \
                 to {}",
                snapshot.devices[device].name,
                theirs.join(" and ")
            );
            let effect = "the next devices treat these packets as packets of the other class".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_MAP_DIFFERS, *line, (message, effect)));
        }
    }
}

/// Returns the classes and codepoints of each rule or classifier, with the kind of its codepoints.
fn blocks<'t>(nodes: &[Node<'t>], name: &str, command: &str) -> Vec<(&'t str, Vec<Entry<'t>>)> {
    let service = block(nodes, &["class-of-service", name]).map_or(&[][..], |node| &node.inner);
    let mut found = Vec::new();
    for rule in service {
        let [kind, _] = *words(rule).as_slice() else { continue };
        let mut entries = Vec::new();
        for class in &rule.inner {
            let ["forwarding-class", class_name] = *words(class).as_slice() else { continue };
            for priority in &class.inner {
                let own = words(priority);
                let values = own.iter().skip_while(|word| **word != command).skip(1);
                entries.extend(values.map(|value| (class_name, *value, priority.line.0)));
            }
        }
        found.push((kind, entries));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::blocks;

    #[test]
    fn a_class_may_have_several_codepoints() {
        let text = "class-of-service {\n    classifiers {\n        dscp IN {\n            forwarding-class A \
                    {\n                loss-priority low code-points [ ef cs5 ];\n            }\n        }\n    \
                    }\n}";
        let nodes = read(text);
        let found = blocks(&nodes, "classifiers", "code-points");
        assert_eq!(found, [("dscp", vec![("A", "ef", 5), ("A", "cs5", 5)])]);
        assert!(blocks(&nodes, "rewrite-rules", "code-point").is_empty());
    }
}
