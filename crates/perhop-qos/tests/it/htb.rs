//! HTB compared packet by packet with a plain model of the rules in Linux. Also tests the properties that
//! users expect: ceilings, guaranteed rates, and excess that is divided by quanta at the highest priority.

use crate::plain::htb::{Next, Plain};
use crate::wire::{Arrival, Departure, send};
use perhop_qos::Port;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A packet that was sent: its queue, length and start.
type Sent = (usize, u32, Time);

/// The packets of `arrivals` that the plain model sends on a wire of `rate`.
fn plainly(config: &QueueingConfig, rate: Rate, arrivals: &[Arrival]) -> Vec<Sent> {
    let (mut plain, mut sent) = (Plain::new(config), Vec::new());
    let (mut now, mut next, mut free_at) = (Time::ZERO, 0, Time::ZERO);
    while now < Time::MAX {
        while let Some(arrival) = arrivals.get(next).filter(|arrival| arrival.at <= now) {
            plain.arrive(arrival.queue, arrival.length);
            next += 1;
        }
        let mut wake = free_at;
        if now >= free_at {
            wake = match plain.next((now.as_picoseconds() / 1000).cast_signed()) {
                Next::Sent(queue, length) => {
                    sent.push((queue, length, now));
                    free_at = now + rate.transmission_time(length.into());
                    free_at
                }
                Next::Wait(until) => Time::from_nanoseconds(until as u64),
                Next::Idle => Time::MAX,
            };
        }
        now = wake.min(arrivals.get(next).map_or(Time::MAX, |arrival| arrival.at));
    }
    sent
}

fn build(policy: Value) -> QueueingConfig {
    serde_json::from_value(policy).unwrap()
}

/// A share with rates from 80 kb/s to 8 Mb/s, and with most of the optional keys.
fn share(is_leaf: bool) -> impl Strategy<Value = Value> {
    let rates = (10u64..1000, 0u64..3000, prop::sample::select(vec![0u64, 1, 300, 1600, 5000]));
    let turns = (0u8..3, prop::option::of(50u32..3000), 0u16..50, 0u16..300, any::<bool>());
    (rates, turns).prop_map(move |((rate, more, burst), (level, quantum, overhead, mpu, is_atm))| {
        let cells = if is_atm { "atm" } else { "none" };
        let mut share = json!({
            "rate": format!("{}b/s", rate * 8000 + 7),
            "ceil": format!("{}kb/s", (rate + more) * 8),
            "burst": format!("{burst}B"),
            "link-layer": {"overhead": overhead, "mpu": mpu, "cells": cells},
        });
        if more % 2 == 0 {
            share["ceil-burst"] = json!(format!("{}B", burst + more));
        }
        if is_leaf {
            share["level"] = json!(level);
            if let Some(quantum) = quantum {
                share["quantum"] = json!(format!("{quantum}B"));
            }
        }
        share
    })
}

fn queueing(classes: Vec<(Value, Option<Value>)>) -> Value {
    let class = |(share, inner): (Value, Option<Value>)| {
        let mut class = json!({"name": "c", "share": share});
        if let Some(inner) = inner {
            class["queueing"] = inner;
        }
        class
    };
    json!({"scheduler": "htb", "classes": classes.into_iter().map(class).collect::<Vec<_>>()})
}

/// Policies of up to three levels with up to four classes each. Some have a direct class.
fn policies() -> impl Strategy<Value = QueueingConfig> {
    let leaf = || share(true).prop_map(|share| (share, None)).boxed();
    let level = move |below: BoxedStrategy<Value>| {
        let inner = (share(false), below).prop_map(|(share, inner)| (share, Some(inner))).boxed();
        prop::collection::vec(prop_oneof![leaf(), inner], 1..5).prop_map(queueing).boxed()
    };
    let leaves = prop::collection::vec(share(true).prop_map(|share| (share, None)), 1..5).prop_map(queueing);
    (level(level(leaves.boxed())), any::<bool>()).prop_map(|(mut policy, has_direct)| {
        if has_direct {
            policy["classes"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({"name": "d", "share": {"direct": true}}));
        }
        build(policy)
    })
}

proptest! {
    /// In perhop, times can be any number of picoseconds. The kernel uses whole nanoseconds.
    #[test]
    fn every_packet_leaves_by_the_rules(
        config in policies(),
        megabits in prop::sample::select(vec![1u64, 8, 100]),
        steps in prop::collection::vec((0u64..3_000_000_000, 0usize..64, 40u32..1500, 0u8..4), 1..120),
    ) {
        let queues = config.queue_names().len();
        let mut at = Time::ZERO;
        let arrivals: Vec<Arrival> = steps.into_iter().map(|(gap, queue, length, together)| {
            at += Time::from_picoseconds(if together > 0 { 0 } else { gap });
            Arrival { at, queue: queue % queues, length }
        }).collect();
        let rate = Rate::from_bits_per_second(megabits * 1_000_000);
        let sent: Vec<Sent> =
            send(&config, rate, &arrivals).iter().map(|d| (d.queue, d.length, d.starts)).collect();
        prop_assert_eq!(sent, plainly(&config, rate, &arrivals));
    }
}

const LINK: Rate = Rate::from_bits_per_second(100_000_000);
const LENGTH: u32 = 1000;

/// The bits per second that each class sends between the first and the third second. Each class is offered
/// its entry of `offered`, in bits per second, evenly for three seconds.
fn rates(policy: Value, offered: &[u64]) -> Vec<f64> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    for (queue, rate) in offered.iter().copied().enumerate().filter(|(_, rate)| *rate > 0) {
        let gap = Rate::from_bits_per_second(rate).transmission_time(LENGTH.into()).as_picoseconds();
        let count = 3_000_000_000_000 / gap;
        let at = |number: u64| Time::from_picoseconds(number * gap);
        arrivals.extend((0..count).map(|number| Arrival { at: at(number), queue, length: LENGTH }));
    }
    arrivals.sort_by_key(|arrival| (arrival.at, arrival.queue));
    let departures = send(&build(policy), LINK, &arrivals);
    let is_counted = |d: &&Departure| (1.0..3.0).contains(&d.starts.as_seconds());
    let bits = |queue| {
        let of_queue = departures.iter().filter(is_counted).filter(|d| d.queue == queue);
        of_queue.map(|d| f64::from(8 * d.length)).sum::<f64>() / 2.0
    };
    (0..offered.len()).map(bits).collect()
}

fn near(found: &[f64], expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} instead of {expected}");
    }
}

/// The configuration of `classes` inside a class with a rate of 8 Mb/s.
fn shared(classes: &[Value]) -> Value {
    let named = |share: &Value| json!({"name": "c", "share": share});
    let inside = json!({"scheduler": "htb", "classes": classes.iter().map(named).collect::<Vec<_>>()});
    json!({"scheduler": "htb", "classes": [{"name": "link", "share": {"rate": "8Mb/s"}, "queueing": inside}]})
}

#[test]
fn a_class_alone_gets_its_ceiling() {
    let class = |ceil: &str| json!({"rate": "1Mb/s", "ceil": ceil});
    near(&rates(shared(&[class("5Mb/s"), class("8Mb/s")]), &[10_000_000, 0]), &[5e6]);
    near(&rates(shared(&[class("20Mb/s"), class("8Mb/s")]), &[30_000_000, 0]), &[8e6]);
}

#[test]
fn every_class_gets_its_guarantee() {
    let class = |rate: &str, level: u8| json!({"rate": rate, "ceil": "8Mb/s", "level": level});
    let classes = [class("1Mb/s", 0), class("2Mb/s", 3), class("5Mb/s", 7)];
    near(&rates(shared(&classes), &[9_000_000; 3]), &[1e6, 2e6, 5e6]);
    // The rate that the second class does not use is lent to the class of the highest priority.
    near(&rates(shared(&classes), &[9_000_000, 500_000, 9_000_000]), &[2.5e6, 0.5e6, 5e6]);
}

/// 4 Mb/s remain after the guaranteed rates. Two classes of the higher priority share them 2:1, and the third
/// class has only its rate.
#[test]
fn the_excess_is_divided_by_quanta_at_the_highest_priority() {
    let class = |level: u8, quantum: &str| json!({"rate": "1Mb/s", "ceil": "8Mb/s", "level": level, "quantum": quantum});
    let classes = [class(0, "6000B"), class(0, "3000B"), class(1, "60000B"), class(2, "60000B")];
    near(&rates(shared(&classes), &[9_000_000; 4]), &[1e6 + 4e6 * 2.0 / 3.0, 1e6 + 4e6 / 3.0, 1e6, 1e6]);
}

/// An agency lends to its own classes first. 3 of its 4 Mb/s remain in the agency, and 2 Mb/s of the link
/// remain for other classes.
#[test]
fn a_class_borrows_from_the_nearest_that_has_tokens() {
    let leaf = |rate: &str, ceil: &str| json!({"name": "c", "share": {"rate": rate, "ceil": ceil}});
    let agency = json!({
        "name": "agency",
        "share": {"rate": "4Mb/s", "ceil": "8Mb/s"},
        "queueing": {"scheduler": "htb", "classes": [leaf("1Mb/s", "4Mb/s"), leaf("500kb/s", "8Mb/s")]},
    });
    let inside = json!({"scheduler": "htb", "classes": [agency, leaf("2Mb/s", "8Mb/s")]});
    let policy = json!({"scheduler": "htb", "classes": [
        {"name": "link", "share": {"rate": "8Mb/s"}, "queueing": inside}]});
    // The second class of the agency sends nothing, so the first class has the full rate of the agency, which
    // is its ceiling.
    let found = rates(policy, &[9_000_000, 0, 9_000_000]);
    near(&[found[0], found[2]], &[4e6, 4e6]);
}

#[test]
fn quanta_follow_rates_within_bounds() {
    let spare = |divisor: u32, first: &str, second: &str| {
        let class = |rate: &str| json!({"rate": rate, "ceil": "50Mb/s"});
        let mut policy = shared(&[class(first), class(second)]);
        policy["classes"][0]["share"] = json!({"rate": "50Mb/s"});
        policy["rate-to-quantum"] = json!(divisor);
        let found = rates(policy, &[60_000_000; 2]);
        (found[0], found[1])
    };
    // The quanta of 1 Mb/s and 3 Mb/s are 12500 B and 37500 B. 46 Mb/s remain.
    let (first, other) = spare(10, "1Mb/s", "3Mb/s");
    near(&[first, other], &[1e6 + 46e6 / 4.0, 3e6 + 46e6 * 3.0 / 4.0]);
    // The quanta of 62 and 625 B are both raised to 1000 B.
    let (first, other) = spare(10_000, "5Mb/s", "50kb/s");
    near(&[first, other], &[5e6 + 44.95e6 / 2.0, 0.05e6 + 44.95e6 / 2.0]);
}

/// The key in the error message for a policy.
fn refused(policy: Value) -> String {
    let wire = WireConfig {
        rate: LINK,
        framing: Framing::EthernetHeader,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::Packets(1),
    };
    let error = Port::build(Some(&build(policy)), &wire, &[], &Streams::new(1, 0)).map(|_| ()).unwrap_err();
    assert!(error.help.is_some(), "{error}");
    error.path.last().cloned().unwrap_or_default()
}

#[test]
fn mistakes_are_named() {
    let htb = |classes: Value| json!({"scheduler": "htb", "classes": classes});
    let with_share = |share: Value| htb(json!([{"name": "all", "share": share}]));
    assert_eq!(refused(with_share(json!({"rate": "1Mb/s", "direct": true}))), "direct");
    assert_eq!(refused(with_share(json!({"rate": "1Mb/s", "level": 8}))), "level");
    assert_eq!(refused(with_share(json!({"rate": "1Mb/s", "quantum": "0B"}))), "quantum");
    let direct = |name: &str| json!({"name": name, "share": {"direct": true}, "match": {"dscp": [name]}});
    assert_eq!(refused(htb(json!([direct("ef"), direct("cs6")]))), "direct");
    let inside = |inner: Value| json!({"name": "outer", "share": {"rate": "1Mb/s"}, "queueing": inner});
    let leaf = json!([{"name": "inner", "share": {"rate": "1Mb/s"}}]);
    let with = |key: &str, value: Value| {
        let mut outer = inside(htb(leaf.clone()));
        outer["share"][key] = value;
        htb(json!([outer]))
    };
    assert_eq!(refused(with("level", json!(1))), "level");
    assert_eq!(refused(with("quantum", json!("1514B"))), "quantum");
    let mut shaped = inside(htb(leaf.clone()));
    shaped["shape"] = json!({"rate": "1Mb/s", "burst": "1500B"});
    assert_eq!(refused(htb(json!([shaped]))), "shape");
    let mut divided = htb(leaf.clone());
    divided["rate-to-quantum"] = json!(10);
    assert_eq!(refused(htb(json!([inside(divided)]))), "rate-to-quantum");
    assert_eq!(refused(htb(json!([inside(htb(json!([direct("ef")])))]))), "direct");
    let mut nobody = htb(leaf);
    nobody["rate-to-quantum"] = json!(0);
    assert_eq!(refused(nobody), "rate-to-quantum");
}
