//! CBQ compared packet by packet with ns-2 2.35 (`Queue/CBQ` and `Queue/CBQ/WRR`). If arrivals are equal,
//! departures must have the same order and the same start times.
//!
//! Without an installed `ns`, the tests print the reason and compare nothing.

use std::fmt::Write as _;
use std::process::Command;

use crate::wire::{Arrival, Departure, send};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::{Rate, Time};
use serde_json::{Value, json};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);
/// The tolerance for equal times. ns-2 writes whole microseconds, and all arrival and transmission times are
/// whole microseconds.
const SAME: Time = Time::from_nanoseconds(1);

/// A class in both simulators: name, parent, fraction, level, whether it may borrow, largest idle time in s,
/// and extra delay in s. A class without a level has inner classes.
struct Class {
    name: &'static str,
    parent: &'static str,
    fraction: f64,
    level: Option<u16>,
    borrows: bool,
    max_idle: f64,
    extra_delay: f64,
}

fn leaf(name: &'static str, parent: &'static str, fraction: f64, level: u16) -> Class {
    Class { name, parent, fraction, level: Some(level), borrows: true, max_idle: 0.004, extra_delay: 0.0 }
}

/// The root class, with nearly the whole wire. With the whole wire, its idle time would be 0 for hours, and
/// rounding would decide whether ns-2 finds it above or below its limit.
fn top() -> Class {
    Class {
        name: "top",
        parent: "",
        fraction: 0.98,
        level: None,
        borrows: false,
        max_idle: 0.01,
        extra_delay: 0.0,
    }
}

/// A CBQ configuration: classes, the kind of their turns, and a guideline.
struct Sharing {
    guideline: &'static str,
    turns: &'static str,
    classes: Vec<Class>,
}

impl Sharing {
    fn policy(&self) -> QueueingConfig {
        let mut root = self.inside("");
        root["link-sharing"] =
            json!({ "guideline": self.guideline, "turns": self.turns, "longest-packet": "1500B" });
        serde_json::from_value(root).unwrap()
    }
    fn inside(&self, parent: &str) -> Value {
        let class = |class: &Class| {
            let mut share = json!({
                "fraction": class.fraction,
                "borrow": class.borrows,
                "max-idle": format!("{}us", (class.max_idle * 1e6) as u64),
                "extra-delay": format!("{}us", (class.extra_delay * 1e6) as u64),
            });
            match class.level {
                Some(level) => {
                    share["level"] = level.into();
                    json!({ "name": class.name, "share": share })
                }
                None => json!({ "name": class.name, "share": share, "queueing": self.inside(class.name) }),
            }
        };
        let classes = self.classes.iter().filter(|class| class.parent == parent).map(class);
        json!({ "scheduler": "cbq", "classes": classes.collect::<Vec<_>>() })
    }
    fn height(&self, name: &str) -> u8 {
        let inside = self.classes.iter().filter(|class| class.parent == name);
        inside.map(|class| self.height(class.name)).max().map_or(1, |height| height + 1)
    }
    /// The names of the classes with queues, in the order of the policy.
    fn leaves(&self) -> Vec<String> {
        let names = self.policy().queue_names();
        names.iter().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
    }

    /// A Tcl script for ns-2 that sends `arrivals` through these classes, on a link of 8 Mb/s.
    fn script(&self, arrivals: &[Arrival]) -> String {
        let queue = if self.turns == "weighted" { "CBQ/WRR" } else { "CBQ" };
        let mut tcl = format!(
            "set ns [new Simulator]\n\
             Queue/CBQ set maxpkt_ 1500\nQueue/CBQ/WRR set maxpkt_ 1500\n\
             Queue/CBQ set algorithm_ {}\nAgent/UDP set packetSize_ 2000\n\
             set a [$ns node]\nset b [$ns node]\n\
             $ns simplex-link $a $b 8Mb 1ms {queue}\n$ns simplex-link $b $a 8Mb 1ms DropTail\n\
             set link [$ns link $a $b]\n",
            match self.guideline {
                "ancestor-only" => 0,
                "top-level" => 1,
                _ => 2,
            },
        );
        for class in &self.classes {
            let parent =
                if class.parent.is_empty() { "none".to_owned() } else { format!("${}", class.parent) };
            let (level, height) = (class.level.map_or(8, |level| level + 1), self.height(class.name));
            writeln!(tcl, "set {} [new CBQClass]", class.name).unwrap();
            if class.level.is_some() {
                let name = class.name;
                writeln!(tcl, "set q [new Queue/DropTail]\n$q set limit_ 100000\n${name} install-queue $q")
                    .unwrap();
            }
            let (borrows, fraction, idle) = (u8::from(class.borrows), class.fraction, class.max_idle);
            let extra = class.extra_delay;
            writeln!(
                tcl,
                "${} setparams {parent} {borrows} {fraction} {idle} {level} {height} {extra}",
                class.name
            )
            .unwrap();
        }
        // ns-2 inserts each new class into its ring behind the first class. All classes after the first are
        // therefore in reverse order.
        let leaves = self.leaves();
        let inner =
            self.classes.iter().filter(|class| class.level.is_none()).map(|class| class.name.to_owned());
        let order = inner.chain(leaves.first().cloned()).chain(leaves.iter().skip(1).rev().cloned());
        for name in order {
            writeln!(tcl, "$link insert ${name}").unwrap();
        }
        for (number, name) in leaves.iter().enumerate() {
            writeln!(
                tcl,
                "$link bind ${name} {number}\nset u{number} [new Agent/UDP]\nset s [new Agent/Null]\n\
                 $ns attach-agent $a $u{number}\n$ns attach-agent $b $s\n$ns connect $u{number} $s\n\
                 $u{number} set fid_ {number}"
            )
            .unwrap();
        }
        for Arrival { at, queue, length } in arrivals {
            writeln!(tcl, "$ns at {:.6} \"$u{queue} send {length}\"", at.as_seconds()).unwrap();
        }
        let end = arrivals.last().unwrap().at.as_seconds() + 60.0;
        write!(
            tcl,
            "set f [open [lindex $argv 0] w]\n$ns trace-queue $a $b $f\n\
             $ns at {end} \"close $f; exit 0\"\n$ns run\n"
        )
        .unwrap();
        tcl
    }
}

/// Returns the packets that ns-2 sends (queue, length and start), or `None` if ns-2 is not installed.
fn sent_by_peer(sharing: &Sharing, arrivals: &[Arrival], name: &str) -> Option<Vec<(usize, u32, f64)>> {
    let folder = std::env::temp_dir().join(format!("perhop-cbq-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (script, trace) = (folder.join("cbq.tcl"), folder.join("cbq.tr"));
    std::fs::write(&script, sharing.script(arrivals)).unwrap();
    let ran = Command::new("ns").arg(&script).arg(&trace).output();
    let Ok(ran) = ran else {
        std::fs::remove_dir_all(&folder).unwrap();
        eprintln!("skipped: there is no ns (Debian's package ns2)");
        return None;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let started = text.lines().filter(|line| line.starts_with('-')).map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields[7].parse().unwrap(), fields[5].parse().unwrap(), fields[1].parse().unwrap())
    });
    Some(started.collect())
}

/// Compares the departures up to the end of the shorter list.
fn compare(sharing: &Sharing, arrivals: &[Arrival], name: &str) -> Vec<Departure> {
    let departures = send(&sharing.policy(), RATE, arrivals);
    if let Some(peer) = sent_by_peer(sharing, arrivals, name) {
        let shown = |index: usize| {
            let from = index.saturating_sub(4);
            let ours: Vec<_> =
                departures[from..].iter().take(6).map(|d| (d.queue, d.length, d.starts)).collect();
            format!("ns-2: {:?}\nperhop: {ours:?}", &peer[from..(from + 6).min(peer.len())])
        };
        for (index, (departure, (queue, length, starts))) in departures.iter().zip(&peer).enumerate() {
            let apart = (departure.starts.as_seconds() - starts).abs();
            assert!(
                (departure.queue, departure.length) == (*queue, *length) && apart <= SAME.as_seconds(),
                "{name}: packet {index}\n{}",
                shown(index)
            );
        }
        // If no packets arrive, ns-2 does not check whether a class may send again.
        let last = arrivals.last().unwrap().at;
        let before = departures.iter().filter(|departure| departure.starts < last).count();
        assert!(peer.len() >= before, "{name}: ns-2 sent {} of {before}", peer.len());
    }
    departures
}

/// Returns the packets of `demands`: length in bytes, bytes per second, start and end in ms. The gaps vary by
/// a third.
fn packets(demands: &[(u32, f64, u64, u64)]) -> Vec<Arrival> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut arrivals = Vec::new();
    for (queue, (length, rate, from, to)) in demands.iter().enumerate() {
        let mut at = *from as f64 * 1e-3 + 0.001 + 1e-4 * random();
        while at < *to as f64 * 1e-3 {
            arrivals.push(Arrival { at: Time::from_microseconds((at * 1e6) as u64), queue, length: *length });
            at += f64::from(*length) / rate * (2.0 / 3.0 + 2.0 / 3.0 * random());
        }
    }
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals.dedup_by_key(|arrival| arrival.at);
    arrivals
}

/// The bytes per second of `queue` between two times in ms.
fn rate_of(departures: &[Departure], queue: usize, from: u64, to: u64) -> f64 {
    let (from, to) = (Time::from_milliseconds(from), Time::from_milliseconds(to));
    let sent = departures.iter().filter(|d| d.queue == queue && d.starts >= from && d.starts < to);
    sent.map(|departure| f64::from(departure.length)).sum::<f64>() / (to - from).as_seconds()
}

/// Compares all kinds of turns and all guidelines for `classes`. Returns the departures with weighted turns
/// and the formal guideline.
fn all_kinds(name: &str, classes: fn() -> Vec<Class>, arrivals: &[Arrival]) -> Vec<Departure> {
    let mut formal = Vec::new();
    for turns in ["packet", "weighted"] {
        for guideline in ["ancestor-only", "top-level", "formal"] {
            let sharing = Sharing { guideline, turns, classes: classes() };
            formal = compare(&sharing, arrivals, &format!("{name}-{turns}-{guideline}"));
        }
    }
    formal
}

#[test]
fn two_classes_that_borrow_share_by_their_allotments() {
    let classes = || vec![top(), leaf("x", "top", 0.31, 0), leaf("y", "top", 0.63, 0)];
    let arrivals = packets(&[(1000, 900e3, 0, 1000), (500, 900e3, 0, 600)]);
    let departures = all_kinds("two", classes, &arrivals);
    // Together the classes offer more than the rate of the wire.
    let both = [0, 1].map(|queue| rate_of(&departures, queue, 100, 500));
    assert!((both[0] + both[1] - 1e6).abs() < 10e3, "{both:?}");
    // If the next class has no packet yet, the remaining bytes of a turn are lost, as in ns-2.
    assert!((both[0] / both[1] - 31.0 / 63.0).abs() < 0.04, "{both:?}");
}

#[test]
fn a_class_that_does_not_borrow_gets_its_allotment() {
    let classes = || {
        let ef = Class { borrows: false, ..leaf("ef", "top", 0.3187, 0) };
        vec![
            top(),
            ef,
            leaf("one", "top", 0.17, 0),
            leaf("two", "top", 0.17, 0),
            leaf("three", "top", 0.17, 0),
        ]
    };
    let demands =
        [(160, 500e3, 0, 1000), (1500, 400e3, 0, 1000), (1500, 400e3, 0, 1000), (600, 400e3, 0, 1000)];
    let departures = all_kinds("regulated", classes, &packets(&demands));
    let ef = rate_of(&departures, 0, 100, 900);
    // A class never catches up on the time for which it waits for packets of other classes.
    assert!((0.9 * 318.7e3..=318.7e3).contains(&ef), "{ef}");
}

#[test]
fn priorities_come_first_within_their_allotments() {
    // The flat structure of S. Floyd, "Ns Simulator Tests for Class-Based Queueing", 1996, with other
    // numbers.
    let classes = || {
        let audio = Class { borrows: false, extra_delay: 0.002, ..leaf("audio", "top", 0.0307, 0) };
        vec![top(), audio, leaf("video", "top", 0.3197, 0), leaf("data", "top", 0.6503, 1)]
    };
    let demands = [(190, 190e3, 0, 1000), (500, 250e3, 0, 700), (1000, 1200e3, 0, 1000)];
    let departures = all_kinds("flat", classes, &packets(&demands));
    let video = rate_of(&departures, 1, 100, 650);
    assert!((video - 250e3).abs() < 12e3, "{video}");
    let audio = rate_of(&departures, 0, 100, 900);
    assert!(audio < 1.05 * 30.7e3, "{audio}");
}

#[test]
fn agencies_lend_to_their_own_first() {
    // Two agencies, each with video at the first level and data at the second. Some times are not whole
    // microseconds. Otherwise, a class could become satisfied at the same time as the wire becomes free. In
    // this case perhop counts the class as within its allotment, but ns-2 does not.
    let classes = || {
        let inner = |name, fraction| Class { level: None, max_idle: 0.02, ..leaf(name, "top", fraction, 0) };
        vec![
            top(),
            inner("A", 0.69),
            leaf("videoA", "A", 0.2987, 0),
            leaf("dataA", "A", 0.3911, 1),
            inner("B", 0.29),
            leaf("videoB", "B", 0.0973, 0),
            leaf("dataB", "B", 0.1907, 1),
        ]
    };
    // While agency A sends no video, its data has the remaining rate of A.
    let demands =
        [(190, 340e3, 300, 1000), (1000, 900e3, 0, 1000), (500, 140e3, 0, 1000), (1000, 500e3, 0, 1000)];
    let departures = all_kinds("agencies", classes, &packets(&demands));
    let data = rate_of(&departures, 1, 50, 300);
    assert!((data - 690e3).abs() < 30e3, "{data}");
}
