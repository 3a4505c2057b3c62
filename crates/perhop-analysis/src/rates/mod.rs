//! [`rates`]: the promise to each class of a policy, its maximum and its part of the rest.
//!
//! Everything else that needs such a rate reads it from here: rules, inferred loads, `perhop rates`, tables
//! of runs. Rates are long-run averages in bits per second, of the bytes that the policy counts (IP bytes and
//! its `overhead`): headers of the link below take their part of the line, which is not deducted.
//!
//! | rate | what |
//! |---|---|
//! | promised | what the class gets for any traffic of the others; at most its written guarantee, if any |
//! | while busy | what it gets while every class sends as much as it may |
//! | service | the rate at which its queue empties meanwhile: a policer in front of it does not count |
//! | maximum | what it never exceeds while others wait |
//! | excess | its part of what promises leave, and of what others do not use |

mod allot;
mod limits;

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;
use serde::Serialize;

pub use limits::{Policer, Scope, capacity, class_path, conditioner_limit, policers, shaped_rate};

use allot::{Whole, allot, by_level, weights_of_rest, written};
use limits::{Limits, LimitsOf, joined};

/// The place of a policy, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The bits per second that its outermost classes share; `None` where they are not known.
    pub line: Option<Rate>,
    /// Rates of policers in front of queues that the policy itself does not show, by the name of the queue.
    pub limits: &'a BTreeMap<String, Rate>,
}

/// The traffic of classes with strict priority; all other classes send as much as they may.
#[derive(Clone, Copy, Debug)]
pub struct PriorityLoad {
    /// The part of its limit that a class sends.
    pub of_limit: f64,
    /// The part of the rate that classes without a limit send together; `None` for all that is left.
    pub without_limit: Option<f64>,
}

impl PriorityLoad {
    /// The load of classes that send as much as they may.
    pub const FULL: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: None };
    /// The load of classes with a limit that send as much as they may; those without are silent.
    const BOUNDED: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: Some(0.0) };
}

/// The times at which a limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Always.
    Always,
    /// While other classes wait: what exceeds it has no priority, or is dropped then.
    UnderCongestion,
}

/// The classes of one scheduler with their rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Level<'a> {
    /// Their scheduler and classes.
    pub queueing: &'a QueueingConfig,
    /// The bits per second that they share while all are busy.
    pub rate: Option<f64>,
    /// The bits per second at which they are served meanwhile: a policer around them does not count.
    pub service: Option<f64>,
    /// One for each class, in order.
    pub classes: Vec<ClassRates<'a>>,
}

/// The rates of one class, in bits per second.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRates<'a> {
    /// The class.
    pub class: &'a ClassConfig,
    /// The names of its classes from the outermost in, joined by `/`: that of its queue in results.
    pub path: String,
    /// Whether it, or a class around it, has strict priority.
    pub has_priority: bool,
    /// The guarantee as its policy writes it, also where the line does not carry it.
    pub written: Option<f64>,
    /// The rate that it gets for any traffic of the others, while classes with priority and no limit are
    /// silent; `None` where nothing is promised or the line is not known.
    pub promised: Option<f64>,
    /// The rate that it gets while every class sends as much as it may.
    pub while_busy: Option<f64>,
    /// The rate at which its queue empties while every class sends as much as it may.
    pub service: Option<f64>,
    /// The least of its own policer, shaper, cap and ceiling; `None` where it has none.
    pub limit: Option<f64>,
    /// The times at which that limit holds.
    pub holds: Holds,
    /// The most that it sends: its limit, those of the classes around it and of all packets, and the line.
    pub maximum: Option<f64>,
    /// Its part of the rest among the classes of its scheduler, 0 to 1; `None` where the scheduler shares
    /// nothing by bytes.
    pub excess: Option<f64>,
    /// The classes inside it.
    pub inner: Option<Level<'a>>,
}

impl<'a> Level<'a> {
    /// Returns the classes that have a queue, in the order of results.
    pub fn leaves(&self) -> Vec<&ClassRates<'a>> {
        let mut found = Vec::new();
        for class in &self.classes {
            match &class.inner {
                Some(inner) => found.extend(inner.leaves()),
                None => found.push(class),
            }
        }
        found
    }
}

/// Returns the rates of all classes of a policy; `None` for one without queues.
pub fn rates<'a>(policy: &'a PolicyConfig, given: Given) -> Option<Level<'a>> {
    let queueing = policy.queueing.as_ref()?;
    let line = given.line.map(limits::bits);
    let of_all = policers(policy).into_iter().filter(|one| one.scope == Scope::All).map(|one| one.limit);
    let of_all = of_all.fold(f64::INFINITY, f64::min);
    let walk = Walk { limits: LimitsOf::new(policy, given.limits), line, load: PriorityLoad::FULL };
    let around = Around {
        path: "",
        busy: line,
        bounded: line,
        service: line,
        maximum: least(line, of_all),
        has_priority: false,
        is_sure: true,
        above: None,
    };
    Some(walk.level(queueing, around))
}

/// Returns what each queue of a policy gets of `line` while all classes are busy, those with strict priority
/// as `load` says: bits per second in the order of results.
pub fn shares_under(policy: &PolicyConfig, line: f64, load: PriorityLoad) -> Vec<f64> {
    let Some(queueing) = &policy.queueing else { return Vec::new() };
    let none = BTreeMap::new();
    let walk = Walk { limits: LimitsOf::new(policy, &none), line: Some(line), load };
    let mut found = Vec::new();
    walk.shares(queueing, "", line, (false, None), &mut found);
    found
}

/// The rates that the classes of a level have from those around them, bits per second.
#[derive(Clone, Copy)]
struct Around<'p> {
    path: &'p str,
    /// While every class sends as much as it may.
    busy: Option<f64>,
    /// While classes with priority and no limit are silent.
    bounded: Option<f64>,
    service: Option<f64>,
    maximum: Option<f64>,
    has_priority: bool,
    /// Whether others cannot take of these rates.
    is_sure: bool,
    /// The scheduler.
    above: Option<SchedulerConfig>,
}

struct Walk<'a> {
    limits: LimitsOf<'a>,
    /// Bits per second of the wire.
    line: Option<f64>,
    load: PriorityLoad,
}

/// The parts of a rate that the classes of one level get, each in its place.
struct Allotted {
    wants: Vec<f64>,
    /// Up to where priority holds.
    caps: Vec<f64>,
    got: Vec<f64>,
}

impl Walk<'_> {
    fn level<'a>(&self, queueing: &'a QueueingConfig, around: Around) -> Level<'a> {
        let paths: Vec<String> = queueing.classes.iter().map(|class| joined(around.path, class)).collect();
        let limits = self.limits_of(queueing, &paths, around.above);
        let busy = self.allotted(queueing, &limits, around.busy, around.has_priority, PriorityLoad::FULL);
        let bounded =
            self.allotted(queueing, &limits, around.bounded, around.has_priority, PriorityLoad::BOUNDED);
        let weights = weights_of_rest(queueing, self.whole(around.busy.unwrap_or(0.0)));
        let total: f64 = weights.iter().sum();
        let classes = queueing.classes.iter().enumerate().map(|(index, class)| {
            let own = limits[index];
            let service = self.service(queueing, index, own, busy.as_ref(), around.service);
            let has_priority = around.has_priority || has_priority(queueing, index);
            let while_busy = busy.as_ref().map(|all| all.got[index]);
            let maximum = least(around.maximum, own.most());
            let promised =
                || self.promised(queueing, index, own, (around.busy, busy.as_ref()), bounded.as_ref());
            let inside = |inner| {
                let around = Around {
                    path: &paths[index],
                    busy: least(while_busy, own.held),
                    bounded: least(bounded.as_ref().map(|all| all.got[index]), own.held),
                    service,
                    maximum,
                    has_priority,
                    is_sure: around.is_sure && is_sure(queueing, busy.as_ref()),
                    above: Some(queueing.scheduler),
                };
                self.level(inner, around)
            };
            ClassRates {
                class,
                path: paths[index].clone(),
                has_priority,
                written: written(queueing.scheduler, class, self.line),
                promised: around.is_sure.then(promised).flatten(),
                while_busy,
                service,
                limit: own.finite(),
                holds: own.holds(),
                maximum,
                excess: (total > 0.0 && queueing.scheduler != SchedulerConfig::Wrr)
                    .then(|| weights[index] / total),
                inner: class.queueing.as_ref().map(inside),
            }
        });
        Level { queueing, rate: around.busy, service: around.service, classes: classes.collect() }
    }

    fn limits_of(
        &self,
        queueing: &QueueingConfig,
        paths: &[String],
        above: Option<SchedulerConfig>,
    ) -> Vec<Limits> {
        let of_class = |(class, path)| self.limits.of_class(queueing, class, path, self.line, above);
        queueing.classes.iter().zip(paths.iter().map(String::as_str)).map(of_class).collect()
    }

    fn whole(&self, rate: f64) -> Whole {
        Whole { rate, wire: self.line.unwrap_or(rate) }
    }

    /// Divides `rate` among classes that send all that `limits` let pass.
    fn allotted(
        &self,
        queueing: &QueueingConfig,
        limits: &[Limits],
        rate: Option<f64>,
        in_priority: bool,
        load: PriorityLoad,
    ) -> Option<Allotted> {
        let rate = rate?;
        let comes_first = |index: usize| in_priority || has_priority(queueing, index);
        let unlimited = (0..limits.len())
            .filter(|index| comes_first(*index) && limits[*index].finite().is_none())
            .count();
        let want = |index: usize| match (limits[index].finite(), load.without_limit) {
            (None, Some(_)) if is_direct(&queueing.classes[index]) => 0.0,
            (Some(limit), Some(_)) if comes_first(index) => load.of_limit * limit,
            (None, Some(part)) if comes_first(index) => part * rate / unlimited as f64,
            _ => limits[index].most(),
        };
        let wants: Vec<f64> = (0..limits.len()).map(want).collect();
        let caps: Vec<f64> = limits.iter().map(|limits| limits.cap).collect();
        let got = allot(queueing, self.whole(rate), &wants, &caps);
        Some(Allotted { wants, caps, got })
    }

    /// The rate at which a class is served while it has packets, however few its policer lets pass.
    fn service(
        &self,
        queueing: &QueueingConfig,
        index: usize,
        own: Limits,
        busy: Option<&Allotted>,
        rate: Option<f64>,
    ) -> Option<f64> {
        let Some((rate, busy)) = rate.zip(busy) else { return own.held.is_finite().then_some(own.held) };
        if queueing.scheduler == SchedulerConfig::Fifo {
            // Its packets leave with those of the other classes.
            return Some(rate.min(own.held));
        }
        let mut wants = busy.wants.clone();
        wants[index] = own.held;
        Some(allot(queueing, self.whole(rate), &wants, &busy.caps)[index])
    }

    fn promised(
        &self,
        queueing: &QueueingConfig,
        index: usize,
        own: Limits,
        (rate, busy): (Option<f64>, Option<&Allotted>),
        bounded: Option<&Allotted>,
    ) -> Option<f64> {
        let class = &queueing.classes[index];
        let scheduler = queueing.scheduler;
        let without_unlimited = bounded.map(|all| all.got[index]);
        if scheduler == SchedulerConfig::Hfsc && without_unlimited.is_some() {
            return without_unlimited;
        }
        if let Some(written) = written(scheduler, class, self.line) {
            return least(without_unlimited.or(Some(f64::INFINITY)), written.min(own.least()));
        }
        let Some(busy) = busy else {
            // Of an unknown line nothing but what has no other before it is sure.
            let is_first =
                scheduler == SchedulerConfig::Priority && by_level(queueing).first() == Some(&index);
            return own.finite().filter(|_| is_first || queueing.classes.len() == 1);
        };
        let got = busy.got[index];
        match scheduler {
            _ if queueing.classes.len() == 1 => Some(got),
            SchedulerConfig::Fifo => {
                let others: f64 = (0..busy.wants.len())
                    .filter(|other| *other != index)
                    .map(|other| busy.wants[other])
                    .sum();
                let whole = rate.unwrap_or(0.0);
                Some((whole - others).min(busy.wants[index])).filter(|sure| *sure > 0.0)
            }
            SchedulerConfig::Priority => {
                // Beyond its cap a class gets what others leave.
                let capped: Vec<f64> =
                    busy.wants.iter().zip(&busy.caps).map(|(want, cap)| want.min(*cap)).collect();
                let order = by_level(queueing);
                let ahead = order.iter().take_while(|other| **other != index).map(|other| capped[*other]);
                let ahead: f64 = ahead.sum();
                let whole = rate.unwrap_or(0.0);
                ahead.is_finite().then(|| capped[index].min((whole - ahead).max(0.0)))
            }
            SchedulerConfig::ThreeParameter | SchedulerConfig::Wrr => None,
            _ => Some(got).filter(|got| *got > 0.0),
        }
    }

    fn shares(
        &self,
        queueing: &QueueingConfig,
        path: &str,
        rate: f64,
        (in_priority, above): (bool, Option<SchedulerConfig>),
        found: &mut Vec<f64>,
    ) {
        let paths: Vec<String> = queueing.classes.iter().map(|class| joined(path, class)).collect();
        let limits = self.limits_of(queueing, &paths, above);
        let Some(all) = self.allotted(queueing, &limits, Some(rate), in_priority, self.load) else { return };
        for (index, class) in queueing.classes.iter().enumerate() {
            match &class.queueing {
                Some(inner) => {
                    let in_priority = in_priority || has_priority(queueing, index);
                    let above = Some(queueing.scheduler);
                    self.shares(inner, &paths[index], all.got[index], (in_priority, above), found);
                }
                None => found.push(all.got[index]),
            }
        }
    }
}

/// Whether what classes get does not depend on what comes to the others: first come, first served does.
fn is_sure(queueing: &QueueingConfig, busy: Option<&Allotted>) -> bool {
    let fits = |all: &Allotted| all.wants.iter().zip(&all.got).all(|(want, got)| got >= want);
    queueing.scheduler != SchedulerConfig::Fifo || queueing.classes.len() == 1 || busy.is_some_and(fits)
}

impl Limits {
    fn finite(self) -> Option<f64> {
        Some(self.least()).filter(|limit| limit.is_finite())
    }
    fn holds(self) -> Holds {
        if self.always <= self.least() { Holds::Always } else { Holds::UnderCongestion }
    }
}

fn least(rate: Option<f64>, other: f64) -> Option<f64> {
    match rate {
        Some(rate) => Some(rate.min(other)),
        None => Some(other),
    }
    .filter(|least| least.is_finite())
}

/// Whether HTB serves a class before all others, without a rate.
fn is_direct(class: &ClassConfig) -> bool {
    class.share.direct == Some(true)
}

/// Whether the class at `index` has strict priority over another; the last to be served has not.
pub fn has_priority(queueing: &QueueingConfig, index: usize) -> bool {
    queueing.scheduler == SchedulerConfig::Priority && by_level(queueing).last() != Some(&index)
}
