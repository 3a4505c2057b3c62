//! Checks of priority flow control, which has an effect only if both ends of a link have it.

use std::collections::BTreeSet;

use perhop_qos::policy::{PauseMode, QueueingConfig};

use super::findings::Findings;
use crate::path::ValuePath;
use crate::{LinkConfig, Scenario};

/// Warns about links at which only one interface sends and obeys pause frames of a priority.
pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    for (index, link) in scenario.links.iter().enumerate() {
        let [a, b] = &link.between;
        let priorities = [a, b].map(|node| priorities(scenario, link, node));
        for (on, off, has, lacks) in
            [(a, b, &priorities[0], &priorities[1]), (b, a, &priorities[1], &priorities[0])]
        {
            for priority in has.difference(lacks) {
                let message = format!(
                    "on this link `{on}` has priority flow control for priority {priority}, but `{off}` does \
                     not, so neither interface pauses the other"
                );
                findings.warning(&ValuePath::from("links").join(index), message).help = Some(format!(
                    "add `pause: {{priority: {priority}}}` to a class of the output policy of `{off}`, or \
                     set `mode: off` at `{on}`"
                ));
            }
        }
    }
}

/// Returns the priorities for which the interface of `node` sends or obeys pause frames.
fn priorities(scenario: &Scenario, link: &LinkConfig, node: &str) -> BTreeSet<u8> {
    let output = link.interfaces.get(node).and_then(|interface| interface.output.as_ref());
    let policy = output.and_then(|name| scenario.policies.get(name));
    let pauses =
        policy.and_then(|policy| policy.queueing.as_ref()).map_or_else(Vec::new, QueueingConfig::pauses);
    let on = pauses.into_iter().flatten().filter(|pause| pause.mode == PauseMode::On);
    on.map(|pause| pause.priority.value()).collect()
}
