//! The guarantees of each scheduler to its classes.
//!
//! Each function counts the bytes that are sent from the time at which a class becomes backlogged until the
//! end of one of its packets. The file of the scheduler in `perhop-qos` documents the order of service.

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

/// A class with traffic, as a child of its scheduler.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// The configuration of the class.
    pub class: &'a ClassConfig,
    /// The lengths of the packets of the class.
    pub lengths: Lengths,
}

/// The capacity that is available to a scheduler.
#[derive(Clone, Debug)]
pub struct Above {
    /// The unit of the amounts: wire bytes, or the bytes that an outer shaper counts.
    pub measure: Measure,
    /// The service since the port was last empty.
    pub plain: Service,
    /// The service since any time, if packets have always waited since this time.
    pub strict: Service,
    /// The bytes that policies count for a packet.
    pub counted: Measure,
    /// Whether the scheduler is directly above the wire, with at most one packet between them.
    pub is_at_wire: bool,
    /// Whether the scheduler counts each wire byte as one byte, and the transmit ring has room for one packet
    /// only.
    pub is_raw: bool,
    /// The rules from which the capacity is derived.
    pub rules: Vec<Rule>,
}

impl Above {
    /// Returns the largest amount, in `measure`, for one counted byte of `child`.
    fn cost(&self, child: &Child) -> f64 {
        self.measure.per(self.counted, &child.lengths)
    }
    /// Returns the amount of the longest packet of `child`, in `measure`.
    fn longest(&self, child: &Child) -> f64 {
        self.measure.most(&child.lengths)
    }
    /// Returns the rules of the capacity, and `rule`.
    fn rules_and(&self, rule: Rule) -> Vec<Rule> {
        self.rules.iter().copied().chain([rule]).collect()
    }
    /// Creates the guarantee with these two service curves.
    pub fn guarantee(&self, measure: Measure, plain: Service, strict: Service, rule: Rule) -> Guarantee {
        let some = |service: Service| {
            let reason = "classes with priority over this one may take the whole rate";
            if service.is_some() { Ok(service) } else { Err(reason.to_owned()) }
        };
        Guarantee {
            measure,
            plain: some(plain).map(Plain::Line),
            strict: some(strict),
            rules: self.rules_and(rule),
        }
    }
    /// Returns the guarantee of a class that has the whole capacity.
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

/// Returns the weights of `children` under `scheduler`. Only the ratios of the weights matter.
fn weights(scheduler: SchedulerConfig, children: &[Child]) -> Vec<f64> {
    children.iter().map(|child| weight(scheduler, child.class).unwrap_or(1.0)).collect()
}

/// Returns the guarantee of self-clocked fair queueing (Golestani 1994) for child `index`.
///
/// When the child becomes backlogged, its start tag is the virtual time v. The first packet of every other
/// class has a finish tag of at least v, and therefore a start tag of at least v − L_j / φ_j. The packet with
/// which the first X bytes of the child end has the finish tag v + X / φ. Before this packet, each other
/// class sends at most X · φ_j / φ + L_j. This amount includes the packet that is on the wire when the child
/// becomes backlogged, unless this packet belongs to the child and arrived in the same busy period.
pub fn scfq(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let weights = weights(SchedulerConfig::Scfq, children);
    let total: f64 = weights.iter().zip(children).map(|(weight, child)| weight * above.cost(child)).sum();
    let others = children.iter().enumerate().filter(|(other, _)| *other != index);
    let ahead: f64 = others.map(|(_, child)| above.counted.most(&child.lengths) * above.cost(child)).sum();
    let factor = total / weights[index];
    let before = if above.is_at_wire { &above.plain } else { &above.strict };
    above.guarantee(
        above.counted,
        before.shared(factor, ahead),
        above.strict.shared(factor, ahead),
        Rule::Scfq,
    )
}

/// Returns the guarantee of weighted fair queueing and WF2Q+ for child `index` of `all` classes, some of
/// which have no traffic. The guarantee is the service of the fluid server, delayed by one longest packet
/// (Parekh and Gallager 1993, theorem 1; Bennett and Zhang 1997).
///
/// The backlog at the arrival of a packet does not bound the lag behind the fluid server. No strict service
/// curve therefore exists.
pub fn fluid(above: &Above, children: &[Child], index: usize, all: &[ClassConfig], rule: Rule) -> Guarantee {
    if !above.is_raw {
        let reason = "the proof for wfq and wf2q-plus needs a wire without overhead and a ring of one packet \
                      directly after it";
        return Guarantee::none(above.counted, reason);
    }
    if children.iter().any(|child| child.class.queueing.is_some() || child.class.shape.is_some()) {
        return Guarantee::none(
            above.counted,
            "no proof is known for wfq and wf2q-plus above shapers or classes",
        );
    }
    let every: Vec<Child> =
        all.iter().map(|class| Child { class, lengths: children[index].lengths.clone() }).collect();
    let weights = |children: &[Child]| weights(SchedulerConfig::Wfq, children);
    let part = weights(children)[index] / weights(&every).iter().sum::<f64>();
    let longest = children.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
    let line = above.plain.shared(1.0 / part, longest);
    let strict = "no proof is known for wfq and wf2q-plus with a queue that is full at the start";
    let strict = Err(strict.to_owned());
    Guarantee { strict, ..above.guarantee(above.counted, line, Service::default(), rule) }
}

/// Returns the guarantee of deficit round robin (Shreedhar and Varghese 1995) for child `index`.
///
/// In the worst case, the child has its turn after all other classes. The first X bytes of the child end in
/// its turn number ⌈X / Q⌉. Before this turn, each other class sends the same number of quanta and its saved
/// deficit, which is smaller than its longest packet. The packet on the wire either belongs to a turn of
/// another class, or it belongs to the child.
pub fn drr(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let quanta = weights(SchedulerConfig::Drr, children);
    let (mut round, mut saved) = (0.0, 0.0);
    for (number, other) in children.iter().enumerate().filter(|(other, _)| *other != index) {
        round += quanta[number] * above.cost(other);
        saved += (above.counted.most(&other.lengths) - 1.0).max(0.0) * above.cost(other);
    }
    let own = &children[index];
    let grain = own.lengths.only().map_or(1.0, |length| above.counted.amount(length));
    let turns = |service: &Service, unfinished: f64| Turns {
        service: service.clone(),
        factor: above.cost(own),
        grant: quanta[index],
        others: round,
        fixed: saved + unfinished,
        grain,
    };
    in_turns(above, own, above.counted, Rule::Drr, turns)
}

/// Returns the guarantee of weighted round robin for child `index`. It follows from the rules of [`drr`] if
/// each packet counts as 1.
pub fn wrr(above: &Above, children: &[Child], index: usize, all: &[ClassConfig]) -> Guarantee {
    let lengths = &children[index].lengths;
    let every: Vec<Child> = all.iter().map(|class| Child { class, lengths: lengths.clone() }).collect();
    // Bandwidths are divided by the smallest bandwidth, so that each class sends at least one packet in each
    // round.
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
    let turns = |service: &Service, unfinished: f64| Turns {
        service: service.clone(),
        factor: above.longest(own),
        grant: grants[index],
        others: round,
        fixed: saved + unfinished,
        grain: 1.0,
    };
    in_turns(above, own, Measure::Packets, Rule::Wrr, turns)
}

/// Returns the guarantee of a class that is served in these `turns`.
fn in_turns(
    above: &Above,
    own: &Child,
    measure: Measure,
    rule: Rule,
    turns: impl Fn(&Service, f64) -> Turns,
) -> Guarantee {
    // If the ring contains more than one packet, only the strict curve counts these packets.
    let plain =
        if above.is_at_wire { turns(&above.plain, above.longest(own)) } else { turns(&above.strict, 0.0) };
    let strict = turns(&above.strict, 0.0).line();
    Guarantee { measure, plain: Ok(Plain::Turns(plain)), strict: Ok(strict), rules: above.rules_and(rule) }
}

/// Returns the guarantee of strict priority for a level. The levels of `before` are above this level, and the
/// levels of `below` are below it.
pub fn priority(above: &Above, below: &[Child], before: &Levels) -> Guarantee {
    let plain = match &before.plain {
        // When the levels above and this level become backlogged, only a packet of a lower level can be on
        // the wire.
        Some(arrival) if above.is_at_wire => {
            let longest = below.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
            above.plain.shared(1.0, longest).less(arrival)
        }
        Some(arrival) => above.strict.less(arrival),
        None => above.strict.less(&before.strict),
    };
    above.guarantee(above.measure, plain, above.strict.less(&before.strict), Rule::Priority)
}

/// The arrivals of all levels above a level, in the unit of the scheduler.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The arrivals since a time when these levels and the level itself had no packets. `None` means that
    /// this time is unknown.
    pub plain: Option<Arrival>,
    /// The arrivals in any span.
    pub strict: Arrival,
}

/// The longest time by which three-parameter scheduling can be late with a guarantee, seconds. If service is
/// later, the class loses its credit for it (`PATIENCE` in the file of the scheduler).
const PATIENCE: f64 = 0.25;

/// Returns the guarantee of three-parameter scheduling for child `index`, which has a minimum rate. Packets
/// are sent in the order of their deadlines, as in the real-time criterion of H-FSC.
///
/// The work that is due at any time is at most the sum of the minimum rates multiplied by the elapsed time. A
/// packet therefore misses its deadline by at most the latency of the capacity plus the time of one packet.
/// The first deadline belongs to the previous packet of the child.
pub fn minimum(above: &Above, children: &[Child], index: usize) -> Guarantee {
    let minimum =
        |child: &Child| child.class.share.minimum.map_or(0.0, |rate| rate.as_bits_per_second() as f64 / 8.0);
    let (own, rate) = (&children[index], minimum(&children[index]));
    if rate == 0.0 {
        return Guarantee::none(
            above.counted,
            "the class has no minimum: its share of the remaining rate depends on all other classes",
        );
    }
    let promised: f64 = children.iter().map(|child| minimum(child) * above.cost(child)).sum();
    let longest = children.iter().map(|child| above.longest(child)).fold(0.0, f64::max);
    let able = above.strict.lines().iter().filter(|line| line.rate >= promised);
    let late = able.map(|line| line.latency + longest / line.rate).fold(f64::INFINITY, f64::min);
    if !late.is_finite() {
        return Guarantee::none(above.counted, "the minima of the classes add up to more than the rate");
    }
    if late >= PATIENCE {
        let reason = format!(
            "the scheduler may serve a minimum up to {:.0} ms late, and a class loses its credit beyond \
             {:.0} ms",
            late * 1e3,
            PATIENCE * 1e3
        );
        return Guarantee::none(above.counted, &reason);
    }
    let line = Service::rate_latency(rate, late + above.counted.most(&own.lengths) / rate);
    above.guarantee(above.counted, line.clone(), line, Rule::Minimum)
}

/// Returns the guarantee of a class that is served first come, first served, together with other classes.
/// `others` are the arrivals of the other classes, in the unit of `above`.
pub fn together(above: &Above, others: Arrival) -> Guarantee {
    Guarantee {
        measure: above.measure,
        plain: Ok(Plain::Together(above.plain.clone(), others)),
        strict: Err("the scheduler serves this queue and others in order of arrival".to_owned()),
        rules: above.rules_and(Rule::Fifo),
    }
}

/// One picosecond in seconds. Packets of sources and wires can be early by one picosecond, because times are
/// rounded down.
pub const PICOSECOND: f64 = 1.0 / PICOSECONDS_PER_SECOND as f64;
