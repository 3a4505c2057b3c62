//! Priority flow control in random networks: bytes are conserved, and sufficient headroom loses nothing.

use crate::simulation::{ONCE, count, numbers, simulate};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A chain of two switches with senders at the first and receivers at the second.
#[derive(Clone, Debug)]
struct Chain {
    /// By sender: megabits per second, bytes of its packets, the number of its receiver, and whether its
    /// class is paused.
    senders: Vec<(u64, u64, usize, bool)>,
    scheduler: &'static str,
    delay_ns: u64,
    trunk_gigabits: u64,
    xoff: u64,
    xon_percent: u64,
    headroom: Headroom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Headroom {
    Bytes(u64),
    /// The headroom has room for all packets that arrive before a pause has an effect.
    Enough,
}

const LONGEST: u64 = 1500;

impl Chain {
    /// The headroom, bytes: the bytes of 2 × delay, 84 bytes and 118 quanta at the largest rate, 40 Gb/s, and
    /// three packets.
    fn headroom(&self) -> u64 {
        match self.headroom {
            Headroom::Bytes(bytes) => bytes,
            Headroom::Enough => 5 * 2 * self.delay_ns + 84 + 118 * 64 + 3 * LONGEST + 1,
        }
    }

    fn scenario(&self) -> Value {
        let buffer = json!({"tail-drop": {"limit": "100MB"}});
        let memory = json!({
            "xoff": format!("{}B", self.xoff),
            "xon": format!("{}B", self.xoff * self.xon_percent / 100),
            "headroom": format!("{}B", self.headroom()),
        });
        let classes = |pause: Value| {
            json!({"queueing": {"scheduler": self.scheduler, "classes": [
                {"name": "paused", "match": {"dscp": ["cs3"]}, "buffer": buffer, "pause": pause},
                {"name": "rest", "buffer": buffer},
            ]}})
        };
        let link = |a: &str, b: &str, gigabits: u64, near: &str| {
            json!({
                "between": [a, b], "rate": format!("{gigabits}Gb/s"), "delay": format!("{}ns", self.delay_ns),
                "interfaces": {a: {"output": near}, b: {"output": "switch"}},
            })
        };
        let mut links = vec![link("first", "second", self.trunk_gigabits, "switch")];
        let (mut hosts, mut traffic) = (json!({}), Vec::new());
        for receiver in ["r0", "r1"] {
            hosts[receiver] = json!({});
            links.push(link(receiver, "second", 10, "host"));
        }
        for (number, (megabits, bytes, receiver, is_paused)) in self.senders.iter().enumerate() {
            let name = format!("s{number}");
            hosts[&name] = json!({});
            links.push(link(&name, "first", 10, "host"));
            let source = json!({"poisson": {
                "rate": format!("{megabits}Mb/s"), "packet": {"ip": format!("{bytes}B")},
            }});
            traffic.push(json!({
                "name": name, "from": name, "to": format!("r{receiver}"), "source": source,
                "dscp": if *is_paused { "cs3" } else { "default" },
            }));
        }
        json!({
            "perhop": 1, "name": "chain", "duration": "300us", "measure": {"warmup": "20us"},
            "hosts": hosts, "routers": {"first": {}, "second": {}}, "links": links, "traffic": traffic,
            "policies": {
                "switch": classes(json!({"priority": 3, "buffer": memory})),
                "host": classes(json!({"priority": 3})),
            },
        })
    }
}

fn chains() -> impl Strategy<Value = Chain> {
    let sender = (1_000u64..12_000, 64u64..=LONGEST, 0usize..2, prop::bool::weighted(0.8));
    (
        prop::collection::vec(sender, 2..5),
        prop::sample::select(vec!["drr", "wrr", "priority", "scfq"]),
        0u64..3_000,
        prop::sample::select(vec![10u64, 25, 40]),
        1_500u64..60_000,
        0u64..=100,
        prop_oneof![Just(Headroom::Enough), (0u64..8_000).prop_map(Headroom::Bytes)],
    )
        .prop_map(|(senders, scheduler, delay_ns, trunk_gigabits, xoff, xon_percent, headroom)| Chain {
            senders,
            scheduler,
            delay_ns,
            trunk_gigabits,
            xoff,
            xon_percent,
            headroom,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// At the end of each run, the engine asserts that the used bytes of every memory equal the bytes of the
    /// waiting packets, and that the offered packets are delivered, dropped or in the network.
    #[test]
    fn bytes_are_conserved_and_enough_headroom_loses_nothing(chain in chains()) {
        let results = simulate(&chain.scenario(), ONCE);
        let table = results.table("pauses").unwrap();
        let (paused, longest) = (numbers(table, "paused_s"), numbers(table, "longest_s"));
        for (row, most) in numbers(table, "most_bytes").into_iter().enumerate() {
            prop_assert!(paused[row] <= 280e-6 && longest[row] <= paused[row]);
            prop_assert!(most as u64 <= chain.xoff + chain.headroom());
        }
        let dropped = count(&results, "ports", "dropped_headroom");
        prop_assert_eq!(count(&results, "ports", "dropped_packets"), dropped, "no other cause");
        if chain.headroom == Headroom::Enough {
            prop_assert_eq!(dropped, 0);
        }
        prop_assert!(numbers(table, "deadlocked_s").iter().all(|time| time.is_nan()), "a chain has no cycle");
    }
}
