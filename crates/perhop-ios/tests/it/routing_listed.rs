//! The ports that the routing processes of IOS XR list.

use perhop_device::{AnnouncedSubnets, LinkSettingKind, RoutingProtocol};

use super::routing::{cost, part, parts, router};

const PORTS: &str = "\
!! IOS XR Configuration 7.3.2
hostname x1
interface Loopback0
 ipv4 address 10.255.0.1 255.255.255.255
!
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.1 255.255.255.252
!
interface TenGigE0/0/0/1
 ipv4 address 192.0.2.5 255.255.255.252
!
interface GigabitEthernet0/0/0/2
 vrf RED
 ipv4 address 192.0.2.9 255.255.255.252
!
";

fn text(process: &str) -> String {
    format!("{PORTS}{process}!\nend\n")
}

const OSPF: &str = "\
router ospf 1
 router-id 10.255.0.1
 cost 50
 passive enable
 address-family ipv4 unicast
 area 0
  cost 30
  passive disable
  interface Loopback0
   passive enable
  !
  interface GigabitEthernet0/0/0/0
   cost 10
   network point-to-point
  !
  interface TenGigE0/0/0/1
  !
 !
 area 0.0.0.1
  interface GigabitEthernet0/0/0/2
  !
 !
 vrf RED
  auto-cost reference-bandwidth 40000
  area 5
   interface GigabitEthernet0/0/0/2
    hello-interval 3
   !
  !
 !
 default-information originate
";

#[test]
fn a_listed_port_inherits_settings_of_its_area_and_process() {
    let text = text(OSPF);
    let first = part(&text, "GigabitEthernet0/0/0/0").unwrap();
    assert_eq!((first.line, first.area.as_deref(), first.cost.value), (27, Some("0"), 10));
    assert_eq!((first.cost.line, first.passive), (28, None));
    assert_eq!(cost(&text, "TenGigE0/0/0/1"), Some(30), "the area has precedence over the process");
    let loopback = part(&text, "Loopback0").unwrap();
    assert_eq!(loopback.passive, Some(25));
    assert_eq!(loopback.announced, AnnouncedSubnets::Host("10.255.0.1/32".parse().unwrap()));
    let bare = text.replace("  cost 30\n  passive disable\n", "");
    assert_eq!(cost(&bare, "TenGigE0/0/0/1"), Some(50));
    assert_eq!(part(&bare, "TenGigE0/0/0/1").unwrap().passive, Some(19));
}

#[test]
fn a_vrf_of_ios_xr_is_a_process_of_its_own() {
    let text = text(OSPF);
    let red = part(&text, "GigabitEthernet0/0/0/2").unwrap();
    assert_eq!((red.process, red.area.as_deref(), red.cost.value), (1, Some("5"), 40));
    assert_eq!(red.passive, None, "settings of the process do not apply");
    let processes = router(&text).forwarding.processes;
    assert_eq!((processes[0].vrf.as_deref(), processes[1].vrf.as_deref()), (None, Some("RED")));
    assert!(processes[0].default_route.is_some() && processes[1].default_route.is_none());
}

#[test]
fn a_cost_of_ios_xr_follows_from_100_megabits() {
    let plain = "router ospf 1\n area 0\n  interface GigabitEthernet0/0/0/0\n  !\n  interface \
                 TenGigE0/0/0/1\n  !\n !\n";
    assert_eq!(cost(&text(plain), "GigabitEthernet0/0/0/0"), Some(1));
    let reference = plain.replace(" area 0\n", " auto-cost reference-bandwidth 100000\n area 0\n");
    let reference = text(&reference);
    assert_eq!(cost(&reference, "GigabitEthernet0/0/0/0"), Some(100));
    assert_eq!(cost(&reference, "TenGigE0/0/0/1"), Some(10));
    let slow =
        reference.replace("192.0.2.5 255.255.255.252\n", "192.0.2.5 255.255.255.252\n bandwidth 50000\n");
    assert_eq!(cost(&slow, "TenGigE0/0/0/1"), Some(2000));
    let bundle = format!(
        "{PORTS}interface TenGigE0/0/0/3\n bundle id 7 mode active\n!\ninterface TenGigE0/0/0/4\n bundle id 7 mode \
         active\n!\ninterface Bundle-Ether7\n ipv4 address 192.0.2.13/30\n!\ninterface BVI1\n ipv4 address \
         192.0.2.17/30\n!\nrouter ospf 1\n auto-cost reference-bandwidth 100000\n area 0\n  interface \
         Bundle-Ether7\n  !\n  interface BVI1\n  !\n !\n!\nend\n"
    );
    assert_eq!(cost(&bundle, "Bundle-Ether7"), Some(5));
    assert_eq!(cost(&bundle, "BVI1"), Some(10));
}

#[test]
fn areas_and_filters_that_perhop_does_not_compute_have_their_lines() {
    for line in [
        "  stub",
        "  nssa",
        "  range 10.0.0.0/8",
        "  route-policy P in",
        " distribute-list route-policy P in",
    ] {
        let process = format!("router ospf 1\n area 0\n  interface GigabitEthernet0/0/0/0\n  !\n{line}\n");
        let processes = router(&text(&process)).forwarding.processes;
        assert_eq!(processes[0].not_computed, [20], "{line}");
    }
    let process = "router ospf 1\n redistribute static\n redistribute bgp 65000 route-policy P\n nsr\n";
    let own = router(&text(process)).forwarding.processes;
    assert_eq!(
        own[0].redistributed.iter().map(|at| at.value.as_str()).collect::<Vec<_>>(),
        ["static", "bgp"]
    );
    assert_eq!(own[0].not_computed, [17, 18]);
}

const ISIS: &str = "\
router isis CORE
 is-type level-1-2
 net 49.0001.0000.0000.0001.00
 address-family ipv4 unicast
  metric-style wide
  metric 70 level 2
 !
 address-family ipv6 unicast
  metric 80
  redistribute connected
 !
 interface Loopback0
  passive
  address-family ipv4 unicast
  !
 !
 interface GigabitEthernet0/0/0/0
  circuit-type level-2-only
  point-to-point
  address-family ipv4 unicast
   metric 25
   metric 35 level 1
  !
  address-family ipv6 unicast
   metric 99
  !
 !
 interface TenGigE0/0/0/1
  address-family ipv4 unicast
  !
 !
";

#[test]
fn a_port_of_is_is_has_the_metric_of_its_level() {
    let text = text(ISIS);
    let first = part(&text, "GigabitEthernet0/0/0/0").unwrap();
    assert_eq!((first.line, first.cost.value, first.passive), (32, 25, None));
    assert_eq!(cost(&text, "TenGigE0/0/0/1"), Some(70));
    let narrow = text.replace("level-1-2", "level-1").replace("  circuit-type level-2-only\n", "");
    assert_eq!(cost(&narrow, "GigabitEthernet0/0/0/0"), Some(35));
    assert_eq!(cost(&narrow, "TenGigE0/0/0/1"), Some(10), "the default metric");
    assert_eq!(part(&text, "Loopback0").unwrap().passive, Some(28));
    let process = &router(&text).forwarding.processes[0];
    assert_eq!((process.distance, process.not_computed.len()), (115, 0), "lines of IPv6 do not count");
}

#[test]
fn a_port_needs_the_address_family() {
    let text = text(ISIS);
    let without = text
        .replace("0/1\n  address-family ipv4 unicast\n  !\n", "0/1\n  address-family ipv6 unicast\n  !\n");
    assert_eq!(part(&without, "TenGigE0/0/0/1"), None);
    let second = "  !\n !\n interface TenGigE0/0/0/1\n";
    assert!(text.contains(second));
    assert_eq!(part(&text.replace(second, &format!("{second}  shutdown\n")), "TenGigE0/0/0/1"), None);
    let suppressed =
        part(&text.replace(second, &format!("{second}  suppressed\n")), "TenGigE0/0/0/1").unwrap();
    assert_eq!((suppressed.announced, suppressed.passive), (AnnouncedSubnets::Nothing, None));
    let only = text.replace("  metric-style wide\n", "  advertise passive-only\n");
    assert_eq!(part(&only, "TenGigE0/0/0/1").unwrap().announced, AnnouncedSubnets::Nothing);
    assert_eq!(part(&only, "Loopback0").unwrap().announced, AnnouncedSubnets::OfAddresses);
}

#[test]
fn groups_can_change_ports_so_the_routes_are_not_computed() {
    let group = "group G\n router isis '.*'\n  interface 'Gig.*'\n   address-family ipv4 unicast\n    metric \
                 7\n   !\n  !\n !\nend-group\napply-group G\n";
    let text = text(&format!("{ISIS}!\n{group}"));
    assert!(parts(&text, "GigabitEthernet0/0/0/0").is_empty());
    assert_eq!(router(&text).forwarding.processes[0].protocol, RoutingProtocol::Other);
}

#[test]
fn blocks_without_indentation_list_no_ports() {
    let lines: Vec<String> = text(OSPF).lines().map(|line| line.trim_start().to_owned()).collect();
    let flat = lines.join("\n");
    assert!(parts(&flat, "TenGigE0/0/0/1").is_empty());
    assert_eq!(router(&flat).ports.iter().filter(|port| port.name.contains("GigE")).count(), 1);
}

#[test]
fn settings_of_a_list_are_compared_with_the_other_end() {
    let router = router(&text(OSPF));
    let value = |port: &str, kind| {
        let settings = &router.port(port).unwrap().forwarding.settings;
        settings.iter().find(|own| own.kind == kind).map(|own| (own.value.clone(), own.is_set))
    };
    let red = |kind| value("GigabitEthernet0/0/0/2", kind);
    assert_eq!(red(LinkSettingKind::OspfHello), Some(("3".to_owned(), true)));
    assert_eq!(red(LinkSettingKind::OspfDead), Some(("12".to_owned(), false)));
    assert_eq!(red(LinkSettingKind::OspfNetwork), None, "another rule compares the types of listed ports");
}
