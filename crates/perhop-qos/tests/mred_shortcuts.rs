//! Multi-level RED has a fast path where one average decides, and skips departures that no average samples.
//! Neither changes a verdict or an average, to the last bit.

mod traffic;

use perhop_qos::buffer::{
    Averages, IdleConfig, Mred, MredConfig, ProbabilityConfig, ThresholdConfig, UpdateConfig,
};
use perhop_qos::packet::Ecn;
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::units::PICOSECONDS_PER_SECOND;
use perhop_qos::{Color, Packet, QueueSize, Time};
use proptest::prelude::*;
use serde_json::json;
use traffic::{DRAIN, Traffic, run};

/// A power of two: the length of a packet over the mean length is then exactly 1 where they are the same.
const LENGTH: u32 = 512;

fn traffic() -> impl Strategy<Value = Traffic> {
    traffic::traffic((0..6usize, any::<bool>()).prop_map(|(color, capable)| {
        let ecn = if capable { Ecn::Capable0 } else { Ecn::NotCapable };
        Packet { length: LENGTH, color: Color::new(color), marks: ecn.into(), ..Packet::default() }
    }))
}

/// Every choice that a configuration leaves, but for the averages and what rules out the fast path.
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

/// The averages by their definition: each looks at every happening and asks whether it counts that packet.
struct ByDefinition<'a> {
    config: &'a MredConfig,
    averages: Averages,
    values: Vec<f64>,
    idle_since: Vec<Time>,
}

impl ByDefinition<'_> {
    fn new(config: &MredConfig, averages: Averages) -> ByDefinition<'_> {
        let count = if averages == Averages::Single { 1 } else { config.precedences.len() };
        ByDefinition { config, averages, values: vec![0.0; count], idle_since: vec![Time::ZERO; count] }
    }
    /// Whether the average `index` counts packets of `precedence`.
    fn counts(&self, index: usize, precedence: usize) -> bool {
        let precedence = precedence.min(self.config.precedences.len() - 1);
        match self.averages {
            Averages::Single => true,
            Averages::Coupled => precedence <= index,
            Averages::CoupledSampled | Averages::Decoupled => precedence == index,
        }
    }
    /// The averages that count `packet`.
    fn counting(&self, packet: &Packet) -> Vec<usize> {
        (0..self.values.len()).filter(|index| self.counts(*index, packet.color.index())).collect()
    }
    /// What the queue holds of what the average `index` counts.
    fn held(&self, index: usize, queue: &Occupancy) -> f64 {
        let by_precedence = match self.config.precedences[0].min {
            QueueSize::Packets(_) => queue.packets_of,
            QueueSize::Bytes(_) => queue.bytes_of,
        };
        let counted = (0..Color::COUNT).filter(|precedence| self.counts(index, *precedence));
        counted.map(|precedence| by_precedence[precedence]).sum::<u64>() as f64
    }
    fn sample(&mut self, index: usize, held: f64) {
        self.values[index] += self.config.averaging.weight().unwrap() * (held - self.values[index]);
    }
    fn arrival(&mut self, now: Time, packet: &Packet, queue: &Occupancy) {
        for index in self.counting(packet) {
            let held = self.held(index, queue);
            if held > 0.0 {
                self.sample(index, held);
                continue;
            }
            let silence = now.saturating_sub(self.idle_since[index]).as_picoseconds() as f64;
            // In this order, since a whole number of packets is to be one here where it is one there.
            let packets_per_second = DRAIN.as_bits_per_second() as f64 / (8.0 * f64::from(LENGTH));
            let gone_by = silence * (packets_per_second / PICOSECONDS_PER_SECOND as f64);
            let samples = match self.config.idle {
                IdleConfig::Decay => gone_by,
                IdleConfig::DecayAndSample => gone_by + 1.0,
                IdleConfig::DecayWholeAndSample => libm::floor(gone_by) + 1.0,
                IdleConfig::None => 1.0,
            };
            self.values[index] *= libm::pow(1.0 - self.config.averaging.weight().unwrap(), samples);
            self.idle_since[index] = now;
        }
    }
    fn departure(&mut self, now: Time, packet: &Packet, queue: &Occupancy) {
        for index in self.counting(packet) {
            let held = self.held(index, queue);
            if self.config.update == UpdateConfig::ArrivalsAndDepartures {
                self.sample(index, held);
            }
            if held == 0.0 {
                self.idle_since[index] = now;
            }
        }
    }
}

proptest! {
    /// With packets of the mean length, a probability per byte is one per packet; a further test of each
    /// precedence that no packet reaches strikes nobody. Both take no fast path.
    #[test]
    fn the_fast_path_of_one_average_is_the_algorithm_in_full(config in configs(), traffic in traffic()) {
        let run_all = |config: &MredConfig| {
            let (mut buffer, mut trail) = (build(config, Averages::Single), Vec::new());
            let verdicts =
                run(&mut buffer, &traffic, |_, _, _, buffer, _| trail.push(buffer.averages()[0].to_bits()));
            (verdicts, trail)
        };
        let found = run_all(&config);
        let per_byte = MredConfig { probability: ProbabilityConfig::PerByte, ..config.clone() };
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
    fn averages_are_what_their_definition_says(
        config in configs(),
        averages in prop::sample::select(vec![
            Averages::Single, Averages::Coupled, Averages::CoupledSampled, Averages::Decoupled,
        ]),
        traffic in traffic(),
    ) {
        let mut expected = ByDefinition::new(&config, averages);
        run(&mut build(&config, averages), &traffic, |now, arrives, packet, buffer, queue| {
            if arrives {
                expected.arrival(now, packet, queue);
            } else {
                expected.departure(now, packet, queue);
            }
            for (index, (found, expected)) in buffer.averages().iter().zip(&expected.values).enumerate() {
                // One sample more or less, or one of another queue, changes far more.
                let tolerance = 1e-7 * expected.max(1.0);
                assert!((found - expected).abs() <= tolerance, "{averages:?} {index}: {found}, not {expected}");
            }
        });
    }
}
