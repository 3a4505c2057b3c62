//! Converts [`Policy`] to [`ResolvedPolicy`]: percentages become rates, and the profile supplies missing
//! values.

use perhop_qos::Rate;

use super::bandwidth::{WrittenPolice, bursts_of_police, bytes_in, priority_rate, rate_of, shaper};
use super::guarantees::{guarantees, service_rates};
use super::limits::{class_limit, default_class_limit, fair_queue, priority_limit, rate_of_times, stored};
use super::random_detect::{Queue, random_detect, twice_maximum};
use super::reference::Reference;
use super::resolved::{ResolvedClass, ResolvedPolice, ResolvedPolicy, Share};
use super::target::Target;
use super::value_limits::value_limits;
use crate::intent::{
    Action, Children, Class, InsideColors, Meter, Police, Policy, Priority, PriorityRate, Shape, Then,
    TrafficRate,
};
use crate::policy::{
    Guarantee, Limit, PoliceKind, Priority as ResolvedPriority, PriorityKind, PriorityLimit, ShapeKind,
    Shaper,
};
use crate::profile::{ExceedDefault, OwnQueue, ProfileRules, WredTailLimit};

/// Returns `policy` with percentages as rates and with the values that the text omits.
pub(super) fn resolve(policy: &Policy, reference: Reference, target: Target) -> ResolvedPolicy {
    let queues = policy.queues;
    let with_queues: Vec<(&Class, bool)> =
        policy.classes.iter().map(|class| (class, has_queue(class, target))).collect();
    let shares = guarantees(&with_queues, reference, target.rules);
    let services = service_rates(&with_queues, reference.queueing);
    let classes: Vec<ResolvedClass> = with_queues
        .into_iter()
        .zip(shares)
        .zip(services)
        .map(|(((class, has_queue), share), service_bps)| {
            let mut resolved = class_of(class, share, reference, target.rules);
            resolved.policy =
                class.children().map(|inner| resolve(inner, reference.inside(&resolved), target));
            if queues && has_queue {
                limits(&mut resolved, class, Rates { reference, service_bps }, target);
            }
            resolved
        })
        .collect();
    let priority_limits = priority_limits(&classes, reference);
    ResolvedPolicy {
        name: policy.name.clone(),
        line: policy.line,
        rate_bps: reference.queueing.as_bits_per_second(),
        classes,
        priority_limits,
    }
}

/// Whether `class` has its own queue or scheduler. Packets of a class without one wait in the queue of the
/// class for all other packets.
fn has_queue(class: &Class, target: Target) -> bool {
    let has_share = class.guarantee.is_some() || class.shape.is_some();
    class.takes_rest
        || class.priority.is_some()
        || has_share
        || target.memory.is_some_and(|memory| memory.queue(class).is_some())
        || match *target.rules.own_queue {
            OwnQueue::AnyPolicyInside => class.children != Children::None,
            OwnQueue::FairQueueOrQueuesInside => {
                class.fair_queue.is_some() || class.children().is_some_and(|inner| inner.queues)
            }
        }
}

fn class_of(
    class: &Class,
    (bandwidth, share): (Option<Guarantee>, Share),
    reference: Reference,
    rules: &ProfileRules,
) -> ResolvedClass {
    ResolvedClass {
        id: class.id,
        name: class.name.clone(),
        takes_rest: class.takes_rest,
        line: class.line,
        combination: class.matches.combination,
        matches: class.matches.lines.clone(),
        queue: None,
        conditioner: None,
        bandwidth,
        share,
        priority: class.priority.map(|priority| resolved_priority(priority.value, reference.queueing, rules)),
        police: class.police.as_ref().map(|police| resolved_police(&police.value, reference.police, rules)),
        shape: class.shape.map(|shape| resolved_shape(&shape.value, reference.queueing, rules)),
        queue_limit: None,
        has_written_limit: false,
        value_limits: None,
        label: None,
        fair_queue: None,
        random_detect: None,
        marks: class.marks.iter().map(|mark| mark.value.clone()).collect(),
        drop: class.then == Then::Drop,
        policy: None,
        condition: class.visible().clone(),
    }
}

fn resolved_shape(shape: &Shape, reference: Rate, rules: &ProfileRules) -> Shaper {
    let config = shaper(shape, reference, *rules.shaper_burst);
    let (bc_bits, be_bits) = (config.burst.as_bytes() * 8, config.excess.as_bytes() * 8);
    let cir_bps = config.rate.as_bits_per_second();
    let peak = u128::from(cir_bps) * u128::from(bc_bits + be_bits) / u128::from(bc_bits.max(1));
    let target_bps = match shape.kind {
        ShapeKind::Average => cir_bps,
        ShapeKind::Peak => u64::try_from(peak).unwrap_or(u64::MAX),
    };
    let value_percent = match shape.rate {
        TrafficRate::Percent(percent) => Some(percent),
        TrafficRate::BitsPerSecond(_) => None,
    };
    Shaper { kind: shape.kind, cir_bps, bc_bits, be_bits, target_bps, value_percent }
}

/// The rates to which the limits of a class refer.
#[derive(Clone, Copy)]
struct Rates {
    reference: Reference,
    /// The guaranteed service rate of the class, bits per second.
    service_bps: u64,
}

/// Sets the queue limit of a class, with WRED and fair queueing.
fn limits(resolved: &mut ResolvedClass, class: &Class, rates: Rates, target: Target) {
    let Rates { reference, service_bps } = rates;
    // The rate of the priority or guarantee of a class converts its times to bytes: IOS-XE prints 49152 bytes
    // as 3932 us at 10 % of 1 Gb/s (genieparser, ShowPolicyMapInterface, output 8). A shaper without a
    // guarantee counts as a guarantee of its rate.
    let share = Some(resolved.share.rate_bps).filter(|rate| *rate > 0);
    let guarantee = share.filter(|_| class.guarantee.is_some());
    let shape = resolved.shape.map(|shape| shape.target_bps);
    let priority = resolved.priority.and_then(|priority| priority.rate_bps);
    let own = priority.or(guarantee).or(shape).or(share);
    let of_times = rate_of_times(class.priority.is_some(), service_bps, reference, target.rules);
    let rate = of_times.unwrap_or_else(|| own.map_or(reference.queueing, Rate::from_bits_per_second));
    let line = resolved.shape.map_or(reference.line, |shape| Rate::from_bits_per_second(shape.target_bps));
    let written = class.queue_limit.map(|limit| class_limit(limit.value, rate));
    let default = || match resolved.priority {
        Some(_) => priority_limit(rate, reference, target),
        None => default_class_limit(class.drop_profile.as_ref(), rate, line, reference, target),
    };
    let in_memory = target.memory.and_then(|memory| Some(memory.ceiling(memory.queue(class)?)));
    let limit = in_memory.unwrap_or_else(|| stored(written.unwrap_or_else(default), target.rules));
    resolved.random_detect = class
        .drop_profile
        .as_ref()
        .map(|detect| random_detect(&detect.value, &class.condition, Queue { limit, rate }, target));
    resolved.fair_queue = class
        .fair_queue
        .map(|fair| fair_queue(&fair.value, written, limit, resolved.random_detect.is_some(), target));
    resolved.has_written_limit = written.is_some();
    let limit = match (*target.rules.wred_tail_limit, &resolved.random_detect) {
        (WredTailLimit::TwiceMaximum, Some(detect)) if written.is_none() => {
            stored(twice_maximum(detect), target.rules)
        }
        _ => limit,
    };
    resolved.value_limits =
        class.value_limits.as_ref().map(|limits| value_limits(&limits.value, limit, rate));
    resolved.queue_limit = Some(limit);
}

/// The maximum number of priority levels of any device.
pub(super) const LEVELS: u8 = 7;

/// Returns the limits of the queues that the priority classes of each level share.
fn priority_limits(classes: &[ResolvedClass], reference: Reference) -> Vec<PriorityLimit> {
    let of_level = |level: u8| {
        let limits: Vec<_> = classes
            .iter()
            .filter(|class| class.priority.is_some_and(|priority| priority.level == level))
            .filter_map(|class| class.queue_limit)
            .collect();
        let first = *limits.first()?;
        // In a policy for the peers of a tunnel, limits depend on the rates of classes, so the shared limit
        // is their sum.
        let value =
            if reference.is_per_tunnel { limits.iter().map(|limit| limit.value).sum() } else { first.value };
        Some(PriorityLimit { level, limit: Limit { value, ..first } })
    };
    (1..=LEVELS).filter_map(of_level).collect()
}

fn resolved_priority(priority: Priority, reference: Rate, rules: &ProfileRules) -> ResolvedPriority {
    let rate = priority_rate(priority.rate, reference);
    let (kind, value) = match priority.rate {
        PriorityRate::Unlimited => (PriorityKind::Strict, 0),
        PriorityRate::Kilobits(kilobits) => (PriorityKind::Kbps, kilobits),
        PriorityRate::Percent(percent) => (PriorityKind::Percent, percent),
    };
    let default = |rate: Rate| bytes_in(rate, *rules.priority_burst_us).max(1);
    let burst = rate.map(|rate| priority.burst.unwrap_or_else(|| default(rate)));
    ResolvedPriority {
        level: priority.level,
        has_level: priority.level > 1,
        kind,
        value,
        rate_bps: rate.map(Rate::as_bits_per_second),
        burst_bytes: burst,
    }
}

fn resolved_police(police: &Police, reference: Rate, rules: &ProfileRules) -> ResolvedPolice {
    let or = |own: &[Action], other: fn() -> Action| {
        if own.is_empty() { vec![other()] } else { own.to_vec() }
    };
    let conform = or(&police.conform, Action::transmit);
    let has_peak = matches!(police.meter, Meter::Bytes { peak: Some(_), .. });
    let is_sent = has_peak && *rules.two_rate_exceed == ExceedDefault::Transmit;
    let exceed = or(&police.exceed, if is_sent { Action::transmit } else { Action::drop });
    match police.meter {
        // The default burst is a quarter of a second, as in policers that count bytes.
        Meter::Packets { rate, burst } => ResolvedPolice {
            kind: PoliceKind::Pps,
            value: rate,
            cir_bps: rate,
            bc_bytes: burst.unwrap_or(rate / 4).max(1),
            pir_bps: None,
            be_bytes: None,
            colors: 2,
            conform,
            exceed,
            violate: Vec::new(),
            aware: None,
            inside: InsideColors::Ignored,
        },
        Meter::Bytes { rate, burst, peak, excess_burst } => {
            let written = WrittenPolice { rate, burst, peak, excess_burst };
            let has_two_colors = peak.is_none() && police.violate.is_empty();
            // Without an action of their own, violating packets are treated like exceeding packets.
            let violate = match (has_two_colors, police.violate.is_empty()) {
                (true, _) => Vec::new(),
                (false, true) if is_sent => vec![Action::drop()],
                (false, true) => exceed.clone(),
                (false, false) => police.violate.clone(),
            };
            if police.inside == InsideColors::Kept {
                return around_policers(written, conform, violate_of(police, &exceed), (reference, rules));
            }
            let aware = police.aware.clone();
            let actions =
                ResolvedPolice { aware, conform, exceed, violate, ..metered(written, reference, rules) };
            ResolvedPolice {
                be_bytes: actions.be_bytes.filter(|_| !has_two_colors),
                colors: if has_two_colors { 2 } else { 3 },
                ..actions
            }
        }
    }
}

/// Returns the actions of an outer policer for packets above its rate.
fn violate_of(police: &Police, exceed: &[Action]) -> Vec<Action> {
    match (police.violate.as_slice(), police.exceed.as_slice()) {
        ([], []) => vec![Action::drop()],
        ([], _) => exceed.to_vec(),
        (written, _) => written.to_vec(),
    }
}

/// Returns an outer policer that keeps the colors of packets. The policer has one rate. Packets that conform
/// to the inner policers use the tokens first. The excess bucket fills while the committed bucket is full
/// (RFC 2697 §3).
fn around_policers(
    written: WrittenPolice,
    conform: Vec<Action>,
    violate: Vec<Action>,
    (reference, rules): (Rate, &ProfileRules),
) -> ResolvedPolice {
    let own = metered(WrittenPolice { peak: None, excess_burst: None, ..written }, reference, rules);
    ResolvedPolice {
        be_bytes: Some(own.bc_bytes),
        colors: 3,
        inside: InsideColors::Kept,
        exceed: conform.clone(),
        conform,
        violate,
        ..own
    }
}

/// Returns the rates and bursts of a policer that counts bytes and has a second bucket. The actions are
/// empty.
fn metered(written: WrittenPolice, reference: Rate, rules: &ProfileRules) -> ResolvedPolice {
    let cir = rate_of(written.rate, reference);
    let (committed, excess) = bursts_of_police(written, cir, reference, rules);
    let (kind, value) = match written.rate {
        TrafficRate::BitsPerSecond(bits) => (PoliceKind::Bps, bits),
        TrafficRate::Percent(percent) => (PoliceKind::Percent, percent),
    };
    ResolvedPolice {
        kind,
        value,
        cir_bps: cir.as_bits_per_second(),
        bc_bytes: committed.as_bytes(),
        pir_bps: written.peak.map(|peak| rate_of(peak, reference).as_bits_per_second()),
        be_bytes: Some(excess.as_bytes()),
        colors: 3,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
        aware: None,
        inside: InsideColors::Ignored,
    }
}
