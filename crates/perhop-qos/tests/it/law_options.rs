//! Tests of the laws of RED, and of the options that each law determines.

use perhop_qos::buffer::{AnyBuffer, BufferConfig, BufferManager, Law, MredConfig};
use perhop_qos::packet::Ecn;
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::{Color, ConfigError, DropCause, Packet, QueueSize, Rate, Time, Verdict};
use serde_json::{Value, json};

/// All laws, each with a name in the configuration whose averages it implements.
const LAWS: [(Law, &str); 9] = [
    (Law::Floyd1993, "red"),
    (Law::Ns21999, "red"),
    (Law::Ns235, "red"),
    (Law::Ns235DsRed, "wred"),
    (Law::Ns235Rio, "rio-c"),
    (Law::LinuxRed, "red"),
    (Law::LinuxRedInClass, "red"),
    (Law::LinuxGred, "rio-dc"),
    (Law::Cisco, "wred"),
];

fn thresholds(unit: &str, count: usize) -> Value {
    let precedence =
        json!({"min": format!("5000{unit}"), "max": format!("15000{unit}"), "max-probability": 0.1});
    json!(vec![precedence; count])
}

fn config(law: Law, option: Option<(&str, Value)>) -> Value {
    let unit = if law.name().starts_with("linux") { "B" } else { " packets" };
    let count = if law == Law::Ns235Rio { 2 } else { 1 };
    let mut config = json!({"law": law.name(), "precedences": thresholds(unit, count)});
    if let Some((name, value)) = option {
        config[name] = value;
    }
    config
}

fn build(name: &str, config: &Value) -> Result<AnyBuffer, ConfigError> {
    let config: BufferConfig = serde_json::from_value(json!({name: config})).unwrap();
    config.build(Rate::from_bits_per_second(1_000_000), &Streams::new(1, 0))
}

#[test]
fn a_law_needs_only_thresholds() {
    for (law, name) in LAWS {
        assert_eq!(serde_json::to_value(law).unwrap(), json!(law.name()));
        build(name, &config(law, None)).unwrap_or_else(|error| panic!("{}: {error}", law.name()));
    }
}

/// Each value of an option that the law does not permit results in an error that names the law and the
/// option.
#[test]
fn an_option_that_contradicts_the_law_is_an_error() {
    let options: [(&str, &[&str]); 7] = [
        ("update", &["arrivals", "arrivals-and-departures"]),
        ("idle", &["decay", "decay-and-sample", "decay-whole-and-sample", "none"]),
        ("above-max", &["drop", "gentle"]),
        ("spared", &["nothing", "first-above-min", "short-queue-and-first"]),
        ("after-forced", &["restart", "go-on"]),
        ("drop-spacing", &["uniform", "uniform-per-drop", "counted-first", "unguarded", "geometric", "wait"]),
        ("limit-counts", &["queue", "averaged"]),
    ];
    // For each law, the number of permitted values of each option, in the order of the options. They were
    // counted by hand in the sources.
    let allowed: [[usize; 7]; 9] = [
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 2, 1],
        [1, 1, 2, 1, 1, 2, 1],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 2, 1, 1, 2, 1],
        [1, 0, 1, 1, 1, 1, 1],
        [1, 0, 1, 1, 1, 1, 1],
        [1, 0, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 4, 1],
    ];
    for ((law, name), allowed) in LAWS.into_iter().zip(allowed) {
        for ((option, values), allowed) in options.into_iter().zip(allowed) {
            let errors: Vec<ConfigError> = values
                .iter()
                .filter_map(|value| build(name, &config(law, Some((option, json!(value))))).err())
                .collect();
            assert_eq!(values.len() - errors.len(), allowed, "{}: {option}", law.name());
            for error in errors {
                assert_eq!(error.path, [name, option]);
                assert!(error.message.contains(law.name()), "{error}");
            }
        }
    }
}

#[test]
fn options_that_an_implementation_lacks_are_refused() {
    let error = |name: &str, config: &Value| build(name, config).unwrap_err().to_string();
    let packets = json!({"law": "linux-gred", "precedences": thresholds(" packets", 2)});
    assert!(
        error("wred", &packets).contains("linux-gred counts queues in bytes"),
        "{}",
        error("wred", &packets)
    );
    let bytes = json!({"law": "ns-2.35-dsred", "precedences": thresholds("B", 2)});
    assert!(error("rio-c", &bytes).contains("ns-2.35-dsred counts queues in packets"));
    let three = json!({"law": "ns-2.35-rio", "precedences": thresholds("B", 3)});
    assert!(error("rio-c", &three).contains("ns-2.35-rio has two precedences, not 3"));
    assert!(error("rio-dc", &config(Law::Ns235Rio, None)).contains("ns-2.35-rio"));
    let weight = config(Law::LinuxRed, Some(("averaging", json!({"weight": 0.002}))));
    assert!(error("red", &weight).contains("Linux averages with a weight of 2⁻ⁿ"));
    let marks = config(Law::Ns235DsRed, Some(("ecn", json!("mark"))));
    assert!(error("wred", &marks).contains("ns-2.35-dsred"));
    assert!(build("wred", &config(Law::Ns235DsRed, Some(("ecn", json!("mark-all"))))).is_ok());
}

/// In bytes, ns-2 admits a packet if any byte is free, even if the packet does not fit.
#[test]
fn limits_that_do_not_bound_the_queue_are_not_queue_limits() {
    let limit = |law: &str, limit: &str| {
        let config = json!({"law": law, "limit": limit, "precedences": thresholds("B", 1)});
        let config: MredConfig = serde_json::from_value(config).unwrap();
        config.queue_limit()
    };
    assert_eq!(limit("ns-2.35", "16000B"), None);
    assert_eq!(limit("ns-2.35", "16 packets"), Some(QueueSize::Packets(16)));
    assert_eq!(limit("floyd-1993", "16000B"), Some(QueueSize::Bytes(16_000)));
    assert_eq!(limit("linux-gred", "16000B"), None);
}

/// The implementations define the averages of `rio-c` differently.
#[test]
fn a_name_uses_the_averages_of_the_law() {
    let built = |law: Law| match build("rio-c", &config(law, None)).unwrap() {
        AnyBuffer::Mred(buffer) => buffer,
        other => panic!("{other:?}"),
    };
    assert_eq!(built(Law::Ns235Rio).averages().len(), 2);
    assert_eq!(built(Law::LinuxGred).averages().len(), 1);
    let gred: MredConfig = serde_json::from_value(config(Law::LinuxGred, None)).unwrap();
    assert_eq!(gred.weight(), Ok(1.0 / 512.0));
    let gentle: MredConfig = serde_json::from_value(config(Law::Ns235, None)).unwrap();
    let corners = gentle.drop_curves().unwrap();
    assert_eq!(corners[0].shared.last(), Some(&(30_000.0, 1.0)));
}

/// Returns the verdicts on ECN-capable packets that each find `held` packets in the queue. Repeated verdicts,
/// and packets that pass without a mark, are omitted.
fn fates(config: &Value, held: u64) -> Vec<Verdict> {
    let mut buffer = build("red", config).unwrap();
    let mut packet = Packet { length: 1000, ..Packet::default() };
    packet.marks = packet.marks.with_ecn(Ecn::Capable0);
    let mut queue = Occupancy { packets: held, bytes: 1000 * held, ..Occupancy::default() };
    (queue.packets_of[0], queue.bytes_of[0]) = (held, 1000 * held);
    let mut fates: Vec<Verdict> = (0..300)
        .map(|_| buffer.admit(Time::ZERO, &packet, Color::GREEN, &queue))
        .filter(|verdict| *verdict != Verdict::Pass)
        .collect();
    fates.dedup();
    fates
}

/// RFC 3168 describes forced drops. Linux without `harddrop` marks these packets instead. ns-2.35 does not
/// mark packets whose probability is above `mark_p_`, 0.1.
#[test]
fn marked_packets_depend_on_the_implementation() {
    let red = |law: Option<&str>, ecn: &str| {
        json!({"law": law, "ecn": ecn, "averaging": {"weight": 1.0},
            "precedences": [{"min": "5 packets", "max": "15 packets", "max-probability": 0.5}]})
    };
    let (random, forced) = (Verdict::Drop(DropCause::EarlyRandom), Verdict::Drop(DropCause::EarlyForced));
    assert_eq!(fates(&red(None, "mark"), 6), [Verdict::MarkCe]);
    assert_eq!(fates(&red(None, "mark"), 20), [forced]);
    assert_eq!(fates(&red(None, "mark-all"), 20), [Verdict::MarkCe]);
    // In these two cases, p_b is 0.05 and 0.25.
    assert_eq!(fates(&red(Some("ns-2.35"), "mark"), 6), [Verdict::MarkCe]);
    assert_eq!(fates(&red(Some("ns-2.35"), "mark"), 10), [random]);
    assert_eq!(fates(&red(Some("ns-2-1999"), "mark"), 10), [Verdict::MarkCe]);
}
