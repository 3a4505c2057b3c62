//! The labels of a packet on its path, and the changes of their EXP.

use perhop_qos::packet::{Encapsulation, LinkMark};

use super::Snapshot;
use super::label_plans::LabelPlan;
use super::labels::{ExpChange, HopLabel, Label};
use super::walk::{Walker, written};
use crate::trace::{LabelOperation, LineText, Path, Stage};

impl Walker {
    /// Updates the labels of a packet after a device, and records the changes of their EXP.
    pub(super) fn relabel(
        &mut self,
        snapshot: &Snapshot,
        device: usize,
        plan: Option<&LabelPlan>,
        path: &Path,
    ) {
        let arrived = self.labels.last().map(|label| label.exp);
        let left = path.last.exp();
        let Some(plan) = plan else { return };
        self.labels.truncate(plan.kept);
        let pushed = plan
            .pushed
            .iter()
            .map(|meaning| Label { meaning: meaning.clone(), exp: path.pushed_exp.unwrap_or_default() });
        self.labels.extend(pushed);
        let exposed = self.labels.last().filter(|_| plan.pushed.is_empty()).map(|label| label.exp);
        let steps = exp_steps(path, (arrived, path.pushed_exp), exposed);
        let member = &snapshot.devices[device];
        self.exp_changes.extend(steps.into_iter().map(|(from, to, lines)| ExpChange {
            device: member.name.clone(),
            file: member.file.clone(),
            from: from.value(),
            to: to.value(),
            lines,
        }));
        if let (Some(top), Some(exp)) = (self.labels.last_mut(), left) {
            top.exp = exp;
        }
        if self.labels.is_empty() {
            self.packet.depart(Encapsulation { tag: self.packet.cos().is_some(), labels: false });
        }
        if let Some(hop) = self.hops.last_mut() {
            let label = |label: &Label| HopLabel {
                label: snapshot.label_text(&label.meaning),
                exp: label.exp.value(),
            };
            hop.labels = self.labels.iter().rev().map(label).collect();
            hop.packet = written(&self.packet);
        }
    }
}

/// Returns the changes of the EXP of the top label in a device: the EXP before and after each change, with
/// its lines. `arrived` is the EXP with which the packet arrives, and `left` is the EXP before the output
/// policy. `exposed` is the EXP of the label that is at the top after the device removes a label.
fn exp_steps(
    path: &Path,
    (arrived, left): (Option<LinkMark>, Option<LinkMark>),
    exposed: Option<LinkMark>,
) -> Vec<(LinkMark, LinkMark, Vec<LineText>)> {
    let mut found = Vec::new();
    let mut before = arrived;
    for stage in &path.stages {
        match stage {
            Stage::Conditioner { exp, lines, .. } => {
                if let (Some(from), Some(to)) = (before, *exp)
                    && from != to
                {
                    found.push((from, to, lines.clone()));
                }
                before = before.and(*exp);
            }
            Stage::Labels { operation, .. } => {
                if let (Some(from), Some(to)) = (before, exposed)
                    && from != to
                    && *operation == LabelOperation::Pop
                {
                    found.push((from, to, Vec::new()));
                }
                before = left;
            }
            _ => {}
        }
    }
    found
}
