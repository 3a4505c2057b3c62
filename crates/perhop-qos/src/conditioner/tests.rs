//! Tests of stages in sequence: which stage processes a packet, which stage decides, and the counters.

use serde_json::{Value, json};

use super::*;
use crate::packet::{Dscp, FlowKey};

fn build(stages: Value) -> Result<TrafficConditioner, ConfigError> {
    let configs: Vec<ConditionerConfig> = serde_json::from_value(stages).unwrap();
    TrafficConditioner::build(&configs, &[], &Streams::new(1, 0))
}

fn packet(dscp: &str, length: u32) -> Packet {
    let dscp: Dscp = dscp.parse().unwrap();
    Packet { dscp, color: dscp.color(), ..Packet::new(FlowKey::default(), length) }
}

/// Returns a meter with 1000 bytes at time 0. Packets within them are green, all others red.
fn bucket() -> Value {
    json!({"token-bucket": {"rate": "8kb/s", "burst": "1000B"}})
}

#[test]
fn a_color_without_own_actions_uses_the_common_actions() {
    let mut conditioner = build(json!([
        {"meter": bucket(), "green": [{"mark": "af11"}, "transmit"], "actions": ["drop"]}
    ]))
    .unwrap();
    let mut first = packet("default", 1000);
    assert_eq!(conditioner.condition(Time::ZERO, &mut first), Verdict::Pass);
    assert_eq!((first.dscp.to_string().as_str(), first.color), ("af11", Color::GREEN));
    let mut second = packet("default", 1);
    assert_eq!(conditioner.condition(Time::ZERO, &mut second), Verdict::Drop(DropCause::Policed));
}

#[test]
fn only_marking_an_af_codepoint_sets_the_color() {
    let color_after = |mark: &str| {
        let mut conditioner = build(json!([{"meter": bucket(), "red": [{"mark": mark}]}])).unwrap();
        let mut packet = packet("default", 1001);
        conditioner.condition(Time::ZERO, &mut packet);
        (packet.dscp.to_string(), packet.color)
    };
    assert_eq!(color_after("af12"), ("af12".to_owned(), Color::YELLOW));
    assert_eq!(color_after("cs1"), ("cs1".to_owned(), Color::RED));
}

#[test]
fn only_continue_and_a_failed_match_lead_to_the_next_stage() {
    let mut conditioner = build(json!([
        {"name": "voice", "match": {"dscp": "ef"}, "meter": bucket(), "red": ["drop"]},
        {"name": "edge", "meter": bucket(), "red": [{"mark": "le"}, "continue"]},
        {"name": "rest", "actions": [{"mark-precedence": 1}]},
    ]))
    .unwrap();
    let mut outcome = |dscp: &str, length: u32| {
        let mut packet = packet(dscp, length);
        (conditioner.condition(Time::ZERO, &mut packet), packet.dscp.to_string())
    };
    assert_eq!(outcome("ef", 400), (Verdict::Pass, "ef".to_owned()));
    assert_eq!(outcome("ef", 601), (Verdict::Drop(DropCause::Policed), "ef".to_owned()));
    assert_eq!(outcome("af41", 1000), (Verdict::Pass, "af41".to_owned()));
    assert_eq!(outcome("af41", 300), (Verdict::Pass, "cs1".to_owned()));
    let counted: Vec<_> = conditioner
        .counted()
        .map(|(name, by_color)| {
            (name, by_color[Color::GREEN.index()].bytes, by_color[Color::RED.index()].bytes)
        })
        .collect();
    assert_eq!(counted, [("voice", 400, 601), ("edge", 1000, 300), ("rest", 0, 300)]);
}

#[test]
fn later_stages_read_a_label_that_arrival_clears() {
    let mut conditioner = build(json!([
        {"match": {"dscp": "ef"}, "actions": [{"label": 5}, "continue"]},
        {"match": {"label": 5}, "actions": ["drop"]},
    ]))
    .unwrap();
    let mut labeled = packet("ef", 40);
    assert_eq!(conditioner.condition(Time::ZERO, &mut labeled), Verdict::Drop(DropCause::Policed));
    assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af11", 40)), Verdict::Pass);
    labeled.arrive(crate::packet::InterfaceId(3).into());
    assert_eq!(labeled.label, 0);
}

#[test]
fn a_stage_without_meter_uses_the_color_of_the_packet() {
    let mut conditioner = build(json!([{"red": ["drop"]}])).unwrap();
    assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af12", 40)), Verdict::Pass);
    let dropped = Verdict::Drop(DropCause::Policed);
    assert_eq!(conditioner.condition(Time::ZERO, &mut packet("af13", 40)), dropped);
}

#[test]
fn a_meter_per_flow_gives_each_flow_the_whole_profile() {
    let mut conditioner = build(json!([{"meter": bucket(), "per": "flow", "red": ["drop"]}])).unwrap();
    let mut passes = |source_port: u16| {
        let mut packet = Packet { source_port, ..packet("default", 600) };
        conditioner.condition(Time::ZERO, &mut packet) == Verdict::Pass
    };
    assert_eq!([1, 2, 1, 3, 2].map(&mut passes), [true, true, false, true, false]);
    let counted: Vec<_> = conditioner
        .counted()
        .map(|(name, by_color)| {
            (name, by_color[Color::GREEN.index()].packets, by_color[Color::RED.index()].packets)
        })
        .collect();
    assert_eq!(counted, [("0", 3, 2)], "one row for all flows");
}

#[test]
fn unreachable_actions_are_refused() {
    for (stages, error) in [
        (json!([{"green": ["transmit", {"mark": "ef"}]}]), "0.green.1: this action never runs"),
        (json!([{"actions": ["continue", "drop"]}]), "0.actions.1: this action never runs"),
        (json!([{"green": ["continue"]}, {"red": ["drop"]}, {}]), "2: no packet reaches this conditioner"),
        (json!([{"name": "a", "match": {"dscp": "ef"}}, {"name": "a"}]), "1.name: there is already"),
        (json!([{"match": {}}]), "0.match: a match without conditions"),
        (json!([{"meter": {"token-bucket": {"rate": "0b/s", "burst": "1B"}}}]), "0.meter.token-bucket.rate:"),
        (
            json!([{"meter": {"token-bucket": {"rate": "0b/s", "burst": "1B"}}, "per": "flow"}]),
            "0.meter.token-bucket.rate:",
        ),
        (json!([{"per": "flow", "red": ["drop"]}]), "0.per: `per` needs a meter"),
    ] {
        let found = build(stages).expect_err(error).to_string();
        assert!(found.starts_with(error), "{found}\nexpected: {error}");
    }
}

#[test]
fn conditioners_with_a_shared_meter_use_one_bucket() {
    let stage = |name: &str, dscp: &str, shared: Option<&str>| {
        let mut stage = json!({"name": name, "match": {"dscp": dscp}, "meter": bucket(), "red": ["drop"]});
        if let Some(shared) = shared {
            stage["shared"] = json!(shared);
        }
        stage
    };
    let passed = |shared: Option<&str>| {
        let stages = json!([stage("a", "ef", shared), stage("b", "af41", shared), stage("c", "cs6", None)]);
        let mut conditioner = build(stages).unwrap();
        let packets = ["ef", "af41", "cs6", "ef"].map(|dscp| {
            let mut packet = packet(dscp, 600);
            conditioner.condition(Time::ZERO, &mut packet) == Verdict::Pass
        });
        let counted: Vec<u64> = conditioner.counted().map(|(_, colors)| colors[2].packets).collect();
        (packets, counted)
    };
    // 600 of 1000 bytes are used by a green packet. A second, unshared bucket has its own 1000 bytes.
    assert_eq!(passed(None), ([true, true, true, false], vec![1, 0, 0]));
    assert_eq!(passed(Some("p")), ([true, false, true, false], vec![1, 1, 0]));
}

#[test]
fn conditioners_with_different_meters_share_none() {
    let other = json!({"token-bucket": {"rate": "8kb/s", "burst": "999B"}});
    let stages = json!([
        {"match": {"dscp": "ef"}, "meter": bucket(), "shared": "p"},
        {"meter": other, "shared": "p"},
    ]);
    let error = build(stages).unwrap_err();
    assert_eq!(error.path, ["1", "shared"]);
    let error = build(json!([{"shared": "p"}])).unwrap_err();
    assert_eq!(error.path, ["0", "shared"]);
}
