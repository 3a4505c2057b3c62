//! Findings that a configuration does not deserve, each next to one that does.

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
