//! Tests with random traffic of the properties that all members of the MRED family share, and of their
//! differences.

use crate::traffic;
use crate::traffic::{DRAIN, Traffic, run};
use perhop_qos::buffer::{
    AboveMaxConfig, Averages, AveragingConfig, BufferConfig, BufferManager, ModelConfig, Mred, MredConfig,
    OverlappedConfig, PrecedenceConfig, ThresholdConfig, UpdateConfig,
};
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::{Color, Packet, QueueSize, Time, Verdict};
use proptest::prelude::*;

const ALL: [Averages; 4] =
    [Averages::Single, Averages::Coupled, Averages::CoupledSampled, Averages::Decoupled];

/// A configuration with `count` precedences. Precedence 0 has the highest thresholds.
fn config(averages: Averages, count: usize) -> MredConfig {
    let precedence = |index| PrecedenceConfig {
        min: QueueSize::Packets(2 * (count - index) as u64),
        max: QueueSize::Packets(10 * (count - index) as u64),
        max_probability: 0.2,
        own: None,
    };
    MredConfig {
        precedences: (0..count).map(precedence).collect(),
        averages: Some(averages),
        averaging: Some(AveragingConfig::Weight(0.1)),
        update: Some(UpdateConfig::ArrivalsAndDepartures),
        ..MredConfig::default()
    }
}

fn build(config: &MredConfig) -> Mred {
    config.build(DRAIN, &Streams::new(11, 0)).unwrap()
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let packet = (0..4usize, 40..1500u32);
    traffic::traffic(packet.prop_map(|(color, length)| Packet {
        length,
        color: Color::new(color),
        ..Packet::default()
    }))
}

proptest! {
    #[test]
    fn with_one_precedence_every_member_is_red(traffic in traffic()) {
        let verdicts = ALL.map(|averages| run(&mut build(&config(averages, 1)), &traffic, |_, _, _, _, _| ()));
        for other in &verdicts[1..] {
            prop_assert_eq!(&verdicts[0], other);
        }
    }

    #[test]
    fn an_arrival_moves_only_the_averages_that_count_it(traffic in traffic()) {
        for averages in ALL {
            let mut buffer = build(&config(averages, 4));
            let mut before = buffer.averages();
            run(&mut buffer, &traffic, |_, arrives, packet, buffer, _| {
                let precedence = packet.color.index();
                let before = std::mem::replace(&mut before, buffer.averages());
                let moves = |index| match averages {
                    Averages::Single => true,
                    Averages::Coupled => index >= precedence,
                    Averages::CoupledSampled | Averages::Decoupled => index == precedence,
                };
                for (index, (before, after)) in before.iter().zip(buffer.averages()).enumerate() {
                    let is_still = *before == after || !arrives;
                    assert!(moves(index) || is_still, "{averages:?}: {precedence} moved {index}");
                }
            });
        }
    }

    /// The highest average of RIO-C counts the whole queue at each arrival, like the average of WRED.
    #[test]
    fn the_highest_coupled_average_equals_the_single_one(traffic in traffic()) {
        // All thresholds are far above the queue length, so both buffer managers keep all packets.
        let keep_all = |averages| MredConfig {
            precedences: vec![PrecedenceConfig {
                min: QueueSize::Packets(1_000),
                max: QueueSize::Packets(2_000),
                max_probability: 0.1,
                own: None,
            }; 4],
            ..config(averages, 4)
        };
        let trail = |averages| {
            let mut trail = Vec::new();
            let mut buffer = build(&keep_all(averages));
            run(&mut buffer, &traffic, |_, _, _, buffer, _| trail.push(*buffer.averages().last().unwrap()));
            trail
        };
        prop_assert_eq!(trail(Averages::Single), trail(Averages::Coupled));
    }

    #[test]
    fn averages_stay_between_nothing_and_the_longest_queue(traffic in traffic()) {
        for averages in ALL {
            let mut longest = 0.0f64;
            run(&mut build(&config(averages, 4)), &traffic, |_, _, _, buffer, queue| {
                longest = longest.max(queue.packets as f64);
                for average in buffer.averages() {
                    // The tolerance is one step of the average. If the weight is not a power of two, the last
                    // step is rounded up.
                    assert!((0.0..=longest + 2e-9).contains(&average), "{averages:?}: {average} of {longest}");
                }
            });
        }
    }

    #[test]
    fn verdicts_agree_with_the_thresholds(traffic in traffic()) {
        for averages in ALL {
            let mut buffer = build(&config(averages, 4));
            let mut certain = Vec::new();
            let verdicts = run(&mut buffer, &traffic, |_, arrives, packet, buffer, queue| {
                if !arrives {
                    return;
                }
                let precedence = packet.color.index();
                let average = buffer.deciding_average(packet.color, queue);
                let (min, max) = (2.0 * (4 - precedence) as f64, 10.0 * (4 - precedence) as f64);
                certain.push(match average {
                    below if below < min => Some(true),
                    above if above >= max => Some(false),
                    _ => None,
                });
            });
            for (verdict, certain) in verdicts.iter().zip(certain) {
                prop_assert!(certain.is_none_or(|kept| kept == (*verdict == Verdict::Pass)), "{:?}", averages);
            }
        }
    }

    /// The two definitions of RIO-C differ while the queue changes. They agree in a steady queue.
    #[test]
    fn both_readings_of_rio_c_agree_in_a_steady_queue(held in prop::array::uniform4(1..50u64)) {
        let mut packets_of = [0; Color::COUNT];
        packets_of[..4].copy_from_slice(&held);
        let queue = Occupancy { packets: held.iter().sum(), packets_of, ..Occupancy::default() };
        let packet = Packet { length: 1000, ..Packet::default() };
        let (mut coupled, mut sampled) =
            (build(&config(Averages::Coupled, 4)), build(&config(Averages::CoupledSampled, 4)));
        for arrival in 0..1_200 {
            let precedence = Color::new(arrival % 4);
            for buffer in [&mut coupled, &mut sampled] {
                buffer.admit(Time::ZERO, &packet, precedence, &queue);
            }
        }
        for (index, expected) in held.iter().scan(0, |sum, held| { *sum += held; Some(*sum) }).enumerate() {
            for buffer in [&coupled, &sampled] {
                let average = buffer.deciding_average(Color::new(index), &queue);
                prop_assert!((average - expected as f64).abs() < 1e-6, "{} of {}", average, expected);
            }
        }
    }
}

#[test]
fn names_select_their_averages() {
    let unnamed = |count| MredConfig { averages: None, ..config(Averages::Single, count) };
    let count_of = |buffer: &BufferConfig| buffer.build(DRAIN, &Streams::new(1, 0)).unwrap().averages().len();
    assert_eq!(count_of(&BufferConfig::Red(unnamed(1))), 1);
    assert_eq!(count_of(&BufferConfig::Wred(unnamed(3))), 1);
    assert_eq!(count_of(&BufferConfig::RioC(unnamed(3))), 3);
    assert_eq!(count_of(&BufferConfig::RioC(config(Averages::CoupledSampled, 3))), 3);
    assert_eq!(count_of(&BufferConfig::RioDc(unnamed(3))), 3);
    assert_eq!(count_of(&BufferConfig::Mred(unnamed(3))), 1);
}

#[test]
fn errors_have_a_path_and_a_remedy() {
    let message = |buffer: BufferConfig| match buffer.build(DRAIN, &Streams::new(1, 0)) {
        Ok(_) => String::from("no error"),
        Err(error) => error.to_string(),
    };
    let three = || MredConfig { averages: None, ..config(Averages::Single, 3) };
    let mut wrong = three();
    wrong.precedences[1].max = QueueSize::Packets(4);
    assert_eq!(
        message(BufferConfig::Wred(wrong)),
        "wred.precedences.1.min: min is 4 packets, which is not below max, 4 packets (use a max above min; two or three times min is common)"
    );
    let mut mixed = three();
    mixed.precedences[2].max = QueueSize::Bytes(4096);
    assert!(message(BufferConfig::Mred(mixed)).starts_with("mred.precedences.2.max: 4KiB is mixed with"));
    let mut probability = three();
    probability.precedences[0].max_probability = 10.0;
    assert!(message(BufferConfig::RioC(probability)).starts_with("rio-c.precedences.0.max-probability: "));
    assert!(
        message(BufferConfig::Red(three()))
            .starts_with("red.precedences: RED has one drop precedence, not 3")
    );
    assert!(message(BufferConfig::Wred(config(Averages::Coupled, 2))).starts_with("wred.averages: "));
    assert!(
        message(BufferConfig::Wred(MredConfig::default()))
            .starts_with("wred.precedences: no drop precedence")
    );
    let weight = MredConfig { averaging: Some(AveragingConfig::Weight(9.0)), ..three() };
    assert!(message(BufferConfig::Wred(weight)).starts_with("wred.averaging.weight: "));
    let limit = MredConfig { limit: Some(QueueSize::Bytes(0)), ..three() };
    assert!(message(BufferConfig::Wred(limit)).starts_with("wred.limit: "));
    let mut far = config(Averages::Coupled, 2);
    far.precedences[1].own =
        Some(ThresholdConfig { max: QueueSize::Packets(1 << 33), ..far.precedences[1].shared() });
    assert_eq!(
        message(BufferConfig::Mred(far)),
        "mred.precedences.1.own.max: max is 8589934592 packets, and no average reaches that \
         (below 8589934592 packets; a queue that is longer than 8589934592 packets counts as 8589934592 packets)"
    );
    let far = OverlappedConfig {
        min: QueueSize::Bytes(1),
        max: QueueSize::Bytes(5 << 30),
        max_probabilities: vec![0.1],
    };
    let model = Some(ModelConfig::Overlapped(far));
    let far = MredConfig { model, above_max: Some(AboveMaxConfig::Gentle), ..MredConfig::default() };
    assert_eq!(
        message(BufferConfig::Red(far)),
        "red.model.overlapped: drop precedence 0: max is 5120MiB, and no average reaches twice that, where a gentle \
         curve ends (below 4096MiB; a queue that is longer than 8192MiB counts as 8192MiB)"
    );
    let many = config(Averages::Single, 9);
    assert!(message(BufferConfig::Mred(many)).starts_with("mred.precedences: 9 drop precedences"));
    let mut own = config(Averages::Decoupled, 2);
    own.precedences[1].own = Some(own.precedences[1].shared());
    assert!(message(BufferConfig::Mred(own)).starts_with("mred.precedences.1.own: "));
}
