//! Tests that no measured delay and no measured queue in random networks exceeds its bound.

use std::path::Path;

use perhop_bounds::network::{Bounds, bounds};
use perhop_qos::random::{Stream, Streams};
use perhop_scenario::Scenario;
use perhop_sim::Engine;
use perhop_sim::build::set_up;
use perhop_sim::waits::Waits;
use serde_json::{Value, json};

/// The random choices of one scenario.
pub(crate) struct Dice(Stream);

impl Dice {
    pub(crate) fn from_seed(seed: u64) -> Dice {
        Dice(Streams::new(seed, 0).child("scenario").stream())
    }
    /// Returns a whole number from `least` to `most`.
    pub(crate) fn number(&mut self, least: u64, most: u64) -> u64 {
        least + (self.0.uniform() * (most - least + 1) as f64) as u64
    }
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.number(0, choices.len() as u64 - 1) as usize]
    }
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.number(1, 100) <= percent
    }
}

pub(crate) const CODEPOINTS: [&str; 4] = ["ef", "af41", "af21", "default"];
/// The rate of the bottleneck, bits per second.
pub(crate) const RATE: u64 = 4_000_000;

fn class(index: usize, count: usize, share: &Value, limit: &Value) -> Value {
    let mut class = json!({"name": format!("c{index}"), "share": share, "buffer": limit});
    if index + 1 < count {
        class["match"] = json!({"dscp": CODEPOINTS[index]});
    }
    class
}

/// Returns classes under one scheduler, without inner classes.
pub(crate) fn flat(dice: &mut Dice, scheduler: &str, count: usize) -> Value {
    let share = |dice: &mut Dice| match scheduler {
        "drr" => json!({"quantum": format!("{}B", dice.number(400, 3000))}),
        "scfq" | "wfq" | "wf2q-plus" => json!({"weight": dice.number(1, 5)}),
        "wrr" => json!({"weight": dice.number(1, 4)}),
        "three-parameter" => json!({"minimum": format!("{}kb/s", dice.number(200, 900))}),
        "guarantee-excess" => guaranteed(dice),
        _ => json!({}),
    };
    let limited = |dice: &mut Dice| match dice.number(0, 5) {
        0 => json!({"tail-drop": {"limit": "12 packets"}}),
        1 => json!({"tail-drop": {"limit": "15000B"}}),
        2 => json!({"weighted-tail-drop": {"limits": ["30 packets", "10 packets"]}}),
        3 => {
            json!({"wred": {"precedences": [{"min": "5 packets", "max": "20 packets", "max-probability": 0.2}], "limit": "40 packets"}})
        }
        _ => json!({"tail-drop": {"limit": "2000 packets"}}),
    };
    let classes = (0..count).map(|index| {
        let (share, limit) = (share(dice), limited(dice));
        class(index, count, &share, &limit)
    });
    let classes: Vec<Value> = classes.collect();
    json!({"scheduler": scheduler, "classes": classes})
}

/// Returns the share of a class of guarantee-excess: without a rate, with a rate, or with a rate that equals
/// its maximum.
fn guaranteed(dice: &mut Dice) -> Value {
    let rate = format!("{}kb/s", dice.number(200, 1200));
    let burst = format!("{}B", dice.number(1500, 20_000));
    let (level, excess) = (dice.number(0, 2), dice.number(0, 1));
    let mut share = match dice.number(0, 3) {
        0 => json!({}),
        1 => json!({"rate": rate, "ceil": rate, "ceil-burst": burst}),
        _ => json!({"rate": rate, "burst": burst}),
    };
    (share["level"], share["excess-level"]) = (json!(level), json!(excess));
    share["weight"] = json!(dice.number(1, 5));
    share
}

/// Returns one of four policies: classes under one scheduler, voice with priority over the other classes,
/// classes under a shaper, or classes of which one is shaped.
fn queueing(dice: &mut Dice, count: usize) -> Value {
    const FLAT: [&str; 9] =
        ["fifo", "priority", "wrr", "drr", "scfq", "wfq", "wf2q-plus", "three-parameter", "guarantee-excess"];
    const INNER: [&str; 4] = ["scfq", "drr", "wrr", "three-parameter"];
    let scheduler = dice.one_of(&FLAT);
    let mut config = flat(dice, scheduler, count);
    if dice.chance(35) {
        let scheduler = dice.one_of(&INNER);
        let mut inner = flat(dice, scheduler, count);
        let mut voice = inner["classes"].as_array_mut().unwrap().remove(0);
        voice["share"] = json!({});
        if dice.chance(50) {
            voice["police"] =
                json!({"rate": "1Mb/s", "burst": "6000B", "when": dice.one_of(&["congested", "always"])});
        }
        if dice.chance(20) {
            voice["share"] = json!({"cap": {"rate": "1Mb/s", "burst": "5000B"}});
        }
        let rest = json!({"name": "rest", "queueing": inner});
        config = json!({"scheduler": "priority", "classes": [voice, rest]});
    }
    if dice.chance(25) {
        let shape = json!({"rate": "3500kb/s", "burst": format!("{}B", dice.number(1000, 20_000))});
        config = json!({"classes": [{"name": "all", "shape": shape, "queueing": config}]});
    } else if dice.chance(15) && scheduler != "wfq" && config["classes"].as_array().unwrap().len() == count {
        config["classes"][1]["shape"] = json!({"rate": "600kb/s", "burst": "60000B"});
    }
    config
}

/// Returns a random source with a mean rate of `kilobits` or twice `kilobits`.
fn source(dice: &mut Dice, kilobits: u64) -> Value {
    let packet = json!({"ip": format!("{}B", dice.one_of(&[60, 200, 576, 1000, 1500]))});
    match dice.number(0, 3) {
        0 | 1 => {
            json!({"cbr": {"rate": format!("{kilobits}kb/s"), "packet": packet, "jitter": dice.one_of(&[0.0, 0.0, 0.1])}})
        }
        2 => {
            json!({"on-off": {"rate": format!("{}kb/s", 4 * kilobits), "packet": packet, "on-time": "20ms", "off-time": "60ms"}})
        }
        _ => json!({"poisson": {"rate": format!("{}kb/s", 2 * kilobits), "packet": packet}}),
    }
}

/// Returns a scenario with hosts, the routers r1, r2 and r3, and two bottlenecks in series. Each bottleneck
/// has a policy.
fn scenario(seed: u64) -> Value {
    let mut dice = Dice::from_seed(seed);
    let count = dice.number(2, 4) as usize;
    let policy = json!({"queueing": queueing(&mut dice, count), "overhead": dice.one_of(&[0, 0, 14])});
    let second = json!({"queueing": queueing(&mut dice, count)});
    let ring = match dice.number(0, 4) {
        0 => {
            json!({"particles": {"count": dice.number(2, 8), "size": "576B", "admission": dice.one_of(&["strict", "overshoot", "batches"]), "release": dice.one_of(&["last-bit", "first-bit"])}})
        }
        _ => json!({"packets": dice.one_of(&[1, 1, 2, 4])}),
    };
    let framing = dice.one_of(&["raw", "raw", "ethernet-wire", "ppp", "aal5-snap"]);
    let ports = |policy: &str, node: &str| json!({node: {"output": policy, "ring": ring}});
    let mut hosts = json!({"sink": {}});
    let mut links = vec![
        json!({"between": ["r1", "r2"], "rate": "4Mb/s", "delay": "2ms", "framing": framing, "interfaces": ports("first", "r1")}),
        json!({"between": ["r2", "r3"], "rate": "4Mb/s", "delay": "1ms", "interfaces": ports("second", "r2")}),
        json!({"between": ["r3", "sink"], "rate": "1Gb/s"}),
    ];
    let (mut traffic, mut policers) = (Vec::new(), Vec::new());
    // The policers limit the load to at most 70 % of the rate of the bottlenecks, counted in IP bytes.
    let load = dice.number(30, 70) * RATE / 1000 / 100;
    for (index, codepoint) in CODEPOINTS.iter().enumerate().take(count) {
        let host = format!("h{index}");
        let kilobits = load / count as u64;
        hosts[&host] = json!({});
        links.push(json!({"between": [host, "r1"], "rate": dice.one_of(&["10Mb/s", "100Mb/s"]), "interfaces": {"r1": {"input": "edge"}}}));
        policers.push(json!({
            "match": {"dscp": codepoint},
            "meter": {"token-bucket": {"rate": format!("{kilobits}kb/s"), "burst": format!("{}B", dice.number(1500, 9000))}},
            "green": ["transmit"], "red": ["drop"],
        }));
        for number in 0..dice.number(1, 3) {
            let start = format!("{}us", dice.number(0, 3) * 10_000);
            traffic.push(json!({
                "name": format!("{codepoint}-{number}"), "from": host, "to": "sink", "dscp": codepoint,
                "start": start, "count": dice.number(1, 2), "source": source(&mut dice, kilobits / 4),
            }));
        }
    }
    // No policer limits this TCP source, so its arrivals are unbounded.
    if dice.chance(25) {
        hosts["tcp"] = json!({});
        links.push(json!({"between": ["tcp", "r1"], "rate": "100Mb/s"}));
        traffic.push(json!({
            "name": "bulk", "from": "tcp", "to": "sink", "count": 2, "dscp": dice.one_of(&["default", "af41"]),
            "source": {"bulk": {"tcp": {"profile": "linux-modern"}}},
        }));
    }
    json!({
        "perhop": 1, "name": "random", "duration": "3s", "hosts": hosts,
        "routers": {"r1": {}, "r2": {}, "r3": {}}, "links": links, "traffic": traffic,
        "policies": {"first": policy, "second": second, "edge": {"conditioners": policers}},
    })
}

struct Tally {
    queues: usize,
    bounded: usize,
    classes: usize,
    end_to_end: usize,
    closest: f64,
    tightness: Vec<f64>,
}

/// Compares the measurements of one scenario with its bounds.
fn compare(seed: u64, scenario: &Scenario, bounds: &Bounds, tally: &mut Tally) {
    let setup = set_up(scenario, Path::new("."), seed, 0, &[]).unwrap();
    let mut network = setup.plain(Waits::default());
    network.run_until(scenario.duration);
    let names: Vec<String> = (0..).map_while(|port| network.port_name(port)).collect();
    for row in &bounds.queues {
        let port = names.iter().position(|name| *name == row.port).unwrap();
        let place = network.directions[port].queue_names.iter().position(|name| *name == row.queue).unwrap();
        let Some(seen) = network.observers.wait_at(port, place) else { continue };
        let about = || format!("seed {seed}, {} {}: {row:?} {seen:?}", row.port, row.queue);
        tally.queues += 1;
        if let Ok(delay) = row.bound.delay {
            tally.bounded += 1;
            let part = seen.longest.as_seconds() / delay;
            tally.closest = tally.closest.max(part);
            tally.tightness.push(part);
            assert!(part <= 1.0, "delay: {}", about());
        }
        if let Ok(bytes) = row.bound.backlog_bytes {
            assert!(seen.most_bytes as f64 <= bytes, "bytes: {}", about());
        }
        if let Ok(packets) = row.bound.backlog_packets {
            assert!(seen.most_packets as f64 <= packets, "packets: {}", about());
        }
    }
    let measured = network.measure();
    for row in bounds.paths.end_to_end() {
        tally.classes += 1;
        let Ok(delay) = row.delay else { continue };
        tally.end_to_end += 1;
        let place = measured.class_names.iter().position(|name| *name == row.class).unwrap();
        let of_class = measured.flows.iter().zip(&measured.counters).filter(|(flow, _)| flow.class == place);
        for (_, counters) in of_class {
            let tally = counters.tally();
            let greatest = tally.delay.greatest.as_seconds();
            let some = tally.delay.packets > 0;
            assert!(!some || greatest <= delay, "seed {seed}, {row:?}: {greatest}");
        }
    }
}

#[test]
fn no_delay_in_200_random_scenarios_exceeds_its_bound() {
    let mut tally =
        Tally { queues: 0, bounded: 0, classes: 0, end_to_end: 0, closest: 0.0, tightness: Vec::new() };
    for seed in 0..200 {
        let value = scenario(seed);
        let loaded = perhop_scenario::load_json(value.clone(), ".");
        let loaded = loaded.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{value}"));
        let bounds = bounds(&loaded.resolved, Path::new(".")).unwrap();
        compare(seed, &loaded.resolved, &bounds, &mut tally);
    }
    tally.tightness.sort_by(f64::total_cmp);
    let Tally { queues, bounded, classes, end_to_end, closest, tightness } = &tally;
    let median = tightness[tightness.len() / 2];
    println!(
        "{bounded} of {queues} queues, {end_to_end} of {classes} classes; closest {closest:.3}, median {median:.3}"
    );
    // A comparison with few bounded queues and classes proves nothing.
    assert!(
        *bounded * 100 >= *queues * 85 && *end_to_end * 100 >= *classes * 60,
        "{bounded} of {queues}, {end_to_end} of {classes}"
    );
    assert!(*closest > 0.8, "{closest}");
}
