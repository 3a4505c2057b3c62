//! Rules for the rates of classes while all other classes are fully loaded, level by level.

use perhop_analysis::rates::{ClassRates, Given, Level, has_priority, rates};
use perhop_qos::Rate;
use perhop_qos::policy::{ClassConfig, WireConfig};
use perhop_qos::scheduler::SchedulerConfig;

use crate::finding::{Finding, Place, Subject};
use crate::leaf::Leaf;
use crate::queues::check_ring;
use crate::{bursts, rules};

/// The fraction of the level's rate below which a class counts as starved.
const NOTHING: f64 = 0.005;
/// The fraction of the level's rate above which classes with priority are reported.
const THIRD: f64 = 1.0 / 3.0;
/// IP bytes of packets for the overhead of headers: voice, and the mean of other traffic.
const VOICE_BYTES: u64 = 60;
const MEAN_BYTES: u64 = 500;
/// The fraction of the line rate from which the class for other packets counts as one that gets the rest of
/// the rate. Such a guarantee is not written.
const FULL: f64 = 0.999;
/// The factor above the line rate from which guarantees are too high for most sizes of packets. Packets are
/// often longer than the assumed sizes, and then have less overhead.
const CLEARLY: f64 = 1.1;

pub(crate) fn check(subject: &Subject, found: &mut Vec<Finding>) {
    let given = Given { line: subject.rate, limits: subject.limits };
    let Some(level) = rates(subject.policy, given) else { return };
    let mut walk = Walk { subject, found, has_priority: false };
    walk.level(&level, true, &mut Vec::new());
    if walk.has_priority {
        check_ring(subject, found);
    }
    found.extend(subject.wire.and_then(|wire| overbooked(subject, &level, wire)));
}

struct Walk<'a, 'f> {
    subject: &'a Subject<'a>,
    found: &'f mut Vec<Finding>,
    has_priority: bool,
}

impl Walk<'_, '_> {
    /// Checks the classes of `level`. `path` is the path of the enclosing class. The rates of the classes are
    /// checked only if `is_rate_known`.
    fn level(&mut self, level: &Level, is_rate_known: bool, path: &mut Vec<usize>) {
        let queueing = level.queueing;
        let rate = level.service.filter(|_| is_rate_known);
        let mut in_priority = 0.0;
        let mut unbounded = Vec::new();
        for (index, rates) in level.classes.iter().enumerate() {
            path.push(index);
            let class = rates.class;
            let place = Place::Class(path.clone());
            let service = rates.service.filter(|_| is_rate_known || class.shape.is_some());
            self.shaper(class, rate.map(rate_from_f64), &place);
            bursts::check_class(self.subject, class, queueing.scheduler, &place, self.found);
            self.found.extend(rates_above_parent(class, &place));
            let has_priority = has_priority(queueing, index);
            if has_priority {
                self.has_priority = true;
                if rates.limit.is_none() {
                    unbounded.push((class, place.clone()));
                }
                in_priority += rates.limit.zip(rate).map_or(0.0, |(limit, rate)| part(limit, rate));
            }
            let starves = rate.zip(service).is_some_and(|(rate, own)| part(own, rate) < NOTHING);
            if starves && queueing.classes.len() > 1 {
                self.starves(rates, &place, level);
            }
            if let Some(inner) = &rates.inner {
                // Starvation of all inner classes is reported once, at the outer class.
                self.level(inner, service.is_some() && !starves, path);
            } else {
                let (has_priority, limit) = (rates.has_priority, queueing.limit);
                let sure = service.map(rate_from_f64);
                let (subject, path) = (self.subject, rates.path.as_str());
                Leaf { subject, class, path, place, sure, has_priority, limit }.check(self.found);
            }
            path.pop();
        }
        self.unbounded(&unbounded);
        if in_priority > THIRD && in_priority < 1.0 - NOTHING {
            let place = if path.is_empty() { Place::Policy } else { Place::Class(path.clone()) };
            self.found.push(Finding::new(
                &rules::PRIORITY_ABOVE_THIRD,
                place,
                format!("the priority classes may use {:.0} % of the rate", 100.0 * in_priority),
                "the other classes wait behind these classes; a rule of thumb is at most a third",
            ));
        }
    }

    fn shaper(&mut self, class: &ClassConfig, rate: Option<Rate>, place: &Place) {
        let Some((shape, rate)) = class.shape.zip(rate).filter(|(shape, rate)| shape.rate > *rate) else {
            return;
        };
        self.found.push(Finding::new(
            &rules::SHAPE_ABOVE_INTERFACE,
            place.clone(),
            format!("class {} is shaped to {}, but its rate is at most {rate}", class.name, shape.rate),
            "the shaper never delays a packet: packets wait behind the shaper, not in the class",
        ));
    }

    /// Reports the classes of one level with unlimited priority. The finding is at the first of these
    /// classes.
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
            "such packets can use the whole link: set a rate or a policer",
        ));
    }

    fn starves(&mut self, starved: &ClassRates, place: &Place, level: &Level) {
        let Some(rate) = level.service else { return };
        let bounded = |rates: &&ClassRates| rates.limit.is_some_and(|limit| limit < rate);
        let taker = level.classes.iter().find(|rates| rates.path != starved.path && !bounded(rates));
        // If the class that uses the rate has no limit, another rule reports its unlimited priority.
        if taker.is_some_and(|taker| taker.limit.is_none()) {
            return;
        }
        let others =
            taker.map_or("earlier classes".to_owned(), |taker| format!("class {}", taker.class.name));
        let class = starved.class;
        let what = match &class.queueing {
            Some(inner) => inner.queue_names().join(", "),
            None => class.name.clone(),
        };
        let rate = rate_from_f64(rate);
        self.found.push(Finding::new(
            &rules::CLASS_STARVES,
            place.clone(),
            format!("{what} may get no bandwidth: {others} can use all of {rate}"),
            "limit the earlier classes to less than this rate",
        ));
    }
}

/// Reports a class of HTB whose inner rates exceed its own rate. HTB sends all inner rates, because a class
/// below its rate does not check its parent (Linux `sch_htb`, HTB manual theory §2).
fn rates_above_parent(class: &ClassConfig, place: &Place) -> Option<Finding> {
    let inner = class.queueing.as_ref().filter(|inner| inner.scheduler == SchedulerConfig::Htb)?;
    let own = class.share.rate?;
    let ceil = class.share.ceil.unwrap_or(own);
    let sum: Bits = inner.classes.iter().filter_map(|class| class.share.rate).sum();
    let sum = Rate::from_bits_per_second(sum.0);
    if sum <= own {
        return None;
    }
    let first = inner.classes.iter().find(|class| class.share.rate > Some(own));
    let alone = first.map_or_else(String::new, |first| format!("; class {} alone exceeds it", first.name));
    let remedy = if sum > ceil {
        format!(
            "HTB does not check the ceiling of the parent for a class within its own rate: up to {sum} are \
             sent, more than the ceiling {ceil}"
        )
    } else {
        format!(
            "class {} has nothing to lend, and traffic above its rate competes with its sibling classes",
            class.name
        )
    };
    Some(Finding::new(
        &rules::RATES_ABOVE_PARENT,
        place.clone(),
        format!("the rates inside class {} add up to {sum}, above its own rate {own}{alone}", class.name),
        remedy,
    ))
}

/// A sum of rates.
struct Bits(u64);

impl std::iter::Sum<Rate> for Bits {
    fn sum<I: Iterator<Item = Rate>>(rates: I) -> Bits {
        Bits(rates.map(Rate::as_bits_per_second).fold(0, u64::saturating_add))
    }
}

fn part(rate: f64, of: f64) -> f64 {
    rate / of.max(1.0)
}

fn rate_from_f64(rate: f64) -> Rate {
    Rate::from_bits_per_second(rate as u64)
}

/// Reports guarantees whose sum is at most the line rate in IP bytes, but clearly above the line rate with
/// framing.
fn overbooked(subject: &Subject, level: &Level, wire: &WireConfig) -> Option<Finding> {
    if subject.policy.overhead != 0 {
        return None;
    }
    let grown = |ip: u64| wire.bytes(ip) as f64 / ip as f64;
    let rate = wire.rate.as_bits_per_second() as f64;
    let (mut ip, mut on_wire) = guaranteed(level, grown(VOICE_BYTES), grown(MEAN_BYTES));
    if (FULL * rate..=rate).contains(&ip)
        && let Some(rest) = guarantee_of_rest(level)
    {
        ip -= rest;
        on_wire -= rest * grown(MEAN_BYTES);
    }
    (ip <= rate && on_wire > CLEARLY * rate).then(|| {
        Finding::new(
            &rules::WIRE_OVERBOOKED,
            Place::Policy,
            format!(
                "the guarantees are {} in IP bytes, and {} with the headers of the line of {}, on which a \
                 packet of {VOICE_BYTES} bytes has {} bytes, and a packet of {MEAN_BYTES} bytes has {} bytes",
                Rate::from_bits_per_second(ip as u64),
                Rate::from_bits_per_second(on_wire as u64),
                wire.rate,
                wire.bytes(VOICE_BYTES),
                wire.bytes(MEAN_BYTES)
            ),
            "reduce the guarantees by the headers, cells and padding, or count these bytes by `overhead`",
        )
    })
}

/// Returns the guarantee of the class for other packets, bits per second. The class can be in the class that
/// has all queues below the priority queue.
fn guarantee_of_rest(level: &Level) -> Option<f64> {
    let rest = level.classes.iter().find(|rates| rates.class.matches.is_none())?;
    match &rest.inner {
        Some(inner) if rest.written.is_none() => guarantee_of_rest(inner),
        _ => rest.written.filter(|_| rest.class.police.is_none() && !rest.has_priority),
    }
}

/// Returns the guaranteed rates of the classes, bits per second, in IP bytes and on the wire. The packets of
/// classes with strict priority are assumed to have the size of voice packets.
fn guaranteed(level: &Level, voice: f64, mean: f64) -> (f64, f64) {
    let mut sum = (0.0, 0.0);
    for rates in &level.classes {
        let police = rates.class.police.and(rates.limit);
        let grown = if level.queueing.scheduler == SchedulerConfig::Priority { voice } else { mean };
        let inside = match (police.or(rates.written), &rates.inner) {
            (Some(promised), _) => (promised, promised * grown),
            (None, Some(inner)) => guaranteed(inner, voice, mean),
            (None, None) => (0.0, 0.0),
        };
        sum = (sum.0 + inside.0, sum.1 + inside.1);
    }
    sum
}
