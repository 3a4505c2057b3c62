//! Rewrite rules of Junos that lack a class, and profiles without queues.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::rules;

/// The minimum number of classes of a rewrite rule. A rule for fewer classes is not for all classes.
const LEAST_CLASSES: usize = 3;
/// The minimum number of other profiles with queues.
const LEAST_PROFILES: usize = 2;

/// Reports the only class with a queue that a rewrite rule lacks, if the rules of other devices rewrite this
/// class, classes of rewrite rules without a codepoint, and the only profile of a port without queues.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let services: Vec<Option<&Node>> =
        trees.iter().map(|nodes| block(nodes, &["class-of-service"])).collect();
    for (device, service) in services.iter().enumerate() {
        let Some(service) = service.filter(|_| !can_inherit(&trees[device], "class-of-service")) else {
            continue;
        };
        let name = &snapshot.devices[device].name;
        let queued = classes(block(&service.inner, &["scheduler-maps"]));
        for rule in rewrite_rules(service) {
            let own = classes(Some(rule));
            for class in inside(rule, "forwarding-class").into_iter().filter(|class| is_empty(class)) {
                let message =
                    format!("`{}` in a rewrite rule of {name} has no codepoint", words(class).join(" "));
                let effect = "packets of the class keep their mark, or get the default".to_owned();
                let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
                found.push(snapshot.finding(device, rule, class.line.0, (message, effect)));
            }
            let mut lacking = queued.difference(&own);
            let (Some(class), None) = (lacking.next(), lacking.next()) else { continue };
            // An imported rule rewrites the other classes.
            let imports = !inside(rule, "import").is_empty();
            let others = services.iter().enumerate().filter(|(other, _)| *other != device);
            let others = others.filter_map(|(_, service)| *service);
            if own.len() < LEAST_CLASSES || imports || !is_rewritten(others, rule, class) {
                continue;
            }
            let message = format!(
                "`{}` of {name} rewrites all classes with queues except {class}, which other devices rewrite",
                words(rule).join(" ")
            );
            let effect =
                "packets of the class leave with another mark, so the next device treats them differently";
            let finding = (message, effect.to_owned());
            found.push(snapshot.finding(device, &rules::NETWORK_MAP_DIFFERS, rule.line.0, finding));
        }
        if let Some(profile) = bare_profile(service) {
            let message = format!(
                "the profile {} of {name} has no scheduler map, but all other profiles have one",
                words(profile).join(" ")
            );
            let effect = "packets of all classes share the default queues of its ports".to_owned();
            let rule = &rules::NETWORK_POLICY_MISSING;
            found.push(snapshot.finding(device, rule, profile.line.0, (message, effect)));
        }
    }
}

/// Returns the classes that the statements of a block name.
fn classes<'t>(node: Option<&Node<'t>>) -> BTreeSet<&'t str> {
    let all = node.map_or_else(Vec::new, |node| inside(node, "forwarding-class"));
    all.into_iter().filter_map(|class| words(class).get(1).copied()).collect()
}

/// Returns the rewrite rules of codepoints and labels.
fn rewrite_rules<'n, 't>(service: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    let rules = block(&service.inner, &["rewrite-rules"]).map_or(&[][..], |node| &node.inner);
    rules.iter().filter(|rule| matches!(words(rule).as_slice(), ["dscp" | "exp" | "dscp-ipv6", _])).collect()
}

/// Whether all rewrite rules of the same kind on other devices contain a class.
fn is_rewritten<'n, 't: 'n>(services: impl Iterator<Item = &'n Node<'t>>, rule: &Node, class: &str) -> bool {
    let kind = words(rule).first().copied();
    let rules = services.flat_map(rewrite_rules).filter(|other| words(other).first().copied() == kind);
    let mut rules = rules.peekable();
    rules.peek().is_some() && rules.all(|other| classes(Some(other)).contains(class))
}

/// Whether a class in a rewrite rule has no codepoint.
fn is_empty(class: &Node) -> bool {
    class.inner.is_empty() && words(class).len() == 2
}

/// Returns the only profile of a port without a scheduler map. A port whose units have profiles, and a set of
/// interfaces, can have a profile for the rate only.
fn bare_profile<'n, 't>(service: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let profiles = block(&service.inner, &["traffic-control-profiles"])?;
    let mut used = BTreeSet::new();
    add_leaves(block(&service.inner, &["interfaces"])?, &mut used);
    let own =
        profiles.inner.iter().filter(|node| words(node).first().is_some_and(|name| used.contains(name)));
    let (whole, bare): (Vec<_>, Vec<_>) = own.partition(|node| !inside(node, "scheduler-map").is_empty());
    match bare.as_slice() {
        [profile] if whole.len() >= LEAST_PROFILES => Some(*profile),
        _ => None,
    }
}

/// Adds the profiles of interfaces and units whose blocks contain no further profile.
fn add_leaves<'t>(node: &Node<'t>, found: &mut BTreeSet<&'t str>) {
    const COMMAND: &str = "output-traffic-control-profile";
    for inner in node.inner.iter().filter(|inner| words(inner).first() != Some(&"interface-set")) {
        let own =
            |inner: &Node<'t>| (words(inner).first() == Some(&COMMAND)).then(|| words(inner).get(1).copied());
        let profiles: Vec<&str> = inner.inner.iter().filter_map(|line| own(line).flatten()).collect();
        if inside(inner, COMMAND).len() == profiles.len() {
            found.extend(profiles);
        }
        add_leaves(inner, found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::{inside, read};
    use super::{bare_profile, classes, is_empty, rewrite_rules};

    const TEXT: &str = "class-of-service {\n    rewrite-rules {\n        dscp OUT {\n            \
        forwarding-class A {\n                \
                        loss-priority low code-point ef;\n            }\n            forwarding-class B \
                        {\n            }\n        \
                        }\n        ieee-802.1 TAGS {\n        }\n    }\n}";

    #[test]
    fn a_rewrite_rule_has_classes_with_codepoints() {
        let nodes = read(TEXT);
        let rules = rewrite_rules(&nodes[0]);
        assert_eq!(rules.len(), 1, "tags have other classes");
        assert_eq!(classes(Some(rules[0])).into_iter().collect::<Vec<_>>(), ["A", "B"]);
        let empty: Vec<bool> =
            inside(rules[0], "forwarding-class").into_iter().map(|class| is_empty(class)).collect();
        assert_eq!(empty, [false, true]);
    }

    #[test]
    fn the_only_profile_without_queues_is_an_exception() {
        let profile = |name: &str, map: &str| {
            format!("        {name} {{\n{map}            shaping-rate 10m;\n        }}\n")
        };
        let map = "            scheduler-map M;\n";
        let uses: String = ["A", "B", "C"]
            .map(|name| {
                format!(
                    "        ge-0/0/{name} {{\n            output-traffic-control-profile \
                {name};\n        }}\n"
                )
            })
            .concat();
        let text = |last: &str| {
            format!(
                "class-of-service {{\n    traffic-control-profiles {{\n{}{}{}    }}\n    interfaces {{\n\
                    {uses}    }}\n}}",
                profile("A", map),
                profile("B", map),
                profile("C", last)
            )
        };
        let (bare, whole) = (text(""), text(map));
        assert_eq!(bare_profile(&read(&bare)[0]).map(|node| node.line.0), Some(11));
        assert!(bare_profile(&read(&whole)[0]).is_none());
        let profile = "            output-traffic-control-profile C;\n";
        let unit = format!(
            "{profile}            unit 0 {{\n                output-traffic-control-profile \
                A;\n            }}\n"
        );
        assert!(bare_profile(&read(&bare.replace(profile, &unit))[0]).is_none(), "the unit has queues");
    }
}
