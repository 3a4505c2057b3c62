//! Names that lines use but no line defines.

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

/// The text can be a part of a configuration. It may then use names that another part defines.
#[test]
fn a_text_without_definitions_of_a_kind_has_no_finding_of_it() {
    assert!(!is_reported("interface GigabitEthernet0/0\n ip vrf forwarding BLUE\n"));
}

#[test]
fn a_source_needs_an_interface() {
    let text = |line: &str| {
        format!(
            "interface Loopback0\n ip address 192.0.2.1 255.255.255.255\ninterface Dialer1\n ip address \
             negotiated\ninterface Tunnel1\n tunnel source Dialer1\nrouter bgp 65000\n neighbor 192.0.2.9 \
             remote-as 65000\n{line}\n"
        )
    };
    for name in ["Loopback0", "Loopback 0", "lo0", "GigabitEthernet0/0"] {
        let line = format!(" neighbor 192.0.2.9 update-source {name}");
        assert!(!is_reported(&text(&line)), "{name}; the text has no interface of the last kind");
    }
    assert!(is_reported(&text(" neighbor 192.0.2.9 update-source Loopback1")));
    let translated = |list: &str, interface: &str| {
        text(&format!(
            "ip access-list extended HOSTS\n permit ip any any\nip nat inside source list {list} interface \
             {interface} overload"
        ))
    };
    assert!(!is_reported(&translated("HOSTS", "Dialer1")));
    assert!(is_reported(&translated("HOSTS", "Dialer2")));
    assert!(is_reported(&translated("HOST", "Dialer1")));
}

#[test]
fn a_dialer_interface_and_its_port_have_one_pool() {
    let text = |port: u8, dialer: u8| {
        format!(
            "interface GigabitEthernet0/0\n pppoe-client dial-pool-number {port}\ninterface Dialer1\n ip address \
             negotiated\n dialer pool {dialer}\n"
        )
    };
    assert!(!is_reported(&text(1, 1)));
    assert!(is_reported(&text(1, 2)));
}
