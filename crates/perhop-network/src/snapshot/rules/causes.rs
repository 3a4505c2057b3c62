//! One finding for one cause: several rules, or one rule at several ports, can find the same fault of a line.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::NetworkFinding;
use super::topics::Topic;

/// Keeps one finding for each topic of a line: the most severe, and among these the most precise. The effect
/// of a kept finding names the rules of the others. `found` is sorted.
pub(super) fn merged(found: Vec<NetworkFinding>) -> Vec<NetworkFinding> {
    let mut by_topic: BTreeMap<(String, usize, Topic), Vec<NetworkFinding>> = BTreeMap::new();
    let mut kept = Vec::with_capacity(found.len());
    for finding in found {
        match &finding.cause {
            Some(cause) => {
                let key = (finding.file.clone(), finding.diagnostic.line, cause.topic.clone());
                by_topic.entry(key).or_default().push(finding);
            }
            None => kept.push(finding),
        }
    }
    kept.extend(by_topic.into_values().filter_map(most_precise));
    kept.sort();
    kept
}

/// Returns the first of the most precise findings, with the rules of the others in its effect.
fn most_precise(mut found: Vec<NetworkFinding>) -> Option<NetworkFinding> {
    let rank = |finding: &NetworkFinding| {
        (Reverse(finding.diagnostic.severity), finding.cause.as_ref().map(|cause| cause.precision))
    };
    // `max_by_key` returns the last of equal findings.
    let (place, _) = found.iter().enumerate().rev().max_by_key(|(_, finding)| rank(finding))?;
    let mut first = found.swap_remove(place);
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &found {
        *others.entry(finding.diagnostic.rule.id).or_default() += 1;
    }
    let own = first.diagnostic.rule.id;
    let words = others.into_iter().map(|(name, count)| match (name == own, count) {
        (true, 1) => "this rule once more".to_owned(),
        (true, _) => format!("this rule {count} more times"),
        (false, 1) => name.to_owned(),
        (false, _) => format!("{name} ({count} times)"),
    });
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        first.diagnostic.router = format!("{}; also found by {}", first.diagnostic.router, words.join(", "));
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::merged;
    use crate::rules;
    use crate::snapshot::rules::NetworkFinding;
    use crate::snapshot::rules::topics::{Precision, Topic};
    use perhop_lint::{Diagnostic, Rule};

    fn finding(rule: &'static Rule, line: usize, message: &str) -> NetworkFinding {
        NetworkFinding {
            file: "r1.cfg".to_owned(),
            device: "r1".to_owned(),
            diagnostic: Diagnostic::new(rule, line, message, "effect"),
            cause: None,
        }
    }

    #[test]
    fn the_most_precise_finding_about_a_topic_is_kept() {
        let missing = |message| finding(&rules::NETWORK_POLICY_MISSING, 7, message);
        let above = finding(&rules::NETWORK_SHAPER_ABOVE_POLICER, 7, "no shaper");
        let found = vec![
            missing("one queue").about(Topic::Queues, Precision::Comparison),
            missing("no inner policy").about(Topic::Queues, Precision::Exact),
            above.about(Topic::Queues, Precision::Effect),
        ];
        let kept = merged(found);
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].diagnostic.message, "no inner policy");
        assert_eq!(
            kept[0].diagnostic.router,
            "effect; also found by this rule once more, network-shaper-above-policer"
        );
    }

    #[test]
    fn other_topics_lines_and_findings_without_a_topic_are_kept() {
        let rate =
            |line| finding(&rules::NETWORK_RATE_NAME, line, "rate").about(Topic::Rate, Precision::Effect);
        let queues = finding(&rules::NETWORK_POLICY_MISSING, 7, "queues");
        let route = |message| finding(&rules::NETWORK_ROUTE_MISSING, 7, message);
        let found = vec![
            rate(7),
            rate(8),
            queues.about(Topic::Queues, Precision::Exact),
            route("10.0.0.0/8"),
            route("10.1.0.0/16"),
        ];
        assert_eq!(merged(found).len(), 5);
    }

    #[test]
    fn equal_findings_at_several_ports_are_counted() {
        let class = |port: &str| {
            finding(&rules::NETWORK_CLASS_MISSING, 7, port)
                .about(Topic::Classes("af31".to_owned()), Precision::Comparison)
        };
        let kept = merged(vec![class("port 1"), class("port 2"), class("port 3")]);
        assert_eq!(kept[0].diagnostic.message, "port 1");
        assert!(kept[0].diagnostic.router.ends_with("also found by this rule 2 more times"));
    }
}
