//! What each class is sure of when all others send as much as they may, level by level.

use perhop_qos::Rate;
use perhop_qos::policy::{ClassConfig, QueueingConfig, WireConfig};
use perhop_qos::scheduler::{SchedulerConfig, ServiceCurveConfig, ShareConfig};

use crate::finding::{Finding, Place, Subject};
use crate::queues::{Leaf, check_ring};
use crate::{bursts, rules};

/// Less than this part of its level is nothing.
const NOTHING: f64 = 0.005;
/// Priority above this part of its level is worth a note.
const THIRD: f64 = 1.0 / 3.0;
/// IP bytes of packets for which headers are counted: voice, and the mean of others.
const VOICE_BYTES: u64 = 60;
const MEAN_BYTES: u64 = 500;

pub(crate) fn check(subject: &Subject, queueing: &QueueingConfig, found: &mut Vec<Finding>) {
    let mut walk = Walk { subject, found, has_priority: false };
    walk.level(queueing, subject.rate, &mut Vec::new(), "");
    if walk.has_priority {
        check_ring(subject, found);
    }
    found.extend(subject.wire.and_then(|wire| overbooked(subject, queueing, wire)));
}

struct Walk<'a, 'f> {
    subject: &'a Subject<'a>,
    found: &'f mut Vec<Finding>,
    has_priority: bool,
}

impl Walk<'_, '_> {
    /// The classes of `queueing`, which share `rate`; `path` and `name` are those of the class around them.
    fn level(&mut self, queueing: &QueueingConfig, rate: Option<Rate>, path: &mut Vec<usize>, name: &str) {
        let limits: Vec<Option<Rate>> =
            queueing.classes.iter().map(|class| self.limit(class, &joined(name, class))).collect();
        let sure = rate.map(|rate| sure(queueing, rate, &limits));
        let by_rank = queueing.scheduler == SchedulerConfig::Priority;
        let last = lowest(queueing);
        let mut in_priority = 0.0;
        let mut unbounded = Vec::new();
        for (index, class) in queueing.classes.iter().enumerate() {
            path.push(index);
            let place = Place::Class(path.clone());
            let own = sure.as_ref().map(|sure| Rate::from_bits_per_second(sure[index] as u64));
            let has_priority = by_rank && Some(index) != last;
            self.shaper(class, rate, &place);
            bursts::check_class(self.subject, class, queueing.scheduler, &place, self.found);
            self.found.extend(rates_above_parent(class, &place));
            if has_priority {
                self.has_priority = true;
                if limits[index].is_none() {
                    unbounded.push((class, place.clone()));
                }
                in_priority += limits[index].zip(rate).map_or(0.0, |(limit, rate)| part(limit, rate));
            }
            let starves = rate.zip(own).is_some_and(|(rate, own)| part(own, rate) < NOTHING);
            if starves && queueing.classes.len() > 1 {
                self.starves(class, rate, &place, queueing, &limits);
            }
            let inner_rate = least(own, class.shape.map(|shape| shape.rate));
            if let Some(inner) = &class.queueing {
                // Where nothing is left for all of them, that is said once.
                let inner_rate = inner_rate.filter(|_| !starves);
                // The allotments of CBQ inside CBQ are parts of the wire as well, and the rates of HTB its
                // own.
                let is_of_wire = matches!(queueing.scheduler, SchedulerConfig::Cbq | SchedulerConfig::Htb);
                let is_link_shared = is_of_wire && class.link_shared(queueing.scheduler).is_some();
                let inner_rate = if is_link_shared { rate } else { inner_rate };
                self.level(inner, inner_rate, path, &joined(name, class));
            } else {
                let limit = queueing.limit;
                Leaf { class, place, sure: inner_rate, has_priority, limit }.check(self.found);
            }
            path.pop();
        }
        self.unbounded(&unbounded);
        if in_priority > THIRD && in_priority < 1.0 - NOTHING {
            let place = if path.is_empty() { Place::Policy } else { Place::Class(path.clone()) };
            self.found.push(Finding::new(
                &rules::PRIORITY_ABOVE_THIRD,
                place,
                format!("the priority classes may take {:.0} % of the rate", 100.0 * in_priority),
                "the others wait behind them; a third is a rule of thumb",
            ));
        }
    }

    /// What a class sends at most, as far as something holds it.
    fn limit(&self, class: &ClassConfig, name: &str) -> Option<Rate> {
        let inside = class.queueing.as_ref().and_then(|inner| {
            // A level without a shaper takes what its classes may.
            let limits = inner.classes.iter().map(|class| self.limit(class, &joined(name, class)));
            limits.sum::<Option<Bits>>().map(|bits| Rate::from_bits_per_second(bits.0))
        });
        let same = |conditioner: &&perhop_qos::conditioner::ConditionerConfig| {
            conditioner.matches.is_some() && conditioner.matches == class.matches
        };
        let policer = self.subject.policy.conditioners.iter().find(same);
        let known = [
            inside,
            class.police.map(|police| police.rate),
            class.shape.map(|shape| shape.rate),
            class.share.cap.map(|cap| cap.rate),
            class.share.upper_limit.map(|limit| limit.m2),
            class.share.ceil.or(class.share.rate),
            self.subject.limits.get(name).copied(),
            policer.and_then(crate::policers::held_to),
        ];
        known.into_iter().flatten().min()
    }

    fn shaper(&mut self, class: &ClassConfig, rate: Option<Rate>, place: &Place) {
        let Some((shape, rate)) = class.shape.zip(rate).filter(|(shape, rate)| shape.rate > *rate) else {
            return;
        };
        self.found.push(Finding::new(
            &rules::SHAPE_ABOVE_INTERFACE,
            place.clone(),
            format!("class {} is shaped to {}, and has at most {rate}", class.name, shape.rate),
            "the shaper never waits: the queue forms below it",
        ));
    }

    /// Reports the classes of one level that have priority without a limit, at the first of them.
    fn unbounded(&mut self, classes: &[(&ClassConfig, Place)]) {
        let Some(((first, place), others)) = classes.split_first() else { return };
        let who = match others {
            [] => format!("class {} has", first.name),
            others => {
                let names = others.iter().map(|(class, _)| class.name.as_str());
                let names: Vec<&str> = std::iter::once(first.name.as_str()).chain(names).collect();
                format!("classes {} have", names.join(", "))
            }
        };
        self.found.push(Finding::new(
            &rules::PRIORITY_UNBOUNDED,
            place.clone(),
            format!("{who} priority without a limit"),
            "whatever is marked for it may take the whole link",
        ));
    }

    fn starves(
        &mut self,
        class: &ClassConfig,
        rate: Option<Rate>,
        place: &Place,
        queueing: &QueueingConfig,
        limits: &[Option<Rate>],
    ) {
        let Some(rate) = rate else { return };
        let bounded = |(_, limit): &(&ClassConfig, &Option<Rate>)| limit.is_some_and(|limit| limit < rate);
        // What has no bound at all is told by itself.
        let taker =
            queueing.classes.iter().zip(limits).find(|pair| pair.0.name != class.name && !bounded(pair));
        if taker.is_some_and(|(_, limit)| limit.is_none()) {
            return;
        }
        let others =
            taker.map_or("the classes before it".to_owned(), |(taker, _)| format!("class {}", taker.name));
        let what = match &class.queueing {
            Some(inner) => inner.queue_names().join(", "),
            None => class.name.clone(),
        };
        self.found.push(Finding::new(
            &rules::CLASS_STARVES,
            place.clone(),
            format!("{what}: nothing is left of {rate} when {others} takes what it may"),
            "limit what goes before it",
        ));
    }
}

/// HTB's guarantees inside a class that are more than its own: a class that has not used its own rate does
/// not ask the one around it (Linux `sch_htb`, HTB manual theory §2), so that all are sent.
fn rates_above_parent(class: &ClassConfig, place: &Place) -> Option<Finding> {
    let inner = class.queueing.as_ref().filter(|inner| inner.scheduler == SchedulerConfig::Htb)?;
    let own = class.share.ceil.or(class.share.rate)?;
    let sum: Bits = inner.classes.iter().filter_map(|class| class.share.rate).sum();
    let sum = Rate::from_bits_per_second(sum.0);
    (sum > own).then(|| {
        Finding::new(
            &rules::RATES_ABOVE_PARENT,
            place.clone(),
            format!("the rates inside class {} add up to {sum}, and it has at most {own}", class.name),
            format!("a class within its own rate does not ask the one around it: up to {sum} leave"),
        )
    })
}

/// A sum of rates.
struct Bits(u64);

impl std::iter::Sum<Rate> for Bits {
    fn sum<I: Iterator<Item = Rate>>(rates: I) -> Bits {
        Bits(rates.map(Rate::as_bits_per_second).fold(0, u64::saturating_add))
    }
}

fn joined(around: &str, class: &ClassConfig) -> String {
    if around.is_empty() { class.name.clone() } else { format!("{around}/{}", class.name) }
}

fn part(rate: Rate, of: Rate) -> f64 {
    rate.as_bits_per_second() as f64 / (of.as_bits_per_second() as f64).max(1.0)
}

fn least(one: Option<Rate>, other: Option<Rate>) -> Option<Rate> {
    one.into_iter().chain(other).min()
}

/// The class that is served last.
fn lowest(queueing: &QueueingConfig) -> Option<usize> {
    (0..queueing.classes.len()).max_by_key(|index| rank(queueing, *index))
}

/// When a class is served under strict priority: first the lowest level, then the first in the list.
fn rank(queueing: &QueueingConfig, index: usize) -> (u16, usize) {
    (queueing.classes[index].share.level.unwrap_or(index as u16), index)
}

/// Bits per second that each class gets of `rate` while all others send as much as they may.
fn sure(queueing: &QueueingConfig, rate: Rate, limits: &[Option<Rate>]) -> Vec<f64> {
    let rate = rate.as_bits_per_second() as f64;
    let classes = &queueing.classes;
    match queueing.scheduler {
        SchedulerConfig::Fifo => vec![rate; classes.len()],
        SchedulerConfig::Priority => {
            let mut order: Vec<usize> = (0..classes.len()).collect();
            order.sort_by_key(|index| rank(queueing, *index));
            let (mut left, mut sure) = (rate, vec![0.0; classes.len()]);
            for index in order {
                sure[index] = left;
                left -= limits[index].map_or(left, |limit| left.min(limit.as_bits_per_second() as f64));
            }
            sure
        }
        SchedulerConfig::ThreeParameter => {
            let minimum = |class: &ClassConfig| {
                class.share.minimum.map_or(0.0, |rate| rate.as_bits_per_second() as f64)
            };
            let excess = (rate - classes.iter().map(minimum).sum::<f64>()).max(0.0);
            let weights: f64 = classes.iter().map(|class| class.share.weight.unwrap_or(1.0)).sum();
            let own = |class: &ClassConfig| {
                minimum(class).min(rate)
                    + excess * class.share.weight.unwrap_or(1.0) / weights.max(f64::MIN_POSITIVE)
            };
            classes.iter().map(own).collect()
        }
        // What is guaranteed goes whatever others borrow; where that is more than there is, in turns.
        SchedulerConfig::Htb => {
            let own = |class: &ClassConfig| match class.share.rate {
                Some(rate) => rate.as_bits_per_second() as f64,
                None => rate,
            };
            let guaranteed = classes.iter().filter(|class| class.share.rate.is_some()).map(own);
            let part = (rate / guaranteed.sum::<f64>().max(f64::MIN_POSITIVE)).min(1.0);
            classes
                .iter()
                .map(|class| own(class) * if class.share.rate.is_some() { part } else { 1.0 })
                .collect()
        }
        // Allotments are parts of the wire's rate; where they are more than that, each gets its part of them.
        SchedulerConfig::Cbq => {
            let own = |class: &ClassConfig| {
                let bandwidth = class.share.bandwidth.map(|rate| rate.as_bits_per_second() as f64);
                bandwidth.or(class.share.fraction.map(|fraction| fraction * rate)).unwrap_or(0.0)
            };
            let total: f64 = classes.iter().map(own).sum();
            classes.iter().map(|class| own(class) * (rate / total.max(f64::MIN_POSITIVE)).min(1.0)).collect()
        }
        SchedulerConfig::Hfsc => by_service_curves(classes, rate),
        _ => {
            let total: f64 = classes.iter().map(|class| weight(&class.share)).sum();
            classes.iter().map(|class| rate * weight(&class.share) / total.max(f64::MIN_POSITIVE)).collect()
        }
    }
}

/// What HFSC gives each class in the long run where all of them want more: what it claims, or its part of
/// what is left where that is more.
fn by_service_curves(classes: &[ClassConfig], rate: f64) -> Vec<f64> {
    let slope =
        |curve: Option<ServiceCurveConfig>| curve.map_or(0.0, |one| one.m2.as_bits_per_second() as f64);
    let mut sure: Vec<f64> = classes.iter().map(|class| slope(class.share.real_time).min(rate)).collect();
    let shares: Vec<f64> = classes.iter().map(|class| slope(class.share.link_share)).collect();
    let mut sharing: Vec<usize> = (0..classes.len()).filter(|index| shares[*index] > 0.0).collect();
    loop {
        let claimed: f64 =
            (0..classes.len()).filter(|index| !sharing.contains(index)).map(|index| sure[index]).sum();
        let total: f64 = sharing.iter().map(|index| shares[*index]).sum();
        let part = |index: usize| (rate - claimed).max(0.0) * shares[index] / total;
        let before = sharing.len();
        let has_less = |index: &usize| part(*index) >= sure[*index];
        let left: Vec<usize> = sharing.iter().copied().filter(has_less).collect();
        if left.len() == before {
            for index in left {
                sure[index] = (rate - claimed).max(0.0) * shares[index] / total;
            }
            return sure;
        }
        sharing = left;
    }
}

/// By what a class shares with others.
fn weight(share: &ShareConfig) -> f64 {
    let bandwidth = share.bandwidth.map(|rate| rate.as_bits_per_second() as f64);
    let quantum = share.quantum.map(|quantum| quantum.as_bytes() as f64);
    share.weight.or(bandwidth).or(quantum).unwrap_or(1.0)
}

/// Guarantees that fit the rate in IP bytes and not on the wire.
fn overbooked(subject: &Subject, queueing: &QueueingConfig, wire: &WireConfig) -> Option<Finding> {
    if subject.policy.overhead != 0 {
        return None;
    }
    let grown = |ip: u64| wire.bytes(ip) as f64 / ip as f64;
    let (ip, on_wire) = guaranteed(queueing, grown(VOICE_BYTES), grown(MEAN_BYTES));
    let rate = wire.rate.as_bits_per_second() as f64;
    (ip <= rate && on_wire > rate).then(|| {
        Finding::new(
            &rules::WIRE_OVERBOOKED,
            Place::Policy,
            format!(
                "guarantees of {} in IP bytes take {} on the wire of {}: packets of {VOICE_BYTES} bytes grow to \
                 {}, packets of {MEAN_BYTES} to {}",
                Rate::from_bits_per_second(ip as u64),
                Rate::from_bits_per_second(on_wire as u64),
                wire.rate,
                wire.bytes(VOICE_BYTES),
                wire.bytes(MEAN_BYTES)
            ),
            "leave room for headers, cells and padding, or count them: `overhead`",
        )
    })
}

/// What the classes are promised in bits per second: of IP, and on the wire. Those under strict priority send
/// packets of voice.
fn guaranteed(queueing: &QueueingConfig, voice: f64, mean: f64) -> (f64, f64) {
    let mut sum = (0.0, 0.0);
    for class in &queueing.classes {
        let promised = class.police.map(|police| police.rate);
        let claimed = class.share.real_time.map(|curve| curve.m2);
        let promised = promised.or(class.share.bandwidth).or(class.share.minimum).or(claimed);
        let promised = promised.map_or(0.0, |rate| rate.as_bits_per_second() as f64);
        let grown = if queueing.scheduler == SchedulerConfig::Priority { voice } else { mean };
        let inside = match &class.queueing {
            Some(inner) if promised == 0.0 => guaranteed(inner, voice, mean),
            _ => (promised, promised * grown),
        };
        sum = (sum.0 + inside.0, sum.1 + inside.1);
    }
    sum
}
