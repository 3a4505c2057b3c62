//! Trees of classes: their rates, their depth, and the filters that select them.

use perhop_lint::LineState;
use serde_json::json;

use crate::read::{output, read};

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
    let (read_back, _) = read("tc qdisc add dev eth0 root handle 1: prio");
    let rules: Vec<&str> = read_back.diagnostics.iter().map(|diagnostic| diagnostic.rule.id).collect();
    // The codepoint 45 also ends in 101.
    assert_eq!(rules, ["nqb-may-get-priority", "tc-priority-by-tos"]);
}

#[test]
fn the_first_filter_in_order_decides() {
    // EF to port 5000 is voice, although the class of all EF has a lower number.
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
    // The class of 10/8 excludes EF, because the class of EF comes later here and would lose its packets.
    assert_eq!(
        any[1],
        json!({"all": [{"source": "10.0.0.0/8"}, {"not": {"dscp": "ef", "source": "0.0.0.0/0"}}]})
    );
    assert_eq!(classes[1]["match"], json!({"dscp": "ef", "source": "0.0.0.0/0"}));
    assert_eq!(classes[1]["share"]["quantum"], "3kB");
    assert_eq!(classes[0]["share"]["quantum"], "1514B");
    let (read_back, _) = read(text);
    assert_eq!(read_back.diagnostics[0].rule.id, "tc-unclassified-dropped");
}

#[test]
fn service_curves_are_a_tree() {
    let text = "tc qdisc add dev eth0 root handle 1: hfsc default 20\n\
                tc class add dev eth0 parent 1: classid 1:1 hfsc ls m2 10mbit ul m2 10mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:10 hfsc rt umax 1500b dmax 10ms rate 800kbit ls m2 2mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:20 hfsc sc m2 8mbit\n\
                tc qdisc add dev eth0 parent 1:20 fq_codel\n\
                tc filter add dev eth0 parent 1: protocol all pref 1 u32 match u32 0 0 police rate 1mbit burst 9k drop\n";
    let (read_back, router) = read(text);
    let root = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    let outer = &root["classes"][0];
    assert_eq!(outer["share"], json!({"link-share": {"m2": "10Mb/s"}, "upper-limit": {"m2": "10Mb/s"}}));
    // No filter selects 1:10, so the class never has a packet.
    assert_eq!(outer["queueing"]["classes"].as_array().map(Vec::len), Some(1));
    assert_eq!(outer["queueing"]["classes"][0]["share"]["real-time"], json!({"m2": "8Mb/s"}));
    assert_eq!(read_back.lines[5].state, LineState::Suspicious);
    let with = text
        .replace("match u32 0 0 police rate 1mbit burst 9k drop", "match ip dsfield 0xb8 0xfc flowid 1:10");
    let (_, router) = read(&with.replace("protocol all", "protocol ip"));
    let root = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    let inner = &root["classes"][0]["queueing"]["classes"];
    // 1500 bytes in 10 ms are 1.2 Mb/s, more than the rate, so the curve is concave.
    assert_eq!(inner[0]["share"]["real-time"], json!({"m1": "1200kb/s", "d": "10ms", "m2": "800kb/s"}));
    assert_eq!(inner[0]["match"]["dscp"], "ef");
    assert!(inner[1]["match"].is_null() && root["classes"][0]["match"].is_null());
}

#[test]
fn htb_is_a_tree_of_rates() {
    let text = "tc qdisc add dev eth0 root handle 1: htb default 30 r2q 20\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 15k prio 3\n\
                tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 10mbit prio 1 quantum 3000\n\
                tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit mtu 1514 overhead 4 linklayer atm\n\
                tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel\n\
                tc filter add dev eth0 parent 1: protocol all pref 1 handle 7 fw classid 1:10\n\
                tc qdisc add dev eth0 clsact\n\
                tc filter add dev eth0 egress protocol ip pref 1 flower ip_proto udp action skbedit mark 7\n";
    let (read_back, router) = read(text);
    assert_eq!(read_back.differing().next(), None);
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
    let (read_back, router) = read(&text.replace("default 30", "default 1"));
    assert_eq!(read_back.diagnostics[0].rule.id, "tc-unclassified-direct");
    let queueing = serde_json::to_value(&router.ports[0].output.queueing).expect("serializable");
    assert_eq!(queueing["classes"][1]["share"], json!({"direct": true}));
}

/// `prio` in `prio`, `levels` deep.
fn nested(levels: usize) -> String {
    let inner = |n: usize| format!("tc qdisc add dev eth0 parent {n:x}:1 handle {:x}: prio\n", n + 1);
    "tc qdisc add dev eth0 root handle 1: prio\n".to_owned() + &(1..levels).map(inner).collect::<String>()
}

#[test]
fn disciplines_nest_up_to_a_limit() {
    for (levels, is_refused) in [(31, false), (32, true), (2_500, true)] {
        let (configuration, router) = read(&nested(levels));
        let lines = configuration.lines.iter().filter(|line| {
            let words = "queueing disciplines and classes are nested more than 31 levels deep";
            line.note.as_ref().is_some_and(|note| note.contains(words))
        });
        let lines: Vec<usize> = lines.map(|line| line.number).collect();
        assert_eq!(lines, if is_refused { vec![32] } else { vec![] }, "{levels} levels");
        let text = serde_json::to_string(&router.ports[0].output).expect("serializable");
        assert_eq!(text.matches("\"priority\"").count(), levels.min(31), "{levels} levels");
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
fn a_default_class_without_a_queue_is_reported() {
    let classes = "tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit\n\
                   tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit\n";
    for (default, why) in [
        ("", "have no class"),
        ("default 99", "`default` is 1:99, which does not exist"),
        ("default 1", "`default` is 1:1, which has child classes"),
    ] {
        let (read_back, _) = read(&format!("tc qdisc add dev eth0 root handle 1: htb {default}\n{classes}"));
        let found =
            read_back.diagnostics.iter().find(|diagnostic| diagnostic.rule.id == "tc-unclassified-direct");
        assert!(
            found.is_some_and(|finding| finding.message.ends_with(why)),
            "{default}: {:?}",
            read_back.diagnostics
        );
    }
    let (read_back, _) = read(&format!("tc qdisc add dev eth0 root handle 1: htb default 10\n{classes}"));
    assert_eq!(read_back.diagnostics, []);
    let (read_back, _) = read(
        "tc qdisc add dev eth0 root handle 1: hfsc default 7\n\
         tc class add dev eth0 parent 1: classid 1:10 hfsc sc rate 5mbit\n\
         tc filter add dev eth0 parent 1: protocol ip flower ip_proto udp classid 1:10\n",
    );
    assert!(
        read_back.diagnostics[0].message.ends_with("`default` is 1:7, which does not exist"),
        "{:?}",
        read_back.diagnostics
    );
}

/// Earlier filters match all packets of the last filter, whose class also has other filters.
#[test]
fn covered_filters_do_not_change_a_policy() {
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
    let (read_back, router) = read(&format!("{classes}{filters}"));
    assert_eq!(read_back.differing().next(), None);
    let classes = &router.ports[0].output.queueing.as_ref().expect("a scheduler").classes;
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["1:1", "1:2", "1:4"]);
    let first = classes[0].matches.as_ref().and_then(|matches| matches.dscp.as_ref()).map(|all| all.0.len());
    assert_eq!(first, Some(8));
}
