//! HFSC compared packet by packet with a plain copy of the steps in Linux, and with its proved properties:
//! deadlines, and the shares of the fluid model.
//!
//! Wires run at 8 Mb/s, one byte per microsecond.

use crate::plain::hfsc::{Curve, Hfsc};
use crate::wire::{Arrival, Departure, send};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ServiceCurveConfig, ShareConfig};
use perhop_qos::units::{Rate, Time};
use proptest::prelude::*;

const RATE: Rate = Rate::from_bits_per_second(8_000_000);
const LONGEST: u32 = 1500;

/// A class: its real-time, link-share and upper-limit curves, and its inner classes.
#[derive(Clone, Debug)]
struct Tree {
    curves: [Option<Curve>; 3],
    inside: Vec<Tree>,
}

impl Tree {
    fn config(&self) -> ClassConfig {
        let curve = |curve: Curve| {
            let rate = |rate: u128| Rate::from_bits_per_second(rate as u64);
            let first = (curve.1 > 0).then(|| (rate(curve.0), Time::from_picoseconds(curve.1 as u64)));
            ServiceCurveConfig { m1: first.map(|(m1, _)| m1), d: first.map(|(_, d)| d), m2: rate(curve.2) }
        };
        let [real_time, link_share, upper_limit] = self.curves.map(|config| config.map(curve));
        let share = ShareConfig { real_time, link_share, upper_limit, ..Default::default() };
        let queueing = (!self.inside.is_empty()).then(|| hfsc(&self.inside));
        ClassConfig { share, queueing, ..Default::default() }
    }
    /// Adds the class to the plain model inside `parent`, and the numbers of classes with queues to `leaves`.
    fn add(&self, model: &mut Hfsc, parent: usize, leaves: &mut Vec<usize>) {
        let number = model.add(parent, self.curves);
        for class in &self.inside {
            class.add(model, number, leaves);
        }
        if self.inside.is_empty() {
            leaves.push(number);
        }
    }
    fn leaves(&self) -> usize {
        self.inside.iter().map(Tree::leaves).sum::<usize>().max(1)
    }
}

fn hfsc(classes: &[Tree]) -> QueueingConfig {
    let classes = classes.iter().map(Tree::config).collect();
    QueueingConfig { scheduler: SchedulerConfig::Hfsc, classes, ..Default::default() }
}

/// The packets that the plain model sends: queue, length, start.
fn by_plain(classes: &[Tree], arrivals: &[Arrival]) -> Vec<(usize, u32, Time)> {
    let (mut model, mut leaves) = (Hfsc::new(), Vec::new());
    for class in classes {
        class.add(&mut model, 0, &mut leaves);
    }
    let (mut now, mut next, mut sent) = (Time::ZERO, 0, Vec::new());
    while sent.len() < arrivals.len() {
        while next < arrivals.len() && arrivals[next].at <= now {
            let Arrival { at, queue, length } = arrivals[next];
            model.enqueue(at.as_picoseconds().into(), leaves[queue], length);
            next += 1;
        }
        let coming = arrivals.get(next).map_or(Time::MAX, |arrival| arrival.at);
        match model.dequeue(now.as_picoseconds().into()) {
            Ok((leaf, length)) => {
                let queue = leaves.iter().position(|candidate| *candidate == leaf).unwrap();
                sent.push((queue, length, now));
                let free = now + RATE.transmission_time(length.into());
                // An arrival while the wire is busy is processed with its own time.
                while next < arrivals.len() && arrivals[next].at < free {
                    let Arrival { at, queue, length } = arrivals[next];
                    model.enqueue(at.as_picoseconds().into(), leaves[queue], length);
                    next += 1;
                }
                now = free;
            }
            Err(until) => now = Time::from_picoseconds(u64::try_from(until).unwrap_or(u64::MAX)).min(coming),
        }
    }
    sent
}

fn by_perhop(classes: &[Tree], arrivals: &[Arrival]) -> Vec<(usize, u32, Time)> {
    let departures = send(&hfsc(classes), RATE, arrivals);
    departures.iter().map(|departure| (departure.queue, departure.length, departure.starts)).collect()
}

/// A curve with rates in multiples of 100 kb/s and times in multiples of 100 us.
fn curves(slopes: std::ops::Range<u128>) -> impl Strategy<Value = Curve> {
    let curve = |(m1, d, m2): (u128, u128, u128)| match d {
        0 => (m2 * 100_000, 0, m2 * 100_000),
        _ => (m1 * 100_000, d * 100_000_000, m2 * 100_000),
    };
    (0..slopes.end, prop_oneof![Just(0u128), 1..100u128], slopes).prop_map(curve)
}

fn leaf() -> impl Strategy<Value = Tree> {
    let limit = proptest::option::weighted(0.3, curves(4..60));
    (0..4u8, curves(1..30), curves(1..60), limit).prop_map(|(kind, claim, share, limit)| {
        let curves = match kind {
            0 => [Some(claim), None, None],
            1 => [Some(claim), Some(share), limit],
            _ => [None, Some(share), limit],
        };
        Tree { curves, inside: Vec::new() }
    })
}

fn trees() -> impl Strategy<Value = Vec<Tree>> {
    let limit = proptest::option::weighted(0.3, curves(4..60));
    let inner = (curves(1..60), limit, proptest::collection::vec(leaf(), 1..4))
        .prop_map(|(share, limit, inside)| Tree { curves: [None, Some(share), limit], inside });
    proptest::collection::vec(prop_oneof![leaf(), inner], 1..4)
}

/// Up to 60 packets. The gaps between them fill and empty the queues.
fn traces() -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 1..1_000_000u64, 1 => 1_000_000..20_000_000u64];
    proptest::collection::vec((gap, 0..64usize, 40..=LONGEST), 1..60)
}

fn arrivals(trace: Vec<(u64, usize, u32)>, queues: usize) -> Vec<Arrival> {
    let mut at = Time::ZERO;
    let arrival = |(gap, queue, length)| {
        at += Time::from_nanoseconds(gap);
        Arrival { at, queue: queue % queues, length }
    };
    trace.into_iter().map(arrival).collect()
}

fn served(departures: &[Departure], queue: usize, from: Time, to: Time) -> f64 {
    let within = departures
        .iter()
        .filter(|departure| departure.queue == queue && departure.ends > from && departure.ends <= to);
    within.map(|departure| f64::from(departure.length)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn hfsc_agrees_with_linux(classes in trees(), trace in traces()) {
        let queues = classes.iter().map(Tree::leaves).sum();
        let arrivals = arrivals(trace, queues);
        prop_assert_eq!(by_perhop(&classes, &arrivals), by_plain(&classes, &arrivals));
    }

    /// Theorem 1 of the paper: if the sum of all concave curves is at most the rate of the wire, no packet
    /// ends later than its deadline plus one longest packet time.
    #[test]
    fn no_deadline_is_missed_by_more_than_a_packet(
        claims in proptest::collection::vec((1..26u128, 1..100u128), 3), trace in traces(),
    ) {
        // There are three classes. The curve of each is at most a third of the wire at first, and a tenth of
        // this rate in the long run.
        let curve = |(m1, d): (u128, u128)| (m1 * 100_000, d * 100_000_000, m1 * 10_000);
        let real: Vec<Tree> = claims.into_iter().map(|claim| Tree {
            curves: [Some(curve(claim)), Some((100_000, 0, 100_000)), None], inside: Vec::new(),
        }).collect();
        let mut classes = real.clone();
        classes.push(Tree { curves: [None, Some((8_000_000, 0, 8_000_000)), None], inside: Vec::new() });
        let mut arrivals = arrivals(trace, 4);
        arrivals.iter_mut().filter(|arrival| arrival.queue == 3).for_each(|arrival| arrival.length = LONGEST);
        let departures = send(&hfsc(&classes), RATE, &arrivals);
        for (queue, class) in real.iter().enumerate() {
            let due = deadlines(class.curves[0].unwrap(), queue, &arrivals, &departures);
            for (departure, due) in departures.iter().filter(|departure| departure.queue == queue).zip(due) {
                let latest = due + RATE.transmission_time(LONGEST.into()) + Time::from_nanoseconds(1);
                prop_assert!(departure.ends <= latest, "{departure:?} was due at {due:?}");
            }
        }
    }
}

/// The deadlines of the packets of `queue` under `curve`. The curve is moved to the start of each backlog
/// period, and the minimum of all copies determines the deadline for the bytes sent so far.
fn deadlines(curve: Curve, queue: usize, arrivals: &[Arrival], departures: &[Departure]) -> Vec<Time> {
    let (m1, d, m2) = (curve.0 as f64, curve.1 as f64 / 1e12, curve.2 as f64);
    let reaches = |bits: f64| if bits <= m1 * d { bits / m1 } else { d + (bits - m1 * d) / m2 };
    let (mut starts, mut sent, mut due): (Vec<(f64, f64)>, f64, Vec<Time>) = (Vec::new(), 0.0, Vec::new());
    let mut busy_until = Time::ZERO;
    for departure in departures.iter().filter(|departure| departure.queue == queue) {
        let arrived = arrivals[departure.arrival].at;
        // A backlog period begins, because the previous packet left before this packet arrived.
        if starts.is_empty() || arrived > busy_until {
            starts.push((arrived.as_seconds(), sent));
        }
        busy_until = departure.starts;
        sent += 8.0 * f64::from(departure.length);
        let at = starts.iter().map(|(x, y)| x + reaches(sent - y)).fold(0.0, f64::max);
        due.push(Time::from_seconds_f64(at));
    }
    due
}

#[test]
fn the_rest_of_guarantees_is_shared_in_the_tree() {
    // Class a has half of the wire guaranteed, and a link-share of 1. Class x has a link-share of 3 and the
    // inner classes b and c (1:1). Class y has a link-share of 1. All classes are saturated.
    let megabits = |m2: u128| (m2 * 1_000_000, 0, m2 * 1_000_000);
    let tree = |claim: Option<u128>, share: u128, inside: Vec<Tree>| Tree {
        curves: [claim.map(megabits), Some(megabits(share)), None],
        inside,
    };
    let classes = [
        tree(Some(4), 1, vec![]),
        tree(None, 3, vec![tree(None, 1, vec![]), tree(None, 1, vec![])]),
        tree(None, 1, vec![]),
    ];
    let mut trace: Vec<Arrival> = (0..4)
        .flat_map(|queue| {
            let length = [300, 1500, 700, 1000][queue];
            (0..2_000_000 / length).map(move |_| Arrival { at: Time::ZERO, queue, length })
        })
        .collect();
    trace.sort_by_key(|arrival| arrival.at);
    let departures = send(&hfsc(&classes), RATE, &trace);
    let (from, to) = (Time::from_milliseconds(500), Time::from_milliseconds(1500));
    // Real-time service is also counted in link sharing. Class a is far ahead of its slope there and receives
    // no additional share.
    for (queue, expected) in [500e3, 187.5e3, 187.5e3, 125e3].into_iter().enumerate() {
        let found = served(&departures, queue, from, to);
        assert!((found - expected).abs() < 5_000.0, "queue {queue}: {found} bytes for {expected}");
    }
}
