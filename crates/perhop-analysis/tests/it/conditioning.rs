//! Tests that sets of packets, which are computed backwards through conditioners, agree with the data plane.

use perhop_analysis::{PacketSpace, Set, arriving, before, classes_of, conditioned, departing, queue_of};
use perhop_qos::conditioner::{ConditionerConfig, TrafficConditioner};
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId, Protocol};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::random::Streams;
use perhop_qos::{Color, Dscp, Packet, Time, Verdict};
use proptest::collection;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn interfaces() -> Vec<String> {
    vec!["a".to_owned(), "b".to_owned()]
}

fn conditions() -> impl Strategy<Value = Option<Value>> {
    select(vec![
        None,
        Some(json!({"dscp": ["ef", "af11"]})),
        Some(json!({"not": {"dscp": "af12"}})),
        Some(json!({"color": "red"})),
        Some(json!({"label": 3})),
        Some(json!({"precedence": 5})),
        Some(json!({"protocol": "udp", "destination-port": "16384-32767"})),
        Some(json!({"cos": [0, 5]})),
        Some(json!({"input": "a"})),
    ])
}
fn actions() -> impl Strategy<Value = Value> {
    let change = select(vec![
        json!({"mark": "ef"}),
        json!({"mark": "af12"}),
        json!({"mark-precedence": 5}),
        json!({"label": 3}),
        json!({"color": "red"}),
        json!({"mark-cos": 5}),
        json!({"copy": {"from": "precedence", "to": "cos"}}),
        json!({"copy": {"from": "cos", "to": "dscp", "map": {"5": "af12"}, "default": "ignore"}}),
        json!({"copy": {"from": "color", "to": "label"}}),
    ]);
    let end = select(vec![json!("transmit"), json!("continue"), json!("drop")]);
    (collection::vec(change, 0..3), end).prop_map(|(mut list, end)| {
        list.push(end);
        Value::Array(list)
    })
}
fn stage() -> impl Strategy<Value = Value> {
    let meter = json!({"token-bucket": {"rate": "8kb/s", "burst": "1500B", "excess": "red"}});
    (conditions(), actions(), actions(), any::<bool>()).prop_map(move |(matches, green, red, metered)| {
        let mut stage = if metered {
            json!({"meter": meter, "green": green, "yellow": ["transmit"], "red": red})
        } else {
            json!({"actions": green})
        };
        if let Some(matches) = matches {
            stage["match"] = matches;
        }
        stage
    })
}
fn packet() -> impl Strategy<Value = Packet> {
    let dscp = select(vec!["ef", "af11", "af12", "cs5", "default"]);
    let port = select(vec![80u16, 20000]);
    let tag = any::<bool>();
    (dscp, port, 0u16..2, tag, 0usize..3, select(vec![0u8, 3])).prop_map(
        |(dscp, port, input, tag, color, label)| {
            let carried = Encapsulation { tag, labels: false };
            Packet {
                protocol: Protocol::UDP,
                destination_port: port,
                dscp: dscp.parse::<Dscp>().unwrap(),
                length: 500,
                input: Ingress::new(InterfaceId(input), carried),
                color: Color::new(color),
                label,
                ..Packet::default()
            }
        },
    )
}

fn built(stages: &[Value]) -> Option<(Vec<ConditionerConfig>, TrafficConditioner)> {
    let configs: Vec<ConditionerConfig> =
        stages.iter().map(|stage| serde_json::from_value(stage.clone()).unwrap()).collect();
    let built = TrafficConditioner::build(&configs, &interfaces(), &Streams::new(1, 0)).ok()?;
    Some((configs, built))
}

proptest! {
    #[test]
    fn packets_that_leave_as_members_arrived_as_members(
        stages in collection::vec(stage(), 1..4),
        target in conditions(),
        packets in collection::vec(packet(), 40),
    ) {
        let built = built(&stages);
        prop_assume!(built.is_some());
        let (configs, mut conditioner) = built.unwrap();
        let metered = configs.iter().any(|config| config.meter.is_some());
        let mut space = PacketSpace::new(&interfaces());
        let target = match target {
            Some(condition) => space.taken_by(&serde_json::from_value(condition).unwrap()).unwrap(),
            None => Set::ALL,
        };
        let came = before(&mut space, &configs, target).unwrap();
        for (number, packet) in packets.into_iter().enumerate() {
            let mut left = packet;
            let verdict = conditioner.condition(Time::from_nanoseconds(number as u64), &mut left);
            let is_member = verdict == Verdict::Pass && space.contains(target, &left);
            // A meter could have given another color, so the set before the conditioners can contain more
            // packets.
            if is_member || !metered {
                prop_assert_eq!(space.contains(came, &packet), is_member, "{:?}", packet);
            }
        }
    }

    #[test]
    fn every_path_of_a_trace_is_possible_in_the_data_plane(
        stages in collection::vec(stage(), 1..4),
        packet in packet(),
    ) {
        let Some((configs, mut conditioner)) = built(&stages) else { return Ok(()) };
        let policy = PolicyConfig { conditioners: configs, ..PolicyConfig::default() };
        let interfaces = interfaces();
        let ways = conditioned(&policy, &interfaces, &packet).unwrap();
        let mut left = packet;
        let dropped = conditioner.condition(Time::ZERO, &mut left) != Verdict::Pass;
        let is_same = |other: &Packet| (other.dscp, other.color, other.label) == (left.dscp, left.color, left.label);
        prop_assert!(
            ways.iter().any(|way| way.dropped == dropped && (dropped || is_same(&way.packet))),
            "{:?}", ways
        );
    }
}

#[test]
fn witnesses_reach_their_queues() {
    let policy: PolicyConfig = serde_json::from_value(json!({
        "conditioners": [{"match": {"cos": 5}, "actions": [{"mark": "ef"}]}],
        "queueing": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}},
            {"name": "none", "match": {"all": [{"dscp": "ef"}, {"protocol": "udp"}]}},
            {"name": "rest"},
        ]},
    }))
    .unwrap();
    let interfaces = interfaces();
    let mut space = PacketSpace::new(&interfaces);
    let encapsulation = Encapsulation { tag: true, labels: false };
    let arrived = arriving(&mut space, Some(1)).unwrap();
    let classes = classes_of(&mut space, policy.queueing.as_ref().unwrap(), Set::ALL).unwrap();
    let mut witnesses = Vec::new();
    for class in classes {
        let set = before(&mut space, &policy.conditioners, class.takes).unwrap();
        let set = departing(&mut space, encapsulation, set).unwrap();
        let set = space.and(set, arrived).unwrap();
        let Some(witness) = space.witness(set).unwrap() else {
            witnesses.push(None);
            continue;
        };
        let mut packet = witness.packet;
        packet.depart(encapsulation);
        let ways = conditioned(&policy, &interfaces, &packet).unwrap();
        let place = queue_of(policy.queueing.as_ref().unwrap(), &interfaces, &ways[0].packet).unwrap();
        witnesses.push(place.map(|place| place.path));
    }
    assert_eq!(witnesses, [Some(vec![0]), None, Some(vec![2])]);
}

#[test]
fn witnesses_reach_their_tins_of_cake() {
    let interfaces = interfaces();
    for (tins, names) in [
        ("besteffort", &["all"][..]),
        ("diffserv3", &["all/best-effort", "all/bulk", "all/voice"]),
        ("diffserv4", &["all/best-effort", "all/bulk", "all/video", "all/voice"]),
    ] {
        let policy: PolicyConfig = serde_json::from_value(json!({
            "queueing": {"classes": [{"name": "all", "buffer": {"cake": {"tins": tins}}}]},
        }))
        .unwrap();
        let mut space = PacketSpace::new(&interfaces);
        let classes = classes_of(&mut space, policy.queueing.as_ref().unwrap(), Set::ALL).unwrap();
        assert_eq!(classes.iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), names);
        let mut left = Set::ALL;
        for class in classes {
            let witness = space.witness(class.takes).unwrap().unwrap();
            let queueing = policy.queueing.as_ref().unwrap();
            let place = queue_of(queueing, &interfaces, &witness.packet).unwrap().unwrap();
            let tin = place.tin.map_or(String::new(), |tin| format!("/{tin}"));
            assert_eq!((place.path, format!("all{tin}")), (vec![0], class.name));
            left = space.minus(left, class.takes).unwrap();
        }
        assert_eq!(left, Set::NONE, "each packet has its tin");
    }
}
