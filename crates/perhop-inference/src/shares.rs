//! The queues of an output policy, and what each gets while all of them are busy.

use std::collections::BTreeMap;

use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use crate::rates::{
    by_level, by_service_curves, conditioner_limits, has_priority, limit_of, minimum_of, shaper_of,
    weight_of_rest,
};

/// The part of a rate taken for priority classes without a limit: Cisco's advice for low-latency queueing
/// (Enterprise `QoS` Solution Reference Network Design Guide 3.3, chapter 1, "33 percent LLQ rule").
const UNLIMITED_PRIORITY: f64 = 1.0 / 3.0;
/// The part of a priority class's limit that is offered to it, so that its policer stays idle.
pub(crate) const FILLED: f64 = 0.8;

/// A queue of an output policy: a class without child classes.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<'a> {
    /// The names of its classes from the outermost in, as in results.
    pub(crate) path: String,
    pub(crate) name: String,
    /// The match conditions of the class and its parents, which must all hold.
    pub(crate) matches: Vec<&'a MatchConfig>,
    pub(crate) class: &'a ClassConfig,
    /// Whether it has strict priority.
    pub(crate) has_priority: bool,
    /// Bits per second that it gets while all classes are busy.
    pub(crate) share: f64,
    /// Of a tin of CAKE: bits per second that it surely gets, and soon, however busy the others are.
    pub(crate) part: Option<f64>,
}

/// Returns the queues of a policy at a wire of `rate` bits per second, in the order of results.
pub(crate) fn leaves(policy: &PolicyConfig, rate: f64) -> Vec<Leaf<'_>> {
    let mut walk = Walk { policers: conditioner_limits(policy), found: Vec::new() };
    if let Some(queueing) = &policy.queueing {
        let around = Around { prefix: String::new(), matches: Vec::new(), rate, has_priority: false };
        walk.level(queueing, &around);
    }
    walk.found
}

/// The properties that a level of classes has from the classes around it.
struct Around<'a> {
    prefix: String,
    matches: Vec<&'a MatchConfig>,
    rate: f64,
    has_priority: bool,
}

struct Walk<'a> {
    /// The limits of conditioners before the queues, by class.
    policers: BTreeMap<&'a str, f64>,
    found: Vec<Leaf<'a>>,
}

impl<'a> Walk<'a> {
    fn level(&mut self, queueing: &'a QueueingConfig, around: &Around<'a>) {
        let shares = self.shares(queueing, around);
        for (place, (class, share)) in queueing.classes.iter().zip(shares).enumerate() {
            let path = format!("{}{}", around.prefix, class.name);
            let mut matches = around.matches.clone();
            matches.extend(&class.matches);
            let has_priority = around.has_priority || has_priority(queueing, place);
            if let Some(inner) = &class.queueing {
                self.level(inner, &Around { prefix: format!("{path}/"), matches, rate: share, has_priority });
            } else {
                let name = class.name.clone();
                self.tins(Leaf { path, name, matches, class, has_priority, share, part: None });
            }
        }
    }

    /// Adds the queues of a class: itself, or the tins of CAKE.
    ///
    /// With a bandwidth each tin but the first comes before the others up to its part of it; without, the
    /// parts are weights. What it has by weight, a tin gets soon in both cases, as all parts are more than
    /// the whole.
    fn tins(&mut self, leaf: Leaf<'a>) {
        let tins = match &leaf.class.buffer {
            Some(BufferConfig::Cake(cake)) if cake.tins.names().len() > 1 => cake.tins,
            _ => return self.found.push(leaf),
        };
        let (names, parts) = (tins.names(), tins.parts());
        let limit = limit_of(leaf.class).filter(|limit| *limit != 0.0);
        let rate = leaf.share.min(limit.unwrap_or(leaf.share));
        let whole: f64 = parts[0] + parts[1..].iter().sum::<f64>();
        let sure: Vec<f64> = parts[1..].iter().map(|part| rate * part / whole).collect();
        let first = rate - FILLED * sure.iter().sum::<f64>();
        let of_tins =
            std::iter::once((first, None)).chain(sure.iter().map(|part| (FILLED * part, Some(*part))));
        for (name, (share, part)) in names.into_iter().zip(of_tins) {
            let path = format!("{}/{name}", leaf.path);
            self.found.push(Leaf { path, name: name.to_owned(), share, part, ..leaf.clone() });
        }
    }

    /// Returns what each class gets while all are busy, those with priority at 0.8 of their limit.
    fn shares(&self, queueing: &QueueingConfig, around: &Around) -> Vec<f64> {
        let is_by_priority = queueing.scheduler == SchedulerConfig::Priority;
        let count = queueing.classes.len();
        let order = if is_by_priority { by_level(queueing) } else { (0..count).collect() };
        let ahead = match (around.has_priority, is_by_priority) {
            (true, _) => count,
            (false, true) => count.saturating_sub(1),
            (false, false) => 0,
        };
        let limits: Vec<Option<f64>> =
            order[..ahead].iter().map(|place| self.limit(&queueing.classes[*place])).collect();
        let unlimited = limits.iter().filter(|limit| limit.is_none()).count() as f64;
        let mut shares: Vec<f64> = Vec::with_capacity(count);
        for limit in limits {
            let wanted =
                limit.map_or_else(|| UNLIMITED_PRIORITY * around.rate / unlimited, |limit| FILLED * limit);
            shares.push(wanted.min(around.rate - shares.iter().sum::<f64>()));
        }
        let rest: Vec<&ClassConfig> = order[ahead..].iter().map(|place| &queueing.classes[*place]).collect();
        shares.extend(filled(queueing.scheduler, &rest, around.rate - shares.iter().sum::<f64>()));
        let mut by_place = vec![0.0; count];
        for (place, share) in order.into_iter().zip(shares) {
            by_place[place] = share;
        }
        by_place
    }

    /// Returns the limit of a class, or the sum of those of its child classes, if each has one.
    fn limit(&self, class: &ClassConfig) -> Option<f64> {
        let own = limit_of(class).into_iter().chain(self.policers.get(class.name.as_str()).copied());
        let own = own.reduce(f64::min);
        match &class.queueing {
            Some(inner) if own.is_none() => inner.classes.iter().map(|one| self.limit(one)).sum(),
            _ => own,
        }
    }
}

/// Returns how much of `rate` bits per second all classes together may use: shapers limit it.
pub(crate) fn capacity(queueing: &QueueingConfig, rate: f64) -> f64 {
    let most = |class: &ClassConfig| {
        let shaper = shaper_of(class).filter(|shaper| *shaper != 0.0);
        let most = rate.min(shaper.unwrap_or(rate));
        class.queueing.as_ref().map_or(most, |inner| capacity(inner, most))
    };
    queueing.classes.iter().map(most).sum::<f64>().min(rate)
}

/// Shares `rate` among `classes`: guarantees first, then the rest by weight, no class beyond its limit.
fn filled(scheduler: SchedulerConfig, classes: &[&ClassConfig], rate: f64) -> Vec<f64> {
    let minima: Vec<f64> = if scheduler == SchedulerConfig::Hfsc {
        by_service_curves(classes, rate)
    } else {
        classes.iter().map(|one| minimum_of(one)).collect()
    };
    let claimed: f64 = minima.iter().sum();
    let scale = if claimed == 0.0 { 1.0 } else { (rate / claimed).min(1.0) };
    let limit =
        |class: &&ClassConfig| limit_of(class).filter(|limit| *limit != 0.0).unwrap_or(rate).min(rate);
    let limits: Vec<f64> = classes.iter().map(limit).collect();
    let mut shares: Vec<f64> =
        minima.iter().zip(&limits).map(|(least, most)| (scale * least).min(*most)).collect();
    let weights: Vec<f64> = classes.iter().map(|one| weight_of_rest(one)).collect();
    // Each round fills a class at least, or gives everything away.
    for _ in classes {
        let rest = rate - shares.iter().sum::<f64>();
        let hungry: Vec<usize> = (0..classes.len()).filter(|place| shares[*place] < limits[*place]).collect();
        let total: f64 = hungry.iter().map(|place| weights[*place]).sum();
        if total == 0.0 {
            // HFSC: a class without a slope of link-sharing gets the guarantee alone.
            break;
        }
        for place in hungry {
            shares[place] = (shares[place] + rest * weights[place] / total).min(limits[place]);
        }
    }
    shares
}
