//! Links whose ends have different costs.

use std::collections::BTreeMap;

use perhop_device::PortRouting;

use super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other links with configured costs. With fewer, the rule reports each link whose ends
/// have different costs.
const OTHERS: usize = 3;

/// An end of a link in a routing protocol.
#[derive(Clone, Copy)]
struct End<'s> {
    id: PortId,
    part: &'s PortRouting,
    /// Whether a line sets the cost. Otherwise the device computes the cost from the bandwidth, and the line
    /// of the cost is the line of the routing process.
    is_set: bool,
}

impl End<'_> {
    fn cost(&self) -> u32 {
        self.part.cost.value
    }
}

/// Reports links whose ends have different costs. If one such link has a pair of costs that no other link
/// has, and all other such links have a pair that occurs several times, then one cost of the first link is
/// probably wrong.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let links = links_with_costs(snapshot);
    let mut uses: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for link in &links {
        *uses.entry(costs(link)).or_default() += 1;
    }
    let is_odd = |link: &&[End; 2]| {
        let [low, high] = costs(link);
        low != high && uses[&[low, high]] == 1
    };
    let odd: Vec<&[End; 2]> = links.iter().filter(is_odd).collect();
    let is_exception = odd.len() == 1 && links.len() > OTHERS;
    for link in links.iter().filter(|[first, second]| first.cost() != second.cost()) {
        if is_exception && is_odd(&link) {
            report_exception(snapshot, link, &links, found);
        } else {
            report_difference(snapshot, link, found);
        }
    }
}

/// Returns the costs of both ends in ascending order.
fn costs([first, second]: &[End; 2]) -> [u32; 2] {
    [first.cost().min(second.cost()), first.cost().max(second.cost())]
}

/// Returns the links whose ends run one protocol, if the cost of at least one end is configured.
fn links_with_costs<'s>(snapshot: &'s Snapshot) -> Vec<[End<'s>; 2]> {
    let process =
        |id: PortId, part: &PortRouting| &snapshot.router(id.device).forwarding.processes[part.process];
    let end = |id: PortId, part: &'s PortRouting| End {
        id,
        part,
        is_set: part.cost.line != process(id, part).line,
    };
    let mut found = Vec::new();
    for [own, other] in snapshot.wires().filter(|[own, other]| own < other) {
        let theirs = &snapshot.port(other).forwarding.routing;
        for here in &snapshot.port(own).forwarding.routing {
            let protocol = process(own, here).protocol;
            let there = theirs.iter().find(|part| process(other, part).protocol == protocol);
            let ends = there.map(|there| [end(own, here), end(other, there)]);
            found.extend(ends.filter(|ends| ends.iter().any(|end| end.is_set)));
        }
    }
    found
}

/// Reports the end whose cost occurs on no other link. Reports both ends if neither cost occurs on another
/// link, or if both costs do.
fn report_exception(
    snapshot: &Snapshot,
    link: &[End; 2],
    links: &[[End; 2]],
    found: &mut Vec<NetworkFinding>,
) {
    let is_elsewhere = |end: &End| {
        let others = links.iter().filter(|other| other[0].id != link[0].id).flatten();
        others.into_iter().any(|other| other.cost() == end.cost())
    };
    let is_at_fault = link.map(|end| !is_elsewhere(&end));
    let is_unclear = is_at_fault[0] == is_at_fault[1];
    for (place, end) in link.iter().enumerate().filter(|(place, _)| is_unclear || is_at_fault[*place]) {
        let other = &link[1 - place];
        let message = format!(
            "the cost of {} is {}, but the cost of {} at the other end is {}; only this one of {} links \
             has these costs",
            snapshot.port_name(end.id),
            end.cost(),
            snapshot.port_name(other.id),
            other.cost(),
            links.len()
        );
        let effect = "packets leave over one path and return over another path".to_owned();
        let line = if end.is_set { end.part.cost.line } else { snapshot.port(end.id).line };
        let rule = &rules::NETWORK_COST_UNUSUAL;
        found.push(snapshot.finding(end.id.device, rule, line, (message, effect)));
    }
}

/// Reports each end with a configured cost.
fn report_difference(snapshot: &Snapshot, link: &[End; 2], found: &mut Vec<NetworkFinding>) {
    for (place, end) in link.iter().enumerate().filter(|(_, end)| end.is_set) {
        let other = &link[1 - place];
        let message = format!(
            "the cost of {} is {}, but the cost of {} at the other end is {}",
            snapshot.port_name(end.id),
            end.cost(),
            snapshot.port_name(other.id),
            other.cost()
        );
        let effect = "packets may return over another path with other queues".to_owned();
        let rule = &rules::NETWORK_COST_DIFFERS;
        found.push(snapshot.finding(end.id.device, rule, end.part.cost.line, (message, effect)));
    }
}
