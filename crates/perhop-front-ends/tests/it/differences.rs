//! Tests that `perhop_diff` has a finding for each changed line, unless the line is irrelevant and the models
//! are equal.

use perhop_device::{Detail, ParseOptions};
use perhop_diff::{Difference, LineEffect, Question, compare};
use perhop_front_ends::FRONT_ENDS;
use perhop_lint::LineState;
use proptest::prelude::*;
use serde_json::{Value, json};

const IOS: &str = "version 15.4
hostname edge
ip access-list extended CALLS
 permit udp any any range 16384 32767
 deny tcp any any
class-map match-any VOICE
 match dscp ef
 match access-group name CALLS
class-map match-all DATA
 match dscp af21 af22
policy-map IN
 class VOICE
  set dscp ef
 class class-default
  police 64000 8000 conform-action transmit exceed-action drop
policy-map WAN
 class VOICE
  priority 400
 class DATA
  bandwidth 500
  queue-limit 64 packets
policy-map COPP
 class DATA
  police 32000 4000 conform-action transmit exceed-action drop
policy-map UNUSED
 class VOICE
  priority percent 10
route-map PBR permit 10
 match ip address CALLS
 set ip next-hop 10.0.0.9
interface GigabitEthernet0/0
 description to the office
 ip address 10.1.0.1 255.255.0.0
 ip access-group CALLS in
 service-policy input IN
interface Tunnel0
 ip address 10.9.0.1 255.255.255.252
 tunnel source Serial0/0
 tunnel destination 192.0.2.2
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
control-plane
 service-policy input COPP
ip route 0.0.0.0 0.0.0.0 192.0.2.2
snmp-server community public
";

const TC: &str = "#!/bin/sh
echo shaping
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 4mbit ceil 10mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 6mbit ceil 10mbit prio 1
tc qdisc add dev eth0 parent 1:10 pfifo limit 50
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 match ip src 10.0.0.0/8 police rate 1mbit burst 10k drop
tc filter add dev eth0 parent ffff: protocol ip prio 2 u32 match ip dst 10.0.0.0/8 police rate 2mbit burst 20k drop
ip link set dev eth0 mtu 1400
iptables -t mangle -A POSTROUTING -j MARK --set-mark 1
";

/// Lines that can be added to a configuration.
const IOS_LINES: &[&str] = &[
    " crypto map VPN",
    " traffic-shape rate 128000",
    " ip access-group 101 out",
    " qos pre-classify",
    " description something else",
    " rate-limit input 64000 8000 8000 conform-action transmit exceed-action drop",
    "  set dscp cs1",
    "  queue-limit 32 packets",
    "  no such command",
    "ip cef",
    "policy-map EMPTY",
    " shutdown",
];
const TC_LINES: &[&str] = &[
    "echo done",
    "tc qdisc del dev eth0 parent 1:10",
    "tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit",
    "tc filter add dev eth0 parent 1: protocol ip prio 3 u32 match ip dport 22 0xffff flowid 1:10",
    "tc qdisc add dev eth1 root tbf rate 1mbit burst 10k latency 50ms",
    "nft add rule x",
    "frobnicate eth0",
    "sleep 1",
];

fn difference(old: &str, new: &str) -> Difference {
    let options = ParseOptions::default();
    let question =
        Question { texts: [old, new], names: ["old", "new"], options: &options, at: None, only: None };
    compare(FRONT_ENDS, &question).unwrap()
}

/// A change of one line, with the index of the inserted line, or of the number or word that changes.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Delete,
    Insert(usize),
    Number(usize),
    Word(usize),
    Copy,
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        Just(Edit::Delete),
        (0..100usize).prop_map(Edit::Insert),
        (0..4usize).prop_map(Edit::Number),
        (0..4usize).prop_map(Edit::Word),
        Just(Edit::Copy),
    ]
}

/// Returns `text` with one line changed.
fn edited(text: &str, pool: &[&str], line: usize, edit: Edit) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = line % lines.len();
    match edit {
        Edit::Delete => drop(lines.remove(at)),
        Edit::Insert(number) => lines.insert(at, pool[number % pool.len()].to_owned()),
        Edit::Copy => lines.insert(at, lines[at].clone()),
        Edit::Number(number) => {
            lines[at] = with_word(&lines[at], number, |word| {
                word.parse::<u64>().ok().map(|value| (value / 2 + 1).to_string())
            });
        }
        Edit::Word(number) => lines[at] = with_word(&lines[at], number, |word| Some(format!("{word}x"))),
    }
    lines.join("\n") + "\n"
}

/// Returns `line` with one word replaced, among the words that have a replacement.
fn with_word(line: &str, number: usize, replaced: impl Fn(&str) -> Option<String>) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let places: Vec<usize> = (0..words.len()).filter(|at| replaced(&words[*at]).is_some()).collect();
    if let Some(at) = places.get(number % places.len().max(1)) {
        words[*at] = replaced(&words[*at]).unwrap();
    }
    format!("{}{}", &line[..indent], words.join(" "))
}

/// Returns the policies of a text, without the numbers of lines.
fn model(text: &str) -> Value {
    let device = FRONT_ENDS.parse(text, &ParseOptions::default()).unwrap();
    let mut report = json!(device.report(Detail::Policies));
    let mut router = report["router"].take();
    router["hostname"] = Value::Null;
    without_lines(&mut router);
    router
}

fn without_lines(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| key != "line");
            map.values_mut().for_each(without_lines);
        }
        Value::Array(all) => all.iter_mut().for_each(without_lines),
        // The name of a tc stage contains the number of its line.
        Value::String(text) if text.starts_with("line ") => *value = Value::Null,
        _ => {}
    }
}

/// Returns the trimmed lines of `text` that `other` does not contain, with their states.
fn lines_alone(text: &str, other: &str) -> Vec<(String, LineState)> {
    let device = FRONT_ENDS.parse(text, &ParseOptions::default()).unwrap();
    let mut others: Vec<&str> = other.lines().map(str::trim).collect();
    let mut alone = Vec::new();
    for line in device.lines.iter().filter(|line| !line.is_blank(device.comment)) {
        match others.iter().position(|other| *other == line.text.trim()) {
            Some(at) => drop(others.remove(at)),
            None => alone.push((line.text.trim().to_owned(), line.state)),
        }
    }
    alone
}

/// Fails if the difference after the change of one line is incomplete.
fn check(old: &str, new: &str) {
    let found = difference(old, new);
    let alone = [lines_alone(old, new), lines_alone(new, old)];
    let listed = |side: usize, text: &str| {
        found.lines.iter().chain(&found.not_compared).any(|line| {
            let line = if side == 0 { &line.old } else { &line.new };
            line.as_ref().is_some_and(|line| line.text == text)
        })
    };
    for (side, (text, state)) in
        alone.iter().enumerate().flat_map(|(side, all)| all.iter().map(move |change| (side, change)))
    {
        assert!(listed(side, text), "line `{text}` is not listed: {found:#?}");
        assert!(*state == LineState::Irrelevant || !found.is_empty(), "`{text}` changed: nothing differs");
    }
    let models = (model(old), model(new));
    // If the texts of matches differ, `Difference::is_empty` compares their packets.
    assert!(models.0 == models.1 || !found.is_empty(), "the models differ:\n{new}");
    for line in found.lines.iter().filter(|line| line.effect == LineEffect::Compared) {
        assert!(!found.changed.is_empty() || !found.moved.is_empty(), "{line:?} changes nothing");
    }
}

/// Returns a small number of cases, because each case parses a configuration several times. `PROPTEST_CASES`
/// overrides the number.
fn cases() -> ProptestConfig {
    let chosen = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(chosen.unwrap_or(40)) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn one_changed_line_of_ios_is_accounted_for(line in 0..1000usize, edit in edits()) {
        check(IOS, &edited(IOS, IOS_LINES, line, edit));
    }

    #[test]
    fn one_changed_line_of_tc_is_accounted_for(line in 0..1000usize, edit in edits()) {
        check(TC, &edited(TC, TC_LINES, line, edit));
    }
}

#[test]
fn sections_have_no_order() {
    let (first, rest) = IOS.split_at(IOS.find("class-map match-all").unwrap());
    let (data, rest) = rest.split_at(rest.find("policy-map IN").unwrap());
    let (input, rest) = rest.split_at(rest.find("policy-map WAN").unwrap());
    let (wan, rest) = rest.split_at(rest.find("policy-map COPP").unwrap());
    let moved = format!("{first}{wan}{input}{rest}{data}");
    let found = difference(IOS, &moved);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_order_of_classes_and_entries_counts() {
    let swapped = IOS.replace(
        " permit udp any any range 16384 32767\n deny tcp any any\n",
        " deny tcp any any\n permit udp any any range 16384 32767\n",
    );
    assert_ne!(swapped, IOS);
    // UDP and TCP have no common packets, so the swapped list matches the same packets.
    assert!(difference(IOS, &swapped).is_empty());
    let overlapping = IOS.replace(" deny tcp any any\n", " deny udp any any\n");
    let swapped = overlapping.replace(
        " permit udp any any range 16384 32767\n deny udp any any\n",
        " deny udp any any\n permit udp any any range 16384 32767\n",
    );
    assert!(!difference(&overlapping, &swapped).is_empty());
    let filters: Vec<&str> = TC.lines().filter(|line| line.contains("parent ffff:")).collect();
    let one = filters[0].replace("10.0.0.0/8", "10.1.0.0/16");
    let renumbered = TC.replace("prio 2", "prio 0").replace(filters[0], &one);
    assert!(!difference(TC, &renumbered).is_empty());
}

#[test]
fn a_renamed_class_is_named_as_such() {
    let found = difference(IOS, &IOS.replace("DATA", "BULK"));
    assert!(found.changed.is_empty() && found.moved.is_empty(), "{found:#?}");
    assert!(
        found
            .renamed
            .iter()
            .any(|rename| rename.before == "queue others/DATA" && rename.after == "queue others/BULK")
    );
    assert!(found.lines.iter().all(|line| line.effect == LineEffect::Same));
    assert!(!found.is_empty());
}

#[test]
fn a_comment_above_stages_changes_nothing() {
    let moved = TC.replace("tc qdisc add dev eth0 root", "# the root\ntc qdisc add dev eth0 root");
    let found = difference(TC, &moved);
    assert!(found.is_empty(), "{found:#?}");
}
