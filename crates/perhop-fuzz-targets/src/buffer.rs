//! Buffer managers under any sequence of arrivals and departures, compared with models. The model of tail
//! drop checks the limits. The model of RED and its family is Floyd and Jacobson's algorithm in floating
//! point, with the same random numbers.

use arbitrary::Arbitrary;
use perhop_qos::buffer::{AnyBuffer, Averages, BufferConfig, BufferManager, MredConfig};
use perhop_qos::queue::{PrecedenceSource, Queue};
use perhop_qos::random::Streams;
use perhop_qos::{Color, DropCause, FlowKey, Packet, Rate, Time, Verdict};
use serde_json::json;

use crate::outcome::{Outcome, structured};
use crate::plain::red::{Fate, PlainRed};

const DRAIN: Rate = Rate::from_bits_per_second(8_000_000);

#[derive(Debug, Arbitrary)]
struct Input {
    kind: u8,
    rules: [u8; 4],
    in_bytes: bool,
    gentle: bool,
    /// Thresholds (`min` and width) of RED, or limits of tail drop.
    sizes: [(u8, u8); 3],
    precedences: u8,
    weight: u16,
    max_probability: u8,
    happenings: Vec<Happening>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
enum Happening {
    Arrive { after_us: u16, length: u16, color: u8 },
    Leave { after_us: u16 },
}

impl Input {
    fn size(&self, packets: u32) -> String {
        if self.in_bytes { format!("{}B", packets * 500) } else { format!("{packets} packets") }
    }
    fn red(&self) -> MredConfig {
        let one_of =
            |index: usize, names: &[&str]| names[usize::from(self.rules[index]) % names.len()].to_owned();
        let precedences: Vec<_> = (0..=usize::from(self.precedences % 3))
            .map(|index| {
                let (min, width) = self.sizes[index];
                let (min, max) = (u32::from(min), u32::from(min) + u32::from(width) + 1);
                let probability = f64::from(self.max_probability.max(1)) / 255.0;
                json!({"min": self.size(min), "max": self.size(max), "max-probability": probability})
            })
            .collect();
        serde_json::from_value(json!({
            "precedences": precedences,
            "averaging": {"weight": f64::from(self.weight.max(1)) / 65_535.0},
            "update": one_of(0, &["arrivals", "arrivals-and-departures"]),
            "idle": one_of(1, &["decay", "decay-and-sample", "none"]),
            "drop-spacing": one_of(
                2,
                &["uniform", "uniform-per-drop", "geometric", "wait", "counted-first", "unguarded"],
            ),
            "above-max": if self.gentle { "gentle" } else { "drop" },
            "averages": one_of(3, &["single", "coupled", "coupled-sampled", "decoupled"]),
        }))
        .expect("random early detection")
    }
    /// Runs the buffer manager and compares each verdict with `model`. Stops when the model has no expected
    /// verdict.
    fn run(&self, buffer: &mut AnyBuffer, model: &mut impl Model) {
        let (mut queue, mut now) = (Queue::new(&PrecedenceSource::Color), Time::ZERO);
        for happening in self.happenings.iter().take(400) {
            let after = match happening {
                Happening::Arrive { after_us, .. } | Happening::Leave { after_us } => after_us,
            };
            now += Time::from_microseconds(u64::from(*after));
            if let Happening::Arrive { length, color, .. } = happening {
                let packet = Packet {
                    color: Color::new(usize::from(*color) % Color::COUNT),
                    ..Packet::new(FlowKey::default(), u32::from(*length).max(1))
                };
                let verdict = buffer.admit(now, &packet, packet.color, queue.occupancy());
                let Some(expected) = model.arrival(now, &packet, &queue) else { return };
                assert_eq!(verdict, expected, "{self:?}");
                if verdict == Verdict::Pass {
                    queue.push(packet);
                }
            } else if let Some(packet) = queue.pop() {
                buffer.departed(now, packet.color, packet.length, queue.occupancy());
                model.departure(now, &packet, &queue);
            }
        }
    }
}

trait Model {
    fn arrival(&mut self, now: Time, packet: &Packet, queue: &Queue) -> Option<Verdict>;
    fn departure(&mut self, now: Time, packet: &Packet, queue: &Queue);
}

impl Model for PlainRed<'_> {
    fn arrival(&mut self, now: Time, packet: &Packet, queue: &Queue) -> Option<Verdict> {
        PlainRed::arrival(self, now, packet, queue.occupancy()).map(|fate| match fate {
            Fate::Kept => Verdict::Pass,
            Fate::Drawn => Verdict::Drop(DropCause::EarlyRandom),
            Fate::Forced => Verdict::Drop(DropCause::EarlyForced),
        })
    }
    fn departure(&mut self, now: Time, packet: &Packet, queue: &Queue) {
        self.averages.departure(now, packet, queue.occupancy());
    }
}

/// Tail drop with a limit in packets or bytes for each precedence. The last limit also applies to all higher
/// precedences.
struct TailDrop {
    limits: Vec<u64>,
    in_bytes: bool,
    waiting: Vec<u32>,
}

impl Model for TailDrop {
    fn arrival(&mut self, _: Time, packet: &Packet, _: &Queue) -> Option<Verdict> {
        let limit = self.limits[packet.color.index().min(self.limits.len() - 1)];
        self.waiting.push(packet.length);
        let held = if self.in_bytes {
            self.waiting.iter().map(|length| u64::from(*length)).sum()
        } else {
            self.waiting.len() as u64
        };
        if held <= limit {
            return Some(Verdict::Pass);
        }
        self.waiting.pop();
        Some(Verdict::Drop(DropCause::QueueFull))
    }
    fn departure(&mut self, _: Time, packet: &Packet, _: &Queue) {
        assert_eq!(self.waiting.remove(0), packet.length);
    }
}

/// Compares buffer managers with their models, for the arrivals and departures in `bytes`.
pub fn buffer(bytes: &[u8]) -> Outcome {
    structured(bytes, check)
}

fn check(input: &Input) -> Outcome {
    let streams = Streams::new(11, 0);
    if input.kind.is_multiple_of(3) {
        let config = input.red();
        let averages = config.averages.unwrap_or(Averages::Single);
        let Ok(mut buffer) = BufferConfig::Mred(config.clone()).build(DRAIN, &streams) else {
            return Outcome::Refused;
        };
        input.run(&mut buffer, &mut PlainRed::new(&config, averages, DRAIN, streams.stream()));
        return Outcome::Kept;
    }
    let count = if input.kind % 3 == 1 { 1 } else { usize::from(input.precedences % 3) + 1 };
    let limits: Vec<u32> = input.sizes[..count].iter().map(|(limit, _)| u32::from(*limit).max(1)).collect();
    let written: Vec<String> = limits.iter().map(|limit| input.size(*limit)).collect();
    let config = if input.kind % 3 == 1 {
        json!({"tail-drop": {"limit": written[0]}})
    } else {
        json!({"weighted-tail-drop": {"limits": written}})
    };
    let config: BufferConfig = serde_json::from_value(config).expect("tail drop");
    let mut buffer = config.build(DRAIN, &streams).expect("all limits are above 0");
    let scale = if input.in_bytes { 500 } else { 1 };
    let limits = limits.iter().map(|limit| u64::from(*limit) * scale).collect();
    input.run(&mut buffer, &mut TailDrop { limits, in_bytes: input.in_bytes, waiting: Vec::new() });
    Outcome::Kept
}
