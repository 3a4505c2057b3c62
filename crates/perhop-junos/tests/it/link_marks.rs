//! Classifiers and rewrite rules of tags and labels.

use perhop_device::DeviceModel;
use perhop_lint::LineState;
use serde_json::{Value, json};

use crate::read::{parse, show};

const PORTS: &str = "set chassis network-services enhanced-ip
set interfaces ge-0/0/0 vlan-tagging
set interfaces ge-0/0/0 unit 1 vlan-id 1
set interfaces ge-0/0/0 unit 1 family inet address 192.0.2.1/30
set interfaces ge-0/0/0 unit 1 family mpls
";

/// Returns the conditions of the stages that set the label of expedited forwarding.
fn expedited(model: &DeviceModel, key: &str) -> Vec<Value> {
    let stages = model.router.ports[0].input.conditioners.iter();
    let stages = stages.filter(|stage| json!(stage.actions)[0] == json!({"label": 1}));
    let conditions = stages.filter_map(|stage| json!(stage.matches).get(key).cloned());
    conditions.collect()
}

#[test]
fn a_tag_without_the_drop_eligible_bit_is_classified_by_802_1ad() {
    let text = [
        PORTS,
        "set class-of-service classifiers ieee-802.1ad T forwarding-class expedited-forwarding loss-priority low code-points [ 1010 1000 ]
set class-of-service rewrite-rules ieee-802.1ad R forwarding-class expedited-forwarding loss-priority low code-point 1010
set class-of-service interfaces ge-0/0/0 unit 1 classifiers ieee-802.1ad T
set class-of-service interfaces ge-0/0/0 unit 1 rewrite-rules ieee-802.1ad R\n",
    ]
    .concat();
    let model = parse(&text, None);
    assert_eq!(show(&model), "");
    // Three bits of priority, and the drop eligible bit.
    assert_eq!(expedited(&model, "cos"), [json!(["4", "5"])]);
    let marks: Vec<Value> = model.router.ports[0]
        .output
        .conditioners
        .iter()
        .map(|stage| json!(stage.actions)[0].clone())
        .collect();
    assert!(marks.contains(&json!({"mark-cos": "5"})), "{marks:?}");
}

#[test]
fn codepoints_with_the_drop_eligible_bit_are_not_modeled() {
    let text = [
        PORTS,
        "set class-of-service classifiers ieee-802.1ad T forwarding-class expedited-forwarding loss-priority high code-points 1011
set class-of-service interfaces ge-0/0/0 unit 1 classifiers ieee-802.1ad T\n",
    ]
    .concat();
    let model = parse(&text, None);
    let open: Vec<usize> = model
        .lines
        .iter()
        .filter(|line| line.state == LineState::NotModelled)
        .map(|line| line.number)
        .collect();
    assert_eq!(open, [6]);
    assert!(expedited(&model, "cos").is_empty());
}

#[test]
fn units_with_mpls_have_the_classifier_of_all_interfaces() {
    let classifier = "set class-of-service classifiers exp E forwarding-class expedited-forwarding loss-priority low code-points 110\n";
    let global = [PORTS, classifier, "set class-of-service system-defaults classifiers exp E\n"].concat();
    let model = parse(&global, None);
    assert_eq!(show(&model), "");
    assert_eq!(expedited(&model, "mpls-exp"), [json!("6")]);
    let missing = [PORTS, "set class-of-service system-defaults classifiers exp X\n"].concat();
    assert!(show(&parse(&missing, None)).contains("there is no classifier `X`"));
}

#[test]
fn a_rewrite_rule_of_all_labels_is_modeled() {
    let rule = |protocol: &str| {
        let text = [
            PORTS,
            "set class-of-service rewrite-rules exp R forwarding-class expedited-forwarding loss-priority low code-point 110\n",
            &format!("set class-of-service interfaces ge-0/0/0 unit 1 rewrite-rules exp R protocol {protocol}\n"),
        ]
        .concat();
        show(&parse(&text, None))
    };
    assert_eq!(rule("mpls-any"), "");
    assert!(rule("mpls-inet-both").contains("rewrite rules of single protocols"));
}

#[test]
fn a_group_that_nothing_applies_is_named() {
    let group = "set groups COS class-of-service interfaces ge-0/0/0 shaping-rate 50m\n";
    let note = |text: String| {
        let lines = parse(&text, None).lines;
        lines.into_iter().find(|line| line.text.starts_with("set groups")).and_then(|line| line.note)
    };
    assert_eq!(note([PORTS, group].concat()).as_deref(), Some("nothing applies group COS here"));
    let other = note([PORTS, group, "set apply-groups CLASSES\n"].concat());
    let expected = "nothing applies group COS; the text applies CLASSES, which it does not define";
    assert_eq!(other.as_deref(), Some(expected));
}
