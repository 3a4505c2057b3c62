//! What becomes of commands and output: the policies, and the state of every line.

use perhop_device::{Port, Router};
use perhop_lint::{LineState, Severity};
use perhop_tc::{Configuration, convert, parse};
use serde_json::{Value, json};

fn read(text: &str) -> (Configuration, Router) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration);
    (configuration, router)
}

fn port(text: &str) -> Port {
    let (_, router) = read(text);
    assert_eq!(router.ports.len(), 1, "{text}");
    router.ports.into_iter().next().expect("a port")
}

fn output(text: &str) -> Value {
    serde_json::to_value(&port(text).output).expect("serializable")
}

/// The only class of a device with one queue.
fn class(text: &str) -> Value {
    let all = output(text)["queueing"]["classes"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{text}");
    all[0].clone()
}

/// The first class of the first device.
fn first(router: &Router) -> Value {
    serde_json::to_value(&router.ports[0].output).expect("serializable")["queueing"]["classes"][0].clone()
}

fn without_nulls(value: &Value, keys: &[&str]) -> Value {
    keys.iter().map(|key| ((*key).to_owned(), value[*key].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn defaults_are_those_of_the_kernel() {
    let buffer = |text: &str| class(&format!("tc qdisc add dev eth0 root {text}"))["buffer"].clone();
    assert_eq!(buffer("pfifo"), json!({"tail-drop": {"limit": "1000 packets"}}));
    // The same number that Linux prints: `qdisc bfifo 1: root refcnt 3 limit 1514000b`.
    assert_eq!(buffer("bfifo"), json!({"tail-drop": {"limit": "1514kB"}}));
    let codel = buffer("codel");
    let keys = ["law", "target", "interval", "limit", "ecn"];
    assert_eq!(
        without_nulls(&codel["codel"], &keys),
        json!({"law": "linux", "target": "5ms", "interval": "100ms", "limit": "1000 packets", "ecn": "ignore"})
    );
    let fq = buffer(
        "fq_codel limit 600 flows 64 target 2.5ms noecn ce_threshold 1ms ce_threshold_selector 0x1/0x3",
    );
    assert_eq!(
        fq["fq-codel"],
        json!({
            "law": "linux", "target": "2500us", "interval": "100ms", "flows": 64, "quantum": "1514B",
            "limit": "600 packets", "drop-batch": 64, "ecn": "ignore", "mtu": "1500B",
            "ce-threshold": {"wait": "1ms", "of": "ect1"},
        })
    );
    let pie = buffer("pie target 20ms alpha 4 ecn");
    let keys = ["law", "target", "update-interval", "alpha", "beta", "ecn", "limit"];
    assert_eq!(
        without_nulls(&pie["pie"], &keys),
        json!({
            "law": "linux", "target": "20ms", "update-interval": "15ms", "alpha": 0.25, "beta": 1.25,
            "ecn": "mark", "limit": "1000 packets",
        })
    );
    let dual = buffer("dualpi2 target 20ms alpha 0.25 step_thresh 2ms classic_protection 20%");
    assert_eq!(
        dual["dualpi2"],
        json!({
            "law": "linux", "queues": "two", "target": "20ms", "alpha": 0.25, "native": {"step": "2ms"},
            "scheduler": {"classic-share": 20.0},
        })
    );
}

#[test]
fn red_is_the_arithmetic_of_tc() {
    // tc prints `ewma 5` for these: tests/test_convert_tc.py has the same formula by itself.
    let red = class(
        "tc qdisc add dev eth0 root red limit 60000 min 15000 max 45000 avpkt 1000 burst 20 ecn bandwidth 8mbit",
    );
    let red = &red["buffer"]["red"];
    assert_eq!(red["law"], "linux-red");
    assert_eq!(red["precedences"], json!([{"min": "15kB", "max": "45kB", "max-probability": 0.02}]));
    assert_eq!(red["idle-rate"], "8Mb/s");
    assert_eq!(red["ecn"], "mark-all");
    assert_eq!(red["mean-packet-size"], "1kB");
    // burst + 1 − min/avpkt = 6 ≤ (1 − (1 − W)²⁰) / W: 4 gives 11.6, 3 gives 7.4, 2 gives 3.99.
    assert_eq!(red["averaging"], json!({"exponent": 3}));
    let (refused, _) =
        read("tc qdisc add dev eth0 root red limit 60000 min 30000 max 45000 avpkt 1000 burst 20");
    assert!(refused.diagnostics[0].message.contains("31 or more"), "{:?}", refused.diagnostics);
}

#[test]
fn a_token_bucket_is_a_shaper() {
    let tbf = class("tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 15k latency 50ms");
    assert_eq!(tbf["shape"]["rate"], "8Mb/s");
    assert_eq!(tbf["shape"]["burst"], "15KiB");
    // q_tbf.c: 1 MB/s × 50 ms + 15360 bytes.
    assert_eq!(tbf["buffer"], json!({"tail-drop": {"limit": "65360B"}}));
    let inner = class(
        "tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 15k limit 30000\n\
         tc qdisc add dev eth0 parent 1:1 handle 10: red limit 60000 min 15000 max 45000 avpkt 1000 burst 20",
    );
    assert_eq!(inner["buffer"]["red"]["law"], "linux-red-in-class");
    let (short, _) = read("tc qdisc add dev eth0 root tbf rate 8mbit burst 1000 limit 30000");
    assert_eq!(short.diagnostics[0].rule.id, "tc-long-packets-dropped");
}

#[test]
fn output_says_what_commands_say() {
    let commands = "tc qdisc add dev eth0 root handle 1: prio\n\
                    tc qdisc add dev eth0 parent 1:1 handle 10: pfifo limit 20\n\
                    tc qdisc add dev eth0 parent 1:2 handle 20: fq_codel limit 10240 flows 1024 quantum 1514 \
                    target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64\n\
                    tc filter add dev eth0 parent 1: protocol ip pref 1 u32 match u8 0xb8 0xfc at 1 flowid 1:1\n";
    let shown = "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n\
                 \x20Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n\
                 \x20backlog 0b 0p requeues 0\n\
                 qdisc pfifo 10: dev eth0 parent 1:1 limit 20p\n\
                 qdisc fq_codel 20: dev eth0 parent 1:2 limit 10240p flows 1024 quantum 1514 target 5ms interval \
                 100ms memory_limit 32Mb ecn drop_batch 64 \n\
                 \x20Sent 9 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n\
                 \x20 maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0\n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 \n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1 \n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:1 \
                 not_in_hw \n\
                 \x20 match 00b80000/00fc0000 at 0\n";
    let [(told, by_commands), (said, by_output)] = [read(commands), read(shown)];
    for configuration in [&told, &said] {
        assert_eq!(configuration.differing().next(), None);
    }
    let ports = |router: &Router| serde_json::to_value(&router.ports).expect("serializable");
    assert_eq!(ports(&by_commands)[0]["output"], ports(&by_output)[0]["output"]);
    let counters = said.lines.iter().filter(|line| line.state == LineState::Irrelevant).count();
    assert_eq!(counters, 6, "{:?}", said.lines);
}

#[test]
fn bands_are_found_by_the_old_type_of_service() {
    let found = output("tc qdisc add dev eth0 root handle 1: prio");
    let classes = &found["queueing"]["classes"];
    assert_eq!(found["queueing"]["scheduler"], "priority");
    assert_eq!(classes[0]["share"], json!({"level": 0}));
    // ip_tos2prio: codepoints that end in 10x are "interactive": AF12, AF22, AF32, AF42, and no EF.
    let first = classes[0]["match"]["dscp"].as_array().expect("codepoints");
    assert!(first.contains(&json!("af12")) && !first.contains(&json!("ef")), "{first:?}");
    assert_eq!(classes[2]["name"], "1:2");
    assert!(classes[2]["match"].is_null(), "all others are in the middle");
    let (told, _) = read("tc qdisc add dev eth0 root handle 1: prio");
    let rules: Vec<&str> = told.diagnostics.iter().map(|one| one.rule.id).collect();
    // 45 ends in 101.
    assert_eq!(rules, ["nqb-may-get-priority", "tc-priority-by-tos"]);
}

#[test]
fn the_first_filter_in_order_decides() {
    // EF to port 5000 is voice, though the class of all EF is asked first by its number.
    let text = "tc qdisc add dev eth0 root handle 1: drr\n\
                tc class add dev eth0 parent 1: classid 1:1 drr quantum 3000\n\
                tc class add dev eth0 parent 1: classid 1:2 drr\n\
                tc filter add dev eth0 parent 1: protocol ip pref 2 u32 match ip dsfield 0xb8 0xfc flowid 1:1\n\
                tc filter add dev eth0 parent 1: protocol ip pref 1 u32 match ip dport 5000 0xffff flowid 1:2\n\
                tc filter add dev eth0 parent 1: protocol ip pref 3 u32 match ip src 10.0.0.0/8 flowid 1:2\n";
    let found = output(text);
    let classes = &found["queueing"]["classes"];
    assert_eq!((&classes[0]["name"], &classes[1]["name"]), (&json!("1:2"), &json!("1:1")));
    let any = &classes[0]["match"]["any"];
    assert_eq!(any[0], json!({"source": "0.0.0.0/0", "destination-port": 5000}));
    // Of 10/8 what is not EF alone: the class of EF comes later here and would lose it.
    assert_eq!(
        any[1],
        json!({"all": [{"source": "10.0.0.0/8"}, {"not": {"dscp": "ef", "source": "0.0.0.0/0"}}]})
    );
    assert_eq!(classes[1]["match"], json!({"dscp": "ef", "source": "0.0.0.0/0"}));
    assert_eq!(classes[1]["share"]["quantum"], "3kB");
    assert_eq!(classes[0]["share"]["quantum"], "1514B");
    let (told, _) = read(text);
    assert_eq!(told.diagnostics[0].rule.id, "tc-unclassified-dropped");
}

#[test]
fn service_curves_are_a_tree() {
    let text = "tc qdisc add dev eth0 root handle 1: hfsc default 20\n\
                tc class add dev eth0 parent 1: classid 1:1 hfsc ls m2 10mbit ul m2 10mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:10 hfsc rt umax 1500b dmax 10ms rate 800kbit ls m2 2mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:20 hfsc sc m2 8mbit\n\
                tc qdisc add dev eth0 parent 1:20 fq_codel\n\
                tc filter add dev eth0 parent 1: protocol all pref 1 u32 match u32 0 0 police rate 1mbit burst 9k drop\n";
    let (told, router) = read(text);
    let root = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    let outer = &root["classes"][0];
    assert_eq!(outer["share"], json!({"link-share": {"m2": "10Mb/s"}, "upper-limit": {"m2": "10Mb/s"}}));
    // Nothing leads to 1:10: it never has a packet.
    assert_eq!(outer["queueing"]["classes"].as_array().map(Vec::len), Some(1));
    assert_eq!(outer["queueing"]["classes"][0]["share"]["real-time"], json!({"m2": "8Mb/s"}));
    assert_eq!(told.lines[5].state, LineState::Suspicious);
    let with = text
        .replace("match u32 0 0 police rate 1mbit burst 9k drop", "match ip dsfield 0xb8 0xfc flowid 1:10");
    let (_, router) = read(&with.replace("protocol all", "protocol ip"));
    let root = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    let inner = &root["classes"][0]["queueing"]["classes"];
    // 1500 bytes in 10 ms are 1.2 Mb/s: more than the rate, so that the curve is concave.
    assert_eq!(inner[0]["share"]["real-time"], json!({"m1": "1200kb/s", "d": "10ms", "m2": "800kb/s"}));
    assert_eq!(inner[0]["match"]["dscp"], "ef");
    assert!(inner[1]["match"].is_null() && root["classes"][0]["match"].is_null());
}

#[test]
fn hooks_are_conditioners() {
    let text = "tc qdisc add dev eth0 clsact\n\
                tc filter add dev eth0 ingress protocol ip pref 1 flower ip_proto udp dst_port 5000-5100 action police \
                rate 1mbit burst 10k conform-exceed drop/pipe action pedit ex munge ip dsfield set 0xb8 retain 0xfc \
                pipe action csum ip4h\n\
                tc filter add dev eth0 ingress protocol ip pref 2 matchall action pedit ex munge ip tos set 0 retain \
                0xfc pipe action csum ip4h pipe action pass\n";
    let found = serde_json::to_value(&port(text).input).expect("serializable");
    let stages = &found["conditioners"];
    assert_eq!(
        stages[0],
        json!({
            "name": "line 2", "match": {"source": "0.0.0.0/0", "protocol": "udp", "destination-port": "5000-5100"},
            "meter": {"token-bucket": {"rate": "1Mb/s", "burst": "10KiB"}},
            "green": [{"mark": "ef"}, "transmit"], "red": ["drop"],
        })
    );
    assert_eq!(stages[1]["actions"], json!([{"mark": "default"}, "transmit"]));
    // What arrives counts by the IP packet.
    assert!(found["overhead"].is_null());
}

#[test]
fn shells_are_no_obstacle() {
    use LineState::{Irrelevant, Modelled, NotModelled, NotRecognized};
    let text = "#!/bin/sh\nset -e\nDEV=wan0\nUP=20\nTC=/sbin/tc\n\
                sudo $TC qdisc del dev $DEV root 2>/dev/null || true\n\
                $TC qdisc add dev \"$DEV\" root handle 1: \\\n   tbf rate $((UP * 900))kbit burst 15k latency 50ms\n\
                ip link set dev wan0 txqueuelen 100\n\
                for i in 1 2; do\n  tc qdisc add dev eth$i root pfifo\ndone\n\
                frobnicate all\n";
    let (configuration, router) = read(text);
    assert_eq!(router.ports[0].name, "wan0");
    assert_eq!(first(&router)["shape"]["rate"], "18Mb/s");
    let states: Vec<LineState> = configuration.lines.iter().map(|line| line.state).collect();
    assert_eq!(states[..5], [Irrelevant; 5]);
    assert_eq!(states[5..9], [Irrelevant, Modelled, Modelled, Modelled]);
    assert_eq!(states[9..], [NotModelled, NotModelled, NotModelled, NotRecognized]);
}

#[test]
fn what_linux_refuses_says_what_would_be_right() {
    let cases = [
        ("tc qdisc add dev eth0 root fq_codel limits 100", "did you mean `limit`?"),
        ("tc qdisc add dev eth0 root tbf rate 10mb burst 1k limit 2k", "write a rate"),
        ("tc qdisc add dev eth0 root tbf rate 10mbit limit 2k", "tbf must have `burst`"),
        ("tc qdisc change dev eth0 root pfifo limit 3", "nothing here to change"),
        ("tc qdisc add dev eth0 parent 1:1 pfifo", "there is no class 1:1"),
        ("tc qdisc ad dev eth0 root pfifo limit 1p", "write a size"),
        ("tc qdsic add dev eth0 root pfifo", "did you mean `qdisc`?"),
        ("tc class add dev eth0 parent 1: classid 1:1 drr", "there is no drr 1:"),
        (
            "tc qdisc add dev eth0 root pfifo\ntc qdisc add dev eth0 root bfifo",
            "there is already pfifo of line 1",
        ),
    ];
    for (text, expected) in cases {
        let (configuration, _) = read(text);
        let found = configuration.diagnostics.iter().find(|one| one.severity == Severity::Error);
        let message = found.map_or_else(String::new, |found| found.message.clone());
        assert!(message.contains(expected), "{text}: {message}");
    }
    let (unknown, _) = read("tc qdisc add dev eth0 root fq_codell");
    assert_eq!(unknown.lines[0].state, LineState::NotRecognized);
    assert!(unknown.lines[0].note.as_ref().is_some_and(|note| note.contains("did you mean `fq_codel`?")));
}

#[test]
fn later_commands_take_back_earlier_ones() {
    let (configuration, router) = read(
        "tc qdisc add dev eth0 root handle 1: prio\ntc qdisc add dev eth0 parent 1:1 pfifo limit 3\n\
         tc qdisc replace dev eth0 root fq_codel\ntc qdisc change dev eth0 root fq_codel limit 77\n",
    );
    assert_eq!(configuration.lines[1].note.as_deref(), Some("taken back in line 3"));
    let output = serde_json::to_value(&router.ports[0].output).expect("serializable");
    assert_eq!(output["queueing"]["classes"][0]["buffer"]["fq-codel"]["limit"], "77 packets");
}

#[test]
fn a_rate_in_bytes_is_mended() {
    let (configuration, router) = read("tc qdisc add dev eth0 root tbf rate 10mbps burst 15k latency 50ms");
    let found = &configuration.diagnostics[0];
    assert_eq!(found.rule.id, "tc-rate-in-bytes");
    let fix = found.fix.as_ref().expect("a fix");
    assert_eq!(
        fix.apply(&configuration.lines[0].text),
        "tc qdisc add dev eth0 root tbf rate 10mbit burst 15k latency 50ms"
    );
    assert_eq!(first(&router)["shape"]["rate"], "80Mb/s");
}

#[test]
fn htb_is_a_tree_of_rates() {
    let text = "tc qdisc add dev eth0 root handle 1: htb default 30 r2q 20\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 15k prio 3\n\
                tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 10mbit prio 1 quantum 3000\n\
                tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit mtu 1514 overhead 4 linklayer atm\n\
                tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel\n\
                tc filter add dev eth0 parent 1: protocol all pref 1 handle 7 fw classid 1:10\n";
    let (told, router) = read(text);
    assert_eq!(told.differing().next(), None);
    let queueing = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    assert_eq!((&queueing["scheduler"], &queueing["rate-to-quantum"]), (&json!("htb"), &json!(20)));
    let outer = &queueing["classes"][0];
    assert_eq!(outer["share"], json!({"rate": "10Mb/s", "ceil": "10Mb/s", "burst": "15KiB"}));
    let inner = &outer["queueing"]["classes"];
    assert_eq!(inner[0]["match"], json!({"label": 7}));
    assert_eq!(inner[0]["share"], json!({"rate": "2Mb/s", "ceil": "10Mb/s", "level": 1, "quantum": "3kB"}));
    assert_eq!(
        inner[1]["share"],
        json!({
            "rate": "1Mb/s", "burst": "1514B", "ceil-burst": "1514B",
            "link-layer": {"overhead": 4, "mpu": 0, "cells": "atm"},
        })
    );
    let (told, router) = read(&text.replace("default 30", "default 1"));
    assert_eq!(told.diagnostics[0].rule.id, "tc-unclassified-direct");
    let queueing = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    assert_eq!(queueing["classes"][1]["share"], json!({"direct": true}));
}

#[test]
fn pie_in_queues_of_flows() {
    let buffer = class("tc qdisc add dev eth0 root fq_pie flows 64 target 20ms alpha 4 ecn ecn_prob 20")["buffer"]
        ["fq-pie"]
        .clone();
    let keys = ["law", "target", "alpha", "beta", "flows", "quantum", "limit", "ecn", "mark-up-to"];
    assert_eq!(
        without_nulls(&buffer, &keys),
        json!({
            "law": "linux", "target": "20ms", "alpha": 0.25, "beta": 1.25, "flows": 64, "quantum": "1514B",
            "limit": "10240 packets", "ecn": "mark", "mark-up-to": 0.2,
        })
    );
}

#[test]
fn cake_is_all_of_a_port() {
    let cake =
        |text: &str| class(&format!("tc qdisc add dev eth0 root cake {text}"))["buffer"]["cake"].clone();
    assert_eq!(
        cake("bandwidth 10mbit diffserv4 dual-srchost rtt 50ms wash ethernet ether-vlan memlimit 1m"),
        json!({
            "bandwidth": "10Mb/s", "tins": "diffserv4", "isolation": "dual-srchost", "rtt": "50ms", "overhead": 42,
            "mpu": 84, "cells": "none", "memory-limit": "1MiB", "wash": true,
        })
    );
    // Alone it counts the frame, as `show` has it: `raw overhead 0`.
    assert!(cake("")["overhead"].is_null());
    assert_eq!(cake("raw overhead 0")["overhead"], 14);
    let adsl = cake("pppoe-vcmux metro besteffort");
    assert_eq!(
        (&adsl["overhead"], &adsl["cells"], &adsl["rtt"]),
        (&json!(32), &json!("atm"), &json!("10ms"))
    );
    assert_eq!(cake("ack-filter")["ack-filter"], "filter");
    assert_eq!(cake("ack-filter-aggressive")["ack-filter"], "aggressive");
    assert!(cake("ack-filter no-ack-filter")["ack-filter"].is_null());
    let (told, _) = read("tc qdisc add dev eth0 root cake bandwidth 10mbit autorate-ingress");
    assert_eq!(told.lines[0].state, LineState::NotModelled);
    assert!(told.lines[0].note.as_ref().is_some_and(|note| note.contains("autorate-ingress")));
    let (told, _) = read(
        "tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 15k latency 50ms\n\
         tc qdisc add dev eth0 parent 1:1 cake",
    );
    assert_eq!(told.lines[1].state, LineState::NotModelled);
    let shown = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3 triple-isolate nonat nowash \
                 no-ack-filter split-gso rtt 100ms raw overhead 0 \n";
    let (told, router) = read(shown);
    assert_eq!(told.differing().next(), None);
    assert_eq!(first(&router)["buffer"]["cake"]["bandwidth"], "10Mb/s");
    let (told, router) = read(&shown.replace("10Mbit", "unlimited"));
    assert_eq!(told.differing().next(), None, "{:?}", told.diagnostics);
    assert!(first(&router)["buffer"]["cake"]["bandwidth"].is_null());
}

/// `prio` in `prio`, `levels` deep.
fn nested(levels: usize) -> String {
    let inner = |n: usize| format!("tc qdisc add dev eth0 parent {n:x}:1 handle {:x}: prio\n", n + 1);
    "tc qdisc add dev eth0 root handle 1: prio\n".to_owned() + &(1..levels).map(inner).collect::<String>()
}

#[test]
fn disciplines_nest_up_to_a_limit() {
    for (levels, is_refused) in [(64, false), (65, true), (2_500, true)] {
        let (configuration, router) = read(&nested(levels));
        let lines = configuration.lines.iter().filter(|line| {
            let words = "queueing disciplines are nested more than 64 levels deep";
            line.note.as_ref().is_some_and(|note| note.contains(words))
        });
        let lines: Vec<usize> = lines.map(|line| line.number).collect();
        assert_eq!(lines, if is_refused { vec![65] } else { vec![] }, "{levels} levels");
        let text = serde_json::to_string(&router.ports[0].output).expect("serializable");
        assert_eq!(text.matches("\"priority\"").count(), levels.min(64), "{levels} levels");
    }
}

/// `hfsc` with classes in each other, `levels` deep, and a filter to the innermost.
fn nested_classes(levels: usize) -> String {
    let class = |n: usize| {
        let parent = if n == 1 { "1:".to_owned() } else { format!("1:{:x}", n - 1) };
        format!("tc class add dev eth0 parent {parent} classid 1:{n:x} hfsc ls rate 1mbit\n")
    };
    let classes: String = (1..=levels).map(class).collect();
    let filter = "tc filter add dev eth0 parent 1: protocol all matchall flowid";
    format!("tc qdisc add dev eth0 root handle 1: hfsc\n{classes}{filter} 1:{levels:x}\n")
}

#[test]
fn classes_nest_up_to_a_limit() {
    for (levels, refused) in [(31, vec![]), (32, vec![33]), (2_500, vec![33])] {
        let (configuration, _) = read(&nested_classes(levels));
        let words = "classes are nested more than 31 levels deep";
        let lines = configuration.lines.iter();
        let lines = lines.filter(|line| line.note.as_ref().is_some_and(|note| note.contains(words)));
        let lines: Vec<(usize, LineState)> = lines.map(|line| (line.number, line.state)).collect();
        let expected: Vec<_> = refused.into_iter().map(|line| (line, LineState::NotModelled)).collect();
        assert_eq!(lines, expected, "{levels} levels");
    }
}

#[test]
fn shown_defaults_are_hexadecimal() {
    let classes = "class htb 1:1b root prio 0 rate 5Mbit ceil 5Mbit burst 1600b cburst 1600b\n\
                   class htb 1:b root prio 0 rate 5Mbit ceil 5Mbit burst 1600b cburst 1600b\n";
    for (shown, name) in [("0x1b", "1:1b"), ("0xb", "1:b"), ("1b", "1:1b"), ("b", "1:b")] {
        let text = format!("qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default {shown}\n{classes}");
        assert_eq!(class(&text)["name"], json!(name), "{shown}");
    }
    let json = r#"[{"kind":"htb","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"r2q":10,"default":"0x1b"}}]"#;
    assert_eq!(class(&format!("{json}\n{classes}"))["name"], json!("1:1b"));
}

#[test]
fn the_line_of_a_device_is_assumed_to_be_as_fast_as_its_shaper() {
    let htb = "tc qdisc add dev eth0 root handle 1: htb default 1\n\
               tc class add dev eth0 parent 1: classid 1:1 htb rate 3gbit\n";
    for (text, bandwidth, line) in [
        ("tc qdisc add dev eth0 root tbf rate 9mbit burst 15k latency 50ms", Some("9Mb/s"), "1Gb/s"),
        ("tc qdisc add dev eth0 root cake bandwidth 9mbit", Some("9Mb/s"), "1Gb/s"),
        ("tc qdisc add dev eth0 root cake bandwidth 30gbit", Some("30Gb/s"), "40Gb/s"),
        ("tc qdisc add dev eth0 root pfifo", None, "1Gb/s"),
        (htb, Some("3Gb/s"), "10Gb/s"),
    ] {
        let port = port(text);
        let rates = [port.bandwidth, port.assumed_rate].map(|rate| rate.map(|rate| rate.to_string()));
        assert_eq!(rates, [bandwidth.map(str::to_owned), Some(line.to_owned())], "{text}");
        assert_eq!(port.wire.rate, None, "{text}");
    }
}

#[test]
fn a_default_that_holds_no_queue_is_named() {
    let classes = "tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit\n\
                   tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit\n";
    for (default, why) in [
        ("", "have no class"),
        ("default 99", "`default`, 1:99, is not there"),
        ("default 1", "`default`, 1:1, has classes inside"),
    ] {
        let (told, _) = read(&format!("tc qdisc add dev eth0 root handle 1: htb {default}\n{classes}"));
        let found = told.diagnostics.iter().find(|one| one.rule.id == "tc-unclassified-direct");
        assert!(found.is_some_and(|one| one.message.ends_with(why)), "{default}: {:?}", told.diagnostics);
    }
    let (told, _) = read(&format!("tc qdisc add dev eth0 root handle 1: htb default 10\n{classes}"));
    assert_eq!(told.diagnostics, []);
    let (told, _) = read(
        "tc qdisc add dev eth0 root handle 1: hfsc default 7\n\
         tc class add dev eth0 parent 1: classid 1:10 hfsc sc rate 5mbit\n\
         tc filter add dev eth0 parent 1: protocol ip flower ip_proto udp classid 1:10\n",
    );
    assert!(told.diagnostics[0].message.ends_with("`default`, 1:7, is not there"), "{:?}", told.diagnostics);
}

/// The class of filters before and behind another's: the packets of the last one are gone.
#[test]
fn filters_that_others_cover_leave_the_rest_of_a_policy_as_it_is() {
    let classes = "tc qdisc add dev eth0 root handle 1: htb default 4\n\
                   tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit\n\
                   tc class add dev eth0 parent 1: classid 1:2 htb rate 5mbit\n\
                   tc class add dev eth0 parent 1: classid 1:4 htb rate 5mbit\n";
    let filter = |pref: u32, tos: u32, class: u32| {
        format!(
            "tc filter add dev eth0 parent 1: protocol all pref {pref} u32 match ip tos {tos} 0xe0 flowid 1:{class}\n"
        )
    };
    let filters = [filter(1, 0, 1), filter(2, 32, 2), filter(3, 32, 1)].concat();
    let (told, router) = read(&format!("{classes}{filters}"));
    assert_eq!(told.differing().next(), None);
    let classes = &router.ports[0].output.queueing.as_ref().expect("a scheduler").classes;
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["1:1", "1:2", "1:4"]);
    let first = classes[0].matches.as_ref().and_then(|matches| matches.dscp.as_ref()).map(|all| all.0.len());
    assert_eq!(first, Some(8));
}
