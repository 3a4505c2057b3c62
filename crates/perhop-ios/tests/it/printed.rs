//! The output of markings and actions in `show policy-map interface`.

use perhop_ios::ast::PolicyClass;
use perhop_ios::{Platform, Profile, convert, parse};

/// The class C of a policy-map with these lines.
fn class(lines: &str) -> PolicyClass {
    let configuration = parse(&format!("policy-map POLICY\n class C\n{lines}"));
    let policy = configuration.policy_maps.iter().next().expect("a policy-map");
    policy.classes[0].clone()
}

#[test]
fn markings() {
    for written in [
        "precedence 5",
        "dscp ef",
        "qos-group 7",
        "cos 3",
        "cos-inner 2",
        "discard-class 2",
        "traffic-class 4",
        "mpls experimental imposition 3",
        "mpls experimental topmost 4",
        "precedence tunnel 3",
        "dscp tunnel 34",
        "cos dscp",
        "precedence qos-group",
        "dscp cos table MAP",
        "fr-de",
    ] {
        let marks = class(&format!("  set {written}\n")).marks;
        assert_eq!(marks.iter().map(|mark| mark.value.to_string()).collect::<Vec<_>>(), [written]);
    }
}

#[test]
fn actions() {
    for written in [
        "transmit",
        "drop",
        "set-prec-transmit 5",
        "set-dscp-transmit af11",
        "set-qos-transmit 7",
        "set-cos-transmit 3",
        "set-cos-inner-transmit 2",
        "set-discard-class-transmit 2",
        "set-traffic-class-transmit 4",
        "set-mpls-exp-imposition-transmit 3",
        "set-mpls-exp-topmost-transmit 4",
        "set-prec-tunnel-transmit 3",
        "set-dscp-tunnel-transmit 34",
        "set-cos-transmit dscp",
        "set-dscp-transmit cos table MAP",
        "set-frde-transmit",
    ] {
        let police = class(&format!("  police 8000 conform-action {written}\n")).police.expect("a policer");
        let actions = police.value.conform.iter().map(ToString::to_string);
        assert_eq!(actions.collect::<Vec<_>>(), [written]);
    }
    let other = class("  police 8000 conform-action set-mpls-exp-transmit 3\n").police.expect("a policer");
    assert_eq!(other.value.conform[0].to_string(), "set-mpls-exp-imposition-transmit 3");
}

/// If a `rate-limit` is not the last one of a chain, its action `continue` passes the packet to the next
/// line.
#[test]
fn a_packet_that_continues_to_the_next_limiter() {
    let text =
        "interface Serial0/0\n rate-limit input 8000 1500 1500 conform-action continue exceed-action drop\n";
    let configuration = parse(text);
    let limit = &configuration.interfaces.iter().next().expect("an interface").rate_limits[0];
    assert_eq!([limit.conform.to_string(), limit.exceed.to_string()], ["continue", "drop"]);
}

#[test]
fn platforms_are_known_by_their_names() {
    for name in Platform::NAMES {
        assert!(Platform::named(name).is_some(), "{name}");
    }
    let profile = |name| Platform::named(name).map(|platform| platform.profile);
    assert_eq!(profile("ios-xe"), Some(Profile::IosXe));
    assert_eq!(profile("cisco-7200-pa-a3"), Some(Profile::PreHqf));
    assert_eq!(profile("cisco-7500-vip"), Some(Profile::Vip7500));
    assert_eq!(profile("cisco"), None);
}

#[test]
fn a_port_is_found_by_its_name_or_as_the_only_one_of_its_interface() {
    let mut configuration = parse(
        "\
interface Serial0/0
 ip address 192.0.2.1 255.255.255.252
interface ATM1/0.1 point-to-point
 ip address 192.0.2.5 255.255.255.252
 pvc 1/100
interface ATM1/0.2 point-to-point
 ip address 192.0.2.9 255.255.255.252
 pvc 1/200
",
    );
    let router = convert(&mut configuration, &Platform::for_profile(Profile::PreHqf));
    let found = |name| router.port(name).map(|port| port.name.as_str());
    assert_eq!(found("Serial0/0"), Some("Serial0/0"));
    assert_eq!(found("Serial0/1"), None);
    let circuit = router.ports.iter().find(|port| port.interface == "ATM1/0.2").expect("a circuit");
    assert_eq!(found("ATM1/0.2"), Some(circuit.name.as_str()));
}
