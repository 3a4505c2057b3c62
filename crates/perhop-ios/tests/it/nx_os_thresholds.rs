//! Thresholds of WRED of NX-OS.

use perhop_ios::parse;

#[test]
fn thresholds_with_different_units_are_not_reported_as_crossed() {
    let found = |thresholds: &str| {
        let text = format!(
            "!Command: show running-config\nversion 9.3(5)\npolicy-map type queuing OUT\n class type queuing c-out-q2\n  {thresholds}\n"
        );
        let configuration = parse(&text);
        let wred = configuration.diagnostics.iter().find(|found| found.rule.id.starts_with("wred-"));
        wred.map(|found| (found.rule.id, found.message.clone())).unwrap_or_default()
    };
    let (rule, message) =
        found("random-detect minimum-threshold 5 packets maximum-threshold 9 kbytes drop-probability 10");
    assert_eq!(rule, "wred-units-mixed");
    assert_eq!(message, "the minimum threshold is in packets, but the maximum threshold is in bytes");
    let (rule, message) =
        found("random-detect minimum-threshold 9 packets maximum-threshold 5 packets drop-probability 10");
    assert_eq!(rule, "wred-thresholds-crossed");
    assert_eq!(message, "the minimum threshold, 9 packets, is above the maximum threshold, 5 packets");
}
