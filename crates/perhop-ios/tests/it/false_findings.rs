//! False findings, each next to a correct one.

use crate::node::Node;
use perhop_ios::Profile;

#[test]
fn drop_curves_of_codepoints_that_a_class_does_not_match_are_not_compared() {
    let node = |codepoints: &str| {
        let lines = format!(
            "class-map match-any ORDERS\n match dscp {codepoints}\n\
             policy-map P\n class ORDERS\n  bandwidth percent 20\n  random-detect dscp-based\n\
             \x20 random-detect dscp af31 20 40 10\n  random-detect dscp af33 32 40 10\n\
             interface Serial0/0\n bandwidth 2000\n service-policy output P\n"
        );
        Node::from_text(&lines, Profile::Hqf)
    };
    assert!(node("cs3 af31 af33").has_finding("wred-precedence-order"));
    assert!(!node("cs3 af31").has_finding("wred-precedence-order"));
}

/// The default thresholds of af42, 24 to 40 packets, drop af42 before af43. An earlier class can match af43.
#[test]
fn curves_of_codepoints_that_another_class_takes_are_not_compared() {
    let node = |first: &str, second: &str| {
        let lines = format!(
            "class-map match-all FIRST\n match dscp {first}\nclass-map match-all VIDEO\n{second}\
             policy-map OUT\n class FIRST\n  bandwidth 100\n class VIDEO\n  bandwidth 500\n\
             \x20 random-detect dscp-based\n  random-detect dscp af42 20 40 10\n\
             interface Serial0/0\n bandwidth 2000\n service-policy output OUT\n"
        );
        Node::from_text(&lines, Profile::Hqf).has_finding("wred-precedence-order")
    };
    assert!(node("cs1", " match dscp af41 af42 af43\n"));
    assert!(!node("af43", " match dscp af41 af42 af43\n"));
    assert!(!node("cs1", " match precedence 4\n match not dscp af43\n"));
    assert!(node("cs1", " match precedence 4\n"));
}

#[test]
fn a_policer_that_drops_the_excess_does_not_reorder() {
    let node = |exceed: &str| {
        let lines = format!(
            "class-map match-any CALLS\n match dscp ef\n\
             policy-map IN\n class CALLS\n  police cir 256000 bc 8000 conform-action set-dscp-transmit ef \
             exceed-action {exceed}\npolicy-map OUT\n class CALLS\n  priority percent 20\n\
             interface GigabitEthernet0/0\n service-policy input IN\n\
             interface Serial0/0\n bandwidth 2000\n service-policy output OUT\n"
        );
        Node::from_text(&lines, Profile::Hqf)
    };
    assert!(node("set-dscp-transmit default").has_finding("exceed-reorders"));
    assert!(!node("drop").has_finding("exceed-reorders"));
}

/// If the policy has no queues, the interface keeps its single queue, and `hold-queue` limits this queue.
#[test]
fn a_hold_queue_has_an_effect_where_no_policy_queues() {
    let node = |command: &str, hold: &str| {
        let lines = format!(
            "class-map match-any WEB\n match dscp af21\npolicy-map OUT\n class WEB\n  {command}\n\
             interface FastEthernet0/0\n service-policy output OUT\n hold-queue 256 {hold}\n"
        );
        Node::from_text(&lines, Profile::Hqf).has_finding("hold-queue-unused")
    };
    assert!(node("bandwidth 400", "out"));
    assert!(!node("set dscp af11", "out"));
    assert!(!node("police 800000", "out"));
    assert!(!node("bandwidth 400", "in"));
}

/// The default bandwidth of a dialer, 56 kb/s, does not limit its packets. The line of the dialer's pool
/// limits them.
#[test]
fn a_shaper_of_a_dialer_is_compared_with_the_line_of_its_pool() {
    let node = |shape: &str, bandwidth: &str, pool: u8| {
        let lines = format!(
            "class-map match-any CALLS\n match dscp ef\npolicy-map INNER\n class CALLS\n  priority percent 20\n\
             policy-map OUT\n class class-default\n  shape average {shape}\n  service-policy INNER\n\
             interface GigabitEthernet0/0\n no ip address\n pppoe-client dial-pool-number {pool}\n\
             interface Dialer1\n{bandwidth} ip address negotiated\n encapsulation ppp\n dialer pool 1\n \
             service-policy output OUT\n"
        );
        Node::from_text(&lines, Profile::Hqf)
    };
    let over_ethernet = node("9500000", "", 1);
    assert!(
        !over_ethernet.has_finding("shape-above-interface") && !over_ethernet.has_finding("class-starves")
    );
    assert_eq!(over_ethernet.port("Dialer1").wire.rate.unwrap().as_bits_per_second(), 1_000_000_000);
    assert!(node("1500000000", "", 1).has_finding("shape-above-interface"));
    // A configured bandwidth is the rate that the provider sells.
    assert!(node("9500000", " bandwidth 8000\n", 1).has_finding("shape-above-interface"));
    assert!(node("9500000", "", 2).port("Dialer1").wire.rate.is_none());
}

/// Classes for the other ends of tunnels read the outer header on purpose.
#[test]
fn classes_for_ends_of_tunnels_are_not_hidden() {
    let node = |list: &str, address: &str| {
        let lines = format!(
            "ip access-list extended TO-SITE\n permit {list}\nclass-map match-all SITE\n \
             match access-group name TO-SITE\npolicy-map SITES\n class SITE\n  bandwidth 500\n\
             interface Tunnel0\n ip address 10.255.0.1 255.255.255.0\n tunnel source Serial0/0\n \
             tunnel mode gre multipoint\ninterface Serial0/0\n bandwidth 2000\n \
             ip address {address} 255.255.255.252\n service-policy output SITES\n"
        );
        Node::from_text(&lines, Profile::Hqf).has_finding("classification-behind-encryption")
    };
    assert!(!node("ip any host 198.51.100.42", "192.0.2.1"));
    for (list, address) in [
        ("ip any host 10.1.0.5", "192.0.2.1"),
        ("ip any host 198.51.100.42", "10.0.0.1"),
        ("ip any 198.51.100.0 0.0.0.255", "192.0.2.1"),
        ("tcp any host 198.51.100.42", "192.0.2.1"),
    ] {
        assert!(node(list, address), "{list} at {address}");
    }
}

/// The criterion of a newer release is a criterion, although perhop does not recognize it.
#[test]
fn a_class_map_with_an_unrecognized_criterion_is_not_reported_as_empty() {
    let message = |lines: &str| {
        let text = format!("class-map match-all V\n{lines}policy-map P\n class V\n  set dscp ef\n");
        let configuration = perhop_ios::parse(&text);
        let found = configuration.diagnostics.iter().find(|found| found.rule.id == "class-map-empty");
        found.map(|found| found.message.clone()).unwrap_or_default()
    };
    assert_eq!(message(""), "class-map V has no criterion");
    assert_eq!(
        message(" description voice\n match dscp 99\n"),
        "class-map V has no criterion that perhop recognizes (line 3: `match dscp 99`)"
    );
    assert_eq!(message(" match dscp 46\n"), "");
}
