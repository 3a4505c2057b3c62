//! `show firewall` and `show interfaces extensive`: rows and columns, and reading again.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::Direction;
use perhop_device::show::{
    ClassReading, ColorCounters, CountedDevice, CountedPort, PolicyReading, PortCounters, PrecedenceCounters,
    QueueCounters, ShowOptions, Traffic,
};
use perhop_device::{DeviceModel, FrontEnd};
use perhop_junos::Junos;
use perhop_qos::{Color, DropCause};

use crate::read::parse;

const ROUTER: &str = "\
set interfaces ge-1/0/1 description core
set interfaces ge-1/0/1 unit 0 family inet filter input edge
set interfaces ge-1/0/1 unit 0 family inet filter output edge
set interfaces ge-1/0/1 unit 0 family inet6 filter input six
set firewall policer p if-exceeding bandwidth-limit 1m
set firewall policer p if-exceeding burst-size-limit 15k
set firewall policer p then discard
set firewall policer marks if-exceeding bandwidth-limit 1m
set firewall policer marks if-exceeding burst-size-limit 15k
set firewall policer marks then loss-priority high
set firewall family inet filter edge term voice from dscp ef
set firewall family inet filter edge term voice then policer p
set firewall family inet filter edge term voice then count all
set firewall family inet filter edge term data from dscp af11
set firewall family inet filter edge term data then policer marks
set firewall family inet filter edge term data then count data
set firewall family inet filter edge term rest then count all
set firewall family inet filter edge term rest then dscp af12
set firewall family inet6 filter six interface-specific
set firewall family inet6 filter six term none then discard
set class-of-service scheduler-maps m forwarding-class expedited-forwarding scheduler ef
set class-of-service scheduler-maps m forwarding-class best-effort scheduler be
set class-of-service scheduler-maps m forwarding-class network-control scheduler nc
set class-of-service schedulers ef transmit-rate percent 20 rate-limit
set class-of-service schedulers ef buffer-size temporal 5k
set class-of-service schedulers ef priority strict-high
set class-of-service schedulers be transmit-rate remainder
set class-of-service schedulers be buffer-size percent 80
set class-of-service schedulers nc transmit-rate 50m exact
set class-of-service interfaces ge-1/0/1 scheduler-map m
set class-of-service interfaces ge-1/0/1 shaping-rate 500m
";

/// Returns the texts of `command` for the only port, with `counters`.
fn shown(model: &DeviceModel, command: &str, counters: &PortCounters) -> Vec<String> {
    let port = model.router.port("ge-1/0/1").unwrap();
    let ports = vec![CountedPort { port, link_to: Some("b"), counters: counters.clone() }];
    let device = CountedDevice { model, ports, codepoints: &BTreeSet::new() };
    let shows = Junos.shows().unwrap();
    let command = shows.commands().iter().find(|known| known.name == command).unwrap();
    let found = shows.print_show(command, &device, &ShowOptions::default()).unwrap();
    found.into_iter().map(|port| port.text).collect()
}

fn read(text: &str) -> Vec<PolicyReading> {
    Junos.shows().unwrap().read_show(text).unwrap()
}

/// Packets of 100 bytes by color.
fn colors(counts: &[(Color, u64)]) -> ColorCounters {
    counts.iter().map(|(color, packets)| (*color, Traffic::new(*packets, 100.0 * *packets as f64))).collect()
}

#[test]
fn a_filter_has_its_counters_and_the_excess_of_its_policers() {
    let model = parse(ROUTER, Some("junos-mx"));
    let own = |counts: &[(&str, ColorCounters)]| -> BTreeMap<String, ColorCounters> {
        counts.iter().map(|(name, counts)| ((*name).to_owned(), counts.clone())).collect()
    };
    let arrived = [
        ("edge voice", colors(&[(Color::GREEN, 70), (Color::RED, 30)])),
        ("edge data", colors(&[(Color::GREEN, 5), (Color::RED, 4)])),
        // A codepoint would change the loss priority, so the term has one stage for each loss priority.
        ("edge rest low", colors(&[(Color::GREEN, 2)])),
        ("edge rest high", colors(&[(Color::new(3), 1)])),
        ("six none", colors(&[(Color::GREEN, 9)])),
    ];
    let counters = PortCounters {
        seconds: 10.0,
        input: own(&arrived),
        output: own(&[("edge voice", colors(&[(Color::GREEN, 1000), (Color::RED, 1)]))]),
        ..PortCounters::default()
    };
    let texts = shown(&model, "firewall", &counters);
    // Both directions share the counters of the filter. Packets that the policer drops never reach `count`.
    let expected = "\
Filter: edge
Counters:
Name                                                Bytes              Packets
all                                                107300                 1073
data                                                  900                    9
Policers:
Name                                                Bytes              Packets
marks-data                                            400                    4
p-voice                                              3100                   31
";
    assert_eq!(texts, [expected, "Filter: six-ge-1/0/1.0-i\n"]);
    let [edge] = &read(&texts.concat())[..] else { panic!() };
    assert_eq!((edge.name.as_str(), edge.side), ("edge", Direction::Input));
    let rows: Vec<(String, Option<u64>)> =
        edge.classes.iter().map(|class| (class.name(), class.number("packets"))).collect();
    let expected =
        [("Counters/all", 1073), ("Counters/data", 9), ("Policers/marks-data", 4), ("Policers/p-voice", 31)];
    assert_eq!(rows, expected.map(|(name, packets)| (name.to_owned(), Some(packets))));
}

/// The counters of a queue whose packets have one loss priority.
fn queue(arrived: u64, sent: u64, dropped: &[(DropCause, u64)]) -> QueueCounters {
    let mut own = PrecedenceCounters {
        arrived: Traffic::new(arrived, 0.0),
        sent: Traffic::new(sent, 0.0),
        ..PrecedenceCounters::default()
    };
    for (cause, packets) in dropped {
        own.dropped[cause.index()] = *packets;
    }
    QueueCounters { precedences: BTreeMap::from([(0, own)]), sample: None }
}

#[test]
fn an_interface_has_its_queues_and_the_rates_of_its_schedulers() {
    let model = parse(ROUTER, Some("junos-mx"));
    let queues = BTreeMap::from([
        (
            "port/best-effort".to_owned(),
            queue(1000, 700, &[(DropCause::QueueFull, 200), (DropCause::EarlyRandom, 50)]),
        ),
        ("port/expedited-forwarding".to_owned(), queue(100, 90, &[(DropCause::Policed, 10)])),
    ]);
    let counters = PortCounters { seconds: 10.0, queues, ..PortCounters::default() };
    let texts = shown(&model, "interfaces extensive", &counters);
    let expected = "\
Physical interface: ge-1/0/1, Enabled, Physical link is Up
  Interface index: 0, SNMP ifIndex: 0, Generation: 0
  Description: core
  CoS queues     : 8 supported, 8 maximum usable queues
  Egress queues: 8 supported, 4 in use
  Queue counters:       Queued packets  Transmitted packets      Dropped packets
    0                             1000                  700                  250
    1                               90                   90                   10
    2                                0                    0                    0
    3                                0                    0                    0
  Queue number:         Mapped forwarding classes
    0                   best-effort
    1                   expedited-forwarding
    2                   assured-forwarding
    3                   network-control
  Packet Forwarding Engine configuration:
    Destination slot: 1 (0x01)
  CoS information:
    Direction : Output
    CoS transmit queue               Bandwidth               Buffer Priority   Limit
                              %            bps     %           usec
    0 best-effort             r              r    80              0      low    none
    1 expedited-forwarding   20      100000000     0           5000 strict-high rate-limit
    3 network-control        10       50000000    10              0      low   exact
";
    assert_eq!(texts, [expected]);
    let [found] = &read(&texts[0])[..] else { panic!() };
    assert_eq!((found.interface.as_str(), found.name.as_str()), ("ge-1/0/1", "queue counters"));
    let class = |name: &str| found.classes.iter().find(|class| class.path == [name]).unwrap();
    let numbers = |name: &str, keys: [&str; 3]| keys.map(|key| class(name).number(key));
    assert_eq!(
        numbers("best-effort", ["packets", "sent_packets", "queue_drops"]),
        [Some(1000), Some(700), Some(250)]
    );
    assert_eq!(
        numbers("expedited-forwarding", ["bandwidth_percent", "bandwidth_kbps", "limit_us"]),
        [Some(20), Some(100_000), Some(5000)]
    );
    assert_eq!(numbers("best-effort", ["bandwidth_percent", "bandwidth_kbps", "limit_us"]), [None; 3]);
}

#[test]
fn lines_of_other_outputs_end_a_filter() {
    let text = "Filter: f\nCounters:\nName Bytes Packets\na 10 1\nuser@r> show version\nb 20 2\nFilter: g-o\n\
                Policers:\nname Bytes Packets\np 30 3\n";
    let found = read(text);
    let names: Vec<Vec<String>> =
        found.iter().map(|filter| filter.classes.iter().map(ClassReading::name).collect()).collect();
    assert_eq!(names, [["Counters/a"]]);
    assert_eq!(read("Queue counters: Queued packets\n 0 1 2\n 0 1 2 x\n"), []);
}
