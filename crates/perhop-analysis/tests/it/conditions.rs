//! Compares sets of packets with the classifier of the data plane, which checks one packet at a time.

use std::net::IpAddr;

use perhop_analysis::{Field, PacketSpace, Set, classes_of};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::packet::{Address, InterfaceId, LinkMark, Protocol};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::port::PortClassifier;
use perhop_qos::queue::QueueId;
use perhop_qos::{Color, Dscp, Packet};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::{collection, option};
use serde_json::json;

const INTERFACES: [&str; 3] = ["a", "b", "c"];
const PREFIXES: [&str; 6] = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "0.0.0.0/0", "2001:db8::/32", "::/0"];
const ADDRESSES: [&str; 6] = ["10.1.2.3", "10.1.2.4", "10.2.0.1", "192.0.2.1", "2001:db8::1", "2001:db9::1"];
const PORTS: [&str; 4] = ["80", "0-79", "81-65535", "70-90"];

fn interfaces() -> Vec<String> {
    INTERFACES.map(str::to_owned).to_vec()
}

fn some<T: Clone + std::fmt::Debug + 'static>(values: Vec<T>) -> impl Strategy<Value = Option<OneOrMany<T>>> {
    option::weighted(0.25, collection::vec(select(values), 1..3).prop_map(OneOrMany))
}
fn parsed<T: std::str::FromStr>(texts: &[&str]) -> Vec<T>
where
    T::Err: std::fmt::Debug,
{
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn leaf() -> impl Strategy<Value = MatchConfig> {
    let addresses = (some(parsed(&PREFIXES)), some(parsed(&PREFIXES)));
    let ports = (some(parsed(&PORTS)), some(parsed(&PORTS)));
    let header = (
        some(parsed::<Dscp>(&["ef", "default", "af11"])),
        some(parsed(&["5", "0"])),
        some(vec![Protocol::TCP, Protocol::UDP, Protocol::ICMP]),
        some(parsed(&["64", "20-100", "101-1500"])),
    );
    let marks = (
        some(vec![Color::GREEN, Color::RED]),
        some(vec![0u8, 7]),
        some(parsed::<LinkMark>(&["5", "0"])),
        some(parsed::<LinkMark>(&["5", "0"])),
        some(INTERFACES.map(str::to_owned).to_vec()),
    );
    (addresses, ports, header, marks).prop_map(
        |((source, destination), (source_port, destination_port), header, marks)| {
            let (dscp, precedence, protocol, length) = header;
            let (color, label, cos, mpls_exp, input) = marks;
            MatchConfig {
                source,
                destination,
                source_port,
                destination_port,
                dscp,
                precedence,
                protocol,
                length,
                color,
                label,
                cos,
                mpls_exp,
                input,
                ..MatchConfig::default()
            }
        },
    )
}
fn condition() -> impl Strategy<Value = MatchConfig> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        (leaf(), collection::vec(inner, 1..3), 0..3).prop_map(|(own, mut inner, kind)| match kind {
            0 => MatchConfig { all: Some(inner), ..own },
            1 => MatchConfig { any: Some(inner), ..own },
            _ => MatchConfig { not: inner.pop().map(Box::new), ..own },
        })
    })
}

prop_compose! {
    fn packet()(
        pair in select(vec![(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 4), (0, 0)]),
        protocol in select(vec![Protocol::TCP, Protocol::UDP, Protocol::ICMP]),
        ports in (select(vec![0u16, 75, 80, 85, 443]), select(vec![0u16, 75, 80, 85, 443])),
        dscp in select(vec!["ef", "default", "af11", "cs5"]),
        length in select(vec![40u32, 64, 100, 101, 1500]),
        input in 0u16..3, color in 0usize..3, label in select(vec![0u8, 7, 9]),
        cos in option::of(select(vec![0u8, 3, 5])), exp in option::of(select(vec![0u8, 3, 5])),
    ) -> Packet {
        let address = |index: usize| Address::from(ADDRESSES[index].parse::<IpAddr>().unwrap());
        let has_ports = protocol != Protocol::ICMP;
        let mut packet = Packet {
            source: address(pair.0), destination: address(pair.1), protocol, length, label,
            source_port: if has_ports { ports.0 } else { 0 },
            destination_port: if has_ports { ports.1 } else { 0 },
            dscp: dscp.parse().unwrap(), input: InterfaceId(input).into(), color: Color::new(color),
            ..Packet::default()
        };
        if let Some(cos) = cos { packet.set_cos(LinkMark::new(cos).unwrap()); }
        if let Some(exp) = exp { packet.set_exp(LinkMark::new(exp).unwrap()); }
        packet
    }
}

proptest! {
    #[test]
    fn a_set_contains_the_packets_that_match_the_condition(
        condition in condition(),
        packets in collection::vec(packet(), 50),
    ) {
        let mut space = PacketSpace::new(&interfaces());
        let set = space.taken_by(&condition).unwrap();
        // The data plane rejects conditions that cannot match. The set is then empty, or an error with a
        // reason.
        let Ok(built) = condition.build(&interfaces()) else { return Ok(()) };
        for packet in packets {
            prop_assert_eq!(space.contains(set, &packet), built.matches(&packet), "{:?}", packet);
        }
        match space.witness(set).unwrap() {
            Some(witness) => {
                prop_assert!(built.matches(&witness.packet), "{witness}");
                prop_assert!(space.contains(set, &witness.packet), "{witness}");
            }
            None => prop_assert!(set == Set::NONE || space.witness(Set::ALL).unwrap().is_some()),
        }
    }

    #[test]
    fn boxes_are_disjoint_and_cover_the_set(condition in condition()) {
        let mut space = PacketSpace::new(&interfaces());
        let set = space.taken_by(&condition).unwrap();
        let Ok(boxes) = space.boxes(set, 2_000) else { return Ok(()) };
        let mut together = Set::NONE;
        for one in &boxes {
            let mut own = Set::ALL;
            for (field, ranges) in one.fields() {
                let made = ranges.iter().map(|range| space.within(field, *range.start(), *range.end()));
                let made = made.collect::<Result<_, _>>().unwrap();
                let any = space.any(made).unwrap();
                own = space.and(own, any).unwrap();
                prop_assert!(ranges.windows(2).all(|two| two[0].end() + 1 < *two[1].start()));
            }
            prop_assert_eq!(space.and(together, own).unwrap(), Set::NONE);
            together = space.or(together, own).unwrap();
        }
        prop_assert_eq!(together, set);
    }

    #[test]
    fn values_are_those_of_packets_in_the_set(condition in condition()) {
        let mut space = PacketSpace::new(&interfaces());
        let set = space.taken_by(&condition).unwrap();
        let values = space.values(set, Field::Dscp, 64).unwrap();
        for dscp in 0..64 {
            let is_there = space.given(set, &[(Field::Dscp, dscp)]).unwrap() != Set::NONE;
            prop_assert_eq!(values.iter().any(|range| range.contains(&dscp)), is_there, "{}", dscp);
        }
    }

    #[test]
    fn the_first_class_that_matches_takes_a_packet(
        conditions in collection::vec(condition(), 1..5),
        packets in collection::vec(packet(), 50),
    ) {
        let classes: Vec<_> = conditions.iter().enumerate()
            .map(|(index, condition)| json!({"name": index.to_string(), "match": condition})).collect();
        let queueing: QueueingConfig = serde_json::from_value(json!({
            "classes": [
                {"name": "inner", "match": {"dscp": ["ef", "default"]}, "queueing": {"classes": classes}},
                {"name": "rest", "match": {"not": {"dscp": 1}}},
            ],
        })).unwrap();
        let Ok(classifier) = PortClassifier::build(&queueing, &interfaces()) else { return Ok(()) };
        let mut space = PacketSpace::new(&interfaces());
        let found = classes_of(&mut space, &queueing, Set::ALL).unwrap();
        for packet in packets {
            let queue = found.iter().position(|class| space.contains(class.takes, &packet));
            prop_assert_eq!(queue, classifier.classify(&packet).map(QueueId::index), "{:?}", packet);
        }
        for (index, class) in found.iter().enumerate() {
            let Some(witness) = space.witness(class.takes).unwrap() else { continue };
            prop_assert_eq!(classifier.classify(&witness.packet).map(QueueId::index), Some(index), "{}", witness);
        }
    }
}

#[test]
fn a_witness_has_preferred_values_if_its_set_allows() {
    let witness = |condition: serde_json::Value| {
        let mut space = PacketSpace::new(&interfaces());
        let set = space.taken_by(&serde_json::from_value(condition).unwrap()).unwrap();
        space.witness(set).unwrap().map(|witness| witness.to_string())
    };
    for (condition, expected) in [
        (json!({}), Some("udp 192.0.2.1:50000 > 198.51.100.1:9 dscp default len 500 in a")),
        (
            json!({"protocol": "tcp", "destination-port": 443, "source": "10.1.0.0/16", "dscp": "ef"}),
            Some("tcp 10.1.0.0:50000 > 198.51.100.1:443 dscp ef len 500 in a"),
        ),
        (
            json!({"source": "2001:db8::/32", "cos": 5, "input": "c"}),
            Some("udp [2001:db8::1]:50000 > [2001:db8::2]:9 dscp default len 500 cos 5 in c"),
        ),
        (
            json!({"protocol": "icmp", "length": "20-40"}),
            Some("icmp 192.0.2.1 > 198.51.100.1 dscp default len 20 in a"),
        ),
        (json!({"protocol": "icmp", "destination-port": 80}), None),
        (json!({"all": [{"dscp": "ef"}, {"not": {"precedence": 5}}]}), None),
        (json!({"source": "2001:db8::/32", "destination": "10.0.0.0/8"}), None),
        (json!({"length": "0-19"}), None),
    ] {
        assert_eq!(witness(condition.clone()).as_deref(), expected, "{condition}");
    }
}

/// Fifty classes with 2,000 access-list entries stay below the limit of nodes.
#[test]
fn two_thousand_entries_of_fifty_classes_fit() {
    let mut state = 3u32;
    let mut draw = |below: u32| {
        // This is the linear congruential generator of Numerical Recipes.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let mut classes = Vec::new();
    for class in 0..50 {
        let mut entries = vec![json!({"dscp": class})];
        for _ in 0..40 {
            let port = 1024 + draw(59_000);
            entries.push(json!({
                "protocol": if draw(2) == 0 { "tcp" } else { "udp" },
                "source": format!("10.{}.{}.0/24", draw(256), draw(256)),
                "destination": format!("10.{}.0.0/16", draw(256)),
                "destination-port": format!("{port}-{}", port + draw(3000)),
            }));
        }
        classes.push(json!({"name": format!("c{class}"), "match": {"any": entries}}));
    }
    classes.push(json!({"name": "rest"}));
    let queueing: QueueingConfig = serde_json::from_value(json!({"classes": classes})).unwrap();
    let classifier = PortClassifier::build(&queueing, &interfaces()).unwrap();
    let mut space = PacketSpace::new(&interfaces());
    let found = classes_of(&mut space, &queueing, Set::ALL).unwrap();
    for (index, class) in found.iter().enumerate() {
        let witness = space.witness(class.takes).unwrap().unwrap();
        assert_eq!(classifier.classify(&witness.packet).map(QueueId::index), Some(index), "{witness}");
    }
}
