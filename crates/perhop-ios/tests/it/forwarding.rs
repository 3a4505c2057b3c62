//! Routes, routing tables, tunnels and access lists in the device model.

use perhop_device::{
    AccessDecision, ClassifiedHeader, PortRole, Route, RouteTarget, Router, TunnelEnds, TunnelSource,
};
use perhop_ios::{Configuration, LineState, Platform, Profile, convert, parse};
use perhop_qos::Packet;
use perhop_qos::packet::Protocol;

fn read(text: &str) -> (Configuration, Router) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::IosXe));
    (configuration, router)
}

fn routes(text: &str) -> Vec<Route> {
    read(text).1.forwarding.routes
}

#[test]
fn a_route_has_its_prefix_target_and_distance() {
    let text = "ip route 0.0.0.0 0.0.0.0 192.0.2.1\nip route 10.0.0.0 255.0.0.0 Gi0/1 192.0.2.5 200 name core\n\
                ip route vrf RED 10.1.0.0 255.255.0.0 Null 0\nip route 0.0.0.0 0.0.0.0 dhcp 254\n\
                ipv6 route 2001:db8::/32 Serial 0/0 2001:db8::1\nip route 10.2.0.0 255.255.0.0 192.0.2.9 track 7\n";
    let found: Vec<_> = routes(text)
        .into_iter()
        .map(|route| (route.line, route.prefix.to_string(), route.via, route.distance, route.is_conditional))
        .collect();
    let hop = |text: &str| RouteTarget::NextHop(text.parse().unwrap());
    let out = |name: &str, hop: &str| RouteTarget::Interface {
        name: name.into(),
        next_hop: Some(hop.parse().unwrap()),
    };
    assert_eq!(
        found,
        [
            (1, "0.0.0.0/0".to_owned(), hop("192.0.2.1"), 1, false),
            (2, "10.0.0.0/8".to_owned(), out("GigabitEthernet0/1", "192.0.2.5"), 200, false),
            (3, "10.1.0.0/16".to_owned(), RouteTarget::Discard, 1, false),
            (4, "0.0.0.0/0".to_owned(), RouteTarget::Learned, 254, false),
            (5, "2001:db8::/32".to_owned(), out("Serial0/0", "2001:db8::1"), 1, false),
            (6, "10.2.0.0/16".to_owned(), hop("192.0.2.9"), 1, true),
        ]
    );
    assert_eq!(routes(text)[2].vrf.as_deref(), Some("RED"));
}

#[test]
fn a_negated_route_is_removed() {
    let text = "ip route 10.0.0.0 255.0.0.0 192.0.2.1\nip route 10.0.0.0 255.0.0.0 192.0.2.2\n";
    assert_eq!(routes(text).len(), 2);
    assert_eq!(routes(&format!("{text}no ip route 10.0.0.0 255.0.0.0 192.0.2.1\n")).len(), 1);
    assert_eq!(routes(&format!("{text}no ip route 10.0.0.0 255.0.0.0\n")).len(), 0);
}

#[test]
fn a_route_that_the_router_refuses_is_not_recognized() {
    for text in ["ip route 10.0.0.1 255.0.0.0 192.0.2.1", "ip route 10.0.0.0 255.0.255.0 192.0.2.1"] {
        let (configuration, router) = read(text);
        assert_eq!(configuration.lines[0].state, LineState::NotRecognized, "{text}");
        assert!(router.forwarding.routes.is_empty(), "{text}");
    }
}

#[test]
fn a_tunnel_has_its_ends_and_the_header_that_classes_see() {
    let text = "interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.0\ninterface Tunnel0\n \
                ip vrf forwarding RED\n tunnel source GigabitEthernet0/0\n tunnel destination 198.51.100.1\n \
                tunnel vrf BLUE\n qos pre-classify\ninterface Tunnel1\n tunnel source 192.0.2.1\n \
                tunnel mode gre multipoint\ninterface Tunnel2\n tunnel mode ipsec ipv4\ninterface Tunnel3\n \
                tunnel mode ipip\nrouter ospf 1\n";
    let (_, router) = read(text);
    let port = |name: &str| router.port(name).unwrap().forwarding.clone();
    let first = port("Tunnel0");
    let tunnel = first.tunnel.unwrap();
    assert_eq!(first.vrf.map(|vrf| (vrf.line, vrf.value)), Some((4, "RED".to_owned())));
    assert_eq!(
        tunnel.source.map(|source| source.value),
        Some(TunnelSource::Interface("GigabitEthernet0/0".to_owned()))
    );
    assert_eq!(
        tunnel.destination.map(|to| (to.line, to.value.to_string())),
        Some((6, "198.51.100.1".into()))
    );
    assert_eq!(tunnel.vrf.map(|vrf| vrf.value).as_deref(), Some("BLUE"));
    assert_eq!(tunnel.classified_by, ClassifiedHeader::Inner(8));
    let kind = |name: &str| port(name).tunnel.map(|tunnel| (tunnel.protocol, tunnel.ends)).unwrap();
    assert_eq!(kind("Tunnel0"), (Protocol(47), TunnelEnds::One));
    assert_eq!(kind("Tunnel1"), (Protocol(47), TunnelEnds::Several));
    assert_eq!(kind("Tunnel2").0, Protocol(50));
    assert_eq!(kind("Tunnel3").0, Protocol(4));
    assert_eq!(router.forwarding.processes.iter().map(|process| process.line).collect::<Vec<_>>(), [16]);
}

#[test]
fn the_first_entry_of_a_list_that_matches_decides() {
    let text = "ip access-list extended IN\n deny tcp any any eq 23\n permit tcp any any\n\
                interface GigabitEthernet0/0\n ip access-group IN in\n ip access-group NONE out\n";
    let (_, router) = read(text);
    let lists = &router.forwarding.access_lists;
    let tcp = |port| Packet { protocol: Protocol::TCP, destination_port: port, ..Packet::default() };
    let decide = |list: &str, packet: &Packet| lists[list].decide(&[], packet);
    assert_eq!(decide("IN", &tcp(23)), (AccessDecision::Deny, Some(2)));
    assert_eq!(decide("IN", &tcp(80)), (AccessDecision::Permit, Some(3)));
    assert_eq!(decide("IN", &Packet { protocol: Protocol::UDP, ..tcp(80) }), (AccessDecision::Deny, None));
    // An undefined list permits all.
    assert_eq!(decide("NONE", &tcp(23)), (AccessDecision::Permit, None));
    let groups = &router.ports[0].forwarding.access_groups;
    assert_eq!(groups.iter().map(|group| group.line).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn policies_and_the_control_plane_have_the_lines_that_attach_them() {
    let text = "policy-map P\n class class-default\n  police 8000\ninterface GigabitEthernet0/0\n \
                service-policy input P\n service-policy output P\ncontrol-plane\n service-policy input P\n";
    let (_, router) = read(text);
    let lines = |place: usize| {
        let forwarding = &router.ports[place].forwarding;
        (forwarding.role, forwarding.input_line, forwarding.output_line)
    };
    assert_eq!(lines(0), (PortRole::Interface, Some(5), Some(6)));
    assert_eq!(lines(1), (PortRole::ControlPlane, Some(8), None));
}

/// Returns the protocol of the outer header of a protected tunnel, and the finding about its encryption.
fn protected(crypto: &str, mode: &str) -> (Protocol, Option<String>) {
    let text = format!(
        "{crypto}interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.0\ninterface Tunnel0\n \
         tunnel source GigabitEthernet0/0\n tunnel destination 198.51.100.1\n{mode} \
         tunnel protection ipsec profile P\n"
    );
    let (configuration, router) = read(&text);
    let found = configuration.diagnostics.iter().find(|diagnostic| diagnostic.rule.id == "headers-unusable");
    let protocol = router.ports[1].forwarding.tunnel.as_ref().unwrap().protocol;
    (protocol, found.map(|diagnostic| diagnostic.message.clone()))
}

#[test]
fn a_protected_tunnel_encrypts_also_without_its_profile() {
    const SET: &str = "crypto ipsec transform-set T esp-aes esp-sha-hmac\n";
    const PROFILE: &str = "crypto ipsec profile P\n";
    const USES: &str = " set transform-set T\n";
    for mode in ["", " tunnel mode ipip\n", " tunnel mode ipsec ipv4\n"] {
        let missing = |crypto: &str| {
            let (protocol, found) = protected(crypto, mode);
            assert_eq!(protocol, Protocol(50), "{crypto}{mode}");
            found
        };
        let is_missing = |part| Some(format!("the encryption of Tunnel0: {part} is not defined"));
        assert_eq!(missing(""), is_missing("ipsec profile P"));
        assert_eq!(missing(PROFILE), is_missing("a transform set of ipsec profile P"));
        assert_eq!(missing(&format!("{PROFILE}{USES}")), is_missing("transform set T"));
        assert_eq!(missing(&format!("{SET}{PROFILE}{USES}")), None);
    }
}
