//! Statements outside of class of service and filters: those that affect packets are not irrelevant.

use perhop_device::{DeviceModel, RoutingProtocol};
use perhop_lint::LineState;

use crate::read::parse;

const PORT: &str = "set interfaces ge-0/0/0 unit 0 family inet address 10.0.0.1/24\n";

fn mx(text: &str) -> DeviceModel {
    parse(&format!("{PORT}{text}\n"), Some("junos-mx"))
}

/// Returns the state and the note of the last line.
fn last(text: &str) -> (LineState, String) {
    let line = mx(text).lines.pop().unwrap();
    (line.state, line.note.unwrap_or_default())
}

fn are_not_modeled(note: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(last(text), (LineState::NotModelled, note.to_owned()), "{text}");
    }
}

#[test]
fn ports_whose_rate_or_forwarding_differs_are_not_modeled() {
    are_not_modeled(
        "the header and the forwarding of this encapsulation",
        &[
            "set interfaces ge-0/0/1 encapsulation extended-vlan-bridge",
            "set interfaces ge-0/0/1 unit 5 encapsulation vlan-ccc",
        ],
    );
    are_not_modeled(
        "lines that are slower than their kind",
        &[
            "set interfaces t1-0/0/0 t1-options timeslots 1-6",
            "set interfaces se-1/0/0 serial-options clock-rate 2.0mhz",
        ],
    );
    are_not_modeled(
        "ports that return packets",
        &[
            "set interfaces ge-0/0/1 gigether-options loopback",
            "set interfaces t3-0/0/0 t3-options loopback local",
        ],
    );
    are_not_modeled(
        "half duplex",
        &[
            "set interfaces fe-0/0/1 link-mode half-duplex",
            "set interfaces ge-0/0/1 ether-options link-mode half-duplex",
        ],
    );
    are_not_modeled(
        "the links of redundant interfaces",
        &["set interfaces ge-0/0/1 gigether-options redundant-parent reth3"],
    );
    are_not_modeled(
        "the active node of a cluster",
        &[
            "set interfaces reth3 redundant-ether-options redundancy-group 1",
            "set chassis cluster redundancy-group 1 node 0 priority 200",
        ],
    );
    are_not_modeled(
        "bundles with one active link",
        &["set interfaces ae3 aggregated-ether-options link-protection"],
    );
    are_not_modeled(
        "the ports of a card, and their rates",
        &["set chassis fpc 1 pic 0 port 3 number-of-sub-ports 4", "set chassis fpc 1 pic 0 pic-mode 100G"],
    );
    are_not_modeled("cards without power", &["set chassis fpc 2 power off"]);
    are_not_modeled("the number of bundles", &["set chassis aggregated-devices ethernet device-count 8"]);
}

#[test]
fn tags_and_addresses_of_units_are_not_modeled() {
    are_not_modeled("frames without a tag", &["set interfaces ge-0/0/1 native-vlan-id 7"]);
    are_not_modeled("the tags of several VLANs", &["set interfaces ge-0/0/1 unit 5 vlan-id-list 10-20"]);
    are_not_modeled(
        "forwarding in VLANs",
        &[
            "set interfaces ge-0/0/1 unit 0 family ethernet-switching native-vlan-id 7",
            "set vlans v10 vlan-id 10",
            "set bridge-domains b vlan-id-list 10-20",
        ],
    );
    are_not_modeled(
        "the header of VXLAN",
        &["set vlans v10 vxlan vni 7010", "set bridge-domains b vxlan vni 7010"],
    );
    are_not_modeled(
        "an address that is assigned dynamically",
        &[
            "set interfaces ge-0/0/1 unit 0 family inet dhcp",
            "set interfaces ge-0/0/1 unit 0 family inet6 dhcpv6-client client-type stateful",
        ],
    );
    are_not_modeled(
        "an address that several devices share",
        &[
            "set interfaces irb unit 5 family inet address 10.5.0.2/24 virtual-gateway-address 10.5.0.1",
            "set interfaces ge-0/0/1 unit 0 family inet address 10.5.0.2/24 vrrp-group 1 priority 200",
        ],
    );
    are_not_modeled(
        "the address of another interface",
        &["set interfaces ge-0/0/1 unit 0 family inet unnumbered-address lo0.0"],
    );
    are_not_modeled("the MTU of a family", &["set interfaces ge-0/0/1 unit 0 family mpls mtu 1500"]);
}

#[test]
fn labels_headers_and_paths_of_flows_are_not_modeled() {
    are_not_modeled(
        "labels make packets longer and hide the DS field",
        &[
            "set protocols mpls label-switched-path west class-of-service 5",
            "set protocols isis source-packet-routing explicit-null",
            "set protocols ldp interface ge-0/0/0.0",
        ],
    );
    are_not_modeled(
        "frames in pseudowires",
        &["set protocols l2circuit neighbor 10.0.0.9 interface ge-0/0/1.5 virtual-circuit-id 5"],
    );
    are_not_modeled(
        "the header of MACsec",
        &["set security macsec connectivity-association west security-mode static-cak"],
    );
    are_not_modeled(
        "the next hop or link that a flow takes",
        &[
            "set forwarding-options enhanced-hash-key ecmp-dlb flowlet",
            "set interfaces ae3 aggregated-ether-options load-balance adaptive",
            "set routing-options forwarding-table export spread",
            "set policy-options policy-statement spread then load-balance per-packet",
        ],
    );
    are_not_modeled(
        "frames that leave before they have arrived whole",
        &["set forwarding-options cut-through"],
    );
    are_not_modeled(
        "flow routes, which filter packets",
        &["set protocols bgp family inet flow", "set protocols bgp group west family inet flow"],
    );
    are_not_modeled(
        "aggregate and generated routes",
        &[
            "set routing-options generate route 0.0.0.0/0",
            "set routing-options rib inet6.0 aggregate route 2001:db8::/32",
        ],
    );
}

#[test]
fn classes_and_drops_of_other_hierarchies_are_not_modeled() {
    are_not_modeled(
        "the class of voice VLANs",
        &[
            "set switch-options voip interface ge-0/0/1.0 forwarding-class voice",
            "set ethernet-switching-options voip interface ge-0/0/1.0 vlan voice",
        ],
    );
    are_not_modeled("storm control", &["set ethernet-switching-options storm-control interface all"]);
    are_not_modeled(
        "frames above a number of MAC addresses",
        &["set switch-options interface ge-0/0/1.0 interface-mac-limit 4"],
    );
    are_not_modeled(
        "packets that security policies reject",
        &[
            "set security address-book global address a 10.7.0.0/16",
            "set applications application a destination-port 8080",
        ],
    );
    are_not_modeled("classes and codepoints of services", &["set services cos rule r term t then dscp ef"]);
    are_not_modeled(
        "the class and the marks of packets of the device itself",
        &["set class-of-service host-outbound-traffic forwarding-class network-control"],
    );
}

#[test]
fn statements_without_effect_on_packets_are_irrelevant() {
    for text in [
        "set chassis fpc 2 power on",
        "set chassis alarm management-ethernet link-down ignore",
        "set forwarding-options sampling family inet output flow-server 10.0.0.9 port 2055",
        "set interfaces ge-0/0/1 encapsulation flexible-ethernet-services",
        "set interfaces ge-0/0/1 hold-time up 2000 down 0",
        "set interfaces ge-0/0/1 link-mode full-duplex",
        "set interfaces t1-0/0/0 t1-options framing esf",
        "set interfaces reth3 redundant-ether-options lacp active",
        "set interfaces ge-0/0/1 unit 0 family inet address 10.5.0.2/24 preferred",
        "set interfaces ge-0/0/1 unit 0 family iso mtu 1492",
        "set protocols mpls traceoptions file mpls",
        "set protocols isis interface ge-0/0/0.0 passive",
        "set security ike proposal west dh-group group14",
        "set routing-options static defaults tag 7",
        "set vlans v10 description office",
    ] {
        assert_eq!(last(text), (LineState::Irrelevant, String::new()), "{text}");
    }
}

#[test]
fn a_route_that_is_not_installed_carries_no_packets() {
    let route = "set routing-options static route 10.9.0.0/16 next-hop 10.0.0.2";
    assert_eq!(mx(route).router.forwarding.routes.len(), 1);
    let model = mx(&format!("{route}\nset routing-options static route 10.9.0.0/16 no-install"));
    assert!(model.router.forwarding.routes.is_empty());
    assert_eq!(model.lines.last().unwrap().state, LineState::Modelled);
}

#[test]
fn an_unused_port_is_down() {
    let port = "set interfaces ge-0/0/1 unit 0 family inet address 10.5.0.1/24";
    for word in ["disable", "unused"] {
        let model = mx(&format!("{port}\nset interfaces ge-0/0/1 {word}"));
        let own = model.router.ports.iter().find(|own| own.name == "ge-0/0/1.0").unwrap();
        assert!(own.shutdown, "{word}");
        assert_eq!(model.lines.last().unwrap().state, LineState::Modelled);
    }
}

/// perhop does not compute the routes of BGP, so a walk must not follow a default route as if they did not
/// exist.
#[test]
fn routing_protocols_are_processes() {
    let model = mx("set protocols ospf area 0.0.0.0 interface ge-0/0/0.0\n\
         set protocols lldp interface all\n\
         set protocols bgp group G neighbor 10.0.0.2\n\
         set routing-options static route 0.0.0.0/0 next-hop 10.0.0.2");
    let processes = model.router.forwarding.processes.iter();
    let found: Vec<_> = processes.map(|process| (process.line, process.protocol, process.distance)).collect();
    assert_eq!(found, [(2, RoutingProtocol::Ospf, 10), (4, RoutingProtocol::Other, 170)]);
}

#[test]
fn statements_that_change_packets_are_not_irrelevant() {
    for line in [
        "set system packet-forwarding-options no-ip-tos-rewrite",
        "set system ddos-protection protocols pppoe padse bandwidth 2000",
        "set routing-options dynamic-tunnels T gre",
        "set routing-options forwarding-table unicast-reverse-path feasible-paths",
        "set policy-options policy-statement P then install-nexthop lsp L",
        "set protocols bgp group G family inet labeled-unicast",
        "set vlans V forwarding-options flood input F",
        "set forwarding-options port-mirroring input rate 1",
        "set services captive-portal-content-delivery rule R term T then reject",
        "set interfaces ae0 aggregated-ether-options lacp link-protection",
        "set interfaces rlt0 redundancy-options primary lt-0/0/0",
        "set interfaces ge-0/0/1 unit 0 service-domain inside",
    ] {
        let model = mx(line);
        assert_eq!(model.lines[1].state, LineState::NotModelled, "{line}");
    }
}
