//! Lines of `show policy-map interface` that depend on hardware or on rare features.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::ClassId;
use perhop_device::show::{
    ColorCounters, CountedDevice, CountedPort, PortCounters, PrecedenceCounters, QueueCounters, ShowOptions,
    Tolerances, Traffic, compare,
};
use perhop_device::{
    AttachedClass, AttachedPolicy, Attachments, Basis, Combination, CountedBytes, DeviceModel, FairQueueing,
    FrontEnd, Limit, ParseOptions, PoliceKind, Policer, Priority, PriorityKind, PriorityLimit, RandomDetect,
    RandomDetectRow, Unit,
};
use perhop_ios::Ios;
use perhop_qos::classifier::OneOrMany;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Color, DropCause, Dscp};
use proptest::prelude::*;
use serde_json::Value;

fn class(name: &str) -> AttachedClass {
    AttachedClass {
        id: ClassId(0),
        name: name.to_owned(),
        line: 1,
        combination: Combination::MatchAny,
        matches: vec!["any".to_owned()],
        queue: None,
        conditioner: None,
        bandwidth: None,
        priority: None,
        police: None,
        shape: None,
        queue_limit: None,
        fair_queue: None,
        random_detect: None,
        marks: Vec::new(),
        drop: false,
        policy: None,
    }
}

/// Returns class-default with a queue.
fn queued() -> AttachedClass {
    AttachedClass { queue: Some("q".to_owned()), ..class("class-default") }
}

fn policy(classes: Vec<AttachedClass>) -> AttachedPolicy {
    let name = "P".to_owned();
    AttachedPolicy { name, line: 1, rate_bps: 1_000_000, classes, priority_limits: Vec::new() }
}

/// Returns the counters of one drop precedence for packets of 500 bytes, with drops by cause.
fn counted(arrived: u64, sent: u64, drops: &[(DropCause, u64)]) -> PrecedenceCounters {
    let traffic = |packets: u64| Traffic::new(packets, 500.0 * packets as f64);
    let mut found = PrecedenceCounters {
        arrived: traffic(arrived),
        sent: traffic(sent),
        ..PrecedenceCounters::default()
    };
    for (cause, packets) in drops {
        found.dropped[cause.index()] = *packets;
    }
    found
}

/// Returns the counters of the queue `q` over ten seconds, by drop precedence.
fn counters(precedences: impl IntoIterator<Item = (u64, PrecedenceCounters)>) -> PortCounters {
    let queue = QueueCounters { precedences: precedences.into_iter().collect(), sample: None };
    PortCounters {
        seconds: 10.0,
        queues: BTreeMap::from([("q".to_owned(), queue)]),
        ..PortCounters::default()
    }
}

/// Returns counters in which 190 of 1000 arrived packets were dropped and 800 left.
fn usual() -> PortCounters {
    counters([(0, counted(1000, 800, &[(DropCause::QueueFull, 190)]))])
}

fn with_stage(mut counters: PortCounters, name: &str, colors: &[(Color, u64)]) -> PortCounters {
    let traffic = |packets: u64| Traffic::new(packets, 500.0 * packets as f64);
    let colors: ColorCounters = colors.iter().map(|(color, packets)| (*color, traffic(*packets))).collect();
    counters.output.insert(name.to_owned(), colors);
    counters
}

/// The output for an output policy, as lines and as a document.
struct Shown {
    text: String,
    policy: Value,
}

impl Shown {
    fn has(&self, line: &str) -> bool {
        self.text.lines().any(|own| own.trim() == line)
    }

    fn require(&self, line: &str) {
        assert!(self.has(line), "`{line}` is not in\n{}", self.text);
    }

    fn counters(&self, index: usize) -> &Value {
        &self.policy["classes"][index]["counters"]
    }
}

/// Settings of the scenario around a policy.
#[derive(Default)]
struct Around {
    counted_bytes: CountedBytes,
    precedence: PrecedenceSource,
    seen: BTreeSet<Dscp>,
}

fn shown_in(policy: AttachedPolicy, counters: &PortCounters, around: &Around) -> Shown {
    let text = "version 16.9\ninterface GigabitEthernet0/0/0\n ip address 10.0.0.1 255.255.255.0\n";
    let mut model: DeviceModel = Ios.parse(text, &ParseOptions::default()).expect("no option is wrong");
    let port = &mut model.router.ports[0];
    port.attachments = Some(Attachments { input: None, output: Some(policy) });
    port.counted_bytes = Some(around.counted_bytes);
    let queue =
        ClassConfig { name: "q".to_owned(), precedence: around.precedence.clone(), ..ClassConfig::default() };
    port.output.queueing = Some(QueueingConfig { classes: vec![queue], ..QueueingConfig::default() });
    let port =
        CountedPort { port: &model.router.ports[0], link_to: Some("next"), counters: counters.clone() };
    let device = CountedDevice { model: &model, ports: vec![port], codepoints: &around.seen };
    let shows = Ios.shows().expect("IOS has outputs");
    let options = ShowOptions { style: Some("ios-xe".to_owned()), after_s: None };
    let shown = shows.print_show(&shows.commands()[0], &device, &options).expect("the style is known");
    let [shown] = shown.try_into().expect("one port");
    Shown { text: shown.text, policy: shown.document["policies"]["output"].clone() }
}

fn shown(policy: AttachedPolicy, counters: &PortCounters) -> Shown {
    shown_in(policy, counters, &Around::default())
}

#[test]
fn limits_have_their_units() {
    let limit = |unit, value, bytes| Limit { unit, value, bytes };
    for (limit, words) in [
        (Limit::packets(64), "64 packets"),
        (limit(Unit::Bytes, 62_500, Some(62_500)), "62500 bytes"),
        (limit(Unit::Us, 393, Some(49_152)), "393 us/ 49152 bytes"),
        (limit(Unit::Ms, 50, Some(6250)), "50 ms/ 6250 bytes"),
    ] {
        let class = AttachedClass { queue_limit: Some(limit), ..queued() };
        shown(policy(vec![class]), &usual()).require(&format!("queue limit {words}"));
    }
}

/// Counters and rates of arriving packets include 14 bytes of layer 2. On a tunnel, queues count more bytes.
#[test]
fn layer_two_is_counted_where_the_platform_does() {
    let plain = shown(policy(vec![queued()]), &usual());
    let around = Around { counted_bytes: CountedBytes { classes: 14, queues: 28 }, ..Around::default() };
    let whole = shown_in(policy(vec![queued()]), &usual(), &around);
    assert_eq!(plain.counters(0)["classified"]["bytes"], 500_000);
    assert_eq!(whole.counters(0)["classified"]["bytes"], 514_000);
    assert_eq!(whole.counters(0)["queue"]["output"]["bytes"], 422_400);
    assert_eq!(whole.counters(0)["offered_bps"], 514_000.0 * 8.0 / 10.0);
    assert_eq!(whole.counters(0)["drop_bps"], 190.0 * 514.0 * 8.0 / 10.0);
}

#[test]
fn the_depth_is_the_balance_without_a_sample() {
    let shown = shown(policy(vec![queued()]), &usual());
    shown.require("(queue depth/total drops/no-buffer drops) 10/190/0");
}

fn policer(kind: PoliceKind, rate: u64, burst: u64) -> Policer {
    Policer {
        kind,
        value: rate,
        cir_bps: rate,
        bc_bytes: burst,
        pir_bps: None,
        be_bytes: None,
        colors: 2,
        conform: vec!["transmit".to_owned()],
        exceed: vec!["drop".to_owned()],
        violate: Vec::new(),
    }
}

/// Packets that pass the policer of a class wait in the default queue, but do not belong to the default
/// class.
#[test]
fn a_class_without_a_queue_waits_in_the_queue_of_class_default() {
    let guest = AttachedClass {
        conditioner: Some("GUEST".to_owned()),
        police: Some(policer(PoliceKind::Bps, 80_000, 2500)),
        ..class("GUEST")
    };
    let counters = with_stage(usual(), "GUEST", &[(Color::GREEN, 200), (Color::RED, 50)]);
    let shown = shown(policy(vec![guest, queued()]), &counters);
    assert_eq!(shown.counters(0)["classified"]["packets"], 250);
    assert_eq!(shown.counters(0)["drop_bps"], 25_000.0 * 8.0 / 10.0);
    assert_eq!(shown.counters(1)["classified"]["packets"], 800);
    assert_eq!(shown.counters(1)["offered_bps"], 400_000.0 * 8.0 / 10.0);
    shown.require("exceeded 50 packets, 25000 bytes; actions:");
}

#[test]
fn an_uncounted_class_has_no_counters() {
    let shown = shown(policy(vec![class("IDLE"), queued()]), &usual());
    assert_eq!(shown.counters(0)["classified"], Value::Null);
    let lines: Vec<&str> = shown.text.lines().map(str::trim).collect();
    let idle = lines.iter().position(|line| line.starts_with("Class-map: IDLE")).expect("it is printed");
    assert_eq!(lines[idle + 1..idle + 3], ["Match: any", ""]);
}

fn detect(basis: Basis, unit: Unit) -> RandomDetect {
    let row = |number: u8| RandomDetectRow {
        value: number.to_string(),
        number,
        is_written: false,
        min: 20 + 2 * u64::from(number),
        max: 40,
        unit,
        mark_denominator: 10,
    };
    RandomDetect { basis, exponent: 9, ecn: false, rows: (0..8).map(row).collect() }
}

fn detecting(detect: RandomDetect) -> AttachedPolicy {
    policy(vec![AttachedClass { random_detect: Some(detect), ..queued() }])
}

#[test]
fn thresholds_in_bytes_have_their_unit_below_the_heads() {
    let shown = shown(detecting(detect(Basis::Precedence, Unit::Bytes)), &usual());
    let units = shown.text.lines().find(|line| line.trim().starts_with("bytes")).expect("a line of units");
    assert_eq!(units.split_whitespace().collect::<Vec<_>>(), ["bytes", "bytes"]);
}

#[test]
fn ecn_has_a_table_of_marks() {
    let counters = counters([(2, PrecedenceCounters { marked_packets: 7, ..counted(100, 100, &[]) })]);
    let detect = RandomDetect { ecn: true, ..detect(Basis::Precedence, Unit::Packets) };
    let shown = shown(detecting(detect), &counters);
    shown.require("explicit congestion notification");
    let (_, marks) = shown.text.split_once("ECN Mark").expect("a table of marks");
    let row = marks.lines().find(|line| line.trim().starts_with("2 ")).expect("a row");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["2", "7/3500"]);
    assert_eq!(shown.counters(0)["random_detect"]["rows"][2]["marked"]["packets"], 7);
}

#[test]
fn wred_by_marks_of_the_router_has_a_row_for_each() {
    let counters = counters([(2, counted(9, 6, &[(DropCause::EarlyRandom, 3)]))]);
    for (basis, name) in [(Basis::Cos, "cos"), (Basis::DiscardClass, "discard-class")] {
        let shown = shown(detecting(detect(basis, Unit::Packets)), &counters);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = shown.text.lines().map(words).collect();
        assert!(lines.iter().any(|line| line.starts_with(&[name.to_owned(), "Transmitted".to_owned()])));
        let rows: Vec<_> =
            lines.iter().filter(|line| line.last().is_some_and(|last| last == "1/10")).collect();
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[2][..3], ["2", "6/3000", "3/1500"]);
    }
}

/// The queue counts packets by drop precedence. The counters are printed in the row of a codepoint that
/// occurs in the run.
#[test]
fn codepoints_with_equal_thresholds_share_their_counters() {
    let dscp = |name: &str| name.parse::<Dscp>().expect("a codepoint");
    let row = |(name, min): (&str, u64)| RandomDetectRow {
        value: name.to_owned(),
        number: dscp(name).value(),
        is_written: false,
        min,
        max: 40,
        unit: Unit::Packets,
        mark_denominator: 10,
    };
    let rows = [("af21", 32), ("af31", 32), ("af22", 28), ("ef", 36)].map(row).to_vec();
    let detect = RandomDetect { rows, ..detect(Basis::Dscp, Unit::Packets) };
    let groups = ["af22", "ef", "af21"].map(|name| OneOrMany(vec![dscp(name)]));
    let around = Around {
        precedence: PrecedenceSource::ByDscp(groups.to_vec()),
        seen: BTreeSet::from([dscp("af31"), dscp("af22")]),
        ..Around::default()
    };
    let dropped = [(DropCause::EarlyRandom, 2), (DropCause::QueueFull, 1)];
    let counters = counters([(0, counted(5, 5, &[])), (2, counted(9, 6, &dropped))]);
    let shown = shown_in(detecting(detect), &counters, &around);
    let rows = shown.counters(0)["random_detect"]["rows"].as_array().expect("rows");
    let values: Vec<&Value> = rows.iter().map(|row| &row["value"]).collect();
    assert_eq!(values, ["af31", "af22"], "ef and af21 are not seen");
    let packets = ["transmitted", "random", "tail"].map(|name| rows[0][name]["packets"].clone());
    assert_eq!(packets, [6, 2, 1]);
}

#[test]
fn packets_a_second_and_classes_that_drop() {
    let metered = AttachedClass {
        conditioner: Some("A".to_owned()),
        police: Some(policer(PoliceKind::Pps, 100, 24)),
        ..class("A")
    };
    let dropping = AttachedClass { conditioner: Some("B".to_owned()), drop: true, ..class("B") };
    let counters =
        with_stage(PortCounters { seconds: 10.0, ..PortCounters::default() }, "A", &[(Color::GREEN, 9)]);
    let counters = with_stage(counters, "B", &[(Color::GREEN, 30)]);
    let shown = shown(policy(vec![metered, dropping]), &counters);
    shown.require("rate 100 pps, burst 24 packets");
    shown.require("drop");
    assert_eq!(shown.counters(1)["drop_bps"], 15_000.0 * 8.0 / 10.0);
}

/// With WRED, the limit of a flow has no effect, but routers print it: a quarter of the limit of the class.
#[test]
fn the_limit_of_a_flow_is_printed_with_wred() {
    let class = AttachedClass {
        queue_limit: Some(Limit::packets(64)),
        fair_queue: Some(FairQueueing {
            flow_limit_packets: 1_000_000,
            limit_packets: 64,
            queues: 256,
            by_precedence: false,
        }),
        random_detect: Some(detect(Basis::Precedence, Unit::Packets)),
        ..queued()
    };
    let shown = shown(policy(vec![class]), &usual());
    shown.require("Fair-queue: per-flow queue limit 16 packets");
    assert!(shown.text.contains("Tail/Flow drop"));
}

#[test]
fn an_inner_class_default_has_the_remaining_packets() {
    let marked = AttachedClass {
        conditioner: Some("outer.MARKED".to_owned()),
        marks: vec!["dscp cs6".to_owned()],
        ..class("MARKED")
    };
    let outer = AttachedClass { policy: Some(policy(vec![marked])), name: "outer".to_owned(), ..queued() };
    let counters = with_stage(usual(), "outer.MARKED", &[(Color::GREEN, 400)]);
    let shown = shown(policy(vec![outer]), &counters);
    let inner = shown.policy["classes"][0]["policy"]["classes"].as_array().expect("classes");
    let packets: Vec<&Value> =
        inner.iter().map(|class| &class["counters"]["classified"]["packets"]).collect();
    assert_eq!(packets, [400, 600]);
    assert_eq!(shown.counters(0)["classified"]["packets"], 1000);
}

#[test]
fn queues_of_a_level_of_priority_add_up() {
    let priority = Priority {
        level: 1,
        has_level: false,
        kind: PriorityKind::Kbps,
        value: 64,
        rate_bps: Some(64_000),
        burst_bytes: Some(1600),
    };
    let classes =
        ["A", "B"].map(|name| AttachedClass { name: name.to_owned(), priority: Some(priority), ..queued() });
    let limits = vec![PriorityLimit { level: 1, limit: Limit::packets(512) }];
    let shown = shown(AttachedPolicy { priority_limits: limits, ..policy(classes.to_vec()) }, &usual());
    assert_eq!(shown.policy["priority_limits"][0]["counters"]["output"]["packets"], 1600);
    let line = "Priority: 64 kbps, burst bytes 1600, b/w exceed drops: 0";
    assert_eq!(shown.text.lines().filter(|own| own.trim() == line).count(), 2);
    assert!(!shown.has("priority level 1"));
}

/// The router prints rates as whole kilobits and three zeros, and a rate of 0 as `0000`.
#[test]
fn rates_are_whole_kilobits() {
    let empty = PortCounters { seconds: 10.0, ..PortCounters::default() };
    let none = shown(policy(vec![queued()]), &empty);
    none.require("5 minute offered rate 0000 bps, drop rate 0000 bps");
    let some = shown(policy(vec![queued()]), &usual());
    some.require("5 minute offered rate 400000 bps, drop rate 76000 bps");
}

/// Words that occur in outputs, and other words.
const WORDS: [&str; 28] = [
    "Service-policy",
    "output",
    "input",
    ":",
    "WAN",
    "Class-map",
    "VOICE",
    "(match-any)",
    "Serial0/0",
    "queue",
    "stats for all priority classes",
    "priority level 1",
    "limit",
    "packets",
    "bytes",
    "5 minute offered rate",
    "18446744073709551615",
    "99999999999999999999",
    "conformed",
    "action:",
    "drop",
    "Match:",
    "1/1 2/2 3/3 4 5 1/6",
    "\n",
    "\n ",
    "\t",
    "é",
    "Control Plane",
];

proptest! {
    #[test]
    fn no_text_makes_reading_or_comparing_fail(
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..80),
    ) {
        let output = words.join(" ");
        let shows = Ios.shows().expect("IOS has outputs");
        let Ok(policies) = shows.read_show(&output) else { return Ok(()) };
        let tolerances = Tolerances { percent: 5.0, points: 2.0 };
        let compared = serde_json::to_value(compare(&policies, &policies, tolerances)).expect("plain data");
        prop_assert!(compared["missing"].as_array().is_some_and(Vec::is_empty));
    }
}

#[test]
fn a_style_that_is_unknown_is_refused() {
    let model = Ios.parse("hostname a\n", &ParseOptions::default()).expect("no option is wrong");
    let device = CountedDevice { model: &model, ports: Vec::new(), codepoints: &BTreeSet::new() };
    let shows = Ios.shows().expect("IOS has outputs");
    let options = ShowOptions { style: Some("ios16".to_owned()), after_s: None };
    let refused = shows.print_show(&shows.commands()[0], &device, &options).expect_err("no such style");
    assert_eq!(refused.help.as_deref(), Some("styles: ios15, ios-xe, ios-xr, nx-os"));
}
