//! Tests of link-layer marks: CoS of tags, EXP of labels, and copies from one mark to another.

use perhop_qos::action::CopyConfig;
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId, LinkMark};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::queue::QueueId;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, ConfigError, Dscp, FlowKey, Packet, Rate, Time};
use serde_json::{Value, json};

const LABELED: Encapsulation = Encapsulation { tag: false, labels: true };

/// Returns a packet with this codepoint that has arrived on a link without tags and labels.
fn packet(dscp: &str) -> Packet {
    let dscp: Dscp = dscp.parse().unwrap();
    Packet { dscp, color: dscp.color(), ..Packet::new(FlowKey::default(), 100) }
}

/// Applies one action to `packet`.
fn act(action: &Value, mut packet: Packet) -> Packet {
    let policy = json!({"conditioners": [{"actions": [action]}]});
    let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
    let mut conditioner = policy.build_conditioner(&[], &Streams::new(1, 0)).unwrap();
    conditioner.condition(Time::ZERO, &mut packet);
    packet
}

fn copied(copy: &Value, packet: Packet) -> Packet {
    act(&json!({"copy": copy}), packet)
}

fn value(mark: Option<LinkMark>) -> Option<u8> {
    mark.map(LinkMark::value)
}

#[test]
fn a_policy_sets_marks() {
    assert_eq!(value(act(&json!({"mark-cos": 6}), packet("ef")).cos()), Some(6));
    assert_eq!(value(act(&json!({"mark-exp": 3}), packet("ef")).exp()), Some(3));
    let colored = act(&json!({"color": "red"}), packet("ef"));
    assert_eq!((colored.color, colored.dscp), (Color::RED, Dscp::EF));
}

#[test]
fn a_table_copies_its_values_and_the_default_others() {
    // Cisco IOS, "Enhanced Packet Marking": table-map, default copy, ignore or a value.
    let table =
        |default: Value| json!({"from": "dscp", "to": "cos", "map": {"ef": 5, "34": 4}, "default": default});
    let cos = |default: Value, dscp: &str| value(copied(&table(default), packet(dscp)).cos());
    assert_eq!([cos(json!("copy"), "ef"), cos(json!("copy"), "af41")], [Some(5), Some(4)]);
    assert_eq!([cos(json!(1), "cs1"), cos(json!("1"), "default")], [Some(1), Some(1)]);
    assert_eq!(cos(json!("ignore"), "cs1"), None);
    // A DSCP of 1 is a valid class of service. A DSCP of 8 is not, so the class of service is not set.
    assert_eq!([cos(json!("copy"), "le"), cos(json!("copy"), "cs1")], [Some(1), None]);
}

#[test]
fn every_mark_is_copied_into_every_other() {
    let mut full = packet("af31");
    full.set_cos(LinkMark::new(2).unwrap());
    full.set_exp(LinkMark::new(6).unwrap());
    full.label = 4;
    full.color = Color::new(7);
    let fields = ["dscp", "precedence", "cos", "mpls-exp", "label", "color"];
    let values = |packet: &Packet| {
        let link = [packet.cos(), packet.exp()].map(|mark| mark.unwrap().value());
        let precedence = packet.dscp.precedence().value();
        [packet.dscp.value(), precedence, link[0], link[1], packet.label, packet.color.index() as u8]
    };
    let before = values(&full);
    assert_eq!(before, [26, 3, 2, 6, 4, 7]);
    for (place, from) in fields.iter().enumerate() {
        for (target, to) in fields.iter().enumerate() {
            let after = values(&copied(&json!({"from": from, "to": to}), full));
            // A DSCP of 26 fits only into a label or a DSCP.
            let fits = before[place] < 8 || *to == "dscp" || *to == "label";
            let expected = if fits { before[place] } else { before[target] };
            assert_eq!(after[target], expected, "{from} to {to}");
        }
    }
    assert_eq!(copied(&json!({"from": "cos", "to": "dscp"}), full).dscp.value(), 2);
    let af = json!({"from": "label", "to": "dscp", "map": {"4": "af12"}});
    assert_eq!(copied(&af, full).color, Color::YELLOW, "an AF codepoint is its color, as with `mark`");
    let untagged = copied(&json!({"from": "cos", "to": "dscp", "default": "ef"}), packet("af11"));
    assert_eq!(untagged.dscp.to_string(), "af11", "a missing field is not copied");
}

#[test]
fn a_table_with_unknown_marks_is_refused() {
    for (copy, error) in [
        (json!({"from": "dscp", "to": "cos", "map": {"ef": 8}}), "0.actions.0.copy.map.ef: `8` is not a CoS"),
        (
            json!({"from": "cos", "to": "dscp", "map": {"9": "ef"}}),
            "0.actions.0.copy.map.9: `9` is not a CoS",
        ),
        (
            json!({"from": "cos", "to": "dscp", "default": "eff"}),
            "0.actions.0.copy.default: `eff` is not a DSCP",
        ),
        (
            json!({"from": "cos", "to": "label", "default": 256}),
            "0.actions.0.copy.default: `256` is not a label",
        ),
        (
            json!({"from": "color", "to": "cos", "map": {"blue": 1}}),
            "0.actions.0.copy.map.blue: `blue` is not",
        ),
    ] {
        let policy = json!({"conditioners": [{"actions": [{"copy": copy}]}]});
        let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
        let built = policy.build_conditioner(&[], &Streams::new(1, 0)).map(drop);
        let found = built.map_err(|error| error.to_string()).unwrap_err();
        assert!(found.starts_with(&format!("conditioners.{error}")), "{found}\nexpected: {error}");
        assert!(found.contains("(write "), "{found}");
    }
}

/// The queue of `packet` at an output with `policy`, to a link with these `headers`.
fn class_at_output(policy: &Value, headers: &Value, mut packet: Packet) -> Result<QueueId, ConfigError> {
    let policy: PolicyConfig = serde_json::from_value(policy.clone()).unwrap();
    let headers: HeaderStack = serde_json::from_value(headers.clone()).unwrap();
    let rate = Rate::from_bits_per_second(1_000_000);
    let wire = WireConfig { rate, framing: Framing::EthernetFrame, headers, ring: RingConfig::default() };
    let streams = Streams::new(1, 0);
    let mut port = policy.build_port(&wire, &[], &streams)?;
    let mut conditioner = wire.leaving_by(policy.build_conditioner(&[], &streams)?, &port);
    conditioner.condition(Time::ZERO, &mut packet);
    port.enqueue(Time::ZERO, &mut packet, ());
    let joined = port.queues().iter().position(|queue| queue.occupancy().packets > 0).unwrap();
    Ok(QueueId(joined as u16))
}

/// An output computes the marks of tags and labels only if it reads one of them.
#[test]
fn an_output_that_reads_no_marks_does_nothing() {
    let asks = |class: Value| {
        let policy = json!({"queueing": {"classes": [{"name": "one", "match": class}, {"name": "rest"}]}});
        let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
        let wire = WireConfig {
            rate: Rate::from_bits_per_second(1_000_000),
            framing: Framing::EthernetFrame,
            headers: HeaderStack::EMPTY,
            ring: RingConfig::default(),
        };
        let port = policy.build_port(&wire, &[], &Streams::new(1, 0)).unwrap();
        !wire.leaving_by(TrafficConditioner::default(), &port).is_empty()
    };
    for (class, expected) in [
        (json!({"dscp": "ef"}), false),
        (json!({"cos": 5}), true),
        (json!({"mpls-exp": 5}), true),
        (json!({"any": [{"dscp": "ef"}, {"dscp": "af11"}]}), false),
        (json!({"any": [{"dscp": "ef"}, {"cos": 5}]}), true),
        (json!({"not": {"dscp": "ef"}}), false),
        (json!({"not": {"mpls-exp": 5}}), true),
    ] {
        assert_eq!(asks(class.clone()), expected, "{class}");
    }
}

#[test]
fn an_output_reads_the_marks_of_departing_packets() {
    let by_exp =
        json!({"queueing": {"classes": [{"name": "five", "match": {"mpls-exp": 5}}, {"name": "rest"}]}});
    let class = |policy: &Value, headers: &Value, packet| class_at_output(policy, headers, packet).unwrap().0;
    // Imposition: the packet gets a label here, with the precedence of EF.
    assert_eq!(class(&by_exp, &json!(["mpls"]), packet("ef")), 0);
    assert_eq!(class(&by_exp, &json!(["mpls"]), packet("af41")), 1);
    // Disposition: the packet has arrived with a label and leaves without one.
    let mut labeled = packet("ef");
    labeled.arrive(Ingress::new(InterfaceId(0), LABELED));
    labeled.set_exp(LinkMark::new(5).unwrap());
    assert_eq!(class(&by_exp, &json!([]), labeled), 1);
    // Swap: the packet keeps the mark with which it has arrived. The output conditioner precedes the queues.
    labeled.dscp = Dscp::DEFAULT;
    assert_eq!(class(&by_exp, &json!(["mpls"]), labeled), 0);
    let marked = json!({"conditioners": [{"actions": [{"mark-exp": 5}]}], "queueing": by_exp["queueing"]});
    assert_eq!(class(&marked, &json!(["mpls"]), packet("default")), 0);
    // A new tag has class of service 0.
    let by_cos = json!({"queueing": {"classes": [{"name": "zero", "match": {"cos": 0}}, {"name": "rest"}]}});
    assert_eq!(class(&by_cos, &json!(["vlan"]), packet("ef")), 0);
    assert_eq!(class(&by_cos, &json!([]), packet("ef")), 1);
    // The mark is also set if only a conditioner reads it. The label of the arriving packet is removed before
    // the output reads it.
    let matching = json!({
        "conditioners": [{"match": {"mpls-exp": 5}, "actions": [{"mark": "cs6"}]}],
        "queueing": {"classes": [{"name": "control", "match": {"dscp": "cs6"}}, {"name": "rest"}]},
    });
    assert_eq!(class(&matching, &json!(["mpls"]), labeled), 0);
    assert_eq!(class(&matching, &json!([]), labeled), 1);
    // The mark is also set if only a conditioner copies it.
    let table = json!({"from": "mpls-exp", "to": "dscp", "map": {"5": "cs6"}});
    let copied = json!({"conditioners": [{"actions": [{"copy": table}]}], "queueing": matching["queueing"]});
    assert_eq!(class(&copied, &json!(["mpls"]), labeled), 0);
    assert_eq!(class(&copied, &json!([]), labeled), 1);
}

#[test]
fn values_of_every_mark_are_read_or_refused_and_written_again() {
    let table = |copy: Value| serde_json::from_value::<CopyConfig>(copy).unwrap();
    let values = |copy: Value| table(copy).values().unwrap();
    let named = values(json!({"from": "precedence", "to": "color", "map": {"critical": "yellow"}}));
    assert_eq!((named[5], named[0]), (Some(1), Some(0)));
    let numbered = values(json!({"from": "label", "to": "dscp", "map": {"200": 46}, "default": "ignore"}));
    assert_eq!((numbered[200], numbered[10]), (Some(46), None));
    let other = values(json!({"from": "color", "to": "label", "map": {"red": 255}, "default": 7}));
    assert_eq!((other[2], other[1]), (Some(255), Some(7)));
    for (from, to, value, set) in [
        ("dscp", "cos", "64", "1"),
        ("precedence", "cos", "8", "1"),
        ("cos", "dscp", "8", "1"),
        ("label", "dscp", "256", "1"),
        ("color", "dscp", "blue", "1"),
        ("dscp", "mpls-exp", "ef", "8"),
    ] {
        let error = table(json!({"from": from, "to": to, "map": {value: set}})).values().unwrap_err();
        assert_eq!(error.path[..2], ["map".to_owned(), value.to_owned()], "{error}");
    }
    for default in ["copy", "ignore", "3"] {
        let written = json!({"from": "dscp", "to": "cos", "map": {"ef": "5"}, "default": default});
        assert_eq!(serde_json::to_value(table(written.clone())).unwrap(), written);
    }
}
