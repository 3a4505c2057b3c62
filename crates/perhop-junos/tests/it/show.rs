//! Outputs of devices: outputs that are printed from counters and read again, and outputs of a configuration.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::show::{
    ClassReading, CountedDevice, CountedPort, PolicyReading, PortCounters, PrecedenceCounters, QueueCounters,
    QueueSample, ShowOptions, Traffic,
};
use perhop_device::{DeviceModel, FrontEnd};
use perhop_junos::Junos;
use perhop_qos::DropCause;
use proptest::prelude::*;

use crate::read::parse;

/// A port with a rate limit, a drop profile and two classes on one queue.
const ROUTER: &str = "\
set interfaces ge-0/0/1 description core
set interfaces ge-0/0/1 unit 0 family inet address 10.2.0.1/24
set class-of-service forwarding-classes class voice queue-num 1
set class-of-service forwarding-classes class bulk queue-num 2
set class-of-service forwarding-classes class scavenger queue-num 2
set class-of-service drop-profiles early fill-level 50 drop-probability 10
set class-of-service classifiers dscp own forwarding-class voice loss-priority low code-points ef
set class-of-service classifiers dscp whole import default
set class-of-service classifiers dscp whole forwarding-class bulk loss-priority high code-points af11
set class-of-service scheduler-maps m forwarding-class voice scheduler ef
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service scheduler-maps m forwarding-class network-control scheduler nc
set class-of-service schedulers ef transmit-rate percent 20 rate-limit
set class-of-service schedulers ef buffer-size temporal 5k
set class-of-service schedulers ef priority strict-high
set class-of-service schedulers be transmit-rate remainder
set class-of-service schedulers be buffer-size remainder
set class-of-service schedulers be drop-profile-map loss-priority high protocol any drop-profile early
set class-of-service schedulers nc transmit-rate 50m exact
set class-of-service schedulers nc shaping-rate percent 10
set class-of-service schedulers nc excess-priority low
set class-of-service interfaces ge-0/0/1 scheduler-map m
set class-of-service interfaces ge-0/0/1 shaping-rate 500m
set class-of-service interfaces ge-0/0/1 unit 0 classifiers dscp own
set class-of-service interfaces ge-0/0/1 unit 0 rewrite-rules dscp default
";

/// The bytes that MX counts for a packet in addition to its IP bytes.
const OVERHEAD: u64 = 38;

/// Returns the output of the port ge-0/0/1.0 of a device with `queues`, counted for ten seconds.
fn shown(model: &DeviceModel, queues: BTreeMap<String, QueueCounters>) -> String {
    let port = model.router.port("ge-0/0/1").unwrap();
    let counters = PortCounters { seconds: 10.0, queues, ..PortCounters::default() };
    let ports = vec![CountedPort { port, link_to: Some("b"), counters }];
    let device = CountedDevice { model, ports, codepoints: &BTreeSet::new() };
    let shows = Junos.shows().unwrap();
    let mut found = shows.print_show(&shows.commands()[0], &device, &ShowOptions::default()).unwrap();
    found.remove(0).text
}

fn read(text: &str) -> Vec<PolicyReading> {
    Junos.shows().unwrap().read_show(text).unwrap()
}

fn class<'p>(policies: &'p [PolicyReading], name: &str) -> &'p ClassReading {
    policies[0].classes.iter().find(|class| class.path == [name]).unwrap()
}

/// Counters of 100-byte packets.
fn counters(arrived: u64, sent: u64, dropped: &[(DropCause, u64)]) -> PrecedenceCounters {
    let mut counters = PrecedenceCounters {
        arrived: Traffic::new(arrived, 100.0 * arrived as f64),
        sent: Traffic::new(sent, 100.0 * sent as f64),
        ..PrecedenceCounters::default()
    };
    for (cause, packets) in dropped {
        counters.dropped[cause.index()] = *packets;
    }
    counters
}

fn queue(precedences: &[(u64, PrecedenceCounters)], depth: u64) -> QueueCounters {
    let sample = Some(QueueSample { packets: 1, bytes: depth, averages: BTreeMap::new() });
    QueueCounters { precedences: precedences.iter().cloned().collect(), sample }
}

#[test]
fn a_queue_has_the_rows_and_columns_of_mx() {
    let model = parse(ROUTER, Some("junos-mx"));
    let best_effort = queue(
        &[
            (0, counters(1000, 900, &[(DropCause::QueueFull, 60)])),
            (3, counters(500, 400, &[(DropCause::EarlyRandom, 70), (DropCause::EarlyForced, 30)])),
        ],
        4000,
    );
    let text = shown(&model, BTreeMap::from([("port/best-effort".to_owned(), best_effort)]));
    let expected = "\
Physical interface: ge-0/0/1, Enabled, Physical link is Up
  Interface index: 0, SNMP ifIndex: 0
  Description: core
Forwarding classes: 16 supported, 5 in use
Egress queues: 8 supported, 4 in use
Queue: 0, Forwarding classes: best-effort
  Queued:
    Packets              :                  1500                   150 pps
    Bytes                :                207000                165600 bps
  Transmitted:
    Packets              :                  1300                   130 pps
    Bytes                :                179400                143520 bps
    Tail-dropped packets :                    60                     6 pps
    RL-dropped packets   :                     0                     0 pps
    RL-dropped bytes     :                     0                     0 bps
    RED-dropped packets  :                   100                    10 pps
     Low                 :                     0                     0 pps
     Medium-low          :                     0                     0 pps
     Medium-high         :                     0                     0 pps
     High                :                   100                    10 pps
    RED-dropped bytes    :                 13800                 11040 bps
     Low                 :                     0                     0 bps
     Medium-low          :                     0                     0 bps
     Medium-high         :                     0                     0 bps
     High                :                 13800                 11040 bps
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("    Current              :                  4000\n    Maximum              :"));
    assert!(text.contains("\nQueue: 2, Forwarding classes: bulk, scavenger\n"));
}

/// Queued packets are the packets behind the rate limit, as on MX. The offered traffic of a class includes
/// packets before the limit.
#[test]
fn packets_beyond_a_rate_limit_are_offered_and_not_queued() {
    let model = parse(ROUTER, Some("junos-mx"));
    let voice = queue(&[(0, counters(1000, 700, &[(DropCause::Policed, 300)]))], 0);
    let policies = read(&shown(&model, BTreeMap::from([("port/voice".to_owned(), voice)])));
    let found = class(&policies, "voice");
    let number = |name: &str| found.number(name).unwrap();
    assert_eq!((number("queued_packets"), number("packets"), number("exceed_drops")), (700, 1000, 300));
    let port = model.router.port("ge-0/0/1").unwrap();
    let offered = Junos.shows().unwrap().offered(&policies[0], port);
    let offered = offered.iter().find(|class| class.path == ["voice"]).unwrap();
    assert_eq!(offered.traffic, Traffic::new(1000, 100_000.0));
    // 1000 packets of 100 bytes in 10 s.
    assert_eq!(offered.rate_bps, Some(80_000.0));
}

#[test]
fn evolved_devices_have_sums_of_drops() {
    for (platform, state) in [("junos-acx", "up"), ("junos-ptx", "Enabled")] {
        let model = parse(ROUTER, Some(platform));
        let best_effort = queue(&[(1, counters(10, 8, &[(DropCause::EarlyRandom, 2)]))], 0);
        let text = shown(&model, BTreeMap::from([("port/best-effort".to_owned(), best_effort)]));
        assert!(text.starts_with(&format!("Physical interface: ge-0/0/1, {state}, ")), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("dropped")).take(4).collect();
        let labels: Vec<&str> = rows.iter().filter_map(|row| row.split(':').next()).map(str::trim).collect();
        let sums = ["Tail-dropped packets", "Tail-dropped bytes", "RED-dropped packets", "RED-dropped bytes"];
        assert_eq!(labels, sums);
        assert!(!text.contains("Medium-low") && !text.contains("Queue-depth"));
        assert_eq!(class(&read(&text), "best-effort").number("queue_drops"), Some(2));
    }
}

/// The layouts of other families, with made-up numbers.
#[test]
fn other_layouts_are_read() {
    let text = "\
user@ex> show interfaces queue ge-0/0/3
Physical interface: ge-0/0/3, Enabled, Physical link is Up
Ingress queues: 4 supported, 1 in use
Queue: 0, Forwarding classes: best-effort
  Queued:
    Packets              :                     5                     1 pps
Egress queues: 8 supported, 2 in use
Queue: 0, Forwarding classes: best-effort, other
  Queued:
  Transmitted:
    Packets              :                    40
    Bytes                :                  4000
    Tail-dropped packets :                    10
    RL-dropped packets   :                     0
Queue: 3, Forwarding classes: fcoe
  Queued:
    Packets              :                    90                     0 pps
    Bytes                :                  9000                     0 bps
  Transmitted:
    Packets              :                    60                     0 pps
    Bytes                :                  6000                     0 bps
    Tail-dropped packets : Not Available
    Total-dropped packets:                    30                     0 pps
user@mx> show interfaces queue ge-0/0/1 slice gold
Slice : gold (Index : 1)
  Anchor interface : ge-0/0/1 (Index : 150)
Egress queues: 8 supported, 4 in use
Queue: 0, Forwarding classes: best-effort
  Transmitted:
    Packets              :                     7                     0 pps
";
    let policies = read(text);
    let places: Vec<String> = policies
        .iter()
        .map(|policy| {
            format!("{} {:?} {} {}", policy.interface, policy.side, policy.name, policy.classes.len())
        })
        .collect();
    let expected = ["ge-0/0/3 Input queues 1", "ge-0/0/3 Output queues 2", "ge-0/0/1 Output slice gold 1"];
    assert_eq!(places, expected);
    let (first, second) = (&policies[1].classes[0], &policies[1].classes[1]);
    assert_eq!((first.number("queue_drops"), second.number("queue_drops")), (Some(10), Some(30)));
    let port = parse(ROUTER, Some("junos-mx")).router.ports.remove(0);
    let offered = Junos.shows().unwrap().offered(&policies[1], &port);
    let packets: Vec<u64> = offered.iter().map(|class| class.traffic.packets).collect();
    assert_eq!(packets, [50, 90]);
    assert_eq!(offered[0].rate_bps, None);
}

#[test]
fn other_texts_are_not_outputs() {
    for text in ["", ROUTER, "Physical interface: ge-0/0/1, Enabled", "Queue: x, Forwarding classes: y"] {
        assert_eq!(read(text), []);
    }
}

fn configured(command: usize, name: Option<&str>, platform: &str) -> Vec<String> {
    let shows = Junos.shows().unwrap();
    let model = parse(ROUTER, Some(platform));
    let found = shows.print_configured(&shows.configured_commands()[command], &model, name);
    found.into_iter().map(|object| object.text).collect()
}

#[test]
fn an_interface_has_its_map_and_the_objects_of_its_units() {
    let expected = "\
Physical interface: ge-0/0/1, Index: 0
Maximum usable queues: 8, Queues in use: 4
Shaping rate: 500000000 bps
  Scheduler map: m, Index: 0
  Congestion-notification: Disabled

  Logical interface: ge-0/0/1.0, Index: 0
Object                  Name                   Type                    Index
Classifier              own                    dscp                        0
Rewrite                 dscp-default           dscp                        0

";
    assert_eq!(configured(0, Some("ge-0/0/1"), "junos-mx"), [expected]);
    let unit = expected.split_once("\n\n").unwrap().1;
    assert_eq!(configured(0, Some("ge-0/0/1.0"), "junos-mx"), [unit]);
    assert_eq!(configured(0, Some("ge-0/0/1.7"), "junos-mx"), [""; 0]);
}

#[test]
fn a_scheduler_map_lists_its_schedulers_by_queue() {
    let row =
        |loss: &str, index: u32, profile: &str| format!("      {loss:<16}any{index:>14}    {profile}\n");
    let profiles = |high: (u32, &str)| {
        let default = (1, "<default-drop-profile>");
        let rows = [("Low", default), ("Medium low", default), ("Medium high", default), ("High", high)];
        let rows: String = rows.iter().map(|(loss, (index, name))| row(loss, *index, name)).collect();
        format!("    Drop profiles:\n      Loss priority   Protocol    Index    Name\n{rows}")
    };
    let default = profiles((1, "<default-drop-profile>"));
    let expected = format!(
        "Scheduler map: m, Index: 0\n\n  \
           Scheduler: be, Forwarding class: best-effort, Index: 0\n    \
             Transmit rate: remainder, Rate Limit: none, Buffer size: remainder, Buffer Limit: none, \
             Priority: low\n    Excess Priority: unspecified\n{}\n  \
           Scheduler: ef, Forwarding class: voice, Index: 0\n    \
             Transmit rate: 20 percent, Rate Limit: rate-limit, Buffer size: 5000 us, Buffer Limit: exact, \
             Priority: strict-high\n    Excess Priority: unspecified\n{default}\n  \
           Scheduler: nc, Forwarding class: network-control, Index: 0\n    \
             Transmit rate: 50000000 bps, Rate Limit: exact, Buffer size: unspecified, Buffer Limit: none, \
             Priority: low\n    Excess Priority: low\n    Shaping rate: 10 percent\n{default}\n",
        profiles((0, "early"))
    );
    assert_eq!(configured(1, Some("m"), "junos-mx"), [expected]);
    let all = configured(1, None, "junos-srx");
    assert!(all[0].starts_with("Scheduler map: <default>, Index: 2\n"), "{}", all[0]);
}

#[test]
fn a_classifier_lists_its_own_codepoints_or_with_import_all() {
    let expected = "\
Classifier: own, Code point type: dscp, Index: 0
  Code point         Forwarding class                    Loss priority
  101110             voice                               low

";
    assert_eq!(configured(2, Some("own"), "junos-mx"), [expected]);
    let [whole] = &configured(2, Some("whole"), "junos-mx")[..] else { panic!() };
    assert_eq!(whole.lines().count(), 2 + 64 + 1);
    assert!(whole.contains("  001010             bulk                                high\n"));
    let built_in = configured(2, Some("ipprec-compatibility"), "junos-ptx");
    assert!(
        built_in[0]
            .starts_with("Classifier: ipprec-compatibility, Code point type: inet-precedence, Index: 0\n")
    );
    assert_eq!(built_in[0].lines().count(), 2 + 8 + 1);
}

#[test]
fn drop_profiles_have_the_points_of_the_device() {
    let expected = "\
Drop profile: early, Type: discrete, Index: 0
  Fill level    Drop probability
          50                  10
";
    assert_eq!(configured(3, Some("early"), "junos-mx"), [expected]);
    assert!(configured(3, None, "junos-mx")[0].starts_with("Drop profile: <default-drop-profile>"));
}

proptest! {
    /// The reader gets all counters of a queue from its printed output. Bytes include the overhead that the
    /// device counts.
    #[test]
    fn counters_return_from_the_output(
        arrived in 1u64..1_000_000,
        parts in prop::array::uniform5(0u64..100_000),
        loss in 0u64..4,
        depth in 0u64..1_000_000,
    ) {
        let model = parse(ROUTER, Some("junos-mx"));
        let [sent, full, random, forced, policed] = parts;
        let arrived = arrived + parts.iter().sum::<u64>();
        let causes = [
            (DropCause::QueueFull, full),
            (DropCause::EarlyRandom, random),
            (DropCause::EarlyForced, forced),
            (DropCause::Policed, policed),
        ];
        let own = queue(&[(loss, counters(arrived, sent, &causes))], depth);
        let policies = read(&shown(&model, BTreeMap::from([("port/bulk".to_owned(), own)])));
        prop_assert_eq!((policies[0].interface.as_str(), policies[0].classes.len()), ("ge-0/0/1", 4));
        let found = class(&policies, "bulk");
        let number = |name: &str| found.number(name).unwrap();
        let counted = 100 + OVERHEAD;
        prop_assert_eq!(number("queue"), 2);
        prop_assert_eq!((number("packets"), number("bytes")), (arrived, arrived * counted));
        prop_assert_eq!((number("sent_packets"), number("sent_bytes")), (sent, sent * counted));
        prop_assert_eq!(number("queue_drops"), full + random + forced);
        prop_assert_eq!((number("red_drops"), number("red_bytes")), (random + forced, (random + forced) * counted));
        prop_assert_eq!((number("exceed_drops"), number("limited_bytes")), (policed, policed * counted));
        prop_assert_eq!(number("depth_bytes"), depth);
        prop_assert_eq!(number("sent_pps"), (sent as f64 / 10.0).round() as u64);
    }
}
