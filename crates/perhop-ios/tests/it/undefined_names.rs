//! Names that lines use and no line defines.

use crate::node::Node;
use perhop_ios::Profile;

fn is_reported(lines: &str) -> bool {
    Node::from_text(lines, Profile::Hqf).has_finding("name-undefined")
}

#[test]
fn a_key_chain_has_its_name_behind_the_process() {
    let text = |name: &str| {
        format!(
            "key chain BRANCH\n key 1\n  key-string 7 0822455D0A16\ninterface GigabitEthernet0/0\n ip address \
             192.0.2.1 255.255.255.252\n ip authentication mode eigrp 100 md5\n ip authentication key-chain eigrp \
             100 {name}\n"
        )
    };
    assert!(is_reported(&text("BRANCHES")));
    assert!(!is_reported(&text("BRANCH")), "100 is the process, not the name");
}

#[test]
fn a_port_that_joins_a_vrf_defines_none() {
    let text = |defined: &str, used: &str| {
        format!(
            "ip vrf {defined}\n rd 1:1\ninterface GigabitEthernet0/0\n ip vrf forwarding {used}\n ip address \
             192.0.2.1 255.255.255.252\n"
        )
    };
    assert!(is_reported(&text("RED", "BLUE")), "`ip vrf forwarding BLUE` uses BLUE");
    assert!(!is_reported(&text("RED", "RED")));
}

#[test]
fn a_text_with_the_words_of_a_command_uses_no_name() {
    let text =
        "ip vrf RED\n rd 1:1\ninterface GigabitEthernet0/0\n description waits for ip vrf forwarding BLUE\n";
    assert!(!is_reported(text));
}

/// A part of a configuration may use names that the other part defines.
#[test]
fn a_text_without_definitions_of_a_kind_has_no_finding_of_it() {
    assert!(!is_reported("interface GigabitEthernet0/0\n ip vrf forwarding BLUE\n"));
}
