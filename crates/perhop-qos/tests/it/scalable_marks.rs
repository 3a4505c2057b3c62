//! Marks for scalable senders next to RED, compared with a plain model in floating point. Packets of scalable
//! senders are marked by the threshold of RFC 8257 or the ramp of RFC 9332. The decisions about all other
//! packets are those of Floyd and Jacobson, and the marks do not affect them.

use crate::plain::red::{Fate, PlainRed};
use crate::traffic;
use crate::traffic::{DRAIN, Traffic};
use perhop_qos::buffer::{Averages, BufferConfig, BufferManager, MredConfig};
use perhop_qos::packet::Ecn;
use perhop_qos::queue::{Occupancy, Stay};
use perhop_qos::random::Streams;
use perhop_qos::{Color, DropCause, Packet, Rate, Time, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

fn traffic() -> impl Strategy<Value = Traffic> {
    let ecn = prop::sample::select(vec![
        Ecn::NotCapable,
        Ecn::Capable0,
        Ecn::Capable1,
        Ecn::Capable1,
        Ecn::CongestionExperienced,
    ]);
    traffic::traffic((0..3usize, ecn, 40..1500u32).prop_map(|(color, ecn, length)| Packet {
        length,
        color: Color::new(color),
        marks: ecn.into(),
        ..Packet::default()
    }))
}

/// A threshold or a ramp: its start and its width, in `unit`.
#[derive(Clone, Copy, Debug)]
struct PlainMarks {
    unit: &'static str,
    any_ect: bool,
    from: u64,
    width: u64,
    /// The sum of probabilities since the last mark.
    sum: f64,
}

impl PlainMarks {
    fn config(&self) -> Value {
        let depth = |number: u64| match self.unit {
            "packets" => format!("{number} packets"),
            "bytes" => format!("{}B", number * 300),
            _ => format!("{}us", number * 200),
        };
        let mark = if self.width == 0 {
            json!({"step": depth(self.from)})
        } else {
            json!({"ramp": {"from": depth(self.from), "width": depth(self.width)}})
        };
        json!({"mark": mark, "ecn": if self.any_ect { "any-ect" } else { "l4s" }})
    }
    fn takes(&self, packet: &Packet) -> bool {
        let ecn = packet.marks.ecn();
        ecn == Ecn::Capable1 || ecn == Ecn::CongestionExperienced || self.any_ect && ecn == Ecn::Capable0
    }
    /// Whether a packet at this depth, in the unit of the configuration, is marked, or `None` if this depends
    /// on the last digit of the sum.
    fn marks(&mut self, depth: f64) -> Option<bool> {
        let beyond = depth - self.from as f64;
        if self.width == 0 || beyond >= self.width as f64 || beyond <= 0.0 {
            return Some(beyond > 0.0);
        }
        self.sum += beyond / self.width as f64;
        if (self.sum - 1.0).abs() < 1e-9 {
            // A sum of exactly 1 does not exceed 1.
            return if self.unit == "packets" { Some(false) } else { None };
        }
        let is_due = self.sum > 1.0;
        self.sum -= f64::from(u8::from(is_due));
        Some(is_due)
    }
}

fn marks() -> impl Strategy<Value = PlainMarks> {
    let unit = prop::sample::select(vec!["packets", "bytes", "time"]);
    let width = prop_oneof![Just(0u64), 1..12u64];
    (unit, any::<bool>(), 0..10u64, width).prop_map(|(unit, any_ect, from, width)| PlainMarks {
        unit,
        any_ect,
        from,
        width,
        sum: 0.0,
    })
}

/// The packets in the queue, with their arrival times.
#[derive(Default)]
struct Waiting {
    packets: Vec<(Packet, Time)>,
}

impl Waiting {
    fn occupancy(&self) -> Occupancy {
        let mut found = Occupancy::default();
        for (packet, _) in &self.packets {
            found.packets += 1;
            found.bytes += u64::from(packet.length);
            found.packets_of[packet.color.index()] += 1;
            found.bytes_of[packet.color.index()] += u64::from(packet.length);
        }
        found
    }
}

proptest! {
    #[test]
    fn scalable_senders_have_their_own_rule_without_effect_on_others(
        marks in marks(),
        averages in prop::sample::select(vec![
            Averages::Single, Averages::Coupled, Averages::CoupledSampled, Averages::Decoupled,
        ]),
        traffic in traffic(),
    ) {
        let precedence = |rank| json!({
            "min": format!("{rank} packets"), "max": format!("{} packets", 5 * rank), "max-probability": 0.3,
        });
        let config: MredConfig = serde_json::from_value(json!({
            "precedences": [precedence(3), precedence(2), precedence(1)], "averages": averages,
            "averaging": {"weight": 0.1}, "ecn": "ignore", "scalable": marks.config(),
        })).unwrap();
        let mut found = config.build(DRAIN, &Streams::new(11, 0)).unwrap();
        prop_assert_eq!(found.needs_sojourn_times(), marks.unit == "time");
        prop_assert_eq!(found.decides_on_arrival(), marks.unit != "time");
        let mut others = PlainRed::new(&config, averages, DRAIN, Streams::new(11, 0).stream());
        let (mut plain, mut queue, mut now) = (marks, Waiting::default(), Time::ZERO);
        for (pause, arrives) in &traffic {
            now += *pause;
            let Some(packet) = arrives else {
                if queue.packets.is_empty() {
                    continue;
                }
                let (packet, since) = queue.packets.remove(0);
                let held = queue.occupancy();
                let stay = Stay { since, ..Stay::default() };
                let verdict = found.release(now, &packet, packet.color, stay, &held);
                others.averages.departure(now, &packet, &held);
                let expected = plain.unit == "time" && plain.takes(&packet) && {
                    let waited = (now - since).as_picoseconds() as f64 / 2e8;
                    let Some(marked) = plain.marks(waited) else { return Ok(()) };
                    marked
                };
                prop_assert_eq!(verdict, if expected { Verdict::MarkCe } else { Verdict::Pass });
                continue;
            };
            let held = queue.occupancy();
            let verdict = found.admit(now, packet, packet.color, &held);
            let expected = if plain.takes(packet) {
                others.averages.arrival(now, packet, &held);
                let average = others.deciding(packet, &held);
                let max = config.precedences[packet.color.index()].max.count() as f64;
                if (average - max).abs() < 1e-6 {
                    return Ok(());
                }
                let depth = match plain.unit {
                    "packets" => held.packets as f64,
                    "bytes" => held.bytes as f64 / 300.0,
                    _ => 0.0,
                };
                if average >= max {
                    Verdict::Drop(DropCause::EarlyForced)
                } else {
                    let Some(marked) = plain.marks(depth) else { return Ok(()) };
                    if marked { Verdict::MarkCe } else { Verdict::Pass }
                }
            } else {
                match others.arrival(now, packet, &held) {
                    None => return Ok(()),
                    Some(Fate::Kept) => Verdict::Pass,
                    Some(Fate::Drawn) => Verdict::Drop(DropCause::EarlyRandom),
                    Some(Fate::Forced) => Verdict::Drop(DropCause::EarlyForced),
                }
            };
            prop_assert_eq!(verdict, expected);
            if !matches!(verdict, Verdict::Drop(_)) {
                queue.packets.push((*packet, now));
            }
        }
    }
}

fn refused(scalable: &Value, law: Option<&str>) -> String {
    let mut config = json!({"red": {
        "precedences": [{"min": "5KiB", "max": "15KiB", "max-probability": 0.1}], "scalable": scalable,
    }});
    if let Some(law) = law {
        config["red"]["law"] = json!(law);
    }
    let config: BufferConfig = serde_json::from_value(config).unwrap();
    config.build(Rate::from_bits_per_second(1_000_000), &Streams::new(1, 0)).unwrap_err().to_string()
}

#[test]
fn a_wrong_ramp_is_refused() {
    let ramp = |width: &str| json!({"mark": {"ramp": {"from": "8 packets", "width": width}}});
    assert_eq!(
        refused(&ramp("1ms"), None),
        "red.scalable.mark.ramp.width: a ramp is in packets, in bytes or in time (write both as `8 packets`)"
    );
    assert_eq!(
        refused(&ramp("0 packets"), None),
        "red.scalable.mark.ramp.width: a ramp without a width is a step (write mark: {step: 8 packets})"
    );
}

#[test]
fn laws_without_scalable_marks_refuse_them() {
    let error = refused(&json!({"mark": {"step": "1ms"}}), Some("linux-red"));
    assert!(
        error.starts_with("red.scalable: linux-red does not mark by the current queue length"),
        "{error}"
    );
}
