//! IOS XR: the states of its lines, the limits and shares of its policies, and the refusals of its hardware.

use perhop_device::{Port, RouteTarget};
use perhop_ios::{Configuration, LineState, Platform, Profile, convert, parse};

const HEAD: &str = "!! IOS XR Configuration 7.5.2\n";

fn router(text: &str, profile: Profile) -> (Configuration, Vec<Port>) {
    let mut configuration = parse(&format!("{HEAD}{text}"));
    let router = convert(&mut configuration, &Platform::for_profile(profile));
    (configuration, router.ports)
}

/// Returns the port `name`. Fails if the configuration has an error.
fn port(text: &str, profile: Profile, name: &str) -> Port {
    let (configuration, ports) = router(text, profile);
    let errors: Vec<&str> = configuration
        .diagnostics
        .iter()
        .filter(|found| found.severity == perhop_ios::Severity::Error)
        .map(|found| found.message.as_str())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    ports.into_iter().find(|port| port.name == name).unwrap()
}

/// The rules of the diagnostics.
fn rules(text: &str, profile: Profile) -> Vec<&'static str> {
    router(text, profile).0.diagnostics.iter().map(|found| found.rule.id).collect()
}

fn state_of(text: &str, line: &str) -> (LineState, String) {
    let configuration = parse(&format!("{HEAD}{text}"));
    let found = configuration.lines.iter().find(|other| other.text.trim() == line);
    let found = found.unwrap_or_else(|| panic!("no line {line}"));
    (found.state, found.note.clone().unwrap_or_default())
}

/// A policy with the classes in `lines` and class-default, attached to a port of 10 Gb/s.
fn output(lines: &str) -> String {
    format!(
        "class-map match-any A\n match qos-group 1\n end-class-map\n!\nclass-map match-any B\n match qos-group 2\n \
         end-class-map\n!\npolicy-map P\n{lines} class class-default\n !\n end-policy-map\n!\ninterface \
         TenGigE0/0/0/0\n service-policy output P\n!\n"
    )
}

#[test]
fn every_line_of_a_class_has_its_state() {
    use LineState::{Modelled, NotModelled, NotRecognized};
    for (line, expected) in [
        ("bandwidth 100 mbps", Modelled),
        ("bandwidth remaining ratio 30", Modelled),
        ("bandwidth remaining 30", NotRecognized),
        ("priority level 7", Modelled),
        ("priority level 8", NotRecognized),
        ("priority 1000", NotRecognized),
        ("shape average 2 gbps 10 ms", Modelled),
        ("shape average percent 50 4 kbytes", NotModelled),
        ("shape peak 2 gbps", NotRecognized),
        ("queue-limit 500", Modelled),
        ("queue-limit 500 us", Modelled),
        ("queue-limit 2 mbytes", Modelled),
        ("queue-limit discard-class 1 500 us", NotModelled),
        ("random-detect default", Modelled),
        ("random-detect discard-class 1,2 10 kbytes 20 kbytes", Modelled),
        ("random-detect dscp af11 10 ms 20 ms probability percentage 30", NotModelled),
        ("random-detect exp 1 10 ms 20 ms", NotModelled),
        ("police rate 10 mpbs", NotRecognized),
        ("police rate 10 mbps peak-rate percent 20", NotRecognized),
        ("police cir 10000000", NotRecognized),
        ("police rate 100 pps burst 10 packets", Modelled),
        ("set traffic-class 7", Modelled),
        ("set traffic-class 8", NotRecognized),
        ("set qos-group 300", NotModelled),
        ("set mpls experimental topmost 5", Modelled),
        ("set forward-class 3", NotModelled),
        ("fair-queue", NotRecognized),
    ] {
        let text = output(&format!(" class A\n  {line}\n !\n"));
        assert_eq!(state_of(&text, line).0, expected, "{line}: {}", state_of(&text, line).1);
    }
}

#[test]
fn blocks_end_at_their_ends_and_not_inside_other_blocks() {
    let text = "class-map A\n match dscp ef\n match dscp 10-12,cs1\nend-class-map\n!\npolicy-map P\n class A\n  police rate \
                1 gbps\n   conform-action set mpls experimental topmost 5\n   exceed-action transmit\n  !\n !\nend-policy-map\n\
                !\nroute-policy X\n  if tag is 3 then\n    set med 4\n  endif\nend-policy\n!\nrouter isis X\n interface \
                TenGigE0/0/0/0\n  shutdown\n !\n!\ninterface TenGigE0/0/0/0\n description X\n!\nend\n";
    let (configuration, _) = router(text, Profile::Asr9000);
    let open = configuration.lines.iter().filter(|line| line.state == LineState::NotRecognized);
    assert_eq!(open.map(|line| line.text.as_str()).collect::<Vec<_>>(), [] as [&str; 0]);
    let interface = configuration.interfaces.iter().next().unwrap();
    assert!(interface.shutdown.is_none(), "the line belongs to the routing protocol");
    let class = &configuration.policy_maps.get("P").unwrap().classes[0];
    let police = &class.police.as_ref().unwrap().value;
    assert_eq!((police.conform.len(), police.exceed.len()), (1, 1));
    // One matching criterion is sufficient if the class-map does not have `match-all`.
    let map = configuration.class_maps.get("A").unwrap();
    assert_eq!((map.combination, map.statements.len()), (perhop_device::Combination::MatchAny, 2));
}

/// Cisco, "Modular Quality of Service Command Reference for Cisco NCS 540", queue-limit: a minimum of 30 %
/// and 40 % of the remaining 50 % give a service rate of 50 %. 10 ms of 5 Gb/s are 6,250,000 bytes, which the
/// hardware stores as 191 · 2^15.
#[test]
fn a_queue_limit_is_a_time_at_the_guaranteed_service_rate() {
    let text = output(
        " class A\n  bandwidth percent 30\n  bandwidth remaining percent 40\n !\n class B\n  bandwidth percent 20\n !\n",
    );
    let found = |profile| {
        let port = port(&text, profile, "TenGigE0/0/0/0");
        let classes = port.output_policy().unwrap().classes.clone();
        classes.iter().map(|class| class.queue_limit.unwrap().bytes.unwrap()).collect::<Vec<u64>>()
    };
    // 1 % of the interface for class-default: 10 ms of 100 Mb/s are 125,000 bytes, which the hardware stores
    // as 245 · 2^9.
    assert_eq!(found(Profile::Ncs5500), [191 << 15, 153 << 14, 245 << 9]);
    assert_eq!(found(Profile::Asr9000), [62_500_000, 25_000_000, 1_250_000]);
}

#[test]
fn limits_in_packets_are_of_256_bytes_and_wred_has_twice_its_maximum() {
    let text = output(
        " class A\n  bandwidth percent 30\n  queue-limit 100\n !\n class B\n  bandwidth percent 20\n  random-detect 100 \
         packets 300 packets\n !\n",
    );
    let port = port(&text, Profile::Asr9000, "TenGigE0/0/0/0");
    let classes = &port.output_policy().unwrap().classes;
    assert_eq!(classes[0].queue_limit.unwrap().bytes, Some(25_600));
    let row = &classes[1].random_detect.as_ref().unwrap().rows[0];
    assert_eq!((row.min, row.max), (25_600, 76_800));
    assert_eq!(classes[1].queue_limit.unwrap().bytes, Some(153_600));
}

/// Cisco, "Configuring Modular Quality of Service Congestion Management" (NCS 540): classes without a
/// percentage of the excess share the remaining percentage equally, and the default ratio is 1.
#[test]
fn classes_share_the_excess() {
    let weights = |lines: &str| {
        let port = port(&output(lines), Profile::Ncs5500, "TenGigE0/0/0/0");
        let queueing = port.output.queueing.unwrap();
        queueing.classes.iter().map(|class| class.share.weight.unwrap()).collect::<Vec<f64>>()
    };
    let both = " class A\n  bandwidth percent 30\n  bandwidth remaining percent 40\n !\n class B\n  bandwidth percent 20\n !\n";
    assert_eq!(weights(both), [40.0, 30.0, 30.0]);
    let ratios = " class A\n  bandwidth remaining ratio 6\n !\n class B\n  shape average 1 gbps\n !\n";
    assert_eq!(weights(ratios), [6.0, 1.0, 1.0]);
}

#[test]
fn a_class_with_priority_has_its_shaper() {
    let text = output(" class A\n  priority level 1\n  shape average 2 gbps\n !\n");
    let port = port(&text, Profile::Ncs5500, "TenGigE0/0/0/0");
    let shape = port.output.queueing.unwrap().classes[0].shape.unwrap();
    assert_eq!(shape.rate.as_bits_per_second(), 2_000_000_000);
}

/// A class that sets both marks has one label. Each of the two output policies selects packets by this label.
#[test]
fn groups_and_traffic_classes_have_one_label() {
    let text = "class-map match-any V\n match dscp ef\n end-class-map\n!\nclass-map match-any T\n match traffic-class 5\n \
                end-class-map\n!\nclass-map match-any G\n match qos-group 2\n end-class-map\n!\npolicy-map IN\n class V\n  \
                set traffic-class 5\n  set qos-group 2\n !\n class class-default\n !\n end-policy-map\n!\npolicy-map OUT\n \
                class T\n  priority level 1\n !\n class class-default\n !\n end-policy-map\n!\npolicy-map MARK\n class G\n  \
                set dscp cs5\n !\n class class-default\n !\n end-policy-map\n!\ninterface TenGigE0/0/0/0\n service-policy \
                input IN\n service-policy output MARK\n service-policy output OUT\n!\n";
    let port = port(text, Profile::Ncs5500, "TenGigE0/0/0/0");
    let json = serde_json::to_string(&port.input.conditioners).unwrap();
    assert!(json.contains(r#"{"label":21}"#), "{json}");
    let json = serde_json::to_string(&port.output).unwrap();
    assert!(json.contains(r#""label":[16,17,18,19,20,21,22,23]"#), "group 2: {json}");
    assert!(json.contains(r#""label":[5,13,21,29"#), "traffic class 5: {json}");
    assert_eq!(port.output_policy().unwrap().name, "OUT", "the other one marks in front of it");
}

#[test]
fn policers_have_the_bursts_and_the_bytes_of_their_platform() {
    let text = "policy-map P\n class class-default\n  police rate 800 mbps\n  !\n !\n end-policy-map\n!\ninterface \
                TenGigE0/0/0/0\n service-policy input P\n!\n";
    let found = |profile| {
        let port = port(text, profile, "TenGigE0/0/0/0");
        let burst = port.input_policy().unwrap().classes[0].police.as_ref().unwrap().bc_bytes;
        (burst, port.input.overhead, port.counted_bytes.unwrap().classes)
    };
    // Layer 1 is the Ethernet header, 14 bytes, the check sequence, 4, and preamble and gap, 20. Counters
    // include only the header.
    assert_eq!(found(Profile::Ncs5500), (1_000_000, 38, 14));
    assert_eq!(found(Profile::Asr9000), (10_000_000, 14, 14));
    let fast = text.replace("800 mbps", "8 gbps");
    let port = port(&fast, Profile::Ncs5500, "TenGigE0/0/0/0");
    assert_eq!(port.input_policy().unwrap().classes[0].police.as_ref().unwrap().bc_bytes, 4_194_304);
}

#[test]
fn the_hardware_refuses() {
    let ncs = |text: &str| rules(text, Profile::Ncs5500);
    let by_header = output(" class A\n  shape average 1 gbps\n !\n").replace("qos-group 1", "dscp ef");
    assert!(ncs(&by_header).contains(&"output-match-refused"));
    assert!(!rules(&by_header, Profile::Asr9000).contains(&"output-match-refused"));
    let policed = output(" class A\n  police rate 1 gbps\n  !\n !\n");
    assert!(ncs(&policed).contains(&"output-policer-refused"));
    assert!(!rules(&policed, Profile::Asr9000).contains(&"output-policer-refused"));
    let limited = output(" class A\n  queue-limit 10 ms\n !\n");
    assert!(ncs(&limited).contains(&"queue-limit-without-queue"));
    let early = output(" class A\n  random-detect default\n !\n");
    assert!(ncs(&early).contains(&"wred-without-queue"));
    let deep = output(" class A\n  priority level 4\n !\n");
    assert!(!ncs(&deep).contains(&"priority-level"));
    assert!(rules(&deep, Profile::Asr9000).contains(&"priority-level"));
    let part = output(" class A\n  shape average 1 gbps\n !\n").replace("TenGigE0/0/0/0", "TenGigE0/0/0/0.5");
    let part = format!("interface TenGigE0/0/0/0\n!\n{part}");
    assert!(ncs(&part).contains(&"queueing-on-subinterface"));
    assert!(
        !ncs(&format!("hw-module profile qos hqos-enable\n{part}")).contains(&"queueing-on-subinterface")
    );
    let input = output(" class A\n  shape average 1 gbps\n !\n")
        .replace("service-policy output", "service-policy input");
    assert!(ncs(&input).contains(&"queueing-on-input"));
    assert!(rules(&input, Profile::Asr9000).contains(&"input-queues-ignored"));
}

/// A class of an input policy that sets a group and a codepoint is refused, unless it sets them to zero.
#[test]
fn zeros_are_no_marks_of_group_and_codepoint() {
    let refused = |head: &str, marks: &str, of_default: &str| {
        let input = output(&format!(" class A\n{marks} !\n"))
            .replace(" class class-default\n", &format!(" class class-default\n{of_default}"))
            .replace("match qos-group 1", "match dscp ef")
            .replace("service-policy output", "service-policy input");
        rules(&format!("{head}{input}"), Profile::Ncs5500).contains(&"group-with-dscp")
    };
    let (group, both) = ("  set qos-group 1\n", "  set qos-group 1\n  set dscp cs5\n");
    assert!(refused("", both, "") && !refused("", group, ""));
    assert!(
        refused("", group, "  set dscp cs1\n") && !refused("", group, "  set dscp 0\n  set qos-group 0\n")
    );
    let mode = "hw-module profile qos qosg-dscp-mark-enable 8\n";
    assert!(refused(mode, both, "") && !refused(mode, group, "  set dscp cs1\n"));
}

#[test]
fn a_bundle_has_the_rate_of_its_members() {
    let text = "interface Bundle-Ether7\n ipv4 address 192.0.2.1/30\n!\ninterface TenGigE0/0/0/0\n bundle id 7 mode active\n!\n\
                interface TenGigE0/0/0/1\n bundle id 7 mode active\n shutdown\n!\ninterface TenGigE0/0/0/2\n bundle id 7\n!\n";
    let port = port(text, Profile::Asr9000, "Bundle-Ether7");
    assert_eq!(port.wire.rate.unwrap().as_bits_per_second(), 20_000_000_000);
}

#[test]
fn static_routes_and_lists_have_prefixes() {
    let text = "ipv4 access-list L\n 10 permit udp 198.51.100.0/24 host 192.0.2.9 eq 53\n 20 deny ipv4 any any\n!\nrouter static\n \
                address-family ipv4 unicast\n  0.0.0.0/0 TenGigE0/0/0/0 192.0.2.2\n  203.0.113.0/24 Null0\n !\n vrf red\n  \
                address-family ipv4 unicast\n   0.0.0.0/0 192.0.2.6\n  !\n !\n!\ninterface TenGigE0/0/0/0\n ipv4 address \
                192.0.2.1 255.255.255.252\n ipv4 access-group L ingress\n!\n";
    let (configuration, _) = router(text, Profile::Asr9000);
    let routes: Vec<_> =
        configuration.routes.iter().map(|route| (route.vrf.as_deref(), route.prefix.to_string())).collect();
    let expected = [(None, "0.0.0.0/0"), (None, "203.0.113.0/24"), (Some("red"), "0.0.0.0/0")];
    assert_eq!(routes, expected.map(|(vrf, prefix)| (vrf, prefix.to_owned())));
    let leaked = text.replace("   0.0.0.0/0 192", "   0.0.0.0/0 vrf default 192");
    assert_eq!(router(&leaked, Profile::Asr9000).0.routes[2].via, RouteTarget::Learned);
    let list = configuration.access_lists.get("L").unwrap();
    assert_eq!(list.entries[0].source.wildcard.to_string(), "0.0.0.255");
    assert_eq!(state_of(text, "0.0.0.0/0 192.0.2.6").0, LineState::Modelled);
    assert_eq!(state_of(&leaked, "0.0.0.0/0 vrf default 192.0.2.6").0, LineState::NotModelled);
}
