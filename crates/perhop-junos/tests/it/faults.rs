//! Undefined names, invalid values, and statements that perhop must not ignore.

use std::fmt::Write;

use perhop_device::DeviceModel;
use perhop_lint::LineState;
use perhop_qos::Rate;

use crate::read::{parse, show};

const PORT: &str = "set interfaces ge-0/0/0 unit 0 family inet address 10.0.0.1/24\n";

fn mx(text: &str) -> DeviceModel {
    parse(&format!("{PORT}{text}"), Some("junos-mx"))
}

/// Returns the state of the last line.
fn state(text: &str) -> LineState {
    mx(text).lines.last().unwrap().state
}

#[test]
fn attachments_of_undefined_names_are_reported() {
    for (statement, kind) in [
        ("scheduler-map nope", "scheduler map"),
        ("unit 0 classifiers dscp nope", "classifier"),
        ("unit 0 rewrite-rules dscp nope", "rewrite rule"),
        ("unit 0 forwarding-class nope", "forwarding class"),
    ] {
        let model = mx(&format!("set class-of-service interfaces ge-0/0/0 {statement}\n"));
        assert!(show(&model).contains(&format!("there is no {kind} `nope`")), "{}", show(&model));
        assert_eq!(model.lines[1].state, LineState::Suspicious);
    }
    let known = "set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp default\n";
    assert_eq!(show(&mx(known)), "");
}

/// A correction of a small burst is certain. A similar name is only a suggestion.
#[test]
fn small_bursts_are_corrected_and_similar_names_are_suggested() {
    let text = "set class-of-service schedulers gold priority high\n\
                set class-of-service scheduler-maps wan forwarding-class best-efort scheduler glod\n\
                set class-of-service scheduler-maps wan forwarding-class best-effort scheduler glod\n\
                set class-of-service forwarding-classes class best-effort queue-num 0\n\
                set class-of-service interfaces ge-0/0/0 scheduler-map wam\n\
                firewall {\n    policer p {\n        if-exceeding {\n            bandwidth-limit 1m;\n            \
                burst-size-limit 2k;\n        }\n        then discard;\n    }\n}\n";
    let fixed: Vec<String> = mx(text)
        .diagnostics
        .iter()
        .filter_map(|one| one.diagnostic.fix.as_ref())
        .map(|fix| fix.apply(text.lines().nth(fix.line - 2).unwrap()))
        .collect();
    assert_eq!(fixed, ["            burst-size-limit 15k;"]);
    let shown = show(&mx(text));
    for name in ["best-effort", "gold", "wan"] {
        assert!(shown.contains(&format!("the commit fails; did you mean `{name}`?")), "{shown}");
    }
    // A name without a similar name gets no suggestion.
    let other = mx("set class-of-service schedulers gold priority high\n\
                    set class-of-service scheduler-maps wan forwarding-class best-effort scheduler x\n");
    assert!(!show(&other).contains("did you mean"));
}

/// The commit refuses a scheduler map at the name of a unit, and ignores a map at a pattern.
#[test]
fn schedulers_of_units_need_a_port_that_schedules_units() {
    let map = "set class-of-service scheduler-maps m forwarding-class best-effort scheduler s\n\
               set class-of-service schedulers s transmit-rate remainder\n";
    let rules = |text: &str| {
        let model = mx(&format!("{map}{text}"));
        let found = model.diagnostics.iter().map(|one| one.diagnostic.rule.id);
        found.filter(|rule| *rule != "junos-class-without-scheduler").collect::<Vec<_>>()
    };
    let scheduler_map_on =
        |name: &str| format!("set class-of-service interfaces {name} unit 0 scheduler-map m\n");
    assert_eq!(rules(&scheduler_map_on("ge-0/0/0")), ["junos-value-invalid"]);
    assert_eq!(rules(&scheduler_map_on("ge-*")), ["junos-without-effect"]);
    let rate = "set class-of-service interfaces ge-0/0/0 unit 0 shaping-rate 5m\n";
    assert!(rules(rate).contains(&"junos-without-effect"));
    let scheduled = format!("set interfaces ge-0/0/0 per-unit-scheduler\n{}", scheduler_map_on("ge-0/0/0"));
    assert_eq!(rules(&scheduled), [] as [&str; 0]);
}

#[test]
fn rates_that_are_no_rates_are_reported() {
    let reported = |statement: &str| show(&mx(&format!("set class-of-service schedulers s {statement}\n")));
    assert!(
        reported("transmit-rate percent 200").contains("`200` is not a value of `transmit-rate percent`")
    );
    assert!(reported("transmit-rate").contains("`transmit-rate` has no value"));
    assert!(reported("transmit-rate 5x").contains("`5x` is not a value of `transmit-rate`"));
    assert!(reported("shaping-rate 5x").contains("`5x` is not a value of `shaping-rate`"));
    assert!(reported("shaping-rate exact").contains("`exact` is not a value of `shaping-rate`"));
    assert!(reported("transmit-rate remainder percent 20").contains("a percentage of the remainder"));
}

#[test]
fn statements_that_change_what_packets_experience_are_not_modeled() {
    for text in [
        "set interfaces ge-0/0/0 unit 0 family inet simple-filter input f\n",
        "set interfaces ge-0/0/0 unit 0 family inet service input service-set s\n",
        "set interfaces ge-0/0/1 unit 0 family ethernet-switching storm-control default\n",
        "set routing-instances v interface ge-0/0/0.0\n",
        "set logical-systems a interfaces ge-0/0/0 unit 1 family inet filter input f\n",
        "set routing-options flow route r match destination 10.0.0.0/8\n",
        "set routing-options static route 10.9.0.0/16 next-table v.inet.0\n",
        "set routing-options rib v.inet.0 static route 10.9.0.0/16 next-hop 10.0.0.2\n",
        "set vlans v10 filter input f\n",
        "set bridge-domains b forwarding-options filter input f\n",
        "set services service-set s nat-rules n\n",
        "set interfaces ge-0/0/0 unit 0 family inet tcp-mss 1200\n",
        "set firewall family inet filter f term t then dont-fragment clear\n",
        "set forwarding-options vxlan-tos-copy-filter\n",
        "set services traffic-load-balance instance i interface lo0.0\n",
        "set chassis fpc 0 pic 0 tunnel-services bandwidth 10g\n",
        "set interfaces ge-0/0/0 gigether-options source-filtering\n",
        "set interfaces ge-0/0/0 gigether-options source-address-filter 00:11:22:33:44:55\n",
        "set interfaces ge-0/0/0 gigether-options ethernet-switch-profile ethernet-policer-profile policer p\n",
        "set interfaces t3-0/0/0 receive-bucket overflow discard\n",
        "set chassis fpc 0 pic 0 ingress-policer-overhead 24\n",
        "set protocols mpls interface ge-0/0/0.0\n",
        "set policy-options policy-statement p term t then forwarding-class expedited-forwarding\n",
        "set policy-options policy-statement p then cos-next-hop-map m\n",
        "rename interfaces ge-0/0/0 to ge-0/0/1\n",
    ] {
        assert_eq!(state(text), LineState::NotModelled, "{text}");
    }
    for text in [
        "set interfaces ge-0/0/0 unit 0 family inet no-redirects\n",
        "set interfaces ge-0/0/0 unit 0 family inet accounting source-class-usage input\n",
        "set vlans v10 description office\n",
        "set policy-options policy-statement p term t then accept\n",
        "set protocols ospf area 0 interface ge-0/0/0.0\n",
        "set interfaces ge-0/0/0 gigether-options auto-negotiation\n",
    ] {
        assert_eq!(state(text), LineState::Irrelevant, "{text}");
    }
    let behind =
        "rename interfaces ge-0/0/0 to ge-0/0/1\nset class-of-service interfaces ge-0/0/0 shaping-rate 5m\n";
    assert_eq!(state(behind), LineState::Modelled);
}

#[test]
fn static_routes_of_inet6_and_preferences_of_next_hops_are_read() {
    let model = mx("set routing-options rib inet6.0 static route 2001:db8::/32 next-hop 2001:db8::1\n\
                    set routing-options static route 10.9.0.0/16 next-hop 10.0.0.2\n\
                    set routing-options static route 10.9.0.0/16 qualified-next-hop 10.0.0.3 preference 7\n");
    let mut distances: Vec<(usize, u8)> =
        model.router.forwarding.routes.iter().map(|route| (route.line, route.distance)).collect();
    distances.sort_unstable();
    assert_eq!(distances, [(2, 5), (3, 5), (4, 7)]);
    assert_eq!(show(&model), "");
}

#[test]
fn a_percentage_of_an_unknown_rate_is_reported() {
    let policer = "set firewall policer p if-exceeding bandwidth-percent 10\n\
                   set firewall policer p if-exceeding burst-size-limit 625k\n\
                   set firewall policer p then discard\n";
    assert_eq!(
        state(&format!("{policer}set interfaces irb unit 0 family inet policer input p\n")),
        LineState::NotModelled
    );
    assert_eq!(
        state(&format!("{policer}set interfaces ge-0/0/0 unit 0 family inet policer input p\n")),
        LineState::Modelled
    );
}

/// Junos System Log Reference, COSD messages: a link of a bundle cannot have class of service.
#[test]
fn links_of_bundles_have_no_class_of_service() {
    let bundle = "set interfaces xe-0/0/0 gigether-options 802.3ad ae0\n\
                  set interfaces xe-0/0/1 gigether-options 802.3ad ae0\n\
                  set interfaces xe-0/0/1 disable\n\
                  set interfaces ae0 unit 0 family inet\n";
    let rate = |text: &str| {
        let model = parse(text, Some("junos-mx"));
        model.router.ports.iter().find(|port| port.name == "ae0.0").unwrap().wire.rate
    };
    assert_eq!(rate(bundle).unwrap().as_bits_per_second(), 10_000_000_000);
    assert_eq!(rate(&format!("{bundle}set interfaces et-0/1/0 gigether-options 802.3ad ae0\n")), None);
    let state_on = |name: &str| {
        let text = format!("{bundle}set class-of-service interfaces {name} shaping-rate 5g\n");
        parse(&text, Some("junos-mx")).lines[4].state
    };
    assert_eq!(state_on("xe-0/0/0"), LineState::Suspicious);
    assert_eq!(state_on("xe-*"), LineState::Modelled);
}

/// Juniper, "Port Speed": the speed of a port with sub-ports is the speed of each channel.
#[test]
fn channels_have_the_speed_that_their_port_states() {
    let rate = |text: &str| {
        let text = format!("{text}set interfaces et-0/0/1:2 unit 0 family inet\n");
        let model = parse(&text, Some("junos-ptx"));
        model.router.port("et-0/0/1:2").unwrap().wire.rate.map(Rate::as_bits_per_second)
    };
    let speed = "set interfaces et-0/0/1 speed 25g\n";
    let channels = "set interfaces et-0/0/1 number-of-sub-ports 4\n";
    assert_eq!(rate(&format!("{speed}{channels}")), Some(25_000_000_000));
    assert_eq!(rate(speed), None);
}

/// A port with slices does not have the default schedulers, so perhop shows no queues.
#[test]
fn a_hierarchy_has_no_default_queues() {
    let text = "set class-of-service traffic-control-profiles t shaping-rate 100m\n\
                set class-of-service interfaces ge-0/0/0 slice s output-traffic-control-profile t\n";
    let model = mx(text);
    assert!(model.router.ports[0].output.queueing.is_none());
    assert_eq!(model.lines[2].state, LineState::NotModelled);
    assert!(mx("").router.ports[0].output.queueing.is_some());
}

/// The time for a text with many interfaces is proportional to its length.
#[test]
fn many_interfaces_with_attachments_are_read() {
    let mut many = String::new();
    for n in 0..2000 {
        writeln!(many, "set interfaces et-{n}/0/0 unit 0 family inet").unwrap();
        writeln!(many, "set class-of-service interfaces et-{n}/0/0 scheduler-map nope").unwrap();
        writeln!(many, "set class-of-service interfaces et-{n}/0/0 unit 0 classifiers dscp default").unwrap();
    }
    assert_eq!(parse(&many, Some("junos-mx")).router.ports.len(), 2000);
}

/// Junos Routing Policies and Firewall Filters User Guide: a term that matches all packets ends the filter,
/// and the list of filters.
#[test]
fn terms_behind_one_for_all_packets_are_never_reached() {
    let filter = "set firewall policer p if-exceeding bandwidth-limit 10m\n\
                  set firewall policer p if-exceeding burst-size-limit 100k\n\
                  set firewall policer p then discard\n\
                  set firewall family inet filter f term all then policer p\n\
                  set firewall family inet filter f term old from protocol tcp\n\
                  set firewall family inet filter f term old then discard\n\
                  set firewall family inet filter g term some from protocol udp\n\
                  set firewall family inet filter g term some then discard\n";
    let one = mx(&format!("{filter}set interfaces ge-0/0/0 unit 0 family inet filter input f\n"));
    assert!(show(&one).contains("no packet reaches term old of filter f"), "{}", show(&one));
    assert_eq!(one.lines[5].state, LineState::Suspicious);
    let port = &one.router.ports[0];
    let mut names = port.input.conditioners.iter().filter_map(|one| one.name.as_deref());
    assert_eq!(names.next_back(), Some("f all"));
    assert!(port.output.queueing.is_some());

    let list =
        mx(&format!("{filter}set interfaces ge-0/0/0 unit 0 family inet filter output-list [ f g ]\n"));
    assert!(show(&list).contains("no packet reaches filter g of this list"), "{}", show(&list));
    assert_eq!(list.router.ports[0].output.conditioners.len(), 1);
    let other =
        mx(&format!("{filter}set interfaces ge-0/0/0 unit 0 family inet filter output-list [ g f ]\n"));
    assert!(!show(&other).contains("of this list"), "{}", show(&other));
    assert_eq!(other.router.ports[0].output.conditioners.len(), 2);
}
