//! Policies that are written as commands and read again are unchanged, or the notes list the differences.

use perhop_analysis::{PacketSpace, Set, classes_of};
use perhop_device::intent::Direction;
use perhop_device::{FrontEnd, PoliciesToWrite, PolicyToWrite, Port, Written};
use perhop_qos::Rate;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_tc::{Tc, convert, parse};
use proptest::prelude::*;
use proptest::sample::select;

/// The rate of the outermost class of a tree.
const RATE: Rate = Rate::from_bits_per_second(100_000_000);

/// Disciplines of leaves that are the same after they are read again.
const LEAVES: [&str; 10] = [
    "pfifo limit 50",
    "bfifo limit 30000",
    "codel limit 500 target 10ms interval 200ms ecn",
    "fq_codel limit 1000 flows 64 quantum 1514 target 5ms interval 100ms ce_threshold 1ms",
    "fq_codel limit 1000 quantum 300 noecn ce_threshold 1ms ce_threshold_selector 0x1/0x3",
    "pie limit 200 target 20ms tupdate 30ms alpha 3 beta 18 ecn",
    "fq_pie limit 5000 flows 128 target 15ms tupdate 15ms quantum 1514 ecn ecn_prob 30",
    "red limit 60000 min 15000 max 45000 avpkt 1000 burst 20 probability 0.05 bandwidth 8mbit ecn",
    "red limit 40000 min 5000 max 15000 avpkt 500 burst 15 probability 0.1 bandwidth 2mbit ecn harddrop",
    "sfq limit 120 depth 60 divisor 1024",
];

/// Conditions of filters on IPv4 and IPv6.
const CONDITIONS: [&str; 6] = [
    "protocol ip {} u32 match ip dsfield 0xb8 0xfc",
    "protocol ipv6 {} u32 match u16 0x0b80 0x0fc0 at 0",
    "protocol ip {} flower ip_proto udp dst_port 5000",
    "protocol ip {} flower ip_proto tcp src_ip 10.1.0.0/16 dst_port 443",
    "protocol ipv6 {} flower ip_proto udp src_ip 2001:db8::/32",
    "protocol ip {} flower ip_tos 0x20/0xe0",
];

/// A class below an earlier one: its parent, its rate and its ceiling, Mb/s, and its queue.
type Class = (usize, u64, u64, &'static str);

fn conditioned(condition: &str, preference: usize) -> String {
    condition.replace("{}", &format!("pref {preference}"))
}

/// A port with a tree of HTB or HFSC, filters to leaves, and policers of arriving packets.
fn script() -> impl Strategy<Value = String> {
    let class = (0..4_usize, 1..20_u64, 0..30_u64, select(LEAVES.to_vec()));
    // No condition contains another one, because the writer omits a class without packets.
    let conditions = || prop::sample::subsequence(CONDITIONS.to_vec(), 0..5);
    let leaves = prop::collection::vec(0..6_usize, 5);
    let policers = prop::collection::vec((1..50_u64, select(vec!["drop", "pass"])), 5);
    let parts = (
        select(vec!["htb", "hfsc"]),
        prop::collection::vec(class, 1..6),
        (conditions(), leaves),
        (conditions(), policers),
    );
    parts.prop_map(|(kind, classes, (filters, leaves), (policed, policers))| {
        let filters: Vec<_> = filters.into_iter().zip(leaves).collect();
        let policers: Vec<_> = policed.into_iter().zip(policers).collect();
        written(kind, &classes, &filters, &policers)
    })
}

fn written(
    kind: &str,
    classes: &[Class],
    filters: &[(&str, usize)],
    policers: &[(&str, (u64, &str))],
) -> String {
    let parents: Vec<usize> =
        classes.iter().enumerate().map(|(index, (parent, ..))| (*parent).min(index)).collect();
    let numbers = 2..classes.len() + 2;
    let leaves: Vec<usize> = numbers.filter(|number| !parents.contains(&(number - 1))).collect();
    let share = |rate: u64, most: u64| match kind {
        "htb" => format!("rate {rate}mbit ceil {most}mbit burst 5000 cburst 6000"),
        _ => format!("ls m2 {rate}mbit ul m1 {most}mbit d 10ms m2 {most}mbit"),
    };
    let mut lines = vec![
        format!("tc qdisc add dev eth0 root handle 1: {kind} default {}", leaves[0]),
        format!("tc class add dev eth0 parent 1: classid 1:1 {kind} {}", share(100, 100)),
    ];
    for (index, (_, rate, more, leaf)) in classes.iter().enumerate() {
        let (number, parent) = (index + 2, parents[index] + 1);
        let share = share(*rate, rate + more);
        lines.push(format!("tc class add dev eth0 parent 1:{parent} classid 1:{number} {kind} {share}"));
        if leaves.contains(&number) {
            lines.push(format!("tc qdisc add dev eth0 parent 1:{number} handle {number}0: {leaf}"));
        }
    }
    for (index, (condition, leaf)) in filters.iter().enumerate() {
        let condition = conditioned(condition, index + 1);
        let leaf = leaves[leaf % leaves.len()];
        lines.push(format!("tc filter add dev eth0 parent 1: {condition} flowid 1:{leaf}"));
    }
    if !policers.is_empty() {
        lines.push("tc qdisc add dev eth0 clsact".to_owned());
    }
    for (index, (condition, (rate, exceed))) in policers.iter().enumerate() {
        let condition = conditioned(condition, index + 1);
        lines.push(format!(
            "tc filter add dev eth0 ingress {condition} action police rate {rate}mbit burst 20000 \
             conform-exceed {exceed}"
        ));
    }
    lines.join("\n") + "\n"
}

fn port(text: &str) -> Port {
    let mut router = convert(&mut parse(text));
    assert_eq!(router.ports.len(), 1, "{text}");
    router.ports.remove(0)
}

fn write(port: &Port) -> Written {
    let sides = [(Direction::Input, &port.input), (Direction::Output, &port.output)];
    let policies = sides.into_iter().filter(|(_, policy)| **policy != PolicyConfig::default());
    let policies = policies.map(|(direction, policy)| PolicyToWrite {
        name: "out".to_owned(),
        interface: Some(port.name.clone()),
        direction: Some(direction),
        rate: Some(RATE),
        policy: policy.clone(),
    });
    let policies = PoliciesToWrite { policies: policies.collect(), ..PoliciesToWrite::default() };
    let (_, writer) = Tc.writer().expect("a writer");
    writer.write(&policies).expect("one port with a rate")
}

/// Compares all parameters of classes except names and conditions.
fn compare_classes(before: &QueueingConfig, other: &QueueingConfig, text: &str) {
    let shape = |queueing: &QueueingConfig| {
        (queueing.scheduler, queueing.limit, queueing.rate_to_quantum, queueing.classes.len())
    };
    assert_eq!(shape(before), shape(other), "{text}");
    for (left, right) in before.classes.iter().zip(&other.classes) {
        let plain = |class: &ClassConfig| ClassConfig {
            name: String::new(),
            matches: None,
            queueing: None,
            ..class.clone()
        };
        assert_eq!(plain(left), plain(right), "{text}");
        assert_eq!(left.queueing.is_some(), right.queueing.is_some(), "{text}");
        if let (Some(left), Some(right)) = (&left.queueing, &right.queueing) {
            compare_classes(left, right, text);
        }
    }
}

fn set(space: &mut PacketSpace, condition: Option<&MatchConfig>) -> Set {
    condition.map_or(Set::ALL, |condition| space.taken_by(condition).expect("few packets"))
}

/// Compares stages by their packets, meters and actions.
fn compare_stages(before: &PolicyConfig, other: &PolicyConfig, text: &str) {
    let mut space = PacketSpace::new(&[]);
    assert_eq!(before.conditioners.len(), other.conditioners.len(), "{text}");
    for (left, right) in before.conditioners.iter().zip(&other.conditioners) {
        let sets = [left, right].map(|stage| set(&mut space, stage.matches.as_ref()));
        assert_eq!(sets[0], sets[1], "{text}");
        assert_eq!(left.meter, right.meter, "{text}");
        assert_eq!((&left.green, &left.red), (&right.green, &right.red), "{text}");
    }
}

fn compare(text: &str) -> bool {
    let before = port(text);
    let commands = write(&before);
    let after = port(&commands.text);
    let both = format!("{text}\n{}\n{:?}", commands.text, commands.not_expressed);
    if !commands.not_expressed.is_empty() {
        return false;
    }
    compare_stages(&before.input, &after.input, &both);
    compare_stages(&before.output, &after.output, &both);
    assert_eq!(before.output.overhead, after.output.overhead, "{both}");
    let (Some(written), Some(read)) = (&before.output.queueing, &after.output.queueing) else {
        panic!("{both}");
    };
    compare_classes(written, read, &both);
    let mut space = PacketSpace::new(&[]);
    let [old, new] = [written, read].map(|queueing| {
        let classes = classes_of(&mut space, queueing, Set::ALL).expect("few packets");
        classes.into_iter().map(|class| class.takes).collect::<Vec<_>>()
    });
    assert_eq!(old.len(), new.len(), "{both}");
    for (left, right) in old.into_iter().zip(new) {
        for (set, without) in [(left, right), (right, left)] {
            let moved = space.minus(set, without).expect("few packets");
            let packet = space.witness(moved).expect("few packets").map(|packet| packet.to_string());
            assert_eq!(packet, None, "{both}");
        }
    }
    true
}

proptest! {
    #[test]
    fn written_policies_are_read_back_equal(text in script()) {
        prop_assert!(compare(&text), "a loss is named");
    }
}

#[test]
fn a_loss_is_named_with_its_class_and_a_change_that_avoids_it() {
    let policy: PolicyConfig = serde_json::from_value(serde_json::json!({
        "conditioners": [{
            "name": "video",
            "meter": {"rfc4115": {"cir": "1Mb/s", "cbs": "10kB", "eir": "2Mb/s", "ebs": "20kB"}},
            "actions": ["transmit"],
        }],
    }))
    .unwrap();
    let input = Port { input: policy, ..Port::new("eth0", 1) };
    let written = write(&input);
    let notes: Vec<_> = written.not_expressed.iter().map(|note| (note.place.as_str(), note.line())).collect();
    let line = "policy out at eth0 input, class video: meter rfc4115: a policer of Linux is one token bucket \
                (write a `token-bucket`)";
    assert_eq!(notes, [("policy out at eth0 input, class video", line.to_owned())]);
    assert!(written.text.contains(&format!("# Different from perhop: {line}\n")), "{}", written.text);
}
