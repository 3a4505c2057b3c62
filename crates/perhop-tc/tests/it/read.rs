//! The policies from commands and output, and the state of every line.

use perhop_device::{Port, Router};
use perhop_lint::{LineState, Severity};
use perhop_tc::{Configuration, convert, parse};
use serde_json::{Value, json};

pub(crate) fn read(text: &str) -> (Configuration, Router) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration);
    (configuration, router)
}

fn port(text: &str) -> Port {
    let (_, router) = read(text);
    assert_eq!(router.ports.len(), 1, "{text}");
    router.ports.into_iter().next().expect("a port")
}

pub(crate) fn output(text: &str) -> Value {
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
fn omitted_options_have_the_defaults_of_the_kernel() {
    let buffer = |text: &str| class(&format!("tc qdisc add dev eth0 root {text}"))["buffer"].clone();
    assert_eq!(buffer("pfifo"), json!({"tail-drop": {"limit": "1000 packets"}}));
    // Linux prints the same number: `qdisc bfifo 1: root refcnt 3 limit 1514000b`.
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
fn red_parameters_follow_the_arithmetic_of_tc() {
    // tc prints `ewma 5` for these options; tests/test_convert_tc.py has an independent implementation of the
    // formula.
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
fn output_and_commands_give_the_same_policies() {
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
    let [(commanded, by_commands), (printed, by_output)] = [read(commands), read(shown)];
    for configuration in [&commanded, &printed] {
        assert_eq!(configuration.differing().next(), None);
    }
    let ports = |router: &Router| serde_json::to_value(&router.ports).expect("serializable");
    assert_eq!(ports(&by_commands)[0]["output"], ports(&by_output)[0]["output"]);
    let counters = printed.lines.iter().filter(|line| line.state == LineState::Irrelevant).count();
    assert_eq!(counters, 6, "{:?}", printed.lines);
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
    // Arriving packets count by the IP packet.
    assert!(found["overhead"].is_null());
}

#[test]
fn shell_syntax_around_commands_is_read() {
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
fn a_class_of_a_refused_discipline_names_the_refused_line() {
    let prio = "tc qdisc add dev eth0 root handle 1: prio bands 3 priomap 0 1 2 9";
    let messages = |last: &str| {
        let (configuration, _) = read(&format!("{prio}\n{last}\n"));
        let found = configuration.diagnostics.iter().filter(|diagnostic| diagnostic.line == 2);
        found.map(|diagnostic| diagnostic.message.clone()).collect::<Vec<_>>()
    };
    let reason = "eth0 has no qdisc 1: (line 1 does not add it)";
    let class = messages("tc qdisc add dev eth0 parent 1:2 handle 20: pfifo");
    assert_eq!(class, [format!("eth0 has no class 1:2, because {reason}")]);
    let filter = messages("tc filter add dev eth0 parent 1: matchall classid 1:1");
    assert_eq!(filter, [format!("{reason} for the filter")]);
}

#[test]
fn refused_commands_name_the_valid_form() {
    let cases = [
        ("tc qdisc add dev eth0 root fq_codel limits 100", "did you mean `limit`?"),
        ("tc qdisc add dev eth0 root tbf rate 10mb burst 1k limit 2k", "write a rate"),
        ("tc qdisc add dev eth0 root tbf rate 10mbit limit 2k", "tbf must have `burst`"),
        (
            "tc qdisc change dev eth0 root pfifo limit 3",
            "eth0 has no qdisc at root that `change` could change",
        ),
        ("tc qdisc add dev eth0 parent 1:1 pfifo", "eth0 has no class 1:1, because eth0 has no qdisc 1:"),
        ("tc qdisc ad dev eth0 root pfifo limit 1p", "write a size"),
        ("tc qdsic add dev eth0 root pfifo", "did you mean `qdisc`?"),
        ("tc class add dev eth0 parent 1: classid 1:1 drr", "eth0 has no qdisc 1:"),
        ("tc qdisc add dev eth0 root tbf rate 10mbit burst 2k", "tbf must have `limit` or `latency`"),
        (
            "tc qdisc add dev eth0 root pfifo\ntc qdisc add dev eth0 root bfifo",
            "there is already pfifo of line 1",
        ),
    ];
    for (text, expected) in cases {
        let (configuration, _) = read(text);
        let found =
            configuration.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        let message = found.map_or_else(String::new, |found| found.message.clone());
        assert!(message.contains(expected), "{text}: {message}");
    }
    let (unknown, _) = read("tc qdisc add dev eth0 root fq_codell");
    assert_eq!(unknown.lines[0].state, LineState::NotRecognized);
    assert!(unknown.lines[0].note.as_ref().is_some_and(|note| note.contains("did you mean `fq_codel`?")));
}

#[test]
fn later_commands_undo_earlier_ones() {
    let (configuration, router) = read(
        "tc qdisc add dev eth0 root handle 1: prio\ntc qdisc add dev eth0 parent 1:1 pfifo limit 3\n\
         tc qdisc replace dev eth0 root fq_codel\ntc qdisc change dev eth0 root fq_codel limit 77\n",
    );
    assert_eq!(configuration.lines[1].note.as_deref(), Some("line 3 undoes this line"));
    let output = serde_json::to_value(&router.ports[0].output).expect("serializable");
    assert_eq!(output["queueing"]["classes"][0]["buffer"]["fq-codel"]["limit"], "77 packets");
}

#[test]
fn a_rate_in_bytes_suggests_bits() {
    let (configuration, router) = read("tc qdisc add dev eth0 root tbf rate 10mbps burst 15k latency 50ms");
    let found = &configuration.diagnostics[0];
    assert_eq!(found.rule.id, "tc-rate-in-bytes");
    assert_eq!(found.fix, None, "a rate in bytes is valid, so only the author knows the intention");
    assert!(found.router.ends_with("; did you mean `10mbit`?"), "{}", found.router);
    assert_eq!(first(&router)["shape"]["rate"], "80Mb/s");
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
fn cake_is_the_whole_port() {
    let cake =
        |text: &str| class(&format!("tc qdisc add dev eth0 root cake {text}"))["buffer"]["cake"].clone();
    assert_eq!(
        cake("bandwidth 10mbit diffserv4 dual-srchost rtt 50ms wash ethernet ether-vlan memlimit 1m"),
        json!({
            "bandwidth": "10Mb/s", "tins": "diffserv4", "isolation": "dual-srchost", "rtt": "50ms", "overhead": 42,
            "mpu": 84, "cells": "none", "memory-limit": "1MiB", "wash": true,
        })
    );
    // Without options cake counts the frame, and `show` prints `raw overhead 0`.
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
    let (configuration, _) = read("tc qdisc add dev eth0 root cake bandwidth 10mbit autorate-ingress");
    assert_eq!(configuration.lines[0].state, LineState::NotModelled);
    assert!(configuration.lines[0].note.as_ref().is_some_and(|note| note.contains("autorate-ingress")));
    let (configuration, _) = read(
        "tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 15k latency 50ms\n\
         tc qdisc add dev eth0 parent 1:1 cake",
    );
    assert_eq!(configuration.lines[1].state, LineState::NotModelled);
    let shown = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3 triple-isolate nonat nowash \
                 no-ack-filter split-gso rtt 100ms raw overhead 0 \n";
    let (configuration, router) = read(shown);
    assert_eq!(configuration.differing().next(), None);
    assert_eq!(first(&router)["buffer"]["cake"]["bandwidth"], "10Mb/s");
    let (configuration, router) = read(&shown.replace("10Mbit", "unlimited"));
    assert_eq!(configuration.differing().next(), None, "{:?}", configuration.diagnostics);
    assert!(first(&router)["buffer"]["cake"]["bandwidth"].is_null());
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
fn the_line_rate_defaults_to_the_shaper_rate() {
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
fn commands_that_affect_packets_and_are_not_read_are_named() {
    use LineState::{Irrelevant, Modelled, NotModelled};
    for (line, state) in [
        ("ip route add default via 192.0.2.2", NotModelled),
        ("ip r replace 10.0.0.0/8 dev eth1", NotModelled),
        ("ip -6 route del default", NotModelled),
        ("ip rule add fwmark 3 table 10", NotModelled),
        ("ip route show", Irrelevant),
        ("ip addr add 192.0.2.1/24 dev eth0", Irrelevant),
        ("ip link set eth0 up", Irrelevant),
        ("ip link set eth0 txqueuelen 100", Modelled),
        ("ethtool -K eth0 tso off", NotModelled),
        ("ethtool -s eth0 speed 100 duplex full", NotModelled),
        ("ethtool -S eth0", Irrelevant),
        ("echo fq_codel > /proc/sys/net/core/default_qdisc", NotModelled),
        ("echo 2 >/sys/class/net/eth0/tx_queue_len", NotModelled),
        ("echo done", Irrelevant),
        (". /etc/qos.conf", NotModelled),
        ("source ./rates.sh", NotModelled),
    ] {
        let text = format!("{line}\ntc qdisc add dev eth0 root pfifo\n");
        assert_eq!(read(&text).0.lines[0].state, state, "{line}");
    }
}
