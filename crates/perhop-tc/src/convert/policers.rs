//! Conversion of policers and drops of filters that select classes. They become conditioners, which packets
//! pass before classification. A conditioner matches the packets of its filter that match no earlier filter,
//! and these packets continue. Therefore the order of the conditioners has no effect.

use perhop_device::intent::{ClassId, Policy};
use perhop_qos::action::Action as Step;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;

use super::classes::any;
use super::conditioners::{Treatment, conditioner, name_by_line};
use super::demands;
use crate::log::Log;
use crate::model::{Device, Filter, Qdisc};
use crate::units::shown_id;

/// The policers of the filters that select classes of a device.
#[derive(Debug, Default)]
pub(super) struct Policers {
    stages: Vec<Stage>,
    /// The conditions of the classes around the current discipline.
    pub(super) around: Vec<MatchConfig>,
    /// The number of labels in use. Labels are assigned downwards from 255.
    pub(super) labels: u8,
}

#[derive(Debug)]
struct Stage {
    name: String,
    treatment: Treatment,
    /// The condition of each filter; `None` for all packets.
    conditions: Vec<Option<MatchConfig>>,
    lines: Vec<usize>,
}

/// Whether filters below the root of `device` act on packets. The conditions of the enclosing classes are
/// then needed.
pub(super) fn acts_below_root(device: &Device) -> bool {
    let root = device.root().map(|root| root.handle);
    device.qdiscs.iter().any(|qdisc| {
        Some(qdisc.handle) != root && qdisc.filters.iter().any(|filter| !filter.actions.is_empty())
    })
}

impl Policers {
    /// Adds the conditioner of `filter` for the packets of a condition.
    pub(super) fn add(
        &mut self,
        treatment: Treatment,
        (name, condition): (String, Option<MatchConfig>),
        filter: &Filter,
        log: &mut Log,
    ) {
        // Filters with the same policer number share the bucket of the policer.
        let twin = self.stages.iter_mut().find(|stage| stage.treatment.shares(&treatment));
        if let Some(stage) = twin {
            if stage.treatment == treatment {
                stage.name = name_by_line(stage.lines.first().copied().unwrap_or_default());
                stage.conditions.push(condition);
                stage.lines.extend(&filter.lines);
                return;
            }
            log.not_modelled(
                filter.line(),
                "several filters with different actions share this policer; perhop gives each filter its own",
            );
        }
        let (conditions, lines) = (vec![condition], filter.lines.clone());
        self.stages.push(Stage { name, treatment, conditions, lines });
    }

    /// Returns the conditioners, and a policy with a class for each. The conditioners in `hook` come first,
    /// and their packets continue to the returned conditioners.
    pub(super) fn behind(
        self,
        hook: &mut Vec<ConditionerConfig>,
        qdisc: &Qdisc,
        log: &mut Log,
    ) -> Option<Policy> {
        let first = self.stages.first()?;
        let line = first.lines.first().copied().unwrap_or(qdisc.line);
        if hook.len() > 1 && !hook.iter().all(ends_without_mark) {
            let note = "perhop does not model filters that police packets of classes while several filters \
                        of clsact egress mark packets";
            log.not_modelled(line, note);
            return None;
        }
        let mut before = Vec::new();
        for stage in hook.iter_mut() {
            let own = stage.matches.take();
            let not = but_not(before.clone());
            before.extend(own.clone());
            stage.matches = all(own.into_iter().chain(not).collect());
            for steps in [&mut stage.green, &mut stage.yellow, &mut stage.red, &mut stage.actions] {
                goes_on(steps);
            }
        }
        let mut classes = Vec::new();
        for Stage { name, treatment, conditions, lines } in self.stages {
            let matches = conditions.into_iter().collect::<Option<Vec<_>>>().and_then(any);
            let line = lines.first().copied().unwrap_or(qdisc.line);
            let stage = conditioner(treatment, matches, name);
            classes.push(demands::of_stage(&stage, ClassId(hook.len()), line));
            hook.push(stage);
        }
        let name = format!("filters of {}", shown_id(qdisc.handle));
        Some(Policy { name, line: qdisc.line, queues: false, classes })
    }
}

/// Whether `stage` marks no packet and no packet continues after it.
fn ends_without_mark(stage: &ConditionerConfig) -> bool {
    let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
    all.into_iter().flatten().all(|step| matches!(step, Step::Transmit | Step::Drop))
}

/// Changes `steps` so that packets continue instead of leaving the conditioners.
pub(super) fn goes_on(steps: &mut [Step]) {
    if let Some(last) = steps.last_mut().filter(|last| **last == Step::Transmit) {
        *last = Step::Continue;
    }
}

/// Returns the condition of packets that match none of `others`; `None` for all packets.
pub(super) fn but_not(mut others: Vec<MatchConfig>) -> Option<MatchConfig> {
    let any = match others.len() {
        0 => return None,
        1 => others.remove(0),
        _ => MatchConfig { any: Some(others), ..MatchConfig::default() },
    };
    Some(MatchConfig { not: Some(Box::new(any)), ..MatchConfig::default() })
}

/// Returns the conjunction of `parts`; `None` for all packets.
pub(super) fn all(mut parts: Vec<MatchConfig>) -> Option<MatchConfig> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(MatchConfig { all: Some(parts), ..MatchConfig::default() }),
    }
}
