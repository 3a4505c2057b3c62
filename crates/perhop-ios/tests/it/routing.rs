//! The participation of interfaces of NX-OS, and of bundles of IOS, in OSPF and IS-IS.

use perhop_device::{AnnouncedSubnets, LinkSettingKind, PortRouting, Router};
use perhop_ios::{Platform, Profile, convert, parse};

pub(super) fn router(text: &str) -> Router {
    convert(&mut parse(text), &Platform::for_profile(Profile::IosXe))
}

pub(super) fn parts(text: &str, port: &str) -> Vec<PortRouting> {
    let router = router(text);
    router.port(port).unwrap_or_else(|| panic!("no port {port} in {text}")).forwarding.routing.clone()
}

/// Returns the only part of a port in a routing process.
pub(super) fn part(text: &str, port: &str) -> Option<PortRouting> {
    let parts = parts(text, port);
    assert!(parts.len() <= 1, "{parts:?}");
    parts.into_iter().next()
}

pub(super) fn cost(text: &str, port: &str) -> Option<u32> {
    part(text, port).map(|part| part.cost.value)
}

/// Returns a switch with lines in the block of Ethernet1/1, and lines after the interfaces.
fn nx_os(port: &str, rest: &str) -> String {
    format!(
        "version 9.3(5)\nhostname n1\nfeature ospf\ninterface Ethernet1/1\n  no switchport\n  speed 1000\n  \
         ip address 192.0.2.1/30\n{port}interface loopback0\n  ip address 10.255.0.1/32\n  \
         ip router ospf CORE area 0\n{rest}"
    )
}

const AREA: &str = "  ip router ospf CORE area 0.0.0.1\n";
const OSPF: &str = "router ospf CORE\n  router-id 10.255.0.1\n";

#[test]
fn a_port_of_nx_os_names_its_process_and_area() {
    let text = nx_os(AREA, OSPF);
    let part = part(&text, "Ethernet1/1").unwrap();
    assert_eq!((part.line, part.area.as_deref(), part.cost.value), (8, Some("0.0.0.1"), 40));
    assert_eq!(part.cost.line, 12, "the process determines the default cost");
    assert_eq!(self::part(&text.replace("\nrouter ospf CORE", "\nrouter ospf X"), "Ethernet1/1"), None);
    assert_eq!(self::part(&nx_os("", OSPF), "Ethernet1/1"), None);
    let process = &router(&text).forwarding.processes[0];
    assert_eq!((process.distance, process.identity.as_ref().unwrap().value.as_str()), (110, "10.255.0.1"));
}

#[test]
fn a_cost_of_nx_os_follows_from_40_gigabits_or_the_reference_of_the_process() {
    let with = |line: &str| cost(&nx_os(AREA, &format!("{OSPF}  {line}\n")), "Ethernet1/1");
    assert_eq!(with("auto-cost reference-bandwidth 100 Gbps"), Some(100));
    assert_eq!(with("auto-cost reference-bandwidth 10000 Mbps"), Some(10));
    assert_eq!(with("auto-cost reference-bandwidth 2000"), Some(2));
    let written = nx_os(&format!("{AREA}  ip ospf cost 7\n"), OSPF);
    assert_eq!(cost(&written, "Ethernet1/1"), Some(7));
    let bandwidth = nx_os(&format!("{AREA}  bandwidth 10000000\n"), OSPF);
    assert_eq!(cost(&bandwidth, "Ethernet1/1"), Some(4));
    let loopback = part(&bandwidth, "Loopback0").unwrap();
    assert_eq!(loopback.cost.value, 1);
    assert_eq!(loopback.announced, AnnouncedSubnets::Host("10.255.0.1/32".parse().unwrap()));
}

#[test]
fn bundles_and_vlans_have_their_bandwidth() {
    let members = "interface Ethernet1/2\n  speed 10000\n  channel-group 5 mode active\ninterface Ethernet1/3\n  \
                   speed 10000\n  channel-group 5 mode active\ninterface port-channel5\n  no switchport\n  \
                   ip address 192.0.2.5/30\n  ip router ospf CORE area 0\ninterface Vlan10\n  \
                   ip address 192.0.2.9/30\n  ip router ospf CORE area 0\n";
    let text = nx_os(AREA, &format!("{members}{OSPF}"));
    assert_eq!(cost(&text, "Port-channel5"), Some(2));
    assert_eq!(cost(&text, "Vlan10"), Some(40));
    let down = text.replace("interface Ethernet1/3\n", "interface Ethernet1/3\n  shutdown\n");
    assert_eq!(cost(&down, "Port-channel5"), Some(4), "a member that is down has no rate");
    let ios = "interface GigabitEthernet1/0/1\n channel-group 1 mode active\ninterface GigabitEthernet1/0/2\n \
               channel-group 1 mode active\ninterface Port-channel1\n ip address 192.0.2.1 255.255.255.252\nrouter \
               ospf 1\n auto-cost reference-bandwidth 100000\n network 0.0.0.0 255.255.255.255 area 0\n";
    assert_eq!(cost(ios, "Port-channel1"), Some(50));
}

#[test]
fn passive_ports_of_nx_os_have_no_neighbors() {
    let line = |port: &str, process: &str| {
        let text = nx_os(&format!("{AREA}{port}"), &format!("{OSPF}{process}"));
        part(&text, "Ethernet1/1").unwrap().passive
    };
    let default = "  passive-interface default\n";
    assert_eq!(line("", ""), None);
    assert_eq!(line("  ip ospf passive-interface\n", ""), Some(9));
    assert_eq!(line("", default), Some(12));
    assert_eq!(line("  no ip ospf passive-interface\n", default), None);
    let off = nx_os(&format!("{AREA}  ip ospf shutdown\n"), OSPF);
    assert_eq!(part(&off, "Ethernet1/1"), None);
    assert_eq!(part(&nx_os(AREA, &format!("{OSPF}  shutdown\n")), "Ethernet1/1"), None);
}

#[test]
fn a_vrf_of_nx_os_is_a_process_of_its_own() {
    let vrf = "  auto-cost reference-bandwidth 1 Gbps\n  vrf RED\n    auto-cost reference-bandwidth 80 Gbps\n    \
               redistribute direct route-map ALL\n  distance 90\n";
    let text = nx_os(&format!("{AREA}  vrf member RED\n"), &format!("{OSPF}{vrf}"));
    let part = part(&text, "Ethernet1/1").unwrap();
    assert_eq!((part.process, part.cost.value), (1, 80));
    let processes = router(&text).forwarding.processes;
    assert_eq!(processes.len(), 2);
    assert_eq!(processes[1].vrf.as_deref(), Some("RED"));
    assert_eq!(processes[1].redistributed[0].value, "connected");
    assert_eq!((processes[0].not_computed.len(), processes[1].not_computed.len()), (1, 1));
    assert_eq!(self::part(&nx_os(AREA, &format!("{OSPF}{vrf}")), "Ethernet1/1").unwrap().process, 0);
    let without = nx_os(&format!("{AREA}  vrf member RED\n"), OSPF);
    assert_eq!(self::part(&without, "Ethernet1/1"), None);
}

#[test]
fn routes_that_perhop_does_not_compute_have_their_lines() {
    let lines = |process: &str| {
        let text = nx_os(AREA, &format!("{OSPF}{process}"));
        router(&text).forwarding.processes[0].not_computed.clone()
    };
    assert_eq!(lines("  area 0.0.0.1 stub\n"), [14]);
    assert_eq!(lines("  table-map FILTER filter\n  summary-address 10.0.0.0/8\n"), [14, 15]);
    assert_eq!(lines("  max-metric router-lsa on-startup 60\n  maximum-paths 8\n"), [0; 0]);
    assert_eq!(lines("  default-information originate always\n"), [0; 0]);
    let unnumbered = nx_os(AREA, OSPF).replace("ip address 192.0.2.1/30", "ip unnumbered loopback0");
    assert_eq!(router(&unnumbered).forwarding.processes[0].not_computed, [8]);
}

/// Returns a switch with IS-IS.
fn isis(port: &str, process: &str) -> String {
    let text = nx_os(&format!("  ip router isis CORE\n{port}"), "router isis CORE\n");
    format!("{text}  net 49.0001.0000.0000.0001.00\n{process}")
}

#[test]
fn a_metric_of_nx_os_follows_from_the_rate() {
    let metric = |port: &str, process: &str| cost(&isis(port, process), "Ethernet1/1");
    assert_eq!(metric("", ""), Some(40));
    assert_eq!(metric("", "  reference-bandwidth 100 Gbps\n"), Some(100));
    let both = "  isis metric 5 level-1\n  isis metric 9 level-2\n";
    assert_eq!(metric(both, ""), Some(9));
    assert_eq!(metric(both, "  is-type level-1\n"), Some(5));
    assert_eq!(metric(&format!("{both}  isis circuit-type level-1\n"), ""), Some(5));
    let family = "  address-family ipv4 unicast\n    router-id 10.255.0.1\n    redistribute static route-map ALL\n  address-family ipv6 \
                  unicast\n    redistribute direct route-map ALL\n  is-type level-2\n";
    let process = &router(&isis("", family)).forwarding.processes[0];
    assert_eq!((process.distance, process.not_computed.len()), (115, 1), "lines of IPv6 do not count");
    assert_eq!(process.identity.as_ref().unwrap().value, "49.0001.0000.0000.0001.00");
    let ios = "interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.252\n ip router isis\n isis metric \
               20\n isis metric 30 level-1\nrouter isis\n net 49.0001.0000.0000.0001.00\n";
    assert_eq!(cost(ios, "GigabitEthernet0/0"), Some(20));
    assert_eq!(cost(&format!("{ios} is-type level-1\n"), "GigabitEthernet0/0"), Some(30));
}

#[test]
fn a_port_of_is_is_is_passive_in_all_its_levels() {
    let passive = |port: &str, process: &str| part(&isis(port, process), "Ethernet1/1").unwrap().passive;
    assert_eq!(passive("  isis passive-interface level-1-2\n", ""), Some(9));
    assert_eq!(passive("  isis passive-interface level-1\n", ""), None);
    assert_eq!(passive("  isis passive-interface level-1\n", "  is-type level-1\n"), Some(9));
    assert_eq!(passive("", "  passive-interface default level-1-2\n"), Some(12));
    assert_eq!(passive("", "  passive-interface default level-1\n"), None);
    assert_eq!(
        passive("  no isis passive-interface level-1-2\n", "  passive-interface default level-1-2\n"),
        None
    );
    assert_eq!(part(&isis("  isis shutdown\n", ""), "Ethernet1/1"), None);
    let hidden = part(&isis("  isis suppressed\n", ""), "Ethernet1/1").unwrap();
    assert_eq!(hidden.announced, AnnouncedSubnets::Nothing);
}

#[test]
fn settings_of_nx_os_are_compared_with_the_other_end() {
    let text = nx_os(&format!("{AREA}  ip ospf network point-to-point\n  ip ospf hello-interval 5\n"), OSPF);
    let router = router(&text);
    let settings = &router.port("Ethernet1/1").unwrap().forwarding.settings;
    let value = |kind| settings.iter().find(|own| own.kind == kind).map(|own| (own.value.as_str(), own.line));
    assert_eq!(value(LinkSettingKind::OspfNetwork), Some(("point-to-point", 9)));
    assert_eq!(value(LinkSettingKind::OspfHello), Some(("5", 10)));
    assert_eq!(value(LinkSettingKind::OspfDead), Some(("20", 4)));
}
