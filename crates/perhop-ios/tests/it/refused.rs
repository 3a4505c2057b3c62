//! Refused lines have a diagnostic in the router's terms, and the policy does not apply. `docs/ios.md` has
//! the sources.

use crate::node::Node;
use perhop_ios::{LineState, Profile};

const CLASSES: &str =
    "class-map match-all VOICE\n match dscp ef\nclass-map match-all DATA\n match dscp af21\n";

/// Returns a router with the class-maps in [`CLASSES`] and the lines in `lines`.
fn router(lines: &str, profile: Profile) -> Node {
    Node::from_text(&format!("{CLASSES}{lines}"), profile)
}

#[test]
fn reservations_above_the_limit_are_refused() {
    // 75 % of 1544 kb/s are 1158 kb/s until releases with HQF (Cisco, "Low Latency Queueing", 12.0T).
    let before = |rate: u32| {
        let lines = format!(
            "policy-map P\n class VOICE\n  priority {rate}\n class DATA\n  bandwidth 500\n\
             interface Serial0/0\n bandwidth 1544\n service-policy output P\n"
        );
        router(&lines, Profile::PreHqf)
    };
    assert!(before(659).says("reserves 1159 kb/s, but only 1158 kb/s are available: 75 % of"));
    assert!(before(659).policies("Serial0/0").output.is_none());
    assert!(!before(658).says("reserves"));
    assert!(before(658).policies("Serial0/0").output.is_some());
    // Current routers reserve at most 99 %.
    let today = |rate: u32| {
        let lines = format!(
            "policy-map P\n class VOICE\n  priority 10000\n class DATA\n  bandwidth {rate}\n\
             interface GigabitEthernet0/0\n bandwidth 100000\n service-policy output P\n"
        );
        router(&lines, Profile::Hqf)
    };
    assert!(today(89_001).says("guarantees 99001 kb/s to its classes, more than 99000 kb/s"));
    assert!(!today(89_000).says("to its classes"));
}

#[test]
fn a_reservation_on_a_circuit_without_a_rate() {
    let with_service = |service: &str| {
        let lines = format!(
            "policy-map P\n class DATA\n  bandwidth 64\n\
             interface ATM0/0\n pvc 1/100\n  {service}\n  service-policy output P\n"
        );
        router(&lines, Profile::PreHqf)
    };
    let words = "reserves bandwidth on a circuit without a guaranteed rate";
    assert!(with_service("ubr 1000").says(words));
    assert!(!with_service("vbr-nrt 1000 1000").says(words));
}

#[test]
fn an_input_policy_cannot_queue() {
    let with_input = |command: &str| {
        let lines = format!(
            "policy-map P\n class DATA\n  {command}\ninterface GigabitEthernet0/0\n service-policy input P\n"
        );
        router(&lines, Profile::Hqf)
    };
    assert!(
        with_input("bandwidth 64")
            .says("policy P queues packets (class DATA, line 6), but an input policy cannot queue")
    );
    assert!(with_input("bandwidth 64").policies("GigabitEthernet0/0").input.is_none());
    assert!(!with_input("set dscp af22").says("cannot queue"));
}

#[test]
fn commands_that_exclude_each_other_in_a_class() {
    let with_priority = |command: &str| {
        let lines = format!(
            "policy-map P\n class VOICE\n  priority 64\n  {command}\n\
             interface GigabitEthernet0/0\n service-policy output P\n"
        );
        router(&lines, Profile::Hqf)
    };
    assert!(with_priority("random-detect").says("random-detect in a class with priority (class VOICE)"));
    assert!(with_priority("fair-queue").says("fair-queue in a class with priority (class VOICE)"));
    assert!(!with_priority("set dscp ef").says("in a class with priority"));
}

#[test]
fn commands_of_a_class_need_their_prerequisites() {
    let node = router("class-map match-all IN\n match input-interface Serial9/9\n", Profile::Hqf);
    assert!(node.says("there is no interface Serial9/9"));
}

#[test]
fn a_peak_below_the_committed_rate() {
    let with_peak = |peak: u32| {
        let lines = format!("policy-map P\n class DATA\n  police cir 8000 pir {peak}\n");
        router(&lines, Profile::Hqf)
    };
    assert!(with_peak(7999).says("the peak rate, 7999 b/s, is below the committed rate, 8000 b/s"));
    assert!(!with_peak(8000).says("below the committed rate"));
    let polices = |node: Node| {
        let policy = node.configuration.policy_maps.iter().next().expect("a policy-map");
        policy.classes[0].police.is_some()
    };
    assert_eq!([7999, 8000].map(|peak| polices(with_peak(peak))), [false, true]);
}

/// The router refuses a burst of 0 in every notation.
#[test]
fn a_burst_of_zero_is_refused() {
    for police in ["police 8000 0 conform-action transmit", "police 8000 00 0", "police cir 8000 bc 0"] {
        let lines = format!(
            "policy-map P\n class DATA\n  {police}\ninterface GigabitEthernet0/0\n service-policy input P\n"
        );
        let router = router(&lines, Profile::Hqf);
        let note = "a burst is 0: the router accepts 1 to 2000000000";
        assert_eq!(router.line("police"), (LineState::NotRecognized, note), "{police}");
    }
}

#[test]
fn an_input_policy_whose_child_queues() {
    let lines = "policy-map INNER\n class DATA\n  bandwidth 64\npolicy-map P\n class class-default\n  \
                 police cir 64000\n  service-policy INNER\ninterface GigabitEthernet0/0\n service-policy input P\n";
    let node = router(lines, Profile::Hqf);
    assert!(node.says("policy INNER queues packets (class DATA, line 6), but an input policy cannot queue"));
    assert!(node.policies("GigabitEthernet0/0").input.is_none());
}

#[test]
fn percentages_above_a_hundred() {
    let node = |command: &str, second: u32| {
        let lines = format!(
            "policy-map INNER\n class VOICE\n  {command} 60\n class DATA\n  {command} {second}\n\
             policy-map P\n class class-default\n  shape average 6000000\n  service-policy INNER\n\
             interface GigabitEthernet0/0\n service-policy output P\n"
        );
        router(&lines, Profile::Hqf)
    };
    for command in ["bandwidth remaining percent", "bandwidth percent"] {
        assert!(node(command, 41).says("of the classes of policy INNER add up to 101"), "{command}");
        assert!(node(command, 41).policies("GigabitEthernet0/0").output.is_none(), "{command}");
        assert!(!node(command, 40).has_finding("promised-above-rate"), "{command}");
    }
}

#[test]
fn the_line_of_a_tunnel_without_a_source_is_unknown() {
    let node = |source: &str| {
        let lines = format!(
            "policy-map P\n class class-default\n  shape average 3000000\ninterface Tunnel5\n{source} \
             service-policy output P\ninterface Ethernet0/0\n ip address 192.0.2.1 255.255.255.0\n"
        );
        router(&lines, Profile::Hqf)
    };
    assert!(node("").says("the interface below Tunnel5 is unknown"));
    assert!(!node("").port("Tunnel5").has_known_line);
    assert!(!node(" tunnel source 192.0.2.1\n").says("is unknown"));
    assert!(node(" tunnel source 192.0.2.1\n").port("Tunnel5").has_known_line);
}
