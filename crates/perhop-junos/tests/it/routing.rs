//! The participation of units in OSPF and IS-IS.

use perhop_device::{Port, PortRouting, RoutingProtocol};

use crate::read::parse;

const INTERFACES: &str = "\
set system host-name p1
set interfaces lo0 unit 0 family inet address 10.255.0.1/32
set interfaces lo0 unit 0 family iso address 49.0001.0102.5500.0001.00
set interfaces ge-0/0/0 unit 0 family inet address 10.0.1.1/30
set interfaces ge-0/0/0 unit 0 family iso
set interfaces xe-0/0/1 unit 0 family inet address 10.0.2.1/30
set interfaces xe-0/0/1 unit 0 family iso
set interfaces ge-0/0/2 unit 0 family inet address 10.0.3.1/30
";

fn part(text: &str, port: &str) -> Option<PortRouting> {
    let model = parse(&format!("{INTERFACES}{text}"), Some("junos-mx"));
    let port: Option<&Port> = model.router.port(port);
    let parts = &port.unwrap_or_else(|| panic!("no port in {text}")).forwarding.routing;
    assert!(parts.len() <= 1);
    parts.first().cloned()
}

fn cost(text: &str, port: &str) -> Option<u32> {
    part(text, port).map(|part| part.cost.value)
}

#[test]
fn a_cost_is_the_metric_or_follows_from_the_rate() {
    let one = "set protocols ospf area 0 interface ge-0/0/0.0 metric 40\n";
    assert_eq!(cost(one, "ge-0/0/0.0"), Some(40));
    assert_eq!(cost(one, "xe-0/0/1.0"), None);
    let all = "set protocols ospf area 0.0.0.0 interface all\n";
    assert_eq!(cost(all, "ge-0/0/0.0"), Some(1));
    assert_eq!(cost(all, "lo0.0"), Some(0));
    let reference = format!("{all}set protocols ospf reference-bandwidth 100g\n");
    assert_eq!(cost(&reference, "ge-0/0/0.0"), Some(100));
    assert_eq!(cost(&reference, "xe-0/0/1.0"), Some(10));
    let slow = format!("{reference}set interfaces ge-0/0/0 unit 0 bandwidth 50m\n");
    assert_eq!(cost(&slow, "ge-0/0/0.0"), Some(2000));
    let whole = "set protocols ospf area 0 interface ge-0/0/0 metric 7\n";
    assert_eq!(cost(whole, "ge-0/0/0.0"), Some(7));
}

#[test]
fn disabled_and_passive_units_form_no_adjacency() {
    let all = "set protocols ospf area 0 interface all\n";
    let off = format!("{all}set protocols ospf area 0 interface ge-0/0/0.0 disable\n");
    assert_eq!(part(&off, "ge-0/0/0.0"), None);
    assert!(part(&off, "xe-0/0/1.0").is_some_and(|part| part.passive.is_none()));
    let passive = "set protocols ospf area 0.0.0.1 interface ge-0/0/0.0 passive\n";
    let part = part(passive, "ge-0/0/0.0").unwrap();
    assert_eq!((part.area.as_deref(), part.passive), (Some("0.0.0.1"), Some(9)));
}

#[test]
fn units_of_a_routing_instance_do_not_run_the_protocols_of_the_main_table() {
    let all = "set protocols ospf area 0 interface all\n";
    let inside = format!("{all}set routing-instances RED interface ge-0/0/0.0\n");
    assert_eq!(part(&inside, "ge-0/0/0.0"), None);
}

#[test]
fn isis_needs_its_family_and_takes_the_metric_of_an_enabled_level() {
    let all = "set protocols isis interface all\n";
    assert_eq!(cost(all, "ge-0/0/0.0"), Some(10));
    assert_eq!(cost(all, "lo0.0"), Some(0));
    assert_eq!(cost(all, "ge-0/0/2.0"), None, "the unit has no family iso");
    let levels = "set protocols isis interface ge-0/0/0.0 level 1 metric 30\n\
                  set protocols isis interface ge-0/0/0.0 level 2 metric 20\n";
    assert_eq!(cost(levels, "ge-0/0/0.0"), Some(20));
    let lower = format!("{levels}set protocols isis level 2 disable\n");
    assert_eq!(cost(&lower, "ge-0/0/0.0"), Some(30));
    let none = format!("{lower}set protocols isis interface ge-0/0/0.0 level 1 disable\n");
    assert_eq!(cost(&none, "ge-0/0/0.0"), None);
    let reference = format!("{all}set protocols isis reference-bandwidth 1000g\n");
    assert_eq!(cost(&reference, "xe-0/0/1.0"), Some(63));
    let wide = format!("{reference}set protocols isis level 2 wide-metrics-only\n");
    assert_eq!(cost(&wide, "xe-0/0/1.0"), Some(100));
}

#[test]
fn policies_and_filters_are_lines_whose_routes_are_not_computed() {
    let text = format!(
        "{INTERFACES}set protocols ospf export OUT\n\
         set protocols ospf area 1 stub\n\
         set protocols ospf overload timeout 300\n\
         set protocols bgp group PEERS neighbor 10.0.1.2\n\
         set policy-options policy-statement OUT term 1 from protocol [ static direct ]\n\
         set policy-options policy-statement OUT term 1 then accept\n"
    );
    let model = parse(&text, Some("junos-mx"));
    let [ospf, bgp] = model.router.forwarding.processes.as_slice() else { panic!("two processes") };
    assert_eq!(ospf.protocol, RoutingProtocol::Ospf);
    assert_eq!(bgp.protocol, RoutingProtocol::Other);
    assert_eq!(ospf.not_computed, [9, 10]);
    let origins: Vec<&str> = ospf.redistributed.iter().map(|at| at.value.as_str()).collect();
    assert_eq!(origins, ["connected", "static"]);
}
