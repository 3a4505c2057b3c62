//! Findings about lines of a block that differ from the same block on other devices.

use std::collections::BTreeSet;

use super::namesakes::Namesakes;
use super::outline::{Deviation, DeviationKind, deviations};
use super::texts::code_points::usual_lines;
use super::tree::Numbered;
use super::{NetworkFinding, Snapshot};
use crate::rules;

/// The words of a message about a policy that lacks a class.
const LACKED_CLASS: &str = "lacks `class ";

/// Returns the lines that only one of several otherwise equal blocks lacks, and the lines in which only one
/// of them has a different value.
pub(super) fn of_lines(snapshot: &Snapshot) -> Vec<Deviation> {
    let usual: Vec<_> =
        snapshot.devices.iter().map(|member| usual_lines(member.device.numbered_lines())).collect();
    let lines: Vec<Vec<Numbered>> = usual
        .iter()
        .map(|lines| lines.iter().map(|(number, text)| (*number, text.as_ref())).collect())
        .collect();
    let ends = |link: &crate::snapshot::Link| {
        link.ends.iter().map(|end| (end.id.device, snapshot.port(end.id).line)).collect()
    };
    let links: Vec<Vec<(usize, usize)>> = snapshot.links.iter().map(ends).collect();
    deviations(&lines, &links)
}

/// Adds a finding for each deviation. Skips lines for which another rule already has a finding, because that
/// finding states the effect of the line.
pub(super) fn add(snapshot: &Snapshot, deviations: Vec<Deviation>, found: &mut Vec<NetworkFinding>) {
    let named: BTreeSet<(String, usize)> =
        found.iter().map(|finding| (finding.file.clone(), finding.diagnostic.line)).collect();
    let redesigned = Namesakes::new(snapshot).redesigned_lines();
    for deviation in deviations {
        let is_of_design = deviation.message.contains(LACKED_CLASS)
            && redesigned.contains(&(deviation.device, deviation.line));
        if is_of_design {
            continue;
        }
        let file = &snapshot.devices[deviation.device].file;
        if named.contains(&(file.clone(), deviation.line)) {
            continue;
        }
        let (rule, effect) = match deviation.kind {
            DeviationKind::Decisive => (
                &rules::NETWORK_PEERS_DISAGREE,
                "this device drops packets or treats them differently from all the other devices",
            ),
            DeviationKind::Missing => {
                (&rules::NETWORK_LINE_MISSING, "this device lacks a function that all the other devices have")
            }
            DeviationKind::Unusual => {
                (&rules::NETWORK_LINE_UNUSUAL, "this device behaves differently from all the other devices")
            }
        };
        let words = (deviation.message, effect.to_owned());
        found.push(snapshot.finding(deviation.device, rule, deviation.line, words));
    }
}
