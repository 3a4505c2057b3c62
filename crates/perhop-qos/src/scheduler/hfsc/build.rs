//! Builds the classes of HFSC from a policy.

use super::curve::{Runtime, ServiceCurve};
use super::{Class, Hfsc, RealTime};
use crate::error::ConfigError;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::scheduler::config::{SchedulerConfig, ServiceCurveConfig};
use crate::scheduler::share::{Takes, error_in};
use crate::units::{Rate, Time};

const TAKES: Takes = Takes {
    scheduler: "hfsc",
    shares: &["real-time", "link-share", "upper-limit"],
    help: "hfsc accepts the keys real-time, link-share and upper-limit; each is a service curve with m2, or \
           with m1, d and m2",
};

/// The maximum number of nested levels of classes.
const DEEPEST: usize = 32;

impl Hfsc {
    /// Builds the scheduler of `classes` and of the HFSC classes inside them.
    pub(in crate::scheduler) fn build(classes: &[ClassConfig]) -> Result<Hfsc, ConfigError> {
        let mut built = Built::default();
        built.add(classes, None, 0)?;
        let Built { leaves, inner } = built;
        let (leaf_count, wire) = (leaves.len(), leaves.len() + inner.len());
        let parent = |class: &Class| class.parent.map_or(wire, |number| leaf_count + number);
        let mut made: Vec<Class> = leaves.into_iter().chain(inner).collect();
        made.push(Class::new(&ClassConfig::default(), None));
        for index in 0..wire {
            let parent = parent(&made[index]);
            made[index].parent = Some(parent);
            made[parent].children.push(index);
        }
        let waits = |class: &Class| class.upper_limit.is_some() || class.link_share.is_none();
        let may_hold_back = made[..wire].iter().any(waits);
        Ok(Hfsc {
            leaves: leaf_count,
            classes: made,
            places: 0,
            decision: None,
            held_until: None,
            may_hold_back,
        })
    }
}

/// The classes with queues, and the classes with inner classes. The parent of a class is an index into
/// `inner`.
#[derive(Default)]
struct Built {
    leaves: Vec<Class>,
    inner: Vec<Class>,
}

impl Built {
    /// Adds the classes of one level of the policy, inside the inner class `parent`.
    fn add(
        &mut self,
        classes: &[ClassConfig],
        parent: Option<usize>,
        depth: usize,
    ) -> Result<(), ConfigError> {
        TAKES.check(classes)?;
        for (index, config) in classes.iter().enumerate() {
            check_curves(index, config)?;
            let class = Class::new(config, parent);
            let Some(inside) = config.link_shared(SchedulerConfig::Hfsc) else {
                self.leaves.push(class);
                continue;
            };
            check_inner(index, config, inside, depth)?;
            let number = self.inner.len();
            self.inner.push(class);
            self.add(&inside.classes, Some(number), depth + 1)
                .map_err(|error| error.within("queueing").within(index).within("classes"))?;
        }
        Ok(())
    }
}

impl Class {
    fn new(config: &ClassConfig, parent: Option<usize>) -> Class {
        let runtime = |config: &ServiceCurveConfig| Runtime::new(curve(config));
        let share = &config.share;
        let real_time = |deadline: Runtime| RealTime {
            deadline,
            eligible: deadline.eligible(),
            served: 0,
            eligible_at: 0,
            due_at: 0,
            place: 0,
        };
        Class {
            parent,
            children: Vec::new(),
            real_time: share.real_time.as_ref().map(runtime).map(real_time),
            link_share: share.link_share.as_ref().map(runtime),
            upper_limit: share.upper_limit.as_ref().map(runtime),
            waiting: 0,
            active: 0,
            total: 0,
            virtual_time: 0,
            adjustment: 0,
            place: 0,
            period: 0,
            parent_period: 0,
            least: 0,
            greatest_idle: 0,
            fits_at: 0,
        }
    }
}

fn curve(config: &ServiceCurveConfig) -> ServiceCurve {
    match (config.m1, config.d) {
        (Some(m1), Some(d)) => ServiceCurve::new(m1, d, config.m2),
        _ => ServiceCurve::new(config.m2, Time::ZERO, config.m2),
    }
}

/// Checks that each class has the required options and no others.
fn check_curves(index: usize, config: &ClassConfig) -> Result<(), ConfigError> {
    let share = &config.share;
    let curves = [
        ("real-time", share.real_time),
        ("link-share", share.link_share),
        ("upper-limit", share.upper_limit),
    ];
    for (key, curve) in curves.into_iter().filter_map(|(key, curve)| Some((key, curve?))) {
        let zero = Rate::from_bits_per_second(0);
        if curve.m1.is_some() != curve.d.is_some_and(|d| d > Time::ZERO) {
            return Err(error_in(index, key, "m1 and d belong together: a rate and its duration")
                .help("for example {m1: 4Mb/s, d: 10ms, m2: 1Mb/s}, or {m2: 1Mb/s} alone"));
        }
        if curve.m2 == zero && curve.m1.is_none_or(|m1| m1 == zero) {
            return Err(error_in(index, key, "a service curve without slope serves nothing")
                .help("for example {m2: 1Mb/s}"));
        }
    }
    if share.upper_limit.is_some() && share.link_share.is_none() {
        return Err(error_in(
            index,
            "upper-limit",
            "upper-limit limits link-share, which the class does not have",
        )
        .help("write link-share too; real-time is not limited"));
    }
    if share.real_time.is_none() && share.link_share.is_none() {
        return Err(error_in(
            index,
            "",
            "the class has neither real-time nor link-share, so it is never served",
        )
        .help("write link-share, for example {m2: 1Mb/s}"));
    }
    Ok(())
}

/// Rejects the keys that a class with inner classes cannot have. `real-time` is one of them, because it
/// guarantees the service of a queue.
fn check_inner(
    index: usize,
    config: &ClassConfig,
    inside: &QueueingConfig,
    depth: usize,
) -> Result<(), ConfigError> {
    if config.share.real_time.is_some() {
        return Err(error_in(index, "real-time", "only a class with a queue has deadlines")
            .help("write it in the inner classes; this one takes link-share and upper-limit"));
    }
    let at = |key: &str, message: &str| ConfigError::new(key, message).within(index).within("classes");
    if config.shape.is_some() {
        return Err(at("shape", "a class with hfsc inside is not shaped as a whole")
            .help("write share: {upper-limit: ...}"));
    }
    if inside.link_sharing.is_some() {
        return Err(at("queueing", "only cbq has `link-sharing`").help("leave link-sharing out"));
    }
    if depth + 1 >= DEEPEST {
        return Err(at("queueing", "classes are nested too deeply").help("up to 32"));
    }
    Ok(())
}
