//! Hierarchical policers, policers of frames, and buckets that several uses of a policer share.

use perhop_lint::LineState;
use perhop_qos::conditioner::ConditionerConfig;
use serde_json::json;

use crate::read::{parse, show};

const CLASSES: &str = "set chassis network-services enhanced-ip
set class-of-service forwarding-classes class voice queue-num 5 policing-priority premium
set class-of-service forwarding-classes class data queue-num 0
set class-of-service classifiers dscp EDGE forwarding-class voice loss-priority low code-points ef
set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp EDGE
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.1/30
set interfaces ge-0/0/0 unit 0 family inet6 address 2001:db8::1/64
";

const HIERARCHICAL: &str =
    "set firewall hierarchical-policer H aggregate if-exceeding bandwidth-limit 10m burst-size-limit 30k
set firewall hierarchical-policer H aggregate then loss-priority high
set firewall hierarchical-policer H premium if-exceeding bandwidth-limit 2m burst-size-limit 15k
set firewall hierarchical-policer H premium then discard
";

const PLAIN: &str = "set firewall policer P if-exceeding bandwidth-limit 5m burst-size-limit 30k
set firewall policer P then discard
";

/// Returns the stages with meters of the arriving packets of a port, whose other lines are modeled.
fn metered(text: &str, port: &str) -> Vec<ConditionerConfig> {
    let model = parse(text, None);
    assert_eq!(show(&model), "");
    let port = model.router.ports.into_iter().find(|one| one.name == port).unwrap();
    port.input.conditioners.into_iter().filter(|stage| stage.meter.is_some()).collect()
}

#[test]
fn premium_classes_have_their_own_level_of_a_hierarchical_policer() {
    let attached = "set interfaces ge-0/0/0 unit 0 layer2-policer input-hierarchical-policer H\n";
    let text = [CLASSES, HIERARCHICAL, attached].concat();
    let stages = metered(&text, "ge-0/0/0.0");
    assert_eq!(stages.len(), 1, "one policer for IPv4 and IPv6");
    // The classes by queue: data is label 0, voice is the last one of five. 64 is added if a filter has
    // accepted.
    let expected = json!({"hierarchical": {
        "premium": [4, 68],
        "premium-rate": "2Mb/s",
        "premium-burst": "15kB",
        "rate": "10Mb/s",
        "burst": "30kB",
    }});
    assert_eq!(json!(stages[0].meter), expected);
    let actions = [&stages[0].green, &stages[0].yellow, &stages[0].red].map(|actions| json!(actions));
    let passed = |color: &str| json!([{"color": color}, "continue"]);
    assert_eq!(actions, [passed("green"), passed("dp3"), json!(["drop"])]);
    // Policers of frames count the Ethernet header.
    let port = &parse(&text, None).router.ports[0];
    assert_eq!(port.input.overhead, 14);
}

/// perhop does not model a mark for packets above the premium rate: it only discards them.
#[test]
fn the_premium_level_only_discards() {
    let marked = HIERARCHICAL.replace("premium then discard", "premium then loss-priority high");
    let attached = "set interfaces ge-0/0/0 unit 0 layer2-policer input-hierarchical-policer H\n";
    let model = parse(&[CLASSES, &marked, attached].concat(), None);
    let line = "set firewall hierarchical-policer H premium then loss-priority high";
    let line = model.lines.iter().find(|other| other.text.trim() == line).unwrap();
    assert_eq!(line.state, LineState::NotModelled);
}

#[test]
fn a_shared_three_color_policer_is_color_blind() {
    let text = |shared: &str| {
        format!(
            "{CLASSES}set firewall three-color-policer T single-rate color-aware
set firewall three-color-policer T single-rate committed-information-rate 5m
set firewall three-color-policer T single-rate committed-burst-size 30k
set firewall three-color-policer T single-rate excess-burst-size 30k
{shared}set firewall family inet filter F term all then three-color-policer single-rate T
set interfaces ge-0/0/0 unit 0 family inet filter input F\n"
        )
    };
    let findings = |text: &str| show(&parse(text, None)).contains("perhop meters color-blind");
    assert!(!findings(&text("")));
    assert!(findings(&text("set firewall three-color-policer T filter-specific\n")));
}

#[test]
fn a_term_has_a_hierarchical_policer() {
    let filter = "set firewall family inet filter F term all then hierarchical-policer H
set interfaces ge-0/0/0 unit 0 family inet filter input F\n";
    let stages = metered(&[CLASSES, HIERARCHICAL, filter].concat(), "ge-0/0/0.0");
    assert_eq!(stages.len(), 1);
    assert!(json!(stages[0].meter)["hierarchical"].is_object());
}

#[test]
fn a_hierarchical_policer_without_a_premium_class_is_one_bucket() {
    let classes = CLASSES.replace(" policing-priority premium", "");
    let attached = "set interfaces ge-0/0/0 unit 0 layer2-policer input-hierarchical-policer H\n";
    let model = parse(&[&classes, HIERARCHICAL, attached].concat(), None);
    assert!(show(&model).contains("no forwarding class is premium for policer `H`"), "{}", show(&model));
    let meter = &model.router.ports[0].input.conditioners.iter().find_map(|stage| stage.meter.clone());
    assert_eq!(
        json!(meter),
        json!({"token-bucket": {"rate": "10Mb/s", "burst": "30kB", "excess": "yellow"}})
    );
}

/// The names of the shared buckets of all stages with meters.
fn shared(flag: &str, attached: &str) -> Vec<Option<String>> {
    let text = format!("{CLASSES}{PLAIN}set firewall policer P {flag}\n{attached}");
    metered(&text, "ge-0/0/0.0").into_iter().map(|stage| stage.shared).collect()
}

#[test]
fn policers_share_buckets_as_they_are_configured() {
    let families = "set interfaces ge-0/0/0 unit 0 family inet policer input P
set interfaces ge-0/0/0 unit 0 family inet6 policer input P\n";
    let terms = "set firewall family inet filter F term a from protocol udp
set firewall family inet filter F term a then policer P
set firewall family inet filter F term b then policer P
set interfaces ge-0/0/0 unit 0 family inet filter input F\n";
    let some = |name: &str| vec![Some(name.to_owned()); 2];
    assert_eq!(shared("then discard", families), [None, None]);
    assert_eq!(shared("then discard", terms), [None, None]);
    assert_eq!(shared("filter-specific", families), [None, None]);
    assert_eq!(shared("filter-specific", terms), some("P of F at ge-0/0/0.0"));
    assert_eq!(shared("logical-interface-policer", families), some("P at ge-0/0/0.0"));
    assert_eq!(shared("physical-interface-policer", terms), some("P at ge-0/0/0"));
}

#[test]
fn arriving_packets_of_several_units_share_no_bucket() {
    let units = "set interfaces ge-0/0/0 vlan-tagging
set interfaces ge-0/0/0 unit 0 vlan-id 1
set interfaces ge-0/0/0 unit 1 vlan-id 2
set interfaces ge-0/0/0 unit 1 family inet address 192.0.2.5/30
set interfaces ge-0/0/0 unit 0 family inet policer input P
set interfaces ge-0/0/0 unit 1 family inet policer input P\n";
    let text = format!("{CLASSES}{PLAIN}set firewall policer P physical-interface-policer\n{units}");
    let model = parse(&text, None);
    let open: Vec<&str> = model
        .lines
        .iter()
        .filter(|line| line.state == LineState::NotModelled)
        .map(|line| line.text.trim())
        .collect();
    let expected =
        ["0", "1"].map(|unit| format!("set interfaces ge-0/0/0 unit {unit} family inet policer input P"));
    assert_eq!(open, expected);
}

#[test]
fn a_percentage_refers_to_the_shaping_rate_of_the_unit() {
    let rate = |flag: &str| {
        let text = format!(
            "{CLASSES}set firewall policer P if-exceeding bandwidth-percent 10 burst-size-limit 30k
set firewall policer P then discard
{flag}set interfaces ge-0/0/0 per-unit-scheduler
set class-of-service interfaces ge-0/0/0 unit 0 shaping-rate 50m
set interfaces ge-0/0/0 unit 0 family inet policer input P\n"
        );
        json!(metered(&text, "ge-0/0/0.0")[0].meter)["token-bucket"]["rate"].clone()
    };
    assert_eq!(rate(""), "100Mb/s");
    assert_eq!(rate("set firewall policer P logical-bandwidth-policer\n"), "5Mb/s");
}

#[test]
fn an_undefined_policer_of_frames_is_an_error() {
    let attached = "set interfaces ge-0/0/0 unit 0 layer2-policer input-three-color T\n";
    let found = show(&parse(&[CLASSES, attached].concat(), None));
    assert!(found.contains("three-color policer `T`"), "{found}");
}
