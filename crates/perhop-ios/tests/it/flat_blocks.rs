//! Blocks whose lines have no indentation: a global command ends them.

use perhop_ios::{LineState, Platform, Profile, convert, parse};

const ROUTE: &str = "ip route 10.3.0.0 255.255.0.0 192.0.2.2";

/// Returns the number of routes and the state of the last line.
fn read(text: &str) -> (usize, LineState) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    (router.forwarding.routes.len(), configuration.lines.last().unwrap().state)
}

#[test]
fn a_route_after_a_block_without_lines_is_read() {
    for before in ["control-plane", "control-plane\n!", "control-plane\nservice-policy input P", "line con 0"]
    {
        assert_eq!(read(&format!("{before}\n{ROUTE}\n")), (1, LineState::Modelled), "{before}");
    }
    let v6 = "ipv6 route 2001:db8::/32 2001:db8:1::1";
    for before in
        ["interface GigabitEthernet0/0", "interface GigabitEthernet0/0\nip address 192.0.2.1 255.255.255.0"]
    {
        assert_eq!(read(&format!("{before}\n{v6}\n")), (1, LineState::Modelled), "{before}");
    }
}

#[test]
fn commands_of_the_block_itself_stay_in_it() {
    let text = "interface GigabitEthernet0/0\nip address 192.0.2.1 255.255.255.0\nipv6 enable\nip nat inside\n\
                crypto map VPN\nip route-cache\nip tcp adjust-mss 1300\nbandwidth 2000\n";
    let mut configuration = parse(text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    assert_eq!(router.ports[0].bandwidth.unwrap().as_bits_per_second(), 2_000_000);
    let blocks: Vec<Option<usize>> = configuration.lines.iter().map(|line| line.block).collect();
    assert_eq!(blocks[1..], [Some(1); 7]);
}

#[test]
fn a_global_command_without_a_model_is_named_after_a_control_plane() {
    let text = "control-plane\nip nat inside source list 1 interface GigabitEthernet0/0 overload\n";
    let state = parse(text).lines[1].state;
    assert_eq!(state, LineState::NotModelled);
    assert_eq!(
        parse("control-plane\n ip nat inside\n").lines[1].state,
        LineState::Irrelevant,
        "inside of it"
    );
}
