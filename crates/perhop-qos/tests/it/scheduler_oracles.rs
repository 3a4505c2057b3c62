//! The schedulers compared with their proved properties: shares of GPS, bounds on delay and fairness,
//! conformance.
//!
//! Wires run at 8 Mb/s, one byte per microsecond.

use crate::bounds::{BYTES_PER_SECOND, RATE, served};
use crate::fluid;
use crate::trees::{ALL, LONGEST, Place, Tree, queueing, shape};
use crate::wire::{Arrival, Departure, send};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{CapConfig, SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};
use proptest::prelude::*;

const FAIR: [SchedulerConfig; 5] = [
    SchedulerConfig::Drr,
    SchedulerConfig::Scfq,
    SchedulerConfig::Wfq,
    SchedulerConfig::Wf2qPlus,
    SchedulerConfig::Hfsc,
];

/// Packets for `classes` classes: either up to 80 packets with gaps that fill and empty the queues, or 300
/// packets at once.
fn traces(classes: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 1..1_000_000u64, 1 => 1_000_000..6_000_000u64];
    let packets = |gap, count| proptest::collection::vec((gap, 0..classes, 40..=LONGEST), count);
    prop_oneof![3 => packets(gap.boxed(), 1..80), 1 => packets(Just(0).boxed(), 300..301)].prop_map(
        |packets| {
            let mut at = Time::ZERO;
            let arrival = |(gap, queue, length)| {
                at += Time::from_nanoseconds(gap);
                Arrival { at, queue, length }
            };
            packets.into_iter().map(arrival).collect()
        },
    )
}

/// Trees of two schedulers with up to three shapers.
fn trees() -> impl Strategy<Value = Tree> {
    let place = prop_oneof![(0..4usize).prop_map(Place::Outer), (0..3usize).prop_map(Place::Inner)];
    // Peak shaping needs an excess burst.
    let form = prop_oneof![(Just(ShapeForm::Average), 0..2000u64), (Just(ShapeForm::Peak), 1..2000u64)];
    let shape = (100_000..8_000_000u64, 100..4000u64, form).prop_map(|(rate, burst, (form, excess))| {
        ShapeConfig { excess: ByteSize::from_bytes(excess), form, ..shape(rate, burst) }
    });
    let scheduler = || (0..ALL.len()).prop_map(|index| ALL[index]);
    let inner = (scheduler(), weights(3));
    (scheduler(), weights(4), inner, proptest::collection::vec((place, shape), 0..=3))
        .prop_map(|(outer, weights, inner, shapes)| Tree { outer, weights, inner: Some(inner), shapes })
        .prop_filter("allowed", Tree::is_allowed)
}

fn weights(classes: usize) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((1..=10u32).prop_map(f64::from), classes)
}

/// `count` packets of `length` bytes for `queue`. One packet arrives in each interval of `every`, or all
/// arrive at once if `every` is zero.
fn train(queue: usize, length: u32, count: u64, every: Time) -> impl Iterator<Item = Arrival> {
    (0..count).map(move |index| Arrival { at: every * index, queue, length })
}

fn merge(trains: impl IntoIterator<Item = Arrival>) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = trains.into_iter().collect();
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

fn assert_shares(config: &QueueingConfig, arrivals: &[Arrival], expected: &[f64], tolerance: f64) {
    let departures = send(config, RATE, arrivals);
    let (from, to) = (Time::from_milliseconds(500), Time::from_milliseconds(1500));
    for (queue, expected) in expected.iter().enumerate() {
        let queue_served = |now| served(&departures, Some(queue), now);
        let measured = queue_served(to) - queue_served(from);
        assert!(
            (measured - expected).abs() <= tolerance,
            "{:?}: queue {queue} sent {measured} bytes in a second, its share is {expected}",
            config.scheduler
        );
    }
}

#[test]
fn long_run_shares_are_those_of_gps() {
    // The packets of the classes have very different lengths. The third class demands 50 or 20 kB/s, which is
    // less than its share. The fourth class is absent or saturated. The other classes share the remaining
    // rate by weight.
    let lengths = [1500, 200, 500, 900];
    let weights = [1.0, 3.0, 2.0, 4.0];
    for scheduler in FAIR {
        for small_demand in [50e3, 20e3] {
            for fourth in [0.0, f64::INFINITY] {
                let demands = [f64::INFINITY, f64::INFINITY, small_demand, fourth];
                let mut arrivals = Vec::new();
                for (queue, demand) in demands.iter().enumerate() {
                    let length = lengths[queue];
                    if demand.is_infinite() {
                        arrivals.extend(train(queue, length, 2_000_000 / u64::from(length), Time::ZERO));
                    } else if *demand > 0.0 {
                        let every = Time::from_seconds_f64(f64::from(length) / demand);
                        arrivals.extend(train(
                            queue,
                            length,
                            (*demand * 2.0) as u64 / u64::from(length),
                            every,
                        ));
                    }
                }
                let expected = fluid::water_filling(&demands, &weights, BYTES_PER_SECOND);
                // At each end of the window, the bytes differ by at most the packets and quanta of one round.
                assert_shares(&queueing(scheduler, &weights), &merge(arrivals), &expected, 5_000.0);
            }
        }
    }
}

#[test]
fn wrr_shares_packets_not_bytes() {
    let config = queueing(SchedulerConfig::Wrr, &[1.0, 2.5]);
    let arrivals = merge(train(0, 1000, 1000, Time::ZERO).chain(train(1, 100, 2500, Time::ZERO)));
    let departures = send(&config, RATE, &arrivals);
    for sent in departures.chunks(7).take(100) {
        assert_eq!(sent.iter().filter(|departure| departure.queue == 0).count(), 2);
    }
}

#[test]
fn bandwidths_are_weights() {
    let rate = |kilobits: u64| Rate::from_bits_per_second(kilobits * 1000);
    for scheduler in
        [SchedulerConfig::Wrr, SchedulerConfig::Scfq, SchedulerConfig::Wfq, SchedulerConfig::Wf2qPlus]
    {
        let bandwidth = |kilobits| ShareConfig { bandwidth: Some(rate(kilobits)), ..Default::default() };
        let class = |kilobits| ClassConfig { share: bandwidth(kilobits), ..Default::default() };
        let classes = vec![class(300), class(1200)];
        let arrivals = merge((0..2).flat_map(|queue| train(queue, 1000, 1800, Time::ZERO)));
        assert_shares(
            &QueueingConfig { scheduler, classes, ..Default::default() },
            &arrivals,
            &[200e3, 800e3],
            5_000.0,
        );
    }
}

#[test]
fn nested_shares_multiply() {
    // The outer classes share 1:1, and the inner classes of the first one 3:1, so the shares are 3/8, 1/8 and
    // 1/2. The test runs each scheduler inside each other scheduler.
    for outer in FAIR {
        for inner in FAIR {
            let mut config = queueing(outer, &[1.0, 1.0]);
            config.classes[0].queueing = Some(queueing(inner, &[3.0, 1.0]));
            let lengths = [700, 1500, 300];
            let trains = (0..3).flat_map(|queue| {
                train(queue, lengths[queue], 2_000_000 / u64::from(lengths[queue]), Time::ZERO)
            });
            assert_shares(&config, &merge(trains), &[375e3, 125e3, 500e3], 5_000.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// The checks of [`send`], and the proved properties of each scheduler.
    #[test]
    fn every_scheduler_conserves_packets_is_work_conserving_and_keeps_its_bounds(
        arrivals in traces(4),
        weights in weights(4),
    ) {
        for scheduler in ALL {
            Tree::flat(scheduler, &weights).check(&arrivals);
        }
    }

    /// With a scheduler inside a scheduler and shapers at both levels, no packets are lost or reordered.
    #[test]
    fn nested_and_shaped_trees_lose_nothing(arrivals in traces(6), tree in trees()) {
        tree.check(&arrivals);
        Tree { shapes: Vec::new(), ..tree }.check(&arrivals);
    }

    /// Bennett & Zhang 1996: while all classes are backlogged, WF2Q, and therefore also WF2Q+, is never ahead
    /// of the fluid server by more than (1 − φ_i) L_i. WFQ can be ahead by half a round.
    #[test]
    fn wf2q_plus_is_never_a_packet_ahead(weights in weights(4), lengths in [40..=LONGEST, 40..=LONGEST, 40..=LONGEST, 40..=LONGEST]) {
        let trains = (0..4).flat_map(|queue| train(queue, lengths[queue], 300_000 / u64::from(lengths[queue]), Time::ZERO));
        let departures = send(&queueing(SchedulerConfig::Wf2qPlus, &weights), RATE, &merge(trains));
        let sum: f64 = weights.iter().sum();
        let mut sent = [0.0; 4];
        // Before 290 ms, all classes are backlogged, because even the whole wire could not have sent the 300
        // kB of one class.
        for departure in departures.iter().take_while(|departure| departure.ends < Time::from_milliseconds(290)) {
            sent[departure.queue] += f64::from(departure.length);
            let part = weights[departure.queue] / sum;
            let fluid = departure.ends.as_seconds() * BYTES_PER_SECOND * part;
            let ahead = sent[departure.queue] - fluid;
            let bound = (1.0 - part) * f64::from(departure.length);
            prop_assert!(ahead <= bound + 1e-3, "{departure:?} is {ahead} bytes ahead, {bound} allowed");
        }
    }

    /// The output of a shaper conforms in every interval, and no packet could have left a picosecond earlier.
    #[test]
    fn a_shaper_conforms_without_unnecessary_delay(
        arrivals in traces(2), rate in 1_000_000..7_000_000u64, burst in u64::from(LONGEST)..5000,
    ) {
        let mut config = queueing(SchedulerConfig::Wf2qPlus, &[1.0, 1.0]);
        config.classes[0].shape = Some(shape(rate, burst));
        let departures = send(&config, RATE, &arrivals);
        let shaped: Vec<&Departure> = departures.iter().filter(|departure| departure.queue == 0).collect();
        let bit_picoseconds = |bytes: u64| u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        for (last, departure) in shaped.iter().enumerate() {
            let mut bytes = 0;
            let mut earliest = Time::ZERO;
            for first in (0..=last).rev() {
                bytes += u64::from(shaped[first].length);
                let lacking = bit_picoseconds(bytes).saturating_sub(bit_picoseconds(burst));
                let span = Time::from_picoseconds(lacking.div_ceil(u128::from(rate)) as u64);
                prop_assert!(departure.starts - shaped[first].starts >= span, "{bytes} bytes too soon");
                if lacking > 0 {
                    earliest = earliest.max(shaped[first].starts + span);
                }
            }
            let arrived = arrivals[departure.arrival].at;
            let wire_was_free = departures.iter().all(|other| other.ends != departure.starts);
            if wire_was_free {
                prop_assert_eq!(departure.starts, arrived.max(earliest));
            }
        }
    }
}

#[test]
fn a_cap_bounds_priority_in_every_interval() {
    let (cap_rate, burst) = (2_000_000, 3000);
    let mut config = queueing(SchedulerConfig::Priority, &[1.0, 1.0]);
    config.classes[0].share.cap =
        Some(CapConfig { rate: Rate::from_bits_per_second(cap_rate), burst: ByteSize::from_bytes(burst) });
    // Both classes are saturated. The class with a cap sends at its cap, and the other class has the
    // remaining rate.
    let both = merge((0..2).flat_map(|queue| train(queue, 500, 4000, Time::ZERO)));
    assert_shares(&config, &both, &[250e3, 750e3], 3_500.0);
    let departures = send(&config, RATE, &both);
    let second_ends = departures.iter().rfind(|departure| departure.queue == 1).unwrap().ends;
    let capped: Vec<Time> = departures
        .iter()
        .filter(|departure| departure.queue == 0 && departure.starts < second_ends)
        .map(|departure| departure.starts)
        .collect();
    for (first, from) in capped.iter().enumerate() {
        for (count, to) in capped[first..].iter().enumerate() {
            let allowed = burst as f64 + (*to - *from).as_seconds() * cap_rate as f64 / 8.0;
            assert!((count + 1) as f64 * 500.0 <= allowed + 1e-6);
        }
    }
    // If the other class is silent, the class has the whole wire: `send` checks that the wire is
    // work-conserving.
    let alone = merge(train(0, 500, 1000, Time::ZERO));
    assert_eq!(send(&config, RATE, &alone).last().unwrap().ends, Time::from_milliseconds(500));
}

#[test]
fn a_class_below_its_shaper_rate_keeps_its_share() {
    // A class with short packets and a class with long packets share 1:1. Both have shapers of three quarters
    // of the wire.
    for scheduler in [SchedulerConfig::Drr, SchedulerConfig::Scfq, SchedulerConfig::Wf2qPlus] {
        let mut config = queueing(scheduler, &[1.0, 1.0]);
        config.classes[0].shape = Some(shape(6_000_000, 3000));
        let arrivals = merge(train(0, 64, 30_000, Time::ZERO).chain(train(1, 1500, 1400, Time::ZERO)));
        assert_shares(&config, &arrivals, &[500e3, 500e3], 6_000.0);
    }
}
