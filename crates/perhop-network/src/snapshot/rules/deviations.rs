//! Lines in which blocks differ from those of other devices, as findings.

use std::collections::BTreeSet;

use super::outline::{DeviationKind, Numbered, deviations};
use super::{NetworkFinding, Snapshot};
use crate::rules;

/// Reports lines that one of several equal blocks lacks, or has with another value, unless another rule names
/// the line: that rule knows what the line does.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let ends = |link: &crate::snapshot::Link| {
        link.ends.iter().map(|end| (end.id.device, snapshot.port(end.id).line)).collect()
    };
    let links: Vec<Vec<(usize, usize)>> = snapshot.links.iter().map(ends).collect();
    let named: BTreeSet<(String, usize)> =
        found.iter().map(|finding| (finding.file.clone(), finding.diagnostic.line)).collect();
    for deviation in deviations(&lines, &links) {
        let file = &snapshot.devices[deviation.device].file;
        if named.contains(&(file.clone(), deviation.line)) {
            continue;
        }
        let (rule, effect) = match deviation.kind {
            DeviationKind::Missing => {
                (&rules::NETWORK_LINE_MISSING, "this device does not do what all the others do there")
            }
            DeviationKind::Unusual => {
                (&rules::NETWORK_LINE_UNUSUAL, "this device does something else than all the others do there")
            }
        };
        let words = (deviation.message, effect.to_owned());
        found.push(snapshot.finding(deviation.device, rule, deviation.line, words));
    }
}
