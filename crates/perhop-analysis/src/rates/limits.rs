//! Rates that a class never exceeds: policers in front of its queue, and shapers and ceilings behind it.

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::action::Action;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policer::PoliceWhen;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm};
use serde::Serialize;

/// The limits of a class, in bits per second; infinite without a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The rate up to which policers admit packets to the queue of the class.
    pub(super) policed: f64,
    /// The rate up to which packets leave the queue: the minimum of the shaper, the ceiling, and the sum of
    /// the limits of inner classes.
    pub(super) held: f64,
    /// The rate up to which the priority applies.
    pub(super) cap: f64,
    /// The minimum of the limits that apply regardless of waiting packets of other classes.
    pub(super) always: f64,
}

impl Limits {
    /// Returns the maximum rate of the class.
    pub(super) fn most(self) -> f64 {
        self.policed.min(self.held)
    }
    /// Returns the minimum of all limits, including the cap of the priority.
    pub(super) fn least(self) -> f64 {
        self.most().min(self.cap)
    }
}

pub(super) fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_second() as f64
}

/// Returns the guarantee of a class of HTB, bits per second. HTB has no rate of 0, so the lowest possible
/// rate, one byte per second, means no guarantee.
pub(super) fn htb_guarantee(rate: Rate) -> f64 {
    if rate.as_bits_per_second() <= 8 { 0.0 } else { bits(rate) }
}

/// Returns the long-term rate of a shaper. With an excess burst in every interval, it is above the committed
/// rate.
pub fn shaped_rate(shape: &ShapeConfig) -> f64 {
    match shape.form {
        ShapeForm::Average => bits(shape.rate),
        // Cisco, "shape (policy-map class)": peak = CIR × (1 + Be / Bc).
        ShapeForm::Peak => {
            let (burst, excess) = (shape.burst.as_bytes() as f64, shape.excess.as_bytes() as f64);
            bits(shape.rate) * (1.0 + excess / burst.max(1.0))
        }
    }
}

/// Returns the rate in bits per second above which a conditioner drops; `None` if it drops no packets or
/// counts packets.
pub fn conditioner_limit(stage: &ConditionerConfig) -> Option<f64> {
    let drops = |actions: &[Action]| actions.contains(&Action::Drop);
    let (committed, peak) = metered_rates(stage.meter.as_ref()?)?;
    let is_hierarchical = matches!(stage.meter, Some(MeterConfig::Hierarchical(_)));
    let limit = if is_hierarchical && !drops(&stage.red) {
        // Premium packets above their rate are red. The stage does not drop red packets, so it has no limit.
        None
    } else if drops(&stage.yellow) {
        Some(committed)
    } else if drops(&stage.red) {
        Some(peak)
    } else {
        None
    };
    limit.filter(|limit| limit.is_finite())
}

/// Returns the rates of a meter up to which packets are green, and up to which they are not red.
fn metered_rates(meter: &MeterConfig) -> Option<(f64, f64)> {
    let both_rates = |rate: Rate| (bits(rate), bits(rate));
    Some(match meter {
        MeterConfig::TokenBucket(meter) => both_rates(meter.rate),
        MeterConfig::TokenBucketWithDebt(meter) => both_rates(meter.rate),
        // RFC 2697: only tokens that overflow the committed bucket fill the excess bucket.
        MeterConfig::SingleRateTcm(meter) => both_rates(meter.cir),
        MeterConfig::EarlyTcm(meter) => both_rates(meter.cir),
        // RFC 2698: the peak rate includes the committed rate.
        MeterConfig::TwoRateTcm(meter) => (bits(meter.cir), bits(meter.pir)),
        // RFC 4115: the excess rate is added to the committed rate.
        MeterConfig::Rfc4115(meter) => (bits(meter.cir), bits(meter.cir) + bits(meter.eir)),
        MeterConfig::Tsw2cm(meter) => both_rates(meter.ctr),
        MeterConfig::Tsw3cm(meter) => (bits(meter.ctr), bits(meter.ptr)),
        // Packets that are not premium are yellow above the rate, and never red, so they have no limit.
        MeterConfig::Hierarchical(meter) => (bits(meter.rate).max(bits(meter.premium_rate)), f64::INFINITY),
        MeterConfig::PacketRate(_) | MeterConfig::RateBased(_) => return None,
    })
}

/// The limits of the classes of one policy.
pub(super) struct LimitsOf<'a> {
    policy: &'a PolicyConfig,
    /// Rates of policers that are not part of the policy, by the name of the queue.
    given: &'a BTreeMap<String, Rate>,
}

impl<'a> LimitsOf<'a> {
    pub(super) fn new(policy: &'a PolicyConfig, given: &'a BTreeMap<String, Rate>) -> LimitsOf<'a> {
        LimitsOf { policy, given }
    }

    /// Returns the limits of a class of `queueing` called `path`, on a wire of `wire` bits per second.
    /// `above` is the scheduler around `queueing`.
    pub(super) fn of_class(
        &self,
        queueing: &QueueingConfig,
        class: &ClassConfig,
        path: &str,
        wire: Option<f64>,
        above: Option<SchedulerConfig>,
    ) -> Limits {
        let share = &class.share;
        let ceiling = match (share.upper_limit, share.real_time) {
            // H-FSC: the upper limit does not apply to a guarantee.
            (Some(limit), claim) => Some(limit.m2.max(claim.map_or(limit.m2, |curve| curve.m2))),
            // Linux `sch_htb`: above its rate a class sends borrowed bandwidth of the enclosing class, up to
            // its ceiling. The wire lends nothing.
            (None, _) if above == Some(SchedulerConfig::Htb) => share.ceil.or(share.rate),
            // Without a ceiling, a class of guarantee-excess has no limit.
            (None, _) if queueing.scheduler == SchedulerConfig::GuaranteeExcess => share.ceil,
            (None, _) => share.rate,
        };
        // In HTB, the guarantees of inner classes do not depend on the ceiling of the enclosing class.
        let is_bounded = queueing.scheduler == SchedulerConfig::GuaranteeExcess;
        let inside = class.link_shared(queueing.scheduler).filter(|_| !is_bounded).map_or(0.0, sum_of_rates);
        let ceiling = ceiling.map(|rate| bits(rate).max(inside));
        let always = [
            class.shape.as_ref().map(shaped_rate),
            cake_rate(class),
            ceiling,
            // CBQ: a class that may not borrow never exceeds its allotment.
            (queueing.scheduler == SchedulerConfig::Cbq && share.borrow == Some(false))
                .then(|| allotment(class, wire))
                .flatten(),
            class.queueing.as_ref().map(|inner| self.sum_inside(inner, path, wire, queueing.scheduler)),
        ];
        let (always, conditioned) = (least(always), self.policed(class, path));
        let cap = share.cap.map(|cap| bits(cap.rate));
        let police = |when| class.police.filter(|police| police.when == when).map(|police| bits(police.rate));
        let policed = [police(PoliceWhen::Always), police(PoliceWhen::Congested), conditioned];
        Limits {
            policed: least(policed),
            held: always,
            cap: least([cap]),
            always: least([Some(always), police(PoliceWhen::Always), conditioned]),
        }
    }

    fn sum_inside(
        &self,
        inner: &QueueingConfig,
        path: &str,
        wire: Option<f64>,
        above: SchedulerConfig,
    ) -> f64 {
        let of_class = |class: &ClassConfig| {
            let path = joined(path, class);
            self.of_class(inner, class, &path, wire, Some(above)).most()
        };
        inner.classes.iter().map(of_class).sum()
    }

    /// Returns the lowest rate of the conditioners that packets of a class pass. These are the conditioners
    /// with the condition or the name of the class.
    fn policed(&self, class: &ClassConfig, path: &str) -> Option<f64> {
        let given = self.given.get(path).copied().map(bits);
        let stages = self.policy.conditioners.iter().filter(|stage| is_of_class(stage, class, path));
        stages.filter_map(conditioner_limit).chain(given).reduce(f64::min)
    }
}

/// Whether a conditioner has the condition or the name of a class.
fn is_of_class(stage: &ConditionerConfig, class: &ClassConfig, path: &str) -> bool {
    let has_condition = stage.matches.is_some() && stage.matches == class.matches;
    has_condition || stage.name.as_ref().is_some_and(|name| *name == class_path(path).replace('/', "."))
}

/// A conditioner that drops above a rate.
#[derive(Clone, Copy, Debug)]
pub struct Policer<'a> {
    /// The conditioner.
    pub stage: &'a ConditionerConfig,
    /// The rate in bits per second.
    pub limit: f64,
    /// The packets that the conditioner meters.
    pub scope: Scope,
}

/// The packets that a policer in front of queues meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Packets of one class. The limit belongs to the class.
    Class,
    /// All packets of the port.
    All,
    /// Packets of several classes, or some packets of a class.
    Other,
}

/// Returns the conditioners of a policy that drop above a rate.
pub fn policers(policy: &PolicyConfig) -> Vec<Policer<'_>> {
    let policer = |stage| {
        let is_of_any = policy.queueing.as_ref().is_some_and(|queueing| has_class_of(queueing, "", stage));
        let scope = match (is_of_any, &stage.matches) {
            (true, _) => Scope::Class,
            (false, None) => Scope::All,
            (false, Some(_)) => Scope::Other,
        };
        Some(Policer { stage, limit: conditioner_limit(stage)?, scope })
    };
    policy.conditioners.iter().filter_map(policer).collect()
}

fn has_class_of(queueing: &QueueingConfig, around: &str, stage: &ConditionerConfig) -> bool {
    queueing.classes.iter().any(|class| {
        let path = joined(around, class);
        let inside = || class.queueing.as_ref().is_some_and(|inner| has_class_of(inner, &path, stage));
        is_of_class(stage, class, &path) || inside()
    })
}

/// Returns the path of a class inside the class with the path `around`.
pub(super) fn joined(around: &str, class: &ClassConfig) -> String {
    if around.is_empty() { class.name.clone() } else { format!("{around}/{}", class.name) }
}

/// Returns the rate of the CAKE of a class, if it has one.
fn cake_rate(class: &ClassConfig) -> Option<f64> {
    match &class.buffer {
        Some(BufferConfig::Cake(cake)) => cake.bandwidth.map(bits).filter(|rate| *rate > 0.0),
        _ => None,
    }
}

/// Returns the rate that the classes of `queueing` can use together on a line of `line` bits per second.
/// Shapers and maxima limit this rate.
pub fn capacity(queueing: &QueueingConfig, line: f64) -> f64 {
    let has_maxima = queueing.scheduler == SchedulerConfig::GuaranteeExcess;
    let most = |class: &ClassConfig| {
        let maximum = class.share.ceil.filter(|_| has_maxima).map(bits);
        let shapers = class.shape.as_ref().map(shaped_rate).into_iter().chain(cake_rate(class));
        let most = shapers.chain(maximum).fold(line, f64::min);
        class.queueing.as_ref().map_or(most, |inner| capacity(inner, most))
    };
    queueing.classes.iter().map(most).sum::<f64>().min(line)
}

/// Returns the allotment of a class of CBQ on a wire of `wire` bits per second, if it is known.
pub(super) fn allotment(class: &ClassConfig, wire: Option<f64>) -> Option<f64> {
    let part = class.share.fraction.zip(wire).map(|(fraction, wire)| fraction * wire);
    class.share.bandwidth.map(bits).or(part)
}

/// Returns the sum of HTB's guarantees to the classes of a level, in bits per second.
fn sum_of_rates(inner: &QueueingConfig) -> f64 {
    let of_class = |class: &ClassConfig| {
        let inside = class.link_shared(SchedulerConfig::Htb).map_or(0.0, sum_of_rates);
        class.share.rate.map_or(0.0, htb_guarantee).max(inside)
    };
    inner.classes.iter().map(of_class).sum()
}

fn least(rates: impl IntoIterator<Item = Option<f64>>) -> f64 {
    rates.into_iter().flatten().fold(f64::INFINITY, f64::min)
}

/// Returns the path of a queue without the classes that exist only for the scheduler: the class that contains
/// all classes without priority, and the class of a priority level.
pub fn class_path(path: &str) -> String {
    let is_level = |part: &str| {
        let level = part.strip_prefix("priority level ");
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        matches!(part, "others" | "priority") || level.is_some_and(is_number)
    };
    let (around, name) = path.rsplit_once('/').unwrap_or(("", path));
    let around = around.split('/').filter(|part| !part.is_empty() && !is_level(part));
    around.chain([name]).collect::<Vec<_>>().join("/")
}
