//! [`Walk`]: the rates of all classes, computed from the line inward.

use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::allot::{allot, by_level, has_priority, serve, written};
use super::answer::{ClassRates, Holds, Level, PriorityLoad};
use super::limits::{Limits, LimitsOf, Scope, joined, policers};
use super::weights::{Got, Want, Whole, weights_of_rest};

/// A rate that the classes of a level share, in bits per second.
#[derive(Clone, Copy)]
struct Part<'p> {
    rate: f64,
    /// The share of each class, if an enclosing scheduler divides it.
    divided: &'p [Got],
}

/// The rates that the enclosing classes provide to the classes of a level.
#[derive(Clone, Copy)]
struct Around<'p> {
    path: &'p str,
    /// The shared rate while all classes send at their maximum rate.
    busy: Option<Part<'p>>,
    /// The shared rate while classes with priority and without a limit send nothing.
    bounded: Option<Part<'p>>,
    service: Option<Part<'p>>,
    /// The maximum of the enclosing classes, bits per second.
    maximum: Option<f64>,
    has_priority: bool,
    /// Whether these rates are independent of other classes.
    is_sure: bool,
    is_approximate: bool,
    /// The scheduler of the enclosing class.
    above: Option<SchedulerConfig>,
}

pub(super) struct Walk<'a> {
    pub(super) limits: LimitsOf<'a>,
    /// The line rate, bits per second.
    pub(super) line: Option<f64>,
    /// The traffic with priority while all classes are backlogged.
    pub(super) load: PriorityLoad,
}

/// The classes of one level.
struct Classes<'a> {
    queueing: &'a QueueingConfig,
    paths: Vec<String>,
    limits: Vec<Limits>,
    /// Whether an enclosing class has strict priority.
    in_priority: bool,
}

/// The rates of the classes of one level, by the index of the class.
struct Allotted {
    wants: Vec<Want>,
    /// The rates up to which priority applies, bits per second.
    caps: Vec<f64>,
    got: Vec<Got>,
}

impl Got {
    /// Returns the rate that is divided among the inner classes: the rate of the class, at most the limit in
    /// `own`.
    fn part(&self, own: Limits) -> Part<'_> {
        Part { rate: self.rate.min(own.held), divided: &self.inner }
    }
}

impl Walk<'_> {
    /// Returns the rates of the outermost classes of `policy`, and of their inner classes.
    pub(super) fn outermost<'a>(&self, policy: &PolicyConfig, queueing: &'a QueueingConfig) -> Level<'a> {
        let of_all = policers(policy)
            .into_iter()
            .filter(|policer| policer.scope == Scope::All)
            .map(|policer| policer.limit);
        let of_all = of_all.fold(f64::INFINITY, f64::min);
        let line = self.line.map(|rate| Part { rate, divided: &[] });
        let around = Around {
            path: "",
            busy: line,
            bounded: line,
            service: line,
            maximum: least(self.line, of_all),
            has_priority: false,
            is_sure: true,
            is_approximate: false,
            above: None,
        };
        self.level(queueing, around)
    }

    fn level<'a>(&self, queueing: &'a QueueingConfig, around: Around) -> Level<'a> {
        let level = self.classes(queueing, around.path, around.has_priority, around.above);
        let busy = self.allotted(&level, around.busy, self.load);
        let bounded = self.allotted(&level, around.bounded, PriorityLoad::BOUNDED);
        let served = self.served(&level, busy.as_ref(), around.service);
        let weights = weights_of_rest(queueing, self.whole(around.busy.map_or(0.0, |part| part.rate)));
        let total: f64 = weights.iter().sum();
        let rate = |part: Option<Part>| part.map(|part| part.rate);
        let classes = queueing.classes.iter().enumerate().map(|(index, class)| {
            let own = level.limits[index];
            let part = |got: &'_ [Got]| got[index].rate;
            let while_busy = busy.as_ref().map(|all| part(&all.got));
            let service = match &served {
                Some(served) => Some(part(served)),
                // Other classes may use the difference between the rate and the ceiling of a class of HTB.
                None if queueing.scheduler == SchedulerConfig::Htb => {
                    least(written(queueing.scheduler, class, None), own.held)
                }
                None => own.held.is_finite().then_some(own.held),
            };
            let is_approximate =
                around.is_approximate || busy.as_ref().is_some_and(|all| all.got[index].is_approximate);
            let has_priority = around.has_priority || has_priority(queueing, index);
            let maximum = least(around.maximum, own.most());
            let promised =
                || self.promised(queueing, index, own, (rate(around.busy), busy.as_ref()), bounded.as_ref());
            let inside = |inner| {
                let around = Around {
                    path: &level.paths[index],
                    busy: busy.as_ref().map(|all| all.got[index].part(own)),
                    bounded: bounded.as_ref().map(|all| all.got[index].part(own)),
                    service: served.as_ref().map(|got| got[index].part(own)),
                    maximum,
                    has_priority,
                    is_sure: around.is_sure && is_sure(queueing, busy.as_ref()),
                    is_approximate,
                    above: Some(queueing.scheduler),
                };
                self.level(inner, around)
            };
            ClassRates {
                class,
                path: level.paths[index].clone(),
                has_priority,
                written: written(queueing.scheduler, class, self.line),
                promised: around.is_sure.then(promised).flatten(),
                while_busy,
                service,
                limit: own.finite(),
                holds: own.condition(),
                maximum,
                is_approximate,
                excess: (total > 0.0 && queueing.scheduler != SchedulerConfig::Wrr)
                    .then(|| weights[index] / total),
                inner: class.queueing.as_ref().map(inside),
            }
        });
        Level { queueing, rate: rate(around.busy), service: rate(around.service), classes: classes.collect() }
    }

    fn classes<'q>(
        &self,
        queueing: &'q QueueingConfig,
        path: &str,
        in_priority: bool,
        above: Option<SchedulerConfig>,
    ) -> Classes<'q> {
        let paths: Vec<String> = queueing.classes.iter().map(|class| joined(path, class)).collect();
        let of_class = |(class, path)| self.limits.of_class(queueing, class, path, self.line, above);
        let limits = queueing.classes.iter().zip(paths.iter().map(String::as_str)).map(of_class).collect();
        Classes { queueing, paths, limits, in_priority }
    }

    fn whole(&self, rate: f64) -> Whole {
        Whole { rate, wire: self.line.unwrap_or(rate) }
    }

    /// Divides a rate among classes that send up to their limits.
    fn allotted(&self, level: &Classes, part: Option<Part>, load: PriorityLoad) -> Option<Allotted> {
        let Part { rate, divided } = part?;
        let wants = self.wants(level, rate, load);
        let caps: Vec<f64> = level.limits.iter().map(|limits| limits.cap).collect();
        let got = if divided.is_empty() {
            allot(level.queueing, self.whole(rate), &wants, &caps)
        } else {
            divided.to_vec()
        };
        Some(Allotted { wants, caps, got })
    }

    fn wants(&self, level: &Classes, rate: f64, load: PriorityLoad) -> Vec<Want> {
        let Classes { queueing, paths, limits, in_priority } = level;
        let comes_first = |index: usize| *in_priority || has_priority(queueing, index);
        let unlimited = (0..limits.len())
            .filter(|index| comes_first(*index) && limits[*index].finite().is_none())
            .count();
        let want = |(index, class): (usize, &ClassConfig)| {
            let own = match (limits[index].finite(), load.without_limit) {
                (None, Some(_)) if is_direct(class) => 0.0,
                (Some(limit), Some(_)) if comes_first(index) => load.of_limit * limit,
                (None, Some(part)) if comes_first(index) => part * rate / unlimited as f64,
                _ => limits[index].most(),
            };
            // The trees of other schedulers are divided level by level.
            let scheduler = queueing.scheduler;
            let is_tree = matches!(scheduler, SchedulerConfig::Htb | SchedulerConfig::GuaranteeExcess);
            let inner = class.link_shared(scheduler).filter(|_| is_tree);
            let inside = |inner| {
                let above = Some(queueing.scheduler);
                self.wants(&self.classes(inner, &paths[index], comes_first(index), above), rate, load)
            };
            Want { rate: own, held: limits[index].held, inner: inner.map(inside).unwrap_or_default() }
        };
        queueing.classes.iter().enumerate().map(want).collect()
    }

    /// Returns the rates at which classes are served while they have packets, regardless of policers in front
    /// of their queues.
    fn served(&self, level: &Classes, busy: Option<&Allotted>, part: Option<Part>) -> Option<Vec<Got>> {
        let (part, busy) = part.zip(busy)?;
        if !part.divided.is_empty() {
            return Some(part.divided.to_vec());
        }
        Some(serve(level.queueing, self.whole(part.rate), &busy.wants, &busy.caps))
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
        let without_unlimited = bounded.map(|all| all.got[index].rate);
        if scheduler == SchedulerConfig::Hfsc && without_unlimited.is_some() {
            return without_unlimited;
        }
        if let Some(written) = written(scheduler, class, self.line) {
            return least(without_unlimited.or(Some(f64::INFINITY)), written.min(own.least()));
        }
        let Some(busy) = busy else {
            // If the line rate is unknown, only a class that is served before all other classes has a known
            // rate.
            let is_first =
                scheduler == SchedulerConfig::Priority && by_level(queueing).first() == Some(&index);
            return own.finite().filter(|_| is_first || queueing.classes.len() == 1);
        };
        let got = busy.got[index].rate;
        match scheduler {
            _ if queueing.classes.len() == 1 => Some(got),
            SchedulerConfig::Fifo => {
                let others: f64 = (0..busy.wants.len())
                    .filter(|other| *other != index)
                    .map(|other| busy.wants[other].rate)
                    .sum();
                let whole = rate.unwrap_or(0.0);
                Some((whole - others).min(busy.wants[index].rate)).filter(|sure| *sure > 0.0)
            }
            SchedulerConfig::Priority => {
                // Above its cap, a class gets the rate that the other classes do not use.
                let capped: Vec<f64> =
                    busy.wants.iter().zip(&busy.caps).map(|(want, cap)| want.rate.min(*cap)).collect();
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
}

/// Whether the rates of classes are independent of the traffic of other classes. In a FIFO, they are not.
fn is_sure(queueing: &QueueingConfig, busy: Option<&Allotted>) -> bool {
    let fits = |all: &Allotted| all.wants.iter().zip(&all.got).all(|(want, got)| got.rate >= want.rate);
    queueing.scheduler != SchedulerConfig::Fifo || queueing.classes.len() == 1 || busy.is_some_and(fits)
}

impl Limits {
    fn finite(self) -> Option<f64> {
        Some(self.least()).filter(|limit| limit.is_finite())
    }
    fn condition(self) -> Holds {
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

/// Whether HTB serves a class before all others and without a rate limit.
fn is_direct(class: &ClassConfig) -> bool {
    class.share.direct == Some(true)
}
