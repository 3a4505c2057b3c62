//! The three-parameter scheduler compared with known shares and delays, with SCFQ, and with a plain model
//! that checks all classes for each choice.
//!
//! Wires run at 8 Mb/s, one byte per microsecond.

use crate::fluid;
use crate::wire::{Arrival, Departure, send};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{Scheduler, SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::{ByteSize, Rate, Time};
use proptest::prelude::*;

const RATE: Rate = Rate::from_bits_per_second(8_000_000);
/// The bytes per second of [`RATE`].
const BYTES_PER_SECOND: f64 = 1e6;
const LONGEST: u32 = 1500;

/// A class with a minimum in bytes per second (0 for no minimum) and a weight.
fn class(minimum: u64, weight: f64) -> ClassConfig {
    let minimum = (minimum > 0).then(|| Rate::from_bits_per_second(8 * minimum));
    ClassConfig {
        share: ShareConfig { minimum, weight: Some(weight), ..Default::default() },
        ..Default::default()
    }
}

fn three_parameter(minima: &[u64], weights: &[f64]) -> QueueingConfig {
    let classes = minima.iter().zip(weights).map(|(minimum, weight)| class(*minimum, *weight)).collect();
    QueueingConfig { scheduler: SchedulerConfig::ThreeParameter, classes, ..Default::default() }
}

fn shape(kilobits: u64) -> ShapeConfig {
    let (rate, burst) = (Rate::from_bits_per_second(1000 * kilobits), ByteSize::from_bytes(3000));
    ShapeConfig { rate, burst, excess: ByteSize::default(), form: ShapeForm::Average }
}

/// The arrivals of `demands`, in bytes per second, for `seconds`. The packets of each class have the length
/// in `lengths`. If the demand is infinite, all packets arrive at once.
fn arrivals(demands: &[f64], lengths: &[u32], seconds: f64) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for (queue, (demand, length)) in demands.iter().zip(lengths).enumerate() {
        let (rate, every) = match *demand {
            demand if demand.is_infinite() => (BYTES_PER_SECOND, Time::ZERO),
            demand => (demand, Time::from_seconds_f64(f64::from(*length) / demand)),
        };
        let count = (rate * seconds / f64::from(*length)) as u64;
        arrivals.extend((0..count).map(|index| Arrival { at: every * index, queue, length: *length }));
    }
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

/// The rate of each class for these `demands`: its minimum, and a share of the remaining rate by weight.
fn shares(demands: &[f64], minima: &[u64], weights: &[f64], rate: f64) -> Vec<f64> {
    let granted: Vec<f64> =
        demands.iter().zip(minima).map(|(demand, minimum)| demand.min(*minimum as f64)).collect();
    let left: Vec<f64> = demands.iter().zip(&granted).map(|(demand, granted)| demand - granted).collect();
    let excess = fluid::water_filling(&left, weights, rate - granted.iter().sum::<f64>());
    granted.iter().zip(excess).map(|(granted, excess)| granted + excess).collect()
}

/// The bytes per second that `queue` sent from 0.5 s to 1.5 s.
fn measured(departures: &[Departure], queue: usize) -> f64 {
    let sent_by = |now: Time| {
        let of_queue = departures.iter().filter(|departure| departure.queue == queue);
        let part = |d: &Departure| {
            (now.saturating_sub(d.starts).as_seconds() * BYTES_PER_SECOND).min(d.length.into())
        };
        of_queue.map(part).sum::<f64>()
    };
    sent_by(Time::from_milliseconds(1500)) - sent_by(Time::from_milliseconds(500))
}

fn assert_shares(config: &QueueingConfig, arrivals: &[Arrival], expected: &[f64], tolerance: f64) {
    let departures = send(config, RATE, arrivals);
    let found: Vec<f64> = (0..expected.len()).map(|queue| measured(&departures, queue)).collect();
    let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance);
    assert!(is_near, "bytes per second {found:?}, expected {expected:?}");
}

const ALWAYS: f64 = f64::INFINITY;

#[test]
fn minimum_and_excess_add_up() {
    // The minima use 600 kB/s of 1 MB/s. The other 400 kB/s are shared 1:1:2.
    let (minima, weights) = ([100_000, 500_000, 0], [1.0, 1.0, 2.0]);
    let config = three_parameter(&minima, &weights);
    let trace = arrivals(&[ALWAYS; 3], &[1500, 200, 700], 2.0);
    assert_shares(&config, &trace, &[200e3, 600e3, 200e3], 3000.0);
}

#[test]
fn unused_minima_are_excess() {
    let (minima, weights, lengths) =
        ([300_000, 400_000, 100_000, 0], [1.0, 2.0, 1.0, 3.0], [1500, 300, 700, 1000]);
    let config = three_parameter(&minima, &weights);
    // The first two classes demand less than their minimum, slightly more, or any amount.
    for first in [0.1, 100e3, 350e3, ALWAYS] {
        for second in [50e3, 450e3, ALWAYS] {
            let demands = [first, second, ALWAYS, ALWAYS];
            let expected = shares(&demands, &minima, &weights, BYTES_PER_SECOND);
            assert_shares(&config, &arrivals(&demands, &lengths, 2.0), &expected, 5000.0);
        }
    }
}

/// Cisco, ASR 9000 Modular Quality of Service Configuration Guide (OL-23108-02), example 4: on a T1, class A
/// has 30 % and a share of 80 % of the excess, but at most 50 % of the link. Class B has 60 % and a share of
/// 10 % of the excess.
#[test]
fn the_three_parameters_of_a_class() {
    let of_wire = |percent: u64| percent * 10_000;
    let mut config = three_parameter(&[of_wire(30), of_wire(60), 0], &[8.0, 1.0, 1.0]);
    config.classes[0].shape = Some(shape(4000));
    let lengths = [1000, 700, 300];
    let percent = |shares: [f64; 3]| shares.map(|share| share * 10_000.0);
    let with = |demands: [f64; 3]| arrivals(&demands, &lengths, 2.0);
    assert_shares(&config, &with([ALWAYS; 3]), &percent([38.0, 61.0, 1.0]), 3000.0);
    // Without B, class A would have 30 % and eight ninths of the other 70 %. Its shaper limits it to half of
    // the wire.
    assert_shares(&config, &with([ALWAYS, 0.1, ALWAYS]), &percent([50.0, 0.0, 50.0]), 3000.0);
}

#[test]
fn a_minimum_holds_under_a_shaper_and_inside_another_scheduler() {
    // The class has a quarter of the wire. Minima of 50 and 100 kB/s leave 100 kB/s.
    let mut config = QueueingConfig { classes: vec![ClassConfig::default()], ..Default::default() };
    config.classes[0].shape = Some(shape(2000));
    config.classes[0].queueing = Some(three_parameter(&[50_000, 100_000, 0], &[1.0, 1.0, 2.0]));
    let lengths = [1500, 500, 900];
    assert_shares(&config, &arrivals(&[ALWAYS; 3], &lengths, 2.0), &[75e3, 125e3, 50e3], 4000.0);
    assert_shares(&config, &arrivals(&[0.1, ALWAYS, ALWAYS], &lengths, 2.0), &[0.0, 150e3, 100e3], 4000.0);
    // A class with strict priority uses half of the wire.
    let priority = ClassConfig { name: "priority".into(), ..Default::default() };
    let others = ClassConfig { queueing: config.classes[0].queueing.take(), ..Default::default() };
    config =
        QueueingConfig { scheduler: SchedulerConfig::Priority, classes: vec![priority, others], ..config };
    let trace = arrivals(&[500e3, ALWAYS, ALWAYS, ALWAYS], &[200, 1500, 500, 900], 2.0);
    assert_shares(&config, &trace, &[500e3, 137.5e3, 187.5e3, 175e3], 4000.0);
}

#[test]
fn minima_beyond_the_wire_are_kept_in_proportion() {
    // The minima add up to 3 MB/s on a wire of 1 MB/s, so a class without a minimum sends nothing.
    let config = three_parameter(&[600_000, 1_500_000, 900_000, 0], &[1.0; 4]);
    let trace = arrivals(&[ALWAYS; 4], &[1500, 300, 700, 100], 2.0);
    assert_shares(&config, &trace, &[200e3, 500e3, 300e3, 0.0], 3000.0);
    // A class that becomes backlogged late receives its share at once.
    let late = |arrival: &Arrival| Arrival {
        at: if arrival.queue == 0 { Time::from_milliseconds(400) } else { Time::ZERO },
        ..*arrival
    };
    let mut trace: Vec<Arrival> = trace.iter().map(late).collect();
    trace.sort_by_key(|arrival| arrival.at);
    assert_shares(&config, &trace, &[200e3, 500e3, 300e3, 0.0], 3000.0);
}

/// While a class with strict priority uses the wire for half a second, no other class is served. After that,
/// the classes receive a quarter of a second of the missed minima.
#[test]
fn long_missed_minima_are_forgotten() {
    let inner = three_parameter(&[600_000, 0], &[1.0, 1.0]);
    let classes = vec![ClassConfig::default(), ClassConfig { queueing: Some(inner), ..Default::default() }];
    let config = QueueingConfig { scheduler: SchedulerConfig::Priority, classes, ..Default::default() };
    let mut trace = arrivals(&[0.1, ALWAYS, ALWAYS], &[1000, 500, 500], 3.0);
    trace.splice(0..0, (0..500).map(|_| Arrival { at: Time::ZERO, queue: 0, length: 1000 }));
    let departures = send(&config, RATE, &trace);
    let first = departures.iter().find(|departure| departure.queue == 2).unwrap();
    // The missed service is 0.25 s × 600 kB/s and the head, or 150.5 kB. The first class receives it at the
    // 400 kB/s that remain while its minimum continues.
    let expected = 0.5 + 150.5 / 400.0;
    assert!((first.starts.as_seconds() - expected).abs() < 0.003, "{first:?}");
}

/// Up to 80 packets for `classes` classes. The gaps between them fill and empty the queues.
fn traces(classes: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 1..1_000_000u64, 1 => 1_000_000..6_000_000u64];
    prop::collection::vec((gap, 0..classes, 40..=LONGEST), 1..80).prop_map(|packets| {
        let mut at = Time::ZERO;
        let arrival = |(gap, queue, length)| {
            at += Time::from_nanoseconds(gap);
            Arrival { at, queue, length }
        };
        packets.into_iter().map(arrival).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// While all classes are backlogged, the bytes that each has sent differ from its configured share by at
    /// most three packets at any time.
    #[test]
    fn every_class_stays_near_its_share(
        parts in prop::array::uniform4(0..10u64), weights in prop::array::uniform4(1..10u32), length in 100..=LONGEST,
    ) {
        let weights = weights.map(f64::from);
        // The minima are at most 36 of 40 parts of the wire.
        let minima = parts.map(|part| 25_000 * part);
        let expected = shares(&[ALWAYS; 4], &minima, &weights, BYTES_PER_SECOND);
        let trace = arrivals(&[ALWAYS; 4], &[length; 4], 0.5);
        let mut sent = [0.0; 4];
        for departure in send(&three_parameter(&minima, &weights), RATE, &trace) {
            if departure.ends >= Time::from_milliseconds(490) {
                break; // From here on, a class can have sent all its packets.
            }
            sent[departure.queue] += f64::from(departure.length);
            for (sent, share) in sent.iter().zip(&expected) {
                let fluid = share * departure.ends.as_seconds();
                prop_assert!((sent - fluid).abs() <= 3.0 * f64::from(length), "{departure:?}: {sent} for {fluid}");
            }
        }
    }

    /// Stoica, Zhang & Ng 1997: if the wire can satisfy all minima, no packet ends later than it would on a
    /// wire with only the minimum of its class, plus the time of one longest packet.
    #[test]
    fn no_guarantee_is_late_by_more_than_a_packet(
        arrivals in traces(4), parts in prop::array::uniform4(1..10u64), weights in prop::array::uniform4(1..10u32),
    ) {
        let sum: u64 = parts.iter().sum();
        let minima = parts.map(|part| 1_000_000 * part / sum);
        let mut clocks = [0.0f64; 4];
        for departure in send(&three_parameter(&minima, &weights.map(f64::from)), RATE, &arrivals) {
            let clock = &mut clocks[departure.queue];
            let arrived = arrivals[departure.arrival].at.as_seconds();
            *clock = clock.max(arrived) + f64::from(departure.length) / minima[departure.queue] as f64;
            let bound = *clock + f64::from(LONGEST) / BYTES_PER_SECOND;
            prop_assert!(departure.ends.as_seconds() <= bound + 1e-9, "{departure:?}: {bound}");
        }
    }

    #[test]
    fn without_minima_the_scheduler_equals_scfq(
        arrivals in traces(5), weights in prop::array::uniform5(1..10u32), is_shaped in any::<bool>(),
    ) {
        let config = |scheduler| {
            let class = |weight: &u32| class(0, f64::from(*weight));
            let mut classes: Vec<ClassConfig> = weights[..3].iter().map(class).collect();
            let inner = QueueingConfig { scheduler, classes: weights[2..].iter().map(class).collect(), ..Default::default() };
            classes[1].queueing = Some(inner);
            classes[2].shape = is_shaped.then(|| shape(3000));
            QueueingConfig { scheduler, classes, ..Default::default() }
        };
        let order = |scheduler| -> Vec<usize> {
            send(&config(scheduler), RATE, &arrivals).iter().map(|departure| departure.arrival).collect()
        };
        prop_assert_eq!(order(SchedulerConfig::ThreeParameter), order(SchedulerConfig::Scfq));
    }
}

/// A plain model that checks all classes for each choice. Minima and weights are chosen so that tags and
/// times in picoseconds are integers.
#[derive(Default)]
struct Plain {
    classes: Vec<PlainClass>,
    virtual_time: u128,
    stood: u64,
}

#[derive(Clone, Default)]
struct PlainClass {
    /// The picoseconds of a byte at the minimum, if there is a minimum.
    byte: Option<u64>,
    /// The amount that a byte adds to the tag.
    charge: u128,
    tag: u128,
    start: u64,
    waiting: u32,
    head: u32,
    is_due: bool,
    was_held: bool,
}

impl PlainClass {
    fn deadline(&self) -> Option<u64> {
        let byte = self.byte.filter(|_| self.is_due && self.head > 0)?;
        Some(self.start + u64::from(self.head) * byte)
    }
    fn set_head(&mut self, head: u32) {
        self.head = head;
        if head == 0 {
            (self.is_due, self.was_held) = (false, self.waiting > 0);
        }
    }
}

impl Plain {
    fn new(minima: &[u64], weights: &[u32]) -> Plain {
        let sum: u32 = weights.iter().sum();
        let class = |(minimum, weight): (&u64, &u32)| PlainClass {
            byte: (*minimum > 0).then(|| 1_000_000_000_000 / minimum),
            charge: u128::from(sum / weight),
            ..PlainClass::default()
        };
        Plain { classes: minima.iter().zip(weights).map(class).collect(), ..Plain::default() }
    }
    fn earliest_deadline(&self) -> Option<u64> {
        self.classes.iter().filter_map(PlainClass::deadline).min()
    }
    fn clock(&mut self, now: Time) -> u64 {
        let clock = now.as_picoseconds() - self.stood;
        let latest = self.earliest_deadline().map_or(u64::MAX, |deadline| deadline + 250_000_000_000);
        self.stood += clock.saturating_sub(latest);
        clock.min(latest)
    }
    /// Records which heads are due, in the order of their start times. Returns the time of the clock.
    fn advance(&mut self, now: Time) -> u64 {
        loop {
            let clock = self.clock(now);
            let is_early = |class: &&mut PlainClass| class.byte.is_some() && class.head > 0 && !class.is_due;
            let early = self.classes.iter_mut().filter(is_early);
            let Some(class) = early.min_by_key(|class| class.start).filter(|class| class.start <= clock)
            else {
                return clock;
            };
            class.start = if std::mem::take(&mut class.was_held) { clock } else { class.start };
            class.is_due = true;
        }
    }
    fn enqueued(&mut self, now: Time, index: usize) {
        let earliest = self.advance(now).min(self.earliest_deadline().unwrap_or(u64::MAX));
        let virtual_time = self.virtual_time;
        let class = &mut self.classes[index];
        class.waiting += 1;
        if class.waiting == 1 {
            class.tag = class.tag.max(virtual_time);
            class.start = class.start.max(earliest);
            class.was_held = false;
        }
    }
    fn select(&mut self, now: Time) -> Option<usize> {
        self.advance(now);
        let due =
            self.classes.iter().enumerate().filter_map(|(index, class)| Some((class.deadline()?, index)));
        let heads = self.classes.iter().enumerate().filter(|(_, class)| class.head > 0);
        let tag = |class: &PlainClass| class.tag + u128::from(class.head) * class.charge;
        due.min()
            .map(|(_, index)| index)
            .or_else(|| heads.min_by_key(|(_, class)| tag(class)).map(|(index, _)| index))
    }
    fn dequeued(&mut self, now: Time, index: usize, next: u32) {
        let class = &mut self.classes[index];
        let length = class.head;
        class.waiting -= 1;
        match class.byte {
            Some(byte) if class.is_due => class.start += u64::from(length) * byte,
            _ => {
                class.tag += u128::from(length) * class.charge;
                self.virtual_time = class.tag;
            }
        }
        class.set_head(next);
        if self.classes[index].is_due {
            self.classes[index].is_due = self.classes[index].start <= self.clock(now);
        }
    }
}

/// Minima in bytes per second at which the time of a byte is a whole number of picoseconds.
const MINIMA: [u64; 6] = [0, 1_000, 50_000, 200_000, 1_000_000, 4_000_000];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn choices_agree_with_a_linear_search(
        classes in prop::collection::vec((prop::sample::select(MINIMA.to_vec()), 0..3u32), 1..12),
        // There are only a few different lengths, so that deadlines and tags are often equal, and a few long
        // pauses.
        steps in prop::collection::vec(
            (0u32..8, 0usize..12, 1u32..4, prop_oneof![8 => 0..3u64, 1 => 0..300u64]), 1..400),
    ) {
        let mut minima: Vec<u64> = classes.iter().map(|(minimum, _)| *minimum).collect();
        let mut weights: Vec<u32> = classes.iter().map(|(_, power)| 1 << power).collect();
        // An additional class, which never sends, makes the sum of the weights a power of two.
        let sum: u32 = weights.iter().sum();
        minima.push(0);
        weights.push((sum + 1).next_power_of_two() - sum);
        let floats: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
        let config = three_parameter(&minima, &floats);
        let mut scheduler = SchedulerConfig::ThreeParameter.build(&config.classes, RATE).unwrap();
        let mut plain = Plain::new(&minima, &weights);
        let mut now = Time::ZERO;
        for (step, child, length, gap) in steps {
            now += Time::from_milliseconds(gap);
            let (child, length) = (child % classes.len(), 500 * length);
            let choice = scheduler.select(now, &[]);
            prop_assert_eq!(choice, plain.select(now));
            match (step, choice) {
                (0..=3, _) => {
                    let is_head = plain.classes[child].head == 0;
                    // A packet can be counted before or after it is reported as the head.
                    if is_head && step > 1 {
                        scheduler.head_changed(child, length);
                    }
                    scheduler.enqueued(now, child, length);
                    if is_head && step <= 1 {
                        scheduler.head_changed(child, length);
                    }
                    plain.enqueued(now, child);
                    if is_head {
                        plain.classes[child].set_head(length);
                    }
                }
                // The child holds its packets back, offers them again, or offers another packet.
                (4, _) if plain.classes[child].waiting > 0 => {
                    let head = if plain.classes[child].head == length { 0 } else { length };
                    scheduler.head_changed(child, head);
                    plain.classes[child].set_head(head);
                }
                (_, Some(chosen)) => {
                    let head = plain.classes[chosen].head;
                    let next = if plain.classes[chosen].waiting > 1 { length } else { 0 };
                    scheduler.dequeued(now, chosen, head, next);
                    plain.dequeued(now, chosen, next);
                }
                _ => {}
            }
        }
    }
}
