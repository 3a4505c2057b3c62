//! Compares the rates of classes with the data plane, in random trees of schedulers on a wire, with every
//! class saturated.

use std::collections::BTreeMap;

use perhop_analysis::rates::{ClassRates, Given, capacity, rates};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, QueueingConfig, WireConfig};
use perhop_qos::random::{Stream, Streams};
use perhop_qos::ring::RingConfig;
use perhop_qos::{FlowKey, Packet, Rate, Time};
use serde_json::{Value, json};

/// Bits per second of the wire.
const LINE: u64 = 2_000_000;
/// IP bytes of all packets. Lengths are equal, because turns of WRR count packets.
const LENGTH: u32 = 250;
/// The seconds in which queues fill, and the seconds that are counted.
const WARM_UP_S: u64 = 2;
const COUNTED_S: u64 = 4;

/// Returns the rate of each queue of `policy`, bits per second, while packets for each queue arrive at the
/// rate of the wire.
fn sent_when_saturated(policy: &PolicyConfig, leaves: usize) -> Result<Vec<f64>, String> {
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(LINE),
        framing: Framing::Raw,
        headers: HeaderStack::default(),
        ring: RingConfig::Packets(1),
    };
    let mut port = policy.build_port(&wire, &[], &Streams::new(1, 0)).map_err(|error| error.to_string())?;
    let (warm, end) = (Time::from_seconds(WARM_UP_S), Time::from_seconds(WARM_UP_S + COUNTED_S));
    let gap = wire.rate.transmission_time(u64::from(LENGTH));
    let (mut sent, mut now, mut next, mut first) = (vec![0_u64; leaves], Time::ZERO, Time::ZERO, 0);
    while now < end {
        if now == next {
            // Each class in turn is the first to send.
            for step in 0..leaves {
                let label = 1 + (first + step) % leaves;
                let mut packet = Packet::new(FlowKey::default(), LENGTH);
                packet.label = label as u8;
                port.enqueue(now, &mut packet, ());
            }
            first += 1;
            next = now + gap;
        }
        let mut packet = Packet::new(FlowKey::default(), LENGTH);
        while port.poll_transmit(now, &mut packet, ()).is_some() {
            if now >= warm {
                sent[usize::from(packet.label) - 1] += u64::from(LENGTH);
            }
        }
        now = port.poll_timeout().map_or(next, |timeout| timeout.min(next));
    }
    Ok(sent.into_iter().map(|bytes| 8.0 * bytes as f64 / COUNTED_S as f64).collect())
}

/// The random choices for one tree.
struct Dice {
    stream: Stream,
    leaves: usize,
}

impl Dice {
    fn number(&mut self, least: u64, most: u64) -> u64 {
        least + (self.stream.uniform() * (most - least + 1) as f64) as u64
    }
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.number(0, choices.len() as u64 - 1) as usize]
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.number(1, 100) <= percent
    }
    fn kilobits(&mut self, least: u64, most: u64) -> String {
        format!("{}kb/s", self.number(least, most))
    }

    fn share(&mut self, scheduler: &str, is_around: bool) -> Value {
        match scheduler {
            "wrr" | "scfq" | "wfq" | "wf2q-plus" => json!({"weight": self.number(1, 5)}),
            "drr" if self.chance(20) => json!({}),
            "drr" => json!({"quantum": format!("{}B", self.number(400, 3000))}),
            "three-parameter" if self.chance(30) => json!({"weight": self.number(1, 5)}),
            "three-parameter" => json!({"minimum": self.kilobits(50, 700), "weight": self.number(1, 5)}),
            "cbq" if is_around => json!({"fraction": self.number(5, 45) as f64 / 100.0}),
            "cbq" => json!({"fraction": self.number(5, 45) as f64 / 100.0, "borrow": self.chance(70)}),
            "hfsc" if is_around => json!({"link-share": {"m2": self.kilobits(100, 900)}}),
            "hfsc" => match self.number(0, 3) {
                0 => json!({"real-time": {"m2": self.kilobits(50, 400)}}),
                1 => {
                    let (claim, part) = (self.kilobits(50, 400), self.kilobits(50, 900));
                    json!({"real-time": {"m2": claim}, "link-share": {"m2": part}})
                }
                2 => {
                    let (part, limit) = (self.kilobits(50, 900), self.kilobits(50, 900));
                    json!({"link-share": {"m2": part}, "upper-limit": {"m2": limit}})
                }
                _ => json!({"link-share": {"m2": self.kilobits(50, 900)}}),
            },
            "htb" => {
                let rate = self.number(50, 500);
                json!({"rate": format!("{rate}kb/s"), "ceil": self.kilobits(rate, 2000)})
            }
            "priority" if !is_around && self.chance(50) => {
                json!({"cap": {"rate": self.kilobits(100, 900), "burst": "3000B"}})
            }
            _ => json!({}),
        }
    }

    /// Returns a scheduler with classes, which may contain up to `depth` more levels.
    fn queueing(&mut self, depth: u64, above: Option<&'static str>) -> Value {
        const ALL: [&str; 11] = [
            "fifo",
            "priority",
            "wrr",
            "drr",
            "scfq",
            "wfq",
            "wf2q-plus",
            "three-parameter",
            "cbq",
            "hfsc",
            "htb",
        ];
        let scheduler = match above {
            Some(above) if self.chance(50) => above,
            _ => self.one_of(&ALL),
        };
        let count = self.number(2, 4);
        let classes = (0..count).map(|index| self.class(scheduler, index, depth)).collect::<Vec<_>>();
        json!({"scheduler": scheduler, "classes": classes})
    }

    fn class(&mut self, scheduler: &'static str, index: u64, depth: u64) -> Value {
        let is_around = depth > 0 && self.chance(35);
        let share = self.share(scheduler, is_around);
        let first = self.leaves + 1;
        let mut class = json!({"name": format!("c{index}"), "share": share});
        if is_around {
            class["queueing"] = self.queueing(depth - 1, Some(scheduler));
        } else {
            self.leaves += 1;
            class["buffer"] = json!({"tail-drop": {"limit": "40 packets"}});
            if self.chance(25) {
                let when = self.one_of(&["congested", "always"]);
                class["police"] = json!({"rate": self.kilobits(50, 900), "burst": "5000B", "when": when});
            }
        }
        if self.chance(20) {
            class["shape"] = match self.number(0, 2) {
                0 => {
                    let rate = self.kilobits(50, 600);
                    json!({"rate": rate, "burst": "3000B", "excess": "1500B", "form": "peak"})
                }
                _ => json!({"rate": self.kilobits(50, 900), "burst": "3000B"}),
            };
        }
        let labels: Vec<Value> = (first..=self.leaves).map(|label| json!({"label": label})).collect();
        class["match"] = json!({"any": labels});
        class
    }
}

fn tree(seed: u64) -> (Value, usize) {
    let mut dice = Dice { stream: Streams::new(seed, 0).child("tree").stream(), leaves: 0 };
    let queueing = dice.queueing(2, None);
    (queueing, dice.leaves)
}

fn has(queueing: &QueueingConfig, schedulers: &[&str]) -> bool {
    let text = serde_json::to_string(&queueing).unwrap();
    schedulers.iter().any(|one| text.contains(&format!("\"scheduler\":\"{one}\"")))
}

/// Returns a tree in one line, without the properties that all classes have.
fn in_short(queueing: &Value) -> String {
    let classes = queueing["classes"].as_array().unwrap().iter().map(|class| {
        let mut words = vec![class["share"].to_string()];
        words.extend(
            ["police", "shape"]
                .iter()
                .filter(|key| class.get(key).is_some())
                .map(|key| format!("{key} {}", class[key])),
        );
        words.extend(class.get("queueing").map(in_short));
        words.join(" ")
    });
    format!("{}({})", queueing["scheduler"].as_str().unwrap(), classes.collect::<Vec<_>>().join(", "))
}

#[test]
fn maxima_limit_the_total_rate_of_classes() {
    let together = |scheduler: &str| {
        let written = json!({"scheduler": scheduler, "classes": [
            {"name": "a", "match": {"dscp": "ef"}, "share": {"rate": "100kb/s", "ceil": "300kb/s"}},
            {"name": "b", "share": {"rate": "100kb/s", "ceil": "500kb/s"}},
        ]});
        let queueing: QueueingConfig = serde_json::from_value(written).unwrap();
        capacity(&queueing, LINE as f64).round() as u64
    };
    assert_eq!(together("guarantee-excess"), 800_000);
}

#[test]
fn every_class_gets_its_promise_and_no_more_than_its_maximum() {
    let none = BTreeMap::new();
    let (mut compared, mut promised, mut wrong) = (0, 0, Vec::new());
    for seed in 0..TREES {
        let (written, leaves) = tree(seed);
        let policy: PolicyConfig = serde_json::from_value(json!({"queueing": written})).unwrap();
        // Some schedulers cannot be nested in others.
        let Ok(sent) = sent_when_saturated(&policy, leaves) else { continue };
        let given = Given { line: Some(Rate::from_bits_per_second(LINE)), limits: &none };
        let level = rates(&policy, given).unwrap();
        let queues = level.leaves();
        assert_eq!(queues.len(), leaves);
        let is_averaged = has(policy.queueing.as_ref().unwrap(), &["fifo", "cbq"]);
        let exact = if is_averaged { Precision::Averages } else { Precision::Exact };
        for (rates, sent) in queues.into_iter().zip(sent) {
            compared += 1;
            promised += usize::from(rates.promised.is_some_and(|rate| rate > 0.0));
            let precision = if rates.is_approximate { Precision::Turns } else { exact };
            if let Some(what) = difference(rates, sent, precision) {
                let kilobits = |rate: Option<f64>| rate.map_or(-1, |rate| (rate / 1e3) as i64);
                let (promise, busy, most) = (rates.promised, rates.while_busy, rates.maximum);
                wrong.push(format!(
                    "{what}: seed {seed} {} sent {} promised {} busy {} at most {} of {}",
                    rates.path,
                    (sent / 1e3) as i64,
                    kilobits(promise),
                    kilobits(busy),
                    kilobits(most),
                    in_short(&written)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    // Without this check, the test could pass without a comparison.
    assert!(compared > 2 * TREES as usize && 2 * promised > compared, "{promised} of {compared}");
}

const TREES: u64 = 200;
/// The tolerance for a rate, bits per second: eight packets in the counted time.
const PACKETS: f64 = 8.0 * 8.0 * LENGTH as f64 / COUNTED_S as f64;

/// The precision of computed rates, compared with the rates of the sent bytes.
#[derive(Clone, Copy, PartialEq)]
enum Precision {
    Exact,
    /// CBQ, which averages the sent bytes, or FIFO, whose rates depend on the arrivals.
    Averages,
    /// A tree of HTB whose guarantees exceed the rate.
    Turns,
}

/// Describes a computed rate that differs from the measured rate; `None` if all agree.
fn difference(rates: &ClassRates, sent: f64, precision: Precision) -> Option<&'static str> {
    let busy = rates.while_busy.unwrap();
    let promised = rates.promised.filter(|_| busy > 0.0).unwrap_or(0.0);
    let kept = match precision {
        Precision::Exact => 0.98,
        Precision::Averages => 0.95,
        Precision::Turns => 0.75,
    };
    if sent < kept * promised - PACKETS {
        return Some("guarantee");
    }
    if sent > 1.02 * rates.maximum.unwrap() + PACKETS {
        return Some("maximum");
    }
    (precision == Precision::Exact && (sent - busy).abs() > 0.03 * busy + PACKETS).then_some("while busy")
}

/// Returns a tree of HTB. The rate of an inner class can be smaller or larger than the sum of the rates of
/// the classes inside it.
fn htb_tree(dice: &mut Dice, depth: u64, outermost: bool) -> Value {
    let class = |index: u64, dice: &mut Dice| {
        let is_around = depth > 0 && (outermost || dice.chance(40));
        let mut share = json!({});
        let first = dice.leaves + 1;
        let rate = if is_around { dice.number(50, 1500) } else { dice.number(20, 250) };
        share["rate"] = json!(format!("{rate}kb/s"));
        if dice.chance(80) {
            share["ceil"] = json!(dice.kilobits(rate, 2000));
        }
        if dice.chance(30) {
            share["burst"] = json!(format!("{}B", dice.number(1000, 8000)));
        }
        let mut class = json!({"name": format!("c{index}")});
        if is_around {
            class["queueing"] = htb_tree(dice, depth - 1, false);
        } else {
            dice.leaves += 1;
            share["level"] = json!(dice.number(0, 2));
            if dice.chance(50) {
                share["quantum"] = json!(format!("{}B", dice.number(300, 5000)));
            }
            class["buffer"] = json!({"tail-drop": {"limit": "40 packets"}});
        }
        class["share"] = share;
        let labels: Vec<Value> = (first..=dice.leaves).map(|label| json!({"label": label})).collect();
        class["match"] = json!({"any": labels});
        class
    };
    let count = dice.number(2, 3);
    let classes: Vec<Value> = (0..count).map(|index| class(index, dice)).collect();
    json!({"scheduler": "htb", "classes": classes})
}

/// Compares the computed rates of random trees with those of the data plane.
fn compare_trees(name: &str, grow: impl Fn(&mut Dice) -> Value) {
    let none = BTreeMap::new();
    let (mut compared, mut wrong) = (0_u64, Vec::new());
    for seed in 0..TREES / 2 {
        let mut dice = Dice { stream: Streams::new(seed, 0).child(name).stream(), leaves: 0 };
        let written = grow(&mut dice);
        let policy: PolicyConfig = serde_json::from_value(json!({"queueing": written})).unwrap();
        let sent = sent_when_saturated(&policy, dice.leaves).unwrap();
        let given = Given { line: Some(Rate::from_bits_per_second(LINE)), limits: &none };
        let level = rates(&policy, given).unwrap();
        for (rates, sent) in level.leaves().into_iter().zip(sent) {
            if rates.is_approximate {
                continue;
            }
            compared += 1;
            if let Some(what) = difference(rates, sent, Precision::Exact) {
                let (path, busy) = (&rates.path, rates.while_busy.unwrap());
                wrong.push(format!(
                    "{what}: seed {seed} {path} sent {sent} busy {busy}\n{}",
                    in_short(&written)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > TREES, "{compared}");
}

#[test]
fn htb_divides_excessive_rates_inside_a_class() {
    compare_trees("htb", |dice| htb_tree(dice, 3, true));
}

/// Returns a tree of guarantee-excess. Each class has a random weight, and may have a guaranteed rate and a
/// maximum. Each queue has random priorities.
fn guarantee_excess_tree(dice: &mut Dice, depth: u64) -> Value {
    let class = |index: u64, dice: &mut Dice| {
        let is_around = depth > 0 && dice.chance(60);
        let (first, rate) = (dice.leaves + 1, dice.number(50, 900));
        let mut share = json!({"weight": dice.number(1, 5)});
        if dice.chance(70) {
            share["rate"] = json!(format!("{rate}kb/s"));
        }
        if dice.chance(50) {
            share["ceil"] = json!(dice.kilobits(rate, 2000));
        } else if dice.chance(20) {
            share["ceil"] = json!(format!("{rate}kb/s"));
        }
        let mut class = json!({"name": format!("c{index}")});
        if is_around {
            class["queueing"] = guarantee_excess_tree(dice, depth - 1);
        } else {
            dice.leaves += 1;
            share["level"] = json!(dice.number(0, 2));
            share["excess-level"] = json!(dice.number(0, 1));
            class["buffer"] = json!({"tail-drop": {"limit": "40 packets"}});
        }
        class["share"] = share;
        let labels: Vec<Value> = (first..=dice.leaves).map(|label| json!({"label": label})).collect();
        class["match"] = json!({"any": labels});
        class
    };
    let count = dice.number(2, 3);
    let classes: Vec<Value> = (0..count).map(|index| class(index, dice)).collect();
    json!({"scheduler": "guarantee-excess", "classes": classes})
}

#[test]
fn guarantee_excess_divides_rates_in_the_order_of_priorities() {
    compare_trees("guarantee-excess", |dice| guarantee_excess_tree(dice, 2));
}

/// The least rate of HTB means no guarantee, and does not reduce the guarantees of other classes.
#[test]
fn the_least_rate_of_htb_is_not_a_guarantee() {
    let leaf = |name: &str, rate: &str| json!({"name": name, "share": {"rate": rate, "ceil": "1Gb/s"}});
    let classes = [leaf("none", "8b/s"), leaf("half", "500Mb/s"), leaf("other", "500Mb/s")];
    let inner = json!({"scheduler": "htb", "classes": classes});
    let port = json!({"name": "port", "share": {"rate": "1Gb/s"}, "queueing": inner});
    let policy = json!({"queueing": {"scheduler": "htb", "classes": [port]}});
    let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
    let none = BTreeMap::new();
    let given = Given { line: Some(Rate::from_bits_per_second(1_000_000_000)), limits: &none };
    let level = rates(&policy, given).unwrap();
    let found: Vec<_> =
        level.leaves().iter().map(|leaf| (leaf.promised, leaf.while_busy, leaf.is_approximate)).collect();
    let half = (Some(5e8), Some(5e8), false);
    assert_eq!(found, [(Some(0.0), Some(0.0), false), half, half]);
}
