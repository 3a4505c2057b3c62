//! Lines outside of classes and policies that affect packets. Their state must not be "irrelevant".

use perhop_ios::{Configuration, LineState, Platform, Profile, convert, parse};

const NX_OS: &str = "!Command: show running-config\nversion 9.3(5) Bios:version 05.38\n";
const IOS_XR: &str = "!! IOS XR Configuration 7.5.2\n";
const PORT: &str = "interface GigabitEthernet1/0/1\n";
const NX_PORT: &str = "interface Ethernet1/1\n";
const XR_PORT: &str = "interface TenGigE0/0/0/1\n";

/// Returns the states of `lines` after the lines `head`.
fn states(head: &str, lines: &[&str]) -> Vec<(String, LineState)> {
    let read = |line: &&str| {
        let configuration: Configuration = parse(&format!("{head}{line}\n"));
        let last = configuration.lines.last().unwrap();
        assert_eq!(last.text, *line);
        (last.text.trim().to_owned(), last.state)
    };
    lines.iter().map(read).collect()
}

fn are_not_modeled(head: &str, lines: &[&str]) {
    for (line, state) in states(head, lines) {
        assert_eq!(state, LineState::NotModelled, "{head}{line}");
    }
}

fn are_irrelevant(head: &str, lines: &[&str]) {
    for (line, state) in states(head, lines) {
        assert_eq!(state, LineState::Irrelevant, "{head}{line}");
    }
}

#[test]
fn global_lines_of_ios() {
    are_not_modeled(
        "",
        &[
            "vlan access-map GUESTS 10",
            "vlan filter GUESTS vlan-list 20",
            "vlan dot1q tag native",
            "system mtu 9198",
            "l2 vfi WEST manual",
            "bridge irb",
            "pseudowire-class WEST",
            "cts role-based enforcement",
            "platform qos port-channel-aggregate 1",
            "zone security INSIDE",
            "router lisp",
            "ip options drop",
            "ip cef load-sharing algorithm include-ports destination",
            "port-channel load-balance src-dst-ip",
        ],
    );
    are_not_modeled("vlan access-map GUESTS 10\n", &[" action drop"]);
    are_not_modeled("l2 vfi WEST manual\n", &[" neighbor 192.0.2.9 encapsulation mpls"]);
    are_not_modeled("vlan 30\n", &[" private-vlan isolated", " shutdown"]);
    are_irrelevant(
        "",
        &["vlan 30", "vlan internal allocation policy ascending", "no vlan filter GUESTS vlan-list 20"],
    );
    are_irrelevant("vlan 30\n", &[" name VOICE", " no shutdown"]);
}

#[test]
fn lines_of_an_interface_of_ios() {
    are_not_modeled(
        PORT,
        &[
            " loopback mac",
            " ip directed-broadcast",
            " access-session port-control auto",
            " authentication port-control auto",
            " cts manual",
            " lacp max-bundle 2",
            " lisp mobility OFFICE",
            " ip multicast rate-limit in 500",
            " transmit-interface GigabitEthernet1/0/2",
            " glbp 5 ip 192.0.2.1",
        ],
    );
    are_not_modeled(&format!("{PORT} cts manual\n"), &["  policy static sgt 12 trusted"]);
    are_not_modeled("interface POS1/0\n", &[" crc 32"]);
    are_not_modeled("interface Serial1/0\n", &[" timeslot 1-12"]);
    are_irrelevant(
        PORT,
        &[
            " access-session host-mode multi-auth",
            " authentication order mab",
            " no loopback",
            " lacp rate fast",
        ],
    );
}

#[test]
fn the_shared_address_of_a_group_of_routers_is_modeled() {
    let text = format!(
        "{PORT} ip address 192.0.2.2 255.255.255.0\n standby 5 ip 192.0.2.1\n standby 5 timers 1 3\n"
    );
    let mut configuration = parse(&text);
    let states: Vec<LineState> = configuration.lines.iter().map(|line| line.state).collect();
    assert_eq!(states[2..], [LineState::Modelled, LineState::Irrelevant]);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    assert_eq!(router.ports[0].forwarding.shared_addresses.len(), 1);
    are_not_modeled(PORT, &[" standby 5 ip", " standby 5 ip 192.0.2.9 secondary"]);
}

#[test]
fn lines_of_nx_os() {
    are_not_modeled(
        NX_OS,
        &[
            "hardware profile portmode 48x25g+6x100g",
            "configure profile TENANT",
            "apply profile TENANT",
            "vlan dot1Q tag native",
            "port-channel load-balance src-dst ip-l4port",
            "class-map type network-qos STORAGE",
        ],
    );
    are_not_modeled(&format!("{NX_OS}vlan 30\n"), &["  vn-segment 7030"]);
    are_not_modeled(&format!("{NX_OS}class-map type network-qos STORAGE\n"), &["  match qos-group 3"]);
    let port = format!("{NX_OS}{NX_PORT}");
    are_not_modeled(
        &port,
        &[
            "  switchport monitor",
            "  switchport access vlan 30",
            "  switchport trunk allowed vlan 30,40",
            "  rate-mode shared",
            "  duplex half",
            "  lacp max-bundle 2",
        ],
    );
    are_irrelevant(NX_OS, &["vlan 30", "hardware profile forwarding-mode warp"]);
    are_irrelevant(&port, &["  no switchport monitor", "  rate-mode dedicated", "  duplex full"]);
}

#[test]
fn lines_of_ios_xr() {
    are_not_modeled(
        IOS_XR,
        &[
            "hw-module profile segment-routing srv6 mode micro-segment format f3216",
            "hw-module fib dlb level-1 enable",
            "hw-module port-range 0 3 instance 0 location 0/0/CPU0 mode 4x25",
            "cef load-balancing fields L4",
            "router hsrp",
            "class-map type traffic match-all DNS",
        ],
    );
    are_not_modeled(
        &format!("{IOS_XR}class-map type traffic match-all DNS\n"),
        &[" match destination-port 53"],
    );
    are_not_modeled(
        &format!("{IOS_XR}{XR_PORT}"),
        &[
            " ipv4 tcp-mss-adjust enable",
            " ipv4 directed-broadcast",
            " bundle load-balancing hash dst-ip",
            " duplex half",
        ],
    );
    are_irrelevant(IOS_XR, &["hw-module profile stats acl-permit"]);
    are_irrelevant(&format!("{IOS_XR}{XR_PORT}"), &[" ipv4 helper-address 192.0.2.9", " duplex full"]);
}

#[test]
fn an_access_list_of_ios_xr_ends_an_unindented_interface() {
    let text = format!(
        "{IOS_XR}{XR_PORT}ipv4 address 192.0.2.1 255.255.255.0\nipv4 helper-address vrf default 192.0.2.9\n\
         ipv4 access-list VOICE\n10 permit udp any any eq 5060\n"
    );
    let configuration = parse(&text);
    let states: Vec<LineState> = configuration.lines.iter().skip(1).map(|line| line.state).collect();
    let modeled = LineState::Modelled;
    assert_eq!(states, [modeled, modeled, LineState::Irrelevant, modeled, modeled]);
}
