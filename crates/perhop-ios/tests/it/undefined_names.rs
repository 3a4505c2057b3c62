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

#[test]
fn a_note_or_a_command_of_an_applet_uses_no_name() {
    let maps = "route-map IN permit 10\nip prefix-list NETS permit 192.0.2.0/24\n";
    let lines = [
        "router bgp 65000\n neighbor 192.0.2.9 description of prefix-list OLD\n",
        "ip access-list extended A\n 10 remark see route-map OLD\n",
        "ip prefix-list NETS description was prefix-list OLD\n",
        "event manager applet A\n action 1.0 cli command \"no route-map OLD permit 10\"\n",
        "router bgp 65000\n bgp route-map priority\n neighbor 192.0.2.9 capability orf prefix-list both\n",
    ];
    for line in lines {
        assert!(!is_reported(&format!("{maps}{line}")), "{line}");
    }
    assert!(is_reported(&format!("{maps}router bgp 65000\n neighbor 192.0.2.9 prefix-list OLD in\n")));
}

#[test]
fn a_router_defines_the_default_profile_of_ipsec() {
    let text = |profile: &str, set: &str| {
        format!(
            "crypto ipsec transform-set AES esp-aes esp-sha-hmac\ncrypto ipsec profile VPN\n set \
             transform-set {set}\ninterface Tunnel1\n tunnel protection ipsec profile {profile}\n"
        )
    };
    assert!(!is_reported(&text("default", "default")));
    assert!(is_reported(&text("VPN2", "AES")));
    assert!(is_reported(&text("VPN", "AES2")));
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
    let group = "vpdn-group 1\n request-dialin\n  protocol l2tp\n  pool-member 2\ninterface Dialer2\n \
                 dialer pool 2\n";
    assert!(!is_reported(&format!("{}{group}", text(1, 1))), "a VPDN group carries the connection");
}
