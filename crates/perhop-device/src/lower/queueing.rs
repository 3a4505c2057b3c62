//! The queues of a port and their scheduler.
//!
//! ```text
//! with priority classes:   strict priority ─┬─ priority ─ FIFO ─ the priority classes, policed
//!                                           └─ others ─┐
//! without:                                             └─ scheduler ─ the other classes, class-default last
//! ```
//!
//! The scheduler of the other classes is SCFQ by weights. It is the three-parameter scheduler if the profile
//! requires it and a class has a minimum.

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::{FairQueueingConfig, FlowWeights};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::QueueSize;
use perhop_qos::{ByteSize, Rate};

use super::labels;
use super::limits::queue_size;
use super::links::QueuePath;
use super::memory;
use super::random_detect::wred;
use super::remark::Remark;
use super::resolve::LEVELS;
use super::resolved::{ResolvedClass, ResolvedPolicy};
use super::target::Target;
use super::value_limits::weighted_tail_drop;
use crate::intent::{ClassId, Condition};
use crate::policy::{FairQueueing, PriorityLimit, ShapeKind, Shaper};
use crate::profile::{Heeded, PriorityQueue, Scheduler, WredTailLimit};

/// The place of a class in a scheduler.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) class: ClassId,
    /// The path from the scheduler to the class.
    pub(super) path: QueuePath,
    /// Whether the packets of the class wait in this place, and not in queues of inner classes.
    pub(super) is_queue: bool,
    pub(super) is_shaped: bool,
}

/// Returns `places` with paths from the enclosing scheduler, where the class at `index` contains these
/// places.
fn inside(index: usize, places: Vec<Placed>) -> impl Iterator<Item = Placed> {
    places
        .into_iter()
        .map(move |place| Placed { path: std::iter::once(index).chain(place.path).collect(), ..place })
}

/// A class, and the match of the packets that no earlier class matches.
type Own<'p> = (&'p mut ResolvedClass, Option<MatchConfig>);

/// The classes of a policy with their matches, separated by priority.
struct Sorted<'p> {
    priorities: Vec<Own<'p>>,
    others: Vec<Own<'p>>,
}

/// Queues and schedulers of one policy.
pub(super) struct Queueing<'a> {
    pub(super) target: Target<'a>,
    pub(super) remarks: &'a mut Vec<Remark>,
}

impl Queueing<'_> {
    /// Returns the queues of `policy` and the places of its classes. Sets the name of the queue of each
    /// class; the names begin with `prefix`.
    pub(super) fn of_policy(
        &mut self,
        policy: &mut ResolvedPolicy,
        prefix: &str,
    ) -> (QueueingConfig, Vec<Placed>) {
        let limits = policy.priority_limits.clone();
        let Sorted { priorities, others } = self.sorted(policy);
        if priorities.is_empty() {
            return self.weighted(others, prefix);
        }
        let others = self.weighted(others, &format!("{prefix}others/"));
        self.under_priority(priorities, others, &limits, prefix)
    }

    /// Separates the priority classes and the classes with their own queue.
    fn sorted<'p>(&mut self, policy: &'p mut ResolvedPolicy) -> Sorted<'p> {
        let mut sorted = Sorted { priorities: Vec::new(), others: Vec::new() };
        let (mut before, mut shared) = (Vec::new(), Vec::new());
        // The class that matches every packet, and whether these packets wait in a queue of this class.
        let mut taken_by: Option<(String, bool)> = None;
        for class in &mut policy.classes {
            let condition = class.condition.clone();
            match &taken_by {
                Some((_, false)) | None if class.takes_rest => {
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
                sorted.priorities.extend(own.into_match().map(|matches| (class, matches)));
            } else if has_queue {
                let own = labels::condition_of(class).unwrap_or_else(|| condition.clone().but_not(&shared));
                before.push(condition);
                sorted.others.extend(own.into_match().map(|matches| (class, matches)));
            } else {
                // The class has no queue of its own, so its packets wait in the queue of the default class.
                before.push(condition.clone());
                shared.push(condition);
            }
        }
        sorted
    }

    fn unreached(&mut self, class: &ResolvedClass, other: &str) {
        if !class.takes_rest {
            let (line, class, by) = (class.line, class.name.clone(), other.to_owned());
            self.remarks.push(Remark::Unreached { line, class, by });
        }
    }

    /// Returns the scheduler of the classes without priority, and the places of these classes.
    fn weighted(&mut self, classes: Vec<Own>, prefix: &str) -> (QueueingConfig, Vec<Placed>) {
        let has_minimum = classes.iter().any(|(class, _)| class.share.rate_bps > 0);
        let scheduler = match *self.target.rules.scheduler {
            Scheduler::MinimumAndExcess if has_minimum => SchedulerConfig::ThreeParameter,
            Scheduler::MinimumAndExcess | Scheduler::WeightedShares => SchedulerConfig::Scfq,
        };
        let (mut configs, mut places) = (Vec::new(), Vec::new());
        for (index, (class, matches)) in classes.into_iter().enumerate() {
            let share = share_config(class, scheduler);
            let (config, of_class) = self.class(class, matches, share, prefix);
            configs.push(config);
            places.extend(inside(index, of_class));
        }
        (QueueingConfig { scheduler, classes: configs, ..QueueingConfig::default() }, places)
    }

    /// Returns a class with its own queue or inner classes, and its places.
    fn class(
        &mut self,
        class: &mut ResolvedClass,
        matches: Option<MatchConfig>,
        share: ShareConfig,
        prefix: &str,
    ) -> (ClassConfig, Vec<Placed>) {
        let shape = class.shape.map(shape_config);
        let mut config =
            ClassConfig { name: class.name.clone(), matches, share, shape, ..ClassConfig::default() };
        let name = format!("{prefix}{}", class.name);
        let own =
            |is_queue| Placed { class: class.id, path: Vec::new(), is_queue, is_shaped: shape.is_some() };
        if let Some(inner) = class.policy.as_mut().filter(|inner| inner.contains_queue()) {
            let mut places = vec![own(false)];
            let (queueing, of_inner) = self.of_policy(inner, &format!("{name}/"));
            config.queueing = Some(queueing);
            places.extend(of_inner);
            return (config, places);
        }
        let places = vec![own(true)];
        class.queue = Some(name);
        self.fill(&mut config, class);
        (config, places)
    }

    /// Sets the buffer of a class's queue.
    fn fill(&self, config: &mut ClassConfig, class: &ResolvedClass) {
        let Some(limit) = class.queue_limit else { return };
        let in_memory = self.target.memory.and_then(|memory| memory.named(&class.name, class.line));
        // A queue with random drops cannot use the shared memory. Its limit assumes that all other queues are
        // empty.
        if let Some(queue) = in_memory.filter(|_| class.random_detect.is_none()) {
            let (buffer, precedence) = memory::buffer(queue);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
            return;
        }
        if let Some(detect) = &class.random_detect {
            let is_limited = class.has_written_limit
                || in_memory.is_some()
                || match *self.target.rules.wred_tail_limit {
                    WredTailLimit::Written => false,
                    WredTailLimit::UnlessFairQueue => class.fair_queue.is_none(),
                    WredTailLimit::TwiceMaximum => true,
                };
            let limit = is_limited.then(|| queue_size(limit));
            let (buffer, precedence) = wred(detect, limit, self.target);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
        } else if let Some(limits) = class.value_limits.as_ref().filter(|_| class.fair_queue.is_none()) {
            let (buffer, precedence) = weighted_tail_drop(limits, limit);
            (config.buffer, config.precedence) = (Some(buffer), precedence);
        } else if class.fair_queue.is_none() {
            config.buffer = Some(BufferConfig::TailDrop(TailDropConfig { limit: queue_size(limit) }));
        }
        config.fair_queueing = class.fair_queue.map(flows);
    }

    /// Combines the priority classes with the scheduler `others`, which is served after them.
    fn under_priority(
        &self,
        mut priorities: Vec<Own>,
        (others, of_others): (QueueingConfig, Vec<Placed>),
        limits: &[PriorityLimit],
        prefix: &str,
    ) -> (QueueingConfig, Vec<Placed>) {
        let is_shared = *self.target.rules.priority_queue == PriorityQueue::LimitPerLevel;
        let (mut classes, mut places) = (Vec::new(), Vec::new());
        for level in 1..=LEVELS {
            let of_level: Vec<_> = priorities
                .iter_mut()
                .filter(|(class, _)| class.priority.is_some_and(|priority| priority.level == level))
                .collect();
            let name = if level == 1 { "priority".to_owned() } else { format!("priority level {level}") };
            let prefix = if of_level.len() > 1 { format!("{prefix}{name}/") } else { prefix.to_owned() };
            let ids: Vec<ClassId> = of_level.iter().map(|(class, _)| class.id).collect();
            let queues: Vec<ClassConfig> = of_level
                .into_iter()
                .map(|(class, matches)| self.priority(class, matches.clone(), &prefix))
                .collect();
            let index = classes.len();
            let place =
                |class: ClassId, path: QueuePath| Placed { class, path, is_queue: true, is_shaped: false };
            match queues.len() {
                0 => {}
                1 => {
                    classes.extend(queues);
                    places.extend(ids.into_iter().map(|class| place(class, vec![index])));
                }
                // The classes share one queue, because the device has one priority queue for all of them.
                _ => {
                    let limit = limits.iter().find(|limit| limit.level == level).filter(|_| is_shared);
                    classes.push(one_queue(name, queues, limit.map(|limit| queue_size(limit.limit))));
                    let members = ids.into_iter().enumerate();
                    places.extend(members.map(|(member, class)| place(class, vec![index, member])));
                }
            }
        }
        if !others.classes.is_empty() {
            let name = "others".to_owned();
            places.extend(inside(classes.len(), of_others));
            classes.push(ClassConfig { name, queueing: Some(others), ..ClassConfig::default() });
        }
        let scheduler = SchedulerConfig::Priority;
        (QueueingConfig { scheduler, classes, ..QueueingConfig::default() }, places)
    }

    fn priority(&self, class: &mut ResolvedClass, matches: Option<MatchConfig>, prefix: &str) -> ClassConfig {
        let shape = class.shape.filter(|_| *self.target.rules.priority_shaper == Heeded::Heeded);
        let mut config = ClassConfig {
            name: class.name.clone(),
            matches,
            shape: shape.map(shape_config),
            ..ClassConfig::default()
        };
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

/// Puts the priority classes of one level, `queues`, into one queue with `limit`.
fn one_queue(name: String, queues: Vec<ClassConfig>, limit: Option<QueueSize>) -> ClassConfig {
    ClassConfig {
        name,
        matches: Some(any_of(&queues)),
        queueing: Some(QueueingConfig {
            scheduler: SchedulerConfig::Fifo,
            limit,
            classes: queues,
            ..QueueingConfig::default()
        }),
        ..ClassConfig::default()
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

fn shape_config(shape: Shaper) -> ShapeConfig {
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

fn flows(fair: FairQueueing) -> FairQueueingConfig {
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
