//! Shares of the remaining rate that do not add up to 100 %, although the shares of all other policies do.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use super::parts::Parts;
use crate::rules;

/// The sum of the shares in a complete plan, percent.
const WHOLE: u64 = 100;
/// The minimum number of other policies that add up to this sum.
const LEAST_OTHERS: usize = 3;
/// The minimum number of classes with a share. A policy with fewer is not a plan of classes.
const LEAST_CLASSES: usize = 3;
/// The class that gets the remaining rate without a share of its own.
const DEFAULT: &str = "class-default";
/// The beginning of the names of policies that the device generates (Cisco, "Auto QoS"): their shares are not
/// a plan of the operator.
const GENERATED: &str = "AutoQos";
/// The priority whose queue is served first. The share of this queue does not count (Juniper).
const FIRST: &str = "strict-high";

/// The shares of a policy: the class with its share and line.
struct Plan<'t> {
    device: usize,
    line: usize,
    name: &'t str,
    shares: Vec<(&'t str, u64, usize)>,
    /// Whether a class without a share gets the rate that the shares leave.
    has_rest: bool,
}

impl Plan<'_> {
    fn sum(&self) -> u64 {
        self.shares.iter().map(|(_, share, _)| share).sum()
    }

    /// Whether the shares, including the remaining rate of a class without a share, add up to 100 %.
    fn is_complete(&self) -> bool {
        let sum = self.sum();
        sum == WHOLE || self.has_rest && sum < WHOLE
    }
}

/// Reports the only policy whose shares of the remaining rate (`bandwidth remaining percent`) do not add up
/// to 100 %, and the only such scheduler map (Junos).
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let policies: Vec<Plan> =
        parts.iter().enumerate().flat_map(|(device, own)| policies(device, own)).collect();
    let maps: Vec<Plan> = trees.iter().enumerate().flat_map(|(device, nodes)| maps(device, nodes)).collect();
    for plans in [policies, maps] {
        let (whole, odd): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|plan| plan.is_complete());
        let [plan] = odd.as_slice() else { continue };
        if whole.len() < LEAST_OTHERS {
            continue;
        }
        let message = format!(
            "the shares of {} of {} add up to {} %, and those of all {} other policies to {WHOLE} %",
            plan.name,
            snapshot.devices[plan.device].name,
            plan.sum(),
            whole.len()
        );
        let effect = "the classes get other parts of the rate than their plan states".to_owned();
        let line = line_of_share(plan, &whole).unwrap_or(plan.line);
        found.push(snapshot.finding(plan.device, &rules::NETWORK_QUEUE_DIFFERS, line, (message, effect)));
    }
}

/// Returns the line of the only class whose share differs from a complete policy with the same classes.
fn line_of_share(plan: &Plan, whole: &[&Plan]) -> Option<usize> {
    let differing = |other: &Plan| {
        let is_alike = other.shares.len() == plan.shares.len()
            && other.shares.iter().zip(&plan.shares).all(|(theirs, own)| theirs.0 == own.0);
        let pairs = plan.shares.iter().zip(&other.shares).filter(|(own, theirs)| own.1 != theirs.1);
        let lines: Vec<usize> = pairs.map(|(own, _)| own.2).collect();
        if let ([line], true) = (lines.as_slice(), is_alike) { Some(*line) } else { None }
    };
    whole.iter().find_map(|other| differing(other))
}

/// Returns the policies of a device with shares of the remaining rate.
fn policies<'t>(device: usize, parts: &Parts<'t>) -> Vec<Plan<'t>> {
    let used = parts.policies.iter().filter(|(name, _)| parts.used.contains(*name));
    let used = used.filter(|(name, _)| !name.starts_with(GENERATED));
    let plan = |(name, line): (&&'t str, &usize)| {
        let share = |words: &[&str]| match words {
            ["bandwidth", "remaining", "percent", percent, ..] => percent.parse().ok(),
            _ => None,
        };
        let shares = parts.classes_of(name).filter_map(|class| {
            class.lines.iter().find_map(|(line, words)| Some((class.name, share(words)?, *line)))
        });
        let shares: Vec<_> = shares.collect();
        let has_rest = shares.iter().all(|(class, ..)| *class != DEFAULT);
        Plan { device, line: *line, name, shares, has_rest }
    };
    used.map(plan).filter(|plan| plan.shares.len() >= LEAST_CLASSES).collect()
}

/// Returns the scheduler maps of a device whose schedulers all have a share in percent.
fn maps<'t>(device: usize, nodes: &[Node<'t>]) -> Vec<Plan<'t>> {
    let service = |name| block(nodes, &["class-of-service", name]).map_or(&[][..], |node| &node.inner);
    let mut schedulers: BTreeMap<&str, Option<(u64, usize)>> = BTreeMap::new();
    for node in service("schedulers") {
        let [name] = *words(node).as_slice() else { continue };
        let lines: Vec<Vec<&str>> = node.inner.iter().map(words).collect();
        let is_first = lines.iter().any(|line| line.as_slice() == ["priority", FIRST]);
        let share = node.inner.iter().zip(&lines).find_map(|(inner, line)| match line.as_slice() {
            ["transmit-rate", "percent", percent] => Some((percent.parse().ok()?, inner.line.0)),
            _ => None,
        });
        schedulers.insert(name, if is_first { Some((0, node.line.0)) } else { share });
    }
    let mut found = Vec::new();
    for map in service("scheduler-maps") {
        let [name] = *words(map).as_slice() else { continue };
        let share = |node: &Node<'t>| match *words(node).as_slice() {
            ["forwarding-class", class, "scheduler", scheduler] => {
                schedulers.get(scheduler).copied().flatten().map(|(share, line)| (class, share, line))
            }
            _ => None,
        };
        let shares: Option<Vec<_>> = map.inner.iter().map(share).collect();
        let plan = shares.map(|shares| Plan { device, line: map.line.0, name, shares, has_rest: false });
        found.extend(plan.filter(|plan| plan.shares.len() >= LEAST_CLASSES));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Plan, line_of_share};

    fn plan(shares: &[u64]) -> Plan<'static> {
        let classes = ["A", "B", "C"];
        let shares = classes.iter().zip(shares).enumerate();
        let shares = shares.map(|(place, (class, share))| (*class, *share, place + 10)).collect();
        Plan { device: 0, line: 9, name: "P", shares, has_rest: false }
    }

    #[test]
    fn a_class_without_a_share_completes_a_plan() {
        let own = plan(&[20, 30, 40]);
        assert!(!own.is_complete());
        assert!(Plan { has_rest: true, ..own }.is_complete());
        assert!(!Plan { has_rest: true, ..plan(&[20, 30, 60]) }.is_complete());
    }

    #[test]
    fn the_only_different_share_is_at_fault() {
        let (whole, other) = (plan(&[20, 30, 50]), plan(&[30, 30, 40]));
        assert_eq!(line_of_share(&plan(&[20, 3, 50]), &[&other, &whole]), Some(11));
        assert_eq!(line_of_share(&plan(&[25, 35, 50]), &[&other, &whole]), None);
        assert_eq!(plan(&[20, 3, 50]).sum(), 73);
    }
}
