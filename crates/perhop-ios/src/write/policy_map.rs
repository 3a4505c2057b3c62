//! [`PolicyMaps`]: the policy-maps of a configuration, with their lists, class-maps and tables.

use perhop_device::Notes;
use perhop_device::lower::STAGES_OF_DEVICE;
use perhop_qos::QueueSize;
use perhop_qos::Rate;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policer::PoliceWhen;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::class::{CLASS_DEFAULT, Choice, Class};
use super::class_map::ClassMaps;
use super::order::{Labels, merged};
use super::queue::{Rank, queue_lines};
use super::rate_limit::is_rate_limit;
use super::share::{priority, shape_line, share_lines};
use super::table_map::TableMaps;
use super::words::name;
use crate::platform::Profile;

/// The names of the queues of interfaces without a policy.
const PLAIN: [&str; 3] = ["fifo", "fair-queue", "random-detect"];

/// The policy-maps of a configuration.
pub(super) struct PolicyMaps {
    pub(super) profile: Profile,
    pub(super) choice: Choice,
    pub(super) class_maps: ClassMaps,
    pub(super) tables: TableMaps,
    pub(super) notes: Notes,
    lines: Vec<String>,
}

impl PolicyMaps {
    /// Creates an empty set for a router of `profile`.
    pub(super) fn new(profile: Profile) -> PolicyMaps {
        PolicyMaps {
            profile,
            choice: Choice::ALL[0],
            class_maps: ClassMaps::default(),
            tables: TableMaps::default(),
            notes: Notes::default(),
            lines: Vec::new(),
        }
    }

    /// Returns tables, access lists, class-maps and policy-maps.
    pub(super) fn lines(&self) -> Vec<String> {
        [self.tables.lines(), self.class_maps.lines(), self.lines.clone()].concat()
    }

    /// Adds the lines of policy-maps.
    pub(super) fn add_lines(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
    }

    /// Adds a policy. Returns the name of its policy-map; `None` if the policy does not need a policy-map.
    pub(super) fn add(
        &mut self,
        called: &str,
        policy: &PolicyConfig,
        rate: Option<Rate>,
        place: &str,
    ) -> Option<String> {
        let is_own = |stage: &&ConditionerConfig| {
            let by_itself = stage.name.as_deref().is_some_and(|name| STAGES_OF_DEVICE.contains(&name));
            !is_rate_limit(stage) && !by_itself
        };
        let stages: Vec<&ConditionerConfig> = policy.conditioners.iter().filter(is_own).collect();
        let queueing = policy.queueing.as_ref().filter(|queueing| !is_plain(queueing));
        if stages.is_empty() && queueing.is_none() {
            return None;
        }
        let classes = self.classes(&stages, queueing, place);
        let called = name(called);
        let rate = rate.map(Rate::as_bits_per_second);
        let mut maps = self.policy_map(&called, &classes, rate, place);
        if let Some(own) = maps.last_mut()
            && self.choice.account != 0
        {
            let has_rate =
                |line: &&mut String| line.starts_with("  bandwidth ") || line.starts_with("  shape ");
            if let Some(line) = own.iter_mut().find(has_rate) {
                *line = format!("{line} account user-defined {}", self.choice.account);
            }
        }
        self.add_lines(maps.concat());
        Some(called)
    }

    /// Returns the lines of a policy-map; the lines of nested policy-maps come first.
    fn policy_map(
        &mut self,
        called: &str,
        classes: &[Class],
        rate: Option<u64>,
        place: &str,
    ) -> Vec<Vec<String>> {
        let mut lines = vec![format!("policy-map {called}")];
        let mut maps = Vec::new();
        for class in classes {
            let place = format!("{place}, class {}", class.name);
            let Some(class_map) = self.class_map(class, &place) else { continue };
            let child = format!("{called}-{}", name(&class.name));
            let mut own = class.lines.clone();
            if let Some(queue) = &class.queue {
                own.extend(self.queue(class, queue, rate, (&place, &child), &mut maps));
            }
            if !class.inside.is_empty() {
                maps.extend(self.policy_map(&child, &class.inside, rate, &place));
                own.push(format!("service-policy {child}"));
            }
            if !own.is_empty() || class.matches.is_some() {
                lines.push(format!(" class {class_map}"));
                lines.extend(own.into_iter().map(|line| format!("  {line}")));
            }
        }
        lines.push("!".to_owned());
        maps.push(lines);
        maps
    }

    /// Returns the name of the class-map of a class; `None` if no class-map can match its packets.
    fn class_map(&mut self, class: &Class, place: &str) -> Option<String> {
        let condition = match &class.matches {
            Some(condition) => condition.clone(),
            None if class.name == CLASS_DEFAULT => return Some(CLASS_DEFAULT.to_owned()),
            None => perhop_qos::classifier::MatchConfig::default(),
        };
        match self.class_maps.define(&class.name, &condition) {
            Ok(class_map) => Some(class_map),
            Err(missing) => {
                self.notes.at(place).add(missing);
                None
            }
        }
    }

    fn queue(
        &mut self,
        class: &Class,
        queue: &ClassConfig,
        rate: Option<u64>,
        (place, child): (&str, &str),
        maps: &mut Vec<Vec<String>>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(level) = class.level {
            lines.extend(self.or_note(place, priority(queue, level, rate)));
        } else if !self.choice.is_silent(class, queue) {
            lines.extend(self.or_note(place, share_lines(&queue.share, self.profile, rate)));
        }
        lines.extend(queue.shape.map(shape_line));
        let below = queue.shape.map(|shape| shape.rate).or(queue.share.bandwidth);
        let below = below.map(Rate::as_bits_per_second).or(rate);
        if let Some(police) = queue.police
            && (class.level.is_none() || police.when == PoliceWhen::Always)
        {
            let (rate, burst) = (police.rate.as_bits_per_second(), police.burst.as_bytes());
            lines.push(format!("police cir {rate} bc {burst}"));
        }
        if let Some(inner) = queue.queueing.as_ref().filter(|_| class.level.is_none()) {
            let classes = self.queues(inner, place);
            let classes = merged(Vec::new(), classes, &Labels::new());
            maps.extend(self.policy_map(child, &classes, below, place));
            lines.push(format!("service-policy {child}"));
            return lines;
        }
        let rank = if class.level.is_some() { Rank::Priority } else { Rank::Shared };
        if queue.pause.is_some() {
            self.notes
                .at(place)
                .report("pause", "a router with IOS does not send pause frames for a priority");
        }
        lines.extend(self.or_note(place, queue_lines(queue, self.profile, rank)));
        lines
    }
}

/// Whether these are the queues of an interface without a policy.
fn is_plain(queueing: &QueueingConfig) -> bool {
    let [only] = queueing.classes.as_slice() else { return false };
    if only.matches.is_some() || queueing.scheduler != SchedulerConfig::Fifo {
        return false;
    }
    let has_limit = matches!(
        &only.buffer,
        Some(BufferConfig::TailDrop(config)) if matches!(config.limit, QueueSize::Packets(_))
    );
    let by_interface = has_limit && only.shape.is_none() && only.police.is_none();
    PLAIN.contains(&only.name.as_str()) || (by_interface && only.queueing.is_none())
}
