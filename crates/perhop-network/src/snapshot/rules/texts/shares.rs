//! Scheduler maps whose transmit rates add up to more than 100 %.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The rate of a port, percent.
const WHOLE: u64 = 100;
/// The minimum number of other scheduler maps with a sum of at most 100 %.
const LEAST_OTHERS: usize = 2;

/// A scheduler map: its device, its line, its name and the sum of its shares in percent.
struct Map<'t> {
    device: usize,
    line: usize,
    name: &'t str,
    sum: u64,
    /// The line of the scheduler with the largest share.
    largest: usize,
}

/// Reports the only scheduler map whose shares, including the share of the strict-high queue, add up to more
/// than 100 %.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let maps: Vec<Map> = trees.iter().enumerate().flat_map(|(device, nodes)| maps(device, nodes)).collect();
    let mut above = maps.iter().filter(|map| map.sum > WHOLE);
    let (Some(map), None) = (above.next(), above.next()) else { return };
    if maps.len() <= LEAST_OTHERS {
        return;
    }
    let message = format!(
        "the transmit rates of {} of {} add up to {} % (line {} has the largest rate), but the rates of {} other maps \
         to at most 100 %",
        map.name,
        snapshot.devices[map.device].name,
        map.sum,
        map.largest,
        maps.len() - 1
    );
    let effect = "when all classes send, no class receives its share".to_owned();
    found.push(snapshot.finding(map.device, &rules::NETWORK_QUEUE_DIFFERS, map.line, (message, effect)));
}

/// Returns the scheduler maps of a device in which all schedulers have a share in percent.
fn maps<'t>(device: usize, nodes: &[Node<'t>]) -> Vec<Map<'t>> {
    let service = |name| block(nodes, &["class-of-service", name]).map_or(&[][..], |node| &node.inner);
    let mut shares: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    for scheduler in service("schedulers") {
        let [name] = *words(scheduler).as_slice() else { continue };
        for inner in &scheduler.inner {
            if let ["transmit-rate", "percent", percent, ..] = *words(inner).as_slice()
                && let Ok(percent) = percent.parse()
            {
                shares.insert(name, (percent, inner.line.0));
            }
        }
    }
    let mut found = Vec::new();
    for map in service("scheduler-maps") {
        let [name] = *words(map).as_slice() else { continue };
        let own: Option<Vec<(u64, usize)>> = map
            .inner
            .iter()
            .map(|inner| shares.get(words(inner).last().copied().unwrap_or_default()).copied())
            .collect();
        let Some(own) = own else { continue };
        let largest = own.iter().max_by_key(|(share, _)| *share).map_or(map.line.0, |(_, line)| *line);
        let sum = own.iter().map(|(share, _)| *share).fold(0, u64::saturating_add);
        found.push(Map { device, line: map.line.0, name, sum, largest });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::maps;

    #[test]
    fn a_map_has_the_sum_of_its_schedulers() {
        let text = "class-of-service {\n    scheduler-maps {\n        M {\n            forwarding-class A scheduler S1;\n            \
                    forwarding-class B scheduler S2;\n        }\n        N {\n            forwarding-class A scheduler S3;\n        \
                    }\n    }\n    schedulers {\n        S1 {\n            transmit-rate percent 70;\n        }\n        S2 {\n            \
                    transmit-rate percent 40;\n        }\n        S3 {\n            transmit-rate remainder;\n        }\n    }\n}";
        let nodes = read(text);
        let found = maps(0, &nodes);
        assert_eq!(
            found.iter().map(|map| (map.name, map.sum, map.largest)).collect::<Vec<_>>(),
            [("M", 110, 13)]
        );
    }
}
