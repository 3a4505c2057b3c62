//! RED compared with theory: the gaps between drops at a constant probability, and the equilibrium of a queue
//! under constant overload.

use perhop_qos::buffer::{
    AboveMaxConfig, AveragingConfig, BufferConfig, BufferManager, DropSpacing, MredConfig, PrecedenceConfig,
};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{ClassConfig, QueueingConfig, WireConfig};
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, DropCause, Packet, Port, QueueSize, Rate, Time, Verdict};

fn red(min: u64, max: u64, max_probability: f64) -> MredConfig {
    MredConfig {
        precedences: vec![PrecedenceConfig {
            min: QueueSize::Packets(min),
            max: QueueSize::Packets(max),
            max_probability,
            own: None,
        }],
        ..MredConfig::default()
    }
}

fn queue_of(packets: u64) -> Occupancy {
    Occupancy { packets, packets_of: [packets, 0, 0, 0, 0, 0, 0, 0], ..Occupancy::default() }
}

/// Checks that `found` differs from `expected` by at most the fraction `tolerance`.
fn assert_near(found: f64, expected: f64, tolerance: f64, what: impl std::fmt::Display) {
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found}, expected {expected}");
}

/// Returns a function that decides about a packet of 1000 bytes with RED. Its argument is the number of
/// packets in the queue. The drop probability is 0.05 at 20 packets.
fn red_of_the_queue(drop_spacing: DropSpacing, seed: u64) -> impl FnMut(u64) -> Verdict {
    // The average equals the length of the queue from the first arrival on.
    let config = MredConfig {
        drop_spacing: Some(drop_spacing),
        averaging: Some(AveragingConfig::Weight(1.0)),
        ..red(10, 30, 0.1)
    };
    let mut buffer = config.build(Rate::from_bits_per_second(8_000_000), &Streams::new(seed, 0)).unwrap();
    let packet = Packet { length: 1000, ..Packet::default() };
    move |packets| buffer.admit(Time::ZERO, &packet, Color::GREEN, &queue_of(packets))
}

/// The gaps between drops at a constant drop probability of 0.05. A gap of 1 means that two consecutive
/// packets are dropped.
fn gaps(drop_spacing: DropSpacing, count: usize) -> Vec<usize> {
    let mut admit = red_of_the_queue(drop_spacing, 1);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() < count {
        gap += 1;
        match admit(20) {
            Verdict::Pass => {}
            Verdict::Drop(DropCause::EarlyRandom) => gaps.push(std::mem::take(&mut gap)),
            other => panic!("{other:?} at half the range"),
        }
    }
    gaps
}

/// Pearson's statistic of `gaps` for the distribution `expected`, and its 99.9 % quantile (Wilson & Hilferty
/// 1931). `expected` has the probabilities of the gaps from 0 on. Its last entry is the probability of all
/// longer gaps.
fn chi_square(gaps: &[usize], expected: &[f64]) -> (f64, f64) {
    let mut observed = vec![0.0; expected.len()];
    for gap in gaps {
        observed[(*gap).min(expected.len() - 1)] += 1.0;
    }
    let (mut statistic, mut degrees) = (0.0f64, -1.0f64);
    for (observed, probability) in observed.iter().zip(expected) {
        let count = probability * gaps.len() as f64;
        if count > 0.0 {
            statistic += (observed - count) * (observed - count) / count;
            degrees += 1.0;
        } else if *observed > 0.0 {
            statistic = f64::INFINITY;
        }
    }
    let spread = 2.0 / (9.0 * degrees);
    let root: f64 = 1.0 - spread + 3.0902 * spread.sqrt();
    (statistic, degrees * root.powi(3))
}

/// The probabilities of the gaps 0, 1, 2 … for p = 0.05. The last entry is the probability of all longer
/// gaps.
fn law(drop_spacing: DropSpacing) -> Vec<f64> {
    let inside = |range: std::ops::Range<usize>| {
        let width = range.len() as f64;
        (0..41).map(|gap| if range.contains(&gap) { 1.0 / width } else { 0.0 }).collect()
    };
    match drop_spacing {
        DropSpacing::Uniform | DropSpacing::UniformPerDrop => inside(1..21),
        DropSpacing::CountedFirst | DropSpacing::Unguarded => inside(1..20),
        DropSpacing::Wait => inside(20..40),
        DropSpacing::Geometric => {
            let mut law: Vec<f64> =
                (0..60).map(|gap| if gap == 0 { 0.0 } else { 0.05 * 0.95f64.powi(gap - 1) }).collect();
            law.push(0.95f64.powi(59));
            law
        }
    }
}

const RULES: [DropSpacing; 6] = [
    DropSpacing::Uniform,
    DropSpacing::UniformPerDrop,
    DropSpacing::CountedFirst,
    DropSpacing::Unguarded,
    DropSpacing::Geometric,
    DropSpacing::Wait,
];

#[test]
fn gaps_between_drops_follow_their_law_and_no_other() {
    for rule in RULES {
        let gaps = gaps(rule, 20_000);
        for other in RULES {
            let (statistic, quantile) = chi_square(&gaps, &law(other));
            assert_eq!(
                statistic < quantile,
                law(rule) == law(other),
                "{rule:?} against the law of {other:?}: {statistic:.1} of {quantile:.1}"
            );
        }
    }
}

/// With p = 0.05, the mean gaps are: uniform (1 + 1/p)/2, counted first 1/(2p), geometric 1/p, wait (1/p +
/// 2/p − 1)/2.
#[test]
fn mean_gaps_differ_by_a_factor_of_three() {
    for (rule, expected) in [
        (DropSpacing::Uniform, 10.5),
        (DropSpacing::UniformPerDrop, 10.5),
        (DropSpacing::CountedFirst, 10.0),
        (DropSpacing::Unguarded, 10.0),
        (DropSpacing::Geometric, 20.0),
        (DropSpacing::Wait, 29.5),
    ] {
        let gaps = gaps(rule, 20_000);
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert_near(mean, expected, 0.02, format!("{rule:?}: mean gap"));
    }
}

/// Each period above `min` starts a new count. With five packets at p = 0.05, a packet is dropped in a
/// quarter of the periods, regardless of the number of earlier periods without a drop.
#[test]
fn below_min_the_past_is_forgotten() {
    for drop_spacing in [DropSpacing::Uniform, DropSpacing::UniformPerDrop] {
        let mut admit = red_of_the_queue(drop_spacing, 2);
        let visits = 40_000;
        let drops = (0..visits).filter(|_| {
            assert_eq!(admit(5), Verdict::Pass);
            (0..5).any(|_| admit(20) != Verdict::Pass)
        });
        let share = drops.count() as f64 / f64::from(visits);
        // The tolerance is five standard deviations.
        assert!((share - 0.25).abs() < 0.011, "{drop_spacing:?}: {share}");
    }
}

struct Overload {
    drop_fraction: f64,
    random_fraction: f64,
    mean_average: f64,
}

/// Sends packets of 1000 bytes at `load` times the port's rate for 300 s. The last 200 s are measured.
fn overload(config: MredConfig, load: f64) -> Overload {
    let rate = Rate::from_bits_per_second(8_000_000);
    let class = ClassConfig {
        name: "all".to_owned(),
        buffer: Some(BufferConfig::Red(config)),
        ..ClassConfig::default()
    };
    let queueing = QueueingConfig { classes: vec![class], ..QueueingConfig::default() };
    let wire =
        WireConfig { rate, framing: Framing::Raw, headers: HeaderStack::EMPTY, ring: RingConfig::default() };
    let mut port = Port::build(Some(&queueing), &wire, &[], &Streams::new(3, 0)).unwrap();
    let mut packet = Packet { length: 1000, ..Packet::default() };
    let interval = Time::from_seconds_f64(rate.transmission_time(1000).as_seconds() / load);
    let (mut arrival, mut offered, mut random, mut forced, mut sum) = (Time::ZERO, 0u64, 0u64, 0u64, 0.0);
    while arrival < Time::from_seconds(300) {
        while let Some(time) = port.poll_timeout().filter(|time| *time <= arrival) {
            while port.poll_transmit(time, &mut Packet::default(), ()).is_some() {}
        }
        let verdict = port.enqueue(arrival, &mut packet, ());
        while port.poll_transmit(arrival, &mut Packet::default(), ()).is_some() {}
        if arrival >= Time::from_seconds(100) {
            offered += 1;
            random += u64::from(verdict == Verdict::Drop(DropCause::EarlyRandom));
            forced += u64::from(verdict == Verdict::Drop(DropCause::EarlyForced));
            sum += port.buffers()[0].averages()[0];
        }
        arrival += interval;
    }
    Overload {
        drop_fraction: (random + forced) as f64 / offered as f64,
        random_fraction: random as f64 / offered as f64,
        mean_average: sum / offered as f64,
    }
}

/// Under a constant overload, the fraction 1 − C/λ must be dropped. If random drops suffice, the average
/// settles at the probability p whose mean gap is 1/(1 − C/λ).
#[test]
fn overload_settles_where_random_drops_lose_the_excess() {
    let loss = 1.0 - 1.0 / 1.05;
    for (drop_spacing, probability) in [
        (DropSpacing::Uniform, loss / (2.0 - loss)),
        (DropSpacing::UniformPerDrop, loss / (2.0 - loss)),
        (DropSpacing::Geometric, loss),
        (DropSpacing::Wait, 1.5 / (1.0 / loss + 0.5)),
    ] {
        let found = overload(MredConfig { drop_spacing: Some(drop_spacing), ..red(20, 60, 0.1) }, 1.05);
        let expected = 20.0 + 40.0 * probability / 0.1;
        assert_near(found.drop_fraction, loss, 0.01, format!("{drop_spacing:?}: lost"));
        assert_eq!(found.random_fraction, found.drop_fraction, "{drop_spacing:?}: no drop is forced");
        assert_near(found.mean_average, expected, 0.03, format!("{drop_spacing:?}: average"));
    }
}

/// If random drops do not suffice for 1 − C/λ (the probability just below max is too small), the average
/// settles at max, and the other packets are forced drops.
#[test]
fn heavy_overload_settles_at_the_maximum_threshold() {
    for load in [2.0, 5.0] {
        let found = overload(red(20, 60, 0.02), load);
        let loss = 1.0 - 1.0 / load;
        assert_near(found.drop_fraction, loss, 0.005, format!("load {load}: lost"));
        assert_near(found.mean_average, 60.0, 0.03, format!("load {load}: average"));
        assert!(found.random_fraction < 0.1 * loss, "load {load}: {} at random", found.random_fraction);
    }
}

/// Gentle RED drops the same fraction without forced drops. The average settles at `max + (p − max_p)/(1 −
/// max_p) · max`.
#[test]
fn gentle_overload_settles_above_the_maximum_threshold() {
    let config = MredConfig {
        above_max: Some(AboveMaxConfig::Gentle),
        drop_spacing: Some(DropSpacing::Geometric),
        ..red(20, 60, 0.1)
    };
    let found = overload(config, 2.0);
    let expected = 60.0 + (0.5 - 0.1) / (1.0 - 0.1) * 60.0;
    assert_near(found.drop_fraction, 0.5, 0.01, "lost");
    assert_eq!(found.random_fraction, found.drop_fraction, "no drop is forced");
    assert_near(found.mean_average, expected, 0.03, "average");
}

/// Floyd and Jacobson 1993, figure 2: the probability is 0 up to `min`, `max-probability` at `max`, and 1
/// above it. With Floyd's gentle variant of 2000, the probability reaches 1 at twice `max`.
#[test]
fn drop_curves_have_the_corners_of_the_published_figure() {
    let corners = |above_max| {
        MredConfig { above_max: Some(above_max), ..red(5, 15, 0.1) }.drop_curves().unwrap()[0].shared.clone()
    };
    let rise = [(0.0, 0.0), (5.0, 0.0), (15.0, 0.1)];
    assert_eq!(corners(AboveMaxConfig::Drop), [&rise[..], &[(15.0, 1.0)]].concat());
    assert_eq!(corners(AboveMaxConfig::Gentle), [&rise[..], &[(30.0, 1.0)]].concat());
    let full = red(5, 15, 1.0).drop_curves().unwrap();
    assert_eq!(full[0].shared, [(0.0, 0.0), (5.0, 0.0), (15.0, 1.0)], "no jump at a probability of 1");
}

/// Floyd and Jacobson 1993, figure 2: counting continues while `min_th ≤ avg`. An average equal to `min`
/// therefore does not reset the count, although no packet is dropped at `min`. With p = 0.05 and method 2, a
/// drop is due after 19 kept packets. In this test, half of them arrive at `min`. The number R of the other
/// rule is at most 1.
#[test]
fn at_min_the_past_is_not_forgotten() {
    for drop_spacing in [DropSpacing::Uniform, DropSpacing::UniformPerDrop] {
        let mut admit = red_of_the_queue(drop_spacing, 4);
        let mut kept = 0;
        for _ in 0..2_000 {
            assert_eq!(admit(10), Verdict::Pass);
            kept = if admit(20) == Verdict::Pass { kept + 1 } else { 0 };
            assert!(kept <= 10, "{drop_spacing:?}: {kept} kept at half the range");
        }
    }
}
