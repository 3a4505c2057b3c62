//! Lines in which blocks differ from those of other devices, as findings.

use std::collections::BTreeSet;

use super::outline::{Deviation, DeviationKind, deviations};
use super::tree::Numbered;
use super::{NetworkFinding, Snapshot};
use crate::rules;

/// Returns the lines that one of several equal blocks lacks, or has with another value.
pub(super) fn of_lines(snapshot: &Snapshot) -> Vec<Deviation> {
    let lines: Vec<Vec<Numbered>> =
        snapshot.devices.iter().map(|member| member.device.numbered_lines().collect()).collect();
    let ends = |link: &crate::snapshot::Link| {
        link.ends.iter().map(|end| (end.id.device, snapshot.port(end.id).line)).collect()
    };
    let links: Vec<Vec<(usize, usize)>> = snapshot.links.iter().map(ends).collect();
    deviations(&lines, &links)
}

/// Reports deviations, unless another rule names the line: that rule knows what the line does.
pub(super) fn add(snapshot: &Snapshot, deviations: Vec<Deviation>, found: &mut Vec<NetworkFinding>) {
    let named: BTreeSet<(String, usize)> =
        found.iter().map(|finding| (finding.file.clone(), finding.diagnostic.line)).collect();
    for deviation in deviations {
        let file = &snapshot.devices[deviation.device].file;
        if named.contains(&(file.clone(), deviation.line)) {
            continue;
        }
        let (rule, effect) = match deviation.kind {
            DeviationKind::Decisive => (
                &rules::NETWORK_PEERS_DISAGREE,
                "packets of this device are treated differently, or do not pass, unlike those of all the others",
            ),
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
