//! Writing of conditioners and queues as classes of a policy-map.

use std::collections::BTreeMap;

use perhop_analysis::rates::weight;
use perhop_device::Missing;
use perhop_qos::ByteSize;
use perhop_qos::action::Action;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};

use super::class::{CLASS_DEFAULT, Class};
use super::meter::{ComingColors, Level, stage_lines};
use super::order::{Labels, labels, merged, nested, within};
use super::policy_map::PolicyMaps;

/// Names of the stages that color packets for a color-aware policer.
const COLORING: [&str; 3] = ["conform-color", "exceed-color", "colors"];

impl PolicyMaps {
    /// Returns the classes of a policy at `place`.
    pub(super) fn classes(
        &mut self,
        stages: &[&ConditionerConfig],
        queueing: Option<&QueueingConfig>,
        place: &str,
    ) -> Vec<Class> {
        let queues = queueing.map_or(Vec::new(), |queueing| self.queues(queueing, place));
        let has_labels = queues.iter().any(|queue| !labels(queue.matches.as_ref()).is_empty());
        let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_deref().unwrap_or_default()).collect();
        let mut by_label = Labels::new();
        let mut colors: BTreeMap<&str, Option<MatchConfig>> = BTreeMap::new();
        let mut classes = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            let later = &names[index + 1..];
            let name = stage.name.clone().unwrap_or_else(|| format!("class-{}", index + 1));
            let (owner, color) = name.rsplit_once(' ').unwrap_or(("", &name));
            let owner = owner.strip_suffix(" other").unwrap_or(owner);
            if let Some(color) = COLORING.iter().find(|coloring| **coloring == color)
                && later.contains(&owner)
            {
                colors.insert(color, stage.matches.clone());
                continue;
            }
            let (own, label) = if has_labels { without_label(stage) } else { ((*stage).clone(), None) };
            if let Some(label) = label {
                by_label.insert(label, stage.matches.clone());
            }
            let outer = name.rsplit_once('.').map_or("", |(outer, _)| outer);
            let level = if later.contains(&outer) { Level::Inner } else { Level::Outer };
            let place = format!("{place}, class {name}");
            let known = self.coming_colors(&name, &own, &mut colors, &place);
            let lines = stage_lines(&own, &known, level, &mut self.tables);
            let lines = self.or_note(&place, lines);
            classes.push(Class { name, matches: stage.matches.clone(), lines, ..Class::default() });
        }
        merged(nested(classes), queues, &by_label)
    }

    /// Returns the class-maps that match the colors of the packets that arrive at a stage.
    fn coming_colors(
        &mut self,
        name: &str,
        stage: &ConditionerConfig,
        colors: &mut BTreeMap<&str, Option<MatchConfig>>,
        place: &str,
    ) -> ComingColors {
        if !colors.contains_key("conform-color") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for color in ["conform-color", "exceed-color"] {
            let own = colors.get(color).and_then(|own| within(own.as_ref(), stage.matches.as_ref()));
            let Some(own) = own else { continue };
            match self.class_maps.define(&format!("{name}-{color}"), &own) {
                Ok(class_map) => found.push((color, class_map)),
                Err(missing) => self.notes.at(place).add(missing),
            }
        }
        colors.clear();
        found
    }

    /// Returns the queueing classes; priority classes come first.
    pub(super) fn queues(&mut self, queueing: &QueueingConfig, place: &str) -> Vec<Class> {
        if let Some(limit) = queueing.limit {
            let construct = format!("limit {limit} of all queues together");
            self.notes.at(place).report(construct, "IOS limits each queue");
        }
        if queueing.scheduler == SchedulerConfig::Priority {
            return self.under_priority(&queueing.classes, place);
        }
        let scheduler = queueing.scheduler;
        let is_other = matches!(
            scheduler,
            SchedulerConfig::Wrr
                | SchedulerConfig::Drr
                | SchedulerConfig::Wfq
                | SchedulerConfig::Wf2qPlus
                | SchedulerConfig::Cbq
                | SchedulerConfig::Hfsc
                | SchedulerConfig::Htb
                | SchedulerConfig::GuaranteeExcess
        );
        if is_other {
            let name = serde_json::to_value(scheduler).unwrap_or_default();
            let construct = format!("scheduler {}", name.as_str().unwrap_or_default());
            let reason = "IOS shares by its own scheduler, which perhop has as scfq or three-parameter";
            self.notes.at(place).report(construct, reason);
        }
        let plain = queueing.classes.iter().map(|class| ClassConfig {
            share: self.plain_share(class, scheduler, &format!("{place}, class {}", class.name)),
            ..class.clone()
        });
        let plain = with_ratios(plain.collect());
        let of_queue = |queue: ClassConfig| Class {
            name: queue.name.clone(),
            matches: queue.matches.clone(),
            queue: Some(queue),
            ..Class::default()
        };
        plain.into_iter().map(of_queue).collect()
    }

    /// Returns the share of a class without parameters that are specific to its scheduler.
    fn plain_share(&mut self, class: &ClassConfig, scheduler: SchedulerConfig, place: &str) -> ShareConfig {
        let share = class.share.clone();
        let mut notes = self.notes.at(place);
        let mut lose = |fields: &ShareConfig, scheduler: &str, reason: &str| {
            for (key, value) in
                serde_json::to_value(fields).unwrap_or_default().as_object().into_iter().flatten()
            {
                let value = value.to_string().replace('"', "");
                notes.report(format!("{key} {value} of {scheduler}"), reason);
            }
        };
        match scheduler {
            SchedulerConfig::Cbq => {
                let ShareConfig { level, borrow, max_idle, extra_delay, .. } = share;
                let lost = ShareConfig { level, borrow, max_idle, extra_delay, ..ShareConfig::default() };
                lose(&lost, "cbq", "IOS has no link sharing");
                if let Some(fraction) = share.fraction {
                    let weight = (1e8 * fraction).round() / 1e6;
                    return ShareConfig { weight: Some(weight), ..ShareConfig::default() };
                }
                let kept = ShareConfig { level: None, borrow: None, max_idle: None, ..share };
                ShareConfig { extra_delay: None, ..kept }
            }
            SchedulerConfig::Hfsc => {
                let ShareConfig { real_time, upper_limit, .. } = share;
                let lost = ShareConfig { real_time, upper_limit, ..ShareConfig::default() };
                lose(&lost, "hfsc", "IOS has no service curves");
                let weight = (weight(scheduler, class).unwrap_or(1.0) * 1e3).round() / 1e6;
                ShareConfig { weight: Some(weight), ..ShareConfig::default() }
            }
            SchedulerConfig::Htb | SchedulerConfig::GuaranteeExcess => {
                let name = if scheduler == SchedulerConfig::Htb { "htb" } else { "guarantee-excess" };
                lose(&ShareConfig { rate: None, ..share.clone() }, name, "IOS has only the guaranteed rate");
                ShareConfig { bandwidth: share.rate, ..ShareConfig::default() }
            }
            _ => share,
        }
    }

    fn under_priority(&mut self, classes: &[ClassConfig], place: &str) -> Vec<Class> {
        let (priorities, others) = match classes.split_last() {
            Some((last, first)) if last.matches.is_none() => (first, Some(last)),
            _ => (classes, None),
        };
        let mut found = Vec::new();
        for (level, class) in (1..).zip(priorities) {
            let inner = class.queueing.as_ref().map(|inner| inner.classes.as_slice());
            for leaf in inner.filter(|inner| !inner.is_empty()).unwrap_or(std::slice::from_ref(class)) {
                found.push(Class {
                    name: leaf.name.clone(),
                    matches: leaf.matches.clone(),
                    queue: Some(leaf.clone()),
                    level: Some(level),
                    ..Class::default()
                });
            }
        }
        let most = if self.profile.is_before_hqf() { 1 } else { 2 };
        if priorities.len() > most {
            let construct = format!("{} levels of priority", priorities.len());
            let reason = format!("a router of {} has {most}", self.profile.name());
            self.notes.at(place).report(construct, reason);
        }
        let Some(others) = others else { return found };
        match &others.queueing {
            Some(inner) if others.shape.is_none() && others.police.is_none() => {
                found.extend(self.queues(inner, place));
            }
            _ => found.push(Class {
                name: CLASS_DEFAULT.to_owned(),
                queue: Some(others.clone()),
                ..Class::default()
            }),
        }
        found
    }

    /// Returns the lines. On an error, adds a note about the missing feature and returns no lines.
    pub(super) fn or_note(&mut self, place: &str, lines: Result<Vec<String>, Missing>) -> Vec<String> {
        lines.unwrap_or_else(|missing| {
            self.notes.at(place).add(missing);
            Vec::new()
        })
    }
}

/// Converts shares that are quanta in bytes to ratios.
fn with_ratios(mut classes: Vec<ClassConfig>) -> Vec<ClassConfig> {
    let quanta: Option<Vec<u64>> = classes
        .iter()
        .map(|class| class.share.quantum.map(ByteSize::as_bytes).filter(|bytes| *bytes > 0))
        .collect();
    let Some(quanta) = quanta else { return classes };
    let least = quanta.iter().copied().fold(0, greatest_common_divisor).max(1);
    for (class, quantum) in classes.iter_mut().zip(quanta) {
        class.share = ShareConfig { weight: Some(quantum as f64 / least as f64), ..ShareConfig::default() };
    }
    classes
}

fn greatest_common_divisor(first: u64, other: u64) -> u64 {
    if other == 0 { first } else { greatest_common_divisor(other, first % other) }
}

/// Removes the action that sets the label by which a queue selects its packets. Returns the changed stage and
/// the label. That label is the last one, because an action that sets a group precedes it.
fn without_label(stage: &ConditionerConfig) -> (ConditionerConfig, Option<u8>) {
    let mut own = stage.clone();
    let mut label = None;
    for actions in [&mut own.actions, &mut own.green, &mut own.yellow, &mut own.red] {
        if let Some(place) = actions.iter().rposition(|action| matches!(action, Action::Label(_)))
            && let Action::Label(number) = actions.remove(place)
        {
            label = Some(number);
        }
    }
    (own, label)
}
