//! Tests of rules about statements that are valid, but probably not what their author intends.

use crate::read::{intentions, parse};

const PORT: &str = "set interfaces ge-0/0/0 unit 0 family inet address 10.0.0.1/24\n";
const MAP: &str = "set class-of-service schedulers be transmit-rate remainder\n\
                   set class-of-service schedulers nc transmit-rate percent 5\n\
                   set class-of-service scheduler-maps m forwarding-class best-effort scheduler be\n\
                   set class-of-service scheduler-maps m forwarding-class network-control scheduler nc\n\
                   set class-of-service interfaces ge-0/0/0 scheduler-map m\n";

/// Returns the findings. Line numbers count from the end of the port's lines and of `around`.
fn found(around: &str, text: &str) -> Vec<(&'static str, usize)> {
    let before = PORT.lines().count() + around.lines().count();
    let model = parse(&format!("{PORT}{around}{text}"), Some("junos-mx"));
    intentions(&model).into_iter().map(|(rule, line)| (rule, line.saturating_sub(before))).collect()
}

#[test]
fn a_map_has_a_scheduler_for_every_class_with_packets() {
    assert_eq!(found(MAP, ""), []);
    let voice = "set class-of-service forwarding-classes class voice queue-num 5\n";
    // The map begins on the fourth line of the text.
    assert_eq!(found("", &format!("{MAP}{voice}")), [("junos-class-without-scheduler", 3)]);
    let own = format!(
        "{voice}set class-of-service schedulers v priority high\nset class-of-service scheduler-maps m \
         forwarding-class voice scheduler v\n"
    );
    assert_eq!(found(MAP, &own), []);
    // Two classes of one queue share its scheduler.
    let shared = "set class-of-service forwarding-classes class best-effort queue-num 0\n\
                  set class-of-service forwarding-classes class bulk queue-num 0\n";
    assert_eq!(found(MAP, shared), []);
}

#[test]
fn strict_high_has_a_limit() {
    for (statement, is_found) in [
        ("priority strict-high", true),
        ("priority strict-high transmit-rate percent 20", true),
        ("priority strict-high transmit-rate percent 20 rate-limit", false),
        ("priority strict-high shaping-rate 20m", false),
        ("priority high", false),
    ] {
        let text = format!("set class-of-service schedulers nc {statement}\n");
        let expected: &[_] = if is_found { &[("priority-unbounded", 1)] } else { &[] };
        assert_eq!(found(MAP, &text), expected, "{statement}");
    }
}

#[test]
fn a_node_does_not_promise_more_than_it_passes() {
    let attached = "set interfaces ge-0/0/0 hierarchical-scheduler\n\
                    set class-of-service interfaces ge-0/0/0 unit 0 output-traffic-control-profile t\n";
    let found_in = |text: &str| found(attached, text);
    let text = "set class-of-service traffic-control-profiles t shaping-rate 5m guaranteed-rate 6m\n";
    assert_eq!(found_in(text), [("junos-rates-crossed", 1)]);
    assert_eq!(found_in(&text.replace("6m", "5m")), []);
}

#[test]
fn a_filter_that_classifies_passes_the_rest() {
    let applied = "set interfaces ge-0/0/0 unit 0 family inet filter input f\n\
                   set class-of-service interfaces ge-0/0/0 unit 0 rewrite-rules dscp default\n";
    let first = "set firewall family inet filter f term a from dscp ef\n\
                 set firewall family inet filter f term a then loss-priority high\n";
    assert_eq!(found(applied, first), [("junos-filter-discards-rest", 1)]);
    for rest in ["term b then accept", "term b then discard", "term b from protocol udp then discard"] {
        let text = format!("{first}set firewall family inet filter f {rest}\n");
        let text = text.replace("udp then", "udp\nset firewall family inet filter f term b then");
        assert_eq!(found(applied, &text), [], "{rest}");
    }
    let next = format!("{first}set firewall family inet filter f term b then next term\n");
    assert_eq!(found(applied, &next), [("junos-filter-discards-rest", 1)]);
    // A filter that only rejects or counts does not classify packets.
    let counts = first.replace("loss-priority high", "count c");
    assert_eq!(found(applied, &counts), []);
    // A filter that is not applied is unused.
    assert_eq!(found("", first), [("junos-unused", 1)]);
}

#[test]
fn a_class_leaves_the_device_in_the_codepoint() {
    let applied = "set interfaces ge-0/0/0 unit 0 family inet filter input f\n";
    let text = "set firewall family inet filter f term a then forwarding-class best-effort accept\n";
    assert_eq!(found(applied, text), [("junos-class-not-rewritten", 1)]);
    let marked = format!("{text}set firewall family inet filter f term a then dscp af11\n");
    assert_eq!(found(applied, &marked), []);
    let rewrite =
        format!("{text}set class-of-service interfaces ge-0/0/0 unit 0 rewrite-rules dscp default\n");
    assert_eq!(found(applied, &rewrite), []);
}

#[test]
fn a_drop_profile_is_for_packets_that_exist() {
    let profile = "set class-of-service drop-profiles d fill-level 90 drop-probability 10\n";
    let around = format!("{MAP}{profile}");
    let drop = |loss: &str| {
        format!(
            "set class-of-service schedulers be drop-profile-map loss-priority {loss} protocol any \
             drop-profile d\n"
        )
    };
    assert_eq!(found(&around, &drop("medium-low")), [("junos-drop-profile-unreached", 1)]);
    assert_eq!(found(&around, &drop("any")), []);
    // The default classifier gives some precedences a high loss priority.
    assert_eq!(found(&around, &drop("high")), []);
    let policer = "set firewall policer p if-exceeding bandwidth-limit 1m burst-size-limit 15k\n\
                   set firewall policer p then loss-priority medium-low\n\
                   set interfaces ge-0/0/0 unit 0 family inet policer input p\n";
    assert_eq!(found(&around, &format!("{}{policer}", drop("medium-low"))), []);
}

#[test]
fn a_definition_that_nothing_names_is_unused() {
    for definition in [
        "class-of-service schedulers x priority low",
        "class-of-service scheduler-maps x forwarding-class best-effort scheduler be",
        "class-of-service drop-profiles x fill-level 90 drop-probability 10",
        "class-of-service traffic-control-profiles x shaping-rate 1m",
        "class-of-service classifiers dscp x forwarding-class best-effort loss-priority low code-points ef",
        "class-of-service rewrite-rules dscp x forwarding-class best-effort loss-priority low code-point ef",
        "firewall policer x if-exceeding bandwidth-limit 1m burst-size-limit 15k",
        "firewall family inet filter x term a then accept",
    ] {
        assert_eq!(found(MAP, &format!("set {definition}\n")), [("junos-unused", 1)], "{definition}");
    }
    // A name in a group counts as used if the configuration inherits it, and so does the group.
    let grouped = "set class-of-service schedulers x priority low\n\
                   set groups g class-of-service scheduler-maps m forwarding-class best-effort scheduler x\n";
    assert_eq!(found(MAP, grouped), [("junos-unused", 1), ("junos-unused", 2)]);
    assert_eq!(found(MAP, &format!("{grouped}set apply-groups g\n")), []);
}
