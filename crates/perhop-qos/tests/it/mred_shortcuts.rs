//! Multi-level RED has a fast path for a single deciding average, and ignores departures that no average
//! samples. The tests check that both shortcuts change no verdict and no bit of an average.

use crate::plain::red::{Fate, PlainAverages, PlainRed};
use crate::traffic;
use crate::traffic::{DRAIN, Traffic, run};
use perhop_qos::buffer::{AboveMaxConfig, Averages, Mred, MredConfig, ProbabilityConfig, ThresholdConfig};
use perhop_qos::packet::Ecn;
use perhop_qos::random::Streams;
use perhop_qos::{Color, DropCause, Packet, QueueSize, Verdict};
use proptest::prelude::*;
use serde_json::json;

/// The length of packets. It is a power of two, so that the length divided by an equal mean length is exactly
/// 1.
const LENGTH: u32 = 512;

fn traffic() -> impl Strategy<Value = Traffic> {
    traffic::traffic((0..6usize, any::<bool>()).prop_map(|(color, capable)| {
        let ecn = if capable { Ecn::Capable0 } else { Ecn::NotCapable };
        Packet { length: LENGTH, color: Color::new(color), marks: ecn.into(), ..Packet::default() }
    }))
}

/// All options of a configuration, except the averages and the options that exclude the fast path.
fn configs() -> impl Strategy<Value = MredConfig> {
    let one_of = |names: &'static [&'static str]| prop::sample::select(names);
    let rules = (
        one_of(&["arrivals", "arrivals-and-departures"]),
        one_of(&["decay", "decay-and-sample", "decay-whole-and-sample", "none"]),
        one_of(&["uniform", "uniform-per-drop", "geometric", "wait"]),
        one_of(&["nothing", "first-above-min"]),
        one_of(&["restart", "go-on"]),
        one_of(&["ignore", "mark"]),
    );
    let weight = prop::sample::select(vec![0.002, 0.1, 0.5]);
    let limit = prop::sample::select(vec![None, Some("12 packets"), Some("5000B")]);
    (1..5u32, weight, rules, limit, any::<bool>()).prop_map(|(count, weight, rules, limit, bytes)| {
        let (update, idle, spacing, spared, after_forced, ecn) = rules;
        let size =
            |packets| if bytes { format!("{}B", packets * LENGTH) } else { format!("{packets} packets") };
        let precedence = |rank| json!({"min": size(rank), "max": size(4 * rank), "max-probability": 0.3});
        serde_json::from_value(json!({
            "precedences": (1..=count).rev().map(precedence).collect::<Vec<_>>(),
            "averaging": {"weight": weight}, "mean-packet-size": format!("{LENGTH}B"), "update": update,
            "idle": idle, "drop-spacing": spacing, "spared": spared, "after-forced": after_forced, "ecn": ecn,
            "limit": limit,
        }))
        .unwrap()
    })
}

fn build(config: &MredConfig, averages: Averages) -> Mred {
    let config = MredConfig { averages: Some(averages), ..config.clone() };
    config.build(DRAIN, &Streams::new(11, 0)).unwrap()
}

proptest! {
    /// Two options exclude the fast path without effect on the verdicts. With packets of the mean length, a
    /// probability per byte equals a probability per packet. An additional test of the own average of each
    /// precedence drops no packets if its thresholds are never reached.
    #[test]
    fn the_fast_path_of_one_average_equals_the_full_algorithm(config in configs(), traffic in traffic()) {
        let run_all = |config: &MredConfig| {
            let (mut buffer, mut trail) = (build(config, Averages::Single), Vec::new());
            let verdicts =
                run(&mut buffer, &traffic, |_, _, _, buffer, _| trail.push(buffer.averages()[0].to_bits()));
            (verdicts, trail)
        };
        let found = run_all(&config);
        let per_byte = MredConfig { probability: Some(ProbabilityConfig::PerByte), ..config.clone() };
        prop_assert_eq!(&run_all(&per_byte), &found);
        let mut tested = config;
        for precedence in &mut tested.precedences {
            let (min, max) = match precedence.min {
                QueueSize::Packets(_) => (QueueSize::Packets(1 << 31), QueueSize::Packets(1 << 32)),
                QueueSize::Bytes(_) => (QueueSize::Bytes(1 << 31), QueueSize::Bytes(1 << 32)),
            };
            precedence.own = Some(ThresholdConfig { min, max, max_probability: 0.1 });
        }
        prop_assert_eq!(&run_all(&tested), &found);
    }

    #[test]
    fn averages_match_their_definition(
        config in configs(),
        averages in prop::sample::select(vec![
            Averages::Single, Averages::Coupled, Averages::CoupledSampled, Averages::Decoupled,
        ]),
        traffic in traffic(),
    ) {
        let mut expected = PlainAverages::new(&config, averages, DRAIN);
        run(&mut build(&config, averages), &traffic, |now, arrives, packet, buffer, queue| {
            if arrives {
                expected.arrival(now, packet, queue);
            } else {
                expected.departure(now, packet, queue);
            }
            for (index, (found, expected)) in buffer.averages().iter().zip(&expected.values).enumerate() {
                // A missing or additional sample, or a sample of another queue, would change the averages far
                // more.
                let tolerance = 1e-7 * expected.max(1.0);
                assert!((found - expected).abs() <= tolerance, "{averages:?} {index}: {found}, not {expected}");
            }
        });
    }
    /// Compares the verdicts with the decisions of Floyd and Jacobson, in floating point and with the same
    /// random numbers.
    #[test]
    fn verdicts_match_the_published_algorithm(
        config in configs(),
        averages in prop::sample::select(vec![
            Averages::Single, Averages::Coupled, Averages::CoupledSampled, Averages::Decoupled,
        ]),
        gentle in any::<bool>(),
        traffic in traffic(),
    ) {
        let above_max = if gentle { AboveMaxConfig::Gentle } else { AboveMaxConfig::default() };
        let usual = MredConfig::default();
        let config = MredConfig {
            above_max: Some(above_max), spared: usual.spared, after_forced: usual.after_forced, ecn: usual.ecn, limit: None, ..config
        };
        let mut expected = PlainRed::new(&config, averages, DRAIN, Streams::new(11, 0).stream());
        let mut fates = Vec::new();
        let mut known = true;
        let verdicts = run(&mut build(&config, averages), &traffic, |now, arrives, packet, _, queue| {
            if arrives {
                let fate = if known { expected.arrival(now, packet, queue) } else { None };
                known = fate.is_some();
                fates.extend(fate);
            } else {
                expected.averages.departure(now, packet, queue);
            }
        });
        for (arrival, (verdict, fate)) in verdicts.iter().zip(fates).enumerate() {
            let found = match verdict {
                Verdict::Pass => Fate::Kept,
                Verdict::Drop(DropCause::EarlyRandom) => Fate::Drawn,
                Verdict::Drop(DropCause::EarlyForced) => Fate::Forced,
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(found, fate, "arrival {}", arrival);
        }
    }
}
