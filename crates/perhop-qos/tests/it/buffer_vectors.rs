//! Runs `vectors/buffer/*.toml`: averages, probabilities and verdicts that were computed by hand.

use std::path::{Path, PathBuf};

use perhop_qos::buffer::{AnyBuffer, BufferConfig, BufferManager, DropSpacing};
use perhop_qos::framing::Framing;
use perhop_qos::packet::Ecn;
use perhop_qos::queue::{Occupancy, Stay};
use perhop_qos::random::Streams;
use perhop_qos::{Color, Packet, Rate, Time, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VectorFile {
    #[serde(default)]
    case: Vec<Case>,
    #[serde(default)]
    spacing: Vec<SpacingCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    drain: Rate,
    #[serde(default)]
    framing: Framing,
    buffer: BufferConfig,
    step: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Event {
    Arrival,
    Departure,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Step {
    #[serde(default)]
    at: Time,
    event: Event,
    #[serde(default)]
    precedence: Color,
    length: Option<u32>,
    ecn: Option<String>,
    /// The time at which the departing packet joined the queue.
    #[serde(default)]
    joined: Time,
    packets: Vec<u64>,
    bytes: Option<Vec<u64>>,
    averages: Option<Vec<f64>>,
    own_averages: Option<Vec<f64>>,
    deciding: Option<f64>,
    probability: Option<f64>,
    verdict: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpacingCase {
    rule: DropSpacing,
    probability: f64,
    expected: Vec<f64>,
}

impl Step {
    fn occupancy(&self) -> Occupancy {
        let mut occupancy = Occupancy::default();
        for (index, packets) in self.packets.iter().enumerate() {
            let bytes = self.bytes.as_ref().map_or(packets * 1000, |bytes| bytes[index]);
            occupancy.packets_of[index] = *packets;
            occupancy.bytes_of[index] = bytes;
            occupancy.packets += packets;
            occupancy.bytes += bytes;
        }
        occupancy
    }
    fn stay(&self) -> Stay {
        Stay { since: self.joined, ..Stay::default() }
    }
    fn packet(&self) -> Packet {
        let ecn = match self.ecn.as_deref() {
            None => Ecn::NotCapable,
            Some("capable") => Ecn::Capable0,
            Some("ect1") => Ecn::Capable1,
            Some("ce") => Ecn::CongestionExperienced,
            Some(other) => panic!("unknown ecn {other}"),
        };
        Packet { length: self.length.unwrap_or(1000), marks: ecn.into(), ..Packet::default() }
    }
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::MarkCe => "mark",
        Verdict::Drop(cause) => cause.name(),
    }
}

fn assert_close(found: &[f64], expected: &[f64], place: &str) {
    let close = found.len() == expected.len()
        // The resolution of averages is up to 2⁻²⁹, 1.9e-9.
        && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 4e-9);
    assert!(close, "{place}: found {found:?}, expected {expected:?}");
}

fn run(case: &Case, file: &Path) {
    let mut buffer = case.buffer.build_on(case.drain, case.framing, &Streams::new(1, 0)).unwrap();
    for (number, step) in case.step.iter().enumerate() {
        let place = format!("{}: {}: step {}", file.display(), case.name, number + 1);
        let (queue, packet) = (step.occupancy(), step.packet());
        let verdict = match step.event {
            Event::Arrival => buffer.admit(step.at, &packet, step.precedence, &queue),
            Event::Departure => buffer.release(step.at, &packet, step.precedence, step.stay(), &queue),
        };
        if let Some(expected) = &step.verdict {
            assert_eq!(name(verdict), expected, "{place}");
        }
        if let Some(expected) = &step.averages {
            assert_close(&buffer.averages(), expected, &format!("{place}: averages"));
        }
        let probability = match &buffer {
            AnyBuffer::Pie(pie) => Some(pie.probability()),
            AnyBuffer::DualPi2(dual) => Some(dual.base_probability()),
            _ => None,
        };
        if let (Some(found), Some(expected)) = (probability, step.probability) {
            assert_close(&[found], &[expected], &format!("{place}: probability"));
            continue;
        }
        let AnyBuffer::Mred(mred) = &buffer else {
            let silent = step.own_averages.is_none() && step.deciding.is_none() && step.probability.is_none();
            assert!(silent, "{place}: only the RED family has averages");
            continue;
        };
        let deciding = mred.deciding_average(step.precedence, &queue);
        if let Some(expected) = &step.own_averages {
            assert_close(&mred.own_averages(), expected, &format!("{place}: own averages"));
        }
        if let Some(expected) = step.deciding {
            assert_close(&[deciding], &[expected], &format!("{place}: deciding average"));
        }
        if let Some(expected) = step.probability {
            let found = mred.drop_probability(step.precedence, deciding, packet.length);
            assert_close(&[found], &[expected], &format!("{place}: probability"));
        }
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/buffer");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_vector_holds() {
    let mut checked = 0;
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# README: "), "{}: says first what it holds", path.display());
        let file: VectorFile =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &file.case {
            run(case, &path);
            checked += case.step.len();
        }
        for case in &file.spacing {
            let found: Vec<f64> = (0..)
                .zip(&case.expected)
                .map(|(kept, _)| case.rule.probability(case.probability, kept))
                .collect();
            assert_close(&found, &case.expected, &format!("{}: {:?}", path.display(), case.rule));
            checked += found.len();
        }
    }
    assert!(checked > 50, "only {checked} steps found");
}
