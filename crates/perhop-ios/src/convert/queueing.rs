//! The queues of a port and their scheduler.
//!
//! ```text
//! with priority classes:   strict priority ─┬─ priority ─ FIFO ─ the priority classes, policed
//!                                           └─ others ─┐
//! without:                                             └─ scheduler ─ the other classes, class-default last
//! ```
//!
//! The scheduler of the other classes is SCFQ by weights; where the profile says so and a class has a
//! minimum, the three-parameter scheduler.

use perhop_lint::Diagnostic;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::{FairQueueingConfig, FlowWeights};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::QueueSize;
use perhop_qos::{ByteSize, Rate};

use super::Context;
use super::condition::Condition;
use super::conditioners::matches;
use super::labels;
use super::limits::queue_size;
use super::random_detect::wred;
use super::resolve::LEVELS;
use super::resolved::{PriorityLimit, ResolvedClass, ResolvedFairQueue, ResolvedPolicy, ResolvedShape};
use super::value_limits::weighted_tail_drop;
use crate::ast::{CLASS_DEFAULT, PolicyClass, PolicyMap, ShapeKind};
use crate::profile::{PriorityQueue, Scheduler, WredTailLimit};
use crate::rules;

/// The classes of a policy by what they ask for, each with the packets that are its own.
struct Sorted<'p> {
    priorities: Vec<(&'p mut ResolvedClass, Option<MatchConfig>)>,
    others: Vec<(&'p mut ResolvedClass, Option<MatchConfig>)>,
}

impl Context<'_> {
    /// Whether `policy`, or one inside it, queues.
    pub(super) fn queues(&self, policy: &PolicyMap, depth: usize) -> bool {
        let inside = |class: &PolicyClass| {
            let name = class.service_policy.as_ref().filter(|_| self.may_nest(depth))?;
            self.configuration.policy_maps.get(&name.value)
        };
        let mut classes = policy.classes.iter();
        classes
            .any(|class| class.queues() || inside(class).is_some_and(|policy| self.queues(policy, depth + 1)))
    }

    /// The queues of `policy`, which queues; each class learns the name of its queue, which begins with
    /// `prefix`.
    pub(super) fn queueing_of(&mut self, policy: &mut ResolvedPolicy, prefix: &str) -> QueueingConfig {
        let limits = policy.priority_limits.clone();
        let Sorted { priorities, others } = self.sorted(policy);
        if priorities.is_empty() {
            return self.weighted(others, prefix);
        }
        let others = self.weighted(others, &format!("{prefix}others/"));
        self.under_priority(priorities, others, &limits, prefix)
    }

    /// Which classes have priority, and which have a queue of their own.
    fn sorted<'p>(&mut self, policy: &'p mut ResolvedPolicy) -> Sorted<'p> {
        let mut sorted = Sorted { priorities: Vec::new(), others: Vec::new() };
        let (mut before, mut shared) = (Vec::new(), Vec::new());
        // The class that takes every packet, and whether they wait in its own queue.
        let mut taken_by: Option<(String, bool)> = None;
        for class in &mut policy.classes {
            let condition = class.condition.clone();
            match &taken_by {
                Some((_, false)) | None if class.name == CLASS_DEFAULT => {
                    sorted.others.push((class, None));
                    continue;
                }
                Some((other, _)) => {
                    self.unreached(class, other);
                    continue;
                }
                None => {}
            }
            let has_queue = class.queue_limit.is_some();
            if condition == Condition::Always {
                taken_by = Some((class.name.clone(), has_queue || class.priority.is_some()));
            }
            if class.priority.is_some() {
                let own = labels::condition_of(class).unwrap_or_else(|| condition.but_not(&before));
                sorted.priorities.extend(matches(own).map(|matches| (class, matches)));
            } else if has_queue {
                let own = labels::condition_of(class).unwrap_or_else(|| condition.clone().but_not(&shared));
                before.push(condition);
                sorted.others.extend(matches(own).map(|matches| (class, matches)));
            } else {
                // Its packets wait in class-default's queue.
                before.push(condition.clone());
                shared.push(condition);
            }
        }
        sorted
    }

    fn unreached(&mut self, class: &ResolvedClass, other: &str) {
        if class.name != CLASS_DEFAULT {
            self.found.push(Diagnostic::new(
                &rules::CLASS_SHADOWED,
                class.line,
                format!("no packet reaches class {}: class {other} matches every packet", class.name),
                "the router accepts the line; the class stays empty",
            ));
        }
    }

    /// The classes without priority under their scheduler.
    fn weighted(
        &mut self,
        classes: Vec<(&mut ResolvedClass, Option<MatchConfig>)>,
        prefix: &str,
    ) -> QueueingConfig {
        let has_minimum = classes.iter().any(|(class, _)| class.share.rate_bps > 0);
        let scheduler = match *self.platform.rules().scheduler {
            Scheduler::MinimumAndExcess if has_minimum => SchedulerConfig::ThreeParameter,
            Scheduler::MinimumAndExcess | Scheduler::WeightedShares => SchedulerConfig::Scfq,
        };
        let classes = classes
            .into_iter()
            .map(|(class, matches)| {
                let share = share_config(class, scheduler);
                self.class(class, matches, share, prefix)
            })
            .collect();
        QueueingConfig { scheduler, classes, ..QueueingConfig::default() }
    }

    /// A class with a queue of its own, or classes inside it.
    fn class(
        &mut self,
        class: &mut ResolvedClass,
        matches: Option<MatchConfig>,
        share: ShareConfig,
        prefix: &str,
    ) -> ClassConfig {
        let shape = class.shape.map(shape_config);
        let mut config =
            ClassConfig { name: class.name.clone(), matches, share, shape, ..ClassConfig::default() };
        let name = format!("{prefix}{}", class.name);
        if let Some(inner) = class.policy.as_mut().filter(|inner| inner.holds_queue()) {
            config.queueing = Some(self.queueing_of(inner, &format!("{name}/")));
        } else {
            class.queue = Some(name);
            self.fill(&mut config, class);
        }
        config
    }

    /// What a class's queue is like.
    fn fill(&self, config: &mut ClassConfig, class: &ResolvedClass) {
        let Some(limit) = class.queue_limit else { return };
        if let Some(detect) = &class.random_detect {
            let is_limited = class.has_written_limit
                || match *self.platform.rules().wred_tail_limit {
                    WredTailLimit::Written => false,
                    WredTailLimit::UnlessFairQueue => class.fair_queue.is_none(),
                };
            let limit = is_limited.then(|| queue_size(limit));
            let (buffer, precedence) = wred(detect, limit, self.platform);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
        } else if let Some(limits) = class.value_limits.as_ref().filter(|_| class.fair_queue.is_none()) {
            let (buffer, precedence) = weighted_tail_drop(limits, limit);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
        } else if class.fair_queue.is_none() {
            config.buffer = Some(BufferConfig::TailDrop(TailDropConfig { limit: queue_size(limit) }));
        }
        config.fair_queueing = class.fair_queue.map(flows);
    }

    /// `others` under the priority classes.
    fn under_priority(
        &self,
        mut priorities: Vec<(&mut ResolvedClass, Option<MatchConfig>)>,
        others: QueueingConfig,
        limits: &[PriorityLimit],
        prefix: &str,
    ) -> QueueingConfig {
        let is_shared = *self.platform.rules().priority_queue == PriorityQueue::LimitPerLevel;
        let mut classes = Vec::new();
        for level in 1..=LEVELS {
            let of_level: Vec<_> = priorities
                .iter_mut()
                .filter(|(class, _)| class.priority.is_some_and(|priority| priority.level == level))
                .collect();
            let name = if level == 1 { "priority".to_owned() } else { format!("priority level {level}") };
            let prefix = if of_level.len() > 1 { format!("{prefix}{name}/") } else { prefix.to_owned() };
            let queues: Vec<ClassConfig> = of_level
                .into_iter()
                .map(|(class, matches)| self.priority(class, matches.clone(), &prefix))
                .collect();
            match queues.len() {
                0 => {}
                1 => classes.extend(queues),
                // The router has one priority queue, whatever class its packets belong to.
                _ => classes.push(ClassConfig {
                    name,
                    matches: Some(any_of(&queues)),
                    queueing: Some(QueueingConfig {
                        scheduler: SchedulerConfig::Fifo,
                        limit: limits
                            .iter()
                            .find(|limit| limit.level == level)
                            .filter(|_| is_shared)
                            .map(|limit| queue_size(limit.limit)),
                        classes: queues,
                        ..QueueingConfig::default()
                    }),
                    ..ClassConfig::default()
                }),
            }
        }
        if !others.classes.is_empty() {
            let name = "others".to_owned();
            classes.push(ClassConfig { name, queueing: Some(others), ..ClassConfig::default() });
        }
        QueueingConfig { scheduler: SchedulerConfig::Priority, classes, ..QueueingConfig::default() }
    }

    fn priority(&self, class: &mut ResolvedClass, matches: Option<MatchConfig>, prefix: &str) -> ClassConfig {
        let mut config = ClassConfig { name: class.name.clone(), matches, ..ClassConfig::default() };
        let bound = class.priority.and_then(|priority| priority.rate_bps.zip(priority.burst_bytes));
        config.police = bound.map(|(rate, burst)| PoliceConfig {
            rate: Rate::from_bits_per_second(rate),
            burst: ByteSize::from_bytes(burst),
            when: PoliceWhen::Congested,
        });
        class.queue = Some(format!("{prefix}{}", class.name));
        self.fill(&mut config, class);
        config
    }
}

fn share_config(class: &ResolvedClass, scheduler: SchedulerConfig) -> ShareConfig {
    let rate = (class.share.rate_bps > 0).then(|| Rate::from_bits_per_second(class.share.rate_bps));
    match scheduler {
        SchedulerConfig::ThreeParameter => {
            ShareConfig { minimum: rate, weight: class.share.excess, ..ShareConfig::default() }
        }
        _ if class.share.excess.is_some() => {
            ShareConfig { weight: class.share.excess, ..ShareConfig::default() }
        }
        _ => ShareConfig { bandwidth: rate, ..ShareConfig::default() },
    }
}

fn shape_config(shape: ResolvedShape) -> ShapeConfig {
    let form = match shape.kind {
        ShapeKind::Peak if shape.be_bits > 0 => ShapeForm::Peak,
        ShapeKind::Peak | ShapeKind::Average => ShapeForm::Average,
    };
    ShapeConfig {
        rate: Rate::from_bits_per_second(shape.cir_bps),
        burst: ByteSize::from_bytes(shape.bc_bits / 8),
        excess: ByteSize::from_bytes(shape.be_bits / 8),
        form,
    }
}

fn flows(fair: ResolvedFairQueue) -> FairQueueingConfig {
    let weights = if fair.by_precedence { FlowWeights::ByPrecedence } else { FlowWeights::Equal };
    FairQueueingConfig {
        queues: fair.queues,
        flow_limit: QueueSize::Packets(fair.flow_limit_packets),
        limit: QueueSize::Packets(fair.limit_packets),
        weights,
        ..FairQueueingConfig::default()
    }
}

fn any_of(classes: &[ClassConfig]) -> MatchConfig {
    let any = classes.iter().filter_map(|class| class.matches.clone()).collect();
    MatchConfig { any: Some(any), ..MatchConfig::default() }
}
