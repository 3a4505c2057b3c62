//! [`Branches`]: the classes of a discipline. The lowered policy and the Intent are both built from them.

use std::collections::BTreeMap;

use perhop_device::ShapeKind;
use perhop_device::intent::{
    At, Children, Class, ClassId, Condition, DropProfile, FairQueue, Guarantee, Policy, PrintedMatches,
    Priority, PriorityRate, QueueLimit, Shape, Then, ThresholdUnit, Thresholds, TrafficRate,
};
use perhop_device::lower::{Links, QueuePath};
use perhop_qos::QueueSize;
use perhop_qos::buffer::{AveragingConfig, BufferConfig, EcnConfig, MredConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};

use crate::model::Qdisc;
use crate::units::shown_id;

/// The classes of a discipline.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// The name of the policy.
    pub(super) name: String,
    /// The line of the discipline.
    pub(super) line: usize,
    /// The scheduler of `classes`.
    pub(super) scheduler: QueueingConfig,
    /// The classes in the order of classification.
    pub(super) classes: Vec<Branch>,
}

/// A class with all treatments of its packets by the kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// The lowered class, without inner classes.
    pub(super) config: ClassConfig,
    /// The demands of the class's options.
    pub(super) demands: Demands,
    /// The inner classes.
    pub(super) inside: Option<Branches>,
}

/// The demands of a class, and their source lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    /// Line of the class; 0 for an implicit class.
    pub(super) line: usize,
    /// Lines of the filters that select the class, and of the disciplines in the class.
    pub(super) others: Vec<usize>,
    /// Line of the discipline that queues the packets of the class; 0 for a default queue.
    pub(super) queue: usize,
    pub(super) guarantee: Option<At<Guarantee>>,
    pub(super) priority: Option<At<Priority>>,
    pub(super) shape: Option<At<Shape>>,
}

impl Demands {
    /// Creates the demands of a class on `line`.
    pub(super) fn at(line: usize) -> Demands {
        Demands { line, ..Demands::default() }
    }

    /// Creates the demands of a class with strict priority `level` in the discipline on `line`. Levels begin
    /// at 0.
    pub(super) fn of_level(line: usize, level: usize) -> Demands {
        let priority = Priority {
            level: u8::try_from(level + 1).unwrap_or(u8::MAX),
            rate: PriorityRate::Unlimited,
            burst: None,
        };
        Demands { priority: Some(At::new(line, priority)), ..Demands::default() }
    }
}

/// Returns a shaper of `rate` bits per second, with a burst in bytes.
pub(super) fn shaper(rate: u64, burst: Option<u64>) -> Shape {
    Shape {
        kind: ShapeKind::Average,
        rate: TrafficRate::BitsPerSecond(rate),
        burst: burst.map(|bytes| bytes.saturating_mul(8)),
        excess_burst: None,
    }
}

/// Returns the lines of the filters of `qdisc` by the class that they select.
pub(super) fn leading_filters(qdisc: &Qdisc) -> BTreeMap<u32, Vec<usize>> {
    let mut found: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for filter in &qdisc.filters {
        let id = filter.class.unwrap_or(0);
        let id = if id >> 16 == 0 { qdisc.handle | id } else { id };
        found.entry(id).or_default().extend(&filter.lines);
    }
    found
}

impl Branches {
    /// Creates the branches of `qdisc`: `classes` under `scheduler`.
    pub(super) fn new(qdisc: &Qdisc, scheduler: QueueingConfig, classes: Vec<Branch>) -> Branches {
        Branches { name: shown_id(qdisc.handle), line: qdisc.line, scheduler, classes }
    }

    /// Returns the lowered scheduler.
    pub(super) fn queueing(&self) -> QueueingConfig {
        let class = |branch: &Branch| ClassConfig {
            queueing: branch.inside.as_ref().map(Branches::queueing),
            ..branch.config.clone()
        };
        QueueingConfig { classes: self.classes.iter().map(class).collect(), ..self.scheduler.clone() }
    }

    /// Returns the Intent, with classes numbered from `next`.
    pub(super) fn intent(&self, next: &mut usize) -> Policy {
        let mut classes: Vec<Class> = self.classes.iter().map(|branch| branch.intent(next)).collect();
        if !classes.iter().any(|class| class.takes_rest) {
            classes.push(unclassified(next));
        }
        Policy { name: self.name.clone(), line: self.line, queues: true, classes }
    }

    /// Adds the places and lines of the classes to `links`, numbered from `next`.
    pub(super) fn link(&self, around: &[usize], next: &mut usize, links: &mut Links) {
        for (index, branch) in self.classes.iter().enumerate() {
            let path: QueuePath = around.iter().copied().chain([index]).collect();
            if let Some(class) = links.of_class_mut(ClassId(*next)) {
                class.queue = branch.inside.is_none().then(|| path.clone());
                class.shaper = branch.demands.shape.is_some().then(|| path.clone());
                class.node = Some(path.clone());
                class.lines.extend(&branch.demands.others);
                class.lines.sort_unstable();
                class.lines.dedup();
            }
            *next += 1;
            if let Some(inside) = &branch.inside {
                inside.link(&path, next, links);
            }
        }
        if self.classes.iter().all(|branch| branch.config.matches.is_some()) {
            *next += 1;
        }
    }
}

impl Branch {
    fn intent(&self, next: &mut usize) -> Class {
        let id = ClassId(*next);
        *next += 1;
        let Branch { config, demands, inside } = self;
        let line = if demands.queue > 0 { demands.queue } else { demands.line };
        Class {
            name: config.name.clone(),
            line: demands.line,
            takes_rest: config.matches.is_none(),
            condition: config.matches.clone().map_or(Condition::Always, Condition::when),
            guarantee: demands.guarantee,
            priority: demands.priority,
            shape: demands.shape,
            queue_limit: config.buffer.as_ref().and_then(limit).map(|limit| At::new(line, limit)),
            drop_profile: config.buffer.as_ref().and_then(drop_profile).map(|profile| At::new(line, profile)),
            fair_queue: config.fair_queueing.as_ref().map(|fair| {
                let packets = |size| match size {
                    QueueSize::Packets(packets) => Some(packets),
                    QueueSize::Bytes(_) => None,
                };
                let fair = FairQueue {
                    dynamic_queues: Some(fair.queues.into()),
                    individual_limit: packets(fair.flow_limit),
                    ..FairQueue::default()
                };
                At::new(line, fair)
            }),
            children: inside.as_ref().map_or(Children::None, |inside| Children::Policy(inside.intent(next))),
            ..empty(id)
        }
    }
}

/// Creates a class without demands.
pub(super) fn empty(id: ClassId) -> Class {
    Class {
        id,
        name: String::new(),
        line: 0,
        takes_rest: false,
        condition: Condition::Always,
        seen: None,
        matches: PrintedMatches::default(),
        guarantee: None,
        excess: None,
        priority: None,
        police: None,
        shape: None,
        queue_limit: None,
        value_limits: None,
        drop_profile: None,
        fair_queue: None,
        marks: Vec::new(),
        then: Then::Transmit,
        children: Children::None,
    }
}

/// Returns the class of unclassified packets, which `drr` drops, and also `hfsc` without a default class.
fn unclassified(next: &mut usize) -> Class {
    let id = ClassId(*next);
    *next += 1;
    Class { name: "unclassified".to_owned(), takes_rest: true, then: Then::Drop, ..empty(id) }
}

/// Returns the queue limit if it is a length. For queues that also limit the delay, returns the limit in
/// packets.
fn limit(buffer: &BufferConfig) -> Option<QueueLimit> {
    let size = match buffer {
        BufferConfig::TailDrop(tail) => tail.limit,
        BufferConfig::Codel(codel) => codel.limit,
        BufferConfig::FqCodel(codel) => codel.limit,
        BufferConfig::Pie(pie) => pie.limit,
        BufferConfig::FqPie(pie) => pie.limit,
        BufferConfig::Red(red) | BufferConfig::Mred(red) => red.limit?,
        _ => return None,
    };
    Some(match size {
        QueueSize::Packets(packets) => QueueLimit::Packets(packets),
        QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
    })
}

/// Returns the drop profile of `red` and `gred`.
fn drop_profile(buffer: &BufferConfig) -> Option<DropProfile> {
    let (BufferConfig::Red(red) | BufferConfig::Mred(red)) = buffer else { return None };
    let MredConfig { precedences, averaging, ecn, .. } = red;
    let [curve] = precedences.as_slice() else { return None };
    let (QueueSize::Bytes(min), QueueSize::Bytes(max)) = (curve.min, curve.max) else { return None };
    let thresholds =
        Thresholds { min, max, mark_probability_denominator: (1.0 / curve.max_probability).round() as u64 };
    Some(DropProfile {
        unit: ThresholdUnit::Bytes,
        exponent: match averaging {
            Some(AveragingConfig::Exponent(exponent)) => Some(*exponent),
            _ => None,
        },
        ecn: (*ecn != EcnConfig::Ignore).then_some(At::new(0, ())),
        aggregate: Some(At::new(0, Some(thresholds))),
        ..DropProfile::default()
    })
}
