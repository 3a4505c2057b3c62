//! The printed output of `tc -s qdisc show` and `tc -s class show` has the same numbers when it is read
//! again.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::show::{
    CountedDevice, CountedPort, PolicyReading, PortCounters, PrecedenceCounters, QueueCounters, QueueSample,
    ShowOptions, Shows, Tolerances, Traffic, compare,
};
use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_qos::DropCause;
use perhop_tc::Tc;
use proptest::prelude::*;

/// A tree with a class inside a class, a queue that marks, and one below a shaper.
const TREE: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 10mbit prio 1
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 500kbit burst 15k quantum 3000
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 7500kbit ceil 10mbit
tc qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 50
tc qdisc add dev eth0 parent 1:20 handle 20: red limit 60000 min 15000 max 45000 avpkt 1000 burst 20 ecn
tc qdisc add dev eth0 parent 1:30 handle 30: tbf rate 1mbit burst 5k latency 50ms
tc filter add dev eth0 parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:10
tc filter add dev eth0 parent 1: protocol ip u32 match ip dsfield 0x28 0xfc flowid 1:20
";
const HEADER: u64 = 14;

fn shows() -> &'static dyn Shows {
    static TC: Tc = Tc;
    TC.shows().expect("tc has outputs")
}

fn model(text: &str) -> DeviceModel {
    Tc.parse(text, &ParseOptions::default()).expect("no option is wrong")
}

/// Returns the output of both commands for the first device of `text`.
fn printed(text: &str, counters: &PortCounters) -> String {
    let model = model(text);
    let codepoints = BTreeSet::new();
    let output = |command| {
        let port =
            CountedPort { port: &model.router.ports[0], link_to: Some("next"), counters: counters.clone() };
        let device = CountedDevice { model: &model, ports: vec![port], codepoints: &codepoints };
        let shown =
            shows().print_show(command, &device, &ShowOptions::default()).expect("no option is wrong");
        shown.into_iter().map(|port| port.text).collect::<String>()
    };
    shows().commands().iter().map(output).collect()
}

fn number(policies: &[PolicyReading], path: &[&str], name: &str) -> Option<u64> {
    let class = policies[0].classes.iter().find(|class| class.path == path);
    class.unwrap_or_else(|| panic!("no {path:?} in {policies:?}")).number(name)
}

/// Counters of a queue: sent packets, drops at the limit and before it, marks, and backlog.
fn queue(sent: u64, full: u64, early: u64, marked: u64, waiting: u64) -> QueueCounters {
    let mut dropped = [0; DropCause::COUNT];
    dropped[DropCause::QueueFull.index()] = full;
    dropped[DropCause::EarlyRandom.index()] = early;
    let counters = PrecedenceCounters {
        arrived: Traffic::new(sent + full + early + waiting, 500.0 * (sent + full + early + waiting) as f64),
        sent: Traffic::new(sent, 500.0 * sent as f64),
        marked_packets: marked,
        dropped,
    };
    let sample = QueueSample { packets: waiting, bytes: 500 * waiting, averages: BTreeMap::new() };
    QueueCounters { precedences: BTreeMap::from([(0, counters)]), sample: Some(sample) }
}

proptest! {
    #[test]
    fn printed_output_is_read_with_the_same_numbers(
        queues in prop::array::uniform3((0_u64..1 << 40, 0_u64..1 << 20, 0_u64..1 << 20, 0_u64..99, 0_u64..99)),
    ) {
        let names = ["1:1/1:10", "1:1/1:20", "1:1/1:30"];
        let named = names.iter().zip(queues).map(|(name, (sent, full, early, marked, waiting))| {
            ((*name).to_owned(), queue(sent, full, early, marked, waiting))
        });
        let counters = PortCounters { seconds: 10.0, queues: named.collect(), ..PortCounters::default() };
        let policies = shows().read_show(&printed(TREE, &counters)).expect("output of tc");
        prop_assert_eq!(policies.len(), 1);
        prop_assert_eq!(&policies[0].interface, "eth0");
        let [first, red, last] = queues;
        for ((sent, full, early, _, waiting), class, qdisc) in
            [(first, "1:10", "qdisc 1:10"), (red, "1:20", "qdisc 1:20"), (last, "1:30", "qdisc 1:30")]
        {
            for path in [&["1:1", class][..], &["qdisc root", qdisc]] {
                let read = |name| number(&policies, path, name);
                prop_assert_eq!(read("sent_packets"), Some(sent));
                prop_assert_eq!(read("sent_bytes"), Some((500 + HEADER) * sent));
                prop_assert_eq!(read("queue_drops"), Some(full + early));
                prop_assert_eq!((read("depth"), read("depth_bytes")), (Some(waiting), Some((500 + HEADER) * waiting)));
            }
        }
        let at_red = |name| number(&policies, &["qdisc root", "qdisc 1:20"], name);
        prop_assert_eq!((at_red("marked_packets"), at_red("limit_drops")), (Some(red.3), Some(red.1)));
        prop_assert_eq!((at_red("early_drops"), at_red("overlimits")), (Some(red.2), Some(red.2 + red.3)));
        let sum: u64 = queues.iter().map(|queue| queue.0).sum();
        for path in [&["1:1"][..], &["qdisc root"]] {
            prop_assert_eq!(number(&policies, path, "sent_packets"), Some(sum));
        }
        // The output has the numbers of the configuration, but not a number that perhop lacks.
        prop_assert_eq!(number(&policies, &["1:1", "1:30"], "rate_bps"), Some(7_500_000));
        prop_assert_eq!(number(&policies, &["qdisc root", "qdisc 1:10"], "limit_packets"), Some(50));
        prop_assert_eq!(number(&policies, &["1:1", "1:10"], "overlimits"), None);
    }
}

/// The disciplines that are printed with their options. The test reads each output as a configuration.
const DISCIPLINES: [&str; 16] = [
    "pfifo limit 50",
    "bfifo limit 30000",
    "codel limit 500 target 10ms interval 200ms ecn",
    "fq_codel limit 1000 flows 64 quantum 300 target 7ms interval 50ms",
    "pie limit 200 target 20ms tupdate 30ms alpha 3 beta 18 ecn",
    "red limit 61440 min 15360 max 46080 ewma 9 ecn",
    "sfq limit 120 depth 60 divisor 512",
    "tbf rate 1mbit burst 5k latency 50ms",
    "htb default 30 r2q 5",
    "prio bands 4 priomap 3 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
    "pfifo_fast",
    "drr",
    "hfsc default 1",
    "ets bands 4 strict 2 quanta 3000 1500",
    "codel",
    "fq_codel",
];

#[test]
fn printed_output_configures_the_same_queues() {
    for discipline in DISCIPLINES {
        let text = format!("tc qdisc add dev eth0 root handle 1: {discipline}\n");
        let output = printed(&text, &PortCounters::default());
        let again = model(&output);
        let first = model(&text);
        let queueing = |model: &DeviceModel| {
            let mut policy = model.router.ports[0].output.clone();
            if let Some(queueing) = &mut policy.queueing {
                queueing.classes.iter_mut().for_each(|class| class.name.clear());
            }
            policy
        };
        // Only `tc -d` prints the weight of the average of RED.
        if !discipline.starts_with("red") {
            assert_eq!(queueing(&again), queueing(&first), "{discipline}:\n{output}");
        }
        assert_eq!(again.open_lines, [], "{discipline}:\n{output}");
    }
}

#[test]
fn printed_classes_equal_kernel_output() {
    let output = printed(TREE, &PortCounters::default());
    for line in [
        "qdisc htb 1: root r2q 10 default 0x30 direct_packets_stat 0 direct_qlen 1000",
        "qdisc tbf 30: parent 1:30 rate 1Mbit burst 5Kb lat 50ms ",
        "qdisc pfifo 10: parent 1:10 limit 50p",
        "class htb 1:10 parent 1:1 leaf 10: prio 1 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b ",
        "class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b ",
        "class htb 1:20 parent 1:1 leaf 20: prio 0 rate 500Kbit ceil 500Kbit burst 15Kb cburst 1600b ",
        "class tbf 30:1 parent 30: ",
        " Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) ",
        " backlog 0b 0p requeues 0",
    ] {
        assert!(output.lines().any(|printed| printed == line), "`{line}` is not in\n{output}");
    }
}

/// Output of a kernel, with lines that perhop does not print.
const OF_A_KERNEL: &str = "\
qdisc noqueue 0: dev lo root refcnt 2 
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) 
 backlog 0b 0p requeues 0
qdisc fq_codel 8002: dev eth1 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms
 Sent 4242 bytes 17 pkt (dropped 3, overlimits 9 requeues 1) 
 backlog 1514b 1p requeues 1
  maxpacket 1514 drop_overlimit 2 new_flow_count 5 ecn_mark 4
  new_flows_len 0 old_flows_len 0
class htb 1:10 parent 1:1 leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b 
 Sent 90 bytes 1 pkt (dropped 0, overlimits 7 requeues 0) 
 backlog 0b 0p requeues 0
 lended: 1 borrowed: 0 giants: 0
 tokens: 100000 ctokens: 20000

class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b 
 Sent 90 bytes 1 pkt (dropped 0, overlimits 0 requeues 0) 
class fq_codel 10:3b parent 10: 
";

#[test]
fn output_of_a_kernel_is_read() {
    let policies = shows().read_show(OF_A_KERNEL).expect("output of tc");
    let names: Vec<&str> = policies.iter().map(|policy| policy.interface.as_str()).collect();
    assert_eq!(names, ["lo", "eth1", ""]);
    let counter = |index: usize, path: &[&str], name: &str| number(&policies[index..], path, name);
    let fair = |name| counter(1, &["qdisc root"], name);
    assert_eq!((fair("sent_bytes"), fair("sent_packets")), (Some(4242), Some(17)));
    assert_eq!((fair("queue_drops"), fair("overlimits"), fair("depth")), (Some(3), Some(9), Some(1)));
    assert_eq!((fair("limit_drops"), fair("marked_packets")), (Some(2), Some(4)));
    assert_eq!(counter(2, &["1:1", "1:10"], "overlimits"), Some(7));
    assert_eq!(policies[2].classes.len(), 2, "flows are not classes");
}

/// Words of outputs, and others.
const WORDS: [&str; 24] = [
    "qdisc",
    "class",
    "htb",
    "1:1",
    "1:10",
    "parent",
    "root",
    "leaf",
    "dev",
    "eth0",
    "rate",
    "10Mbit",
    "limit",
    "18446744073709551615",
    "Sent",
    "bytes",
    "pkt",
    "(dropped",
    "backlog",
    "99999999999999999999",
    "0b",
    "\n",
    "\n ",
    "é",
];

proptest! {
    #[test]
    fn no_text_makes_reading_or_comparing_fail(
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..80),
    ) {
        let output = words.join(" ");
        let policies = shows().read_show(&output).expect("any text is read");
        let tolerances = Tolerances { percent: 5.0, points: 2.0 };
        let compared = serde_json::to_value(compare(&policies, &policies, tolerances)).expect("plain data");
        // If two classes have one name, the last class is compared.
        prop_assert!(compared["missing"].as_array().is_some_and(Vec::is_empty));
    }
}

#[test]
fn configurations_are_not_read_as_output() {
    for text in [TREE, "", "qdisc fq_codel 8002: dev eth1 root refcnt 2 limit 10240p\n", "interface Gi0/0\n"]
    {
        assert_eq!(shows().read_show(text), Ok(Vec::new()));
    }
}
