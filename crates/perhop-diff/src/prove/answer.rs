//! [`Proof`]: the answer, as `perhop prove --json` prints it.

use std::collections::BTreeSet;

use perhop_device::DeviceModel;
use perhop_lint::LineState;
use serde::Serialize;

use crate::lines::{Change, changed_lines};
use crate::treatment::Counterexample;

/// Whether two configurations treat all packets equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All packets are treated equally.
    Equal,
    /// A packet is treated differently.
    Differ,
    /// Some part was not compared, so equality is not decided.
    #[default]
    NotDecided,
}

/// The answer to the question whether all packets are treated equally.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Proof {
    /// The verdict.
    pub verdict: Verdict,
    /// The ports or sites between which the counterexample is treated differently.
    pub place: Option<String>,
    /// A packet that is treated differently.
    pub counterexample: Option<Counterexample>,
    /// The reasons why equality is not decided.
    pub not_decided: Vec<String>,
    /// The parts that were compared.
    pub compared: Vec<String>,
    /// The parts that were not compared, because they are equal in both configurations or do not belong to
    /// the treatment of packets.
    pub not_looked_at: Vec<String>,
    /// The assumptions of the proof in place of facts that the configurations do not contain.
    pub assumed: Vec<String>,
}

impl Proof {
    /// Returns the answer with the verdict that follows from the other fields.
    pub(crate) fn with_verdict(mut self) -> Proof {
        if self.counterexample.as_ref().is_some_and(|found| found.is_doubtful) {
            let found = self.counterexample.take().map(|found| found.packet).unwrap_or_default();
            self.not_decided
                .push(format!("the configurations share policers among flows differently: {found}"));
        }
        self.verdict = if self.counterexample.is_some() {
            Verdict::Differ
        } else if self.not_decided.is_empty() {
            Verdict::Equal
        } else {
            Verdict::NotDecided
        };
        self
    }

    /// Adds the lines outside the model that affect packets at ports with these names. A line that both
    /// configurations have in the same section counts as equal.
    pub(super) fn add_lines(
        &mut self,
        models: [&DeviceModel; 2],
        names: [&str; 2],
        ports: [&BTreeSet<String>; 2],
    ) {
        let open = [0, 1].map(|side: usize| -> BTreeSet<usize> {
            let lines = models[side].open_lines.iter();
            let near = lines.filter(|open| open.concerns(|name| ports[side].contains(name)));
            near.map(|open| open.line).collect()
        });
        let mut left = open.clone();
        let changes = changed_lines(models);
        self.add_unmodeled_queues(models, ports, &changes);
        for change in changes {
            for (side, entry) in [&change.old, &change.new].into_iter().enumerate() {
                let Some(entry) = entry else { continue };
                if open[side].contains(&entry.number) {
                    left[side].remove(&entry.number);
                    let state = state_in_words(entry.state);
                    let own = format!("{}, line {}: `{}`: {state}", names[side], entry.number, entry.text);
                    self.not_decided.push(own);
                }
            }
        }
        for line in &left[0] {
            let text = models[0].lines.get(line.wrapping_sub(1)).map_or("", |line| line.text.trim());
            self.not_looked_at.push(format!("in both: `{text}` (line {line} of {})", names[0]));
        }
    }

    /// Adds the ports whose queues perhop does not model. Such queues count as equal if no line that can
    /// affect packets has changed.
    fn add_unmodeled_queues(
        &mut self,
        models: [&DeviceModel; 2],
        ports: [&BTreeSet<String>; 2],
        changes: &[Change],
    ) {
        let lines = changes.iter().flat_map(|change| [&change.old, &change.new]).flatten();
        let is_same = lines.into_iter().all(|line| line.state == LineState::Irrelevant);
        let unmodeled: BTreeSet<String> = [0, 1]
            .into_iter()
            .flat_map(|side: usize| models[side].router.ports.iter().map(move |port| (side, port)))
            .filter(|(side, port)| ports[*side].contains(&port.interface))
            .filter_map(|(_, port)| Some((port, port.unmodeled_queues.as_ref()?)))
            .map(|(port, reason)| format!("the queues of {}: {reason}", port.name))
            .collect();
        let parts = if is_same { &mut self.not_looked_at } else { &mut self.not_decided };
        parts.extend(unmodeled);
    }
}

fn state_in_words(state: LineState) -> &'static str {
    match state {
        LineState::NotRecognized => "not recognized",
        _ => "not modeled",
    }
}
