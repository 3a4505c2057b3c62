//! What each scheduler guarantees to its classes.
//!
//! Each function follows what is sent between the instant at which a class begins to wait and the end of one
//! of its packets; the scheduler's own file in `perhop-qos` says in which order that is.

#![allow(clippy::doc_markdown)] // formulas

use perhop_analysis::rates::weight;
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::units::PICOSECONDS_PER_SECOND;

use crate::arrival::Arrival;
use crate::guarantee::{Guarantee, Plain};
use crate::lengths::{Lengths, Measure};
use crate::rule::Rule;
use crate::service::Service;
use crate::turns::Turns;

/// A class that has packets to send, under one scheduler with others.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Its configuration.
    pub class: &'a ClassConfig,
    /// The lengths of its packets.
    pub lengths: Lengths,
}

/// What a scheduler has to give.
#[derive(Clone, Debug)]
pub struct Above {
    /// What its amounts are counted in: bytes of the wire, or what a shaper above it counts.
    pub measure: Measure,
    /// What it can send since the port was empty.
    pub plain: Service,
    /// What it can send since any instant from which on packets waited.
    pub strict: Service,
    /// What policies count of a packet.
    pub counted: Measure,
    /// Whether it stands right before the wire, with nothing in between but the packet on the wire.
    pub is_at_wire: bool,
    /// Whether each wire byte counts as one byte of the rate that the scheduler knows, on a ring of one
    /// packet.
    pub is_raw: bool,
    /// How it was derived.
    pub rules: Vec<Rule>,
}

impl Above {
    /// What one counted byte of `child` may take.
    fn cost(&self, child: &Child) -> f64 {
        self.measure.per(self.counted, &child.lengths)
    }
    /// What the longest packet of `child` takes.
    fn longest(&self, child: &Child) -> f64 {
        self.measure.most(&child.lengths)
    }
    fn rules_and(&self, rule: Rule) -> Vec<Rule> {
        self.rules.iter().copied().chain([rule]).collect()
    }
    /// What is guaranteed by two lines.
    pub fn guarantee(&self, measure: Measure, plain: Service, strict: Service, rule: Rule) -> Guarantee {
        let some = |service: Service| {
            let reason = "what has priority over it may take all that there is";
            if service.is_some() { Ok(service) } else { Err(reason.to_owned()) }
        };
        Guarantee {
            measure,
            plain: some(plain).map(Plain::Line),
            strict: some(strict),
            rules: self.rules_and(rule),
        }
    }
    /// All of it.
    pub fn whole(&self) -> Guarantee {
        let rules = if self.rules.is_empty() { vec![Rule::Fifo] } else { self.rules.clone() };
        Guarantee {
            measure: self.measure,
            plain: Ok(Plain::Line(self.plain.clone())),
            strict: Ok(self.strict.clone()),
            rules,
        }
    }
}

/// The weights of `children` under `scheduler`: only their ratios count.
fn weights(scheduler: SchedulerConfig, children: &[Child]) -> Vec<f64> {
    children.iter().map(|child| weight(scheduler, child.class).unwrap_or(1.0)).collect()
}

/// Self-clocked fair queueing (Golestani 1994), for child `index`.
///
/// When it begins to wait its tag starts at the virtual time v, and every other head has a tag of at least v,
/// so a start of at least v − L_j / φ_j. Before a packet behind X bytes, with the tag v + X / φ, each other
/// class sends no more than X · φ_j / φ + L_j. The packet on the wire then is one of these, or, if it is its
/// own, came in the same busy period.
pub fn scfq(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let weights = weights(SchedulerConfig::Scfq, children);
    let of_all: f64 = weights.iter().zip(children).map(|(weight, child)| weight * above.cost(child)).sum();
    let others = children.iter().enumerate().filter(|(other, _)| *other != index);
    let ahead: f64 = others.map(|(_, child)| above.counted.most(&child.lengths) * above.cost(child)).sum();
    let factor = of_all / weights[index];
    let before = if above.is_at_wire { &above.plain } else { &above.strict };
    above.guarantee(
        above.counted,
        before.shared(factor, ahead),
        above.strict.shared(factor, ahead),
        Rule::Scfq,
    )
}

/// Weighted fair queueing and WF2Q+ for child `index` of `all` classes, some of which have nothing to send:
/// the fluid server (Parekh and Gallager 1993, theorem 1; Bennett and Zhang 1997) plus one longest packet.
///
/// What a packet finds waiting says nothing about how far the fluid server is behind: nothing strict is
/// known.
pub fn fluid(above: &Above, children: &[Child], index: usize, all: &[ClassConfig], rule: Rule) -> Guarantee {
    if !above.is_raw {
        let reason = "wfq and wf2q-plus are proved on a wire that adds no bytes and a ring of one packet, \
                      right before it";
        return Guarantee::none(above.counted, reason);
    }
    if children.iter().any(|child| child.class.queueing.is_some() || child.class.shape.is_some()) {
        return Guarantee::none(
            above.counted,
            "nothing is proved of wfq and wf2q-plus above shapers or classes",
        );
    }
    let every: Vec<Child> =
        all.iter().map(|class| Child { class, lengths: children[index].lengths.clone() }).collect();
    let weights = |children: &[Child]| weights(SchedulerConfig::Wfq, children);
    let part = weights(children)[index] / weights(&every).iter().sum::<f64>();
    let longest = children.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
    let line = above.plain.shared(1.0 / part, longest);
    let strict = "of wfq and wf2q-plus nothing is proved for a queue that is full when it begins to count";
    let strict = Err(strict.to_owned());
    Guarantee { strict, ..above.guarantee(above.counted, line, Service::default(), rule) }
}

/// Deficit round robin (Shreedhar and Varghese 1995), for child `index`.
///
/// It begins to wait behind the others. X bytes end in its turn number ⌈X / Q⌉, before which each other class
/// has as many turns, and what it had saved up: less than its longest packet. The packet on the wire is of
/// the others' turns, or its own.
pub fn drr(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let quanta = weights(SchedulerConfig::Drr, children);
    let (mut round, mut saved) = (0.0, 0.0);
    for (number, other) in children.iter().enumerate().filter(|(other, _)| *other != index) {
        round += quanta[number] * above.cost(other);
        saved += (above.counted.most(&other.lengths) - 1.0).max(0.0) * above.cost(other);
    }
    let own = &children[index];
    let grain = own.lengths.only().map_or(1.0, |length| above.counted.of(length));
    let turns = |of: &Service, beside: f64| Turns {
        of: of.clone(),
        factor: above.cost(own),
        grant: quanta[index],
        others: round,
        fixed: saved + beside,
        grain,
    };
    in_turns(above, own, above.counted, Rule::Drr, turns)
}

/// Weighted round robin, for child `index`: as [`drr`], a packet counting one.
pub fn wrr(above: &Above, children: &[Child], index: usize, all: &[ClassConfig]) -> Guarantee {
    let lengths = &children[index].lengths;
    let every: Vec<Child> = all.iter().map(|class| Child { class, lengths: lengths.clone() }).collect();
    // Bandwidths are divided by the smallest, so that a round sends a packet of each.
    let by_bandwidth = all.iter().any(|class| class.share.bandwidth.is_some());
    let weights = |children: &[Child]| weights(SchedulerConfig::Wrr, children);
    let smallest = weights(&every).into_iter().fold(f64::INFINITY, f64::min);
    let unit = if by_bandwidth { smallest } else { 1.0 };
    let grants: Vec<f64> = weights(children).iter().map(|weight| weight / unit).collect();
    let (mut round, mut saved) = (0.0, 0.0);
    for (other, child) in children.iter().enumerate().filter(|(other, _)| *other != index) {
        round += grants[other] * above.longest(child);
        saved += above.longest(child);
    }
    let own = &children[index];
    let turns = |of: &Service, beside: f64| Turns {
        of: of.clone(),
        factor: above.longest(own),
        grant: grants[index],
        others: round,
        fixed: saved + beside,
        grain: 1.0,
    };
    in_turns(above, own, Measure::Packets, Rule::Wrr, turns)
}

fn in_turns(
    above: &Above,
    own: &Child,
    measure: Measure,
    rule: Rule,
    turns: impl Fn(&Service, f64) -> Turns,
) -> Guarantee {
    // What a ring of more packets holds is in the strict curve.
    let plain =
        if above.is_at_wire { turns(&above.plain, above.longest(own)) } else { turns(&above.strict, 0.0) };
    let strict = turns(&above.strict, 0.0).line();
    Guarantee { measure, plain: Ok(Plain::Turns(plain)), strict: Ok(strict), rules: above.rules_and(rule) }
}

/// Strict priority for a level with the levels `before` above it and others `below`.
pub fn priority(above: &Above, below: &[Child], before: &Levels) -> Guarantee {
    let plain = match &before.plain {
        // Only what is below can be on the wire when all of these levels begin.
        Some(arrival) if above.is_at_wire => {
            let longest = below.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
            above.plain.shared(1.0, longest).less(arrival)
        }
        Some(arrival) => above.strict.less(arrival),
        None => above.strict.less(&before.strict),
    };
    above.guarantee(above.measure, plain, above.strict.less(&before.strict), Rule::Priority)
}

/// What the levels above one bring, counted as the scheduler's own amounts.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Since they and that level had nothing to send; `None` where the beginning of that cannot be told.
    pub plain: Option<Arrival>,
    /// In any span.
    pub strict: Arrival,
}

/// How late a guarantee of three-parameter scheduling may be, seconds: what it missed before is forgotten
/// (`PATIENCE` in its file).
const PATIENCE: f64 = 0.25;

/// Three-parameter scheduling, for child `index` with a minimum: the earliest deadline first (H-FSC's
/// real-time criterion).
///
/// What is due by an instant is no more than the minima bring, so that no deadline is missed by more than
/// what is above may hold back and one packet takes. The first deadline is that of its packet before.
pub fn minimum(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let minimum =
        |child: &Child| child.class.share.minimum.map_or(0.0, |rate| rate.as_bits_per_second() as f64 / 8.0);
    let (own, rate) = (&children[index], minimum(&children[index]));
    if rate == 0.0 {
        return Guarantee::none(
            above.counted,
            "it has no minimum: its part of the rest depends on all others",
        );
    }
    let promised: f64 = children.iter().map(|child| minimum(child) * above.cost(child)).sum();
    let longest = children.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
    let able = above.strict.lines().iter().filter(|line| line.rate >= promised);
    let late = able.map(|line| line.latency + longest / line.rate).fold(f64::INFINITY, f64::min);
    if !late.is_finite() {
        return Guarantee::none(above.counted, "the minima add up to more than there is");
    }
    if late >= PATIENCE {
        let reason = format!(
            "minima may be late by {:.0} ms: what they miss beyond {:.0} ms is forgotten",
            late * 1e3,
            PATIENCE * 1e3
        );
        return Guarantee::none(above.counted, &reason);
    }
    let line = Service::rate_latency(rate, late + above.counted.most(&own.lengths) / rate);
    above.guarantee(above.counted, line.clone(), line, Rule::Minimum)
}

/// The first come, first served class `own` among others that bring no more than `others`, in the measure of
/// `above`.
pub fn together(above: &Above, others: Arrival) -> Guarantee {
    Guarantee {
        measure: above.measure,
        plain: Ok(Plain::Together(above.plain.clone(), others)),
        strict: Err("first come, first served with other queues".to_owned()),
        rules: above.rules_and(Rule::Fifo),
    }
}

/// Seconds of a picosecond: by so much sources and wires are early, whose instants are rounded down.
pub const PICOSECOND: f64 = 1.0 / PICOSECONDS_PER_SECOND as f64;
