//! Forwarding classes of codepoints that one statement assigns differently from all others of the network.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other statements that assign the same class.
const LEAST_OTHERS: usize = 3;

/// A statement that assigns a forwarding class to a codepoint: the device, the line and the class.
type Statement<'t> = (usize, usize, &'t str);

/// Reports the only statement that assigns another forwarding class to a codepoint than all other statements.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut statements: BTreeMap<&str, Vec<Statement>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        add_classifiers(&mut statements, device, nodes);
        add_filters(&mut statements, device, nodes);
    }
    for (codepoint, all) in statements {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (.., class) in &all {
            *counts.entry(class).or_default() += 1;
        }
        let Some((usual, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else { continue };
        let odd: Vec<&Statement> = all.iter().filter(|(.., class)| *class != usual).collect();
        let [(device, line, class)] = odd.as_slice() else { continue };
        if count < LEAST_OTHERS {
            continue;
        }
        let message = format!(
            "{codepoint} gets the forwarding class {class} here, and {usual} in all {count} other filters and \
             classifiers of the network"
        );
        let effect = "packets with this codepoint wait in a different queue, and leave with a different mark";
        let rule = &rules::NETWORK_MAP_DIFFERS;
        found.push(snapshot.finding(*device, rule, *line, (message, effect.to_owned())));
    }
}

fn add_classifiers<'t>(found: &mut BTreeMap<&'t str, Vec<Statement<'t>>>, device: usize, nodes: &[Node<'t>]) {
    let classifiers = block(nodes, &["class-of-service", "classifiers"]).map_or(&[][..], |node| &node.inner);
    for class in
        classifiers.iter().filter(|node| words(node).first() == Some(&"dscp")).flat_map(|node| &node.inner)
    {
        let ["forwarding-class", name] = *words(class).as_slice() else { continue };
        for priority in &class.inner {
            let own = words(priority);
            let values = own.iter().skip_while(|word| **word != "code-points").skip(1);
            for value in values {
                found.entry(value).or_default().push((device, priority.line.0, name));
            }
        }
    }
}

/// Adds the terms of filters that match codepoints and set a forwarding class.
fn add_filters<'t>(found: &mut BTreeMap<&'t str, Vec<Statement<'t>>>, device: usize, nodes: &[Node<'t>]) {
    let Some(firewall) = block(nodes, &["firewall"]) else { return };
    for term in inside(firewall, "term") {
        let part = |name: &str| term.inner.iter().find(|inner| words(inner) == [name]);
        let (Some(from), Some(then)) = (part("from"), part("then")) else { continue };
        // A term with a second criterion selects an application, which can have its own class.
        let [only] = from.inner.iter().filter(|inner| !words(inner).is_empty()).collect::<Vec<_>>()[..]
        else {
            continue;
        };
        let criterion = words(only);
        let Some((&"dscp", values)) = criterion.split_first() else { continue };
        let class = then.inner.iter().find_map(|inner| match *words(inner).as_slice() {
            ["forwarding-class", class] => Some((inner.line.0, class)),
            _ => None,
        });
        if let Some((line, class)) = class {
            for value in values {
                found.entry(value).or_default().push((device, line, class));
            }
        }
    }
}
