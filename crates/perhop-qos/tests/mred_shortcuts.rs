//! Multi-level RED has a fast path where one average decides, and skips departures that no average samples.
//! Neither changes a verdict or an average, to the last bit.

use perhop_qos::buffer::{
    AfterForcedConfig, Averages, AveragingConfig, BufferManager, DropSpacing, EcnConfig, IdleConfig, Mred,
    MredConfig, PrecedenceConfig, ProbabilityConfig, SparedConfig, ThresholdConfig, UpdateConfig,
};
use perhop_qos::packet::Ecn;
use perhop_qos::queue::{Occupancy, PrecedenceSource, Queue};
use perhop_qos::random::Streams;
use perhop_qos::units::{ByteSize, PICOSECONDS_PER_SECOND};
use perhop_qos::{Color, Packet, QueueSize, Rate, Time, Verdict};
use proptest::prelude::*;

const DRAIN: Rate = Rate::from_bits_per_second(8_000_000);
/// A power of two: the length of a packet over the mean length is then exactly 1 where they are the same.
const LENGTH: u32 = 512;

/// What happens to a queue: after a pause, a packet arrives, or one leaves where there is one.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Arrival(Packet),
    Departure,
}

fn traffic() -> impl Strategy<Value = Vec<(Time, Happening)>> {
    let arrival = (0..6usize, any::<bool>()).prop_map(|(color, capable)| {
        let ecn = if capable { Ecn::Capable0 } else { Ecn::NotCapable };
        Happening::Arrival(Packet { length: LENGTH, color: Color::new(color), ecn, ..Packet::default() })
    });
    let happening = prop_oneof![3 => arrival, 2 => Just(Happening::Departure)];
    let pause = prop_oneof![4 => 0..1_000u64, 1 => 0..20_000u64].prop_map(Time::from_microseconds);
    prop::collection::vec((pause, happening), 1..400)
}

/// Every choice that a configuration leaves, but for the averages and what rules out the fast path.
fn configs() -> impl Strategy<Value = MredConfig> {
    let choices = (
        1..5usize,
        prop::sample::select(vec![0.002, 0.1, 0.5]),
        prop::sample::select(vec![UpdateConfig::Arrivals, UpdateConfig::ArrivalsAndDepartures]),
        prop::sample::select(vec![
            IdleConfig::Decay,
            IdleConfig::DecayAndSample,
            IdleConfig::DecayWholeAndSample,
            IdleConfig::None,
        ]),
        prop::sample::select(vec![
            DropSpacing::Uniform,
            DropSpacing::UniformPerDrop,
            DropSpacing::Geometric,
            DropSpacing::Wait,
        ]),
        prop::sample::select(vec![SparedConfig::Nothing, SparedConfig::FirstAboveMin]),
        prop::sample::select(vec![AfterForcedConfig::Restart, AfterForcedConfig::GoOn]),
        prop::sample::select(vec![EcnConfig::Ignore, EcnConfig::Mark]),
        prop::sample::select(vec![None, Some(QueueSize::Packets(12)), Some(QueueSize::Bytes(5_000))]),
        any::<bool>(),
    );
    choices.prop_map(
        |(count, weight, update, idle, drop_spacing, spared, after_forced, ecn, limit, bytes)| {
            let size = |packets| {
                if bytes {
                    QueueSize::Bytes(packets * u64::from(LENGTH))
                } else {
                    QueueSize::Packets(packets)
                }
            };
            let precedence = |index| PrecedenceConfig {
                min: size((count - index) as u64),
                max: size(4 * (count - index) as u64),
                max_probability: 0.3,
                own: None,
            };
            MredConfig {
                precedences: (0..count).map(precedence).collect(),
                averaging: AveragingConfig::Weight(weight),
                mean_packet_size: ByteSize::from_bytes(u64::from(LENGTH)),
                update,
                idle,
                drop_spacing,
                spared,
                after_forced,
                ecn,
                limit,
                ..MredConfig::default()
            }
        },
    )
}

fn build(config: &MredConfig, averages: Averages) -> Mred {
    let config = MredConfig { averages: Some(averages), ..config.clone() };
    config.build(DRAIN, &Streams::new(11, 0)).unwrap()
}

fn bits(buffer: &Mred) -> Vec<u64> {
    buffer.averages().iter().map(|average| average.to_bits()).collect()
}

/// Runs `traffic` through `buffer` and a queue; `watch` sees each happening, the queue as the buffer saw it,
/// and the bits of the averages after it.
fn run(
    buffer: &mut Mred,
    traffic: &[(Time, Happening)],
    mut watch: impl FnMut(Time, Option<&Packet>, Option<&Packet>, &Occupancy, &[u64]),
) -> Vec<Verdict> {
    let (mut queue, mut now, mut verdicts) = (Queue::new(&PrecedenceSource::Color), Time::ZERO, Vec::new());
    for (pause, happening) in traffic {
        now += *pause;
        match happening {
            Happening::Arrival(packet) => {
                let verdict = buffer.admit(now, packet, packet.color, queue.occupancy());
                watch(now, Some(packet), None, queue.occupancy(), &bits(buffer));
                verdicts.push(verdict);
                if matches!(verdict, Verdict::Pass | Verdict::MarkCe) {
                    queue.push(*packet);
                }
            }
            Happening::Departure => {
                if let Some(packet) = queue.pop() {
                    buffer.release(now, &packet, packet.color, queue.occupancy());
                    watch(now, None, Some(&packet), queue.occupancy(), &bits(buffer));
                }
            }
        }
    }
    verdicts
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
        for index in 0..self.values.len() {
            if !self.counts(index, packet.color.index()) {
                continue;
            }
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
        for index in 0..self.values.len() {
            if !self.counts(index, packet.color.index()) {
                continue;
            }
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
    /// With packets of the mean length, a probability per byte is one per packet, and takes no fast path.
    #[test]
    fn the_fast_path_of_one_average_is_the_algorithm_in_full(config in configs(), traffic in traffic()) {
        let run_all = |config: &MredConfig| {
            let (mut buffer, mut trail) = (build(config, Averages::Single), Vec::new());
            let verdicts = run(&mut buffer, &traffic, |_, _, _, _, averages| trail.push(averages[0]));
            (verdicts, trail)
        };
        let per_byte = MredConfig { probability: ProbabilityConfig::PerByte, ..config.clone() };
        prop_assert_eq!(run_all(&config), run_all(&per_byte));
    }

    /// Nor does a further test of each precedence, which no packet reaches.
    #[test]
    fn tests_that_strike_nobody_change_nothing(config in configs(), traffic in traffic()) {
        let run_all = |config: &MredConfig| {
            let (mut buffer, mut trail) = (build(config, Averages::Single), Vec::new());
            let verdicts = run(&mut buffer, &traffic, |_, _, _, _, averages| trail.push(averages[0]));
            (verdicts, trail)
        };
        let mut tested = config.clone();
        for precedence in &mut tested.precedences {
            let far = |size| match size {
                QueueSize::Packets(_) => (QueueSize::Packets(1 << 31), QueueSize::Packets(1 << 32)),
                QueueSize::Bytes(_) => (QueueSize::Bytes(1 << 31), QueueSize::Bytes(1 << 32)),
            };
            let (min, max) = far(precedence.min);
            precedence.own = Some(ThresholdConfig { min, max, max_probability: 0.1 });
        }
        prop_assert_eq!(run_all(&config), run_all(&tested));
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
        run(&mut build(&config, averages), &traffic, |now, arrived, left, queue, found| {
            if let Some(packet) = arrived {
                expected.arrival(now, packet, queue);
            }
            if let Some(packet) = left {
                expected.departure(now, packet, queue);
            }
            for (index, (found, expected)) in found.iter().zip(&expected.values).enumerate() {
                let found = f64::from_bits(*found);
                // One sample more or less, or one of another queue, changes far more.
                let tolerance = 1e-7 * expected.max(1.0);
                assert!((found - expected).abs() <= tolerance, "{averages:?} {index}: {found}, not {expected}");
            }
        });
    }
}
